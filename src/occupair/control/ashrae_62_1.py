"""Outdoor air by the ventilation rate procedure of ANSI/ASHRAE Standard 62.1, section 6.2."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from occupair.errors import InputError
from occupair.ventilation_rates import ASHRAE_SPACES, SpaceRates
from occupair.wording import quoted_list

People = TypeVar("People", float, NDArray[np.float64])


def space_rates(space: str) -> SpaceRates:
    """Return the rates of an occupancy category, see ``ASHRAE_SPACES``."""
    if space not in ASHRAE_SPACES:
        raise InputError(f"space must be one of {', '.join(ASHRAE_SPACES)}, got {quoted_list([space])}")
    return ASHRAE_SPACES[space]


def breathing_zone_outdoor_air(people: People, area: float, rates: SpaceRates) -> People:
    """Return the breathing zone outdoor airflow Vbz = Rp Pz + Ra Az [L/s].

    Eq. (6-1). Without people, the area component Ra Az remains: with dynamic reset (6.2.6.1), the flow may
    fall to it, but not below it.

    Parameters
    ----------
    people : float or array
        Zone population Pz [people].
    area : float
        Net occupiable floor area Az [m2].
    rates : SpaceRates
        Rp and Ra; see ``space_rates``.

    Examples
    --------
    A lecture hall of 100 m2 at the default density needs 4.0 L/s per person (Table 6-1 of 62.1-2016):

    >>> breathing_zone_outdoor_air(150, 100, space_rates("lecture hall")) / 150
    4.0
    """
    return rates.per_person * people + rates.per_area * area


def zone_outdoor_air(
    people: People, area: float, space: str, *, effectiveness: float = 1.0, standby: bool = False
) -> People:
    """Return the zone outdoor airflow Voz = Vbz / Ez [L/s].

    Eq. (6-2).

    Parameters
    ----------
    people : float or array
        Zone population Pz [people].
    area : float
        Net occupiable floor area Az [m2].
    space : str
        Occupancy category, a key of ``ASHRAE_SPACES``.
    effectiveness : float
        Zone air distribution effectiveness Ez; ``AIR_DISTRIBUTIONS`` has the values of the standard.
    standby : bool
        Whether no air is supplied without people: occupied-standby mode (6.2.6.1.4). The standard allows it
        in some categories, and only if a sensor detects that nobody is in the room and the flow is restored
        within 5 min of somebody entering. A count from CO2 alone is too slow for that.

    Examples
    --------
    >>> zone_outdoor_air(10, 30, "conference"), zone_outdoor_air(0, 30, "conference", effectiveness=0.8)
    (34.0, 11.25)
    """
    rates = space_rates(space)
    flow = breathing_zone_outdoor_air(people, area, rates) / effectiveness
    if not standby:
        return flow
    if not rates.standby:
        raise InputError(f"ASHRAE 62.1 does not allow occupied-standby mode in space {space!r}")
    return flow * (people > 0)


def default_people(area: float, space: str) -> float:
    """Return the zone population at the default occupant density of Table 6-1 [people].

    Examples
    --------
    >>> default_people(60, "classroom")
    21.0
    """
    return space_rates(space).density * area / 100
