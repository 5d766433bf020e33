"""The ventilation of a zone of the building: standard, floor area and seats."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from occupair.control import AirControl, AirDemand
from occupair.savings.building import OfficeVentilation, Standard
from occupair.savings.energyplus.reference_building import ZONES


@dataclass(frozen=True)
class ZoneVentilation(OfficeVentilation):
    """Outdoor air of a zone, with the rules of the simulated office.

    Parameters
    ----------
    standard : str
        "ASHRAE 62.1" (office) or "EN 16798-1" (category II, low polluting building).
    area : float
        Floor area [m2].
    seats : int
        Number of seats, the design occupancy.

    Examples
    --------
    >>> zone = ZoneVentilation("ASHRAE 62.1", area=150.0, seats=10)
    >>> zone.design_flow, zone.lowest_flow
    (70.0, 45.0)
    """

    area: float = 1.0
    seats: int = 1

    @cached_property
    def control(self) -> AirControl:
        """How the outdoor air follows a count, with the defaults of ``AirControl``."""
        return AirControl(AirDemand(self.standard, area=self.area), design_people=self.seats)


def zone_ventilation(standard: Standard) -> list[ZoneVentilation]:
    """Return the ventilation of every zone.

    Examples
    --------
    >>> [round(zone.design_flow, 1) for zone in zone_ventilation("ASHRAE 62.1")]
    [69.9, 54.0, 32.7, 54.0, 30.2]
    """
    return [ZoneVentilation(standard, area=zone.area, seats=zone.seats) for zone in ZONES]
