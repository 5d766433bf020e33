"""Kernel regression with a robust loss: people as a smooth, bounded function of the features of the network.

A Gaussian kernel, as in support vector regression, estimates an unusual reading from the training readings
that are like it, and does not extrapolate. With the Huber loss, a day on which CO2 contradicts the head
counts has little influence. Both are unlike the other members, which minimise squared errors.

The kernel is replaced by random Fourier features (Rahimi and Recht 2007): cosines of random projections whose
inner products are the kernel in the mean. All rooms share the projections, so a trained room holds only the
standardisation of its features and a coefficient for each cosine, and many rooms are evaluated at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve

from occupair.room.features import people_spread

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

N_WAVES = 200
"""Number of random Fourier features."""

WIDTH = 10.0
"""Distance between standardised features at which the kernel is exp(-1/2): a smooth function of many."""

_SEED = 20161
_RIDGE, _CONSTANT_RIDGE = 0.3, 1e-3
_HUBER = 0.2  # error from which on the loss is linear, in standard deviations of the head counts
_ITERATIONS = 5  # of the reweighted least squares
_MAX_SAMPLES = 3000  # about ten days; more take longer and hardly improve the regression


@dataclass(frozen=True)
class KernelRegression:
    """A trained kernel regression.

    Parameters
    ----------
    mean, scale : array of shape (n_features,)
        Standardisation of the features: subtract ``mean``, then multiply by ``scale``.
    coef : array of shape (N_WAVES + 1,)
        Coefficient of each random Fourier feature and the constant [people].
    """

    mean: Array
    scale: Array
    coef: Array


@cache
def random_waves(n_features: int) -> tuple[Array, Array]:
    """Return the projections, shape (N_WAVES, n_features), and the phases, shape (N_WAVES, 1).

    The generator is numpy's RandomState because its stream is frozen: models do not store the projections.
    """
    generator = np.random.RandomState(_SEED)
    projections = generator.standard_normal((N_WAVES, n_features)) / WIDTH
    phases = generator.uniform(0.0, 2 * np.pi, size=(N_WAVES, 1))
    projections.flags.writeable = phases.flags.writeable = False
    return projections, phases


def waves(standardised: Array) -> Array:
    """Return the random Fourier features and a constant, shape (N_WAVES + 1, N).

    Parameters
    ----------
    standardised : array of shape (n_features, N)
        Standardised features.
    """
    projections, phases = random_waves(len(standardised))
    found = np.empty((N_WAVES + 1, standardised.shape[1]))
    np.matmul(projections, standardised, out=found[:-1])
    found[:-1] += phases
    np.cos(found[:-1], out=found[:-1])
    found[:-1] *= np.sqrt(2 / N_WAVES)
    found[-1] = 1.0
    return found


def fit_kernel(features: Array, people: Array, weight: Array | None = None) -> KernelRegression:
    """Train the regression by iteratively reweighted least squares.

    Of many samples, every n-th is used: neighbours are alike.

    Parameters
    ----------
    features : array of shape (N, n_features)
        Features of the network.
    people : array of shape (N,)
        Head counts [people].
    weight : array of shape (N,), optional
        Sample weights; None or all 0: all 1.
    """
    some = slice(None, None, -(-len(people) // _MAX_SAMPLES))
    features, people = features[some], people[some]
    given = np.ones(people.size) if weight is None or not weight.any() else weight[some]
    mean = np.average(features, axis=0, weights=given)
    spread = np.sqrt(np.average((features - mean) ** 2, axis=0, weights=given))
    scale = 1 / np.where(spread > 1e-6, spread, 1.0)
    unit, centre = people_spread(people), float(np.average(people, weights=given))
    target = (people - centre) / unit
    outputs = waves(((features - mean) * scale).T)
    ridge = np.append(np.full(N_WAVES, _RIDGE), _CONSTANT_RIDGE)
    robust = np.ones(people.size)
    for _ in range(_ITERATIONS):
        weighted = outputs * (given * robust)
        coef = solve(weighted @ outputs.T + np.diag(ridge), weighted @ target, assume_a="pos")
        robust = np.minimum(1.0, _HUBER / np.maximum(np.abs(target - coef @ outputs), _HUBER))
    coef = coef * unit
    coef[-1] += centre
    return KernelRegression(mean, scale, coef)


class KernelEvaluator:
    """Evaluates the kernel regressions of R refinements in one or many rooms.

    Parameters
    ----------
    rooms : sequence of sequence of KernelRegression
        Regressions of the R refinements of each room.
    """

    def __init__(self, rooms: Sequence[Sequence[KernelRegression]]) -> None:
        self._mean, self._scale, self._coef = (
            np.ascontiguousarray(np.array([[getattr(one, name) for one in room] for room in rooms]).T)
            for name in ("mean", "scale", "coef")
        )  # each of shape (size, R, n_rooms)

    def people(self, features: Array, rooms: slice | Indices | None = None) -> Array:
        """Estimate the people, not clamped, shape (R, N) [people].

        Parameters
        ----------
        features : array of shape (n_features, R, N)
            Features of the network.
        rooms : slice or array of int, optional
            Room of each input. None: all inputs are of the only room.
        """
        own = slice(None) if rooms is None else rooms
        standardised = (features - self._mean[:, :, own]) * self._scale[:, :, own]
        outputs = waves(standardised.reshape(len(features), -1)).reshape(-1, *features.shape[1:])
        return np.asarray(np.einsum("jrn,jrn->rn", self._coef[:, :, own], outputs))
