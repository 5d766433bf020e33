"""A multilayer perceptron on window features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.neural_network import MLPRegressor
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_random_state

from occupair.baselines.baseline import Array
from occupair.baselines.window_regressor import WindowRegressor


@dataclass(kw_only=True, eq=False, repr=False)
class MLPBaseline(WindowRegressor):
    """The mean of several multilayer perceptrons on window features, with early stopping and weight decay.

    Parameters
    ----------
    lag : float
        Lag of the estimates: how long each waits for later readings [min].
    time_of_day : bool
        Whether to use the time of day and the day type.
    thinning : float
        Time between training rows [min].
    hidden : sequence of int
        Number of neurons in each hidden layer.
    alpha : float
        L2 penalty of the weights.
    passes : int
        Number of passes over the training rows.
    n_networks : int
        Number of perceptrons to average.
    random_state : int
        Random seed.
    """

    hidden: tuple[int, ...] = (32,)
    alpha: float = 10.0
    passes: int = 40
    n_networks: int = 5
    random_state: Any = 0

    def _fit_regressor(self, rows: Array, people: Array, day: NDArray[np.intp]) -> Ensemble:
        features, target = StandardScaler().fit(rows), StandardScaler().fit(people[:, None])
        inputs, outputs = features.transform(rows), target.transform(people[:, None])[:, 0]
        seeds = check_random_state(self.random_state).randint(2**31 - 1, size=self.n_networks)
        return Ensemble(features, target, [self._network(inputs, outputs, int(seed)) for seed in seeds])

    def _network(self, inputs: Array, outputs: Array, seed: int) -> Any:
        """Train for a fixed number of passes; ``MLPRegressor.fit`` would warn that it has not converged."""
        network = MLPRegressor(
            hidden_layer_sizes=self.hidden, alpha=self.alpha, learning_rate_init=0.003, random_state=seed
        )
        for _ in range(self.passes):
            network.partial_fit(inputs, outputs)
        return network


@dataclass(frozen=True)
class Ensemble:
    """Perceptrons on standardised features and people, averaged."""

    features: Any
    target: Any
    networks: list[Any]

    def predict(self, rows: Array) -> Array:
        """Return the mean prediction of the perceptrons [people]."""
        inputs = self.features.transform(rows)
        mean = np.mean([network.predict(inputs) for network in self.networks], axis=0)
        return np.asarray(self.target.inverse_transform(mean[:, None])[:, 0])
