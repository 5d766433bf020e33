"""Runs of the office whose outdoor air is chosen minute by minute.

Several runs advance together, each with its own air and outdoor air flow. Runs with the same seed have the
same people, outdoor CO2 and sensor noise, so that they differ only by their ventilation.
"""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from occupair.simulation.multizone_air import AirSteps, co2_volume
from occupair.simulation.occupants import draw_meetings, draw_people
from occupair.simulation.office import FIRST_DAY
from occupair.simulation.office_day import OfficeDay, office_day
from occupair.simulation.outdoor_air import outdoor_co2
from occupair.simulation.paper_room import SENSOR, SENSOR_ZONE, ZONES, office_flows, paper_room
from occupair.simulation.presence import DAY
from occupair.simulation.sensor import LiveSensor
from occupair.simulation.vacations import on_vacation

POSITIONS = 200  # [-] positions of the outdoor air damper between closed and design flow, 0.5 % each
OFF = 0  # air flows with the ventilation off; 1 + p are those with the damper at position p

Array = NDArray[np.float64]
Indices = NDArray[np.int64]


@dataclass(frozen=True)
class DayRecord:
    """One day of all runs, one row per minute.

    Attributes
    ----------
    readings : sensor readings at the start of each minute [ppm], shape (1440, runs)
    flows : number of the air flows, shape (1440, runs)
    co2 : mean concentration in each zone over each minute [ppm], shape (1440, runs, zones)
    people_in_zone : people in each zone, shape (1440, runs, zones)
    unexplained : CO2 that generation, inflow and outflow do not explain [L], shape (runs,)
    generated : CO2 generation [L], shape (runs,)
    """

    readings: Array
    flows: Indices
    co2: Array
    people_in_zone: Array
    unexplained: Array
    generated: Array


class OfficeRuns:
    """The office several times, each with its own ventilation.

    Call ``start_day``, then for each of 1440 minutes ``read`` and ``advance``, then ``end_day``.

    Parameters
    ----------
    seeds : sequence of int
        Random seed of each run.
    design_flow : float
        Outdoor air flow with the damper fully open [m3/h].
    first_day : int
        First calendar day, a multiple of 7: a Monday, on which the air is in equilibrium with outdoors.
    n_days : int
        Number of calendar days.
    vacations : bool
        Whether people take their vacations, see ``occupair.simulation.vacations``.

    Examples
    --------
    >>> runs = OfficeRuns([0, 0], design_flow=516.0, first_day=0, n_days=1)
    >>> runs.start_day()
    >>> for minute in range(1440):
    ...     reading = runs.read()
    ...     runs.advance(np.array([OFF, 1 + POSITIONS]))
    >>> day = runs.end_day()
    >>> bool(day.co2[720, 0].mean() > day.co2[720, 1].mean())
    True
    """

    def __init__(
        self,
        seeds: Sequence[int],
        *,
        design_flow: float,
        first_day: int,
        n_days: int,
        vacations: bool = False,
    ) -> None:
        distinct = sorted(set(seeds))
        self._seed_of_run = np.array([distinct.index(seed) for seed in seeds])
        self._people = {seed: (draw_people(seed), draw_meetings(seed)) for seed in distinct}
        self._outdoor = np.array([outdoor_co2(first_day + n_days, seed=seed) for seed in distinct])
        self._room = paper_room()
        shares = np.arange(POSITIONS + 1) / POSITIONS
        open_flows = [office_flows(design_flow * share, design=design_flow) for share in shares]
        self._steps = AirSteps(self._room, [self._room.off, *open_flows])
        self._sensor = LiveSensor(SENSOR)
        self._vacations = vacations
        self._day, self._minute = first_day, 0
        start = self._outdoor[self._seed_of_run, first_day * DAY]
        self.co2 = np.repeat(start[:, np.newaxis], ZONES, axis=1)

    def start_day(self) -> None:
        """Simulate the people of the next day."""
        days = [self._simulate_people(seed) for seed in self._people]
        which, now = self._seed_of_run, slice(self._day * DAY, (self._day + 1) * DAY)
        self._people_in_zone = np.array([day.people_in_zone for day in days])[which].swapaxes(0, 1)
        self._generation = np.array([day.generation for day in days])[which].swapaxes(0, 1)
        self._rises = np.array([day.rises for day in days])[which].T
        self._noise = np.array([day.noise for day in days])[which].T
        self._outdoor_today = self._outdoor[which, now].T
        runs = which.size
        self._readings, self._flows = np.empty((DAY, runs)), np.empty((DAY, runs), dtype=np.int64)
        self._mean = np.empty((DAY, runs, ZONES))
        self._stored, self._exchanged = co2_volume(self._room, self.co2), np.zeros(runs)
        self._minute = 0

    def _simulate_people(self, seed: int) -> OfficeDay:
        people, meetings = self._people[seed]
        date = dt.date.fromisoformat(FIRST_DAY) + dt.timedelta(days=self._day)
        absent = on_vacation(date, len(people), seed=seed) if self._vacations else None
        return office_day(people, meetings, self._day, seed=seed, absent=absent)

    @property
    def people(self) -> Array:
        """True count of each run in the current minute [people]."""
        return np.asarray(self._people_in_zone[self._minute].sum(axis=1))

    def read(self) -> Array:
        """Return the sensor reading of each run at the start of the current minute [ppm]."""
        k = self._minute
        readings = self._sensor.read(self.co2[:, SENSOR_ZONE] + self._rises[k], self._noise[k])
        self._readings[k] = readings
        return readings

    def advance(self, flows: Indices) -> None:
        """Advance by one minute with ``OFF`` or 1 + the damper position of each run."""
        k = self._minute
        step = self._steps.advance(self.co2, flows, self._generation[k], self._outdoor_today[k])
        self.co2, self._mean[k], self._flows[k] = step.co2, step.mean, flows
        self._exchanged += step.brought_in - step.carried_out
        self._minute += 1

    def end_day(self) -> DayRecord:
        """Return the record of the day after its 1440 minutes."""
        generated = 60.0 * self._generation.sum(axis=(0, 2))
        gained = co2_volume(self._room, self.co2) - self._stored
        self._day += 1
        return DayRecord(
            self._readings,
            self._flows,
            self._mean,
            self._people_in_zone,
            gained - generated - self._exchanged,
            generated,
        )
