"""Training of the estimators: four weeks of the building before the year, with true counts as labels."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Literal

import numpy as np
import pandas as pd

from occupair.control import AirControl, AirDemand
from occupair.control.air_demand import Standard
from occupair.estimator import OccupancyEstimator
from occupair.progress import quietly
from occupair.savings.commissioning import SteppedFlow
from occupair.savings.energyplus.building_occupants import building_occupants
from occupair.savings.energyplus.building_run import run_building
from occupair.savings.energyplus.reference_building import ZONES
from occupair.savings.energyplus.zone_control import ZoneControl
from occupair.savings.policies import FixedFlow, Policy

YEAR_START = dt.date(2018, 1, 1)  # a Monday, like day 0 of the occupants
TRAINING_DAYS = 28  # [days] 20 weekdays before the year

Regime = Literal["fixed", "stepped"]
EstimatorName = Literal["paper", "default"]


def zone_controls(standard: Standard) -> list[AirControl]:
    """Return how the outdoor air of each zone follows a count, with people on all seats as the design.

    Examples
    --------
    >>> [round(control.design_flow, 1) for control in zone_controls("ASHRAE 62.1")]
    [69.9, 54.0, 32.7, 54.0, 30.2]
    """
    return [AirControl(AirDemand(standard, area=zone.area), design_people=zone.seats) for zone in ZONES]


def design_flows(controls: Sequence[AirControl]) -> np.ndarray:
    """Return the design flow of each zone [L/s]."""
    return np.array([control.design_flow for control in controls])


def training_readings(
    regime: Regime,
    controls: Sequence[AirControl],
    *,
    seed: int,
    climate: str,
    days: int = TRAINING_DAYS,
) -> list[pd.DataFrame]:
    """Return the labelled readings of each zone on the days before the year.

    Parameters
    ----------
    regime
        "fixed": the design flow in ventilation hours. "stepped": random flows, each held for one to three
        hours, as during commissioning.
    controls
        Standard and design occupancy of each zone.
    seed
        Random seed of people, outdoor CO2, sensor noise and steps.
    climate
        Name of the climate.
    days
        Number of calendar days, from a Monday on.
    """
    occupants = building_occupants(days, seed=seed)
    first_day = YEAR_START - dt.timedelta(days=TRAINING_DAYS)
    control = ZoneControl(
        [_policy(regime, zone_control, seed + number) for number, zone_control in enumerate(controls)],
        occupants,
        first_day=first_day,
        design=design_flows(controls),
        seed=seed,
    )
    run_building(control, occupants, first_day=first_day, climate=climate)
    return control.zone_readings()


def fit_estimator(name: EstimatorName, readings: pd.DataFrame, *, draws: int) -> OccupancyEstimator:
    """Return the paper's or the default estimator, trained on the readings of a zone."""
    if name == "paper":
        estimator = OccupancyEstimator.paper(n_draws=draws, random_state=0)
    else:
        estimator = OccupancyEstimator(random_state=0)
    with quietly():
        return estimator.fit(readings)


def _policy(regime: Regime, control: AirControl, seed: int) -> Policy:
    if regime == "fixed":
        return FixedFlow(control.design_flow)
    return SteppedFlow(control.demand.flow(0.0), control.design_flow, seed=seed)
