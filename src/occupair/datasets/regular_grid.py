"""Published rows onto one regular grid: holes bridged by the last value, broken parts left out.

Nothing here looks ahead. A hole is filled with the last value before it, as a live service would have
to, so the repaired readings can be used to score causal estimators.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from occupair.readings.schema import date_slices

FIRST_MADE_UP_DAY = pd.Timestamp("2000-01-01")


def made_up_dates(weekdays: Sequence[Iterable[int]]) -> pd.DatetimeIndex:
    """Dates for days that were published without one.

    Parameters
    ----------
    weekdays : sequence
        For each day, in order, the weekdays it may be: Monday is 0.

    Returns
    -------
    DatetimeIndex
        Rising dates from 2000-01-01 on, each the first one that fits. Two of them are never
        neighbours, so that nothing seems to run on across a midnight that was never there.

    Examples
    --------
    >>> [f"{day:%a %d}" for day in made_up_dates([{5}, {5}, {0, 1, 2, 3, 4}])]
    ['Sat 01', 'Sat 08', 'Mon 10']
    """
    dates: list[pd.Timestamp] = []
    for allowed in weekdays:
        fits = set(allowed)
        after = dates[-1] + pd.Timedelta(days=2) if dates else FIRST_MADE_UP_DAY
        dates.append(next(day for day in pd.date_range(after, periods=7) if day.weekday() in fits))
    return pd.DatetimeIndex(dates)


def hold(readings: pd.DataFrame, *, interval: pd.Timedelta, longest_gap: pd.Timedelta) -> pd.DataFrame:
    """Put jittered readings on a grid: every grid time gets the last reading at or before it.

    Grid times inside a gap of more than ``longest_gap`` between two readings are left out.

    Examples
    --------
    >>> times = pd.to_datetime(["2024-01-08 08:00:01", "2024-01-08 08:00:32", "2024-01-08 08:01:32"])
    >>> jittered = pd.DataFrame({"co2": [410.0, 420.0, 430.0]}, index=times)
    >>> held = hold(jittered, interval=pd.Timedelta("30s"), longest_gap=pd.Timedelta("60s"))
    >>> held["co2"].to_dict()
    {Timestamp('2024-01-08 08:00:30'): 410.0,
     Timestamp('2024-01-08 08:01:00'): 420.0,
     Timestamp('2024-01-08 08:01:30'): 420.0}
    """
    times = pd.DatetimeIndex(readings.index)
    grid = pd.date_range(times[0].ceil(interval), times[-1].floor(interval), freq=interval)
    before = times.searchsorted(grid, side="right") - 1
    after = np.minimum(before + 1, len(times) - 1)
    near = (times[after] - times[before] <= longest_gap) | (times[before] == grid)
    return readings.iloc[before[near]].set_axis(grid[near])


def bridge(readings: pd.DataFrame, *, limit: int) -> pd.DataFrame:
    """Fill holes of up to ``limit`` readings with the last value of the same day.

    Of a longer hole the first ``limit`` readings are filled and the others stay empty.
    """
    days = pd.DatetimeIndex(readings.index).normalize()
    return readings.groupby(days).ffill(limit=limit)


def longest_parts(readings: pd.DataFrame, *, interval: pd.Timedelta) -> pd.DataFrame:
    """Of every day keep the longest part without a hole; the first one if two are as long."""
    whole = readings.dropna()
    return pd.concat([_longest_part(whole.iloc[day], interval) for day in date_slices(whole)])


def whole_days(readings: pd.DataFrame, *, interval: pd.Timedelta) -> pd.DataFrame:
    """Keep the days that run from midnight to midnight."""
    days = pd.DatetimeIndex(readings.index).normalize()
    lengths = readings.groupby(days)[readings.columns[0]].transform("size")
    return readings[(lengths == pd.Timedelta(days=1) // interval).to_numpy()]


def _longest_part(day: pd.DataFrame, interval: pd.Timedelta) -> pd.DataFrame:
    times = pd.DatetimeIndex(day.index)
    breaks = np.flatnonzero(times[1:] - times[:-1] != interval) + 1
    edges = np.r_[0, breaks, len(day)]
    part = int(np.argmax(np.diff(edges)))
    return day.iloc[edges[part] : edges[part + 1]]
