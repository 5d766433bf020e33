"""Settings of the study."""

from __future__ import annotations

from dataclasses import dataclass, field

from occupair.errors import InputError
from occupair.savings.building import OfficeVentilation, Standard
from occupair.savings.closed_loop import Period
from occupair.savings.energy import EnergyModel


@dataclass(frozen=True)
class StudySettings:
    """Settings of the study.

    Parameters
    ----------
    standard : str
        "ASHRAE 62.1" or "EN 16798-1".
    days : int
        Evaluated calendar days.
    train_weeks, tuning_weeks : int
        Weeks before them.
    interval : int
        Time between decisions, and between readings of the estimators [min].
    vacations : bool
        Whether people take vacations on the evaluated days, see ``occupair.simulation.vacations``. The weeks
        before them are ordinary working weeks.
    energy : EnergyModel
        Energy for outdoor air.
    """

    standard: Standard = "ASHRAE 62.1"
    days: int = 365
    train_weeks: int = 4
    tuning_weeks: int = 4
    interval: int = 5
    vacations: bool = True
    energy: EnergyModel = field(default_factory=EnergyModel)

    def __post_init__(self) -> None:
        for name in ("days", "train_weeks", "tuning_weeks"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} must be 1 or more, got {getattr(self, name)}")
        _ = self.evaluated  # checks the interval

    @property
    def ventilation(self) -> OfficeVentilation:
        """Ventilation of the office."""
        return OfficeVentilation(self.standard)

    @property
    def tuning(self) -> Period:
        """Tuning weeks, after the training weeks."""
        return Period(7 * self.train_weeks, 7 * self.tuning_weeks, self.interval)

    @property
    def evaluated(self) -> Period:
        """Evaluated days, after the tuning weeks."""
        first_day = 7 * (self.train_weeks + self.tuning_weeks)
        return Period(first_day, self.days, self.interval, vacations=self.vacations)
