"""Hours in which nobody was ever seen in the room, or near them: nobody is estimated there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

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
        minutes = [_near(clock, count) for clock, count in zip(clocks, people, strict=True)]
        return cls.near(np.array(minutes), np.array([bool(clock.weekend[0]) for clock in clocks]))

    @classmethod
    def near(cls, minutes: NDArray[np.bool_], weekend: NDArray[np.bool_]) -> OpenHours:
        """Open what was near people on any of these days, each kind of day for itself."""
        kinds = [
            minutes[weekend == wanted].any(axis=0) if wanted in weekend else minutes.any(axis=0)
            for wanted in (False, True)
        ]
        return cls(np.array(kinds) & cls.always().is_open)

    def at(self, clock: Clock, before: float | NDArray[np.floating[Any]] = 0.0) -> NDArray[np.bool_]:
        """Tell whether the room may be in use so many minutes before each time [min].

        Several, as an array of shape (K, 1), give an array of shape (K, N).
        """
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
    always = OpenHours.always(), [OpenHours.always() for _ in clocks]
    if len(clocks) < 2:
        return always
    minutes = np.array([_near(clock, count) for clock, count in zip(clocks, people, strict=True)])
    weekend, days = np.array([bool(clock.weekend[0]) for clock in clocks]), np.arange(len(clocks))
    left_out = [OpenHours.near(minutes[days != k], weekend[days != k]) for k in days]
    outside = sum(float(people[k][~hours.at(clocks[k])].sum()) for k, hours in enumerate(left_out))
    if outside > MOST_OUTSIDE * sum(float(day.sum()) for day in people):
        return always
    return OpenHours.near(minutes, weekend), left_out


def _near(clock: Clock, people: Array) -> NDArray[np.bool_]:
    """Minutes of the day that are near one with people."""
    seen = np.zeros(1440)
    seen[np.floor(clock.minute[people > 0]).astype(int)] = 1.0
    return np.asarray(np.convolve(seen, np.ones(2 * MARGIN + 1), mode="same") > 0)
