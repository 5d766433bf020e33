"""The minutes to count: candidates of the scan, and minutes added by hand."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from occupair.errors import InputError
from occupair.groundtruth.counting.counts import Book, Key
from occupair.groundtruth.events import Events, sheet_path

_DAY = dt.timedelta(days=1)


@dataclass(frozen=True)
class Minute:
    """A minute to count.

    Parameters
    ----------
    door : str
    minute : datetime
        Start of the minute.
    score : float, optional
        Score of the scan; None for a minute added by hand or counted before another scan.
    sheet : path, optional
        Path of its picture, which may be deleted; None if it never had one.
    """

    door: str
    minute: dt.datetime
    score: float | None
    sheet: Path | None

    @property
    def key(self) -> Key:
        """The door and the minute."""
        return self.door, self.minute


def found_minutes(events: Events) -> dict[Key, Minute]:
    """Return the candidate minutes of the scan."""
    found = {
        (one.door, one.minute): Minute(one.door, one.minute, one.score, _inside(one.sheet, events.folder))
        for one in events.minutes
    }
    if not found:
        raise InputError(
            f"{events.folder}: no minutes to count: the scan found no passages; continue with 'occupair "
            "groundtruth occupancy', or scan again with --sensitivity 1"
        )
    return found


def list_minutes(found: dict[Key, Minute], book: Book, folder: Path) -> list[Minute]:
    """Return all minutes to count, in order of time and door: those of the scan and those with a count."""
    more = [_without_scan(key, folder) for key in book.counts.keys() - found.keys()]
    both = [*found.values(), *more]
    if len({one.minute.tzinfo is None for one in both}) > 1:
        raise InputError(
            f"{folder}: either both index.json and counts.json must have UTC offsets, or neither"
        )
    return sorted(both, key=lambda one: (one.minute, one.door))


def doors_of(events: Events, minutes: Sequence[Minute]) -> list[str]:
    """Return the names of all doors, including those without candidates."""
    return sorted({one.door for one in minutes} | events.doors.keys())


def days_of(events: Events, minutes: Sequence[Minute]) -> list[dt.date]:
    """Return the local days with video or with a minute to count."""
    days = {one.minute.date() for one in minutes}
    for door in events.doors.values():
        for file in door.files:
            last = file.start + dt.timedelta(seconds=file.seconds)
            days |= {file.start.date() + k * _DAY for k in range((last.date() - file.start.date()).days + 1)}
    return sorted(days)


def place_of(door: str, time: str, events: Events, minutes: Sequence[Minute]) -> Key:
    """Parse the door and the local time of a minute to add, such as ``2024-01-08T08:47``.

    If times have a UTC offset, the offset of the nearest minute is used.
    """
    doors, days = doors_of(events, minutes), days_of(events, minutes)
    if door not in doors:
        raise InputError(f"door must be {' or '.join(doors)}, got {door!r}")
    try:
        minute = dt.datetime.fromisoformat(time)
    except ValueError:
        minute = None
    if minute is None or minute.tzinfo is not None or (minute.second, minute.microsecond) != (0, 0):
        raise InputError(f"minute must be a local time such as 2024-01-08T08:47, got {time!r}")
    if minute.date() not in days:
        allowed = f"{days[0]}" if len(days) == 1 else f"one of {len(days)} days from {days[0]} to {days[-1]}"
        raise InputError(f"minute must be on a day with video, {allowed}, got {minute.date()}")
    near = min(minutes, key=lambda one: abs(one.minute.replace(tzinfo=None) - minute))
    return door, minute.replace(tzinfo=near.minute.tzinfo)


def in_videos(key: Key, events: Events) -> list[tuple[str, float]]:
    """Return the videos of a door that contain a minute, and the position of the minute in each [s]."""
    door, minute = key
    files = events.doors[door].files if door in events.doors else ()
    into = [(file, (minute - file.start).total_seconds()) for file in files]
    return [(file.name, max(0.0, seconds)) for file, seconds in into if -60 < seconds < file.seconds]


def _without_scan(key: Key, folder: Path) -> Minute:
    """Create a minute that is not in the scan; an earlier scan may have left a picture."""
    door, minute = key
    sheet = sheet_path(folder, door, minute)
    return Minute(door, minute, None, _inside(sheet, folder) if sheet.is_file() else None)


def _inside(sheet: Path, folder: Path) -> Path:
    """Reject a link to a file outside the folder, which would be shown and could be deleted."""
    if not sheet.resolve().is_relative_to(folder.resolve()):
        raise InputError(f"{sheet}: is outside the events folder")
    return sheet
