"""The records of a file: the columns of a raw table parsed into increasing times and valid numbers.

Records come before the grid: their times are unique and increasing but irregular, and missing values are
NaN. Errors name the row and the column of the file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from occupair.readings.co2_units import to_ppm
from occupair.readings.column_names import ambiguity_message, column_option, find_column, time_kind
from occupair.readings.number_column import as_text, blocks, decimal_mark, is_missing, parse_numbers
from occupair.readings.other_sensors import sensor_names
from occupair.readings.raw_table import RawTable
from occupair.readings.sensor_columns import find_sensor_columns, parse_sensors
from occupair.readings.source import Source, missing_column
from occupair.readings.time_column import in_order, localize, newest_first, parse_times
from occupair.readings.time_strings import is_date, split_stamp, time_string_kind
from occupair.readings.time_zones import offset_in_name, time_zone_name, zone_in_name
from occupair.readings.value_rules import first_violation
from occupair.readings.ventilation_column import VentilationColumn, convert_ventilation
from occupair.readings.ventilation_scale import describe_scale
from occupair.readings.ventilation_units import parse_on_off
from occupair.wording import quoted_list

Values = NDArray[np.float64]
RowNumbers = NDArray[np.int64]

LONGEST_CLOCK_CHANGE = pd.Timedelta(hours=2)


def parse_records(
    table: RawTable,
    wanted: Mapping[str, bool | None],
    *,
    given: Mapping[str, str],
    zone: ZoneInfo | None = None,
    dayfirst: bool | None = None,
    ventilation_full: float | None = None,
    ventilation_unit: str | None = None,
) -> pd.DataFrame:
    """Parse the columns of a raw table, oldest record first.

    Parameters
    ----------
    table : RawTable
        The raw values of a file.
    wanted : mapping
        Whether each column is required (True), optional (None) or ignored (False). Optional sensors are read
        if present, unless ``"sensors"`` is False.
    given : mapping
        Column names in the file, as given by the caller.
    zone, dayfirst, ventilation_full, ventilation_unit :
        As for ``read_readings``.

    Returns
    -------
    DataFrame
        The columns at increasing times. ``attrs`` has a description of the ``columns``,
        ``failed_reads`` of CO2 [rows], the ventilation scale and ``ventilation_failed``.
    """
    time = find_time_column(table, given)
    positions = _find_columns(table, wanted, given, time)
    name, room_zone = str(time.name), zone
    zone = zone_in_name(name) or zone
    index = parse_times(
        time,
        zone=zone,
        offset=offset_in_name(name),
        dayfirst=dayfirst,
        source=table.source,
        row_numbers=table.row_numbers,
    )
    values, attrs = _parse_values(table, positions, ventilation_full, ventilation_unit)
    if wanted.get("sensors") is not False:
        found, unclear = find_sensor_columns(table, given, positions.values())
        sensors, described = parse_sensors(table, found)
        values |= sensors
        attrs["columns"] |= described | unclear
    chronological = _chronological(index, zone, sort=table.in_any_order)
    rows = table.row_numbers[chronological]
    index = localize(index[chronological], zone, column=name, source=table.source, row_numbers=rows)
    index = index if room_zone is None else index.tz_convert(room_zone)
    ordered = {role: column[chronological] for role, column in values.items()}
    records = pd.DataFrame(ordered, index=index, copy=False)
    records = _merge_duplicates(records, rows, name, table.source)
    attrs["columns"] = {"time": f"column {name!r}, {time_zone_name(index) or 'local time'}"} | attrs[
        "columns"
    ]
    records.attrs.update(attrs)
    return records


def _chronological(index: pd.DatetimeIndex, zone: ZoneInfo | None, *, sort: bool) -> slice | RowNumbers:
    """Return the positions of all times but NaT: as they are, newest first reversed, or sorted."""
    if not index.hasnans and not sort:  # a slice does not copy
        return slice(None, None, -1 if newest_first(index) else None)
    order = np.flatnonzero(index.notna())  # all, unless the source is lenient
    order = order[:: -1 if newest_first(index[order]) else 1]
    if sort and not in_order(index[order], zone):
        order = order[np.argsort(index[order].asi8, kind="stable")]
    return order


def find_time_column(table: RawTable, given: Mapping[str, str]) -> pd.Series:
    """Return the time column, or the date and time-of-day columns joined."""
    if "time" in given:
        clock = find_column(table.names, "time", given, table.source)
        date = find_column(table.names, "date", given, table.source) if "date" in given else None
        assert clock is not None
        return table.column(clock) if date is None else _joined(table.column(date), table.column(clock))
    found = [k for k, name in enumerate(table.names) if time_kind(name) and name not in given.values()]
    if len(found) < 2:
        if not found:
            raise table.source.error(_no_times(table.names))
        return table.column(found[0])
    kinds = {k: _time_kind(table.column(k)) for k in found}
    stamps = [k for k in found if kinds[k] == "stamp"]
    dates, clocks = ([k for k in found if kinds[k] == kind] for kind in ("date", "clock"))
    if not stamps and len(dates) == len(clocks) == 1:
        return _joined(table.column(dates[0]), table.column(clocks[0]))
    best = stamps or dates or clocks or found
    ours = [k for k in best if table.names[k] == "time"] or best
    if len(ours) > 1:
        raise table.source.error(ambiguity_message("time", [table.names[k] for k in ours]))
    return table.column(ours[0])


def _time_kind(column: pd.Series) -> str:
    """Return whether a time column holds ``stamp``, ``date`` or ``clock``, judged by its first value."""
    known = (as_text(block[~is_missing(block)]) for block in blocks(column))
    first = next((cells.iloc[0] for cells in known if not cells.empty), None)
    if first is None:
        return "nothing"
    date, clock = split_stamp(first.strip())
    if time_kind(str(column.name)) == "date" and not clock.strip("0:."):
        return time_string_kind(date)  # spreadsheets write dates as midnight
    return time_string_kind(first)


def _joined(date: pd.Series, clock: pd.Series) -> pd.Series:
    days = as_text(date).str.strip().map(lambda text: split_stamp(text)[0].rstrip(","))
    joined = days + " " + as_text(clock).str.strip()
    return joined.rename(f"{date.name} {clock.name}")


def _find_columns(
    table: RawTable, wanted: Mapping[str, bool | None], given: Mapping[str, str], time: pd.Series
) -> dict[str, int]:
    """Return the positions of the columns to read; an optional column may be empty and is skipped."""
    positions = {}
    for role, needed in wanted.items():
        if needed is False or role == "sensors":
            continue
        position = find_column(table.names, role, given, table.source)
        empty = position is not None and all(is_missing(b).all() for b in blocks(table.column(position)))
        if needed and (position is None or empty):
            rest = [name for name in table.names if name != time.name]
            raise table.source.error(
                "has only empty cells" if empty else _missing(role, rest),
                column=table.names[position] if empty and position is not None else None,
            )
        if position is not None and not empty:
            positions[role] = position
    return positions


def _no_times(names: list[str]) -> str:
    """Return the message for a file without a time column, with the probable cause."""
    if any(is_date(split_stamp(name)[0]) for name in names):
        rule = "must have a header line with the column names (time, co2, ...)"
        return f"{rule}, got {quoted_list(names)}"
    if len(names) == 1 and re.search(r"[\s:/]", names[0]):
        return f"has only one column, {quoted_list(names)}: use comma, semicolon, tab or | as delimiter"
    return _missing("time", names)


def _missing(role: str, names: list[str]) -> str:
    advice = f"; if it has another name, use {column_option(role, '...')}"
    hints = {"occupancy": "", "ventilation": f"{advice}; if there is none, train a model without ventilation"}
    named = pd.DataFrame(columns=list(filter(None, names)))  # row numbers have no name
    return missing_column(role, named) + hints.get(role, advice)


def _parse_values(
    table: RawTable, positions: Mapping[str, int], full: float | None, unit: str | None
) -> tuple[dict[str, Values], dict[str, Any]]:
    """Return the numbers of each column in our units, and the ``attrs`` of the records."""
    columns = {role: table.column(position) for role, position in positions.items()}
    on_off = False
    if "ventilation" in columns:
        columns["ventilation"], on_off = parse_on_off(
            columns["ventilation"], source=table.source, row_numbers=table.row_numbers
        )
    mark = decimal_mark([column for role, column in columns.items() if role != "co2"], columns["co2"])
    values = {
        role: parse_numbers(column, mark=mark, source=table.source, row_numbers=table.row_numbers)
        for role, column in columns.items()
    }
    co2_unit = f"{columns['co2'].name} {table.units[positions['co2']]}"
    in_file = values["co2"]
    values["co2"] = to_ppm(in_file, co2_unit, column=str(columns["co2"].name), source=table.source)
    taken = {role: f"column {str(column.name)!r}" for role, column in columns.items()}
    taken["co2"] += ", ppm" if values["co2"] is in_file else ", % converted to ppm"
    attrs: dict[str, Any] = {"columns": taken, "failed_reads": int((values["co2"] == 0).sum())}
    without_failed = np.where(values["co2"] == 0, np.nan, values["co2"])
    if np.isnan(without_failed).all():
        rule = "has no readings: all cells are empty or 0 ppm, which is a failed read"
        raise table.source.error(rule, column=str(columns["co2"].name))
    if table.source.strict:
        _check_values(values, columns, table)
        values["co2"] = without_failed
    if "ventilation" in values:
        column = VentilationColumn(
            name=str(columns["ventilation"].name),
            unit=table.units[positions["ventilation"]],
            on_off=on_off,
            fraction_of=table.scale if columns["ventilation"].name == "ventilation" else None,
            source=table.source,
            row_numbers=table.row_numbers,
        )
        air = convert_ventilation(values["ventilation"], column, trained_full=full, trained_unit=unit)
        values["ventilation"] = air.fraction
        attrs |= {"ventilation_full": air.scale.full, "ventilation_unit": air.scale.unit}
        taken["ventilation"] += f", {describe_scale(air.scale, air.basis)}"
        if air.failed is not None:
            attrs["ventilation_failed"] = str(air.failed)
            taken["ventilation"] += f", {air.failed} left out"
    return values, attrs


def _check_values(values: Mapping[str, Values], columns: Mapping[str, pd.Series], table: RawTable) -> None:
    for role in [name for name in ("co2", "occupancy") if name in values]:
        if violation := first_violation(role, values[role], missing_allowed=True):
            k, message = violation
            raise table.source.error(message, row=int(table.row_numbers[k]), column=str(columns[role].name))


def _merge_duplicates(
    records: pd.DataFrame, row_numbers: RowNumbers, column: str, source: Source
) -> pd.DataFrame:
    """Merge records with the same time; it is an error if their values differ."""
    index = pd.DatetimeIndex(records.index)
    steps = pd.Series(index).diff()
    back = (steps < pd.Timedelta(0)).to_numpy()
    hint = "" if index.tz is not None else " (if the clocks changed, set the time zone with --timezone)"

    def order_hint(k: int) -> str:
        return hint if steps[k] >= -LONGEST_CLOCK_CHANGE else ": sort the rows, and use each export once"

    source.reject(
        back,
        lambda k: f"times must increase, got {index[k]} after {index[k - 1]}{order_hint(k)}",
        row_numbers=row_numbers,
        column=column,
        kind="times",
    )
    if back.any():
        order = np.argsort(index.asi8, kind="stable")
        records, index, row_numbers = records.iloc[order], index[order], row_numbers[order]
    later = np.diff(index.asi8) > 0
    if later.all():
        return records
    group = np.cumsum(np.r_[0, later])
    values = records.drop(columns=sensor_names(records))  # of optional sensors, the first value counts
    first = values.groupby(group).transform("first")
    differs = (values.notna() & (values != first)).any(axis=1).to_numpy()
    source.reject(
        differs & ~back.any(),  # reported once
        lambda k: f"times must increase, got {index[k]} twice with different values: delete one{hint}",
        row_numbers=row_numbers,
        column=column,
        kind="times",
    )
    return records.groupby(group).first().set_axis(index[np.r_[True, later]])
