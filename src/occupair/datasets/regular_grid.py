"""Resampling of published data to a regular grid.

Gaps are filled with the last value before them, never with later ones, as in a live service. The result
can therefore be used to score causal estimators.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from occupair.readings.schema import date_slices

FIRST_ARTIFICIAL_DAY = pd.Timestamp("2000-01-01")


def artificial_dates(weekdays: Sequence[Iterable[int]]) -> pd.DatetimeIndex:
    """Return artificial dates for days that were published without one.

    Parameters
    ----------
    weekdays : sequence
        For each day, in order, the possible weekdays; Monday is 0.

    Returns
    -------
    DatetimeIndex
        Increasing dates from 2000-01-01, each the first one that fits. No two are consecutive, so
        readings do not appear to continue across midnight.

    Examples
    --------
    >>> [f"{day:%a %d}" for day in artificial_dates([{5}, {5}, {0, 1, 2, 3, 4}])]
    ['Sat 01', 'Sat 08', 'Mon 10']
    """
    dates: list[pd.Timestamp] = []
    for allowed in weekdays:
        fits = set(allowed)
        after = dates[-1] + pd.Timedelta(days=2) if dates else FIRST_ARTIFICIAL_DAY
        dates.append(next(day for day in pd.date_range(after, periods=7) if day.weekday() in fits))
    return pd.DatetimeIndex(dates)


def hold(readings: pd.DataFrame, *, interval: pd.Timedelta, longest_gap: pd.Timedelta) -> pd.DataFrame:
    """Resample irregular readings to a grid: each grid time takes the last reading at or before it.

    Grid times within a gap of more than ``longest_gap`` between two readings are dropped.

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


def fill_gaps(readings: pd.DataFrame, *, limit: int) -> pd.DataFrame:
    """Fill gaps of up to ``limit`` readings with the last value of the same day.

    In a longer gap, only the first ``limit`` readings are filled.
    """
    days = pd.DatetimeIndex(readings.index).normalize()
    return readings.groupby(days).ffill(limit=limit)


def longest_parts(readings: pd.DataFrame, *, interval: pd.Timedelta) -> pd.DataFrame:
    """Return the longest part of each day without a gap; the first one if two are equally long."""
    whole = readings.dropna()
    return pd.concat([_longest_part(whole.iloc[day], interval) for day in date_slices(whole)])


def whole_days(readings: pd.DataFrame, *, interval: pd.Timedelta) -> pd.DataFrame:
    """Return the complete days, from midnight to midnight."""
    days = pd.DatetimeIndex(readings.index).normalize()
    lengths = readings.groupby(days)[readings.columns[0]].transform("size")
    return readings[(lengths == pd.Timedelta(days=1) // interval).to_numpy()]


def _longest_part(day: pd.DataFrame, interval: pd.Timedelta) -> pd.DataFrame:
    times = pd.DatetimeIndex(day.index)
    breaks = np.flatnonzero(times[1:] - times[:-1] != interval) + 1
    edges = np.r_[0, breaks, len(day)]
    part = int(np.argmax(np.diff(edges)))
    return day.iloc[edges[part] : edges[part + 1]]
