"""One run of a period of the study: occupants, control of all zones, EnergyPlus and outcome."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pandas as pd

from occupair.control import interval_confidence
from occupair.errors import InputError, check_integer
from occupair.estimator import OccupancyEstimator
from occupair.savings.building import Standard
from occupair.savings.energyplus.building_occupants import building_occupants
from occupair.savings.energyplus.building_outcome import BuildingOutcome, building_outcome
from occupair.savings.energyplus.building_run import run_building
from occupair.savings.energyplus.zone_control import ZoneControl
from occupair.savings.energyplus.zone_ventilation import ZoneVentilation, zone_ventilation
from occupair.savings.policies import Policy
from occupair.savings.study import PAPER_DRAWS

YEAR_START = dt.date(2018, 1, 1)  # a Monday, like day 0 of the occupants
YEAR = 365  # [days]


@dataclass(frozen=True)
class BuildingStudy:
    """Settings of a study.

    Training weeks, tuning weeks and the evaluated days follow each other without a gap. People take vacations
    on the evaluated days only.

    Parameters
    ----------
    climate : str
        Name of the climate, see ``installation.CLIMATES``.
    standard : str
        "ASHRAE 62.1" or "EN 16798-1".
    seed : int
        Random seed of people, outdoor CO2 and sensor noise.
    days : int
        Evaluated days from 1 January on, up to 365.
    train_weeks, tuning_weeks : int
        Weeks before them.
    draws : int
        Random layers that the paper's estimator selects from; the paper has 100.
    """

    climate: str = "chicago"
    standard: Standard = "ASHRAE 62.1"
    seed: int = 0
    days: int = YEAR
    train_weeks: int = 4
    tuning_weeks: int = 2
    draws: int = PAPER_DRAWS

    def __post_init__(self) -> None:
        for name in ("days", "train_weeks", "tuning_weeks", "draws"):
            check_integer(name, getattr(self, name), least=1)
        check_integer("seed", self.seed, least=0)
        if self.days > YEAR:
            raise InputError(f"days must be {YEAR} or fewer, got {self.days}")

    @property
    def zones(self) -> list[ZoneVentilation]:
        """Ventilation of every zone."""
        return zone_ventilation(self.standard)

    @property
    def training(self) -> Period:
        """The training weeks."""
        return Period(0, 7 * self.train_weeks)

    @property
    def tuning(self) -> Period:
        """The tuning weeks."""
        return Period(7 * self.train_weeks, 7 * self.tuning_weeks)

    @property
    def evaluation(self) -> Period:
        """The evaluated days."""
        return Period(7 * (self.train_weeks + self.tuning_weeks), self.days, vacations=True)

    def date(self, day: int) -> dt.date:
        """Return the date of a day of the occupants."""
        return YEAR_START + dt.timedelta(days=day - self.evaluation.first_day)


@dataclass(frozen=True)
class Period:
    """Days of the occupants: the first, their number, and whether people take vacations."""

    first_day: int
    days: int
    vacations: bool = False


@dataclass(frozen=True)
class ZonePolicies:
    """The policies of all zones, and their trained estimators, if they use any."""

    policies: Sequence[Policy]
    estimators: Sequence[OccupancyEstimator] = ()


def run_period(
    study: BuildingStudy,
    period: Period,
    zones: ZonePolicies,
    *,
    after_day: Callable[[], object] | None = None,
) -> tuple[BuildingOutcome, list[pd.DataFrame]]:
    """Run policies for a period; return the outcome and the labelled readings of each zone on weekdays."""
    first_day, ventilation = study.date(period.first_day), study.zones
    occupants = building_occupants(
        period.days,
        first_day=period.first_day,
        seed=study.seed,
        vacations_from=first_day if period.vacations else None,
    )
    control = ZoneControl(
        zones.policies,
        occupants,
        first_day=first_day,
        design=[zone.design_flow for zone in ventilation],
        rooms=[
            estimator.live(interval=interval_confidence(zone.control.confidence))
            for estimator, zone in zip(zones.estimators, ventilation, strict=False)
        ],
        seed=study.seed,
        first_noise_day=period.first_day,
    )
    run = run_building(control, occupants, first_day=first_day, climate=study.climate, after_day=after_day)
    return building_outcome(run, control, ventilation), control.zone_readings()
