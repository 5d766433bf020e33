"""Hours in which nobody was ever seen in the room, or near them: nobody is estimated there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from occupair.room.inputs import Clock

Array = NDArray[np.float64]

MARGIN = 60
"""How near to an hour with people an hour without may be and still count as open [min]."""

START = 20
"""How long after midnight a day still starts, with an empty room [min]."""

MOST_OUTSIDE = 0.02
"""Share of all presence that may fall outside the hours of the other days."""

REACH = 30
"""How long before and after it a head count tells of a room [min]."""

MOST_UNASKED = 0.5
"""Share of days on which nobody counted at a time of day, from which on it is not known to be empty."""

Minutes = NDArray[np.bool_]


@dataclass(frozen=True)
class OpenHours:
    """Minutes of the day, on weekdays and on weekends, in which the room may be in use.

    Parameters
    ----------
    is_open : array of bool of shape (2, 1440)
        For each minute since midnight, on weekdays and on weekends.
    """

    is_open: NDArray[np.bool_]

    @classmethod
    def always(cls) -> OpenHours:
        """Give a room that may be in use at any time, once its day has started."""
        return cls(np.tile(np.arange(1440) >= START, (2, 1)))

    @classmethod
    def learn(cls, clocks: Sequence[Clock], people: Sequence[Array]) -> OpenHours:
        """Open the hours near which somebody was in on a training day.

        Weekends without a training day of their own take the hours of the other days, and the other way
        round.

        Examples
        --------
        >>> noon = Clock(np.array([0.0, 720.0]), np.zeros(2))
        >>> hours = OpenHours.learn([noon], [np.array([0.0, 3.0])])
        >>> np.flatnonzero(hours.is_open[0])[[0, -1]].tolist()
        [660, 780]
        """
        minutes = [_near(clock, count) for clock, count in zip(clocks, people, strict=True)]
        return cls.near(np.array(minutes), np.array([bool(clock.weekend[0]) for clock in clocks]))

    @classmethod
    def near(cls, minutes: Minutes, weekend: Minutes, unasked: Minutes | None = None) -> OpenHours:
        """Open what was near people on any of these days, each kind of day for itself.

        What nobody asked about on half of them is open too: it is not known that nobody was in.
        """
        kinds = []
        for wanted in (False, True):
            days = weekend == wanted if wanted in weekend else np.ones_like(weekend)
            kinds.append(minutes[days].any(axis=0))
            if unasked is not None:
                kinds[-1] |= unasked[days].mean(axis=0) >= MOST_UNASKED
        return cls(np.array(kinds) & cls.always().is_open)

    def at(self, clock: Clock, before: float | NDArray[np.floating[Any]] = 0.0) -> NDArray[np.bool_]:
        """Tell whether the room may be in use so many minutes before each time [min].

        Several, as an array of shape (K, 1), give an array of shape (K, N).
        """
        minute = np.floor(clock.minute - before).astype(int) % 1440
        return np.asarray(self.is_open[clock.weekend.astype(int), minute])


def fit_open_hours(
    clocks: Sequence[Clock],
    people: Sequence[Array],
    weights: Sequence[Array] | None = None,
    unasked: Sequence[Minutes] | None = None,
) -> tuple[OpenHours, list[OpenHours]]:
    """Learn the hours of a room, if it keeps any.

    It does when hours learned from the other days hold on a day left out: hardly anybody is in outside
    of them. Else it may be in use at any time.

    Parameters
    ----------
    clocks, people : sequence of Clock, of array
        Local time of the rows of each day, and how many were in [people]; 0 where that is not known.
    weights : sequence of array, optional
        How far each count is to be trusted [0..1]; None: all fully.
    unasked : sequence of array, optional
        Minutes of each day about which no count tells, see ``unobserved_minutes``; None: there are none.

    Returns
    -------
    hours, left_out
        Learned from all days, and from all but each.
    """
    always = OpenHours.always(), [OpenHours.always() for _ in clocks]
    if len(clocks) < 2:
        return always
    minutes = np.array([_near(clock, count) for clock, count in zip(clocks, people, strict=True)])
    weekend, days = np.array([bool(clock.weekend[0]) for clock in clocks]), np.arange(len(clocks))
    blind = None if unasked is None else np.array(unasked)

    def learned(which: NDArray[Any]) -> OpenHours:
        return OpenHours.near(minutes[which], weekend[which], None if blind is None else blind[which])

    left_out = [learned(days != k) for k in days]
    inside = people if weights is None else [w * day for w, day in zip(weights, people, strict=True)]
    outside = sum(float(inside[k][~hours.at(clocks[k])].sum()) for k, hours in enumerate(left_out))
    if outside > MOST_OUTSIDE * sum(float(day.sum()) for day in inside):
        return always
    return learned(days >= 0), left_out


def unobserved_minutes(minute: Array, known: NDArray[np.bool_], interval: float) -> Minutes:
    """Tell at which minutes of a day the room was read but no count tells who was in.

    Parameters
    ----------
    minute : array of shape (N,)
        When the readings of the day came, since midnight [min].
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
    reach = min(max(REACH, round(interval)), 719)
    return _within(minute, reach) & ~_within(minute[known], reach)


def _near(clock: Clock, people: Array) -> Minutes:
    """Minutes of the day that are near one with people."""
    return _within(clock.minute[people > 0], MARGIN)


def _within(minute: Array, reach: int) -> Minutes:
    """Minutes of the day that are no further than ``reach`` from one of these."""
    seen = np.zeros(1440)
    seen[np.floor(minute).astype(int)] = 1.0
    return np.asarray(np.convolve(seen, np.ones(2 * reach + 1), mode="same") > 0)
