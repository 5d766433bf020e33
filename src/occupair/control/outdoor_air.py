"""Recommended outdoor air of a room, step by step: demand, deadband, ramp and damper position.

The live service and the closed-loop studies call the same step, ``next_outdoor_air``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from occupair.control.air_demand import AirDemand
from occupair.control.planned_people import CONFIDENCE, check_confidence
from occupair.errors import InputError

RAMP_DOWN_TIME = 15.0
"""Default time from the maximum to 0 [min].

An emptied room still holds the CO2 of its people, and estimates of a room in use vary from one reading to the
next.
"""

DEADBAND = 0.05
"""Default deadband, relative to the maximum flow."""


@dataclass(frozen=True)
class AirControl:
    """How the recommended outdoor air of a room follows the count.

    Parameters
    ----------
    demand : AirDemand
        Flow that the standard requires.
    design_people : float
        Design occupancy [people], usually the number of seats. Its flow is the design flow, which is supplied
        when the count is unknown.
    confidence : float
        Probability that the planned count is not exceeded; see ``interval_confidence``.
    minimum : float
        Lowest flow [L/s].
    maximum : float, optional
        Highest flow [L/s], at which the damper is fully open; default the design flow, or ``minimum`` if that
        is higher. Below the design flow, a full room gets less than the standard requires.
    ramp_up, ramp_down : float, optional
        Largest change of the flow [L/s per min]. By default, increases apply at once and decreases take
        ``RAMP_DOWN_TIME`` from the maximum to 0.
    deadband : float, optional
        Smallest decrease of the demand that is followed [L/s]; default 5 % of the maximum. Increases are
        always followed, so that the deadband never holds the flow below the demand.
    damper_curve : sequence of (flow, position), optional
        Characteristic of the damper: flows [L/s] and positions [0..1], both increasing. Default: the position
        is proportional to the flow and 1 at the maximum.

    Raises
    ------
    InputError
        If a value is invalid.

    Examples
    --------
    >>> control = AirControl(AirDemand("EN 16798-1", area=50), design_people=20)
    >>> control.design_flow, control.highest
    (175.0, 175.0)
    """

    demand: AirDemand
    design_people: float
    confidence: float = CONFIDENCE
    minimum: float = 0.0
    maximum: float | None = None
    ramp_up: float | None = None
    ramp_down: float | None = None
    deadband: float | None = None
    damper_curve: Sequence[tuple[float, float]] = ()

    def __post_init__(self) -> None:
        check_confidence(self.confidence)
        _check("design_people", self.design_people, "people", above_zero=True)
        _check("minimum", self.minimum, "L/s")
        _check("maximum", self.maximum, "L/s", above_zero=True)
        _check("ramp_up", self.ramp_up, "L/s per min", above_zero=True)
        _check("ramp_down", self.ramp_down, "L/s per min", above_zero=True)
        _check("deadband", self.deadband, "L/s")
        if self.maximum is not None and self.maximum < self.minimum:
            raise InputError(f"maximum {self.maximum:g} L/s is below minimum {self.minimum:g} L/s")
        check_damper_curve(self.damper_curve)

    @property
    def highest(self) -> float:
        """Highest flow [L/s]."""
        if self.maximum is not None:
            return self.maximum
        return max(self.demand.flow(self.design_people), self.minimum)

    @property
    def design_flow(self) -> float:
        """Flow for the design occupancy, within minimum and maximum [L/s]."""
        return self.within_limits(self.demand.flow(self.design_people))

    def within_limits(self, flow: float) -> float:
        """Return a flow limited to minimum and maximum [L/s]."""
        return min(max(flow, self.minimum), self.highest)

    def damper_position(self, flow: float) -> float:
        """Return the damper position for a flow [0..1].

        Examples
        --------
        >>> demand = AirDemand("EN 16798-1", area=50)
        >>> AirControl(demand, 20).damper_position(70.0)
        0.4
        >>> AirControl(demand, 20, damper_curve=[(0, 0), (100, 0.5), (200, 1)]).damper_position(150.0)
        0.75
        """
        if self.damper_curve:
            flows, positions = zip(*self.damper_curve, strict=True)
            return float(np.interp(flow, flows, positions))
        return flow / self.highest


@dataclass(frozen=True)
class OutdoorAir:
    """Recommended outdoor air of a room at one time; also the state from which the next one is calculated.

    Parameters
    ----------
    flow : float
        Recommended flow [L/s].
    damper : float
        Damper position for that flow [0..1].
    people : float or None
        Count that is planned for [people]; None if it is unknown, and the target is the design flow.
    required : float
        Flow that the standard requires for that count [L/s], without minimum and maximum.
    target : float
        Flow to which the ramp leads [L/s]: the demand within minimum and maximum, after the deadband.
    """

    flow: float
    damper: float
    people: float | None
    required: float
    target: float


def next_outdoor_air(
    previous: OutdoorAir | None, people: float | None, minutes: float, control: AirControl
) -> OutdoorAir:
    """Return the recommended outdoor air after a new count.

    The demand is limited to minimum and maximum. A decrease within the deadband is not followed. The flow
    then approaches the target within the ramps. An unknown count has the demand of the design occupancy, and
    is ramped like any other: the ramp protects fans and dampers, whatever the reason for the change.

    Parameters
    ----------
    previous : OutdoorAir or None
        The recommendation before; None at the start, when the flow is that of the demand at once.
    people : float or None
        Count to plan for, from ``people_to_plan_for`` [people]; None if unknown.
    minutes : float
        Time since ``previous`` [min]. Negative values count as 0.
    control : AirControl
        Settings of the room.

    Examples
    --------
    >>> control = AirControl(AirDemand("EN 16798-1", area=50), design_people=20, ramp_down=10, deadband=10)
    >>> air = next_outdoor_air(None, 20, 0, control)
    >>> for people in (19, 10, 12, None):
    ...     air = next_outdoor_air(air, people, 5, control)
    ...     print(air.required, air.target, air.flow, air.damper)
    168.0 175.0 175.0 1.0
    105.0 105.0 125.0 0.7142857142857143
    119.0 119.0 119.0 0.68
    175.0 175.0 175.0 1.0
    """
    required = control.demand.flow(control.design_people if people is None else people)
    demand, highest = control.within_limits(required), control.highest
    if previous is None:
        return OutdoorAir(demand, control.damper_position(demand), people, required, demand)
    deadband = DEADBAND * highest if control.deadband is None else control.deadband
    target = control.within_limits(previous.target)
    if demand > target or target - demand >= deadband:
        target = demand
    up = math.inf if control.ramp_up is None else control.ramp_up
    down = highest / RAMP_DOWN_TIME if control.ramp_down is None else control.ramp_down
    flow = _ramped(control.within_limits(previous.flow), target, up, down, max(minutes, 0.0))
    return OutdoorAir(flow, control.damper_position(flow), people, required, target)


def _ramped(flow: float, target: float, up: float, down: float, minutes: float) -> float:
    """Return the flow after some minutes on the way to the target [L/s]; an infinite ramp takes no time."""
    if target >= flow:
        return target if math.isinf(up) else min(target, flow + up * minutes)
    return target if math.isinf(down) else max(target, flow - down * minutes)


def _check(name: str, value: float | None, unit: str, *, above_zero: bool = False) -> None:
    if value is None:
        return
    if not (value > 0 if above_zero else value >= 0) or math.isinf(value):
        rule = f"above 0 {unit}" if above_zero else f"0 {unit} or more"
        raise InputError(f"{name} must be {rule}, got {value!r}")


def check_damper_curve(curve: Sequence[tuple[float, float]]) -> None:
    """Raise InputError unless a characteristic is empty or has increasing flows and positions."""
    if not curve:
        return
    rising = all(a[0] < b[0] and a[1] < b[1] for a, b in pairwise(curve))
    if len(curve) < 2 or not rising or not all(0 <= f < math.inf and 0 <= p <= 1 for f, p in curve):
        raise InputError(
            "damper_curve must have two or more pairs of flow [L/s] and position [0..1], both increasing, "
            f"got {list(curve)!r}"
        )
