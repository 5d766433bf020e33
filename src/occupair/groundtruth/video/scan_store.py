"""Progress of a scan on disk, for resuming an interrupted scan and for adding videos later.

The ``.scan`` folder of an events folder has a record of every scanned video. During the scan of a video it
also has a checkpoint (the adapted state of the motion detector, small greyscale images) and its contact
sheets. Whatever is not a record is deleted when a scan finishes and when counting starts, also after a
program was killed. One program at a time scans into a folder, and only its owner can read ``.scan``.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import shutil
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from occupair.atomic_files import abandoned_files, write_atomically
from occupair.errors import InputError
from occupair.groundtruth.events import (
    INDEX,
    Door,
    Events,
    Recording,
    lock_folder,
    read_events,
    recording_from_json,
    recording_to_json,
    sheet_path,
)
from occupair.groundtruth.video.snapshots import Snapshot
from occupair.groundtruth.video.video_files import Video

_VERSION = 1
_ANALYSIS = 2  # version of the analysis whose state is in checkpoints
_HEAD = 1 << 16  # bytes that distinguish a file from another of the same name and size


@dataclass(frozen=True)
class ScanSettings:
    """ScanSettings of a scan; a video scanned with different settings is scanned again."""

    sensitivity: float
    margin: float
    rate: float
    zone: str | None
    detector: str | None = None  # hash of the network for person detection


@dataclass(frozen=True)
class ScoredMinute:
    """A candidate minute of one video."""

    number: int  # minutes since 1970
    minute: datetime
    score: float


@dataclass(frozen=True)
class ScanRecord:
    """A scanned video."""

    key: str
    door: str
    recording: Recording
    end: datetime
    minutes: tuple[ScoredMinute, ...]
    settings: ScanSettings


@dataclass(frozen=True)
class Checkpoint:
    """State of a partial scan of a video."""

    position: dict[str, float]
    minute: int
    analyser: dict[str, Any]
    arrays: dict[str, NDArray[np.float32]]
    snapshots: tuple[Snapshot, ...]
    minutes: tuple[ScoredMinute, ...]


class ScanStore:
    """The ``.scan`` folder of an events folder."""

    def __init__(self, out: Path) -> None:
        self.out = out
        self.folder = out / ".scan"

    def create(self) -> None:
        """Create the folders, readable by their owner only; an existing events folder keeps its mode."""
        self.out.parent.mkdir(parents=True, exist_ok=True)
        self.out.mkdir(mode=0o700, exist_ok=True)
        self.folder.mkdir(mode=0o700, exist_ok=True)
        with contextlib.suppress(PermissionError):  # scanned by another user
            self.folder.chmod(0o700)  # earlier versions did not

    def lock(self) -> contextlib.AbstractContextManager[None]:
        """Lock the folder for one scan, or raise an InputError if another program scans into it."""
        return lock_folder(self.folder, f"{self.out}: another program is scanning into this folder")

    def key_of(self, video: Video) -> str:
        """Return the key of a video: hashes of its file (path, size, first bytes) and of door and start."""
        with video.path.open("rb") as file:
            head = file.read(_HEAD)
        file_id = f"{video.path.resolve()}\n{video.path.stat().st_size}\n".encode(errors="surrogateescape")
        door_and_start = f"{video.door}\n{video.start.isoformat()}".encode()
        return f"{_short_hash(file_id + head)}-{_short_hash(door_and_start)}"

    def superseded(self, key: str, video: Video) -> set[str]:
        """Return the keys that a scan replaces: same file with any door and start, or same door and start."""
        file = key.partition("-")[0]
        same = {path.name.partition(".")[0] for path in self.folder.glob(f"{file}-*")}
        place = (video.door, video.start, video.path.name)
        return same | {
            one.key for one in self.records() if (one.door, one.recording.start, one.recording.name) == place
        }

    def sheet(self, key: str, number: int) -> Path:
        """Path of the contact sheet of a minute until the scan is done."""
        return self.folder / key / f"{number}.jpg"

    def records(self) -> list[ScanRecord]:
        """Read all records, by door and time."""
        found = (self._read(path) for path in sorted(self.folder.glob("*.json")))
        return sorted(
            (one for one in found if one is not None),
            key=lambda one: (one.door, one.recording.start, one.recording.name, one.key),
        )

    def record(self, key: str) -> ScanRecord | None:
        """Return the record of a video, or None if it has not been scanned."""
        return self._read(self.folder / f"{key}.json")

    def _read(self, path: Path) -> ScanRecord | None:
        try:
            entry = json.loads(path.read_text(encoding="utf-8"))
            if entry["version"] != _VERSION:
                return None
            return ScanRecord(
                path.stem,
                entry["door"],
                recording_from_json(entry["recording"]),
                datetime.fromisoformat(entry["end"]),
                tuple(_minutes_from_json(entry["hits"])),
                ScanSettings(**entry["settings"]),
            )
        except (OSError, ValueError, KeyError, TypeError):
            return None  # missing or damaged: scan the video again

    def finish(self, record: ScanRecord) -> None:
        """Write the record of a finished video and delete its checkpoint."""
        document = {
            "version": _VERSION,
            "door": record.door,
            "recording": recording_to_json(record.recording),
            "end": record.end.isoformat(),
            "hits": _minutes_to_json(record.minutes),
            "settings": asdict(record.settings),
        }
        write_atomically(self.folder / f"{record.key}.json", json.dumps(document) + "\n", private=True)
        self._checkpoint(record.key).unlink(missing_ok=True)

    def forget(self, key: str) -> None:
        """Delete record, checkpoint and contact sheets of a video."""
        (self.folder / f"{key}.json").unlink(missing_ok=True)
        self._checkpoint(key).unlink(missing_ok=True)
        shutil.rmtree(self.folder / key, ignore_errors=True)

    def tidy(self) -> None:
        """Delete everything but the records and what the index lists. The caller holds the lock."""
        for path in self.folder.iterdir():
            if path.is_dir():
                shutil.rmtree(path)
            elif path.suffix != ".json" or path.name.startswith("."):
                path.unlink()
        for folder in (path for path in self.out.iterdir() if path.is_dir() and not path.is_symlink()):
            _unlink_all(abandoned_files(folder, "*.jpg"))
        _unlink_all(abandoned_files(self.out, INDEX))

    def discard_unfinished(self, events: Events) -> set[str]:
        """Delete the results of an interrupted scan that are not in the index; return the videos' keys."""
        listed = {(one.door, one.minute) for one in events.minutes}
        keys = {path.name.partition(".")[0] for path in self.folder.glob("[!.]*.npz")}
        keys |= {path.name for path in self.folder.iterdir() if path.is_dir() and not self.record(path.name)}
        for record in self.records():
            door = events.doors.get(record.door, Door())
            minutes = [(record.door, one.minute) for one in record.minutes]
            is_pending = any(self.sheet(record.key, one.number).exists() for one in record.minutes)
            if is_pending or record.recording not in door.files or not listed.issuperset(minutes):
                keys.add(record.key)
                _unlink_all(sheet_path(self.out, *key) for key in minutes if key not in listed)
        for key in keys:
            self.forget(key)
        return keys

    def _checkpoint(self, key: str) -> Path:
        return self.folder / f"{key}.npz"

    def save(self, key: str, video: Video, settings: ScanSettings, checkpoint: Checkpoint) -> None:
        """Write a checkpoint."""
        snapshots = checkpoint.snapshots
        header = _scan_identity(video, settings) | {
            "position": checkpoint.position,
            "minute": checkpoint.minute,
            "watcher": checkpoint.analyser,
            "shots": [[one.second, one.score, list(one.region)] for one in snapshots],
            "hits": _minutes_to_json(checkpoint.minutes),
        }
        arrays: dict[str, Any] = {f"gate_{name}": array for name, array in checkpoint.arrays.items()}
        arrays |= {f"shot_{k}": one.jpeg for k, one in enumerate(snapshots)}
        content = io.BytesIO()
        np.savez(content, about=np.frombuffer(json.dumps(header).encode(), np.uint8), **arrays)
        write_atomically(self._checkpoint(key), content.getvalue(), private=True)

    def load(self, key: str, video: Video, settings: ScanSettings) -> Checkpoint | None:
        """Read the checkpoint of a video; None if there is none with the same settings."""
        try:
            with self._checkpoint(key).open("rb") as file, np.load(file, allow_pickle=False) as stored:
                header = json.loads(stored["about"].tobytes())
                if any(header[name] != value for name, value in _scan_identity(video, settings).items()):
                    return None
                return Checkpoint(
                    header["position"],
                    header["minute"],
                    header["watcher"],
                    {name[5:]: stored[name] for name in stored.files if name.startswith("gate_")},
                    tuple(
                        Snapshot(second, score, tuple(region), stored[f"shot_{k}"])
                        for k, (second, score, region) in enumerate(header["shots"])
                    ),
                    tuple(_minutes_from_json(header["hits"])),
                )
        except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile):
            return None  # missing or damaged: scan the video from its start


def delete_leftovers(out: Path) -> int:
    """Delete what an interrupted scan left in an events folder, before its minutes are counted.

    Nothing is deleted while a scan is running, nor before a scan has finished: it can be resumed.

    Returns
    -------
    int
        Number of videos whose scan was not finished.
    """
    store = ScanStore(out)
    if not os.access(store.folder, os.R_OK | os.W_OK | os.X_OK):  # no scan, or of another user
        return 0
    events = read_events(out)
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(store.lock())
        except InputError:
            return 0
        unfinished = store.discard_unfinished(events)
        store.tidy()
        return len(unfinished)


def _unlink_all(paths: Iterable[Path]) -> None:
    for path in paths:
        path.unlink(missing_ok=True)


def _short_hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def _scan_identity(video: Video, settings: ScanSettings) -> dict[str, Any]:
    return {
        "version": _VERSION,
        "analysis": _ANALYSIS,
        "door": video.door,
        "start": video.start.isoformat(),
        "settings": asdict(settings),
    }


def _minutes_to_json(minutes: tuple[ScoredMinute, ...]) -> list[list[Any]]:
    return [[one.number, one.minute.isoformat(), one.score] for one in minutes]


def _minutes_from_json(entries: list[list[Any]]) -> Iterator[ScoredMinute]:
    for number, minute, score in entries:
        yield ScoredMinute(int(number), datetime.fromisoformat(minute), float(score))
