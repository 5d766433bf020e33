"""Start time and door of a video from its file and folder names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from occupair.errors import InputError

_DATE = r"(?P<year>20\d\d)(?P<sep>[-_. ]?)(?P<month>[01]\d)(?P=sep)(?P<day>[0-3]\d)"
_TIME = r"(?P<hour>[0-2]\d)[-_.:hH]?(?P<minute>[0-5]\d)(?:[-_.:mM]?(?P<second>[0-5]\d))?"
_STAMP = re.compile(rf"(?<!\d){_DATE}[-_T .,]{{0,3}}{_TIME}(?:[.,_-]?\d{{3}})?(?P<zulu>Z?)(?!\d)")
_YEAR_LAST = r"(?P<first>[0-3]?\d)(?P<sep>[-_. ])(?P<second_part>[0-3]?\d)(?P=sep)(?P<year>20\d\d)"
_STAMP_YEAR_LAST = re.compile(
    rf"(?<!\d){_YEAR_LAST}[-_T .,]{{1,3}}{_TIME}(?:[.,_-]?\d{{3}})?(?P<zulu>Z?)(?!\d)"
)
_DATE_YEAR_LAST = re.compile(rf"(?<!\d){_YEAR_LAST}(?!\d)")
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


def start_in_name(path: Path, *, dayfirst: bool | None = None) -> datetime | None:
    """Return the start of a recording from its file name or the names of its folders.

    Supported are a date with a time in any of the formats of common recorders (``north_20240108_080000``,
    ``2024-01-08T08-00-00``, ``17-11-2026_08-30``, ``01_20240108080000123_TIMING``; the first of two times is
    the start), seconds or milliseconds since 1970, and a time in a folder named after the day
    (``2024-01-08/001/dav/08/08.00.00-08.59.59[R].dav``, ``20240108/08/00.mp4``).

    Parameters
    ----------
    path : Path
        The video.
    dayfirst : bool, optional
        Whether dates that end with the year begin with the day; see ``find_day_order``.

    Returns
    -------
    datetime or None
        Local time, or UTC with time zone if the name contains it.

    Examples
    --------
    >>> start_in_name(Path("north_20240108_080000.mp4"))
    datetime.datetime(2024, 1, 8, 8, 0)
    >>> start_in_name(Path("17.11.2026 08.30.mp4"))
    datetime.datetime(2026, 11, 17, 8, 30)
    >>> start_in_name(Path("north.mp4"))
    """
    for _, found in _stamps(path.stem, dayfirst):
        if found is None:
            raise InputError(
                f"{path}: the date in its name may begin with the day or with the month: set --dayfirst or "
                "--monthfirst"
            )
        return found
    return _start_by_folders(path)


def find_day_order(paths: Iterable[Path]) -> bool | None:
    """Whether dates that end with the year begin with the day, from names that allow only one order.

    Returns
    -------
    bool or None
        None if no name decides it. Dates with dots begin with the day.

    Examples
    --------
    >>> find_day_order([Path("north_08-11-2026_08-30.mp4"), Path("north_17-11-2026_08-30.mp4")])
    True
    """
    orders: dict[bool, Path] = {}
    for path in paths:
        for match in _DATE_YEAR_LAST.finditer(path.stem):
            order = _own_order(match)
            if order is not None:
                orders.setdefault(order, path)
    if len(orders) == 2:
        raise InputError(
            f"{orders[True].name} begins with the day and {orders[False].name} with the month: rename one, "
            "or scan them separately"
        )
    return next(iter(orders), None)


def _own_order(match: re.Match[str]) -> bool | None:
    """Whether a date begins with the day, as far as it tells."""
    first, second = int(match["first"]), int(match["second_part"])
    if first > 12 or match["sep"] == ".":
        return True
    return False if second > 12 else None


def _stamps(stem: str, dayfirst: bool | None) -> Iterator[tuple[tuple[int, int], datetime | None]]:
    """Yield the position of every time in a name, and the time; None if the order of its date is unknown."""
    for match in _STAMP.finditer(stem):
        part = match.groupdict()
        found = _time(part, part)
        if found is not None:
            yield match.span(), (found.replace(tzinfo=UTC) if part["zulu"] else found)
    for match in _STAMP_YEAR_LAST.finditer(stem):
        part, own = match.groupdict(), _own_order(match)
        order = dayfirst if own is None else own
        same = int(match["first"]) == int(match["second_part"])
        month, day = ("second_part", "first") if order or same else ("first", "second_part")
        found = _time({"year": part["year"], "month": part[month], "day": part[day]}, part)
        if found is not None:
            known = order is not None or same
            yield match.span(), ((found.replace(tzinfo=UTC) if part["zulu"] else found) if known else None)
    for match in _EPOCH.finditer(stem):
        seconds = int(match["seconds"]) + int(match["fraction"] or 0) / 1000
        yield match.span(), datetime.fromtimestamp(seconds, UTC)


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
    for (begin, end), _ in _stamps(stem, None):
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


def natural_order(path: Path) -> tuple[tuple[int, int, str], ...]:
    """Sort key for natural order: part 2 before part 10."""
    pieces = re.split(r"(\d+)", str(path))
    numbers = {piece: piece.lstrip("0") for piece in pieces if piece.isdecimal()}
    return tuple(
        (0, len(numbers[piece]), numbers[piece]) if piece in numbers else (1, 0, piece) for piece in pieces
    )
