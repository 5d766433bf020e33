"""Video files: the door and start time of each, and gaps and overlaps between them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from fnmatch import fnmatch
from itertools import pairwise
from pathlib import Path
from zoneinfo import ZoneInfo

from occupair.errors import InputError
from occupair.groundtruth.events import Door, Recording, Span
from occupair.groundtruth.video.file_names import (
    door_in_folder,
    door_in_name,
    find_day_order,
    natural_order,
    safe_name,
    start_in_name,
)
from occupair.groundtruth.video.pyav import open_video, pyav

SUFFIXES = frozenset({
    ".mp4", ".m4v", ".mov", ".avi", ".mkv", ".webm", ".mpg", ".mpeg", ".ts", ".mts", ".m2ts", ".wmv", ".flv",
    ".3gp", ".asf", ".dav", ".h264", ".264", ".h265", ".265", ".hevc", ".mjpg", ".mjpeg", ".ogv",
})  # fmt: skip
TOLERANCE = 2.0
"""Shorter gaps and overlaps between files are normal for recorders and not reported [s]."""

Length = Callable[[Path], float]
"""Returns the length of a video [s]."""

_EARLIEST = datetime(1995, 1, 1, tzinfo=UTC)  # a camera clock that was never set shows 1904, 1970 or 1980


@dataclass(frozen=True)
class Video:
    """A video of a door and its start time on the room's clock."""

    path: Path
    door: str
    start: datetime  # local, without time zone
    zone: ZoneInfo | None = None  # for clock changes during the video

    def minute_number(self, second: float) -> int:
        """Return the number of complete minutes since 1970 at ``second`` of the video."""
        return int((self._start_utc() + timedelta(seconds=second)).timestamp() // 60)

    def seconds_into(self, second: float, minute: int) -> float:
        """Return the time from the start of a minute to ``second`` of the video [s]."""
        return self._start_utc().timestamp() + second - 60 * minute

    def minute_of_day(self, number: int) -> datetime:
        """Return the start of a minute on the room's clock."""
        time = datetime.fromtimestamp(60 * number, UTC)
        return (time.astimezone(self.zone) if self.zone else time).replace(tzinfo=None)

    def end(self, seconds: float) -> datetime:
        """Return when the video ends on the room's clock, if it is ``seconds`` long."""
        end = self._start_utc() + timedelta(seconds=seconds)
        return (end.astimezone(self.zone) if self.zone else end).replace(tzinfo=None)

    def _start_utc(self) -> datetime:
        return self.start.replace(tzinfo=self.zone or UTC).astimezone(UTC)


def find_files(given: Sequence[Path | str]) -> list[Path]:
    """List the given videos and those in the given folders."""
    found: dict[Path, Path] = {}
    for path in map(Path, given):
        if not path.exists():
            raise InputError(f"{path}: no such file or folder")
        inside = [path] if not path.is_dir() else _videos_in(path)
        found.update((one.resolve(), one) for one in inside)
    if not found:
        raise InputError(f"no videos found in {', '.join(map(str, given)) or 'the given paths'}")
    return sorted(found.values(), key=natural_order)


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
    dayfirst: bool | None = None,
    length: Length = lambda path: 0.0,
) -> list[Video]:
    """Find the door and start time of every video.

    Parameters
    ----------
    given : sequence of Path
        Videos and folders of videos.
    doors : mapping of str to str, optional
        Door names and the videos of each: a folder, a file, the beginning of file names, or a pattern such as
        ``*ch1*``. By default the door is the part of the file name other than the time, or the folder name.
    start : datetime, optional
        Start of the first video of each door; the others follow without gaps, in the order of their names. By
        default the start is taken from the file name, or else from the container.
    zone : ZoneInfo, optional
        Time zone of the room, to which UTC times are converted; by default that of this computer.
    dayfirst : bool, optional
        Whether dates such as 08-11-2026 in file names begin with the day; by default, the names of the other
        videos decide.
    length : callable
        Returns the length of a video [s], where it is needed to compute starts.
    """
    files = find_files(given)
    assigned = [(path, _door_of(path, doors)) for path in files]
    if start is not None:
        return _consecutive(assigned, _local_time(start, zone), zone, length)
    order = find_day_order(files) if dayfirst is None else dayfirst
    videos = [Video(path, door, _start_of(path, zone, order), zone) for path, door in assigned]
    return _by_door_and_time(videos if doors else _separate_cameras(videos, length))


def _by_door_and_time(videos: Iterable[Video]) -> list[Video]:
    return sorted(videos, key=lambda video: (video.door, video.start, natural_order(video.path)))


def _door_of(path: Path, doors: Mapping[str, str] | None) -> str:
    if not doors:
        return door_in_name(path)
    for name, pattern in doors.items():
        if _matches(path, pattern):
            if safe_name(name) != name:
                raise InputError(f"door name {name!r} cannot be used as a folder name: choose another")
            return name
    known = ", ".join(f"{name}={pattern}" for name, pattern in doors.items())
    raise InputError(f"{path}: matches none of the given doors ({known})")


def _matches(path: Path, pattern: str) -> bool:
    absolute, wanted = path.resolve(), Path(pattern)
    if wanted.exists() and (wanted.resolve() == absolute or wanted.resolve() in absolute.parents):
        return True
    folders = [folder.name for folder in absolute.parents]
    return path.name.startswith(pattern) or any(fnmatch(name, pattern) for name in (path.name, *folders))


def _start_of(path: Path, zone: ZoneInfo | None, dayfirst: bool | None) -> datetime:
    found = start_in_name(path, dayfirst=dayfirst) or creation_time(path)
    if found is None:
        raise InputError(
            f"{path}: no start time in its name or container: set --start, or use a name such as"
            " north_20240108_080000.mp4"
        )
    return _local_time(found, zone)


def creation_time(path: Path) -> datetime | None:
    """Return when a video was recorded, from its container.

    Returns
    -------
    datetime or None
        In UTC. None if the container has no creation time or an implausible one.
    """
    av = pyav()
    try:
        with open_video(path) as container:
            time = datetime.fromisoformat(container.metadata["creation_time"])
    except (OSError, av.FFmpegError, KeyError, ValueError):
        return None
    time = time if time.tzinfo else time.replace(tzinfo=UTC)
    return time if _EARLIEST <= time <= datetime.now(UTC) + timedelta(days=2) else None


def _local_time(time: datetime, zone: ZoneInfo | None) -> datetime:
    """Convert a time to the room's clock; without time zone it already is."""
    return time.astimezone(zone).replace(tzinfo=None) if time.tzinfo else time


def _consecutive(
    assigned: Iterable[tuple[Path, str]], start: datetime, zone: ZoneInfo | None, length: Length
) -> list[Video]:
    following: dict[str, Video] = {}
    videos = []
    for path, door in assigned:
        video = following.get(door, Video(path, door, start, zone))
        videos.append(replace(video, path=path))
        following[door] = replace(video, start=video.end(length(path)))
    return _by_door_and_time(videos)


def _separate_cameras(videos: list[Video], length: Length) -> list[Video]:
    """Name doors after folders if cameras in several folders use the same file names."""
    by_door = defaultdict(list)
    for video in videos:
        by_door[video.door].append(video)
    separated = []
    for group in by_door.values():
        folders = {video.path: door_in_folder(video.path) for video in group}
        if len(set(folders.values())) > 1 and _are_simultaneous(group, folders, length):
            separated += [replace(video, door=safe_name(folders[video.path])) for video in group]
        else:
            separated += group
    return separated


def _are_simultaneous(group: list[Video], folders: Mapping[Path, str], length: Length) -> bool:
    ordered = sorted(group, key=lambda video: video.start)
    return any(
        folders[one.path] != folders[next_one.path]
        and (one.end(length(one.path)) - next_one.start).total_seconds() > 60
        for one, next_one in pairwise(ordered)
    )


def recording_coverage(recordings: Sequence[tuple[Recording, datetime]]) -> Door:
    """Find gaps and overlaps in the recordings of a door; times without a picture are gaps.

    Parameters
    ----------
    recordings : sequence of (Recording, datetime)
        The recordings, each with its end on the room's clock.
    """
    ordered = sorted(recordings, key=lambda pair: (pair[0].start, pair[0].name))
    gaps: list[Span] = []
    overlaps: list[Span] = []
    covered_until: datetime | None = None
    for begin, end in sorted(span for one, until in ordered for span in _spans_with_picture(one, until)):
        if covered_until is not None:
            apart = (begin - covered_until).total_seconds()
            if apart > TOLERANCE:
                gaps.append((_to_second(covered_until), _to_second(begin)))
            elif apart < -TOLERANCE:
                overlaps.append((_to_second(begin), _to_second(min(covered_until, end))))
        covered_until = end if covered_until is None else max(covered_until, end)
    return Door(tuple(one for one, _ in ordered), tuple(gaps), tuple(overlaps))


def _spans_with_picture(one: Recording, end: datetime) -> Iterator[Span]:
    """Yield the times of a recording that could be read; none if it is unreadable."""
    begin = one.start
    for missing, again in one.missing:
        stop = one.start + timedelta(seconds=missing)
        if stop > begin:
            yield begin, stop
        begin = one.start + timedelta(seconds=again)
    if end > begin:
        yield begin, end


def _to_second(time: datetime) -> datetime:
    return (time + timedelta(milliseconds=500)).replace(microsecond=0)


def span_text(span: Span) -> str:
    """Describe a time span to the second.

    Examples
    --------
    >>> span_text((datetime(2024, 1, 8, 8, 2, 18), datetime(2024, 1, 8, 8, 2, 40)))
    '2024-01-08 08:02:18 to 08:02:40'
    """
    begin, end = map(_to_second, span)
    until = f"{end:%H:%M:%S}" if end.date() == begin.date() else f"{end:%Y-%m-%d %H:%M:%S}"
    return f"{begin:%Y-%m-%d %H:%M:%S} to {until}"
