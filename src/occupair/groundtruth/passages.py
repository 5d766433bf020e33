"""Passages: entries and exits by door and minute, with the certainty of each count.

*Passages* are a pandas DataFrame. The index ``time`` is the start of the minute, local or time zone aware.
The columns are ``door`` (a name), ``entered`` and ``left`` [people] and ``weight`` [0..1: 1 certain, 0.5
uncertain, 0 not counted]. Minutes without passages need no row; a minute that was not counted has a row
with weight 0. If the times are known to the second, ``entered_again`` and ``left_again`` [people] are the
passages so soon after another in the same direction that they may be the same person counted twice.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from occupair.readings.schema import to_numbers
from occupair.readings.source import Source, missing_column
from occupair.readings.time_zones import parse_time_zone

REPEATS = ("entered_again", "left_again")
COUNTS = ("entered", "left", *REPEATS)
MOST_PEOPLE = 1_000_000
"""Maximum count of one minute at one door [people]."""
UNCERTAIN_WEIGHT = 0.5
"""Weight of a minute whose count is uncertain [0..1]."""


def check_passages(passages: pd.DataFrame, *, source: Source | str = "passages") -> pd.DataFrame:
    """Validate passages and return one row per minute and door, in order.

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
        row = int(np.argmax(passages.index.isna()))
        raise source.error("must be a time, got an empty or invalid value", row=row, column="time")
    table = pd.DataFrame({"door": passages["door"].astype(str).to_numpy()}, index=minutes_of(passages.index))
    for name in COUNTS:
        table[name] = _check_people(passages, name, source)
    table["weight"] = _check_weights(passages, source)
    return sum_by_minute(table)


def sum_by_minute(table: pd.DataFrame) -> pd.DataFrame:
    """Combine rows of the same minute and door, in order: counts are added, the lowest weight is used."""
    how = dict.fromkeys(COUNTS, "sum") | {"weight": "min"}
    keyed = table.rename_axis("time").reset_index()
    return keyed.groupby(["time", "door"], sort=True).agg(how).reset_index("door")


def minutes_of(times: pd.DatetimeIndex) -> pd.DatetimeIndex:
    """Return the start of each time's minute, also in the repeated hour at the end of daylight saving time.

    Examples
    --------
    >>> times = pd.to_datetime(["2024-10-27 00:30:59Z", "2024-10-27 01:30:59Z"]).tz_convert("Europe/Paris")
    >>> [f"{time:%H:%M %z}" for time in minutes_of(times)]
    ['02:30 +0200', '02:30 +0100']
    """
    if times.tz is None:
        return times.floor("min")
    return times.tz_convert("UTC").floor("min").tz_convert(times.tz)


def _check_people(passages: pd.DataFrame, name: str, source: Source) -> np.ndarray:
    if name not in passages.columns:
        return np.zeros(len(passages), dtype=np.int64)
    counts = passages[name].fillna(0) if name in REPEATS else passages[name]
    people = to_numbers(counts, source).to_numpy()
    wrong = ~((people >= 0) & (people == np.rint(people)) & (people <= MOST_PEOPLE))
    if wrong.any():
        k = int(np.argmax(wrong))
        got = "an empty value" if np.isnan(people[k]) else f"{people[k]:g}"
        rule = f"must be an integer from 0 to {MOST_PEOPLE}, got {got} at {passages.index[k]}"
        raise source.error(rule, row=k, column=name)
    return people.astype(np.int64)


def _check_weights(passages: pd.DataFrame, source: Source) -> np.ndarray:
    if "weight" not in passages.columns:
        return np.ones(len(passages))
    weight = to_numbers(passages["weight"], source).to_numpy()
    wrong = ~((weight >= 0) & (weight <= 1))
    if wrong.any():
        k = int(np.argmax(wrong))
        rule = f"must be from 0 (not counted) to 1 (certain), got {weight[k]:g} at {passages.index[k]}"
        raise source.error(rule, row=k, column="weight")
    return np.asarray(weight)


def not_counted(door: str, start: pd.Timestamp, end: pd.Timestamp) -> pd.DataFrame:
    """Return rows of weight 0 for the minutes of a door from ``start`` up to but excluding ``end``.

    Examples
    --------
    >>> gap = not_counted("north", pd.Timestamp("2024-01-08 12:00"), pd.Timestamp("2024-01-08 12:31"))
    >>> len(gap), float(gap["weight"].max())
    (31, 0.0)
    """
    first, stop = minutes_of(pd.DatetimeIndex([start, end]))
    minutes = pd.date_range(first, stop, freq="min", inclusive="left")
    return pd.DataFrame({"door": door, "entered": 0, "left": 0, "weight": 0.0}, index=minutes)


def in_zone(passages: pd.DataFrame, timezone: str | None, *, source: Source) -> pd.DataFrame:
    """Convert passages to a time zone; local times are taken to be in that zone."""
    zone, times = parse_time_zone(timezone), pd.DatetimeIndex(passages.index)
    if zone is None:
        return passages
    if times.tz is not None:
        return passages.set_axis(times.tz_convert(zone))
    aware = times.tz_localize(zone, ambiguous=np.ones(len(times), dtype=bool), nonexistent="NaT")
    if aware.hasnans:
        k = int(np.argmax(aware.isna()))
        raise source.error(f"local time {times[k]} does not exist in the time zone {zone.key}")
    return passages.set_axis(aware)
