"""Regression of the people on window features, whatever the regressor."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GridSearchCV

from occupair.baselines.background_co2 import BackgroundCO2
from occupair.baselines.baseline import Array, Baseline, Day
from occupair.baselines.window_features import window_features
from occupair.folds import day_folds


class WindowRegressor(Baseline):
    """A baseline that regresses the people on ``window_features``.

    It is trained on the very windows it will see: with ``lag`` they end that much later. Rows every
    ``thinning`` minutes are enough, since neighbours say the same.

    Attributes
    ----------
    base_ : BackgroundCO2
        The base level of CO2.
    regressor_ : object
        The trained regressor of scikit-learn.
    """

    time_of_day: bool
    thinning: float

    def _learn(self, days: list[Day], people: list[Array]) -> None:
        base = BackgroundCO2.learn(days)
        step = days[0].readings_in(self.thinning)
        rows = np.vstack([self._features(day, base)[::step] for day in days])
        truth = np.concatenate([inside[::step] for inside in people])
        number = np.repeat(np.arange(len(days)), [len(inside[::step]) for inside in people])
        self.regressor_ = self._trained(rows, truth, number)
        self.base_ = base

    def _people(self, day: Day) -> Array:
        return np.asarray(self.regressor_.predict(self._features(day, self.base_)), dtype=float)

    def _features(self, day: Day, base: BackgroundCO2) -> Array:
        return window_features(day, base, ahead=self._ahead(day), time_of_day=self.time_of_day)

    @abstractmethod
    def _trained(self, rows: Array, people: Array, day: NDArray[np.intp]) -> Any:
        """Train the regressor on rows; ``day`` is the number of each row's day."""


def tuned(
    regressor: Any, grid: dict[str, Any], rows: Array, people: Array, day: NDArray[np.intp], *, every: int = 1
) -> Any:
    """Choose settings with whole training days left out in turn, then train on all rows.

    Parameters
    ----------
    regressor : object
        A regressor of scikit-learn.
    grid : dict
        Values to choose from, by parameter.
    rows, people, day : array
        See ``WindowRegressor``.
    every : int
        Choose on every so many rows only, where training is slow.
    """
    chosen = slice(None, None, every)
    number = day[chosen]
    splits = [
        (np.flatnonzero(np.isin(number, learn)), np.flatnonzero(np.isin(number, score)))
        for learn, score in day_folds(int(day[-1]) + 1)
    ]
    search = GridSearchCV(regressor, grid, scoring="neg_mean_squared_error", cv=splits, refit=False)
    search.fit(rows[chosen], people[chosen])
    return regressor.set_params(**search.best_params_).fit(rows, people)
