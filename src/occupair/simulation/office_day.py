"""One day of the office as far as ventilation does not change it: people, CO2 generation, sensor noise."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from occupair.simulation.co2_generation import co2_generation
from occupair.simulation.occupants import Meeting, Person
from occupair.simulation.paper_room import PASSING, ZONES
from occupair.simulation.presence import DAY, day_activity, day_presence
from occupair.simulation.random_streams import generator
from occupair.simulation.sensor import passing_rises

Array = NDArray[np.float64]


@dataclass(frozen=True)
class OfficeDay:
    """People of one day and what they do to air and sensor, one row per minute.

    Attributes
    ----------
    presence : presence of each person, shape (1440, people)
    people_in_zone : people in each zone, shape (1440, zones)
    generation : CO2 generation in each zone [L/s], shape (1440, zones)
    rises : CO2 at the sensor from people passing by [ppm]
    noise : standard normal noise of the sensor [-]
    """

    presence: NDArray[np.bool_]
    people_in_zone: Array
    generation: Array
    rises: Array
    noise: Array


def office_day(
    people: tuple[Person, ...],
    meetings: tuple[Meeting, ...],
    day: int,
    *,
    seed: int,
    absent: NDArray[np.bool_] | None = None,
) -> OfficeDay:
    """Simulate the people of calendar ``day`` (0 is a Monday), some of whom may be ``absent`` all day.

    Examples
    --------
    >>> from occupair.simulation.occupants import draw_meetings, draw_people
    >>> saturday = office_day(draw_people(0), draw_meetings(0), 5, seed=0)
    >>> saturday.people_in_zone.shape, float(saturday.generation.max())
    ((1440, 5), 0.0)
    """
    presence = day_presence(people, meetings, day, seed=seed)
    if absent is not None:
        presence &= ~absent
    breath = co2_generation([person.bmr for person in people], day_activity(presence, day, seed=seed))
    in_zone = np.eye(ZONES)[[person.zone for person in people]]
    rises, noise = sensor_disturbances(presence, day, seed=seed)
    return OfficeDay(presence, presence @ in_zone, breath @ in_zone, rises, noise)


def sensor_disturbances(presence: NDArray[np.bool_], day: int, *, seed: int) -> tuple[Array, Array]:
    """Return CO2 at the sensor from people passing by [ppm], and the standard normal noise of the sensor [-].

    ``presence`` is that of each person on calendar ``day``, shape (1440, people).
    """
    crossings = np.abs(np.diff(presence.astype(float), axis=0, prepend=0.0)).sum(axis=1)
    rises = passing_rises(
        PASSING,
        occupancy=presence.sum(axis=1).astype(float),
        crossings=crossings,
        rng=generator(seed, "passing", day),
    )
    return rises, generator(seed, "noise", day).standard_normal(DAY)
