"""Mistakes in settings, each reported on one line with its file, line, key, rule and value."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path

from occupair.errors import plain_line

Key = tuple[str, ...]

_NO_VALUE = object()
_SECRETS = ("password", "hash", "store")


class Mistakes:
    """The mistakes of one settings file.

    Parameters
    ----------
    path : Path
        The file, as the user named it.
    text : str
        Its contents.
    overrides : dict
        The environment variable or CLI option that overrides a key; a mistake in its value is reported there.
    """

    def __init__(self, path: Path, text: str, overrides: dict[Key, str] | None = None) -> None:
        self.overrides = {} if overrides is None else overrides
        self._path, self._text = path, text
        self._lines: dict[Key, int] | None = None
        self._found: list[tuple[int, str]] = []

    def add(self, key: Key, rule: str, value: object = _NO_VALUE, *, hint: str = "") -> None:
        """Add the mistake that a key breaks a rule; the values of secrets are not shown."""
        shown = "a value that is not shown" if key[-1] in _SECRETS else format_value(value)
        got = "" if value is _NO_VALUE else f", got {shown}"
        line, place = self._place(key)
        self._found.append((line, f"{place}: {rule}{got}{hint}"))

    @property
    def lines(self) -> list[str]:
        """All mistakes, in the order of the file."""
        return [plain_line(message) for _, message in sorted(self._found, key=lambda mistake: mistake[0])]

    def __bool__(self) -> bool:
        return bool(self._found)

    def _place(self, key: Key) -> tuple[int, str]:
        if key in self.overrides:
            return 0, self.overrides[key]
        if self._lines is None:
            self._lines = find_lines(self._text)
        known = [key[:depth] for depth in range(len(key), 0, -1) if key[:depth] in self._lines]
        if not known:
            return 0, f"{self._path}, {format_key(key)}"
        line = self._lines[known[0]]
        return line, f"{self._path}, line {line}, {format_key(key)}"


def find_lines(text: str) -> dict[Key, int]:
    r"""Find the line of every key and table of a valid TOML text.

    ``tomllib`` reports no lines, so the text is parsed statement by statement. Keys of an inline table have
    the line on which their statement starts. A table that is opened more than once has the line of the first
    header. Items of arrays are not listed, because no setting is in an array.

    Examples
    --------
    >>> find_lines('[rooms.lab]\nco2 = {topic = "a"}\n')[("rooms", "lab", "co2", "topic")]
    2
    """
    lines: dict[Key, int] = {}
    table: Key = ()
    statement, start = "", 1
    for number, line in enumerate(text.split("\n"), start=1):
        statement += f"{line}\n"
        try:
            content = tomllib.loads(statement)
        except tomllib.TOMLDecodeError:  # a multi-line string or array goes on
            continue
        if statement.lstrip().startswith("["):
            table = ()
        keys = list(_keys(content, table))
        for key in keys:
            lines.setdefault(key, start)
        if statement.lstrip().startswith("["):
            table = keys[-1]
        statement, start = "", number + 1
    return lines


def _keys(table: dict[str, object], prefix: Key = ()) -> Iterable[Key]:
    for name, value in table.items():
        yield (*prefix, name)
        if isinstance(value, dict):
            yield from _keys(value, (*prefix, name))


def format_key(key: Key) -> str:
    """Format the path of a key as TOML does.

    Examples
    --------
    >>> format_key(("rooms", "lab 2", "co2"))
    'rooms."lab 2".co2'
    """
    bare = re.compile(r"[A-Za-z0-9_-]+")
    return ".".join(part if bare.fullmatch(part) else json.dumps(part, ensure_ascii=False) for part in key)


def format_value(value: object) -> str:
    """Format a value for an error message, shortened to 200 characters.

    Examples
    --------
    >>> format_value(True), format_value({"a": 1}), format_value("x")
    ('true', 'a table', "'x'")
    """
    if isinstance(value, dict | list):
        return "a table" if isinstance(value, dict) else "an array"
    text = str(value).lower() if isinstance(value, bool) else repr(value)
    return text if len(text) <= 200 else f"{text[:197]}..."


def suggest(given: object, known: Iterable[str]) -> str:
    """Return a hint with the known word closest to a given one, or an empty string."""
    close = get_close_matches(str(given), list(known), n=1, cutoff=0.6)
    return f", did you mean {close[0]!r}?" if close else ""


def unknown_key(key: str, known: Iterable[str]) -> str:
    """Return the message for a key that does not exist, with the one that was probably meant."""
    known = list(known)
    return f"unknown key{suggest(key, known) or ', expected ' + ', '.join(known)}"
