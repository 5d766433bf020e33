"""Open hours of a room: the times of day at which it may be occupied, learned from the training days."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from occupair.room.inputs import Clock

Array = NDArray[np.float64]
Indices = NDArray[np.int64]
Minutes = NDArray[np.bool_]
"""A flag for each minute of the day, shape (1440,)."""

MARGIN = 60
"""Time before and after an occupied reading that also counts as open [min]."""

START_UP = 20
"""Time after midnight, or after a gap, during which a day starts up with an empty room [min]."""

MAX_OUTSIDE_SHARE = 0.02
"""Maximum share of all people that may be present outside the open hours learned from the other days."""

HEAD_COUNT_REACH = 30
"""Time before and after a head count for which it describes the room [min]."""

MIN_UNOBSERVED_SHARE = 0.5
"""Share of days without head counts from which on a time of day is not known to be empty."""


@dataclass(frozen=True)
class OpenHours:
    """Minutes of the day at which the room may be occupied, on weekdays and on weekends.

    Parameters
    ----------
    is_open : array of bool of shape (2, 1440)
        Flag for each minute since midnight; the first row is weekdays, the second weekends.
    """

    is_open: NDArray[np.bool_]

    @classmethod
    def always(cls) -> OpenHours:
        """Return open hours around the clock, except for the start-up phase after midnight."""
        return cls(np.tile(np.arange(1440) >= START_UP, (2, 1)))

    @classmethod
    def fit(cls, clocks: Sequence[Clock], people: Sequence[Array]) -> OpenHours:
        """Open the hours within ``MARGIN`` of people on any training day.

        If there are no training days on weekends, the hours of the weekdays are used, and vice versa.

        Examples
        --------
        >>> noon = Clock(np.array([0.0, 720.0]), np.zeros(2))
        >>> hours = OpenHours.fit([noon], [np.array([0.0, 3.0])])
        >>> np.flatnonzero(hours.is_open[0])[[0, -1]].tolist()
        [660, 780]
        """
        return _DayCounts.of(clocks, people).hours()

    def at(self, clock: Clock, before: float = 0.0) -> NDArray[np.bool_]:
        """Whether the room may be occupied ``before`` minutes before each time [min]."""
        return np.asarray(self.is_open[clock.weekend.astype(int), minute_of_day(clock, before)])


def minute_of_day(clock: Clock, before: float | NDArray[np.floating[Any]] = 0.0) -> Indices:
    """Return the minute of the day ``before`` minutes before each time; (R, 1) gives shape (R, N)."""
    return np.asarray(np.floor(clock.minute - before).astype(int) % 1440)


def fit_open_hours(
    clocks: Sequence[Clock],
    people: Sequence[Array],
    weights: Sequence[Array] | None = None,
    unobserved: Sequence[Minutes] | None = None,
) -> tuple[OpenHours, list[OpenHours]]:
    """Learn the open hours of a room, if it has regular ones.

    It has if hardly anybody is present on held-out days outside the hours learned from the other days.
    Otherwise it may be occupied at any time.

    Parameters
    ----------
    clocks, people : sequence of Clock, of array
        Local time and number of people for each day [people]; 0 where not known.
    weights : sequence of array, optional
        Weight of each head count [0..1]; None: all 1.
    unobserved : sequence of array, optional
        Minutes of each day without head counts, see ``unobserved_minutes``; None: there are none.

    Returns
    -------
    hours, held_out_hours
        Open hours learned from all days, and for each day those learned from the other days.
    """
    always = OpenHours.always(), [OpenHours.always() for _ in clocks]
    if len(clocks) < 2:
        return always
    every_day = _DayCounts.of(clocks, people, unobserved)
    held_out_hours = [
        every_day.without(_DayCounts.of([clocks[k]], [people[k]], unobserved and [unobserved[k]])).hours()
        for k in range(len(clocks))
    ]
    present = people if weights is None else [w * day for w, day in zip(weights, people, strict=True)]
    outside = sum(float(present[k][~hours.at(clocks[k])].sum()) for k, hours in enumerate(held_out_hours))
    if outside > MAX_OUTSIDE_SHARE * sum(float(day.sum()) for day in present):
        return always
    return every_day.hours(), held_out_hours


@dataclass(frozen=True)
class _DayCounts:
    """On how many days each minute is near people, or unobserved; weekdays first, then weekends.

    Parameters
    ----------
    days : array of int of shape (2,)
        Number of days.
    occupied : array of int of shape (2, 1440)
        Number of days on which a minute is near people.
    unobserved : array of int of shape (2, 1440)
        Number of days on which a minute has no head counts. If this is at least ``MIN_UNOBSERVED_SHARE`` of
        the days, the minute is open, since the room is not known to be empty then.
    """

    days: Indices
    occupied: Indices
    unobserved: Indices

    @classmethod
    def of(
        cls, clocks: Sequence[Clock], people: Sequence[Array], unobserved: Sequence[Minutes] | None = None
    ) -> _DayCounts:
        counts = cls(np.zeros(2, int), np.zeros((2, 1440), int), np.zeros((2, 1440), int))
        for k, clock in enumerate(clocks):
            kind = int(clock.weekend[0])
            counts.days[kind] += 1
            counts.occupied[kind] += within(clock.minute[people[k] > 0], MARGIN)
            if unobserved is not None:
                counts.unobserved[kind] += unobserved[k]
        return counts

    def without(self, other: _DayCounts) -> _DayCounts:
        return _DayCounts(
            self.days - other.days, self.occupied - other.occupied, self.unobserved - other.unobserved
        )

    def hours(self) -> OpenHours:
        """Open the minutes near people on any day; a kind without days has the hours of the other."""
        rows = []
        for kind in (0, 1):
            which = kind if self.days[kind] else 1 - kind
            share = self.unobserved[which] / self.days[which]
            rows.append((self.occupied[which] > 0) | (share >= MIN_UNOBSERVED_SHARE))
        return OpenHours(np.array(rows) & OpenHours.always().is_open)


def unobserved_minutes(minute: Array, known: NDArray[np.bool_], interval: float) -> Minutes:
    """Return the minutes of a day that have readings but no head count nearby.

    Parameters
    ----------
    minute : array of shape (N,)
        Times of the day's readings, since midnight [min].
    known : array of bool of shape (N,)
        Whether there is a head count.
    interval : float
        Time between readings [min].

    Examples
    --------
    >>> minute = np.arange(0.0, 600.0, 5.0)
    >>> np.flatnonzero(unobserved_minutes(minute, minute != 300, 5.0)).tolist()
    []
    >>> np.flatnonzero(unobserved_minutes(minute, minute <= 300, 5.0))[[0, -1]].tolist()
    [331, 625]
    """
    reach = min(max(HEAD_COUNT_REACH, round(interval)), 719)
    return within(minute, reach) & ~within(minute[known], reach)


def within(minute: Array, reach: int) -> Minutes:
    """Return the minutes of the day within ``reach`` of any of the given minutes."""
    given = np.zeros(1440)
    given[np.floor(minute).astype(int)] = 1.0
    return np.asarray(np.convolve(given, np.ones(2 * reach + 1), mode="same") > 0)
