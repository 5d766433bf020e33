"""Ventilation policies: the outdoor air of a room while its ventilation is on.

A policy is asked for the outdoor air flow at regular times during the operating hours, with what a controller
knows at that time. The same policies run in the simulated office and in an EnergyPlus building. Outside of
the operating hours the outdoor air is off, whatever the policy.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from occupair.control import AirControl, OutdoorAir, next_outdoor_air, people_to_plan_for
from occupair.errors import InputError


@dataclass(frozen=True)
class Situation:
    """What is known when the outdoor air flow is decided.

    Parameters
    ----------
    time : datetime
        Local time.
    minutes : float
        Time since the previous decision [min]; 0 at the first one of a day.
    co2 : float
        Reading of the CO2 sensor [ppm].
    people : float or None
        Estimated count [people]; None without an estimator, or while there is no estimate.
    high : float or None
        Upper end of its prediction interval [people]; None if the estimator has no intervals.
    true_people : float
        True count [people]. Only the reference policy uses it.
    """

    time: dt.datetime
    minutes: float
    co2: float
    people: float | None = None
    high: float | None = None
    true_people: float = 0.0


class Policy(Protocol):
    """A rule for the outdoor air flow. It may have a state, which lasts until the ventilation stops."""

    def start(self) -> None:
        """Forget the state, because the ventilation starts."""

    def outdoor_air(self, situation: Situation) -> float:
        """Return the outdoor air flow until the next decision [L/s]."""


@dataclass(frozen=True)
class FixedFlow:
    """The design flow, always.

    Parameters
    ----------
    flow : float
        Outdoor air flow [L/s].

    Examples
    --------
    >>> FixedFlow(143.3).outdoor_air(Situation(dt.datetime(2024, 1, 8, 9), 5.0, co2=700.0))
    143.3
    """

    flow: float

    def start(self) -> None:
        """Do nothing: no state."""

    def outdoor_air(self, situation: Situation) -> float:
        """Return the flow [L/s]."""
        return self.flow


@dataclass(frozen=True)
class ScheduledFlow:
    """A flow for each part of the day, the same on all weekdays.

    Parameters
    ----------
    flows : sequence of float
        Outdoor air flow in each of equal parts of the day, from midnight on [L/s]; 24 are one per hour.

    Examples
    --------
    >>> policy = ScheduledFlow([60.0] * 12 + [90.0] * 12)
    >>> policy.outdoor_air(Situation(dt.datetime(2024, 1, 8, 12, 30), 5.0, co2=700.0))
    90.0
    """

    flows: Sequence[float]

    def start(self) -> None:
        """Do nothing: no state."""

    def outdoor_air(self, situation: Situation) -> float:
        """Return the flow at this time of day [L/s]."""
        minute = situation.time.hour * 60 + situation.time.minute
        return self.flows[minute * len(self.flows) // 1440]


@dataclass(frozen=True)
class ProportionalCo2:
    """Proportional control of CO2: the flow rises linearly between two concentrations.

    This is the control of the ASHRAE 62.1 user's manual for a single zone, with ``begin`` at outdoor CO2 and
    ``end`` at the steady state of the design occupancy; see ``occupair.savings.co2_control``.

    Parameters
    ----------
    lowest, highest : float
        Outdoor air flow below ``begin`` and above ``end`` [L/s].
    begin, end : float
        Limits of the proportional band [ppm].

    Examples
    --------
    >>> policy = ProportionalCo2(lowest=50.0, highest=150.0, begin=600.0, end=1000.0)
    >>> policy.outdoor_air(Situation(dt.datetime(2024, 1, 8, 9), 5.0, co2=700.0))
    75.0
    """

    lowest: float
    highest: float
    begin: float
    end: float

    def __post_init__(self) -> None:
        if not self.begin < self.end:
            raise InputError(f"begin must be below end, got {self.begin:g} and {self.end:g} ppm")

    def start(self) -> None:
        """Do nothing: no state."""

    def outdoor_air(self, situation: Situation) -> float:
        """Return the flow at this concentration [L/s]."""
        share = min(max((situation.co2 - self.begin) / (self.end - self.begin), 0.0), 1.0)
        return self.lowest + share * (self.highest - self.lowest)


@dataclass
class PICo2:
    """Proportional-integral control of CO2 to a setpoint, with anti-windup.

    The flow is ``lowest + gain * error + integral``, within its limits. The integral grows by
    ``gain * error * minutes / reset_time``, stays within the range of the flow, and stops while the flow is
    at the limit that it would push against.

    Parameters
    ----------
    lowest, highest : float
        Limits of the outdoor air flow [L/s].
    setpoint : float
        CO2 setpoint [ppm].
    gain : float
        Proportional gain [L/s per ppm].
    reset_time : float
        Integral time [min].

    Examples
    --------
    >>> policy = PICo2(lowest=50.0, highest=150.0, setpoint=900.0, gain=0.5, reset_time=30.0)
    >>> nine = dt.datetime(2024, 1, 8, 9)
    >>> [policy.outdoor_air(Situation(nine, 6.0, co2)) for co2 in (600.0, 900.0, 920.0, 920.0, 900.0)]
    [50.0, 50.0, 62.0, 64.0, 54.0]
    """

    lowest: float
    highest: float
    setpoint: float
    gain: float
    reset_time: float
    _integral: float = field(default=0.0, init=False, repr=False)

    def start(self) -> None:
        """Clear the integral."""
        self._integral = 0.0

    def outdoor_air(self, situation: Situation) -> float:
        """Return the flow after this reading [L/s]."""
        error = situation.co2 - self.setpoint
        proportional = self.lowest + self.gain * error
        step = self.gain * error * situation.minutes / self.reset_time
        stuck_low = step < 0 and proportional + self._integral <= self.lowest
        stuck_high = step > 0 and proportional + self._integral >= self.highest
        if not (stuck_low or stuck_high):
            self._integral = min(max(self._integral + step, 0.0), self.highest - self.lowest)
        return min(max(proportional + self._integral, self.lowest), self.highest)


@dataclass
class CountedFlow:
    """The flow that a standard requires for a count, with deadband and ramp.

    Parameters
    ----------
    control : AirControl
        Standard, design occupancy, deadband and ramps of the room.
    count : {"true", "estimate", "upper"}
        Count to plan for: the true count, the estimate, or the upper end of its prediction interval. Without
        it, the flow is the design flow.

    Examples
    --------
    >>> from occupair.control import AirDemand
    >>> policy = CountedFlow(AirControl(AirDemand("ASHRAE 62.1", area=50), design_people=20), "upper")
    >>> nine = dt.datetime(2024, 1, 8, 9)
    >>> policy.outdoor_air(Situation(nine, 0.0, co2=700.0, people=8.0, high=10.0))
    40.0
    >>> policy.outdoor_air(Situation(nine, 5.0, co2=700.0))
    65.0
    """

    control: AirControl
    count: Literal["true", "estimate", "upper"]
    _previous: OutdoorAir | None = field(default=None, init=False, repr=False)

    def start(self) -> None:
        """Forget the previous flow."""
        self._previous = None

    def outdoor_air(self, situation: Situation) -> float:
        """Return the flow for the count [L/s]."""
        people = self._people(situation)
        self._previous = next_outdoor_air(self._previous, people, situation.minutes, self.control)
        return self._previous.flow

    def _people(self, situation: Situation) -> float | None:
        if self.count == "true":
            return situation.true_people
        if self.count == "estimate" or situation.people is None or situation.high is None:
            return situation.people if self.count == "estimate" else None
        return people_to_plan_for(situation.people, situation.high, design_people=self.control.design_people)
