"""Files with estimates, as written by ``occupair estimate`` and ``occupair fleet estimate``."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
import pandas as pd

from occupair.errors import InputError
from occupair.readings.number_column import parse_numbers
from occupair.readings.raw_table import read_raw_table
from occupair.readings.records import find_time_column
from occupair.readings.time_column import localize, parse_times
from occupair.readings.time_zones import offset_in_name, parse_time_zone, zone_in_name
from occupair.utilisation.counts import COLUMNS

SUFFIXES = (".csv", ".parquet", ".pq")
ROOM_FOLDER = "room="


def find_estimate_files(folder: Path, *, without: Collection[Path] = ()) -> dict[str, Path]:
    """Return the files with estimates in a folder by room.

    The room is the name of the file, or of its folder if that is ``room=NAME``. If there are such folders,
    other files are ignored, and so are the files ``without``.

    Raises
    ------
    InputError
        If there are none, or two of the same room.
    """
    ignored = {path.resolve() for path in without}
    paths = [path for path in sorted(folder.rglob("*")) if path.suffix.lower() in SUFFIXES and path.is_file()]
    paths = [path for path in paths if path.resolve() not in ignored]
    paths = [path for path in paths if path.parent.name.startswith(ROOM_FOLDER)] or paths
    if not paths:
        raise InputError(f"{folder}: has no files with estimates (.csv or .parquet)")
    found: dict[str, Path] = {}
    for path in paths:
        room = room_of(path)
        if room in found:
            raise InputError(f"{folder}: room {room!r} has two files, {found[room].name} and {path.name}")
        found[room] = path
    return found


def room_of(path: Path) -> str:
    """Return the room of a file with estimates.

    Examples
    --------
    >>> room_of(Path("estimates/room=Lab%207/estimates.parquet")), room_of(Path("lab.csv"))
    ('Lab 7', 'lab')
    """
    parent = path.parent.name
    return unquote(parent.removeprefix(ROOM_FOLDER)) if parent.startswith(ROOM_FOLDER) else path.stem


def read_estimates(path: str | Path, *, timezone: str | None = None) -> pd.DataFrame:
    """Read a file with estimates.

    Parameters
    ----------
    path : path
        CSV or Parquet file with ``time``, ``people`` and, optionally, ``low`` and ``high`` [people].
    timezone : str, optional
        Time zone of the room. Without it, times with different UTC offsets are an error.

    Returns
    -------
    DataFrame
        Counts, see ``check_counts``.
    """
    table = read_raw_table(Path(path), {})
    source, zone = table.source, parse_time_zone(timezone)
    if "people" not in table.names:
        raise source.error("has no column 'people': write the file with 'occupair estimate'")
    column = find_time_column(table, {})
    stated = zone_in_name(str(column.name))
    times = parse_times(
        column,
        zone=zone or stated,
        offset=offset_in_name(str(column.name)),
        source=source,
        row_numbers=table.row_numbers,
    )
    where: dict[str, Any] = {"source": source, "row_numbers": table.row_numbers}
    times = localize(times, zone, column=str(column.name), **where)
    numbers = {
        name: parse_numbers(table.column(table.names.index(name)), mark=".", **where)
        for name in COLUMNS
        if name in table.names
    }
    counts = pd.DataFrame(numbers, index=times).rename_axis("time")
    if not (times.is_monotonic_increasing and times.is_unique):
        counts = counts[~np.asarray(counts.index.duplicated())].sort_index()
    return counts
