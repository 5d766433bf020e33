"""The raw readings of one room: its files hashed, and joined into one table if there are several."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import pandas as pd

from occupair.errors import InputError
from occupair.fleet.room_sources import PARQUET, ROOM, Part, RoomSource
from occupair.fleet.storage import describe_error, local_path, open_url
from occupair.readings.raw_table import needs_pyarrow, read_raw_table

BLOCK = 1 << 20


@dataclass(frozen=True)
class RawReadings:
    """The readings of a room as stored.

    Parameters
    ----------
    table : Path or DataFrame
        What ``read_readings`` and ``read_labelled`` take.
    digest : str
        Hash of the content.
    """

    table: Path | pd.DataFrame
    digest: str

    def read(self, reader: Callable[..., pd.DataFrame], **options: Any) -> pd.DataFrame:
        """Return the readings; errors name the file without its folder.

        Parameters
        ----------
        reader : callable
            ``read_readings`` or ``read_labelled``.
        **options
            Its options.
        """
        if isinstance(self.table, pd.DataFrame):
            return reader(self.table, **options)
        try:
            return reader(self.table, **options)
        except InputError as error:
            raise InputError(str(error).replace(str(self.table), self.table.name)) from None


class UnavailableError(Exception):
    """Readings cannot be fetched right now; another attempt may succeed."""


@contextmanager
def open_room(source: RoomSource) -> Iterator[RawReadings]:
    """Yield the readings of a room; files of other machines are copied to a temporary folder meanwhile.

    Raises
    ------
    InputError
        If the options of the room are invalid, or a file cannot be parsed.
    UnavailableError
        If a file cannot be fetched.
    """
    if source.options.problem:
        raise InputError(source.options.problem)
    if not source.parts:
        raise InputError("no readings: the data have no file of this room")
    with tempfile.TemporaryDirectory(prefix="occupair-") as scratch:
        files = [_fetch(part, Path(scratch) / str(number)) for number, part in enumerate(source.parts)]
        if len(files) == 1 and source.parts[0].row_groups is None:
            yield RawReadings(files[0], _file_digest(files))
            return
        frames = [_frame(file, part, source) for file, part in zip(files, source.parts, strict=True)]
        yield RawReadings(_joined(frames), _frames_digest(frames))


def _fetch(part: Part, folder: Path) -> Path:
    """Return the path of a file on this machine; another is copied to ``folder``."""
    path = local_path(part.url)
    if path is not None:
        return path
    system, remote = open_url(part.url)
    folder.mkdir()
    copy = folder / PurePosixPath(remote).name
    try:
        system.get_file(remote, str(copy))
    except FileNotFoundError:
        raise InputError(f"{copy.name}: file not found") from None
    except Exception as error:  # every driver has errors of its own
        raise UnavailableError(f"{copy.name}: cannot be fetched: {describe_error(error)}") from error
    return copy


def _frame(file: Path, part: Part, source: RoomSource) -> pd.DataFrame:
    if not file.name.lower().endswith(PARQUET):
        return _text_frame(file, dict(source.options.columns))
    needs_pyarrow(file.name)
    import pyarrow as pa
    from pyarrow import compute, parquet

    try:
        with parquet.ParquetFile(file) as opened:
            groups = range(opened.num_row_groups) if part.row_groups is None else part.row_groups
            tables = []
            for group in groups:  # one at a time: those of mixed rooms may be much larger than the room
                table = opened.read_row_group(group, use_threads=False)
                if part.row_groups is not None:
                    table = table.filter(compute.equal(table[ROOM].cast(pa.string()), source.room))
                    table = table.drop_columns([ROOM])
                tables.append(table)
    except (pa.ArrowException, OSError, ValueError):
        raise InputError(f"{file.name}: is not a Parquet file, or is damaged") from None
    if not tables:
        raise InputError(f"{file.name}: has no readings")
    frame: pd.DataFrame = pa.concat_tables(tables).to_pandas(use_threads=False)
    return frame if isinstance(frame.index, pd.RangeIndex) else frame.reset_index()


def _text_frame(file: Path, given: dict[str, str]) -> pd.DataFrame:
    """Return the cells of a CSV file, with its line of units as the first row, as in the file."""
    try:
        table = read_raw_table(file, given)
    except InputError as error:
        raise InputError(str(error).replace(str(file), file.name)) from None
    frame = table.frame.set_axis(table.names, axis=1)
    if any(table.units):
        frame = pd.concat([pd.DataFrame([table.units], columns=table.names), frame])
    return frame.reset_index(drop=True)


def _joined(frames: list[pd.DataFrame]) -> pd.DataFrame:
    """Return the rows of all files."""
    if len(frames) == 1:
        return frames[0]
    names = list(frames[0].columns)
    if any(sorted(map(str, frame.columns)) != sorted(map(str, names)) for frame in frames):
        raise InputError("the files of this room have different columns: export them alike")
    if any(frame.attrs != frames[0].attrs for frame in frames):  # the ventilation scale of our own files
        raise InputError("the files of this room have different ventilation scales: export them alike")
    joined = pd.concat([frame[names] for frame in frames], ignore_index=True)
    joined.attrs = dict(frames[0].attrs)
    return joined


def _file_digest(files: list[Path]) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for path in files:
        with path.open("rb") as file:
            while block := file.read(BLOCK):
                digest.update(block)
    return digest.hexdigest()


def _frames_digest(frames: list[pd.DataFrame]) -> str:
    """Return a hash of names, types and values."""
    digest = hashlib.blake2b(digest_size=16)
    for frame in frames:
        digest.update(repr([(str(name), str(kind)) for name, kind in frame.dtypes.items()]).encode())
        digest.update(pd.util.hash_pandas_object(frame, index=False).to_numpy().tobytes())
    return digest.hexdigest()
