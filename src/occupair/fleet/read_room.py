"""The raw readings of one room: its files hashed, and joined into one table if there are several."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import pandas as pd

from occupair.errors import InputError, plain_line
from occupair.fleet.room_sources import PARQUET, ROOM, Part, RoomSource, room_names
from occupair.fleet.storage import describe_error, local_path, open_url, printable
from occupair.readings.raw_table import needs_pyarrow, read_raw_table

BLOCK = 1 << 20
UNITS = "units"


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
            raise _named(error, self.table) from None


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
            yield RawReadings(files[0], _file_digest(files[0]))
            return
        frames = [_frame(file, part, source) for file, part in zip(files, source.parts, strict=True)]
        yield RawReadings(_joined(frames), _frames_digest(frames))


def _fetch(part: Part, folder: Path) -> Path:
    """Return the path of a file on this machine; another is copied to ``folder``."""
    path = local_path(part.url)
    if path is not None:
        _check_readable(path)
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


def _check_readable(path: Path) -> None:
    try:
        if path.exists() and not path.is_file():  # a pipe would be waited for
            raise InputError(f"{printable(path.name)}: is not a file")
        with path.open("rb"):
            return
    except FileNotFoundError:
        raise InputError(f"{printable(path.name)}: file not found") from None
    except OSError as error:
        text = f"{printable(path.name)}: cannot be read: {describe_error(error)}"
        raise UnavailableError(text) from None


def _named(error: InputError, file: Path) -> InputError:
    """Return an error that names the file without its folder."""
    return InputError(str(error).replace(plain_line(str(file)), file.name))


def _frame(file: Path, part: Part, source: RoomSource) -> pd.DataFrame:
    if not file.name.lower().endswith(PARQUET):
        return _text_frame(file, dict(source.options.columns))
    needs_pyarrow(file.name)
    import pyarrow as pa
    from pyarrow import compute, parquet

    try:
        with parquet.ParquetFile(file) as opened:
            attributes = json.loads((opened.schema_arrow.metadata or {}).get(b"PANDAS_ATTRS", b"{}"))
            groups = range(opened.num_row_groups) if part.row_groups is None else part.row_groups
            tables = []
            for group in groups:  # one at a time: those of mixed rooms may be much larger than the room
                table = opened.read_row_group(group, use_threads=False)
                if part.row_groups is not None:
                    table = table.filter(compute.equal(room_names(table), source.room))
                    table = table.drop_columns([ROOM])
                tables.append(table)
    except (pa.ArrowException, OSError, ValueError):
        raise InputError(f"{printable(file.name)}: is not a Parquet file, or is damaged") from None
    if not tables:
        raise InputError(f"{printable(file.name)}: has no readings")
    frame: pd.DataFrame = pa.concat_tables(tables).to_pandas(use_threads=False)
    frame.attrs = frame.attrs | attributes  # as pyarrow does since version 22
    if isinstance(frame.index, pd.DatetimeIndex) and frame.index.name is None:
        frame = frame.rename_axis("time")
    # row numbers, or times that are a column, too, are dropped
    return frame.reset_index(drop=set(frame.index.names) <= {None, *frame.columns})


def _text_frame(file: Path, given: dict[str, str]) -> pd.DataFrame:
    """Return the cells of a CSV file, with its line of units by column in ``attrs``."""
    try:
        table = read_raw_table(file, given)
    except InputError as error:
        raise _named(error, file) from None
    frame = table.frame.set_axis(table.names, axis=1).reset_index(drop=True)
    frame.attrs = {UNITS: dict(zip(table.names, table.units, strict=True))} if any(table.units) else {}
    return frame


def _joined(frames: list[pd.DataFrame]) -> pd.DataFrame:
    """Return the rows of all files, with the line of units that they share as the first row."""
    if len(frames) == 1:
        return frames[0]
    names, shared = list(frames[0].columns), frames[0].attrs
    if any(sorted(map(str, frame.columns)) != sorted(map(str, names)) for frame in frames):
        raise InputError("the files of this room have different columns: export them alike")
    if any(frame.attrs != shared for frame in frames):  # also the ventilation scale of our own files
        raise InputError("the files of this room have different units: export them alike")
    alike = [frame if list(frame.columns) == names else frame[names] for frame in frames]
    if UNITS in shared:
        alike.insert(0, pd.DataFrame([[shared[UNITS][name] for name in names]], columns=names))
    joined = pd.concat(alike, ignore_index=True)
    joined.attrs = {name: value for name, value in shared.items() if name != UNITS}
    return joined


def _file_digest(path: Path) -> str:
    digest = hashlib.blake2b(digest_size=16)
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            digest.update(block)
    return digest.hexdigest()


def _frames_digest(frames: list[pd.DataFrame]) -> str:
    """Return a hash of names, types, units and values."""
    digest = hashlib.blake2b(digest_size=16)
    for frame in frames:
        types = [(str(name), str(kind)) for name, kind in frame.dtypes.items()]
        digest.update(repr((types, sorted(frame.attrs.items()))).encode())
        nested = [name for name, kind in frame.dtypes.items() if kind == np.dtype(object)]  # may be lists
        hashes = pd.util.hash_pandas_object(frame.astype(dict.fromkeys(nested, str)), index=False)
        digest.update(hashes.to_numpy().tobytes())
    return digest.hexdigest()
