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


class MLPBaseline(WindowRegressor):
    """The mean of a few perceptrons on window features, stopped early and penalised.

    Parameters
    ----------
    lag : float
        Minutes that an estimate may wait for later readings [min].
    time_of_day : bool
        Whether to look at the time of day and the kind of day.
    thinning : float
        Train on a row every so many minutes [min].
    hidden : sequence of int
        Neurons of each hidden layer.
    alpha : float
        Penalty of the weights.
    passes : int
        Passes over the training rows.
    n_networks : int
        Perceptrons to average.
    random_state : int
        Seed of the draws.
    """

    def __init__(
        self,
        *,
        lag: float = 0,
        time_of_day: bool = True,
        thinning: float = 3,
        hidden: tuple[int, ...] = (32,),
        alpha: float = 10.0,
        passes: int = 40,
        n_networks: int = 5,
        random_state: Any = 0,
    ) -> None:
        self.lag = lag
        self.time_of_day = time_of_day
        self.thinning = thinning
        self.hidden = hidden
        self.alpha = alpha
        self.passes = passes
        self.n_networks = n_networks
        self.random_state = random_state

    def _trained(self, rows: Array, people: Array, day: NDArray[np.intp]) -> Committee:
        features, target = StandardScaler().fit(rows), StandardScaler().fit(people[:, None])
        inputs, outputs = features.transform(rows), target.transform(people[:, None])[:, 0]
        seeds = check_random_state(self.random_state).randint(2**31 - 1, size=self.n_networks)
        return Committee(features, target, [self._network(inputs, outputs, int(seed)) for seed in seeds])

    def _network(self, inputs: Array, outputs: Array, seed: int) -> Any:
        """Train pass by pass: few on purpose, which ``MLPRegressor.fit`` would warn of."""
        network = MLPRegressor(
            hidden_layer_sizes=self.hidden, alpha=self.alpha, learning_rate_init=0.003, random_state=seed
        )
        for _ in range(self.passes):
            network.partial_fit(inputs, outputs)
        return network


@dataclass(frozen=True)
class Committee:
    """Perceptrons that are asked together, on standardised features and people."""

    features: Any
    target: Any
    networks: list[Any]

    def predict(self, rows: Array) -> Array:
        """Mean of what the perceptrons say [people]."""
        inputs = self.features.transform(rows)
        said = np.mean([network.predict(inputs) for network in self.networks], axis=0)
        return np.asarray(self.target.inverse_transform(said[:, None])[:, 0])
