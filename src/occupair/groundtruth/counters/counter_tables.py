"""Read CSV and Parquet exports of door counters.

Three layouts are supported, with any delimiter, decimal mark, encoding and time format that
``occupair.readings.raw_table`` reads: a time and a direction (in, exit, Eingang, 1 and -1, ...), optionally
with a number of people; a time with a column of entries and a column of exits; and such a pair of columns
for each of several doors (``north in``, ``north out``, ...). The door name comes from a column, from the
column names or from the file name. Times of intervals are their starts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from occupair.errors import InputError
from occupair.groundtruth.counters.counter_records import passages_from_records
from occupair.groundtruth.counters.direction_vocabulary import (
    CUMULATIVE,
    DIRECTIONS,
    DOORS,
    NUMBERS,
    STARTS,
    direction,
    split_words,
    without_direction,
)
from occupair.readings.column_names import column_option, time_kind
from occupair.readings.number_column import as_text, decimal_mark, is_missing, parse_numbers
from occupair.readings.raw_table import RawTable, read_raw_table
from occupair.readings.records import find_time_column
from occupair.readings.time_column import localize, newest_first, parse_times
from occupair.readings.time_zones import offset_in_name, parse_time_zone
from occupair.wording import quoted, quoted_list

ROLES = ("time", "date", "door", "direction", "entered", "left", "count")


def read_counter_table(
    path: Path | str,
    *,
    timezone: str | None = None,
    dayfirst: bool | None = None,
    columns: Mapping[str, str] | None = None,
    cumulative: bool | None = None,
) -> pd.DataFrame:
    r"""Read passages from the export of a door counter; for the parameters see ``read_passages``.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "lobby.csv"
    >>> _ = path.write_text("Zeit;Richtung\n8.1.2024 08:31:07;Eingang\n8.1.2024 08:31:40;Eingang\n")
    >>> read_counter_table(path)[["door", "entered", "left"]].to_dict("records")
    [{'door': 'lobby', 'entered': 2, 'left': 0}]
    """
    given = _check_columns(columns)
    table = read_raw_table(Path(path), {role: given[role] for role in ("time", "date") if role in given})
    for role, name in given.items():
        if name not in table.names:
            raise table.source.error(
                f"has no column {name!r} (given for {role}), only {quoted_list(table.names)}"
            )
    tables, single = _records(table, given, Path(path).name.split(".")[0])
    records = _with_times(tables, table, given, timezone, dayfirst)
    if cumulative is None and any(CUMULATIVE & set(split_words(name)) for name in table.names):
        cumulative = True
    return passages_from_records(records, cumulative=cumulative, source=table.source, single=single)


def _check_columns(columns: Mapping[str, str] | None) -> dict[str, str]:
    given = dict(columns or {})
    for role, name in given.items():
        if role not in ROLES or not isinstance(name, str):
            raise InputError(
                f"columns (--column) must be names for {', '.join(ROLES)}, got {role!r}: {name!r}"
            )
    return given


def _records(table: RawTable, given: Mapping[str, str], stem: str) -> tuple[list[pd.DataFrame], bool]:
    """Tables of door, entered and left, one per pair of columns, and whether each row is one passage."""
    doors = _doors(table, given, stem)
    position = _position(table, given, "direction", DIRECTIONS)
    if position is not None and _contains_directions(table.column(position)):
        return [_directed(table, given, position, doors)], True
    return _entries_and_exits(table, given, doors), False


def _position(table: RawTable, given: Mapping[str, str], role: str, words: frozenset[str]) -> int | None:
    if role in given:
        return table.names.index(given[role])
    taken = set(given.values())
    found = [k for k, name in enumerate(table.names) if name not in taken and words & set(split_words(name))]
    return found[0] if found else None


def _doors(table: RawTable, given: Mapping[str, str], stem: str) -> pd.Series[str]:
    position = _position(table, given, "door", DOORS)
    from_file_name = pd.Series(stem, index=range(len(table.frame)), dtype=str)
    if position is None:
        return from_file_name
    cells = as_text(table.column(position)).str.strip().reset_index(drop=True)
    if (
        "door" not in given
        and (direction(table.names[position]) or _numeric(cells))
        and without_direction(table.names[position]) not in ("door", "gate", "sensor", "device", "camera")
    ):
        return from_file_name  # an "entrance" column may be a count of entries
    return cells.where(cells != "", stem)


def _numeric(cells: pd.Series[str]) -> bool:
    return bool(pd.to_numeric(cells, errors="coerce").notna().all())


def _contains_directions(cells: pd.Series) -> bool:
    """Whether most values of a column are a direction, in words or as 1 and -1."""
    known = as_text(cells)[~is_missing(cells)]
    return len(known) > 0 and float(np.mean([_direction(cell) is not None for cell in known.head(100)])) > 0.5


def _direction(cell: str) -> str | None:
    bare = cell.strip()
    if bare in {"1", "+1", "+", "1.0"}:
        return "entered"
    if bare in {"-1", "-", "-1.0"}:
        return "left"
    return direction(bare)


def _directed(
    table: RawTable, given: Mapping[str, str], position: int, doors: pd.Series[str]
) -> pd.DataFrame:
    cells = as_text(table.column(position)).reset_index(drop=True)
    directions = [_direction(cell) for cell in cells]
    wrong = np.array([one is None for one in directions])
    table.source.reject(
        wrong,
        lambda k: f"must be a direction such as in or out, got {quoted(cells.iloc[k])}",
        row_numbers=table.row_numbers,
        column=table.names[position],
        kind="no_direction",
    )
    number = _position(table, given, "count", NUMBERS)
    people = np.ones(len(cells))
    if number is not None and number != position:
        people = _counts(table, [number])[0]
    is_entry = np.array([one == "entered" for one in directions])
    return pd.DataFrame(
        {"door": doors, "entered": np.where(is_entry, people, 0.0), "left": np.where(is_entry, 0.0, people)}
    )


def _entries_and_exits(
    table: RawTable, given: Mapping[str, str], doors: pd.Series[str]
) -> list[pd.DataFrame]:
    pairs = _column_pairs(table, given)
    tables = []
    for name, positions in pairs.items():
        entered, left = _counts(table, positions)
        own = doors if not name else pd.Series(name, index=doors.index, dtype=str)
        tables.append(pd.DataFrame({"door": own, "entered": entered, "left": left}))
    return tables


def _column_pairs(table: RawTable, given: Mapping[str, str]) -> dict[str, tuple[int, int]]:
    """Positions of the columns of entries and exits, by the door in their names."""
    if "entered" in given and "left" in given:
        return {"": (table.names.index(given["entered"]), table.names.index(given["left"]))}
    columns: dict[str, dict[str, list[int]]] = {}
    for k, name in enumerate(table.names):
        role = next((role for role, own in given.items() if own == name), None)
        meaning = (
            role if role in ("entered", "left") else None if role or time_kind(name) else direction(name)
        )
        if meaning is not None:
            columns.setdefault("" if role else without_direction(name), {}).setdefault(meaning, []).append(k)
    for found in columns.values():
        for meaning, positions in found.items():
            if len(positions) > 1:
                both = [table.names[k] for k in positions]
                raise table.source.error(
                    f"has {len(both)} columns that may be {meaning}, {quoted_list(both)}: choose one with "
                    f"{column_option(meaning, both[0])}"
                )
    pairs = {door: found for door, found in columns.items() if len(found) == 2}
    if not pairs:
        raise table.source.error(_missing_columns(table.names, columns))
    unpaired = [table.names[k] for found in columns.values() if len(found) == 1 for [k] in found.values()]
    if unpaired:
        raise table.source.error(f"has {quoted(unpaired[0])} but no column for the opposite direction")
    return {door: (found["entered"][0], found["left"][0]) for door, found in pairs.items()}


def _missing_columns(names: Sequence[str], columns: Mapping[str, Mapping[str, list[int]]]) -> str:
    meaning = next((meaning for found in columns.values() for meaning in found), None)
    if meaning is None:
        problem = "no columns of entries and exits and no direction column"
    else:
        other = "left" if meaning == "entered" else "entered"
        problem = f"a column that may be {meaning} but none that may be {other}"
    return f"has {problem}, only {quoted_list(names)}: name them with {column_option('entered', '...')}"


def _counts(table: RawTable, positions: Sequence[int]) -> list[np.ndarray]:
    cells = [table.column(k) for k in positions]
    mark = decimal_mark(cells[1:], cells[0])
    found = []
    for column in cells:
        values = parse_numbers(column, mark=mark, source=table.source, row_numbers=table.row_numbers)
        is_count = (values >= 0) & (values == np.rint(values)) & np.isfinite(values)
        wrong = ~(is_count | np.isnan(values))
        if wrong.any():
            k = int(np.argmax(wrong))
            rule = f"must be a non-negative integer, got {values[k]:g}"
            raise table.source.error(rule, row=int(table.row_numbers[k]), column=str(column.name))
        found.append(values)
    return found


def _with_times(
    tables: Sequence[pd.DataFrame],
    table: RawTable,
    given: Mapping[str, str],
    timezone: str | None,
    dayfirst: bool | None,
) -> pd.DataFrame:
    """Index the records by time, oldest first within each door."""
    zone = parse_time_zone(timezone)
    cells = find_time_column(table, _time_column(table, given))
    index = parse_times(
        cells,
        zone=zone,
        offset=offset_in_name(str(cells.name)),
        dayfirst=dayfirst,
        source=table.source,
        row_numbers=table.row_numbers,
    )
    turn = np.arange(len(index))[:: -1 if newest_first(index) else 1]
    doors = tables[0]["door"].to_numpy()
    times = pd.DatetimeIndex(index)
    # doors may be stacked in a file; times increase within each, which resolves the repeated hour in autumn
    by_door = {door: turn[doors[turn] == door] for door in pd.unique(doors)}
    if index.tz is None and zone is not None:
        aware = pd.Series(pd.NaT, index=range(len(index)), dtype=pd.DatetimeTZDtype(unit="us", tz=zone))
        for rows in by_door.values():
            column = str(cells.name)
            own = localize(
                index[rows], zone, column=column, source=table.source, row_numbers=table.row_numbers[rows]
            )
            aware.iloc[rows] = own
        times = pd.DatetimeIndex(aware)
    records = [own.iloc[rows].set_axis(times[rows]) for own in tables for rows in by_door.values()]
    in_order: pd.DataFrame = pd.concat([own.sort_index(kind="stable") for own in records])
    return in_order


def _time_column(table: RawTable, given: Mapping[str, str]) -> dict[str, str]:
    """Return the time column, which may only be called "start" or "from"."""
    times = {role: given[role] for role in ("time", "date") if role in given}
    if times or any(time_kind(name) for name in table.names):
        return times
    starts = [name for name in table.names if STARTS & set(split_words(name))]
    return {"time": starts[0]} if len(starts) == 1 else {}
