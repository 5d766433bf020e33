"""What is wrong with settings, collected: each fault with its file, line and key, its rule and its value."""

from __future__ import annotations

import json
import re
from pathlib import Path

from occupair.live.config.toml_lines import Key, find_lines

_NOTHING = object()


def written(key: Key) -> str:
    """Write the path of a key as TOML does.

    Examples
    --------
    >>> written(("rooms", "lab 2", "co2", 0))
    'rooms."lab 2".co2[0]'
    """
    return "".join(map(_part, key)).removeprefix(".")


def in_toml_words(value: object) -> str:
    """Write a value for an error, not too long.

    Examples
    --------
    >>> in_toml_words(True), in_toml_words({"a": 1}), in_toml_words("x")
    ('true', 'a table', "'x'")
    """
    if isinstance(value, dict | list):
        return "a table" if isinstance(value, dict) else "an array"
    said = str(value).lower() if isinstance(value, bool) else repr(value)
    return said if len(said) <= 200 else f"{said[:197]}..."


class Faults:
    """The faults of one file.

    Parameters
    ----------
    path : Path
        The file, as the user named it.
    text : str
        What is in it.
    """

    def __init__(self, path: Path, text: str) -> None:
        self.given_by: dict[Key, str] = {}  # the variable or option that overrides a key
        self._path, self._text = path, text
        self._lines: dict[Key, int] | None = None
        self._found: list[tuple[int, str]] = []

    def add(
        self, key: Key, rule: str, value: object = _NOTHING, *, hint: str = "", secret: bool = False
    ) -> None:
        """Note that a key breaks a rule; the value of a secret is not shown."""
        said = "a value that is not shown" if secret else in_toml_words(value)
        got = "" if value is _NOTHING else f", got {said}"
        line, place = self._place(key)
        self._found.append((line, f"{place}: {rule}{got}{hint}"))

    def __str__(self) -> str:
        """Give all faults, a line for each, as they come in the file."""
        return "\n".join(words for _, words in sorted(self._found, key=lambda fault: fault[0]))

    def __bool__(self) -> bool:
        return bool(self._found)

    def _place(self, key: Key) -> tuple[int, str]:
        if key in self.given_by:
            return 0, self.given_by[key]
        if self._lines is None:
            self._lines = find_lines(self._text)
        known = [key[:depth] for depth in range(len(key), 0, -1) if key[:depth] in self._lines]
        if not known:
            return 0, f"{self._path}, {written(key)}"
        line = self._lines[known[0]]
        return line, f"{self._path}, line {line}, {written(key)}"


def _part(key: str | int) -> str:
    if isinstance(key, int):
        return f"[{key}]"
    return f".{key}" if re.fullmatch(r"[A-Za-z0-9_-]+", key) else f".{json.dumps(key, ensure_ascii=False)}"
