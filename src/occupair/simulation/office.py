"""Simulation of the paper's office: occupants, room air and sensor."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from occupair.errors import InputError
from occupair.simulation.multizone_air import AirHistory, simulate_air
from occupair.simulation.occupants import Person, draw_meetings, draw_people
from occupair.simulation.office_day import office_day
from occupair.simulation.outdoor_air import outdoor_co2
from occupair.simulation.paper_room import (
    SEATS,
    SENSOR,
    SENSOR_ZONE,
    VENTILATION_OFF,
    VENTILATION_ON,
    ZONES,
    paper_room,
)
from occupair.simulation.presence import DAY
from occupair.simulation.sensor import read_out

FIRST_DAY = "2015-08-03"  # a Monday in the year before the paper

Array = NDArray[np.float64]


@dataclass(frozen=True)
class OfficeHistory:
    """Complete state of the simulation including weekends, one row per minute.

    Attributes
    ----------
    time : start of each minute, local time
    people : the occupants
    presence : presence in each minute, shape (n, people)
    generation : CO2 generation in each zone [L/s], shape (n, zones)
    outdoor : outdoor CO2 [ppm]
    ventilation : 1 with ventilation on, else 0
    air : CO2 in each zone [ppm], and CO2 entering and leaving [L]
    co2 : sensor readings [ppm]: room air at the start of the minute, plus spikes from people passing the
        sensor during the minute
    """

    time: pd.DatetimeIndex
    people: tuple[Person, ...]
    presence: NDArray[np.bool_]
    generation: Array
    outdoor: Array
    ventilation: Array
    air: AirHistory
    co2: Array

    def occupancy(self) -> NDArray[np.int64]:
        """Return the number of people in each minute."""
        return np.asarray(self.presence.sum(axis=1), dtype=np.int64)


def simulate_office(days: int = 30, *, seed: int = 0, seats: int = SEATS) -> pd.DataFrame:
    """Simulate readings of the paper's office with a physical model.

    Jiang et al. 2016, Section V: 30 weekdays of a 9.3 m by 20 m office with 24 desks and 11 open seats.
    The same seed gives the same readings, and simulating more days does not change the earlier ones. Nights
    and weekends are simulated too, so the initial CO2 of every day is realistic.

    Parameters
    ----------
    days
        Number of weekdays, 1 or more.
    seed
        Random seed, 0 or more, for occupants and outdoor air.
    seats
        Number of seats in use, 1 to 35, for an office with fewer people.

    Returns
    -------
    pandas.DataFrame
        Readings, one row per minute and 1440 per day: ``co2`` [ppm], ``ventilation`` [0 or 1],
        ``occupancy`` [people], over local ``time``.

    Examples
    --------
    >>> readings = simulate_office(days=1, seed=0)
    >>> list(readings.columns), len(readings)
    (['co2', 'ventilation', 'occupancy'], 1440)
    >>> int(readings.between_time("23:30", "06:59")["occupancy"].max())
    0
    """
    history = simulate_history(days, seed=seed, seats=seats)
    readings = pd.DataFrame(
        {"co2": history.co2, "ventilation": history.ventilation, "occupancy": history.occupancy()},
        index=history.time,
    )
    return readings[history.time.day_of_week < 5]


def simulate_history(days: int = 30, *, seed: int = 0, seats: int = SEATS) -> OfficeHistory:
    """Simulate the complete state behind the readings of `simulate_office`, including weekends.

    Parameters
    ----------
    days
        Number of weekdays, 1 or more.
    seed
        Random seed, 0 or more.
    seats
        Number of seats in use, 1 to 35.

    Examples
    --------
    >>> history = simulate_history(days=6, seed=0)
    >>> history.presence.shape, history.generation.shape  # Monday to Monday, a weekend between
    ((11520, 35), (11520, 5))
    """
    n_days = _calendar_days(_checked_integer("days", days, least=1))
    seed = _checked_integer("seed", seed, least=0)
    if _checked_integer("seats", seats, least=1) > SEATS:
        raise InputError(f"seats must be {SEATS} or fewer, got {seats}")
    people = draw_people(seed)[:seats]
    meetings = draw_meetings(seed)
    office_days = [office_day(people, meetings, day, seed=seed) for day in range(n_days)]
    presence = np.concatenate([day.presence for day in office_days])
    generation = np.concatenate([day.generation for day in office_days])
    outdoor = outdoor_co2(n_days, seed=seed)
    ventilation = np.tile(_ventilation_day(), n_days)
    start = np.full(ZONES, outdoor[0])  # in equilibrium after the weekend
    air = simulate_air(
        paper_room(), generation=generation, outdoor=outdoor, ventilation=ventilation, start=start
    )
    rises = np.concatenate([day.rises for day in office_days])
    noise = np.concatenate([day.noise for day in office_days])
    co2 = read_out(SENSOR, air.co2[:-1, SENSOR_ZONE] + rises, noise)
    minutes = pd.date_range(FIRST_DAY, periods=len(co2), freq="min", unit="us")
    time = pd.DatetimeIndex(minutes.to_numpy(), name="time")  # without freq, which is lost with the weekends
    return OfficeHistory(time, people, presence, generation, outdoor, ventilation, air, co2)


def _ventilation_day() -> Array:
    """Return the ventilation of one day: 1 from 7:30 to 22:00, else 0."""
    minute = np.arange(DAY)
    return ((minute >= VENTILATION_ON) & (minute < VENTILATION_OFF)).astype(float)


def _calendar_days(weekdays: int) -> int:
    """Return the number of calendar days of ``weekdays`` weekdays from a Monday, including weekends."""
    return weekdays + 2 * ((weekdays - 1) // 5)


def _checked_integer(name: str, value: object, *, least: Literal[0, 1]) -> int:
    if isinstance(value, int | np.integer) and not isinstance(value, bool) and value >= least:
        return int(value)
    sign = "positive" if least == 1 else "non-negative"
    raise InputError(f"{name} must be a {sign} integer, got {value!r}")
