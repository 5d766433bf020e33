"""Window regressors tuned by cross-validation over training days: ridge and support vector regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.compose import TransformedTargetRegressor
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

from occupair.baselines.baseline import Array
from occupair.baselines.window_regressor import WindowRegressor, tuned


@dataclass(kw_only=True, eq=False, repr=False)
class RidgeBaseline(WindowRegressor):
    """Ridge regression on window features; the penalty is selected by cross-validation over days.

    Parameters
    ----------
    lag : float
        Lag of the estimates: how long each waits for later readings [min].
    time_of_day : bool
        Whether to use the time of day and the day type.
    thinning : float
        Time between training rows [min].
    alphas : sequence of float
        Candidate penalties, on standardised features.
    """

    alphas: tuple[float, ...] = (1.0, 10.0, 100.0, 1000.0)

    def _fit_regressor(self, rows: Array, people: Array, day: NDArray[np.intp]) -> Any:
        return tuned(
            make_pipeline(StandardScaler(), Ridge()), {"ridge__alpha": self.alphas}, rows, people, day
        )


@dataclass(kw_only=True, eq=False, repr=False)
class SVRBaseline(WindowRegressor):
    """Support vector regression on window features; C and gamma are selected by cross-validation over days.

    Parameters
    ----------
    lag : float
        Lag of the estimates: how long each waits for later readings [min].
    time_of_day : bool
        Whether to use the time of day and the day type.
    thinning : float
        Time between training rows; every other row is used for tuning [min].
    penalties : sequence of float
        Candidate values of C, on standardised people.
    gammas : sequence of float
        Candidate values of gamma, on standardised features.
    epsilon : float
        Half-width of the insensitive tube, on standardised people.
    """

    thinning: float = 5
    penalties: tuple[float, ...] = (0.3, 3.0, 30.0)
    gammas: tuple[float, ...] = (0.001, 0.005, 0.025)
    epsilon: float = 0.1

    def _fit_regressor(self, rows: Array, people: Array, day: NDArray[np.intp]) -> Any:
        machine = make_pipeline(StandardScaler(), SVR(epsilon=self.epsilon))
        scaled = TransformedTargetRegressor(machine, transformer=StandardScaler())
        grid = {"regressor__svr__C": self.penalties, "regressor__svr__gamma": self.gammas}
        return tuned(scaled, grid, rows, people, day, every=2)
