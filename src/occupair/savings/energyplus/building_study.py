"""The study: train and tune on earlier weeks, then run the same year with every policy.

EnergyPlus runs in worker processes, one run at a time in each. Nothing of the tuning weeks reaches the
training, and nothing of the year reaches either.
"""

from __future__ import annotations

import queue
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from types import TracebackType
from typing import Any, Literal

import pandas as pd
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from occupair.errors import check_integer
from occupair.estimator import OccupancyEstimator
from occupair.progress import track
from occupair.savings.co2_control import manual_control
from occupair.savings.energyplus.building_outcome import BuildingOutcome
from occupair.savings.energyplus.building_period import BuildingStudy, Period, ZonePolicies, run_period
from occupair.savings.energyplus.installation import weather_file
from occupair.savings.energyplus.zone_training import (
    EstimatorName,
    Regime,
    co2_candidates,
    fit_estimator,
    training_readings,
    tuned_control,
)
from occupair.savings.policies import CountedFlow, FixedFlow
from occupair.savings.policy_list import SCHEDULE_QUANTILE
from occupair.savings.schedule import scheduled_flow

ESTIMATED: dict[str, tuple[Literal["estimate", "upper"], EstimatorName, Regime]] = {
    "paper-fixed": ("estimate", "paper", "fixed"),
    "paper-stepped": ("estimate", "paper", "stepped"),
    "default-fixed": ("estimate", "default", "fixed"),
    "default-stepped": ("estimate", "default", "stepped"),
    "upper-fixed": ("upper", "default", "fixed"),
    "upper-stepped": ("upper", "default", "stepped"),
}
"""Policies with an estimator: the count to plan for, the estimator and its training."""

POLICIES = ("fixed", "schedule", "co2-manual", "co2-proportional", "true", *ESTIMATED)
"""Keys of the policies, those of ``occupair.savings.policy_list``."""

TUNED, TARGET = "co2-proportional", "upper-stepped"
"""CO2 control is tuned to the share of person-hours below the flow that the upper bound has."""

Readings = Mapping[Regime, Sequence[pd.DataFrame]]
Estimators = Mapping[tuple[EstimatorName, Regime], Sequence[OccupancyEstimator]]


def run_building_study(
    study: BuildingStudy, *, policies: Sequence[str] = POLICIES, jobs: int = 1
) -> dict[str, BuildingOutcome]:
    """Run policies in the building and return the outcome of each.

    The same study gives the same outcomes, whatever the number of worker processes ``jobs``.
    """
    weather_file(study.climate)  # fails before the long work
    check_integer("jobs", jobs, least=1)
    needed = [key for key in policies if key != TUNED]
    if TUNED in policies and TARGET not in needed:
        needed.append(TARGET)
    with _Workers(jobs) as workers:
        readings = _record(study, needed, workers)
        estimators = _train(study, needed, readings, workers)
        zones = {key: _zone_policies(study, key, readings, estimators) for key in needed}
        if TUNED in policies:
            zones[TUNED] = _tune(study, zones[TARGET], workers)
        runs = [(study.evaluation, zones[key]) for key in policies]
        outcomes = workers.simulate(study, runs, "simulating the year")
    return dict(zip(policies, outcomes, strict=True))


def _record(study: BuildingStudy, policies: Sequence[str], workers: _Workers) -> Readings:
    """Return the readings of the training weeks; schedules are made from those with the fixed flow."""
    used: list[Regime] = [ESTIMATED[key][2] for key in policies if key in ESTIMATED]
    regimes: dict[Regime, None] = dict.fromkeys(["fixed", *used])
    runs = {regime: workers.pool.submit(training_readings, study, regime) for regime in regimes}
    return {regime: run.result() for regime, run in runs.items()}


def _train(
    study: BuildingStudy, policies: Sequence[str], readings: Readings, workers: _Workers
) -> Estimators:
    """Return the trained estimators of every zone that the policies need."""
    needed = dict.fromkeys(ESTIMATED[key][1:] for key in policies if key in ESTIMATED)
    fits = [
        ((name, regime), workers.pool.submit(fit_estimator, name, zone, draws=study.draws))
        for name, regime in needed
        for zone in readings[regime]
    ]
    found: dict[tuple[EstimatorName, Regime], list[OccupancyEstimator]] = {key: [] for key in needed}
    for key, fit in track(fits, "training", show=None):
        found[key].append(fit.result())
    return found


def _zone_policies(
    study: BuildingStudy, key: str, readings: Readings, estimators: Estimators
) -> ZonePolicies:
    """Return the policies of all zones that need no tuning."""
    zones = study.zones
    if key == "fixed":
        return ZonePolicies([FixedFlow(zone.design_flow) for zone in zones])
    if key == "schedule":
        return ZonePolicies(
            [
                scheduled_flow(table, zone, quantile=SCHEDULE_QUANTILE)
                for table, zone in zip(readings["fixed"], zones, strict=True)
            ]
        )
    if key == "co2-manual":
        return ZonePolicies([manual_control(zone) for zone in zones])
    if key == "true":
        return ZonePolicies([CountedFlow(zone.control, "true") for zone in zones])
    count, name, regime = ESTIMATED[key]
    return ZonePolicies([CountedFlow(zone.control, count) for zone in zones], estimators[name, regime])


def _tune(study: BuildingStudy, target: ZonePolicies, workers: _Workers) -> ZonePolicies:
    """Return CO2 control tuned to the target in the tuning weeks."""
    candidates = co2_candidates(study)
    runs = [(study.tuning, zones) for zones in [target, *candidates]]
    aim, *outcomes = workers.simulate(study, runs, "tuning CO2 control")
    return tuned_control(candidates, outcomes, aim)


class _Workers:
    """Worker processes, and the queue on which they report every simulated day."""

    def __init__(self, jobs: int) -> None:
        context = get_context("spawn")
        self.days = context.Queue()
        self.pool = ProcessPoolExecutor(
            jobs, mp_context=context, initializer=_start_worker, initargs=(self.days,)
        )

    def __enter__(self) -> _Workers:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.pool.shutdown(cancel_futures=True)

    def simulate(
        self, study: BuildingStudy, runs: Sequence[tuple[Period, ZonePolicies]], what: str
    ) -> list[BuildingOutcome]:
        """Return the outcome of each run, and report progress by day."""
        futures = [self.pool.submit(_simulate, study, *run) for run in runs]
        for _ in track(range(sum(period.days for period, _ in runs)), what, show=None):
            self._wait_for_day(futures)
        return [future.result() for future in futures]

    def _wait_for_day(self, runs: Sequence[Future[BuildingOutcome]]) -> None:
        """Wait until one more day is simulated, or raise the exception of a failed run."""
        while True:
            try:
                self.days.get(timeout=1.0)
            except queue.Empty:
                for run in runs:
                    if run.done():
                        run.result()
            else:
                return


_days: Any = None
"""Queue on which this process reports simulated days, if it is a worker."""


def _start_worker(days: Any) -> None:
    global _days
    _days = days
    threadpool_limits(1)  # workers do not compete for cores


def _simulate(study: BuildingStudy, period: Period, zones: ZonePolicies) -> BuildingOutcome:
    outcome, _ = run_period(study, period, zones, after_day=partial(_days.put, None))
    return outcome
