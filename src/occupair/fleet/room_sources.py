"""Which files, and which rows of them, hold the readings of each room of a portfolio.

Data may be

- files in folders ``room=NAME`` (Parquet or CSV, one or more per room),
- Parquet files with a column ``room``,
- one CSV or Parquet file per room, named after it; in subfolders, the name starts with that of the folder,
- a single file of one of these kinds,

on this machine or at any fsspec URL. Only names, schemas and the column ``room`` are read here.
"""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote

from occupair.errors import InputError
from occupair.fleet.room_options import OPTIONS_FILES, RoomOptions, parse_options
from occupair.fleet.storage import describe_error, local_path, open_url, printable

ROOM = "room"
"""Column, and key of folders, with the name of the room."""
PARQUET = (".parquet", ".pq")
TEXT = (".csv", ".txt", ".tsv", ".csv.gz", ".txt.gz", ".tsv.gz")
MOST_ROOMS_PER_GROUP = 20
"""Rooms in a row group, on average, from which on a file counts as mixed."""
_PARTITION = re.compile(rf"{ROOM}=(.+)", re.IGNORECASE)


@dataclass(frozen=True)
class Part:
    """A file with readings of a room.

    Parameters
    ----------
    url : str
        Path or URL of the file.
    row_groups : tuple of int, optional
        Row groups of a Parquet file with rows of the room; None: the whole file is of the room.
    """

    url: str
    row_groups: tuple[int, ...] | None = None


@dataclass(frozen=True)
class RoomSource:
    """Where the readings of a room are, and how to read them."""

    room: str
    parts: tuple[Part, ...]
    options: RoomOptions = field(default_factory=RoomOptions)


def find_rooms(
    data: str, *, options_file: str | None = None, defaults: RoomOptions | None = None
) -> list[RoomSource]:
    """Return the rooms in a folder, file or URL, sorted by name.

    Parameters
    ----------
    data : str
        Folder, file or URL.
    options_file : str, optional
        CSV or TOML file with the options of the rooms; None: ``rooms.toml`` or ``rooms.csv`` in the folder.
        A room in it without readings is returned, too, without parts.
    defaults : RoomOptions, optional
        Options of all rooms, unless the file has others.
    """
    files = _list_files(data)
    options_file = options_file or _options_beside(files)
    options = {} if options_file is None else parse_options(_read(options_file), options_file)
    files = [one for one in files if one.name not in OPTIONS_FILES and not _is_same(one.url, options_file)]
    rooms = _rooms_by_option(files, options)
    given = {part.url for parts in rooms.values() for part in parts}
    others = [one for one in files if one.url not in given]
    for room, parts in _rooms_by_name(others).items():
        rooms.setdefault(room, []).extend(parts)
    for room in options:
        rooms.setdefault(room, [])
    _warn_of_mixed_rooms(rooms)
    if not any(rooms.values()):
        which = "no rows with the name of a room" if others else "no CSV or Parquet files"
        raise InputError(f"{data}: has no readings: {which}")
    defaults = defaults or RoomOptions()
    return [
        RoomSource(room, tuple(parts), options.get(room, RoomOptions()).over(defaults))
        for room, parts in sorted(rooms.items())
    ]


def _warn_of_mixed_rooms(rooms: Mapping[str, list[Part]]) -> None:
    """Warn of files of which most rooms need most row groups, so that they are read again for every room."""
    needed: dict[str, Counter[int]] = {}
    for part in (part for parts in rooms.values() for part in parts if part.row_groups is not None):
        needed.setdefault(part.url, Counter()).update(part.row_groups or ())
    for url, groups in needed.items():
        if len(groups) > 1 and groups.total() > MOST_ROOMS_PER_GROUP * len(groups):
            warnings.warn(
                f"{url}: rooms are mixed, so every room reads most of the file: split it first, with "
                "occupair fleet split",
                UserWarning,
                stacklevel=3,
            )


@dataclass(frozen=True)
class _File:
    url: str
    relative: str  # to the folder of the data

    @property
    def name(self) -> str:
        return PurePosixPath(self.relative).name

    @property
    def is_parquet(self) -> bool:
        return self.name.lower().endswith(PARQUET)

    @property
    def partition(self) -> str | None:
        """Name of the room in a folder ``room=NAME``."""
        for folder in PurePosixPath(self.relative).parts[:-1]:
            if match := _PARTITION.fullmatch(folder):
                return unquote(match[1])
        return None

    @property
    def stem(self) -> str:
        """Name of the room of a file per room: its path without suffix."""
        suffix = next(one for one in sorted(PARQUET + TEXT, key=len)[::-1] if self.name.lower().endswith(one))
        return self.relative[: -len(suffix)]


def _list_files(data: str) -> list[_File]:
    """Return the files with readings, and those with options, below a folder or URL, by name."""
    system, root = open_url(data)
    try:
        system.invalidate_cache()
        if system.isfile(root):
            found = [_File(_unstripped(system, root, data), printable(PurePosixPath(root).name))]
        elif not system.exists(root):
            raise InputError(f"{data}: no such folder or file")
        else:
            found = [
                _File(_unstripped(system, path, data), printable(path[len(root.rstrip("/")) + 1 :]))
                for path in system.find(root)
            ]
    except InputError:
        raise
    except Exception as error:  # noqa: BLE001  # every driver has errors of its own
        raise InputError(f"{data}: cannot be listed: {describe_error(error)}") from None
    visible = [one for one in found if not any(p[0] in "._" for p in PurePosixPath(one.relative).parts)]
    known = [one for one in visible if one.name.lower().endswith(PARQUET + TEXT) or one.name in OPTIONS_FILES]
    return sorted(known, key=lambda one: one.relative)


def _unstripped(system: Any, path: str, data: str) -> str:
    return path if local_path(data) is not None else str(system.unstrip_protocol(path))


def _options_beside(files: Iterable[_File]) -> str | None:
    found = {one.relative: one.url for one in files if one.relative in OPTIONS_FILES}
    if len(found) > 1:
        both = " and ".join(sorted(found))
        raise InputError(f"{both} are both there: keep one of them, or choose it with --rooms")
    return next(iter(found.values()), None)


def _read(url: str) -> bytes:
    system, path = open_url(url)
    try:
        return bytes(system.cat_file(path))
    except FileNotFoundError:
        raise InputError(f"{url}: No such file or directory") from None
    except Exception as error:  # noqa: BLE001  # every driver has errors of its own
        raise InputError(f"{url}: cannot be read: {describe_error(error)}") from None


def _is_same(url: str, other: str | None) -> bool:
    """Whether two paths or URLs are those of the same file."""
    ours, theirs = local_path(url), None if other is None else local_path(other)
    return url == other or (ours is not None and theirs is not None and ours.resolve() == theirs.resolve())


def _rooms_by_option(files: Sequence[_File], options: Mapping[str, RoomOptions]) -> dict[str, list[Part]]:
    """Return the rooms whose files their options name: paths with wildcards, or URLs."""
    rooms: dict[str, list[Part]] = {}
    for room, one in options.items():
        if one.file:
            rooms[room] = []
        for pattern in one.file:
            if "://" in pattern:
                rooms[room].append(Part(pattern))
                continue
            rooms[room] += [
                Part(file.url)
                for file in files
                if file.relative == pattern or fnmatch(file.relative, pattern)  # a name may have brackets
            ]
    return rooms


def _rooms_by_name(files: Sequence[_File]) -> dict[str, list[Part]]:
    rooms: dict[str, list[Part]] = {}
    for one in files:
        if one.partition is not None:
            rooms.setdefault(one.partition, []).append(Part(one.url))
    single = [one for one in files if one.partition is None]
    columns = next(filter(None, (_column_names(one.url) for one in single if one.is_parquet)), [])
    for one in single:
        if ROOM in columns and one.is_parquet:
            for room, part in _parts_of_rooms(one):
                rooms.setdefault(room, []).append(part)
        else:
            rooms.setdefault(one.stem, []).append(Part(one.url))
    return rooms


def _parts_of_rooms(file: _File) -> list[tuple[str, Part]]:
    """Return the parts of a file with a column ``room``; without one, or damaged, it is a room of its own."""
    try:
        return [(room, Part(file.url, groups)) for room, groups in room_row_groups(file.url).items()]
    except InputError:
        return [(file.stem, Part(file.url))]


def _column_names(url: str) -> list[str]:
    """Return the columns of a Parquet file; none if it is damaged, which reading its room reports."""
    from pyarrow import ArrowException, parquet

    system, path = open_url(url)
    try:
        with system.open(path, "rb") as file:
            return list(parquet.read_schema(file).names)
    except (ArrowException, OSError, ValueError):
        return []


def room_names(table: Any) -> Any:
    """Return the name of the room in each row of an Arrow table with a column ``room`` of any type."""
    from pyarrow import compute

    return compute.cast(table[ROOM], "string")


def room_row_groups(url: str) -> dict[str, tuple[int, ...]]:
    """Return the row groups of each room in a Parquet file with a column ``room``."""
    from pyarrow import ArrowException, compute, parquet

    system, path = open_url(url)
    found: dict[str, list[int]] = {}
    try:
        with system.open(path, "rb") as handle:
            file = parquet.ParquetFile(handle)
            for group in range(file.num_row_groups):
                names = room_names(file.read_row_group(group, columns=[ROOM], use_threads=False))
                for room in compute.unique(names).to_pylist():
                    if room is not None:
                        found.setdefault(room, []).append(group)
    except (ArrowException, OSError, ValueError, KeyError):
        raise InputError(f"{url}: is not a Parquet file with a column {ROOM!r}, or is damaged") from None
    return {room: tuple(groups) for room, groups in found.items()}
