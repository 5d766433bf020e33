"""The trained network of the paper, run on its own past estimates: Eqs. (16) and (21)-(26)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from occupair.elm.hidden_layer import RandomLayer, shared_layer, sigmoid_in_place
from occupair.elm.regressors import ELMRegressor
from occupair.paper.features import Layer
from occupair.paper.live_weights import LiveWeights, live_weights

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Network:
    """A trained network, split into the input known from the readings and the fed-back estimates.

    z_k = RS y_k + b, Eq. (9), is a sum. The share of CO2, ventilation and bias is computed for all readings
    at once; only the share of the past estimates has to be added one reading after the other. Networks drawn
    from the same seed share R in memory, so each room adds only S and beta.

    Parameters
    ----------
    layer : Layer
        The features, with lags in readings.
    smoothing : float
        Weight of the CO2 smoothing, lambda [readings squared].
    most_people : float
        Upper clamp: the maximum occupancy in training [people].
    random : RandomLayer
        R and b.
    scale : dict of str to float
        Scale of each feature group: the diagonal of S, Eq. (12).
    coef : array of shape (L,)
        The read-out beta.
    lean : bool
        Whether to store only what other networks cannot share; saves memory, costs speed.
    """

    layer: Layer
    smoothing: float
    most_people: float
    random: RandomLayer
    scale: dict[str, float]
    coef: Array
    lean: bool = False

    @classmethod
    def from_regressor(
        cls,
        regressor: ELMRegressor,
        layer: Layer,
        *,
        smoothing: float,
        most_people: float,
        lean: bool = False,
    ) -> Self:
        """Build the network of a trained regressor."""
        groups = list(layer.sizes())
        scale = np.broadcast_to(regressor.scale_, len(groups)).tolist()
        return cls(
            layer=layer,
            smoothing=smoothing,
            most_people=most_people,
            random=shared_layer(regressor.layer_seed_, regressor.coef_.size, regressor.n_features_in_),
            scale=dict(zip(groups, scale, strict=True)),
            coef=regressor.coef_,
            lean=lean,
        )

    def run(self, co2: Array, ventilation: Array, people: Array, *, start: int) -> None:
        """Estimate readings ``start`` to the last in place, from the estimates before ``start``.

        Eq. (16) on estimated past occupancy. Depending on the CO2 passed in this is Eq. (21), (22), (24) or
        (26). Each estimate is clamped to [0, most_people] before the next one uses it. The three arrays begin
        at the same reading, and ``start`` is at least the horizon.
        """
        horizon = self.layer.horizon
        first = start - horizon
        known = self.known_input(co2[first:], ventilation[first:])
        if not self.feeds_back:  # all readings at once
            people[start:] = np.clip(sigmoid_in_place(known) @ self.coef, 0.0, self.most_people)
            return
        feedback, z = self.weights_of("o"), np.empty(self.coef.size)
        for k, known_k in enumerate(known, start=start):
            np.dot(people[k - horizon : k], feedback, out=z)
            z += known_k
            people[k] = min(max(float(sigmoid_in_place(z) @ self.coef), 0.0), self.most_people)

    def known_input(self, co2: Array, ventilation: Array) -> Array:
        """Return z_k without the past occupancy, one row per reading from the horizon on."""
        groups = self.layer.groups(co2, np.zeros(co2.size), ventilation)
        known = [name for name in groups if name != "o"]
        columns = np.hstack([groups[name] for name in known])
        return np.asarray(columns @ np.vstack([self.weights_of(name) for name in known]) + self.random.bias)

    @property
    def feeds_back(self) -> bool:
        """Whether an estimate depends on past estimates."""
        return self.scale["o"] != 0

    def weights_of(self, group: str) -> Array:
        """Return the rows of RS that multiply a feature group."""
        return self.random.weights[self.layer.column_slices()[group]] * self.scale[group]

    @cached_property
    def live_weights(self) -> LiveWeights:
        """The weights in the layout of ``occupair.paper.live_kernel``."""
        return live_weights(
            self.random,
            self.layer,
            scale=self.scale,
            coef=self.coef,
            smoothing=self.smoothing,
            most_people=self.most_people,
            lean=self.lean,
        )
