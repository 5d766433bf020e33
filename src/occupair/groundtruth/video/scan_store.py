"""What a scan has done so far, on disk: so that it goes on where it was stopped, and takes in more videos.

In the events folder, ``.scan`` holds a record of every video that was scanned. While one is being scanned it
also holds a checkpoint of it (what the scan has learnt, small grey pictures) and its sheets; these are
gone when the scan is done.
"""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import zipfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from occupair.atomic_files import write_atomically
from occupair.groundtruth.events import Recording, recording_in, recording_out
from occupair.groundtruth.video.snapshots import Snapshot
from occupair.groundtruth.video.video_files import Video

_VERSION = 1
_HEAD = 1 << 16  # bytes of a file that tell it from another of the same name and size


@dataclass(frozen=True)
class Settings:
    """What a scan was asked for; a video that was scanned with others is scanned anew."""

    sensitivity: float
    margin: float
    rate: float
    zone: str | None


@dataclass(frozen=True)
class Hit:
    """A minute that was kept."""

    number: int  # minutes since 1970
    minute: datetime
    score: float


@dataclass(frozen=True)
class Record:
    """A video that was scanned."""

    key: str
    door: str
    recording: Recording
    end: datetime
    hits: tuple[Hit, ...]
    settings: Settings


@dataclass(frozen=True)
class Checkpoint:
    """How far the scan of a video has come."""

    position: dict[str, float]
    minute: int
    watcher: dict[str, Any]
    arrays: dict[str, NDArray[np.float32]]
    shots: tuple[Snapshot, ...]
    hits: tuple[Hit, ...]


class ScanStore:
    """The ``.scan`` folder of an events folder."""

    def __init__(self, out: Path) -> None:
        self.folder = out / ".scan"

    def key_of(self, video: Video) -> str:
        """Name a video by its file (where it is, its size, its first bytes), and by its door and start."""
        with video.path.open("rb") as file:
            head = file.read(_HEAD)
        said = f"{video.path.resolve()}\n{video.path.stat().st_size}\n".encode(errors="surrogateescape")
        shown = f"{video.door}\n{video.start.isoformat()}".encode()
        return f"{_short(said + head)}-{_short(shown)}"

    def stale(self, key: str, video: Video) -> set[str]:
        """Give the keys of the same file, with whatever door and start, and of other files in its place."""
        file = key.partition("-")[0]
        same = {path.name.partition(".")[0] for path in self.folder.glob(f"{file}-*")}
        there = (video.door, video.start, video.path.name)
        return same | {
            one.key for one in self.records() if (one.door, one.recording.start, one.recording.name) == there
        }

    def sheet(self, key: str, number: int) -> Path:
        """Where the sheet of a minute lies until the scan is done."""
        return self.folder / key / f"{number}.jpg"

    def records(self) -> list[Record]:
        """Read all records, in order of time."""
        found = (self._read(path) for path in sorted(self.folder.glob("*.json")))
        return sorted(
            (one for one in found if one is not None),
            key=lambda one: (one.door, one.recording.start, one.recording.name, one.key),
        )

    def record(self, key: str) -> Record | None:
        """Give the record of a video, if it was scanned."""
        return self._read(self.folder / f"{key}.json")

    def _read(self, path: Path) -> Record | None:
        try:
            entry = json.loads(path.read_text(encoding="utf-8"))
            if entry["version"] != _VERSION:
                return None
            return Record(
                path.stem,
                entry["door"],
                recording_in(entry["recording"]),
                datetime.fromisoformat(entry["end"]),
                tuple(_hits_in(entry["hits"])),
                Settings(**entry["settings"]),
            )
        except (OSError, ValueError, KeyError, TypeError):
            return None  # not there or damaged: the video is scanned again

    def finish(self, record: Record) -> None:
        """Keep the record of a video that is done, and let go of its checkpoint."""
        document = {
            "version": _VERSION,
            "door": record.door,
            "recording": recording_out(record.recording),
            "end": record.end.isoformat(),
            "hits": _hits_out(record.hits),
            "settings": asdict(record.settings),
        }
        write_atomically(self.folder / f"{record.key}.json", json.dumps(document) + "\n")
        self._checkpoint(record.key).unlink(missing_ok=True)

    def forget(self, key: str) -> None:
        """Remove all that is known of a video."""
        (self.folder / f"{key}.json").unlink(missing_ok=True)
        self._checkpoint(key).unlink(missing_ok=True)
        shutil.rmtree(self.folder / key, ignore_errors=True)

    def tidy(self) -> None:
        """Remove the folders of sheets that have gone to their places."""
        for folder in self.folder.iterdir():
            if folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()

    def _checkpoint(self, key: str) -> Path:
        return self.folder / f"{key}.npz"

    def save(self, key: str, video: Video, settings: Settings, checkpoint: Checkpoint) -> None:
        """Keep how far a scan has come."""
        shots = checkpoint.shots
        about = _about(video, settings) | {
            "position": checkpoint.position,
            "minute": checkpoint.minute,
            "watcher": checkpoint.watcher,
            "shots": [[shot.second, shot.score, list(shot.box)] for shot in shots],
            "hits": _hits_out(checkpoint.hits),
        }
        arrays: dict[str, Any] = {f"gate_{name}": array for name, array in checkpoint.arrays.items()}
        arrays |= {f"shot_{k}": shot.jpeg for k, shot in enumerate(shots)}
        content = io.BytesIO()
        np.savez(content, about=np.frombuffer(json.dumps(about).encode(), np.uint8), **arrays)
        write_atomically(self._checkpoint(key), content.getvalue())

    def load(self, key: str, video: Video, settings: Settings) -> Checkpoint | None:
        """Give how far the scan of a video has come, if it was the same scan."""
        try:
            with self._checkpoint(key).open("rb") as file, np.load(file, allow_pickle=False) as stored:
                about = json.loads(stored["about"].tobytes())
                if any(about[name] != value for name, value in _about(video, settings).items()):
                    return None
                return Checkpoint(
                    about["position"],
                    about["minute"],
                    about["watcher"],
                    {name[5:]: stored[name] for name in stored.files if name.startswith("gate_")},
                    tuple(
                        Snapshot(second, score, tuple(box), stored[f"shot_{k}"])
                        for k, (second, score, box) in enumerate(about["shots"])
                    ),
                    tuple(_hits_in(about["hits"])),
                )
        except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile):
            return None  # not there or damaged: the video is scanned from its start


def _short(said: bytes) -> str:
    return hashlib.sha256(said).hexdigest()[:16]


def _about(video: Video, settings: Settings) -> dict[str, Any]:
    return {
        "version": _VERSION,
        "door": video.door,
        "start": video.start.isoformat(),
        "settings": asdict(settings),
    }


def _hits_out(hits: tuple[Hit, ...]) -> list[list[Any]]:
    return [[hit.number, hit.minute.isoformat(), hit.score] for hit in hits]


def _hits_in(entries: list[list[Any]]) -> Iterator[Hit]:
    for number, minute, score in entries:
        yield Hit(int(number), datetime.fromisoformat(minute), float(score))
