"""The weeks of a room, and how the last one compares with those before."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from occupair.utilisation.counts import Array
from occupair.utilisation.days import GOOD

MIN_DAYS = 3
"""Good open days that a week needs to be compared."""
CONFIDENCE = 0.95
"""Confidence of the interval of a change."""
SMALLEST_ERROR = 1e-9
"""Standard error of a change that is rounding [people]."""


def room_weeks(days: pd.DataFrame) -> pd.DataFrame:
    """Return one row per week, from Monday to Sunday.

    Parameters
    ----------
    days : DataFrame
        Days, see ``room_days``.

    Returns
    -------
    DataFrame
        By the Monday of the week: ``days``, the number of good days with opening hours; ``left_out``, the
        number of days left out; ``people``, ``low`` and ``high``, the means over the opening hours of the
        good days [people]; ``in_use``, the time in use [h] per good day; ``peak`` and ``peak_high``, the
        highest daily peak and the highest upper end of one [people].

    Examples
    --------
    >>> names = ["people", "low", "high", "in_use", "open", "peak", "peak_high"]
    >>> days = pd.DataFrame(4.0, index=pd.date_range("2024-01-08", periods=8), columns=names)
    >>> weeks = room_weeks(days.assign(status=["", "sensor stuck", *[""] * 6]))
    >>> weeks["days"].tolist(), weeks["left_out"].tolist()
    ([6, 1], [1, 0])
    """
    good = days["status"] == GOOD
    used = good & (days["open"] > 0)
    week = _mondays(pd.DatetimeIndex(days.index))
    weight = days["open"].where(used, 0.0)
    sums = days[["people", "low", "high"]].mul(weight, axis=0).groupby(week).sum(min_count=1)
    table = sums.div(weight.groupby(week).sum().replace(0.0, np.nan), axis=0)
    counted = used.groupby(week).sum()
    table.insert(0, "left_out", (~good).groupby(week).sum())
    table.insert(0, "days", counted)
    table["in_use"] = days["in_use"].where(used, 0.0).groupby(week).sum() / counted.where(counted > 0)
    for name in ("peak", "peak_high"):
        table[name] = days[name].where(good).groupby(week).max()
    return table.rename_axis("week")


class Change(NamedTuple):
    """How the mean count of the last complete week differs from the weeks before.

    Attributes
    ----------
    week : Monday of the last complete week
    people, before : mean over the opening hours, in that week and before [people]
    low, high : interval of the difference from the variation between days [people]
    """

    week: pd.Timestamp
    people: float
    before: float
    low: float
    high: float

    @property
    def is_clear(self) -> bool:
        """Whether the difference is more than the usual variation between days."""
        return self.low > SMALLEST_ERROR or self.high < -SMALLEST_ERROR


def last_week_change(days: pd.DataFrame) -> Change | None:
    """Compare the last week with at least ``MIN_DAYS`` good open days with all such weeks before.

    The interval is that of Welch's t-test on daily means, with a confidence of 95 %. A constant error of
    the estimates cancels in the difference.

    Parameters
    ----------
    days : DataFrame
        Days, see ``room_days``.

    Returns
    -------
    Change or None
        None if there are no two weeks to compare.
    """
    used = days[(days["status"] == GOOD) & (days["open"] > 0)]
    week = _mondays(pd.DatetimeIndex(used.index))
    counted = used.groupby(week).size()
    complete = counted.index[counted >= MIN_DAYS]
    if len(complete) < 2:
        return None
    last = used.loc[week == complete[-1], "people"].to_numpy()
    before = used.loc[week.isin(complete[:-1]), "people"].to_numpy()
    low, high = _welch_interval(last, before)
    return Change(complete[-1], float(last.mean()), float(before.mean()), low, high)


def _welch_interval(one: Array, other: Array) -> tuple[float, float]:
    """Return the interval of the difference of two means by Welch's t-test."""
    difference = float(one.mean() - other.mean())
    parts = [float(values.var(ddof=1)) / values.size for values in (one, other)]
    error = math.sqrt(sum(parts))
    if error < SMALLEST_ERROR:
        return difference, difference
    freedom = sum(parts) ** 2 / sum(
        part**2 / (values.size - 1) for part, values in zip(parts, (one, other), strict=True)
    )
    half = float(stats.t.ppf(0.5 + CONFIDENCE / 2, freedom)) * error
    return difference - half, difference + half


def _mondays(days: pd.DatetimeIndex) -> pd.DatetimeIndex:
    """Return the Monday of the week of each day."""
    return days - pd.to_timedelta(days.day_of_week, unit="D")


def percent_change(change: Change) -> float:
    """Return the change relative to the weeks before; NaN if nobody was there before."""
    return (change.people - change.before) / change.before if change.before > 0 else math.nan
