"""The weights of a trained network by lag, in the layout that ``occupair.paper.live_kernel`` reads."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from occupair.elm.hidden_layer import RandomLayer
from occupair.paper.features import Layer

Array = NDArray[np.float64]
Single = NDArray[np.float32]


class LagWeights(NamedTuple):
    """An unscaled random layer by input; one row per lag, oldest first, one column per neuron."""

    co2: Array  # K split into the weights of P, I and D, shape (3, l + 1, L)
    ventilation: Array  # V, shape (l + 1, L)
    feedback: Array  # W, shape (l, L)
    single: Single  # W in single precision, enough for derivatives
    bias: Array
    feedback_size: float  # largest |W'u| / sqrt(L) for |u| = 1


class LiveWeights(NamedTuple):
    """The weights of one network; the large arrays are shared by all networks of one random layer."""

    co2: Array  # lean network: the shared weights of P, I and D; otherwise their scaled sum K
    ventilation: Array
    feedback: Array
    single: Single
    bias: Array
    feedback_size: float
    co2_scale: Array  # of each entry of ``co2``, Eq. (12)
    ventilation_scale: float
    feedback_scale: float
    along: Array  # G once the smoother has settled
    coef: Array
    settled: int  # first reading of the day for which this G is valid
    smoothing: float
    most_people: float
    co2_size: float  # |G|, a mean of order 10
    coef_size: float  # |beta| sqrt(L)


def live_weights(
    random: RandomLayer,
    layer: Layer,
    *,
    scale: dict[str, float],
    coef: Array,
    smoothing: float,
    most_people: float,
    lean: bool,
) -> LiveWeights:
    """Return the weights of a network; see ``occupair.paper.network.Network`` for the parameters.

    A lean network sums the weights of P, I and D whenever it needs K, so it has no K of its own.
    """
    by_lag = _lag_weights(random, layer)
    co2_scale = np.array([value for name, value in scale.items() if name not in ("o", "v")])
    if not lean:
        by_lag, co2_scale = by_lag._replace(co2=np.tensordot(co2_scale, by_lag.co2, 1)[None]), np.ones(1)
    readings, carried = settled_smoother(smoothing)
    width = layer.horizon + 1
    fading = carried ** np.arange(width - 1.0, -1.0, -1.0)
    along = co2_scale @ (fading @ by_lag.co2)
    return LiveWeights(
        *by_lag,
        co2_scale=co2_scale,
        ventilation_scale=scale["v"],
        feedback_scale=scale["o"],
        along=along,
        coef=np.array(coef),
        settled=readings + width,
        smoothing=float(smoothing),
        most_people=float(most_people),
        co2_size=float(np.mean(along**10) ** 0.1),
        coef_size=float(np.linalg.norm(coef)) * math.sqrt(coef.size),
    )


_LAG_WEIGHTS: WeakKeyDictionary[RandomLayer, dict[Layer, LagWeights]] = WeakKeyDictionary()


def _lag_weights(random: RandomLayer, layer: Layer) -> LagWeights:
    """Return the weights of a random layer by lag; every caller gets the same arrays."""
    cached = _LAG_WEIGHTS.setdefault(random, {})
    if layer not in cached:
        cached[layer] = _weights_by_lag(random, layer)
    return cached[layer]


def _weights_by_lag(random: RandomLayer, layer: Layer) -> LagWeights:
    """Find the weight of each lag: the features are linear, so a unit impulse at a lag yields it."""
    zeros, impulses = np.zeros(layer.horizon + 1), np.eye(layer.horizon + 1)
    columns = layer.column_slices()
    responses = [layer.groups(impulse, zeros, zeros) for impulse in impulses]
    co2 = [
        np.vstack([groups[name] for groups in responses]) @ random.weights[columns[name]]
        for name in columns
        if name not in ("o", "v")
    ]
    feedback = np.array(random.weights[columns["o"]])
    return LagWeights(
        co2=np.array(co2),
        ventilation=np.array(random.weights[columns["v"]]),
        feedback=feedback,
        single=feedback.astype(np.float32),
        bias=np.array(random.bias),
        feedback_size=float(np.linalg.norm(feedback, 2)) / math.sqrt(random.bias.size),
    )


@lru_cache
def settled_smoother(smoothing: float, most: int = 100_000) -> tuple[int, float]:
    """Return the readings until the pivots of the smoother are constant, and the factor b from then on."""
    q = 1.0
    for n in range(most):
        carried = smoothing / (smoothing + q)
        settled, q = 1.0 + carried * q == q, 1.0 + carried * q
        if settled:
            return n, carried
    return 1 << 40, carried  # the smoothing is so strong that no day is long enough
