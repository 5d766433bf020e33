"""Hours in which nobody was ever seen in the room, or near them: nobody is estimated there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from occupair.room.rows import Clock

Array = NDArray[np.float64]

MARGIN = 60
"""How near to an hour with people an hour without may be and still count as open [min]."""

START = 20
"""How long after midnight a day still starts, with an empty room [min]."""

MOST_OUTSIDE = 0.02
"""Share of all presence that may fall outside the hours of the other days."""


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
        weekend = [bool(clock.weekend[0]) for clock in clocks]
        minutes = [_near(clock, count) for clock, count in zip(clocks, people, strict=True)]
        any_day = np.any(minutes, axis=0)
        kinds = [
            np.any([day for day, kind in zip(minutes, weekend, strict=True) if kind == wanted], axis=0)
            if wanted in weekend
            else any_day
            for wanted in (False, True)
        ]
        return cls(np.array(kinds) & cls.always().is_open)

    def at(self, clock: Clock, before: float = 0.0) -> NDArray[np.bool_]:
        """Tell whether the room may be in use so many minutes before each time [min]."""
        minute = np.floor(clock.minute - before).astype(int) % 1440
        return np.asarray(self.is_open[clock.weekend.astype(int), minute])


def learn_hours(clocks: Sequence[Clock], people: Sequence[Array]) -> tuple[OpenHours, list[OpenHours]]:
    """Learn the hours of a room, if it keeps any.

    It does when hours learned from the other days hold on a day left out: hardly anybody is in outside
    of them. Else it may be in use at any time.

    Returns
    -------
    hours, left_out
        Learned from all days, and from all but each.
    """
    days = range(len(clocks))
    left_out = [
        OpenHours.learn([clocks[i] for i in days if i != k], [people[i] for i in days if i != k])
        if len(clocks) > 1
        else OpenHours.always()
        for k in days
    ]
    outside = sum(float(people[k][~hours.at(clocks[k])].sum()) for k, hours in enumerate(left_out))
    if len(clocks) < 2 or outside > MOST_OUTSIDE * sum(float(day.sum()) for day in people):
        return OpenHours.always(), [OpenHours.always() for _ in days]
    return OpenHours.learn(clocks, people), left_out


def _near(clock: Clock, people: Array) -> NDArray[np.bool_]:
    """Minutes of the day that are near one with people."""
    near = np.zeros(1440, dtype=bool)
    for minute in np.unique(np.floor(clock.minute[people > 0]).astype(int)):
        near[max(minute - MARGIN, 0) : minute + MARGIN + 1] = True
    return near
