"""The simulated office in a closed loop with its ventilation: CO2 -> policy -> outdoor air -> CO2.

Every ``interval`` minutes, each policy gets the reading of its own sensor and decides the outdoor air until
the next decision. An estimator gets the same reading and the damper position at that time. It runs on
weekdays from midnight until the ventilation stops, because its estimate has no effect at other times. All
estimators of all runs are updated as one batch, see ``occupair.live_rooms``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from occupair.control import interval_confidence
from occupair.errors import InputError
from occupair.estimator import OccupancyEstimator
from occupair.live_room import Estimate, LiveRoom
from occupair.live_rooms import LiveRooms, NextReading
from occupair.progress import track
from occupair.savings.building import OfficeVentilation, is_operating, is_weekday, time_of
from occupair.savings.policies import Policy, Situation
from occupair.simulation.closed_loop import OFF, POSITIONS, DayRecord, OfficeRuns
from occupair.simulation.paper_room import VENTILATION_ON
from occupair.simulation.presence import DAY

Array = NDArray[np.float64]

LONGEST_INTERVAL = 30
"""Longest time between decisions [min]; it divides the day, and the time until the ventilation starts."""


@dataclass(frozen=True)
class LoopRun:
    """One run of the office.

    Parameters
    ----------
    seed : int
        Random seed of people, outdoor air, sensor noise and weather.
    policy : Policy
        The policy; runs must not share one.
    estimator : OccupancyEstimator, optional
        Trained estimator of the policy.
    confidence : float
        Probability that the true count is at or below the upper end of the interval.
    every_minute : bool
        Whether the policy decides every minute, not only at the readings of the estimators.
    """

    seed: int
    policy: Policy
    estimator: OccupancyEstimator | None = None
    confidence: float = 0.95
    every_minute: bool = False


@dataclass(frozen=True)
class Period:
    """Days to simulate.

    Parameters
    ----------
    first_day : int
        First calendar day, a Monday: a multiple of 7.
    n_days : int
        Number of calendar days.
    interval : int
        Time between decisions, and between readings of the estimators [min].
    vacations : bool
        Whether people take their vacations, see ``occupair.simulation.vacations``.
    """

    first_day: int
    n_days: int
    interval: int
    vacations: bool = False

    def __post_init__(self) -> None:
        if self.interval < 1 or LONGEST_INTERVAL % self.interval:
            rule = f"divide {LONGEST_INTERVAL} min into equal parts"
            raise InputError(f"interval must {rule}, got {self.interval} min")


@dataclass(frozen=True)
class DayOutcome:
    """One day of all runs.

    Parameters
    ----------
    day : int
        Calendar day.
    record : DayRecord
        Air, readings, flows and people of every minute.
    estimates : array of shape (decisions, runs, 2)
        Estimate and upper end of its interval [people]; NaN without.
    """

    day: int
    record: DayRecord
    estimates: Array

    @property
    def damper(self) -> Array:
        """Damper position in every minute [0..1], shape (1440, runs)."""
        return damper_position(self.record.flows)

    @property
    def people(self) -> Array:
        """True count in every minute [people], shape (1440, runs)."""
        return np.asarray(self.record.people_in_zone.sum(axis=2))


def run_closed_loop(
    runs: Sequence[LoopRun], ventilation: OfficeVentilation, period: Period
) -> Iterator[DayOutcome]:
    """Simulate all runs together, minute by minute, and yield every day.

    Parameters
    ----------
    runs
        Seeds, policies and estimators.
    ventilation
        Standard and operating hours.
    period
        Days to simulate.
    """
    interval, last = period.interval, period.first_day + period.n_days
    seeds = [run.seed for run in runs]
    flow = ventilation.design_flow_m3h
    office = OfficeRuns(
        seeds,
        design_flow=flow,
        first_day=period.first_day,
        n_days=period.n_days,
        vacations=period.vacations,
    )
    rooms = _EstimatedRooms(runs)
    for day in track(range(period.first_day, last), "simulating days"):
        office.start_day()
        estimates = _run_day(office, rooms, runs, ventilation, day, interval)
        yield DayOutcome(day, office.end_day(), estimates)


def damper_position(flows: NDArray[np.int64]) -> Array:
    """Return the damper position [0..1] from the numbers of the air flows of ``OfficeRuns``."""
    return np.asarray(np.maximum(flows - 1, 0) / POSITIONS)


def _run_day(
    office: OfficeRuns,
    rooms: _EstimatedRooms,
    runs: Sequence[LoopRun],
    ventilation: OfficeVentilation,
    day: int,
    interval: int,
) -> Array:
    """Simulate one day; return estimate and upper end at each decision, shape (1440 / interval, runs, 2)."""
    every_minute = [number for number, run in enumerate(runs) if run.every_minute]
    estimates = np.full((DAY // interval, len(runs), 2), np.nan)
    found: list[Estimate | None] = [None] * len(runs)
    flows = np.full(len(runs), OFF)
    early: list[tuple[int, Array]] = []
    for minute in range(DAY):
        co2 = office.read()
        is_reading = is_weekday(day) and minute % interval == 0
        if is_reading and minute < VENTILATION_ON:
            early.append((minute, co2))
        if not is_operating(day, minute):
            flows = np.full(len(runs), OFF)
        else:
            if minute == VENTILATION_ON:
                rooms.start_day(day, early)
                for run in runs:
                    run.policy.start()
            if is_reading:
                found = rooms.update(day, minute, co2, damper_position(flows))
                estimates[minute // interval] = [_people_and_high(one) for one in found]
            people, time = office.people, time_of(day, minute)
            since = 0 if minute == VENTILATION_ON else interval
            for number in range(len(runs)) if is_reading else every_minute:
                run, one = runs[number], found[number]
                situation = Situation(
                    time,
                    min(since, 1) if run.every_minute else since,
                    float(co2[number]),
                    people=None if one is None else one.people,
                    high=None if one is None else one.high,
                    true_people=float(people[number]),
                )
                flows[number] = 1 + ventilation.position(run.policy.outdoor_air(situation))
        office.advance(flows)
    return estimates


def _people_and_high(estimate: Estimate | None) -> tuple[float, float]:
    if estimate is None:
        return np.nan, np.nan
    return estimate.people, np.nan if estimate.high is None else estimate.high


class _EstimatedRooms:
    """The live rooms of those runs that have an estimator."""

    def __init__(self, runs: Sequence[LoopRun]) -> None:
        self._rooms: dict[int, LiveRoom] = {
            number: run.estimator.live(interval=interval_confidence(run.confidence))
            for number, run in enumerate(runs)
            if run.estimator is not None
        }
        self._batch = LiveRooms(self._rooms.values())
        self._n_runs = len(runs)

    def start_day(self, day: int, early: Sequence[tuple[int, Array]]) -> None:
        """Add the readings from midnight until the ventilation starts, with the damper closed."""
        times = [time_of(day, minute) for minute, _ in early]
        co2 = np.array([reading for _, reading in early])
        for number, room in self._rooms.items():
            room.restore(times, co2[:, number].copy(), np.zeros(len(times)))

    def update(self, day: int, minute: int, co2: Array, damper: Array) -> list[Estimate | None]:
        """Return the estimates after a reading of every run; None without an estimator."""
        time = time_of(day, minute)
        due = [
            NextReading(room, time, float(co2[number]), float(damper[number]))
            for number, room in self._rooms.items()
        ]
        found: list[Estimate | None] = [None] * self._n_runs
        for number, estimate in zip(self._rooms, self._batch.update(due), strict=True):
            if isinstance(estimate, Exception):
                raise estimate
            found[number] = estimate
        return found
