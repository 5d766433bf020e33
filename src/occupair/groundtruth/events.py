"""The events folder: the minutes in which somebody may have passed a door, each with a contact sheet.

``index.json`` lists the doors with their videos, gaps and overlaps, and the minutes by time and door. It is
written when a scan is done, whole or not at all.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from occupair.atomic_files import write_atomically
from occupair.errors import InputError

INDEX = "index.json"
FORMAT, VERSION = "occupair events", 1

Span = tuple[datetime, datetime]


@dataclass(frozen=True)
class CandidateMinute:
    """A minute in which somebody may have passed a door."""

    door: str
    minute: datetime  # its start, by the clock of the room
    score: float  # 0..1; see ``occupair.groundtruth.video.scan.scan``
    sheet: Path  # a JPEG; it may have been deleted since


@dataclass(frozen=True)
class Recording:
    """A video of a door: as far as it could be read."""

    name: str
    start: datetime
    seconds: float
    frames: int
    problem: str | None = None  # what was wrong with it, in one line


@dataclass(frozen=True)
class Door:
    """The videos of a door in order of time, when there is none, and when there are two at once."""

    files: tuple[Recording, ...] = ()
    gaps: tuple[Span, ...] = ()
    overlaps: tuple[Span, ...] = ()


@dataclass(frozen=True)
class Events:
    """What a scan found."""

    folder: Path
    doors: Mapping[str, Door] = field(default_factory=dict)
    minutes: Sequence[CandidateMinute] = ()


def sheet_path(folder: Path, door: str, minute: datetime) -> Path:
    """Say where an events folder has the contact sheet of a minute.

    Examples
    --------
    >>> sheet_path(Path("events"), "north", datetime(2024, 1, 8, 8, 31)).as_posix()
    'events/north/20240108T083100.jpg'
    """
    return folder / door / f"{minute:%Y%m%dT%H%M%S}.jpg"


def write_events(events: Events) -> None:
    """Write the index of an events folder; the sheets are there already.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> minute = datetime(2024, 1, 8, 8, 31)
    >>> found = CandidateMinute("north", minute, 0.83, folder / "north/20240108T083100.jpg")
    >>> write_events(Events(folder, {"north": Door()}, [found]))
    >>> read_events(folder).minutes[0].score
    0.83
    """
    document = {
        "format": FORMAT,
        "version": VERSION,
        "doors": {name: _door_out(door) for name, door in sorted(events.doors.items())},
        "minutes": [
            _candidate_out(one, events.folder) for one in sorted(events.minutes, key=_by_minute_and_door)
        ],
    }
    write_atomically(events.folder / INDEX, json.dumps(document, indent=1, ensure_ascii=False) + "\n")


def read_events(folder: Path | str) -> Events:
    """Read an events folder, or say in one line what is wrong with it.

    Examples
    --------
    >>> read_events("no/such/folder")
    Traceback (most recent call last):
    occupair.errors.InputError: no/such/folder: no such folder
    """
    folder = Path(folder)
    path = folder / INDEX
    document = _load(folder, path)
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise InputError(f"{path}: not an index of 'occupair groundtruth scan'")
    if document.get("version") != VERSION:
        raise InputError(f"{path}: version {document.get('version')} is not known here, only {VERSION} is")
    try:
        doors = {name: _door_in(door) for name, door in document["doors"].items()}
        minutes = [_candidate_in(entry, folder) for entry in document["minutes"]]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"{path}: damaged ({type(error).__name__}: {error})") from None
    return Events(folder, doors, sorted(minutes, key=_by_minute_and_door))


def _load(folder: Path, path: Path) -> Any:
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder")
    if not path.is_file():
        raise InputError(f"{folder}: no {INDEX} in it; 'occupair groundtruth scan' writes it when it is done")
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError(f"{path}: damaged ({error})") from None


def _by_minute_and_door(one: CandidateMinute) -> tuple[datetime, str]:
    return one.minute, one.door


def _candidate_out(one: CandidateMinute, folder: Path) -> dict[str, Any]:
    return {
        "door": one.door,
        "minute": one.minute.isoformat(),
        "score": one.score,
        "sheet": one.sheet.relative_to(folder).as_posix(),
    }


def _candidate_in(entry: Mapping[str, Any], folder: Path) -> CandidateMinute:
    sheet = Path(entry["sheet"])
    if sheet.is_absolute() or ".." in sheet.parts:
        raise ValueError(f"the sheet {entry['sheet']!r} is not inside the folder")
    minute, score = datetime.fromisoformat(entry["minute"]), float(entry["score"])
    return CandidateMinute(str(entry["door"]), minute, score, folder / sheet)


def _door_out(door: Door) -> dict[str, Any]:
    return {
        "files": [recording_out(one) for one in door.files],
        "gaps": [[moment.isoformat() for moment in span] for span in door.gaps],
        "overlaps": [[moment.isoformat() for moment in span] for span in door.overlaps],
    }


def _door_in(entry: Mapping[str, Any]) -> Door:
    def spans(key: str) -> tuple[Span, ...]:
        return tuple(
            (datetime.fromisoformat(begin), datetime.fromisoformat(end)) for begin, end in entry.get(key, [])
        )

    return Door(tuple(recording_in(file) for file in entry["files"]), spans("gaps"), spans("overlaps"))


def recording_out(one: Recording) -> dict[str, Any]:
    """Give what JSON says of a video."""
    written = {
        "name": one.name,
        "start": one.start.isoformat(),
        "seconds": one.seconds,
        "frames": one.frames,
    }
    return written | ({"problem": one.problem} if one.problem else {})


def recording_in(entry: Mapping[str, Any]) -> Recording:
    """Take a video from JSON."""
    return Recording(
        str(entry["name"]),
        datetime.fromisoformat(entry["start"]),
        float(entry["seconds"]),
        int(entry.get("frames", 0)),
        entry.get("problem"),
    )
