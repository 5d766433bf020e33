"""Stability of the feedback of past estimates."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from occupair.elm.hidden_layer import sigmoid_in_place
from occupair.paper.network import Network

Array = NDArray[np.float64]


def error_growth(network: Network, co2: Array, ventilation: Array, people: Array) -> float:
    """Return the factor by which a small error of the past estimates grows per reading.

    Jiang et al. 2016 train on the true past and run on estimates, Eq. (21), so the estimator is a feedback
    loop. Linearised around one window, an error is e_k = g_1 e_{k-l} + ... + g_l e_{k-1}, with g the
    derivative of Eq. (16) with respect to the past occupancy. The factor is the spectral radius of this
    recursion: below 1 errors decay, above 1 the estimate runs away to a clamp.

    Parameters
    ----------
    network : Network
        The trained estimator.
    co2, ventilation : arrays of shape (horizon + 1,)
        The lag window of one reading [ppm], [0..1].
    people : array of shape (horizon,)
        The past occupancy at which to linearise [people].
    """
    feedback = network.weights_of("o")
    z = network.known_input(co2, ventilation)[0] + people @ feedback
    h = sigmoid_in_place(z)
    recursion = np.eye(network.layer.horizon, k=1)
    recursion[-1] = feedback @ (h * (1.0 - h) * network.coef)
    return float(np.abs(np.linalg.eigvals(recursion)).max())
