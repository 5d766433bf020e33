"""The study: train and tune on earlier weeks, then run all policies for a year, with several seeds.

For each seed, in this order:

1. training weeks: readings with head counts, once under the fixed design flow and once on commissioning days
   with stepped flows; estimators and schedules are made from them
2. tuning weeks: the upper bound runs in the loop, and CO2 control is tuned to the same share of person-hours
   below the required flow
3. evaluated days: all policies in the loop

Nothing of a later step reaches an earlier one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from occupair.estimator import OccupancyEstimator
from occupair.progress import quietly, stage, track
from occupair.savings.building import OfficeVentilation
from occupair.savings.closed_loop import LoopRun
from occupair.savings.co2_control import (
    Co2Policy,
    fresh,
    least_air,
    manual_control,
    pi_candidates,
    proportional_candidates,
    try_policies,
)
from occupair.savings.commissioning import SteppedFlow, record_readings
from occupair.savings.example_day import ExampleDay, ExampleRecorder
from occupair.savings.outcome import RunTotals, total_up
from occupair.savings.policies import CountedFlow, FixedFlow, Policy
from occupair.savings.policy_list import (
    CO2_LEVELS,
    CONFIDENCE,
    CONFIDENCES,
    SCHEDULE_QUANTILES,
    co2_key,
    confidence_key,
    schedule_key,
)
from occupair.savings.schedule import scheduled_flow
from occupair.savings.study_settings import StudySettings
from occupair.simulation.paper_room import AREA, HEIGHT, SEATS

PAPER_DRAWS = 5
"""Random layers that the paper's estimator selects from; the paper has 100."""

EXAMPLE_POLICIES = ("fixed", "co2-proportional", "true", "upper-stepped")


@dataclass(frozen=True)
class Prepared:
    """What training and tuning found for one seed.

    Parameters
    ----------
    estimators : dict
        Trained estimators by name.
    schedules : dict
        Scheduled flows by key of the policy.
    co2 : dict
        Tuned CO2 control by key of the policy.
    """

    estimators: dict[str, OccupancyEstimator]
    schedules: dict[str, Policy]
    co2: dict[str, Co2Policy]


@dataclass(frozen=True)
class SeedResults:
    """Totals of all policies for some seeds.

    Parameters
    ----------
    totals : dict
        Totals by key of the policy and seed.
    example : ExampleDay or None
        One day of the first seed.
    """

    totals: dict[tuple[str, int], RunTotals]
    example: ExampleDay | None


def run_seeds(settings: StudySettings, seeds: Sequence[int]) -> SeedResults:
    """Train, tune and evaluate all policies for some seeds."""
    with stage("training", 0.0, 0.15):
        prepared = train(settings, seeds)
    with stage("tuning CO2 control", 0.15, 0.22):
        prepared = tune(settings, prepared)
    with stage("simulating", 0.22, 1.0):
        return evaluate(settings, prepared)


def train(settings: StudySettings, seeds: Sequence[int]) -> dict[int, Prepared]:
    """Train estimators and make schedules from the training weeks of each seed."""
    fixed, stepped = (training_readings(settings, seeds, kind) for kind in ("fixed", "stepped"))
    prepared = {}
    for seed, at_fixed, at_steps in track(list(zip(seeds, fixed, stepped, strict=True)), "training"):
        with quietly():
            estimators = {
                "paper-fixed": _paper().fit(at_fixed),
                "paper-stepped": _paper().fit(at_steps),
                "default-fixed": OccupancyEstimator(random_state=0).fit(at_fixed),
                "default-stepped": OccupancyEstimator(random_state=0).fit(at_steps),
                "physics-fixed": _physics().fit(at_fixed.drop(columns="occupancy")),
                "physics-stepped": _physics().fit(at_steps.drop(columns="occupancy")),
            }
        schedules: dict[str, Policy] = {
            schedule_key(share): scheduled_flow(at_fixed, settings.ventilation, quantile=share)
            for share in SCHEDULE_QUANTILES
        }
        prepared[seed] = Prepared(estimators, schedules, {})
    return prepared


def training_readings(settings: StudySettings, seeds: Sequence[int], kind: str) -> list[pd.DataFrame]:
    """Return the readings of the training weeks of each seed, with "fixed" or "stepped" flow."""
    office = settings.ventilation
    policies: list[Policy] = [
        FixedFlow(office.design_flow)
        if kind == "fixed"
        else SteppedFlow(office.lowest_flow, office.design_flow, seed)
        for seed in seeds
    ]
    days = 7 * settings.train_weeks
    return record_readings(seeds, policies, office, n_days=days, interval=settings.interval)


def tune(settings: StudySettings, prepared: dict[int, Prepared]) -> dict[int, Prepared]:
    """Tune CO2 control on the tuning weeks to the person-hours below the flow of the upper bound."""
    seeds, office = list(prepared), settings.ventilation
    target = _upper_bound_totals(settings, prepared)
    proportional, pi = proportional_candidates(office), pi_candidates(office)
    every: list[Co2Policy] = [*proportional, *pi]
    tried = try_policies(seeds, every, office, settings.tuning)
    tuned = {}
    for seed, one in prepared.items():
        level = target[seed].below_flow / max(target[seed].person_hours, 1e-9)
        found, n = tried[seed], len(proportional)
        co2: dict[str, Co2Policy] = {
            "co2-proportional": proportional[least_air(found[:n], level)],
            "co2-pi": pi[least_air(found[n:], level)],
        }
        co2 |= {co2_key(share): every[least_air(found, share)] for share in CO2_LEVELS}
        tuned[seed] = Prepared(one.estimators, one.schedules, co2)
    return tuned


def _upper_bound_totals(settings: StudySettings, prepared: dict[int, Prepared]) -> dict[int, RunTotals]:
    """Return the totals of the upper bound on the tuning weeks of each seed."""
    office = settings.ventilation
    runs = [
        LoopRun(seed, CountedFlow(office.control, "upper"), one.estimators["default-stepped"], CONFIDENCE)
        for seed, one in prepared.items()
    ]
    found = total_up(runs, office, settings.energy, settings.tuning)
    return dict(zip(prepared, found, strict=True))


def evaluate(settings: StudySettings, prepared: dict[int, Prepared]) -> SeedResults:
    """Run all policies on the evaluated days of each seed."""
    office = settings.ventilation
    runs = {
        (key, seed): run
        for seed, one in prepared.items()
        for key, run in policy_runs(office, seed, one).items()
    }
    first = next(iter(prepared))
    shown = {key: list(runs).index((key, first)) for key in EXAMPLE_POLICIES}
    example = ExampleRecorder(shown, office, settings.evaluated)
    found = total_up(list(runs.values()), office, settings.energy, settings.evaluated, also=example.add)
    return SeedResults(dict(zip(runs, found, strict=True)), example.day)


def policy_runs(office: OfficeVentilation, seed: int, prepared: Prepared) -> dict[str, LoopRun]:
    """Return a run of every policy with one seed, by key of the policy."""
    control, estimators = office.control, prepared.estimators
    policies: dict[str, Policy] = {
        "fixed": FixedFlow(office.design_flow),
        "co2-manual": manual_control(office),
        **{key: fresh(policy) for key, policy in prepared.co2.items()},
        **prepared.schedules,
        "true-at-readings": CountedFlow(control, "true"),
    }
    runs = {key: LoopRun(seed, policy) for key, policy in policies.items()}
    runs["true"] = LoopRun(seed, CountedFlow(control, "true"), every_minute=True)
    for name, estimator in estimators.items():
        runs[name] = LoopRun(seed, CountedFlow(control, "estimate"), estimator)
        if not name.startswith("paper"):
            key = name.replace("default", "upper").replace("physics", "physics-upper")
            runs[key] = LoopRun(seed, CountedFlow(control, "upper"), estimator, CONFIDENCE)
    for level in CONFIDENCES:
        best = estimators["default-stepped"]
        runs[confidence_key(level)] = LoopRun(seed, CountedFlow(control, "upper"), best, level)
    return runs


def _paper() -> OccupancyEstimator:
    return OccupancyEstimator.paper(random_state=0, n_draws=PAPER_DRAWS)


def _physics() -> OccupancyEstimator:
    return OccupancyEstimator.physics(volume=AREA * HEIGHT, capacity=SEATS)
