"""The events folder: candidate minutes, in which somebody may have passed a door, with contact sheets.

``index.json`` lists the doors with their videos, gaps and overlaps, and the candidate minutes by time and
door. It is written atomically at the end of a scan.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from occupair.atomic_files import write_atomically
from occupair.errors import InputError

INDEX = "index.json"
FORMAT, VERSION = "occupair events", 1
LONGEST_RECORDING = 31 * 86_400.0
"""Longest video [s]."""

Span = tuple[datetime, datetime]


@dataclass(frozen=True)
class CandidateMinute:
    """A minute in which somebody may have passed a door."""

    door: str
    minute: datetime  # its start on the room's clock
    score: float  # 0..1; see ``occupair.groundtruth.video.scan.scan_videos``
    sheet: Path  # JPEG; may have been deleted


@dataclass(frozen=True)
class Recording:
    """A video of a door, as far as it could be read."""

    name: str
    start: datetime
    seconds: float
    frames: int
    problem: str | None = None  # why it could not be read completely, in one line
    missing: tuple[tuple[float, float], ...] = ()  # times without a picture, from its start [s]


@dataclass(frozen=True)
class Door:
    """Recordings of a door in chronological order, with gaps and overlaps between them."""

    files: tuple[Recording, ...] = ()
    gaps: tuple[Span, ...] = ()
    overlaps: tuple[Span, ...] = ()


@dataclass(frozen=True)
class Events:
    """Result of a scan."""

    folder: Path
    doors: Mapping[str, Door] = field(default_factory=dict)
    minutes: Sequence[CandidateMinute] = ()


def sheet_path(folder: Path, door: str, minute: datetime) -> Path:
    """Return the path of the contact sheet of a minute.

    Examples
    --------
    >>> sheet_path(Path("events"), "north", datetime(2024, 1, 8, 8, 31)).as_posix()
    'events/north/20240108T083100.jpg'
    """
    return folder / door / f"{minute:%Y%m%dT%H%M%S}.jpg"


def write_events(events: Events) -> None:
    """Write the index of an events folder, whose contact sheets already exist.

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
        "doors": {name: _door_to_json(door) for name, door in sorted(events.doors.items())},
        "minutes": [
            _candidate_to_json(one, events.folder) for one in sorted(events.minutes, key=_by_minute_and_door)
        ],
    }
    write_atomically(events.folder / INDEX, json.dumps(document, indent=1, ensure_ascii=False) + "\n")


def read_events(folder: Path | str) -> Events:
    """Read an events folder.

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
        raise InputError(f"{path}: must be an index written by 'occupair groundtruth scan'")
    if document.get("version") != VERSION:
        raise InputError(f"{path}: version must be {VERSION}, got {document.get('version')}")
    try:
        doors = {_door_name(name): _door_from_json(door) for name, door in document["doors"].items()}
        minutes = [_candidate_from_json(entry, folder) for entry in document["minutes"]]
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise InputError(f"{path}: damaged ({type(error).__name__}: {error})") from None
    return Events(folder, doors, sorted(minutes, key=_by_minute_and_door))


@contextlib.contextmanager
def lock_folder(folder: Path, busy: str) -> Iterator[None]:
    """Lock a folder until the end of the block or of the program; if another program has, raise ``busy``."""
    if sys.platform == "win32" or not folder.is_dir():  # a missing folder is reported when it is read
        yield
        return
    import fcntl

    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(busy) from None
        yield
    finally:
        os.close(handle)


def _load(folder: Path, path: Path) -> Any:
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder")
    if not path.is_file():
        raise InputError(f"{folder}: has no {INDEX}: let 'occupair groundtruth scan' finish first")
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: damaged ({error})") from None


def _by_minute_and_door(one: CandidateMinute) -> tuple[datetime, str]:
    return one.minute, one.door


def _candidate_to_json(one: CandidateMinute, folder: Path) -> dict[str, Any]:
    return {
        "door": one.door,
        "minute": one.minute.isoformat(),
        "score": one.score,
        "sheet": one.sheet.relative_to(folder).as_posix(),
    }


def _candidate_from_json(entry: Mapping[str, Any], folder: Path) -> CandidateMinute:
    sheet = Path(entry["sheet"])
    if sheet.is_absolute() or ".." in sheet.parts:
        raise ValueError(f"sheet {entry['sheet']!r} must be inside the folder")
    minute, score = datetime.fromisoformat(entry["minute"]), float(entry["score"])
    return CandidateMinute(_door_name(str(entry["door"])), minute, score, folder / sheet)


def _door_name(name: str) -> str:
    name.encode()  # raises a ValueError for unpaired surrogates, which tables cannot hold
    return name


def _door_to_json(door: Door) -> dict[str, Any]:
    return {
        "files": [recording_to_json(one) for one in door.files],
        "gaps": [[time.isoformat() for time in span] for span in door.gaps],
        "overlaps": [[time.isoformat() for time in span] for span in door.overlaps],
    }


def _door_from_json(entry: Mapping[str, Any]) -> Door:
    def spans(key: str) -> tuple[Span, ...]:
        return tuple(
            (datetime.fromisoformat(begin), datetime.fromisoformat(end)) for begin, end in entry.get(key, [])
        )

    return Door(tuple(recording_from_json(file) for file in entry["files"]), spans("gaps"), spans("overlaps"))


def recording_to_json(one: Recording) -> dict[str, Any]:
    """Return the JSON fields of a recording."""
    fields = {
        "name": one.name,
        "start": one.start.isoformat(),
        "seconds": one.seconds,
        "frames": one.frames,
    }
    optional = {"problem": one.problem, "missing": [list(span) for span in one.missing]}
    return fields | {name: value for name, value in optional.items() if value}


def recording_from_json(entry: Mapping[str, Any]) -> Recording:
    """Create a recording from its JSON fields."""
    return Recording(
        str(entry["name"]),
        datetime.fromisoformat(entry["start"]),
        _seconds(entry["seconds"]),
        int(entry.get("frames", 0)),
        entry.get("problem"),
        tuple((_seconds(begin), _seconds(end)) for begin, end in entry.get("missing", ())),
    )


def _seconds(value: Any) -> float:
    seconds = float(value)
    if not 0 <= seconds <= LONGEST_RECORDING:
        raise ValueError(f"must be from 0 to {LONGEST_RECORDING:.0f} s, got {seconds:g}")
    return seconds
