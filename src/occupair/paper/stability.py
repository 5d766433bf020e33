"""Whether an error in the estimates fades or grows when they are fed back."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from occupair.elm.hidden_layer import sigmoid_in_place
from occupair.paper.network import Network

Array = NDArray[np.float64]


def error_growth(network: Network, co2: Array, ventilation: Array, people: Array) -> float:
    """Factor by which a small error of the past estimates grows from one reading to the next.

    Jiang et al. 2016 trains on the true past and runs on estimates, Eq. (21), so the estimator is a
    feedback loop. Around one window it is linear: an error e_k = g_1 e_{k-l} + ... + g_l e_{k-1}, with g
    the derivative of Eq. (16) by the past occupancy. The factor is the largest modulus among the
    eigenvalues of that recursion: below 1 errors fade, above 1 the estimate runs away to a clamp.

    Parameters
    ----------
    network : Network
        The trained estimator.
    co2, ventilation : arrays of shape (horizon + 1,)
        The window of one reading [ppm], [0..1].
    people : array of shape (horizon,)
        The past occupancy around which errors are looked at [people].
    """
    feedback = network.weights_of("o")
    z = network.known_input(co2, ventilation)[0] + people @ feedback
    h = sigmoid_in_place(z)
    recursion = np.eye(network.layer.horizon, k=1)
    recursion[-1] = feedback @ (h * (1.0 - h) * network.coef)
    return float(np.abs(np.linalg.eigvals(recursion)).max())
