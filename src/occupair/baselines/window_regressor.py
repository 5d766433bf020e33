"""Base class of the regressors on window features."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GridSearchCV

from occupair.baselines.background_co2 import BackgroundCO2
from occupair.baselines.baseline import Array, Baseline, Day
from occupair.baselines.window_features import window_features
from occupair.folds import day_folds


@dataclass(kw_only=True, eq=False, repr=False)
class WindowRegressor(Baseline):
    """A baseline that regresses occupancy on ``window_features``.

    The windows end ``lag`` minutes after the reading to estimate, in training as in use. Neighbouring rows
    are nearly identical, so only one row every ``thinning`` minutes is used in training.

    Parameters
    ----------
    lag : float
        Lag of the estimates: how long each waits for later readings [min].
    time_of_day : bool
        Whether to use the time of day and the day type.
    thinning : float
        Time between training rows [min].

    Attributes
    ----------
    base_ : BackgroundCO2
        Background level of CO2.
    regressor_ : object
        Trained scikit-learn regressor.
    """

    time_of_day: bool = True
    thinning: float = 3

    def _fit_days(self, days: list[Day], people: list[Array]) -> None:
        base = BackgroundCO2.learn(days)
        step = days[0].readings_in(self.thinning)
        rows = np.vstack([self._features(day, base)[::step] for day in days])
        truth = np.concatenate([inside[::step] for inside in people])
        number = np.repeat(np.arange(len(days)), [len(inside[::step]) for inside in people])
        self.regressor_ = self._fit_regressor(rows, truth, number)
        self.base_ = base

    def _estimate_day(self, day: Day) -> Array:
        return np.asarray(self.regressor_.predict(self._features(day, self.base_)), dtype=float)

    def _features(self, day: Day, base: BackgroundCO2) -> Array:
        return window_features(day, base, ahead=self._ahead(day), time_of_day=self.time_of_day)

    @abstractmethod
    def _fit_regressor(self, rows: Array, people: Array, day: NDArray[np.intp]) -> Any:
        """Train the regressor on feature rows; ``day`` is the day number of each row."""


def tuned(
    regressor: Any, grid: dict[str, Any], rows: Array, people: Array, day: NDArray[np.intp], *, every: int = 1
) -> Any:
    """Select settings by cross-validation over training days, then train on all rows.

    Parameters
    ----------
    regressor : object
        A scikit-learn regressor.
    grid : dict
        Candidate values by parameter.
    rows, people, day : array
        See ``WindowRegressor._fit_regressor``.
    every : int
        Use every n-th row for the selection, if training is slow.
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
