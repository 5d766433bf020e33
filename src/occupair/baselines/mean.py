"""The training mean, the reference for nRMSE."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from occupair.baselines.baseline import Array, Baseline, Day


@dataclass(kw_only=True, eq=False, repr=False)
class MeanBaseline(Baseline):
    """The mean head count in training, at every reading.

    Parameters
    ----------
    lag : float
        Lag of the estimates [min]; has no effect here.

    Attributes
    ----------
    mean_ : float
        Mean head count in training [people].

    Examples
    --------
    >>> import pandas as pd
    >>> times = pd.date_range("2024-01-08", periods=4, freq="5min")
    >>> readings = pd.DataFrame({"co2": 400.0, "occupancy": [0, 0, 3, 5]}, index=times)
    >>> MeanBaseline().fit(readings).estimate(readings).tolist()
    [2.0, 2.0, 2.0, 2.0]
    """

    def _fit_days(self, days: list[Day], people: list[Array]) -> None:
        self.mean_ = float(np.mean(np.concatenate(people)))

    def _estimate_day(self, day: Day) -> Array:
        return np.full(len(day), self.mean_)
