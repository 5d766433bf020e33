"""FS-ELM with direct links: features reach the output through the random neurons and directly.

The hidden layer is that of Jiang et al. 2016, Eqs. (9)-(14), with 1/2 subtracted from its outputs. Next to
it, the features themselves, standardised, and a constant enter the same ridge regression, Eq. (15). Neurons
and links have separate ridges. The solve needs only H'H and H'o, which are accumulated over blocks of rows
that fit into the cache; each further pair of ridges then costs one small solve.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dposv

from occupair.elm.hidden_layer import random_layer, sigmoid_in_place
from occupair.errors import InputError

Array = NDArray[np.float64]

RIDGES = (0.01, 0.1, 1.0, 10.0, 100.0)  # candidate ridges of the neurons
LINK_RIDGES = (1.0, 100.0)  # candidate ridges of the links
_ROWS_PER_BLOCK = 1024  # about 2.5 MB with 300 neurons, which fits into the cache
_CONSTANT_RIDGE = 1e-6  # negligible
_NOISE = 1e-9  # features, in units near 1, that never exceed this are 0 except for rounding


@dataclass(frozen=True)
class LinkedLayer:
    """Random hidden layer with direct links, scaled to its training features.

    Parameters
    ----------
    seed : int
        Seed of the random weights and biases, see ``random_layer``.
    n_hidden : int
        Number of neurons, L.
    sizes : tuple of int
        Number of features in each group.
    alphas : array of shape (n_groups,)
        Scale of each group, Eq. (12).
    mean, scale : array of shape (n_features,)
        Standardisation of the links: subtract ``mean``, then multiply by ``scale``.
    """

    seed: int
    n_hidden: int
    sizes: tuple[int, ...]
    alphas: Array
    mean: Array
    scale: Array

    def __post_init__(self) -> None:
        weights, bias = random_layer(self.seed, self.n_hidden, sum(self.sizes))
        scaled = weights * np.repeat(self.alphas, self.sizes)
        object.__setattr__(self, "_weights", scaled)
        object.__setattr__(self, "_bias", bias[:, np.newaxis])

    @property
    def n_outputs(self) -> int:
        """Number of outputs, n."""
        return self.n_hidden + self.mean.size + 1

    def outputs(self, x: Array, out: Array | None = None) -> Array:
        """Return the outputs for each row of features, shape (N, n).

        ``out`` is optional memory of shape (n, N) to write them to; each output is contiguous in memory.
        """
        return linked_outputs(
            self._weights,  # type: ignore[attr-defined]
            self._bias,  # type: ignore[attr-defined]
            x.T,
            (x.T, self.mean[:, np.newaxis], self.scale[:, np.newaxis]),
            out,
        ).T

    def penalty(self, ridge: float, link_ridge: float) -> Array:
        """Return the ridge of every output."""
        links = np.full(self.mean.size, link_ridge)
        return np.concatenate([np.full(self.n_hidden, ridge), links, [_CONSTANT_RIDGE]])


def linked_outputs(
    weights: Array, bias: Array, x: Array, links: tuple[Array, Array, Array], out: Array | None = None
) -> Array:
    """Return the outputs of hidden layer and links: sigmoid(weights x + bias) - 1/2, scaled links, and 1.

    Parameters
    ----------
    weights, bias : array of shape (L, n_features) and (L, 1)
        Weights and biases of the neurons. The group scales, Eq. (12), are part of the weights or of ``x``.
    x : array of shape (n_features, N)
        Inputs of the neurons.
    links : tuple of array
        Features, shape (n_features, N), their means and their scales, shape (n_features, 1) or
        (n_features, N).
    out : array of shape (n, N), optional
        Memory to write the outputs to.

    Returns
    -------
    array of shape (n, N), n = L + n_features + 1
    """
    features, mean, scale = links
    n_hidden = len(weights)
    out = np.empty((n_hidden + len(features) + 1, features.shape[1])) if out is None else out
    hidden, linked = out[:n_hidden], out[n_hidden:-1]
    np.matmul(weights, x, out=hidden)
    hidden += bias
    sigmoid_in_place(hidden)
    hidden -= 0.5
    np.subtract(features, mean, out=linked)
    linked *= scale
    out[-1] = 1.0
    return out


def fit_layer(
    x: Array, sizes: Sequence[int], z_max: Sequence[float], *, n_hidden: int, seed: int
) -> LinkedLayer:
    """Draw a random layer and scale it to the features ``x``, by the three steps of Section III-D."""
    weights, _ = random_layer(seed, n_hidden, x.shape[1])
    spread, largest = x.std(axis=0), np.abs(x).max(axis=0, initial=0.0)
    above_noise, varies = np.where(largest > _NOISE, x, 0.0), spread > 1e-12 * (1 + largest)
    return LinkedLayer(
        seed=seed,
        n_hidden=n_hidden,
        sizes=tuple(sizes),
        alphas=_alphas(above_noise, sizes, z_max, weights),
        mean=x.mean(axis=0),
        scale=np.where(varies, 1 / np.where(varies, spread, 1.0), 0.0),
    )


def _alphas(x: Array, sizes: Sequence[int], z_max: Sequence[float], weights: Array) -> Array:
    """Return the scale of each group: z_max over its largest unscaled |z|, or 0 for a group of zeros."""
    edges = np.cumsum(sizes)[:-1]
    groups = zip(np.split(x, edges, axis=1), np.split(weights, edges, axis=1), strict=True)
    largest = np.array([_largest_input(group, group_weights) for group, group_weights in groups])
    all_zero = largest < np.finfo(float).tiny
    return np.where(all_zero, 0.0, np.asarray(z_max, dtype=float) / np.where(all_zero, 1.0, largest))


def _largest_input(x: Array, weights: Array) -> float:
    """Return the largest |R y| over all rows and neurons: z'_max of Section III-D, step 1.

    |weights| are at most 1, so the sum of |y| bounds |R y| of a row. Only rows whose bound exceeds the value
    already found are computed.
    """
    bound = np.abs(x).sum(axis=1)
    largest = float(np.abs(weights @ x[bound.argmax()]).max())
    candidates = x[bound > largest]
    for start in range(0, len(candidates), _ROWS_PER_BLOCK):
        z = weights @ candidates[start : start + _ROWS_PER_BLOCK].T
        largest = max(largest, float(z.max()), -float(z.min()))
    return largest


def ridge_pairs(ridges: Sequence[float] = RIDGES) -> list[tuple[float, float]]:
    """Return all candidate pairs of neuron ridge and link ridge."""
    return list(product(ridges, LINK_RIDGES))


def fit_read_outs(
    layer: LinkedLayer,
    x: Array,
    targets: Array,
    pairs: Sequence[tuple[float, float]],
    weight: Array | None = None,
) -> list[Array]:
    """Fit the read-outs of several targets for every pair of ridges.

    Parameters
    ----------
    layer : LinkedLayer
        Layer with n outputs.
    x : array of shape (N, n_features)
        Training features.
    targets : array of shape (N, m)
        Training targets.
    pairs : sequence of pairs of float
        Ridges of neurons and links.
    weight : array of shape (N,), optional
        Sample weights; None: all 1.

    Returns
    -------
    list of array of shape (n, m)
        beta of Eq. (15) for every pair, one column for each target.
    """
    gram, moment = _normal_equations(layer, x, targets, weight)
    return [_solve(gram, moment, layer.penalty(*pair)) for pair in pairs]


def _normal_equations(
    layer: LinkedLayer, x: Array, targets: Array, weight: Array | None
) -> tuple[Array, Array]:
    """Return H'H and H'o of Eq. (15), or H'WH and H'Wo, computed in blocks that reuse the same memory."""
    root = None if weight is None else np.sqrt(weight)[:, np.newaxis]
    targets = targets if root is None else root * targets
    n = layer.n_outputs
    gram, moment = np.zeros((n, n)), np.zeros((n, targets.shape[1]))
    memory, product = np.empty(n * min(_ROWS_PER_BLOCK, len(x))), np.empty((n, n))
    for start in range(0, len(x), _ROWS_PER_BLOCK):
        rows = slice(start, min(start + _ROWS_PER_BLOCK, len(x)))
        size = rows.stop - rows.start
        h = layer.outputs(x[rows], out=memory[: n * size].reshape(n, size))
        if root is not None:
            h *= root[rows]
        gram += np.matmul(h.T, h, out=product)  # numpy recognises this as a syrk
        moment += h.T @ targets[rows]
    return gram, moment


def _solve(gram: Array, moment: Array, penalty: Array) -> Array:
    """Solve (Gamma + H'H) beta = H'o, Eq. (15), by Cholesky factorisation."""
    ridged = gram.copy(order="F")
    np.fill_diagonal(ridged, gram.diagonal() + penalty)
    _, beta, info = dposv(ridged, moment, lower=True, overwrite_a=True)
    if info:
        raise InputError(f"ridge={penalty[0]:g} is too small: the training data are singular; increase it")
    return np.asarray(beta)
