"""Passages: how many people went in and out, at which door, in which minute, and how sure that is.

*Passages* are a pandas DataFrame whose index ``time`` is the start of the minute (local, or aware of its time
zone), with the columns ``door`` (a name), ``entered`` and ``left`` [whole people] and ``weight`` [0..1: 1 is
sure, 0.5 unsure, 0 not counted]. Minutes in which nobody passed need no row; a minute that nobody counted has
one, with the weight 0. Where seconds were known, ``entered_again`` and ``left_again`` [people] say how many
of the passages came so close after another the same way that they may be the same person.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd

from occupair.errors import InputError
from occupair.readings.schema import to_numbers
from occupair.readings.source import Source, missing_column
from occupair.readings.time_zones import parse_time_zone
from occupair.wording import quoted

AGAIN = ("entered_again", "left_again")
COUNTS = ("entered", "left", *AGAIN)
UNSURE = 0.5


def check_passages(passages: pd.DataFrame, *, source: Source | str = "passages") -> pd.DataFrame:
    """Return passages with one row for each minute and door, in order, or say which rule they break.

    Examples
    --------
    >>> times = pd.to_datetime(["2024-01-08 08:31:40", "2024-01-08 08:31:02"])
    >>> check_passages(pd.DataFrame({"door": "north", "entered": [1, 1], "left": [0, 2]}, index=times))
    ...     # doctest: +NORMALIZE_WHITESPACE
                          door  entered  left  entered_again  left_again  weight
    time
    2024-01-08 08:31:00  north        2     2              0           0     1.0
    """
    source = source if isinstance(source, Source) else Source(source)
    if not isinstance(passages, pd.DataFrame) or not isinstance(passages.index, pd.DatetimeIndex):
        raise source.error("must be a DataFrame with a DatetimeIndex")
    for name in ("door", "entered", "left"):
        if name not in passages.columns:
            raise source.error(missing_column(name, passages))
    if passages.index.hasnans:
        raise source.error("is empty or not a time", row=int(np.argmax(passages.index.isna())), column="time")
    rows = pd.DataFrame({"door": passages["door"].astype(str).to_numpy()}, index=minutes_of(passages.index))
    for name in COUNTS:
        rows[name] = _people(passages, name, source)
    rows["weight"] = _weights(passages, source)
    return summed(rows)


def summed(rows: pd.DataFrame) -> pd.DataFrame:
    """Make one row of those of the same minute and door, in order."""
    how = dict.fromkeys(COUNTS, "sum") | {"weight": "min"}
    keyed = rows.rename_axis("time").reset_index()
    return keyed.groupby(["time", "door"], sort=True).agg(how).reset_index("door")


def minutes_of(times: pd.DatetimeIndex) -> pd.DatetimeIndex:
    """Give the start of each time's minute, also in the hour that a clock shows twice.

    Examples
    --------
    >>> times = pd.to_datetime(["2024-10-27 00:30:59Z", "2024-10-27 01:30:59Z"]).tz_convert("Europe/Paris")
    >>> [f"{time:%H:%M %z}" for time in minutes_of(times)]
    ['02:30 +0200', '02:30 +0100']
    """
    if times.tz is None:
        return times.floor("min")
    return times.tz_convert("UTC").floor("min").tz_convert(times.tz)


def _people(passages: pd.DataFrame, name: str, source: Source) -> np.ndarray:
    if name not in passages.columns:
        return np.zeros(len(passages), dtype=np.int64)
    people = to_numbers(passages[name], source).to_numpy()
    wrong = ~((people >= 0) & (people == np.rint(people)) & np.isfinite(people))
    if wrong.any():
        k = int(np.argmax(wrong))
        got = "nothing" if np.isnan(people[k]) else f"{people[k]:g}"
        rule = f"must be a whole number of people, 0 or more, got {got} at {passages.index[k]}"
        raise source.error(rule, row=k, column=name)
    return people.astype(np.int64)


def _weights(passages: pd.DataFrame, source: Source) -> np.ndarray:
    if "weight" not in passages.columns:
        return np.ones(len(passages))
    weight = to_numbers(passages["weight"], source).to_numpy()
    wrong = ~((weight >= 0) & (weight <= 1))
    if wrong.any():
        k = int(np.argmax(wrong))
        rule = f"must be from 0 (not counted) to 1 (sure), got {weight[k]:g} at {passages.index[k]}"
        raise source.error(rule, row=k, column="weight")
    return np.asarray(weight)


def not_counted(door: str, start: pd.Timestamp, end: pd.Timestamp) -> pd.DataFrame:
    """Give the minutes of a door from ``start`` until before ``end`` as minutes that nobody counted.

    Examples
    --------
    >>> gap = not_counted("north", pd.Timestamp("2024-01-08 12:00"), pd.Timestamp("2024-01-08 12:31"))
    >>> len(gap), float(gap["weight"].max())
    (31, 0.0)
    """
    first, stop = minutes_of(pd.DatetimeIndex([start, end]))
    minutes = pd.date_range(first, stop, freq="min", inclusive="left")
    return pd.DataFrame({"door": door, "entered": 0, "left": 0, "weight": 0.0}, index=minutes)


def read_passages(
    *paths: str | Path,
    timezone: str | None = None,
    dayfirst: bool | None = None,
    columns: Mapping[str, str] | None = None,
    cumulative: bool | None = None,
    partial: bool = False,
) -> pd.DataFrame:
    """Read passages of any number of doors.

    Parameters
    ----------
    *paths
        Folders that ``occupair groundtruth count`` has counted; CSV or Parquet files of door counters (see
        ``occupair.groundtruth.counters.door_tables``); logs of MQTT messages
        (``occupair.groundtruth.counters.mqtt_logs``).
    timezone : str, optional
        Zone of local times, and to show times in that have an offset.
    dayfirst : bool, optional
        Whether 01/02/2024 is in February; None finds out.
    columns : mapping, optional
        Which column of a CSV is which, ours to theirs: ``time``, ``date``, ``door``, ``direction``,
        ``entered``, ``left``, ``count``.
    cumulative : bool, optional
        Whether counts go on counting, as a meter does; None finds out.
    partial : bool
        Whether minutes of a folder that are not counted yet are taken as not counted; else they are an error.

    Returns
    -------
    DataFrame
        Passages, as ``check_passages`` gives them.
    """
    from occupair.groundtruth.counters.counted_folders import read_counted
    from occupair.groundtruth.counters.door_tables import read_counter_table
    from occupair.groundtruth.counters.mqtt_logs import is_mqtt_log, read_mqtt_log

    if not paths:
        raise InputError("give a counting folder, a CSV of a door counter or an MQTT log")
    parse_time_zone(timezone)
    parts: dict[str, pd.DataFrame] = {}
    for path in map(Path, paths):
        if path.is_dir():
            parts[str(path)] = read_counted(path, partial=partial)
        elif is_mqtt_log(path):
            parts[str(path)] = read_mqtt_log(path, timezone=timezone, cumulative=cumulative)
        else:
            parts[str(path)] = read_counter_table(
                path, timezone=timezone, dayfirst=dayfirst, columns=columns, cumulative=cumulative
            )
    return joined(parts, timezone=timezone)


def joined(parts: Mapping[str, pd.DataFrame], *, timezone: str | None = None) -> pd.DataFrame:
    """Put the passages of several files, by their names, together in one zone; a door is in one file."""
    zoned = {name: in_zone(part, timezone, source=Source(name)) for name, part in parts.items()}
    for (one, first), (other, second) in pairwise(zoned.items()):
        if (_zone(first) is None) != (_zone(second) is None):
            aware, local = (one, other) if _zone(first) is not None else (other, one)
            raise InputError(f"{local}: has local times and {aware} has not: give the time zone, --timezone")
    _refuse_twice(zoned)
    zone = _zone(next(iter(zoned.values())))
    same = [part if zone is None else part.set_axis(_index(part).tz_convert(zone)) for part in zoned.values()]
    return check_passages(pd.concat(same))


def in_zone(passages: pd.DataFrame, timezone: str | None, *, source: Source) -> pd.DataFrame:
    """Show passages in a time zone; local times are taken to be of that zone."""
    zone, times = parse_time_zone(timezone), _index(passages)
    if zone is None:
        return passages
    if times.tz is not None:
        return passages.set_axis(times.tz_convert(zone))
    aware = times.tz_localize(zone, ambiguous=np.ones(len(times), dtype=bool), nonexistent="NaT")
    if aware.hasnans:
        k = int(np.argmax(aware.isna()))
        raise source.error(f"does not fit the time zone {zone.key}: its clock never shows {times[k]}")
    return passages.set_axis(aware)


def _refuse_twice(parts: Mapping[str, pd.DataFrame]) -> None:
    """Refuse the same passages given twice: they would count double."""
    seen: dict[tuple[str, object], str] = {}
    for name, part in parts.items():
        rows = part[part[["entered", "left"]].sum(axis=1) > 0]
        for door, own in rows.groupby("door"):
            for minute in own.index:
                other = seen.setdefault((str(door), minute), name)
                if other != name:
                    raise InputError(
                        f"{name}: has passages at door {quoted(door)} at {minute}, and so has {other}: "
                        "the same door twice? Give each file once, or name the doors apart"
                    )


def _index(passages: pd.DataFrame) -> pd.DatetimeIndex:
    return pd.DatetimeIndex(passages.index)


def _zone(passages: pd.DataFrame) -> dt.tzinfo | None:
    return _index(passages).tz
