"""The minutes to count: those that the scan found, and those that a person added."""

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
        Its start.
    score : float, optional
        Of the scan; None: the scan does not have it, it was added by hand or counted before another scan.
    sheet : path, optional
        Where its picture is, or was until it was deleted; None: it never had one.
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
    """Give the minutes that the scan found."""
    found = {
        (one.door, one.minute): Minute(one.door, one.minute, one.score, _inside(one.sheet, events.folder))
        for one in events.minutes
    }
    if not found:
        raise InputError(
            f"{events.folder}: has no minutes to count: the scan saw nobody; go on with 'occupair "
            "groundtruth occupancy', or scan again with --sensitivity 1 --anew"
        )
    return found


def list_minutes(found: dict[Key, Minute], book: Book, folder: Path) -> list[Minute]:
    """List what there is to count, by time and door: what the scan found, and all else that the book has."""
    more = [_without_scan(key, folder) for key in book.counts.keys() - found.keys()]
    both = [*found.values(), *more]
    if len({one.minute.tzinfo is None for one in both}) > 1:
        raise InputError(f"{folder}: index.json and counts.json must both have offsets from UTC, or neither")
    return sorted(both, key=lambda one: (one.minute, one.door))


def doors_of(events: Events, minutes: Sequence[Minute]) -> list[str]:
    """Name the doors, also those at which the scan saw nobody."""
    return sorted({one.door for one in minutes} | events.doors.keys())


def days_of(events: Events, minutes: Sequence[Minute]) -> list[dt.date]:
    """Give the local days that were filmed, or have a minute to count."""
    days = {one.minute.date() for one in minutes}
    for door in events.doors.values():
        for file in door.files:
            last = file.start + dt.timedelta(seconds=file.seconds)
            days |= {file.start.date() + k * _DAY for k in range((last.date() - file.start.date()).days + 1)}
    return sorted(days)


def place_of(door: str, time: str, events: Events, minutes: Sequence[Minute]) -> Key:
    """Read the door and the local time of a minute to add, such as ``2024-01-08T08:47``.

    Where times have an offset from UTC, it gets that of the minute nearest to it by the clock.
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
        said = f"{days[0]}" if len(days) == 1 else f"one of {len(days)} days from {days[0]} to {days[-1]}"
        raise InputError(f"minute must be on a day that was filmed, {said}, got {minute.date()}")
    near = min(minutes, key=lambda one: abs(one.minute.replace(tzinfo=None) - minute))
    return door, minute.replace(tzinfo=near.minute.tzinfo)


def in_videos(key: Key, events: Events) -> list[tuple[str, float]]:
    """Tell in which videos of a door a minute is, by name, and how far into each it begins [s]."""
    door, minute = key
    files = events.doors[door].files if door in events.doors else ()
    into = [(file, (minute - file.start).total_seconds()) for file in files]
    return [(file.name, max(0.0, seconds)) for file, seconds in into if -60 < seconds < file.seconds]


def _without_scan(key: Key, folder: Path) -> Minute:
    """Make a minute that the scan does not have; a picture of it may be there from another scan."""
    door, minute = key
    sheet = sheet_path(folder, door, minute)
    return Minute(door, minute, None, _inside(sheet, folder) if sheet.is_file() else None)


def _inside(sheet: Path, folder: Path) -> Path:
    """Refuse a link that leads elsewhere: it would be shown, and may be deleted."""
    if not sheet.resolve().is_relative_to(folder.resolve()):
        raise InputError(f"{sheet}: leads out of the events folder, where its sheets must be")
    return sheet
