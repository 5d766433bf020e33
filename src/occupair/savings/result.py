"""Results of the study over all seeds: means with confidence intervals, differences from the fixed flow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from occupair.savings.example_day import ExampleDay
from occupair.savings.outcome import RunTotals
from occupair.savings.study_settings import StudySettings


class Mean(NamedTuple):
    """Mean over seeds and half the width of its 95 % confidence interval; NaN with a single seed."""

    value: float
    half_width: float


@dataclass(frozen=True)
class StudyResult:
    """Totals of every policy and seed.

    Parameters
    ----------
    settings : StudySettings
        Settings of the study.
    seeds : tuple of int
        Random seeds.
    totals : dict
        Totals by key of the policy and seed.
    example : ExampleDay or None
        One day of the first seed.
    seconds : float
        Duration of the study [s].
    """

    settings: StudySettings
    seeds: tuple[int, ...]
    totals: dict[tuple[str, int], RunTotals]
    example: ExampleDay | None
    seconds: float

    def of(self, key: str) -> list[RunTotals]:
        """Return the totals of a policy, one per seed."""
        return [self.totals[key, seed] for seed in self.seeds]

    def mean(self, key: str, value: Callable[[RunTotals], float]) -> Mean:
        """Return the mean of a value over the seeds."""
        return mean_over_seeds([value(one) for one in self.of(key)])

    def total(self, key: str, name: str) -> Mean:
        """Return the mean of a total over the evaluated days."""
        return self.mean(key, lambda one: float(getattr(one, name)))

    def share(self, key: str, name: str) -> Mean:
        """Return the mean of some person-hours as a share of all person-hours in operating hours [0..1]."""
        return self.mean(key, lambda one: float(getattr(one, name)) / max(one.person_hours, 1e-9))

    def relative(self, key: str, name: str, reference: str = "fixed") -> Mean:
        """Return the mean over seeds of a total relative to that of another policy with the same seed."""
        pairs = zip(self.of(key), self.of(reference), strict=True)
        return mean_over_seeds([getattr(one, name) / max(getattr(other, name), 1e-9) for one, other in pairs])

    def share_difference(self, key: str, reference: str, name: str) -> Mean:
        """Return the mean difference of two policies in a share of person-hours, paired by seed [0..1]."""
        pairs = zip(self.of(key), self.of(reference), strict=True)
        return mean_over_seeds(
            [
                getattr(one, name) / max(one.person_hours, 1e-9)
                - getattr(other, name) / max(other.person_hours, 1e-9)
                for one, other in pairs
            ]
        )

    def table(self) -> pd.DataFrame:
        """Return all totals, one row per policy and seed."""
        rows = [
            {"policy": key, "seed": seed, **asdict(one)} for (key, seed), one in sorted(self.totals.items())
        ]
        return pd.DataFrame(rows)

    @property
    def balance_errors(self) -> tuple[float, float]:
        """Largest relative errors of the CO2 balance and of the heat balance in all runs."""
        every = self.totals.values()
        return max(one.co2_unexplained for one in every), max(one.heat_unexplained for one in every)


def mean_over_seeds(values: Sequence[float]) -> Mean:
    """Return the mean and half the width of its 95 % confidence interval (Student's t).

    Examples
    --------
    Two values: t = 12.706 with one degree of freedom, times 1.414 / sqrt(2)

    >>> mean = mean_over_seeds([1.0, 3.0])
    >>> mean.value, round(mean.half_width, 2)
    (2.0, 12.71)
    """
    data = np.asarray(values, dtype=float)
    n = data.size
    if n < 2:
        return Mean(float(data.mean()), float("nan"))
    quantile = stats.t.ppf(0.975, n - 1)
    return Mean(float(data.mean()), float(quantile * data.std(ddof=1) / np.sqrt(n)))
