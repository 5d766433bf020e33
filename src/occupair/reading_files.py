"""Readings in files: CSV and Parquet in and out, every fault named with its file, row and column."""

from __future__ import annotations

import datetime as dt
import zlib
from pathlib import Path
from typing import Literal
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd

from occupair.errors import InputError
from occupair.files import replacing
from occupair.readings import COLUMNS, Source, check_readings, missing_column, shown, to_numbers

# A calendar date first (pandas would also take "now"), then perhaps a time, and perhaps its UTC offset.
_TIME = r"^(\d{4}-\d{2}-\d{2}(?:[T ]\d{2}[\d:.,]*)?)\s*(Z|[+-]\d{2}(?::?\d{2})?)?$"


def read_readings(
    path: str | Path,
    *,
    timezone: str | None = None,
    ventilation: bool | None = None,
    occupancy: bool | None = None,
) -> pd.DataFrame:
    r"""Read and check a CSV or Parquet file of readings.

    Parameters
    ----------
    path : path
        A file with a ``time`` column (ISO 8601, with or without UTC offset), ``co2`` [ppm] and, if there
        are any, ``ventilation`` [0..1] and ``occupancy`` [whole people]. A name that ends in
        ``.parquet`` or ``.pq`` is read as Parquet, any other as CSV, unpacked if it ends in ``.gz``. Other
        columns are left out.
    timezone : str, optional
        The room's time zone, such as ``"Europe/Copenhagen"``. Needed where the clock changes: midnight
        is local midnight.
    ventilation, occupancy : bool, optional
        True: the column has to be there; False: it is not looked at; None: it is taken if it is there.

    Returns
    -------
    DataFrame
        Readings, as ``occupair.readings`` describes them.

    Raises
    ------
    InputError
        Naming file, row, column and rule. Rows are counted as a spreadsheet shows them: in a CSV the
        header is row 1.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "room.csv"
    >>> _ = path.write_text("time,co2\n2024-01-08 00:00,412\n2024-01-08 00:01,413\n")
    >>> read_readings(path)["co2"].tolist()
    [412.0, 413.0]
    """
    path = Path(path)
    source = Source(str(path), first_row=1 if _is_parquet(path) else 2)
    table = _read_parquet(path, source) if _is_parquet(path) else _read_csv(path, source)
    if "time" not in table.columns:
        raise source.error(missing_column("time", table))
    wanted = {"co2": True, "ventilation": ventilation, "occupancy": occupancy}
    taken = [name for name in COLUMNS if name in table.columns and wanted[name] is not False]
    readings = pd.DataFrame({name: to_numbers(table[name], source) for name in taken})
    readings.index = _times(table["time"], _zone(timezone), source)
    needed = [name for name in COLUMNS if wanted[name]]
    return check_readings(readings, needed=needed, source=source)


def write_readings(readings: pd.DataFrame, path: str | Path) -> None:
    """Write readings, whole or not at all; the suffix decides CSV or Parquet.

    ``read_readings`` gives them back; a CSV has UTC offsets but no name of a time zone, so where the
    clock changes it has to be told the zone.
    """
    table = readings.rename_axis("time").reset_index()
    if _is_parquet(Path(path)):
        _needs_pyarrow(str(path))
    with replacing(path) as scratch:
        if _is_parquet(Path(path)):
            table.to_parquet(scratch, index=False)
        else:
            table.to_csv(scratch, index=False)


def _is_parquet(path: Path) -> bool:
    return path.suffix.lower() in {".parquet", ".pq"}


def _zone(timezone: str | None) -> ZoneInfo | None:
    if timezone is None:
        return None
    try:
        return ZoneInfo(timezone)
    except (KeyError, ValueError, IndexError, OSError):
        raise InputError(f"timezone must be one such as Europe/Copenhagen, got {timezone!r}") from None


def _times(column: pd.Series, zone: ZoneInfo | None, source: Source) -> pd.DatetimeIndex:
    if pd.api.types.is_datetime64_any_dtype(column):
        return _in_zone(pd.DatetimeIndex(column), zone, source)
    parts = column.astype(str).str.strip().str.extract(_TIME)
    times = pd.to_datetime(parts[0], format="ISO8601", errors="coerce")
    if times.isna().any():
        k = int(np.argmax(times.isna()))
        rule = "must be a time such as 2024-03-28 08:00 or 2024-03-28T08:00+01:00"
        raise source.error(f"{rule}, got {shown(column.iloc[k])}", row=k, column="time")
    offsets = parts[1].fillna("").map(_normal_offset)
    different = (offsets != offsets.iloc[0]).to_numpy()
    if different.any() and (zone is None or (offsets == "").any()):
        rule = "times with different UTC offsets: give every time one, and the room's time zone"
        raise source.error(rule, row=int(np.argmax(different)), column="time")
    local = pd.DatetimeIndex(times)
    if offsets.iloc[0] == "":
        return _in_zone(local, zone, source)
    shifts = offsets.map({offset: _timedelta(offset) for offset in offsets.unique()})
    utc = (local - pd.TimedeltaIndex(shifts)).tz_localize("UTC")
    return utc.tz_convert(zone or dt.timezone(_timedelta(offsets.iloc[0])))


def _normal_offset(offset: str) -> str:
    """Write a UTC offset as +hh:mm, nothing as nothing.

    Examples
    --------
    >>> [_normal_offset(text) for text in ("Z", "+01", "-0330", "+08:00", "")]
    ['+00:00', '+01:00', '-03:30', '+08:00', '']
    """
    if offset in ("", "Z"):
        return "+00:00" if offset else ""
    digits = offset[1:].replace(":", "").ljust(4, "0")
    return f"{offset[0]}{digits[:2]}:{digits[2:]}"


def _timedelta(offset: str) -> dt.timedelta:
    size = dt.timedelta(hours=int(offset[1:3]), minutes=int(offset[4:6]))
    return -size if offset[0] == "-" else size


def _in_zone(index: pd.DatetimeIndex, zone: ZoneInfo | None, source: Source) -> pd.DatetimeIndex:
    if zone is None:
        return index
    if index.tz is not None:
        return index.tz_convert(zone)
    try:
        return index.tz_localize(zone, ambiguous="infer", nonexistent="raise")
    except ValueError as error:  # times that this zone's clock never shows, or shows twice
        raise source.error(f"does not fit the time zone {zone.key}: {error}", column="time") from None


def _read_csv(path: Path, source: Source) -> pd.DataFrame:
    packed: Literal["gzip"] | None = "gzip" if path.suffix.lower() == ".gz" else None
    try:
        table = pd.read_csv(
            path,
            dtype=str,
            keep_default_na=False,
            skip_blank_lines=False,
            encoding="utf-8-sig",
            compression=packed,
        )
    except UnicodeDecodeError:
        raise source.error("is not text, so not a CSV file") from None
    except pd.errors.EmptyDataError:
        raise source.error("is empty") from None
    except pd.errors.ParserError as error:
        raise source.error(f"is not a CSV table: {str(error).strip().splitlines()[-1]}") from None
    except (EOFError, zlib.error, OSError) as error:
        if isinstance(error, OSError) and error.filename:
            raise
        raise source.error("is not a gzip file, or cut short") from None
    blank = table.apply(lambda cells: cells.str.strip() == "").all(axis=1).to_numpy()
    if blank.all():
        raise source.error("has no readings")
    kept = len(table) - int(np.argmin(blank[::-1]))
    return _without_twins(table.iloc[:kept].rename(columns=str.strip), source)


def _without_twins(table: pd.DataFrame, source: Source) -> pd.DataFrame:
    for name in ("time", *COLUMNS):
        if list(table.columns).count(name) > 1:
            raise source.error(f"has two columns {name!r}")
    return table


def _read_parquet(path: Path, source: Source) -> pd.DataFrame:
    _needs_pyarrow(str(path))
    from pyarrow import ArrowException

    with path.open("rb") as content:  # a missing file is the system's to say
        try:
            table = pd.read_parquet(content, engine="pyarrow")
        except (ArrowException, OSError, ValueError):
            raise source.error("is not a Parquet file, or damaged") from None
    if "time" not in table.columns and isinstance(table.index, pd.DatetimeIndex):
        table = table.rename_axis("time").reset_index()
    if table.empty:
        raise source.error("has no readings")
    return _without_twins(table, source)


def _needs_pyarrow(name: str) -> None:
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise InputError(
            f"{name}: Parquet needs pyarrow, pip install 'occupair[parquet]' or use CSV"
        ) from None
