"""The ventilation of the simulated office: design flow by a standard, operating hours, damper."""

from __future__ import annotations

import datetime as dt
import math
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from occupair.control import AirControl, AirDemand
from occupair.simulation.closed_loop import POSITIONS
from occupair.simulation.office import FIRST_DAY
from occupair.simulation.paper_room import AREA, SEATS, VENTILATION_OFF, VENTILATION_ON

Standard = Literal["ASHRAE 62.1", "EN 16798-1"]

LITRES_PER_SECOND = 1 / 3.6  # [L/s] in 1 m3/h


@dataclass(frozen=True)
class OfficeVentilation:
    """Outdoor air of the office by a standard.

    The ventilation is on from 7:30 to 22:00 on weekdays. While it is on, the outdoor air is at least the area
    component of the standard and at most the design flow, with people on all seats.

    Parameters
    ----------
    standard : str
        "ASHRAE 62.1" (office) or "EN 16798-1" (category II, low polluting building).

    Examples
    --------
    35 seats and 186 m2: 35 * 2.5 L/s + 186 * 0.3 L/s

    >>> office = OfficeVentilation("ASHRAE 62.1")
    >>> round(office.design_flow, 1), round(office.lowest_flow, 1)
    (143.3, 55.8)
    """

    standard: Standard = "ASHRAE 62.1"

    @cached_property
    def control(self) -> AirControl:
        """How the outdoor air follows a count, with the default deadband and ramps of ``AirControl``."""
        demand = AirDemand(self.standard, area=AREA)
        return AirControl(demand, design_people=SEATS, maximum=demand.flow(float(SEATS)))

    @cached_property
    def design_flow(self) -> float:
        """Outdoor air for people on all seats [L/s]."""
        return self.control.design_flow

    @cached_property
    def lowest_flow(self) -> float:
        """Outdoor air of the empty room [L/s]."""
        return self.control.demand.flow(0.0)

    @property
    def design_flow_m3h(self) -> float:
        """Outdoor air for people on all seats [m3/h]."""
        return self.design_flow / LITRES_PER_SECOND

    def position(self, flow: float) -> int:
        """Return the lowest damper position that supplies at least a flow [L/s].

        Examples
        --------
        >>> office = OfficeVentilation("ASHRAE 62.1")
        >>> office.position(0.0), office.position(office.design_flow), office.position(72.0)
        (0, 200, 101)
        """
        return min(max(math.ceil(flow / self.design_flow * POSITIONS - 1e-9), 0), POSITIONS)


def is_weekday(day: int) -> bool:
    """Whether a calendar day of the simulation is a weekday; day 0 is a Monday.

    Examples
    --------
    >>> [is_weekday(day) for day in (0, 4, 5, 6, 7)]
    [True, True, False, False, True]
    """
    return day % 7 < 5


def is_operating(day: int, minute: int) -> bool:
    """Whether the ventilation is on in a minute of a calendar day.

    Examples
    --------
    >>> is_operating(0, 450), is_operating(0, 449), is_operating(0, 1320), is_operating(5, 720)
    (True, False, False, False)
    """
    return is_weekday(day) and VENTILATION_ON <= minute < VENTILATION_OFF


def time_of(day: int, minute: int = 0) -> dt.datetime:
    """Return the local time of a minute of a calendar day.

    Examples
    --------
    >>> time_of(1, 90)
    datetime.datetime(2015, 8, 4, 1, 30)
    """
    return dt.datetime.fromisoformat(FIRST_DAY) + dt.timedelta(days=day, minutes=minute)
