"""Meetings compared with counts: meetings without people, and people without a meeting."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd

from occupair.checks.lowest_co2 import COMPLETE_DAY_SHARE
from occupair.checks.prepared_readings import runs
from occupair.readings.gaps import is_gap
from occupair.utilisation.calendar_events import CalendarEvent
from occupair.utilisation.counts import HOUR, Mask, check_counts, interval_hours, is_in_use
from occupair.utilisation.days import daily_peak

MIN_USE = 10.0
"""Time in use that makes a meeting take place [min], or half of a shorter meeting; less may be the people
before, who leave."""
MARGIN = 15.0
"""Use this long before and after a meeting belongs to it, and so does the uncertainty of the estimates in
time [min]."""
FREED = 15.0
"""A room that is empty for this long before the end of a meeting was freed early [min]."""

Outcome = Literal["used", "empty", "unknown"]


class Meeting(NamedTuple):
    """A meeting and what the counts say about it.

    Attributes
    ----------
    start, end : times in the time zone of the room
    title : subject; may be empty
    outcome : "used", "empty" if nobody came, or "unknown" if counts are missing for over 20 % of it
    clear : of an empty meeting: whether even the upper ends of the intervals are below one person
    people : its peak, reached for 15 min in total [people]
    late : time from the start to the first use [min]
    freed : time from the last use to the end [min]
    """

    start: pd.Timestamp
    end: pd.Timestamp
    title: str
    outcome: Outcome
    clear: bool
    people: float
    late: float
    freed: float

    @property
    def hours(self) -> float:
        """Length [h]."""
        return float((self.end - self.start) / pd.Timedelta(hours=1))


def judge_meetings(counts: pd.DataFrame, events: Sequence[CalendarEvent]) -> list[Meeting]:
    """Return what the counts say about meetings.

    Parameters
    ----------
    counts : DataFrame
        Counts, see ``check_counts``; NaN where the sensor was faulty.
    events : sequence of CalendarEvent
        Meetings of the room.

    Examples
    --------
    >>> times = pd.date_range("2024-01-08 08:00", periods=12, freq="10min")
    >>> counts = pd.DataFrame({"people": [0.0] * 8 + [5.0] * 4}, index=times)
    >>> events = [CalendarEvent(times[k], times[k] + pd.Timedelta("40min"), "", ()) for k in (0, 6)]
    >>> [(one.outcome, one.late) for one in judge_meetings(counts, events)]
    [('empty', nan), ('used', 20.0)]
    """
    table = check_counts(counts)
    interval = HOUR * interval_hours(table)
    times = pd.DatetimeIndex(table.index)
    return [_judged(event, table[_slice(times, event.start, event.end)], interval) for event in events]


def _judged(event: CalendarEvent, counts: pd.DataFrame, interval: float) -> Meeting:
    length = (event.end - event.start) / pd.Timedelta(minutes=1)
    people = counts["people"].to_numpy(dtype=float)
    if np.count_nonzero(~np.isnan(people)) * interval < COMPLETE_DAY_SHARE * length - interval:
        return Meeting(event.start, event.end, event.title, "unknown", False, math.nan, math.nan, math.nan)
    in_use = is_in_use(people)
    peak = daily_peak(people, interval)
    if in_use.sum() * interval < min(MIN_USE, length / 2):
        high = counts["high"].to_numpy(dtype=float)
        clear = not np.isnan(high).all() and not is_in_use(high).any()
        return Meeting(event.start, event.end, event.title, "empty", clear, peak, math.nan, math.nan)
    used = pd.DatetimeIndex(counts.index)[in_use]
    late = (used[0] - event.start) / pd.Timedelta(minutes=1)
    freed = (event.end - used[-1]) / pd.Timedelta(minutes=1) - interval
    return Meeting(event.start, event.end, event.title, "used", False, peak, max(0.0, late), max(0.0, freed))


class UnbookedUse(NamedTuple):
    """A time at which people were in the room without a meeting."""

    start: pd.Timestamp
    end: pd.Timestamp
    people: float  # peak

    @property
    def hours(self) -> float:
        """Length [h]."""
        return float((self.end - self.start) / pd.Timedelta(hours=1))


def unbooked_use(counts: pd.DataFrame, events: Sequence[CalendarEvent]) -> list[UnbookedUse]:
    """Return the times at which a room was in use for 15 min or more without a meeting within 15 min.

    Parameters
    ----------
    counts : DataFrame
        Counts, see ``check_counts``.
    events : sequence of CalendarEvent
        Meetings of the room.

    Examples
    --------
    >>> times = pd.date_range("2024-01-08 08:00", periods=12, freq="10min")
    >>> counts = pd.DataFrame({"people": [0.0] * 8 + [5.0] * 4}, index=times)
    >>> [(f"{one.start:%H:%M}", f"{one.end:%H:%M}", one.people) for one in unbooked_use(counts, [])]
    [('09:20', '10:00', 5.0)]
    """
    table = check_counts(counts)
    hours = interval_hours(table)
    times, people = pd.DatetimeIndex(table.index), table["people"].to_numpy(dtype=float)
    free: Mask = np.ones(len(times), dtype=bool)
    margin, step = pd.Timedelta(minutes=MARGIN), pd.Timedelta(hours=hours)
    for event in events:
        free[_slice(times, event.start - margin, event.end + margin)] = False
    found = []
    in_use = free & is_in_use(people)
    gaps = np.flatnonzero(is_gap(np.diff(times) / step, 1.0)) + 1
    for begin, end in pairwise([0, *gaps.tolist(), len(times)]):
        for first, last in runs(in_use[begin:end]):
            start, stop = times[begin + first], times[begin + last] + step
            if stop - start >= margin:
                peak = daily_peak(people[begin + first : begin + last + 1], HOUR * hours)
                found.append(UnbookedUse(start, stop, peak))
    return found


def _slice(times: pd.DatetimeIndex, start: pd.Timestamp, end: pd.Timestamp) -> slice:
    return slice(int(times.searchsorted(start)), int(times.searchsorted(end)))
