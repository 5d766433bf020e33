"""The training mean: the floor that every other estimate has to beat."""

from __future__ import annotations

import numpy as np

from occupair.baselines.baseline import Array, Baseline, Day


class MeanBaseline(Baseline):
    """The mean number of people in training, at every reading.

    Parameters
    ----------
    lag : float
        Minutes that an estimate may wait for later readings [min]; it gains nothing here.

    Attributes
    ----------
    mean_ : float
        Mean of the head counts in training [people].

    Examples
    --------
    >>> import pandas as pd
    >>> times = pd.date_range("2024-01-08", periods=4, freq="5min")
    >>> readings = pd.DataFrame({"co2": 400.0, "occupancy": [0, 0, 3, 5]}, index=times)
    >>> MeanBaseline().fit(readings).estimate(readings).tolist()
    [2.0, 2.0, 2.0, 2.0]
    """

    def __init__(self, *, lag: float = 0) -> None:
        self.lag = lag

    def _learn(self, days: list[Day], people: list[Array]) -> None:
        self.mean_ = float(np.mean(np.concatenate(people)))

    def _people(self, day: Day) -> Array:
        return np.full(len(day), self.mean_)
