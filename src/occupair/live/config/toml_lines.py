"""On which line of a TOML file each key is: the standard library reads TOML but does not tell."""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_left
from typing import NamedTuple

Key = tuple[str | int, ...]

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_SPACES = re.compile(r"[ \t]*")
_KEY = re.compile(r"[A-Za-z0-9_-]+|\"(?:\\.|[^\"\\])*\"|'[^']*'")
_TEXT = re.compile(
    r'"""(?:\\.|[^\\])*?"""(?:"{0,2})'  # up to two quotes may stand before the three that end it
    r"|'''.*?'''(?:'{0,2})"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|'[^'\n]*'",
    re.DOTALL,
)
_PLAIN = re.compile(r"[^,\]}#\n]*")  # numbers, true and false, times


class _Place(NamedTuple):
    text: str
    breaks: list[int]  # where lines end
    lines: dict[Key, int]


def find_lines(text: str) -> dict[Key, int]:
    r"""Find the line of every key, table and item of an array in TOML that can be read.

    Parameters
    ----------
    text : str
        What ``tomllib.loads`` took.

    Returns
    -------
    dict
        Line, from 1, by path: keys as text, places in arrays as numbers from 0. A table that is opened
        more than once has the line of the first.

    Examples
    --------
    >>> find_lines('[rooms.lab]\nco2 = {topic = "a"}\n')[("rooms", "lab", "co2", "topic")]
    2
    """
    place = _Place(text, [found.start() for found in re.finditer("\n", text)], {})
    lists: dict[Key, int] = {}  # how many tables each [[array]] has so far
    at, table = _skip(text, 0), ()  # type: int, Key
    while at < len(text):
        if text.startswith("[[", at):
            keys, end = _keys(text, at + 2)
            name = _resolve(keys, lists, last=False)
            table = (*name, lists.get(name, 0))
            lists[name] = lists.get(name, 0) + 1
            _note(place, table, at)
            at = end + 2
        elif text[at] == "[":
            keys, end = _keys(text, at + 1)
            table = _resolve(keys, lists, last=True)
            _note(place, table, at)
            at = end + 1
        else:
            at = _pair(place, table, at)
        at = _skip(text, at)
    return place.lines


def _resolve(keys: Key, lists: dict[Key, int], *, last: bool) -> Key:
    """Put in which table of an [[array]] is meant: the newest."""
    path: Key = ()
    for depth, key in enumerate(keys):
        path = (*path, key)
        if path in lists and (last or depth < len(keys) - 1):
            path = (*path, lists[path] - 1)
    return path


def _pair(place: _Place, table: Key, at: int) -> int:
    """Note a key and what is in its value; give where it ends."""
    keys, end = _keys(place.text, at)
    path = (*table, *keys)
    _note(place, path, at)
    return _value(place, path, _after(_SPACES, place.text, end + 1))  # past the =


def _value(place: _Place, path: Key, at: int) -> int:
    text = place.text
    if text[at] == "[":
        return _items(place, path, at + 1, "]")
    if text[at] == "{":
        return _items(place, path, at + 1, "}")
    quoted = _TEXT.match(text, at)
    return quoted.end() if quoted else _after(_PLAIN, text, at)


def _items(place: _Place, path: Key, at: int, closing: str) -> int:
    """Note what is in an array or an inline table; give where it ends."""
    item = 0
    at = _skip(place.text, at)
    while place.text[at] != closing:
        if closing == "]":
            _note(place, (*path, item), at)
            at = _value(place, (*path, item), at)
            item += 1
        else:
            at = _pair(place, path, at)
        at = _skip(place.text, at)
        if place.text[at] == ",":
            at = _skip(place.text, at + 1)
    return at + 1


def _keys(text: str, at: int) -> tuple[Key, int]:
    """Read a key, its parts between dots; give it and where the = or ] after it stands."""
    keys: list[str | int] = []
    while True:
        found = _KEY.match(text, _after(_SPACES, text, at))
        assert found is not None, "what tomllib took has a key here"
        keys.append(_plain(found[0]))
        at = _after(_SPACES, text, found.end())
        if text[at] != ".":
            return tuple(keys), at
        at += 1


def _plain(key: str) -> str:
    if key[0] == '"':
        return next(iter(tomllib.loads(f"{key} = 0")))
    return key[1:-1] if key[0] == "'" else key


def _note(place: _Place, path: Key, at: int) -> None:
    line = bisect_left(place.breaks, at) + 1
    for depth in range(1, len(path) + 1):
        place.lines.setdefault(path[:depth], line)


def _skip(text: str, at: int) -> int:
    return _after(_BLANK, text, at)


def _after(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return at if found is None else found.end()
