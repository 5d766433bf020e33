"""The records of a file: the columns of a raw table parsed into increasing times and valid numbers.

Records come before the grid: their times are unique and increasing but irregular, and missing values are
NaN. Errors name the row and the column of the file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from occupair.readings.co2_units import to_ppm
from occupair.readings.column_names import ambiguity_message, column_option, find_column, is_utc, time_kind
from occupair.readings.number_column import as_text, decimal_mark, is_missing, parse_numbers
from occupair.readings.raw_table import RawTable
from occupair.readings.source import Source, missing_column
from occupair.readings.time_column import localize, newest_first, parse_times
from occupair.readings.time_strings import is_date, split_stamp, time_string_kind
from occupair.readings.value_rules import first_violation
from occupair.readings.ventilation_scale import Scale, describe_mismatch, mismatch_advice
from occupair.readings.ventilation_units import (
    find_scale,
    matching_scale,
    parse_on_off,
    stated_unit,
    to_fraction,
)
from occupair.wording import quoted_list

Values = NDArray[np.float64]
RowNumbers = NDArray[np.int64]


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
        Whether each column is required (True), optional (None) or ignored (False).
    given : mapping
        Column names in the file, as given by the caller.
    zone, dayfirst, ventilation_full, ventilation_unit :
        As for ``read_readings``.

    Returns
    -------
    DataFrame
        The columns at increasing times. ``attrs`` has ``failed_reads`` [rows] and the ventilation scale.
    """
    time = find_time_column(table, given)
    positions = _find_columns(table, wanted, given, time)
    utc = is_utc(str(time.name))
    index = parse_times(
        time, zone=zone, utc=utc, dayfirst=dayfirst, source=table.source, row_numbers=table.row_numbers
    )
    values, attrs = _parse_values(table, positions, ventilation_full, ventilation_unit)
    order = np.flatnonzero(index.notna())  # all, unless the source is lenient
    chronological = order[:: -1 if newest_first(index[order]) else 1]
    rows = table.row_numbers[chronological]
    index = localize(index[chronological], zone, column=str(time.name), source=table.source, row_numbers=rows)
    records = pd.DataFrame({role: column[chronological] for role, column in values.items()}, index=index)
    records = _merge_duplicates(records, rows, str(time.name), table.source)
    records.attrs.update(attrs)
    return records


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
    cells = as_text(column[~is_missing(column)])
    if cells.empty:
        return "nothing"
    date, clock = split_stamp(cells.iloc[0].strip())
    if time_kind(str(column.name)) == "date" and not clock.strip("0:."):
        return time_string_kind(date)  # spreadsheets write dates as midnight
    return time_string_kind(cells.iloc[0])


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
        if needed is False:
            continue
        position = find_column(table.names, role, given, table.source)
        empty = position is not None and is_missing(table.column(position)).all()
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
    return missing_column(role, pd.DataFrame(columns=names)) + hints.get(role, advice)


def _parse_values(
    table: RawTable, positions: Mapping[str, int], full: float | None, unit: str | None
) -> tuple[dict[str, Values], dict[str, float | str]]:
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
    values["co2"] = to_ppm(values["co2"], co2_unit, column=str(columns["co2"].name), source=table.source)
    attrs: dict[str, float | str] = {"failed_reads": int((values["co2"] == 0).sum())}
    without_failed = np.where(values["co2"] == 0, np.nan, values["co2"])
    if np.isnan(without_failed).all():
        rule = "has no readings: all cells are empty or 0 ppm, which is a failed read"
        raise table.source.error(rule, column=str(columns["co2"].name))
    if table.source.strict:
        _check_values(values, columns, table)
        values["co2"] = without_failed
    if "ventilation" in values:
        name, own_unit = str(columns["ventilation"].name), table.units[positions["ventilation"]]
        scale = _ventilation_scale(values["ventilation"], name, own_unit, on_off, full, unit, table)
        values["ventilation"] = to_fraction(
            values["ventilation"],
            scale,
            given=full == scale.full,
            column=name,
            source=table.source,
            row_numbers=table.row_numbers,
        )
        attrs |= {"ventilation_full": scale.full, "ventilation_unit": scale.unit}
    return values, attrs


def _ventilation_scale(
    values: Values,
    column: str,
    unit: str,
    on_off: bool,
    trained_full: float | None,
    trained_unit: str | None,
    table: RawTable,
) -> Scale:
    """Return the ventilation scale: that of training if there is one, else the file's own."""
    own = find_scale(values, name=column, unit=unit, on_off=on_off)
    if trained_full is None or (on_off and trained_unit is None):
        return own
    trained = Scale(trained_full, trained_unit or own.unit)
    stated = on_off or stated_unit(column, unit) is not None
    scale = matching_scale(values, own, trained, stated=stated)
    if scale is None:
        rule = f"{describe_mismatch(own, trained)}: {mismatch_advice(own, trained)}"
        raise table.source.error(rule, column=column)
    return scale


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
    hint = "" if index.tz is not None else " (a clock change? then give the time zone, --timezone)"
    back = np.r_[False, np.diff(index.asi8) < 0]
    source.reject(
        back,
        lambda k: f"times must increase, got {index[k]} after {index[k - 1]}{hint}",
        row_numbers=row_numbers,
        column=column,
        kind="times",
    )
    if back.any():
        order = np.argsort(index.asi8, kind="stable")
        records, index, row_numbers = records.iloc[order], index[order], row_numbers[order]
    steps = np.diff(index.asi8)
    if (steps > 0).all():
        return records
    group = np.cumsum(np.r_[0, steps > 0])
    first = records.groupby(group).transform("first")
    differs = (records.notna() & (records != first)).any(axis=1).to_numpy()
    source.reject(
        differs & ~back.any(),  # reported once
        lambda k: f"times must increase, got {index[k]} twice with different values{hint}",
        row_numbers=row_numbers,
        column=column,
        kind="times",
    )
    return records.groupby(group).first().set_axis(index[np.r_[True, steps > 0]])
