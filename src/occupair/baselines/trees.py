"""Window regressors made of trees: random forest and gradient boosting, with settings good anywhere."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor

from occupair.baselines.baseline import Array
from occupair.baselines.window_regressor import WindowRegressor


class RandomForestBaseline(WindowRegressor):
    """A random forest on window features.

    Parameters
    ----------
    lag : float
        Minutes that an estimate may wait for later readings [min].
    time_of_day : bool
        Whether to look at the time of day and the kind of day.
    thinning : float
        Train on a row every so many minutes [min].
    n_trees : int
        Trees in the forest.
    leaf : int
        Rows that a leaf holds at least.
    random_state : int
        Seed of the draws.
    """

    def __init__(
        self,
        *,
        lag: float = 0,
        time_of_day: bool = True,
        thinning: float = 3,
        n_trees: int = 200,
        leaf: int = 60,
        random_state: Any = 0,
    ) -> None:
        self.lag = lag
        self.time_of_day = time_of_day
        self.thinning = thinning
        self.n_trees = n_trees
        self.leaf = leaf
        self.random_state = random_state

    def _trained(self, rows: Array, people: Array, day: NDArray[np.intp]) -> Any:
        forest = RandomForestRegressor(
            self.n_trees, min_samples_leaf=self.leaf, max_features=0.4, random_state=self.random_state
        )
        return forest.fit(rows, people)


class GradientBoostingBaseline(WindowRegressor):
    """Gradient-boosted trees on window features.

    Parameters
    ----------
    lag : float
        Minutes that an estimate may wait for later readings [min].
    time_of_day : bool
        Whether to look at the time of day and the kind of day.
    thinning : float
        Train on a row every so many minutes [min].
    n_trees : int
        Trees, each correcting those before it.
    learning_rate : float
        How far each tree corrects.
    leaves : int
        Leaves of a tree at most.
    random_state : int
        Seed of the draws.
    """

    def __init__(
        self,
        *,
        lag: float = 0,
        time_of_day: bool = True,
        thinning: float = 3,
        n_trees: int = 300,
        learning_rate: float = 0.02,
        leaves: int = 4,
        random_state: Any = 0,
    ) -> None:
        self.lag = lag
        self.time_of_day = time_of_day
        self.thinning = thinning
        self.n_trees = n_trees
        self.learning_rate = learning_rate
        self.leaves = leaves
        self.random_state = random_state

    def _trained(self, rows: Array, people: Array, day: NDArray[np.intp]) -> Any:
        boosting = HistGradientBoostingRegressor(
            max_iter=self.n_trees,
            learning_rate=self.learning_rate,
            max_leaf_nodes=self.leaves,
            min_samples_leaf=30,
            l2_regularization=1.0,
            max_features=0.5,
            early_stopping=False,
            random_state=self.random_state,
        )
        return boosting.fit(rows, people)
