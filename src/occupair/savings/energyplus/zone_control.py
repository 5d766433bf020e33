"""Control of all zones during a run: sensor readings, live estimates and the decisions of the policies."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from occupair.live_room import LiveRoom
from occupair.live_rooms import LiveRooms, NextReading
from occupair.savings.energyplus.building_occupants import BuildingOccupants
from occupair.savings.energyplus.building_run import STEPS_PER_DAY
from occupair.savings.energyplus.reference_building import CLOSING, INTERVAL, OPENING, ZONES
from occupair.savings.policies import Policy, Situation
from occupair.simulation.paper_room import SENSOR
from occupair.simulation.random_streams import generator
from occupair.simulation.sensor import LiveSensor, Sensor

Array = NDArray[np.float64]


class ZoneControl:
    """Sets the outdoor air of every zone by its own policy; a controller of ``run_building``.

    Every zone has its own sensor, estimator and policy. Policies decide in the ventilation hours of weekdays,
    and outside of these hours there is no outdoor air. Estimators run on weekdays from midnight until the
    ventilation stops, because their estimates have no effect at other times.

    Parameters
    ----------
    policies
        Policy of each zone.
    occupants
        The people of the run.
    first_day
        First day of the run.
    design
        Design flow of each zone [L/s]. The estimators receive the outdoor air relative to it, as the
        ventilation.
    rooms
        Live room of each zone; none for policies without a count.
    seed
        Random seed of the sensor noise.
    first_noise_day
        Day of the noise from which the run starts.

    Attributes
    ----------
    readings : sensor readings [ppm], shape (n, zones)
    ventilation : outdoor air of the step before, relative to the design flow, shape (n, zones)
    estimates, upper_ends : estimated counts and upper ends of their intervals, NaN without an estimate,
        shape (n, zones)
    """

    def __init__(
        self,
        policies: Sequence[Policy],
        occupants: BuildingOccupants,
        *,
        first_day: dt.date,
        design: Sequence[float],
        rooms: Sequence[LiveRoom] = (),
        seed: int = 0,
        first_noise_day: int = 0,
    ) -> None:
        self.policies, self.occupants = policies, occupants
        self.design = np.asarray(design)
        self.start = dt.datetime.combine(first_day, dt.time())
        self.rooms, self._batch = rooms, LiveRooms(rooms)
        self.sensors = ZoneSensors(SENSOR, seed=seed, first_day=first_noise_day)
        self.readings = np.zeros(occupants.people.shape)
        self.ventilation = np.zeros(occupants.people.shape)
        self.estimates = np.full(occupants.people.shape, math.nan)
        self.upper_ends = np.full(occupants.people.shape, math.nan)

    def __call__(self, step: int, co2: Array, before: Array) -> Array:
        """Return the outdoor air of each zone in a time step [L/s]."""
        time = self.start + step * dt.timedelta(minutes=INTERVAL)
        self.readings[step] = self.sensors.read(step, co2)
        self.ventilation[step] = np.minimum(before / self.design, 1.0)
        if not is_ventilated(time):
            return np.zeros(len(ZONES))
        starts = not is_ventilated(time - dt.timedelta(minutes=INTERVAL))
        if starts:
            self._start_day(step, time)
        minutes = 0.0 if starts else float(INTERVAL)
        people = self.occupants.people[step].astype(float).tolist()
        situations = [
            Situation(time, minutes, co2=reading, people=estimate, high=high, true_people=true)
            for reading, (estimate, high), true in zip(
                self.readings[step].tolist(), self._estimate(step, time), people, strict=True
            )
        ]
        decisions = zip(self.policies, situations, strict=True)
        return np.array([policy.outdoor_air(situation) for policy, situation in decisions])

    def _start_day(self, step: int, time: dt.datetime) -> None:
        """Start the policies, and give the estimators the readings since midnight."""
        for policy in self.policies:
            policy.start()
        since = slice(step - (time.hour * 60 + time.minute) // INTERVAL, step)
        times = [self.start + early * dt.timedelta(minutes=INTERVAL) for early in range(since.start, step)]
        for zone, room in enumerate(self.rooms):
            room.restore(times, self.readings[since, zone].copy(), self.ventilation[since, zone].copy())

    def _estimate(self, step: int, time: dt.datetime) -> list[tuple[float | None, float | None]]:
        """Return estimate and upper end of its interval of each zone."""
        if not self.rooms:
            return [(None, None)] * len(ZONES)
        due = [
            NextReading(room, time, co2, ventilation)
            for room, co2, ventilation in zip(
                self.rooms, self.readings[step].tolist(), self.ventilation[step].tolist(), strict=True
            )
        ]
        counts: list[tuple[float | None, float | None]] = []
        for zone, estimate in enumerate(self._batch.update(due)):
            if isinstance(estimate, Exception):
                raise estimate
            self.estimates[step, zone] = estimate.people
            self.upper_ends[step, zone] = math.nan if estimate.high is None else estimate.high
            counts.append((estimate.people, estimate.high))
        return counts

    def zone_readings(self) -> list[pd.DataFrame]:
        """Return the readings of each zone on weekdays, with true counts, as training data."""
        times = pd.date_range(self.start, periods=len(self.readings), freq=f"{INTERVAL}min")
        index = pd.DatetimeIndex(times.to_numpy(), name="time")
        weekdays = index.day_of_week < 5
        return [
            pd.DataFrame(
                {
                    "co2": self.readings[:, zone],
                    "ventilation": self.ventilation[:, zone],
                    "occupancy": self.occupants.people[:, zone],
                },
                index=index,
            )[weekdays]
            for zone in range(len(ZONES))
        ]


class ZoneSensors:
    """The CO2 sensors of the zones, one reading at a time.

    Examples
    --------
    >>> sensors = ZoneSensors(Sensor(lag=5 / math.log(2), noise=0, resolution=1), seed=0)
    >>> [sensors.read(step, np.full(5, co2))[0].item() for step, co2 in enumerate((400.0, 500.0, 500.0))]
    [400.0, 450.0, 475.0]
    """

    def __init__(self, sensor: Sensor, *, seed: int, first_day: int = 0) -> None:
        self.seed, self.first_day = seed, first_day
        self._sensors = LiveSensor(replace(sensor, lag=sensor.lag / INTERVAL))  # [time steps]
        self._noise = np.zeros((STEPS_PER_DAY, len(ZONES)))

    def read(self, step: int, co2: Array) -> Array:
        """Return the readings of all sensors [ppm], one time step after the readings before."""
        day, row = divmod(step, STEPS_PER_DAY)
        if row == 0:
            rng = generator(self.seed, "noise", self.first_day + day)
            self._noise = rng.standard_normal(self._noise.shape)
        return self._sensors.read(co2, self._noise[row])


def is_ventilated(time: dt.datetime) -> bool:
    """Whether a time is in the ventilation hours.

    Examples
    --------
    >>> [is_ventilated(dt.datetime(2018, 1, day, hour)) for day, hour in ((1, 6), (1, 7), (1, 22), (6, 9))]
    [False, True, False, False]
    """
    return time.weekday() < 5 and OPENING <= time.hour < CLOSING
