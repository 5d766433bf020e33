"""Readings in files: CSV and Parquet in and out, every fault named with its file, row and column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pandas as pd

from occupair.atomic_files import replacing
from occupair.readings.column_names import check_given
from occupair.readings.grid import check_grid_options, put_on_grid
from occupair.readings.lenient import Lenient
from occupair.readings.records import read_records
from occupair.readings.schema import Source, check_readings
from occupair.readings.tables import is_parquet, needs_pyarrow, read_raw
from occupair.readings.time_column import zone_of
from occupair.readings.unused_counts import without_unused
from occupair.readings.ventilation_units import check_full


def read_readings(
    path: str | Path,
    *,
    timezone: str | None = None,
    ventilation: bool | None = None,
    occupancy: bool | None = None,
    columns: Mapping[str, str] | None = None,
    dayfirst: bool | None = None,
    ventilation_full: float | None = None,
    ventilation_unit: str | None = None,
    interval: float | None = None,
    longest_gap: float = 10.0,
    lenient: bool = False,
) -> pd.DataFrame:
    r"""Read a CSV or Parquet file of readings as building systems and loggers write them.

    Parameters
    ----------
    path : path
        A file with times, CO2 [ppm] and, if there are any, ventilation and head counts [whole people].
        A name that ends in ``.parquet`` or ``.pq`` is read as Parquet, any other as CSV, unpacked if it
        is gzip. Delimiter, decimal comma, encoding and lines before the header are found out. Columns
        are known by their names in six languages; other columns are left out.
    timezone : str, optional
        The room's time zone, such as ``"Europe/Copenhagen"``. Needed where the clock changes: midnight
        is local midnight.
    ventilation, occupancy : bool, optional
        True: the column has to be there; False: it is not looked at; None: it is taken if it is there.
    columns : mapping, optional
        Our name to the file's, where the guess is not right: ``{"co2": "Raum 7", "time": "Zeit"}``;
        ``date`` is the date where ``time`` is only a time of day.
    dayfirst : bool, optional
        Whether 01/02/2024 is in February. None finds out, and asks if the file does not tell.
    ventilation_full : float, optional
        What is fully on, in the unit of the file; more counts as fully on. None takes 100 of a
        percentage, 50 or 60 of a frequency [Hz], the largest value of a flow, and so on; see
        ``occupair.readings.ventilation_units``. Give a later file the scale that the first one was read with.
    ventilation_unit : str, optional
        The unit that ``ventilation_full`` is in, as ``attrs`` of the first file has it: a file in another
        unit is refused, or converted where that is beyond doubt (% and 0..1).
    interval : float, optional
        Interval of the grid [min]. None takes the usual one of the file.
    longest_gap : float
        Gaps up to this [min] are bridged by holding the last value; longer ones stay gaps.
    lenient : bool
        True reads over what breaks a rule, so that ``occupair.checks`` can tell all of it: cells that are no
        numbers are missing, rows are put in order, what is out of range is kept, and so are a CO2 of 0 ppm
        and rows without ventilation or head count. Head counts of ``occupancy_weight`` 0 are none.
        ``attrs["problems"]`` says what was read over.

    Returns
    -------
    DataFrame
        Readings, as ``occupair.readings.schema`` describes them, with a row where everything asked for is
        known. ``attrs`` tells how they were read: ``ventilation_full`` and ``ventilation_unit`` (``fit``
        keeps that scale with the model), ``interval`` [min], ``failed_reads`` and ``bridged`` [rows].

    Raises
    ------
    InputError
        Naming file, row, column and rule. Rows are counted as a spreadsheet shows them: in a CSV whose
        first line is the header, that is row 1.

    Notes
    -----
    Missing, and so the beginning of a gap, are empty cells, words for nothing
    (``occupair.readings.number_cells``), -999 and a CO2 of 0 ppm: no air has that, it is how a
    sensor fails to answer. Where head counts are missing,
    rows are left out; ``occupancy=False`` keeps them. Rows newest first are turned round, equal rows
    merged. On the grid every time has the last value before it, never one that comes later.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "room.csv"
    >>> _ = path.write_text("Zeit;CO2 [ppm];Klappe [%]\n8.1.2024 00:00;412,5;80\n8.1.2024 00:01;413;40\n")
    >>> read_readings(path).to_dict("list")
    {'co2': [412.5, 413.0], 'ventilation': [0.8, 0.4]}
    """
    given, zone = check_given(columns), zone_of(timezone)
    check_full(ventilation_full, ventilation_unit)
    check_grid_options(interval, longest_gap)
    wanted = {"co2": True, "ventilation": ventilation, "occupancy": occupancy}
    table = read_raw(Path(path), given)
    if lenient:
        table = replace(table, source=Lenient(table.source.name, table.source.first_row))
        table = without_unused(table, given, "")
    records = read_records(
        table,
        wanted,
        given=given,
        zone=zone,
        dayfirst=dayfirst,
        ventilation_full=ventilation_full,
        ventilation_unit=ventilation_unit,
    )
    readings = put_on_grid(
        records, interval=interval, longest_gap=longest_gap, whole=not lenient, source=table.source
    )
    if readings.empty:
        raise table.source.error(f"has no time at which {' and '.join(records.columns)} are known")
    if isinstance(table.source, Lenient):
        readings.attrs["problems"] = table.source.problems
        return readings.rename_axis("time")
    return check_readings(readings, source=Source(f"{path} on its grid"))


def write_readings(readings: pd.DataFrame, path: str | Path) -> None:
    """Write readings, whole or not at all; the suffix decides CSV or Parquet.

    ``read_readings`` gives them back; a CSV has UTC offsets but no name of a time zone, so where the
    clock changes it has to be told the zone.
    """
    table = readings.rename_axis("time").reset_index()
    if is_parquet(Path(path)):
        needs_pyarrow(str(path))
    with replacing(path) as scratch:
        if is_parquet(Path(path)):
            table.to_parquet(scratch, index=False)
        else:
            table.to_csv(scratch, index=False)
