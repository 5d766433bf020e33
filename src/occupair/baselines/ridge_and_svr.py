"""Window regressors with few settings, chosen on training days left out: ridge and support vectors."""

from __future__ import annotations

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


class RidgeBaseline(WindowRegressor):
    """Ridge regression on window features, the penalty chosen on training days left out in turn.

    Parameters
    ----------
    lag : float
        Minutes that an estimate may wait for later readings [min].
    time_of_day : bool
        Whether to look at the time of day and the kind of day.
    thinning : float
        Train on a row every so many minutes [min].
    alphas : sequence of float
        Penalties to choose from, on standardised features.
    """

    def __init__(
        self,
        *,
        lag: float = 0,
        time_of_day: bool = True,
        thinning: float = 3,
        alphas: tuple[float, ...] = (1.0, 10.0, 100.0, 1000.0),
    ) -> None:
        self.lag = lag
        self.time_of_day = time_of_day
        self.thinning = thinning
        self.alphas = alphas

    def _trained(self, rows: Array, people: Array, day: NDArray[np.intp]) -> Any:
        return tuned(
            make_pipeline(StandardScaler(), Ridge()), {"ridge__alpha": self.alphas}, rows, people, day
        )


class SVRBaseline(WindowRegressor):
    """Support vector regression on window features, C and gamma chosen on training days left out in turn.

    Parameters
    ----------
    lag : float
        Minutes that an estimate may wait for later readings [min].
    time_of_day : bool
        Whether to look at the time of day and the kind of day.
    thinning : float
        Train on a row every so many minutes, choose on every other of these [min].
    penalties : sequence of float
        Values of C to choose from, on standardised people.
    gammas : sequence of float
        Values of gamma to choose from, on standardised features.
    epsilon : float
        Width of the tube, on standardised people.
    """

    def __init__(
        self,
        *,
        lag: float = 0,
        time_of_day: bool = True,
        thinning: float = 5,
        penalties: tuple[float, ...] = (0.3, 3.0, 30.0),
        gammas: tuple[float, ...] = (0.001, 0.005, 0.025),
        epsilon: float = 0.1,
    ) -> None:
        self.lag = lag
        self.time_of_day = time_of_day
        self.thinning = thinning
        self.penalties = penalties
        self.gammas = gammas
        self.epsilon = epsilon

    def _trained(self, rows: Array, people: Array, day: NDArray[np.intp]) -> Any:
        machine = make_pipeline(StandardScaler(), SVR(epsilon=self.epsilon))
        whole = TransformedTargetRegressor(machine, transformer=StandardScaler())
        grid = {"regressor__svr__C": self.penalties, "regressor__svr__gamma": self.gammas}
        return tuned(whole, grid, rows, people, day, every=2)
