"""Tree-based window regressors with fixed settings: random forest and gradient boosting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor

from occupair.baselines.baseline import Array
from occupair.baselines.window_regressor import WindowRegressor


@dataclass(kw_only=True, eq=False, repr=False)
class RandomForestBaseline(WindowRegressor):
    """A random forest on window features.

    Parameters
    ----------
    lag : float
        Lag of the estimates: how long each waits for later readings [min].
    time_of_day : bool
        Whether to use the time of day and the day type.
    thinning : float
        Time between training rows [min].
    n_trees : int
        Number of trees.
    leaf : int
        Minimum number of rows in a leaf.
    random_state : int
        Random seed.
    """

    n_trees: int = 200
    leaf: int = 60
    random_state: Any = 0

    def _fit_regressor(self, rows: Array, people: Array, day: NDArray[np.intp]) -> Any:
        forest = RandomForestRegressor(
            self.n_trees, min_samples_leaf=self.leaf, max_features=0.4, random_state=self.random_state
        )
        return forest.fit(rows, people)


@dataclass(kw_only=True, eq=False, repr=False)
class GradientBoostingBaseline(WindowRegressor):
    """Gradient-boosted trees on window features.

    Parameters
    ----------
    lag : float
        Lag of the estimates: how long each waits for later readings [min].
    time_of_day : bool
        Whether to use the time of day and the day type.
    thinning : float
        Time between training rows [min].
    n_trees : int
        Number of boosting iterations.
    learning_rate : float
        Shrinkage of each tree.
    leaves : int
        Maximum number of leaves of a tree.
    random_state : int
        Random seed.
    """

    n_trees: int = 300
    learning_rate: float = 0.02
    leaves: int = 4
    random_state: Any = 0

    def _fit_regressor(self, rows: Array, people: Array, day: NDArray[np.intp]) -> Any:
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
