"""Start time and door of a video from its file and folder names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

_DATE = r"(?P<year>20\d\d)(?P<sep>[-_. ]?)(?P<month>[01]\d)(?P=sep)(?P<day>[0-3]\d)"
_TIME = r"(?P<hour>[0-2]\d)[-_.:hH]?(?P<minute>[0-5]\d)(?:[-_.:mM]?(?P<second>[0-5]\d))?"
_STAMP = re.compile(rf"(?<!\d){_DATE}[-_T .,]{{0,3}}{_TIME}(?:[.,_-]?\d{{3}})?(?P<zulu>Z?)(?!\d)")
_EPOCH = re.compile(r"(?<!\d)(?P<seconds>1\d{9})(?P<fraction>\d{3})?(?!\d)")
_DATE_ALONE = re.compile(rf"(?<!\d){_DATE}(?!\d)")
_TIME_FIRST = re.compile(rf"^{_TIME}(?!\d)")
_TWO_DIGITS = re.compile(r"\d\d")
_GENERIC = re.compile(
    r"(?:cam|camera|ch|channel|clip|dav|dvr|event|hdd|img|main|mdalarm|motion|mov|movie|mp4|nvr|rec|recm|record"
    r"|records|recording|recordings|sub|timing|alarm|vid|video|videos)?",
    re.IGNORECASE,
)
_DATE_LIKE = re.compile(r"[-_. \d]*(?:hour)?", re.IGNORECASE)
_PART_NUMBER = re.compile(r"(?:[-_ ]+\d+|[-_ ]*\(\d+\))$")
_EDGES = " -_.,[]()@#"


def start_in_name(path: Path) -> datetime | None:
    """Return the start of a recording from its file name or the names of its folders.

    Supported are a date, year first, with a time in any of the formats of common recorders
    (``north_20240108_080000``, ``2024-01-08T08-00-00``, ``01_20240108080000123_TIMING``; the first of two
    times is the start), seconds or milliseconds since 1970, and a time in a folder named after the day
    (``2024-01-08/001/dav/08/08.00.00-08.59.59[R].dav``, ``20240108/08/00.mp4``).

    Returns
    -------
    datetime or None
        Local time, or UTC with time zone if the name contains it.

    Examples
    --------
    >>> start_in_name(Path("north_20240108_080000.mp4"))
    datetime.datetime(2024, 1, 8, 8, 0)
    >>> start_in_name(Path("north.mp4"))
    """
    for found, _ in _stamps(path.stem):
        return found
    return _start_by_folders(path)


def _stamps(stem: str) -> Iterator[tuple[datetime, tuple[int, int]]]:
    """Yield every time in a name, with its position."""
    for match in _STAMP.finditer(stem):
        part = match.groupdict()
        found = _time(part, part)
        if found is not None:
            yield (found.replace(tzinfo=UTC) if part["zulu"] else found), match.span()
    for match in _EPOCH.finditer(stem):
        seconds = int(match["seconds"]) + int(match["fraction"] or 0) / 1000
        yield datetime.fromtimestamp(seconds, UTC), match.span()


def _time(date: dict[str, str | None], time: dict[str, str | None]) -> datetime | None:
    numbers = [int(date[key] or 0) for key in ("year", "month", "day")]
    try:
        return datetime(*numbers, *(int(time.get(key) or 0) for key in ("hour", "minute", "second")))  # type: ignore[arg-type]
    except ValueError:
        return None  # month 19 or hour 29: not a time


def _start_by_folders(path: Path) -> datetime | None:
    """Combine a day in a folder name with a time in the file name, or with hour folder and minute file."""
    folders = [folder.name for folder in path.parents][:4]
    days = [match.groupdict() for name in folders if (match := _DATE_ALONE.search(name))]
    time = _TIME_FIRST.match(path.stem)
    if days and time:
        return _time(days[0], time.groupdict())
    if days and _TWO_DIGITS.fullmatch(path.stem) and folders and _TWO_DIGITS.fullmatch(folders[0]):
        return _time(days[0], {"hour": folders[0], "minute": path.stem})
    return None


def door_in_name(path: Path) -> str:
    """Return the door of a video: the part of its file name other than the time, or the folder name.

    Generic words (``cam``, ``VID``, ``rec``) and folders named after days and hours are ignored.

    Examples
    --------
    >>> door_in_name(Path("videos/north_20240108_080000.mp4"))
    'north'
    >>> door_in_name(Path("videos/south/2024-01-08/VID_20240108_080000.mp4"))
    'south'
    """
    return safe_name(_door_in_stem(path.stem) or door_in_folder(path))


def _door_in_stem(stem: str) -> str | None:
    for _, (begin, end) in _stamps(stem):
        before, after = stem[:begin].strip(_EDGES), stem[end:].strip(_EDGES)
        if not _GENERIC.fullmatch(before):
            return before
        return after if after.isalpha() and not _GENERIC.fullmatch(after) else None
    if _TIME_FIRST.match(stem) or _DATE_LIKE.fullmatch(stem):
        return None
    bare = _PART_NUMBER.sub("", stem).strip(_EDGES)
    if _GENERIC.fullmatch(bare):
        return None if _GENERIC.fullmatch(stem.strip(_EDGES)) else stem.strip(_EDGES)
    return bare


def door_in_folder(path: Path) -> str:
    """Return the name of the nearest folder that is neither a date or time nor a generic word."""
    names = [folder.name for folder in path.resolve().parents]
    return next(
        (name for name in names if not (_DATE_LIKE.fullmatch(name) or _GENERIC.fullmatch(name))), "door"
    )


def safe_name(door: str) -> str:
    """Return a door name with the characters replaced that a folder name cannot have.

    Examples
    --------
    >>> safe_name("Tür 2/West")
    'Tür 2_West'
    """
    return re.sub(r"[^\w .()+-]", "_", door).strip(" .") or "door"


def natural_order(path: Path) -> tuple[tuple[int, int | str], ...]:
    """Sort key for natural order: part 2 before part 10."""
    pieces = re.split(r"(\d+)", str(path))
    return tuple((0, int(piece)) if piece.isdigit() else (1, piece) for piece in pieces)
