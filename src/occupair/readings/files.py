"""CSV and Parquet files and DataFrames of readings: `read_readings`, `read_labelled` and `write_readings`.

Both readers take the same steps: find the table in the file, parse its records, put them on a regular
grid and check the result. They differ in the rows they return. `read_readings` returns rows in which
every column is known; `read_labelled` also returns rows without a head count.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pandas as pd

from occupair.atomic_files import replacing
from occupair.errors import InputError
from occupair.output_names import check_suffix
from occupair.readings.column_names import check_column_option, find_column
from occupair.readings.frame_table import frame_table
from occupair.readings.grid import check_grid_options, put_on_grid
from occupair.readings.head_counts import WEIGHT, check_labelled
from occupair.readings.number_column import as_text
from occupair.readings.other_sensors import SENSORS
from occupair.readings.raw_table import (
    RawTable,
    is_parquet,
    needs_pyarrow,
    read_raw_table,
    release_unused_memory,
)
from occupair.readings.records import parse_records
from occupair.readings.schema import check_readings
from occupair.readings.source import LenientSource, Source
from occupair.readings.time_zones import parse_time_zone, zoned_name
from occupair.readings.ventilation_scale import in_unit, scale_of, scaled_name
from occupair.readings.ventilation_units import check_scale_options


def read_readings(
    path: str | Path | pd.DataFrame,
    *,
    timezone: str | None = None,
    ventilation: bool | None = None,
    occupancy: bool | None = None,
    columns: Mapping[str, str] | None = None,
    dayfirst: bool | None = None,
    ventilation_full: float | None = None,
    ventilation_unit: str | None = None,
    interval: float | None = None,
    longest_gap: float | None = None,
    lenient: bool = False,
    sensors: bool = True,
) -> pd.DataFrame:
    r"""Read a CSV or Parquet export of a building management system or data logger, or a DataFrame of one.

    Parameters
    ----------
    path : path or DataFrame
        A file with times, CO2 [ppm] and, optionally, ventilation and head counts [people]. Names
        ending in ``.parquet`` or ``.pq`` are read as Parquet, all others as CSV; gzip is unpacked.
        Delimiter, decimal comma, encoding and lines above the header are detected. Columns are
        recognised by name in six languages; other columns are ignored. A DataFrame is read like a file
        with the same table; its times are in the index or in a column, in any order.
    timezone : str, optional
        Time zone of the room, such as ``"Europe/Copenhagen"``. Required where daylight saving time
        applies, because days start at local midnight.
    ventilation, occupancy : bool, optional
        True: the column is required; False: it is ignored; None: it is read if present.
    columns : mapping, optional
        Column names in the file, where detection fails: ``{"co2": "Raum 7", "time": "Zeit"}``. Use
        ``date`` for the date if ``time`` holds only the time of day.
    dayfirst : bool, optional
        Whether 01/02/2024 is 1 February. By default this is inferred from the file; if the dates are
        ambiguous, an error asks for it.
    ventilation_full : float, optional
        Value of fully open or full speed, in the unit of the file; larger values count as full. By
        default 100 for a percentage, 50 or 60 for a frequency [Hz], the 99.9 % quantile for a flow,
        and so on; see ``occupair.readings.ventilation_units``. Read later files with the scale of the
        first.
    ventilation_unit : str, optional
        Unit of ``ventilation_full``, from ``attrs`` of the first file. A file in another unit is
        rejected, or converted where that is unambiguous (% and 0..1).
    interval : float, optional
        Interval of the grid [min]. By default the usual interval of the file.
    longest_gap : float, optional
        Gaps up to this long [min] are filled with the last value; longer gaps remain. By default 10 min, or
        two lost readings if those take longer, see ``occupair.readings.gaps``.
    lenient : bool
        Read a faulty file for ``occupair.checks``. Cells that are not numbers become missing, rows
        are sorted by time, and values out of range, 0 ppm CO2 and rows without ventilation or head
        count are returned. Head counts with ``occupancy_weight`` 0 are dropped.
        ``attrs["problems"]`` lists the problems.
    sensors : bool
        Whether to read the columns of optional sensors: temperature, humidity, sound, light, Wi-Fi clients,
        power and motion, see ``occupair.readings.other_sensors``. If several columns match a sensor, it is
        not read unless ``columns`` names one.

    Returns
    -------
    DataFrame
        Readings as described in ``occupair.readings.schema``, one row for each grid time at which all
        columns are known, but for the optional sensors, which are NaN where missing. ``attrs`` holds
        ``ventilation_full`` and ``ventilation_unit`` (``fit`` stores this scale in the model), ``interval``
        [min], ``failed_reads`` and ``bridged`` [rows].

    Raises
    ------
    InputError
        With file, row, column and rule. Rows are numbered as in a spreadsheet: the first line of a
        CSV file is row 1.

    Notes
    -----
    Empty cells, placeholders such as ``n/a`` (``occupair.readings.number_column``), -999 and 0 ppm CO2,
    which sensors report when a read fails, are missing and start a gap. Rows without a head count are
    dropped unless ``occupancy=False``. Files sorted newest first are reversed and identical rows
    merged. Each grid time takes the last value at or before it, never a later one.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "room.csv"
    >>> _ = path.write_text("Zeit;CO2 [ppm];Klappe [%]\n8.1.2024 00:00;412,5;80\n8.1.2024 00:01;413;40\n")
    >>> read_readings(path).to_dict("list")
    {'co2': [412.5, 413.0], 'ventilation': [0.8, 0.4]}

    Irregular readings in pandas are put on the grid in the same way:

    >>> times = pd.to_datetime(["2024-01-08 08:02:09", "2024-01-08 08:00:01", "2024-01-08 08:01:02"])
    >>> logged = pd.DataFrame({"CO2": [415.0, 412.5, None], "Supply air [m3/h]": [1200, 0, 1200]}, times)
    >>> read_readings(logged)
                           co2  ventilation
    time
    2024-01-08 08:01:00  412.5          0.0
    2024-01-08 08:02:00  412.5          1.0
    """
    check_grid_options(interval, longest_gap)
    source, records = _read_records(
        path,
        {"co2": True, "ventilation": ventilation, "occupancy": occupancy, "sensors": sensors and None},
        timezone=timezone,
        columns=columns,
        dayfirst=dayfirst,
        ventilation_full=ventilation_full,
        ventilation_unit=ventilation_unit,
        lenient=lenient,
    )
    readings = put_on_grid(
        records, interval=interval, longest_gap=longest_gap, complete=not lenient, source=source
    )
    if readings.empty:
        known = [name for name in records.columns if name not in SENSORS]
        raise source.error(f"has no time at which {' and '.join(known)} are known")
    if isinstance(source, LenientSource):
        readings.attrs["problems"] = source.problems
        return readings.rename_axis("time")
    return check_readings(readings, source=Source(f"{source.name} on its grid"))


def read_labelled(
    path: str | Path | pd.DataFrame,
    *,
    timezone: str | None = None,
    ventilation: bool | None = None,
    columns: Mapping[str, str] | None = None,
    dayfirst: bool | None = None,
    ventilation_full: float | None = None,
    ventilation_unit: str | None = None,
    needs_counts: bool = True,
) -> pd.DataFrame:
    r"""Read a CSV or Parquet file of readings with sparse labels, for training or scoring.

    Works like ``read_readings`` with two differences. Rows without a head count are kept, so that the
    CO2 and ventilation history is complete. A column ``occupancy_weight`` is read if present. A head
    count applies to its own row; it is held over the following rows only if the next count comes
    within 10 min. A row with weight 0 has no label, whatever its head count, and ends the holding of
    the label before it.

    Parameters
    ----------
    path, timezone, ventilation, columns, dayfirst, ventilation_full, ventilation_unit
        As for ``read_readings``.
    needs_counts : bool
        Whether there must be a head count.

    Returns
    -------
    DataFrame
        Readings as returned by ``occupair.readings.head_counts.check_labelled``.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "room.csv"
    >>> _ = path.write_text("time,co2,occupancy\n2024-01-08 08:00,512,3\n2024-01-08 08:15,530,\n")
    >>> read_labelled(path)["occupancy"].tolist()
    [3.0, nan]
    """
    source, records = _read_records(
        path,
        {"co2": True, "ventilation": ventilation, "occupancy": True if needs_counts else None, WEIGHT: None},
        timezone=timezone,
        columns=columns,
        dayfirst=dayfirst,
        ventilation_full=ventilation_full,
        ventilation_unit=ventilation_unit,
    )
    if WEIGHT in records.columns:  # known exactly where the head count is: the grid holds both alike
        records[WEIGHT] = records[WEIGHT].fillna(1.0).where(records["occupancy"].notna())
    readings = put_on_grid(records, complete=False, source=source)
    readings = readings.dropna(subset=[name for name in ("co2", "ventilation") if name in readings.columns])
    if readings.empty:
        raise source.error("has no time at which co2 and ventilation are known")
    on_grid = Source(f"{source.name} on its grid")
    return check_labelled(readings, source=on_grid, needs_counts=needs_counts)


def write_readings(readings: pd.DataFrame, path: str | Path) -> None:
    r"""Write readings to a CSV or Parquet file, by suffix, replacing the file atomically.

    ``read_readings`` reads back the same readings with their time zone and ventilation scale. A CSV file
    states these in its column names, such as ``time [Europe/Copenhagen]`` and ``ventilation [0..4800 m3/h]``,
    and has the ventilation in the unit of its scale. A Parquet file has them in its metadata.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "room.csv"
    >>> times = pd.date_range("2024-01-08", periods=2, freq="min", tz="Europe/Copenhagen")
    >>> readings = pd.DataFrame({"co2": [412.5, 413.0], "ventilation": [0.5, 1.0]}, index=times)
    >>> readings.attrs = {"ventilation_full": 4800.0, "ventilation_unit": "m3/h"}
    >>> write_readings(readings, path)
    >>> print(path.read_text())
    time [Europe/Copenhagen],co2,ventilation [0..4800 m3/h]
    2024-01-08 00:00:00+01:00,412.5,2400.0
    2024-01-08 00:01:00+01:00,413.0,4800.0
    <BLANKLINE>
    """
    check_suffix(path, "table")
    scale = scale_of(readings) if "ventilation" in readings.columns else None
    readings = readings.rename_axis("time")
    readings.attrs = {} if scale is None else {"ventilation_full": scale.full, "ventilation_unit": scale.unit}
    if not is_parquet(Path(path)):
        if scale is not None:
            fraction = readings["ventilation"].to_numpy(dtype=float)
            readings = readings.assign(ventilation=in_unit(fraction, scale))
            readings = readings.rename(columns={"ventilation": scaled_name(scale)})
        readings = readings.rename_axis(zoned_name("time", pd.DatetimeIndex(readings.index)))
    write_table(readings, path)


def write_table(table: pd.DataFrame, path: str | Path) -> None:
    """Write a table with its index to a CSV or Parquet file, by suffix, replacing the file atomically."""
    table = table.reset_index()
    if is_parquet(Path(path)):
        needs_pyarrow(str(path))
    with replacing(path) as scratch:
        if is_parquet(Path(path)):
            table.to_parquet(scratch, index=False)
        else:
            table.to_csv(scratch, index=False)


def _read_records(
    path: str | Path | pd.DataFrame,
    wanted: Mapping[str, bool | None],
    *,
    timezone: str | None,
    columns: Mapping[str, str] | None,
    dayfirst: bool | None,
    ventilation_full: float | None,
    ventilation_unit: str | None,
    lenient: bool = False,
) -> tuple[Source, pd.DataFrame]:
    """Check the options, find the table in the file or DataFrame and parse its records."""
    given, zone = check_column_option(columns), parse_time_zone(timezone)
    check_scale_options(ventilation_full, ventilation_unit)
    table = frame_table(path) if isinstance(path, pd.DataFrame) else read_raw_table(_as_path(path), given)
    if lenient:
        table = replace(table, source=LenientSource(table.source.name, table.source.first_row))
    if lenient or WEIGHT in wanted:
        # "0" is valid and removed again by check_labelled; with "" the grid would hold the label before it
        table = _without_unused_counts(table, given, replacement="" if lenient else "0")
    if WEIGHT not in table.names:
        wanted = {name: needed for name, needed in wanted.items() if name != WEIGHT}
    records = parse_records(
        table,
        wanted,
        given=given,
        zone=zone,
        dayfirst=dayfirst,
        ventilation_full=ventilation_full,
        ventilation_unit=ventilation_unit,
    )
    source = table.source
    del table
    release_unused_memory()
    return source, records


def _as_path(path: object) -> Path:
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"path must be the name of a file, or a DataFrame, got {type(path).__name__}")
    return Path(path)


def _without_unused_counts(table: RawTable, given: Mapping[str, str], *, replacement: str) -> RawTable:
    """Replace head counts with weight 0, which may break any rule, by ``"0"`` or ``""`` (missing)."""
    position = find_column(table.names, "occupancy", given, table.source)
    if position is None or WEIGHT not in table.names:
        return table
    weight = as_text(table.column(table.names.index(WEIGHT))).str.strip()
    unused = weight.str.fullmatch(r"[+-]?(?:0+[.,]?0*|[.,]0+)")
    frame = table.frame.copy()
    column = frame.iloc[:, position]
    if pd.api.types.is_numeric_dtype(column):
        frame.isetitem(position, column.mask(unused, float(replacement or "nan")).array)
    else:
        frame.isetitem(position, column.astype(object).mask(unused, replacement).array)
    return replace(table, frame=frame)
