"""FS-ELM with direct links: features reach the output through the random neurons and directly.

The hidden layer is that of Jiang et al. 2016, Eqs. (9)-(14), with 1/2 subtracted from its outputs. Next to
it, the features themselves and a constant enter the same ridge regression, Eq. (15). The features are first
divided by their spread in the room, so the groups can be scaled to the same influence, Eq. (13), in every
room: the largest unscaled input z'_max of Section III-D is replaced by the square root of the number of
features in the group, which is its order of magnitude for features of unit size. All rooms then share the
layer, and a read-out that was trained on other rooms is a meaningful start.

The neurons are split into ``N_LAYERS`` layers of their own. Each has its own read-out, and the outputs are
averaged, which varies less with the random draw than a single layer of the same size.

The ridge shrinks the read-out towards its start. Neurons and links have separate ridges. The solve needs only
H'H and H'o, which are accumulated over blocks of rows that fit into the cache; each further pair of ridges
then costs one small solve.
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

RIDGES = (1.0, 10.0, 100.0, 1000.0)  # candidate ridges of the neurons
LINK_RIDGES = (10.0, 100.0, 1000.0)  # candidate ridges of the links
N_LAYERS = 3  # layers whose outputs are averaged
_ROWS_PER_BLOCK = 1024  # about 2.5 MB with 300 neurons, which fits into the cache
_CONSTANT_RIDGE = 1e-3  # negligible


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
    alphas : array of shape (n_features,)
        Scale of each feature: that of its group, Eq. (12), divided by the spread of the feature.
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
        object.__setattr__(self, "_weights", weights * self.alphas)
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
            (x.T - self.mean[:, np.newaxis]) * self.scale[:, np.newaxis],
            out,
        ).T

    def layer_outputs(self) -> list[NDArray[np.int64]]:
        """Return the outputs of each of the averaged layers: its neurons, the links and the constant."""
        links = np.arange(self.n_hidden, self.n_outputs)
        return [np.append(own, links) for own in np.array_split(np.arange(self.n_hidden), N_LAYERS)]

    def penalty(self, ridge: float, link_ridge: float, n_hidden: int) -> Array:
        """Return the ridge of every output of a layer with ``n_hidden`` neurons."""
        links = np.full(self.mean.size, link_ridge)
        return np.concatenate([np.full(n_hidden, ridge), links, [_CONSTANT_RIDGE]])


def linked_outputs(weights: Array, bias: Array, x: Array, links: Array, out: Array | None = None) -> Array:
    """Return the outputs of hidden layer and links: sigmoid(weights x + bias) - 1/2, the links, and 1.

    Parameters
    ----------
    weights, bias : array of shape (L, n_features) and (L, 1)
        Weights and biases of the neurons. The group scales, Eq. (12), are part of the weights or of ``x``.
    x : array of shape (n_features, N)
        Inputs of the neurons.
    links : array of shape (n_features, N)
        Standardised features.
    out : array of shape (n, N), optional
        Memory to write the outputs to.

    Returns
    -------
    array of shape (n, N), n = L + n_features + 1
    """
    n_hidden = len(weights)
    out = np.empty((n_hidden + len(links) + 1, links.shape[1])) if out is None else out
    hidden = out[:n_hidden]
    np.matmul(weights, x, out=hidden)
    hidden += bias
    sigmoid_in_place(hidden)
    hidden -= 0.5
    out[n_hidden:-1] = links
    out[-1] = 1.0
    return out


def fit_layer(
    gains: Array, sizes: Sequence[int], z_max: Sequence[float], *, n_hidden: int, seed: int
) -> LinkedLayer:
    """Draw a random layer and scale it to a room.

    Parameters
    ----------
    gains : array of shape (n_features,)
        Factors that bring the features to unit size, see ``feature_gains``.
    sizes : sequence of int
        Number of features in each group.
    z_max : sequence of float
        Influence of each group, Eq. (13).
    n_hidden : int
        Number of neurons.
    seed : int
        Random seed.
    """
    influence = np.asarray(z_max, dtype=float) / np.sqrt(sizes)
    return LinkedLayer(
        seed=seed,
        n_hidden=n_hidden,
        sizes=tuple(sizes),
        alphas=gains * np.repeat(influence, sizes),
        mean=np.zeros(gains.size),
        scale=gains,
    )


def ridge_pairs(ridges: Sequence[float] = RIDGES) -> list[tuple[float, float]]:
    """Return all candidate pairs of neuron ridge and link ridge."""
    return list(product(ridges, LINK_RIDGES))


def fit_read_outs(
    layer: LinkedLayer,
    x: Array,
    targets: Array,
    pairs: Sequence[tuple[float, float]],
    weight: Array | None = None,
    start: Array | None = None,
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
    start : array of shape (n_layers, outputs of a layer, m), optional
        Read-outs of each layer that the ridge shrinks towards; None: 0.

    Returns
    -------
    list of array of shape (n, m)
        beta of Eq. (15) for every pair, one column for each target, averaged over the layers. With a start,
        the read-outs that shrink towards 0 follow those that shrink towards it.
    """
    gram, moment = normal_equations(layer, x, targets, weight)
    own = layer.layer_outputs()
    starts = [None] if start is None else [start, None]
    found = [np.zeros((layer.n_outputs, targets.shape[1])) for _ in range(len(starts) * len(pairs))]
    for k, outputs in enumerate(own):
        layer_gram = gram[np.ix_(outputs, outputs)]
        n_hidden = outputs.size - layer.mean.size - 1
        towards = [np.zeros_like(moment[outputs]) if one is None else one[k] for one in starts]
        residuals = np.hstack([moment[outputs] - layer_gram @ one for one in towards])
        for p, pair in enumerate(pairs):
            steps = np.hsplit(_solve(layer_gram, residuals, layer.penalty(*pair, n_hidden)), len(starts))
            for s, (step, one) in enumerate(zip(steps, towards, strict=True)):
                found[s * len(pairs) + p][outputs] += (step + one) / len(own)
    return found


def normal_equations(
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
