"""The records of a file: which columns they are in, their times in order, their numbers checked.

Between the raw table and the grid: times rise and are there once, but lie anywhere; NaN is a value that is
missing. Every error names the row and the column of the file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from occupair.readings.co2_units import to_ppm
from occupair.readings.column_names import ambiguous, choose, column_option, is_utc, time_kind
from occupair.readings.number_cells import as_text, decimal_mark, is_missing, parse_numbers
from occupair.readings.raw_table import RawTable
from occupair.readings.source import Source, missing_column
from occupair.readings.time_column import localize, newest_first, parse_times
from occupair.readings.time_strings import is_date, kind_of, split_stamp
from occupair.readings.value_rules import first_violation
from occupair.readings.ventilation_scale import Scale, other_scale, unit_advice
from occupair.readings.ventilation_units import later_scale, scale_of, scaled, stated_unit, words_to_numbers
from occupair.wording import quoted_list

Values = NDArray[np.float64]
Rows = NDArray[np.int64]


def read_records(
    table: RawTable,
    wanted: Mapping[str, bool | None],
    *,
    given: Mapping[str, str],
    zone: ZoneInfo | None = None,
    dayfirst: bool | None = None,
    ventilation_full: float | None = None,
    ventilation_unit: str | None = None,
) -> pd.DataFrame:
    """Read the columns we use, oldest first.

    Parameters
    ----------
    table : RawTable
        The cells of a file.
    wanted : mapping
        Which of our columns are needed (True), taken if they are there (None) or left (False).
    given : mapping
        Ours to theirs, what the caller says about columns.
    zone, dayfirst, ventilation_full, ventilation_unit :
        As for ``read_readings``.

    Returns
    -------
    DataFrame
        Our columns at rising times. ``attrs`` has ``failed_reads`` [rows] and the scale of ventilation.
    """
    time = find_time_column(table, given)
    chosen = _chosen(table, wanted, given, time)
    utc = is_utc(str(time.name))
    index = parse_times(
        time, zone=zone, utc=utc, dayfirst=dayfirst, source=table.source, row_numbers=table.row_numbers
    )
    values, attrs = _values(table, chosen, ventilation_full, ventilation_unit)
    order = np.flatnonzero(index.notna())  # all of them, unless the source is lenient
    turn = order[:: -1 if newest_first(index[order]) else 1]
    rows = table.row_numbers[turn]
    index = localize(index[turn], zone, column=str(time.name), source=table.source, row_numbers=rows)
    records = pd.DataFrame({role: column[turn] for role, column in values.items()}, index=index)
    records = _merged(records, rows, str(time.name), table.source)
    records.attrs.update(attrs)
    return records


def find_time_column(table: RawTable, given: Mapping[str, str]) -> pd.Series:
    """Find the column of times, or join the two of date and time of day."""
    if "time" in given:
        clock = choose(table.names, "time", given, table.source)
        date = choose(table.names, "date", given, table.source) if "date" in given else None
        assert clock is not None
        return table.column(clock) if date is None else _joined(table.column(date), table.column(clock))
    found = [k for k, name in enumerate(table.names) if time_kind(name) and name not in given.values()]
    if len(found) < 2:
        if not found:
            raise table.source.error(_no_times(table.names))
        return table.column(found[0])
    kinds = {k: _kind(table.column(k)) for k in found}
    stamps = [k for k in found if kinds[k] == "stamp"]
    dates, clocks = ([k for k in found if kinds[k] == kind] for kind in ("date", "clock"))
    if not stamps and len(dates) == len(clocks) == 1:
        return _joined(table.column(dates[0]), table.column(clocks[0]))
    best = stamps or dates or clocks or found
    ours = [k for k in best if table.names[k] == "time"] or best
    if len(ours) > 1:
        raise table.source.error(ambiguous("time", [table.names[k] for k in ours]))
    return table.column(ours[0])


def _kind(column: pd.Series) -> str:
    """Tell by its first cell what a column that is called date or time holds."""
    cells = as_text(column[~is_missing(column)])
    if cells.empty:
        return "nothing"
    date, clock = split_stamp(cells.iloc[0].strip())
    if time_kind(str(column.name)) == "date" and not clock.strip("0:."):
        return kind_of(date)  # a spreadsheet writes dates as midnights
    return kind_of(cells.iloc[0])


def _joined(date: pd.Series, clock: pd.Series) -> pd.Series:
    days = as_text(date).str.strip().map(lambda text: split_stamp(text)[0].rstrip(","))
    joined = days + " " + as_text(clock).str.strip()
    return joined.rename(f"{date.name} {clock.name}")


def _chosen(
    table: RawTable, wanted: Mapping[str, bool | None], given: Mapping[str, str], time: pd.Series
) -> dict[str, int]:
    """Positions of the columns to read; one that need not be there may also be empty."""
    chosen = {}
    for role, needed in wanted.items():
        if needed is False:
            continue
        position = choose(table.names, role, given, table.source)
        empty = position is not None and is_missing(table.column(position)).all()
        if needed and (position is None or empty):
            rest = [name for name in table.names if name != time.name]
            raise table.source.error(
                "has nothing but empty cells" if empty else _missing(role, rest),
                column=table.names[position] if empty and position is not None else None,
            )
        if position is not None and not empty:
            chosen[role] = position
    return chosen


def _no_times(names: list[str]) -> str:
    """Say that there is no column of times, and why that may be."""
    if any(is_date(split_stamp(name)[0]) for name in names):
        rule = "has no header, its first line must name the columns (time, co2 and so on)"
        return f"{rule}, got {quoted_list(names)}"
    if len(names) == 1 and re.search(r"[\s:/]", names[0]):
        return f"has one column only, {quoted_list(names)}: separate cells by comma, semicolon, tab or |"
    return _missing("time", names)


def _missing(role: str, names: list[str]) -> str:
    name = f"; if it has another name, give it with {column_option(role, '...')}"
    hints = {"occupancy": "", "ventilation": f"{name}; if there is none, train a model without ventilation"}
    return missing_column(role, pd.DataFrame(columns=names)) + hints.get(role, name)


def _values(
    table: RawTable, chosen: Mapping[str, int], full: float | None, unit: str | None
) -> tuple[dict[str, Values], dict[str, float | str]]:
    cells = {role: table.column(position) for role, position in chosen.items()}
    words = False
    if "ventilation" in cells:
        cells["ventilation"], words = words_to_numbers(
            cells["ventilation"], source=table.source, row_numbers=table.row_numbers
        )
    mark = decimal_mark([column for role, column in cells.items() if role != "co2"], cells["co2"])
    values = {
        role: parse_numbers(column, mark=mark, source=table.source, row_numbers=table.row_numbers)
        for role, column in cells.items()
    }
    co2_unit = f"{cells['co2'].name} {table.units[chosen['co2']]}"
    values["co2"] = to_ppm(values["co2"], co2_unit, column=str(cells["co2"].name), source=table.source)
    attrs: dict[str, float | str] = {"failed_reads": int((values["co2"] == 0).sum())}
    answered = np.where(values["co2"] == 0, np.nan, values["co2"])
    if np.isnan(answered).all():
        rule = "has no reading, every cell is empty or 0 ppm, which is a sensor that did not answer"
        raise table.source.error(rule, column=str(cells["co2"].name))
    if table.source.strict:
        _check(values, cells, table)
        values["co2"] = answered
    if "ventilation" in values:
        air, own_unit = cells["ventilation"], table.units[chosen["ventilation"]]
        scale = _scale(values["ventilation"], air, own_unit, words, full, unit, table)
        values["ventilation"] = scaled(
            values["ventilation"],
            scale,
            given=full == scale.full,
            column=str(air.name),
            source=table.source,
            row_numbers=table.row_numbers,
        )
        attrs |= {"ventilation_full": scale.full, "ventilation_unit": scale.unit}
    return values, attrs


def _scale(
    values: Values,
    cells: pd.Series,
    unit: str,
    words: bool,
    trained_full: float | None,
    trained_unit: str | None,
    table: RawTable,
) -> Scale:
    """Find the scale of ventilation: that of the training, or the file's own."""
    column = str(cells.name)
    own = scale_of(values, name=column, unit=unit, words=words)
    if trained_full is None or (words and trained_unit is None):
        return own
    trained = Scale(trained_full, trained_unit or own.unit)
    stated = words or stated_unit(column, unit) is not None
    scale = later_scale(values, own, trained, stated=stated)
    if scale is None:
        rule = f"{other_scale(own, trained)}: {unit_advice(own, trained)}"
        raise table.source.error(rule, column=column)
    return scale


def _check(values: Mapping[str, Values], cells: Mapping[str, pd.Series], table: RawTable) -> None:
    for role in values.keys() & {"co2", "occupancy"}:
        if violation := first_violation(role, values[role], missing_allowed=True):
            k, message = violation
            raise table.source.error(message, row=int(table.row_numbers[k]), column=str(cells[role].name))


def _merged(records: pd.DataFrame, rows: Rows, column: str, source: Source) -> pd.DataFrame:
    """Make one record of those with the same time, unless they say different things."""
    index = pd.DatetimeIndex(records.index)
    hint = "" if index.tz is not None else " (a change of the clock? then give the time zone, --timezone)"
    back = np.r_[False, np.diff(index.asi8) < 0]
    source.reject(
        back,
        lambda k: f"times must rise, {index[k]} comes after {index[k - 1]}{hint}",
        row_numbers=rows,
        column=column,
        kind="times",
    )
    if back.any():
        order = np.argsort(index.asi8, kind="stable")
        records, index, rows = records.iloc[order], index[order], rows[order]
    steps = np.diff(index.asi8)
    if (steps > 0).all():
        return records
    group = np.cumsum(np.r_[0, steps > 0])
    first = records.groupby(group).transform("first")
    differs = (records.notna() & (records != first)).any(axis=1).to_numpy()
    source.reject(
        differs & ~back.any(),  # told once
        lambda k: f"times must rise, {index[k]} is there twice, with other values{hint}",
        row_numbers=rows,
        column=column,
        kind="times",
    )
    return records.groupby(group).first().set_axis(index[np.r_[True, steps > 0]])
