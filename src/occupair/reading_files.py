"""Readings in files: CSV and Parquet in and out, every fault named with its file, row and column."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from occupair.errors import InputError
from occupair.readings import COLUMNS, Source, check_readings, missing_column, to_numbers

_OFFSET = r"(Z|[+-]\d{2}:?\d{2})$"


def read_readings(path: str | Path, *, timezone: str | None = None, occupancy: bool = False) -> pd.DataFrame:
    r"""Read and check a CSV or Parquet file of readings.

    Parameters
    ----------
    path : path
        A file with a ``time`` column (ISO 8601, with or without UTC offset), ``co2`` [ppm] and, if there
        are any, ``ventilation`` [0..1] and ``occupancy`` [whole people]. A name that ends in
        ``.parquet`` or ``.pq`` is read as Parquet, any other as CSV. Other columns are left out.
    timezone : str, optional
        The room's time zone, such as ``"Europe/Copenhagen"``. Needed where the clock changes: midnight
        is local midnight.
    occupancy : bool
        Whether head counts are needed: then a file without them is an error.

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
    is_parquet = path.suffix.lower() in {".parquet", ".pq"}
    source = Source(str(path), first_row=1 if is_parquet else 2)
    table = _read_parquet(path, source) if is_parquet else _read_csv(path, source)
    if "time" not in table.columns:
        raise source.error(missing_column("time", table))
    values = {name: to_numbers(table[name], source) for name in COLUMNS if name in table.columns}
    readings = pd.DataFrame(values)
    readings.index = _times(table["time"], timezone, source)
    return check_readings(readings, occupancy=occupancy, source=source)


def write_readings(readings: pd.DataFrame, path: str | Path) -> None:
    """Write readings so that ``read_readings`` gives them back; the suffix decides CSV or Parquet."""
    table = readings.rename_axis("time").reset_index()
    if Path(path).suffix.lower() in {".parquet", ".pq"}:
        _needs_pyarrow(str(path))
        table.to_parquet(path, index=False)
    else:
        table.to_csv(path, index=False)


def _times(column: pd.Series, timezone: str | None, source: Source) -> pd.DatetimeIndex:
    if pd.api.types.is_datetime64_any_dtype(column):
        return _in_zone(pd.DatetimeIndex(column), timezone, source)
    text = column.astype(str)
    times = pd.to_datetime(text, format="ISO8601", utc=True, errors="coerce")
    if times.isna().any():
        k = int(np.argmax(times.isna()))
        rule = f"must be a time such as 2024-03-28 08:00 or 2024-03-28T08:00+01:00, got {text.iloc[k]!r}"
        raise source.error(rule, row=k, column="time")
    offsets = text.str.extract(_OFFSET, expand=False).fillna("")
    index = pd.DatetimeIndex(times)
    different = (offsets != offsets.iloc[0]).to_numpy()
    if different.any() and (timezone is None or (offsets == "").any()):
        rule = "times with different UTC offsets: give every time one, and the room's time zone"
        raise source.error(rule, row=int(np.argmax(different)), column="time")
    if offsets.iloc[0] == "":
        return _in_zone(index.tz_localize(None), timezone, source)
    return _in_zone(index.tz_convert(pd.Timestamp(text.iloc[0]).tz), timezone, source)


def _in_zone(index: pd.DatetimeIndex, timezone: str | None, source: Source) -> pd.DatetimeIndex:
    if timezone is None:
        return index
    try:
        if index.tz is not None:
            return index.tz_convert(timezone)
        return index.tz_localize(timezone, ambiguous="infer", nonexistent="raise")
    except (KeyError, ValueError) as error:  # an unknown zone, or times that this zone's clock never shows
        raise source.error(f"does not fit the time zone {timezone!r}: {error}", column="time") from None


def _read_csv(path: Path, source: Source) -> pd.DataFrame:
    try:
        table = pd.read_csv(
            path, dtype=str, keep_default_na=False, skip_blank_lines=False, encoding="utf-8-sig"
        )
    except UnicodeDecodeError:
        raise source.error("is not text, so not a CSV file") from None
    except pd.errors.EmptyDataError:
        raise source.error("is empty") from None
    except pd.errors.ParserError as error:
        raise source.error(f"is not a CSV table: {str(error).strip().splitlines()[-1]}") from None
    blank = (table == "").all(axis=1).to_numpy()
    kept = len(table) - int(np.argmin(blank[::-1])) if not blank.all() else 0
    if kept == 0:
        raise source.error("has no readings")
    return table.iloc[:kept].rename(columns=str.strip)


def _read_parquet(path: Path, source: Source) -> pd.DataFrame:
    _needs_pyarrow(str(path))
    from pyarrow import ArrowInvalid

    try:
        table = pd.read_parquet(path, engine="pyarrow")
    except ArrowInvalid:
        raise source.error("is not a Parquet file") from None
    if "time" not in table.columns and isinstance(table.index, pd.DatetimeIndex):
        table = table.rename_axis("time").reset_index()
    if table.empty:
        raise source.error("has no readings")
    return table


def _needs_pyarrow(name: str) -> None:
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise InputError(
            f"{name}: Parquet needs pyarrow, pip install 'occupair[parquet]' or use CSV"
        ) from None
