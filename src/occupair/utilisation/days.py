"""The days of a room: daily peak, hours in use, and whether the day is complete enough for means."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from occupair.checks.lowest_co2 import COMPLETE_DAY_SHARE
from occupair.utilisation.counts import (
    COLUMNS,
    Array,
    Mask,
    check_counts,
    interval_hours,
    is_in_use,
    local_days,
    local_times,
)
from occupair.utilisation.opening_hours import OpeningHours

PEAK_MINUTES = 15.0
"""A peak is the count that was reached for this long in total on a day [min], so that one odd estimate is
not a peak."""
GOOD, TOO_LITTLE = "", "too little data"
"""Status of a good day, and of a day with too few counts for no other reason, such as a sensor offline."""


def room_days(
    counts: pd.DataFrame,
    opening: OpeningHours,
    *,
    faults: pd.DataFrame | None = None,
    first: pd.Timestamp | None = None,
    last: pd.Timestamp | None = None,
) -> pd.DataFrame:
    """Return one row per day from the first to the last day, days without counts included.

    Parameters
    ----------
    counts : DataFrame
        Counts, see ``check_counts``.
    opening : OpeningHours
        Opening hours.
    faults : DataFrame, optional
        Faulty time [h] by day and kind of fault, see ``occupair.utilisation.bad_days``. It explains why a day
        is left out.
    first, last : Timestamp, optional
        First and last day; by default those of the counts.

    Returns
    -------
    DataFrame
        By day: ``status``, empty for a good day, else why the day is left out; ``is_open_day``, whether the
        day has opening hours; ``peak``, ``peak_low`` and
        ``peak_high`` [people], see ``daily_peak``; ``people``, ``low`` and ``high``, their means over the
        opening hours [people], NaN on days without; ``in_use``, ``in_use_low`` and ``in_use_high``, the
        time within the opening hours at which the count, or the lower or upper end of its interval, is one
        person or more [h]; ``open``, the known time within the opening hours [h]; ``outside``, the time in
        use outside the opening hours [h]; ``known``, the known time of the whole day [h].

        A day is good if counts are known for 80 % of its opening hours, or of the whole day if the room is
        not open.

    Examples
    --------
    >>> times = pd.date_range("2024-01-08", periods=96, freq="15min")  # a Monday
    >>> people = pd.Series(0.0, index=times)
    >>> people["2024-01-08 09:00":"2024-01-08 10:45"] = 6.0
    >>> day = room_days(people.to_frame("people"), OpeningHours()).iloc[0]
    >>> day["status"], day[["peak", "in_use", "people"]].astype(float).tolist()
    ('', [6.0, 2.0, 1.2])
    """
    table = check_counts(counts)
    hours = interval_hours(table)
    known = table["people"].notna().to_numpy()
    times, days = local_times(table), local_days(table)
    is_open = opening.contain(times)
    every_day = pd.date_range(days[0] if first is None else first, days[-1] if last is None else last)
    in_use = is_in_use(table["people"])
    spent = pd.DataFrame(
        {
            "in_use": in_use & is_open,
            "in_use_low": is_in_use(table["low"]) & is_open,
            "in_use_high": is_in_use(table["high"]) & is_open,
            "open": known & is_open,
            "outside": in_use & ~is_open,
            "known": known,
        }
    )
    result = (spent.groupby(days).sum() * hours).reindex(every_day, fill_value=0.0)
    for name in ("low", "high"):
        if table[name].isna().all():
            result[f"in_use_{name}"] = math.nan
    means = table[known & is_open].groupby(days[known & is_open]).mean()
    result = pd.concat(
        [_daily_peaks(table, days, hours).reindex(every_day), means.reindex(every_day), result], axis=1
    )
    missing = _missing_share(pd.DatetimeIndex(counts.index), every_day, opening, hours, result)
    result.insert(0, "is_open_day", opening.open_days(every_day))
    result.insert(0, "status", _status(every_day, missing > 1 - COMPLETE_DAY_SHARE, faults))
    return result.rename_axis("day")


def daily_peak(people: Array, interval: float) -> float:
    """Return the count that was reached for ``PEAK_MINUTES`` in total [people]; NaN if none is known.

    Parameters
    ----------
    people : array
        Counts of a day [people].
    interval : float
        Time between counts [min].

    Examples
    --------
    >>> daily_peak(np.array([0.0, 30.0, 6.0, 5.0, 6.0]), 5.0)
    6.0
    """
    known = np.sort(people[~np.isnan(people)])[::-1]
    rank = max(1, math.ceil(PEAK_MINUTES / interval - 1e-9))
    return float(known[min(rank, known.size) - 1]) if known.size else math.nan


def _daily_peaks(table: pd.DataFrame, days: pd.DatetimeIndex, hours: float) -> pd.DataFrame:
    def peak(people: pd.Series[float]) -> float:
        return daily_peak(np.asarray(people, dtype=np.float64), 60 * hours)

    peaks = table.groupby(days).agg(peak)
    return peaks.rename(columns=dict(zip(COLUMNS, ("peak", "peak_low", "peak_high"), strict=True)))


def _missing_share(
    times: pd.DatetimeIndex,
    every_day: pd.DatetimeIndex,
    opening: OpeningHours,
    hours: float,
    result: pd.DataFrame,
) -> Array:
    """Return the unknown share of the opening hours of each day, or of the whole day if it has none."""
    begin, end = (
        day if times.tz is None else day.tz_localize(times.tz, ambiguous=True, nonexistent="shift_forward")
        for day in (every_day[0], every_day[-1] + pd.Timedelta(days=1))
    )
    expected = pd.date_range(begin, end, freq=pd.Timedelta(hours=hours), inclusive="left").tz_localize(None)
    is_open = pd.Series(opening.contain(expected)).groupby(expected.normalize())
    open_hours, all_hours = (found.reindex(every_day) * hours for found in (is_open.sum(), is_open.size()))
    share = (result["open"] / open_hours).where(open_hours > 0, result["known"] / all_hours)
    return np.asarray(1 - share, dtype=float)


def _status(every_day: pd.DatetimeIndex, is_bad: Mask, faults: pd.DataFrame | None) -> list[str]:
    """Return why each day is left out: its longest fault, or ``TOO_LITTLE`` if none is known."""
    reasons = pd.Series(TOO_LITTLE, index=every_day, dtype=object)
    if faults is not None and not faults.empty:
        found = faults[(faults > 0).any(axis=1)].idxmax(axis=1)
        reasons.update(found[found.index.isin(every_day)].astype(str))
    return [reason if bad else GOOD for reason, bad in zip(reasons, is_bad, strict=True)]
