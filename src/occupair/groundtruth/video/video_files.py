"""Which videos there are: of which door, from when on, with which gaps and overlaps."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from fnmatch import fnmatch
from itertools import pairwise
from pathlib import Path
from zoneinfo import ZoneInfo

from occupair.errors import InputError
from occupair.groundtruth.events import Door, Recording, Span
from occupair.groundtruth.video.containers import created
from occupair.groundtruth.video.file_names import (
    door_in_folder,
    door_in_name,
    in_order,
    safe_name,
    start_in_name,
)

SUFFIXES = (
    *(
        ".mp4",
        ".m4v",
        ".mov",
        ".avi",
        ".mkv",
        ".webm",
        ".mpg",
        ".mpeg",
        ".ts",
        ".mts",
        ".m2ts",
        ".wmv",
        ".flv",
    ),
    *(".3gp", ".asf", ".dav", ".h264", ".264", ".h265", ".265", ".hevc", ".mjpg", ".mjpeg", ".ogv"),
)
TOLERANCE = 2.0
"""Shorter gaps and overlaps between two files are how recorders cut, and not reported [s]."""

Length = Callable[[Path], float]
"""How long a video is [s]."""


@dataclass(frozen=True)
class Video:
    """A video of a door, and when it starts by the clock of the room."""

    path: Path
    door: str
    start: datetime  # without zone
    zone: ZoneInfo | None = None  # where the clock may change while the video runs

    def minute_number(self, second: float) -> int:
        """Count the whole minutes since 1970 at ``second`` of the video."""
        return int((self._began() + timedelta(seconds=second)).timestamp() // 60)

    def seconds_into(self, second: float, minute: int) -> float:
        """Give where ``second`` of the video lies from the start of a minute on [s]."""
        return self._began().timestamp() + second - 60 * minute

    def minute_of_day(self, number: int) -> datetime:
        """Give the start of a minute by the clock of the room."""
        moment = datetime.fromtimestamp(60 * number, UTC)
        return (moment.astimezone(self.zone) if self.zone else moment).replace(tzinfo=None)

    def _began(self) -> datetime:
        return self.start.replace(tzinfo=self.zone or UTC).astimezone(UTC)


def find_files(given: Sequence[Path | str]) -> list[Path]:
    """List the videos that are named, and those in the folders that are named."""
    found: dict[Path, Path] = {}
    for path in map(Path, given):
        if not path.exists():
            raise InputError(f"{path}: no such file or folder")
        inside = [path] if not path.is_dir() else _videos_in(path)
        found.update((one.resolve(), one) for one in inside)
    if not found:
        raise InputError(f"no videos in {', '.join(map(str, given)) or 'what was given'}")
    return sorted(found.values(), key=in_order)


def _videos_in(folder: Path) -> list[Path]:
    return [
        path
        for path in folder.rglob("*")
        if path.suffix.lower() in SUFFIXES and path.is_file() and not path.name.startswith(".")
    ]


def find_videos(
    given: Sequence[Path | str],
    *,
    doors: Mapping[str, str] | None = None,
    start: datetime | None = None,
    zone: ZoneInfo | None = None,
    length: Length = lambda path: 0.0,
) -> list[Video]:
    """Find door and start of every video.

    Parameters
    ----------
    given : sequence of Path
        Videos, and folders of them.
    doors : mapping of str to str, optional
        Names of doors and which videos are theirs: a folder, a file, the beginning of file names, or a
        pattern such as ``*ch1*``. Without it a door is what file names say beside the time, else the folder.
    start : datetime, optional
        When the first video of each door starts; the others follow, each after the one before, in order of
        their names. Without it names and containers say it, names first.
    zone : ZoneInfo, optional
        Of the room: times that containers and names give in UTC are shown in it. Without it, in the zone of
        this computer.
    length : callable
        How long a video is [s], where starts have to be reckoned.
    """
    files = find_files(given)
    named = [(path, _door_of(path, doors)) for path in files]
    if start is not None:
        return _one_after_another(named, _on_the_wall(start, zone), zone, length)
    videos = [Video(path, door, _start_of(path, zone), zone) for path, door in named]
    return _by_time(videos if doors else _tell_apart(videos, length))


def _by_time(videos: Iterable[Video]) -> list[Video]:
    return sorted(videos, key=lambda video: (video.door, video.start, in_order(video.path)))


def _door_of(path: Path, doors: Mapping[str, str] | None) -> str:
    if not doors:
        return door_in_name(path)
    for name, pattern in doors.items():
        if _matches(path, pattern):
            if safe_name(name) != name:
                raise InputError(f"the door {name!r} cannot be the name of a folder: call it otherwise")
            return name
    known = ", ".join(f"{name}={pattern}" for name, pattern in doors.items())
    raise InputError(f"{path}: of no door that was given ({known})")


def _matches(path: Path, pattern: str) -> bool:
    whole, wanted = path.resolve(), Path(pattern)
    if wanted.exists() and (wanted.resolve() == whole or wanted.resolve() in whole.parents):
        return True
    folders = [folder.name for folder in whole.parents]
    return path.name.startswith(pattern) or any(fnmatch(name, pattern) for name in (path.name, *folders))


def _start_of(path: Path, zone: ZoneInfo | None) -> datetime:
    found = start_in_name(path) or created(path)
    if found is None:
        raise InputError(
            f"{path}: neither its name nor its container says when it starts: give --start, or a name"
            " such as north_20240108_080000.mp4"
        )
    return _on_the_wall(found, zone)


def _on_the_wall(moment: datetime, zone: ZoneInfo | None) -> datetime:
    """Show a moment by the clock of the room; without zone it is that already."""
    return moment.astimezone(zone).replace(tzinfo=None) if moment.tzinfo else moment


def _one_after_another(
    named: Iterable[tuple[Path, str]], start: datetime, zone: ZoneInfo | None, length: Length
) -> list[Video]:
    follows: dict[str, Video] = {}
    videos = []
    for path, door in named:
        video = follows.get(door, Video(path, door, start, zone))
        videos.append(replace(video, path=path))
        follows[door] = replace(video, start=end_of(video, length(path)))
    return _by_time(videos)


def end_of(video: Video, seconds: float) -> datetime:
    """Say when a video ends, by the clock of the room."""
    end = video._began() + timedelta(seconds=seconds)
    return (end.astimezone(video.zone) if video.zone else end).replace(tzinfo=None)


def _tell_apart(videos: list[Video], length: Length) -> list[Video]:
    """Name doors after folders where cameras in several folders give their files the same names."""
    same = defaultdict(list)
    for video in videos:
        same[video.door].append(video)
    told = []
    for group in same.values():
        folders = {video.path: door_in_folder(video.path) for video in group}
        if len(set(folders.values())) > 1 and _several_at_once(group, folders, length):
            told += [replace(video, door=safe_name(folders[video.path])) for video in group]
        else:
            told += group
    return told


def _several_at_once(group: list[Video], folders: Mapping[Path, str], length: Length) -> bool:
    ordered = sorted(group, key=lambda video: video.start)
    return any(
        folders[one.path] != folders[next_one.path]
        and (end_of(one, length(one.path)) - next_one.start).total_seconds() > 60
        for one, next_one in pairwise(ordered)
    )


def coverage(recordings: Sequence[tuple[Recording, datetime]]) -> Door:
    """Say when nothing was recorded at a door, and when twice.

    Parameters
    ----------
    recordings : sequence of (Recording, datetime)
        The videos of one door, each with when it ends by the clock of the room.
    """
    ordered = sorted(recordings, key=lambda pair: (pair[0].start, pair[0].name))
    gaps: list[Span] = []
    overlaps: list[Span] = []
    reached: datetime | None = None
    for one, end in ordered:
        if one.seconds <= 0:
            continue  # nothing of it could be read: what it should have covered is a gap
        if reached is not None:
            apart = (one.start - reached).total_seconds()
            if apart > TOLERANCE:
                gaps.append((_whole(reached), _whole(one.start)))
            elif apart < -TOLERANCE:
                overlaps.append((_whole(one.start), _whole(min(reached, end))))
        reached = end if reached is None else max(reached, end)
    return Door(tuple(one for one, _ in ordered), tuple(gaps), tuple(overlaps))


def _whole(moment: datetime) -> datetime:
    return (moment + timedelta(milliseconds=500)).replace(microsecond=0)
