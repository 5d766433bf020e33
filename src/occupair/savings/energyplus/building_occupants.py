"""The people of the building: those of the simulated office, at seats in the five zones."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from occupair.savings.energyplus.reference_building import INTERVAL, ZONES
from occupair.simulation.occupants import draw_meetings, draw_people
from occupair.simulation.office_day import office_day
from occupair.simulation.outdoor_air import outdoor_co2
from occupair.simulation.presence import DAY
from occupair.simulation.vacations import on_vacation

Array = NDArray[np.float64]


@dataclass(frozen=True)
class BuildingOccupants:
    """People and outdoor CO2 in each time step; the same for all policies.

    Attributes
    ----------
    people : number of people in each zone, shape (n, zones)
    generation : CO2 generation in each zone [L/s], shape (n, zones)
    outdoor_co2 : outdoor CO2 [ppm], shape (n,)
    """

    people: NDArray[np.int64]
    generation: Array
    outdoor_co2: Array


def zone_of_each_seat() -> list[int]:
    """Return the zone of every seat; desks and open seats are spread evenly over the zones.

    Examples
    --------
    >>> zones = zone_of_each_seat()
    >>> zones[:8]
    [0, 1, 3, 2, 4, 0, 1, 3]
    >>> [zones.count(zone) for zone in range(5)]  # the seats of the zones
    [10, 8, 5, 8, 4]
    """
    seats = np.array([zone.seats for zone in ZONES])
    places = np.concatenate([(np.arange(n) + 0.5) / n for n in seats])
    order = np.argsort(places, kind="stable")
    return [int(zone) for zone in np.repeat(np.arange(len(ZONES)), seats)[order]]


def building_occupants(
    days: int, *, first_day: int = 0, seed: int = 0, vacations_from: dt.date | None = None
) -> BuildingOccupants:
    """Return the occupants of ``days`` calendar days from ``first_day`` on, where day 0 is a Monday.

    Presence and activity are those of ``occupair.simulate_office`` with the same seed. The state at the start
    of a time step holds for the whole step. With ``vacations_from``, the date of the first day, people take
    their vacations, see ``occupair.simulation.vacations``.

    Examples
    --------
    >>> occupants = building_occupants(2, seed=0)
    >>> occupants.people.shape, int(occupants.people.sum(axis=1).max())
    ((576, 5), 26)
    """
    seats = zip(draw_people(seed), zone_of_each_seat(), strict=True)
    people = tuple(replace(person, zone=zone) for person, zone in seats)
    meetings, office_days = draw_meetings(seed), []
    for day in range(days):
        absent = None
        if vacations_from is not None:
            absent = on_vacation(vacations_from + dt.timedelta(days=day), len(people), seed=seed)
        office_days.append(office_day(people, meetings, first_day + day, seed=seed, absent=absent))
    return BuildingOccupants(
        np.concatenate([day.people_in_zone[::INTERVAL] for day in office_days]).astype(int),
        np.concatenate([day.generation[::INTERVAL] for day in office_days]),
        outdoor_co2(first_day + days, seed=seed)[first_day * DAY :: INTERVAL],
    )
