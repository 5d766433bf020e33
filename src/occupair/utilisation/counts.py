"""Counts of a room: people with a prediction interval at regular local times, the input of this package."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from occupair.errors import InputError
from occupair.metrics import whole_people
from occupair.readings.schema import interval_of

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

COLUMNS = ("people", "low", "high")
HOUR = 60.0  # [min]


def check_counts(counts: pd.DataFrame) -> pd.DataFrame:
    """Return counts as floats in the order of ``COLUMNS``, at increasing times.

    Parameters
    ----------
    counts : DataFrame
        A DatetimeIndex in the time zone of the room, or in local time, ``people`` [people] and, optionally,
        ``low`` and ``high`` of their prediction interval [people]. NaN is unknown.

    Returns
    -------
    DataFrame
        ``people``, ``low`` and ``high``; without an interval, the last two are NaN.

    Examples
    --------
    >>> times = pd.date_range("2024-01-08 08:00", periods=2, freq="5min")
    >>> check_counts(pd.DataFrame({"people": [1, 2]}, index=times)).iloc[1].tolist()
    [2.0, nan, nan]
    """
    if not isinstance(counts, pd.DataFrame) or not isinstance(counts.index, pd.DatetimeIndex):
        raise InputError("counts must be a DataFrame with a DatetimeIndex")
    if "people" not in counts.columns:
        raise InputError(f"counts must have a column 'people', got {', '.join(map(str, counts.columns))}")
    if not (counts.index.is_monotonic_increasing and counts.index.is_unique):
        raise InputError("counts must be at increasing times")
    table = counts.reindex(columns=list(COLUMNS)).astype(float)
    return table.rename_axis(index="time")


def is_in_use(people: pd.Series[float] | Array) -> Mask:
    """Whether a room is in use: its count, rounded, is one person or more. An unknown count is False.

    Examples
    --------
    >>> is_in_use(np.array([0.4, 0.6, np.nan])).tolist()
    [False, True, False]
    """
    return np.asarray(whole_people(people) >= 1)


def interval_hours(counts: pd.DataFrame) -> float:
    """Return the time between counts [h].

    Examples
    --------
    >>> times = pd.date_range("2024-01-08", periods=3, freq="15min")
    >>> interval_hours(pd.DataFrame({"people": 1.0}, index=times))
    0.25
    """
    return interval_of(counts) / HOUR


def local_times(counts: pd.DataFrame) -> pd.DatetimeIndex:
    """Return the times as they are on a clock in the room, without time zone."""
    return pd.DatetimeIndex(counts.index).tz_localize(None)


def local_days(counts: pd.DataFrame) -> pd.DatetimeIndex:
    """Return the local day of each count, as its midnight without time zone."""
    return local_times(counts).normalize()
