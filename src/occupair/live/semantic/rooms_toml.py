"""Writing of settings: the rooms of an import as ``rooms.toml``, with comments on what to check."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

CHECK = "# CHECK:"
"""Start of a comment that needs a decision."""


@dataclass
class RoomDraft:
    """A room of an import.

    Parameters
    ----------
    id : str
    settings : dict
        Keys and values of its table; a source is a dict.
    checks : list of str
        What to check, one sentence each.
    proposals : list of (str, value, str)
        Settings that are written as comments: key, value, and why they are not used.
    """

    id: str
    settings: dict[str, Any] = field(default_factory=dict)
    checks: list[str] = field(default_factory=list)
    proposals: list[tuple[str, Any, str]] = field(default_factory=list)


@dataclass
class Draft:
    """Settings of an import: tables besides the rooms, the rooms, and general remarks."""

    tables: dict[str, dict[str, Any]] = field(default_factory=dict)
    rooms: list[RoomDraft] = field(default_factory=list)
    checks: dict[str, list[str]] = field(default_factory=dict)
    """What to check, by table; "" is the model as a whole."""
    notes: list[str] = field(default_factory=list)
    """What is worth knowing about the model as a whole."""

    @property
    def n_checks(self) -> int:
        """Number of comments that need a decision."""
        of_tables = sum(len(one) for one in self.checks.values())
        return of_tables + sum(len(room.checks) + len(room.proposals) for room in self.rooms)


def format_draft(draft: Draft, *, origin: str) -> str:
    """Return the settings as TOML.

    Parameters
    ----------
    draft : Draft
    origin : str
        Name of the model, for the first line.
    """
    lines = [
        f"# Rooms of {comment(origin)}. Lines with CHECK need a decision; then run: occupair serve --check",
        *(f"# {comment(text)}" for text in draft.notes),
        *(f"{CHECK} {comment(text)}" for text in draft.checks.get("", ())),
    ]
    for name, table in draft.tables.items():
        lines += ["", *(f"{CHECK} {comment(text)}" for text in draft.checks.get(name, ()))]
        lines += [f"[{name}]", *_settings_lines(table)]
    for room in draft.rooms:
        lines += ["", f"[rooms.{room.id}]", *_settings_lines(room.settings)]
        lines += [
            f"{CHECK} {comment(why)}: {comment(f'{key} = {toml_value(value)}')}"
            for key, value, why in room.proposals
        ]
        lines += [f"{CHECK} {comment(text)}" for text in room.checks]
    return "\n".join(lines) + "\n"


def _settings_lines(table: Mapping[str, Any]) -> Iterable[str]:
    return (f"{key} = {toml_value(value)}" for key, value in table.items())


def toml_value(value: Any) -> str:
    """Return a value as TOML.

    Examples
    --------
    >>> toml_value({"bacnet": "10.0.2.7", "object": "analog-input,12", "full": 100.0, "cov": False})
    '{ bacnet = "10.0.2.7", object = "analog-input,12", full = 100, cov = false }'
    """
    if isinstance(value, Mapping):
        if set(value) == {"topic"}:
            return toml_value(value["topic"])
        return "{ " + ", ".join(f"{key} = {toml_value(one)}" for key, one in value.items()) + " }"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:.0f}" if value == int(value) and abs(value) < 1e15 else repr(value)
    if isinstance(value, str):
        return json.dumps(_encodable(value), ensure_ascii=False).replace("\x7f", "\\u007f")
    return str(value)


def comment(text: str) -> str:
    r"""Return text for a comment: one line without control characters.

    Examples
    --------
    >>> comment("Room 1\n[tokens.me]")
    'Room 1 [tokens.me]'
    """
    printable = (one if one.isprintable() or one.isspace() else "?" for one in _encodable(text))
    return " ".join("".join(printable).split())


def _encodable(text: str) -> str:
    """Replace surrogates, which UTF-8 cannot encode."""
    return text.encode(errors="replace").decode()
