"""Ids of rooms from their names, for topics and URLs."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Container

from occupair.live.config.values import ID_PATTERN

_LONGEST = 64
_LETTERS = str.maketrans(
    {
        "ä": "ae",
        "ö": "oe",
        "ü": "ue",
        "ß": "ss",
        "æ": "ae",
        "ø": "oe",
        "å": "aa",
        "œ": "oe",
        "ł": "l",
        "đ": "d",
        "ð": "d",
        "þ": "th",
        "ı": "i",
    }
)
"""Letters that are not an ASCII letter with an accent, or are spelled otherwise without it."""


def make_room_id(name: str, taken: Container[str]) -> str:
    """Return a valid id that is not taken: the name in ASCII, with a number if necessary.

    A valid id stays as it is. Without ASCII letters, the id is ``room-`` and the number in the name, or else
    the first that is free.

    Examples
    --------
    >>> make_room_id("Büro 1.07", ()), make_room_id("Café", {"cafe"}), make_room_id("room_101", ())
    ('buero-1-07', 'cafe-2', 'room_101')
    >>> make_room_id("Кухня", ()), make_room_id("Кухня", {"room-1"}), make_room_id("会議室 12", ())
    ('room-1', 'room-2', 'room-12')
    """
    base, number = spell_id(name), 2
    made = base
    if not base:
        base, number = "room", 1
        made = "room-1"
    while made in taken:
        end = f"-{number}"
        made, number = base[: _LONGEST - len(end)] + end, number + 1
    return made


def spell_id(name: str) -> str:
    """Return a name in the characters of an id, or "" if it has neither ASCII letters nor digits.

    Examples
    --------
    >>> spell_id("Lab, 2nd floor"), spell_id("101"), spell_id("Кухня"), spell_id("Кухня 2"), spell_id("…")
    ('lab-2nd-floor', '101', '', 'room-2', '')
    """
    if re.fullmatch(ID_PATTERN, name):
        return name
    letters = unicodedata.normalize("NFC", name).lower().translate(_LETTERS)
    ascii_only = unicodedata.normalize("NFKD", letters).encode("ascii", "ignore").decode()
    spelled = re.sub(r"[^a-z0-9_]+", "-", ascii_only).strip("-_")
    is_number_of_lost_word = (
        bool(spelled) and not re.search("[a-z]", spelled) and re.search(r"[^\W\d_]", name)
    )
    return (f"room-{spelled}" if is_number_of_lost_word else spelled)[:_LONGEST].rstrip("-_")
