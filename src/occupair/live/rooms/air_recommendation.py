"""Recommended outdoor air of a room, which follows its state.

The recommendation takes a step whenever the room has a new estimate, and every minute while the count is
unknown. The step itself is ``occupair.control.next_outdoor_air``.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterable
from dataclasses import replace

from occupair.control import (
    AirControl,
    OutdoorAir,
    interval_confidence,
    next_outdoor_air,
    people_to_plan_for,
)
from occupair.live.messages import EstimateRecord, RoomState

UNKNOWN_STEP = 1.0
"""Time between two steps while the count is unknown [min]."""


class AirRecommendation:
    """The recommended outdoor air of one room.

    Parameters
    ----------
    control : AirControl
        Settings of the room.

    Attributes
    ----------
    newest : OutdoorAir, optional
        The newest recommendation; None before the first.
    """

    def __init__(self, control: AirControl) -> None:
        self._control, self._changed = control, False
        self.newest: OutdoorAir | None = None
        self._time: dt.datetime | None = None  # of the newest recommendation

    @property
    def confidence(self) -> float:
        """Two-sided confidence of the prediction interval whose upper end is planned for."""
        return interval_confidence(self._control.confidence)

    def use_control(self, control: AirControl) -> None:
        """Apply other settings from the next state on; the flow continues from the present one."""
        self._changed |= control != self._control
        self._control = control

    def follow(self, state: RoomState, high: float | None, now: dt.datetime) -> RoomState:
        """Take a step if there is news, and return the state with the recommendation.

        Parameters
        ----------
        state : RoomState
            State of the room.
        high : float, optional
            Upper end of the prediction interval at ``confidence`` [people].
        now : datetime
            Current time, in UTC.
        """
        people = self._planned(state.people_exact, high)
        time = now if people is None or state.time is None else state.time
        if self._has_news(people, time):
            self._step(people, time)
        assert self.newest is not None
        return replace(
            state,
            outdoor_air=self.newest.flow,
            damper=self.newest.damper,
            outdoor_air_people=self.newest.people,
        )

    def restore(self, estimates: Iterable[EstimateRecord], stale_after: float) -> None:
        """Start anew from stored estimates, oldest first, after a restart.

        Parameters
        ----------
        estimates : iterable of EstimateRecord
            The newest estimates. They have the published interval: if ``confidence`` differs from that, the
            first step afterwards corrects the difference.
        stale_after : float
            Time without estimates after which the count was unknown [min].
        """
        self.newest, self._time = None, None
        before: dt.datetime | None = None
        for one in estimates:
            if before is not None and _minutes(before, one.time) > stale_after:
                self._step(None, one.time)
            self._step(self._planned(one.people, one.high), one.time)
            before = one.time

    def _planned(self, people: float | None, high: float | None) -> float | None:
        if people is None or high is None or not math.isfinite(high):
            return None
        return people_to_plan_for(people, high, design_people=self._control.design_people)

    def _has_news(self, people: float | None, time: dt.datetime) -> bool:
        if self.newest is None or self._time is None or self._changed or people != self.newest.people:
            return True
        elapsed = abs(_minutes(self._time, time))  # the clock goes back when a replay begins
        return elapsed >= UNKNOWN_STEP if people is None else elapsed > 0

    def _step(self, people: float | None, time: dt.datetime) -> None:
        elapsed = 0.0 if self._time is None else _minutes(self._time, time)
        self.newest = next_outdoor_air(self.newest, people, elapsed, self._control)
        self._time, self._changed = time, False  # may go back: estimates lag behind the clock


def _minutes(earlier: dt.datetime, later: dt.datetime) -> float:
    return (later - earlier).total_seconds() / 60
