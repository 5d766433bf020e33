"""Training and tuning on the weeks before the year, for every zone of the building.

The steps are those of the simulated office, see ``occupair.savings.study``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import pandas as pd

from occupair.estimator import OccupancyEstimator
from occupair.progress import quietly
from occupair.savings.co2_control import least_air, proportional_candidates
from occupair.savings.commissioning import SteppedFlow
from occupair.savings.energyplus.building_outcome import BuildingOutcome
from occupair.savings.energyplus.building_period import BuildingStudy, ZonePolicies, run_period
from occupair.savings.policies import FixedFlow

Regime = Literal["fixed", "stepped"]
EstimatorName = Literal["paper", "default"]


def training_readings(study: BuildingStudy, regime: Regime) -> list[pd.DataFrame]:
    """Return the labelled readings of each zone in the training weeks.

    Parameters
    ----------
    study
        Settings of the study.
    regime
        "fixed": the design flow in ventilation hours. "stepped": random flows, see ``SteppedFlow``.
    """
    policies = [
        FixedFlow(zone.design_flow)
        if regime == "fixed"
        else SteppedFlow(zone.lowest_flow, zone.design_flow, seed=100 * study.seed + number)
        for number, zone in enumerate(study.zones)
    ]
    _, readings = run_period(study, study.training, ZonePolicies(policies))
    return readings


def fit_estimator(name: EstimatorName, readings: pd.DataFrame, *, draws: int) -> OccupancyEstimator:
    """Return the paper's or the default estimator, trained on the readings of a zone."""
    if name == "paper":
        estimator = OccupancyEstimator.paper(n_draws=draws, random_state=0)
    else:
        estimator = OccupancyEstimator(random_state=0)
    with quietly():
        return estimator.fit(readings)


def co2_candidates(study: BuildingStudy) -> list[ZonePolicies]:
    """Return proportional CO2 control with all bands to choose from, for all zones at once."""
    of_zones = [proportional_candidates(zone) for zone in study.zones]
    return [ZonePolicies(policies) for policies in zip(*of_zones, strict=True)]


def tuned_control(
    candidates: Sequence[ZonePolicies], outcomes: Sequence[BuildingOutcome], target: BuildingOutcome
) -> ZonePolicies:
    """Return the candidate with the least outdoor air in each zone.

    Parameters
    ----------
    candidates
        Settings to choose from.
    outcomes
        Their outcomes in the tuning weeks.
    target
        Outcome of the upper bound in these weeks: in each zone, the share of person-hours below the required
        flow must not be larger.
    """
    best = [
        least_air([outcome.zones[zone] for outcome in outcomes], aim.below_flow / max(aim.person_hours, 1e-9))
        for zone, aim in enumerate(target.zones)
    ]
    return ZonePolicies([candidates[number].policies[zone] for zone, number in enumerate(best)])
