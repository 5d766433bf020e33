"""Tables that door counters export: a row for each passage, or counts of intervals, or that go on counting.

Three shapes are understood, with whatever delimiter, decimal mark, encoding and way to write times
(``occupair.readings.raw_table``): a time and a direction (in, exit, Eingang, 1 and -1, ...), with a number
of people if there is one; a time with a column of entrances and one of exits; and such columns for each of
several doors (``north in``, ``north out``, ...). The name of the door is a column, a part of the columns'
names, or the name of the file. Times of intervals are their beginnings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from occupair.errors import InputError
from occupair.groundtruth.counters.counter_series import passages_of
from occupair.groundtruth.counters.direction_words import (
    DOORS,
    GOING_ON,
    NUMBERS,
    STARTS,
    WAYS,
    direction,
    rest_of,
    words_of,
)
from occupair.readings.column_names import column_option, is_utc, time_kind
from occupair.readings.number_cells import as_text, decimal_mark, is_missing, parse_numbers
from occupair.readings.raw_table import RawTable, read_raw_table
from occupair.readings.records import find_time_column
from occupair.readings.time_column import localize, newest_first, parse_times
from occupair.readings.time_zones import parse_time_zone
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
    r"""Read the passages in a CSV or Parquet file of a door counter; parameters as for ``read_passages``.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "lobby.csv"
    >>> _ = path.write_text("Zeit;Richtung\n8.1.2024 08:31:07;Eingang\n8.1.2024 08:31:40;Eingang\n")
    >>> read_counter_table(path)[["door", "entered", "left"]].to_dict("records")
    [{'door': 'lobby', 'entered': 2, 'left': 0}]
    """
    given = _check_given(columns)
    table = read_raw_table(Path(path), {role: given[role] for role in ("time", "date") if role in given})
    for role, name in given.items():
        if name not in table.names:
            raise table.source.error(
                f"has no column {name!r}, given as {role}, only {quoted_list(table.names)}"
            )
    wide, single = _records(table, given, Path(path).name.split(".")[0])
    records = _timed(wide, table, given, timezone, dayfirst)
    if cumulative is None and any(GOING_ON & set(words_of(name)) for name in table.names):
        cumulative = True
    return passages_of(records, cumulative=cumulative, source=table.source, single=single)


def _check_given(columns: Mapping[str, str] | None) -> dict[str, str]:
    given = dict(columns or {})
    for role, name in given.items():
        if role not in ROLES or not isinstance(name, str):
            raise InputError(f"columns (--column) must name {', '.join(ROLES)}, got {role!r}: {name!r}")
    return given


def _records(table: RawTable, given: Mapping[str, str], stem: str) -> tuple[list[pd.DataFrame], bool]:
    """Door, entered and left of every row, a table for each door in a row; and whether rows are passages."""
    doors = _doors(table, given, stem)
    position = _position(table, given, "direction", WAYS)
    if position is not None and _says_directions(table.column(position)):
        return [_directed(table, given, position, doors)], True
    return _in_and_out(table, given, doors), False


def _position(table: RawTable, given: Mapping[str, str], role: str, words: frozenset[str]) -> int | None:
    if role in given:
        return table.names.index(given[role])
    taken = set(given.values())
    found = [k for k, name in enumerate(table.names) if name not in taken and words & set(words_of(name))]
    return found[0] if found else None


def _doors(table: RawTable, given: Mapping[str, str], stem: str) -> pd.Series[str]:
    position = _position(table, given, "door", DOORS)
    nameless = pd.Series(stem, index=range(len(table.frame)), dtype=str)
    if position is None:
        return nameless
    cells = as_text(table.column(position)).str.strip().reset_index(drop=True)
    if (
        "door" not in given
        and (direction(table.names[position]) or _numeric(cells))
        and rest_of(table.names[position]) not in ("door", "gate", "sensor", "device", "camera")
    ):
        return nameless  # "entrance" may be a number of entrances
    return cells.where(cells != "", stem)


def _numeric(cells: pd.Series[str]) -> bool:
    return bool(pd.to_numeric(cells, errors="coerce").notna().all())


def _says_directions(cells: pd.Series) -> bool:
    """Whether most cells of a column say in or out, or 1 and -1."""
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
    ways = [_direction(cell) for cell in cells]
    wrong = np.array([way is None for way in ways])
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
    inward = np.array([way == "entered" for way in ways])
    return pd.DataFrame(
        {"door": doors, "entered": np.where(inward, people, 0.0), "left": np.where(inward, 0.0, people)}
    )


def _in_and_out(table: RawTable, given: Mapping[str, str], doors: pd.Series[str]) -> list[pd.DataFrame]:
    pairs = _pairs(table, given)
    parts = []
    for name, (inward, outward) in pairs.items():
        entered, left = _counts(table, [inward, outward])
        own = doors if not name else pd.Series(name, index=doors.index, dtype=str)
        parts.append(pd.DataFrame({"door": own, "entered": entered, "left": left}))
    return parts


def _pairs(table: RawTable, given: Mapping[str, str]) -> dict[str, tuple[int, int]]:
    """Positions of the columns of entrances and exits, by the door that their names tell."""
    if "entered" in given and "left" in given:
        return {"": (table.names.index(given["entered"]), table.names.index(given["left"]))}
    ways: dict[str, dict[str, list[int]]] = {}
    for k, name in enumerate(table.names):
        role = next((role for role, own in given.items() if own == name), None)
        way = role if role in ("entered", "left") else None if role or time_kind(name) else direction(name)
        if way is not None:
            ways.setdefault("" if role else rest_of(name), {}).setdefault(way, []).append(k)
    for found in ways.values():
        for way, positions in found.items():
            if len(positions) > 1:
                both = [table.names[k] for k in positions]
                raise table.source.error(
                    f"has {len(both)} columns that may be {way}, {quoted_list(both)}: choose one with "
                    f"{column_option(way, both[0])}"
                )
    whole = {door: found for door, found in ways.items() if len(found) == 2}
    if not whole:
        raise table.source.error(_no_columns(table.names, ways))
    single = [table.names[k] for found in ways.values() if len(found) == 1 for [k] in found.values()]
    if single:
        raise table.source.error(f"has {quoted(single[0])} but not its other direction: both are needed")
    return {door: (found["entered"][0], found["left"][0]) for door, found in whole.items()}


def _no_columns(names: Sequence[str], ways: Mapping[str, Mapping[str, list[int]]]) -> str:
    way = next((way for found in ways.values() for way in found), None)
    if way is None:
        missing = "no columns of entrances and exits, nor a direction"
    else:
        missing = (
            f"a column that may be {way} but none that may be {'left' if way == 'entered' else 'entered'}"
        )
    return f"has {missing}, only {quoted_list(names)}: give them with {column_option('entered', '...')}"


def _counts(table: RawTable, positions: Sequence[int]) -> list[np.ndarray]:
    cells = [table.column(k) for k in positions]
    mark = decimal_mark(cells[1:], cells[0])
    found = []
    for column in cells:
        values = parse_numbers(column, mark=mark, source=table.source, row_numbers=table.row_numbers)
        wrong = ~np.isnan(values) & ~((values >= 0) & (values == np.rint(values)))
        if wrong.any():
            k = int(np.argmax(wrong))
            rule = f"must be a whole number of people, 0 or more, got {values[k]:g}"
            raise table.source.error(rule, row=int(table.row_numbers[k]), column=str(column.name))
        found.append(values)
    return found


def _timed(
    parts: Sequence[pd.DataFrame],
    table: RawTable,
    given: Mapping[str, str],
    timezone: str | None,
    dayfirst: bool | None,
) -> pd.DataFrame:
    """Give the records their times, oldest first."""
    zone = parse_time_zone(timezone)
    cells = find_time_column(table, _time_column(table, given))
    index = parse_times(
        cells,
        zone=zone,
        utc=is_utc(str(cells.name)),
        dayfirst=dayfirst,
        source=table.source,
        row_numbers=table.row_numbers,
    )
    turn = np.arange(len(index))[:: -1 if newest_first(index) else 1]
    doors = parts[0]["door"].to_numpy()
    times = pd.DatetimeIndex(index)
    # doors may follow each other in a file; times rise within each, so that an hour shown twice is told apart
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
    records = [part.iloc[rows].set_axis(times[rows]) for part in parts for rows in by_door.values()]
    in_order: pd.DataFrame = pd.concat([part.sort_index(kind="stable") for part in records])
    return in_order


def _time_column(table: RawTable, given: Mapping[str, str]) -> dict[str, str]:
    """Say which column the times are in, where only "start" or "from" tells."""
    times = {role: given[role] for role in ("time", "date") if role in given}
    if times or any(time_kind(name) for name in table.names):
        return times
    starts = [name for name in table.names if STARTS & set(words_of(name))]
    return {"time": starts[0]} if len(starts) == 1 else {}
