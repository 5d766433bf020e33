"""An FS-ELM with direct links: its columns reach the output through the random neurons and past them.

The hidden layer is that of Jiang et al. 2016, Eqs. (9)-(14), with outputs counted from 1/2. Beside it the
columns themselves, each of mean 0 and variance 1, and a constant are read out by the same ridge solve,
Eq. (15). Neurons and links have a ridge each. The solve needs only H'H and H'o, which rows add to in blocks
that fit a cache; to try other ridges costs no more than a few small solves.
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

RIDGES = (0.01, 0.1, 1.0, 10.0, 100.0)  # of the neurons, to choose from
LINK_RIDGES = (1.0, 100.0)  # of the links
_ROWS_PER_BLOCK = 1024  # of 300 neurons some 2.5 MB: a cache holds them
_FREE = 1e-6  # of the constant: none that matters
_NOISE = 1e-9  # columns, in units near 1, that never come further from 0 are 0 but for rounding


@dataclass(frozen=True)
class LinkedLayer:
    """A random layer with links beside it, scaled to the columns it was made for.

    Parameters
    ----------
    seed : int
        Gives the random weights and bias again: ``random_layer``.
    n_hidden : int
        Neurons, L.
    sizes : tuple of int
        Columns in each group.
    alphas : array of shape (n_groups,)
        Scale of each group, Eq. (12).
    mean, scale : array of shape (n_columns,)
        What a link takes from its column, and then multiplies it with.
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
    def n_columns(self) -> int:
        """Columns that are read out, n."""
        return self.n_hidden + self.mean.size + 1

    def columns(self, x: Array, out: Array | None = None) -> Array:
        """Give what is read out: hidden outputs less 1/2, the scaled columns, and 1.

        Memory to write it to, ``out`` of shape (n, N), may be given: a column lies after the other.
        """
        out = np.empty((self.n_columns, len(x))) if out is None else out
        hidden, links = out[: self.n_hidden], out[self.n_hidden : -1]
        np.matmul(self._weights, x.T, out=hidden)  # type: ignore[attr-defined]
        hidden += self._bias  # type: ignore[attr-defined]
        sigmoid_in_place(hidden)
        hidden -= 0.5
        np.subtract(x.T, self.mean[:, np.newaxis], out=links)
        links *= self.scale[:, np.newaxis]
        out[-1] = 1.0
        return out.T

    def penalty(self, ridge: float, link_ridge: float) -> Array:
        """Ridge of every column that is read out."""
        return np.concatenate([np.full(self.n_hidden, ridge), np.full(self.mean.size, link_ridge), [_FREE]])


def fit_layer(
    x: Array, sizes: Sequence[int], z_max: Sequence[float], *, n_hidden: int, seed: int
) -> LinkedLayer:
    """Draw a layer and scale it to the columns ``x``, by the three steps of Section III-D."""
    weights, _ = random_layer(seed, n_hidden, x.shape[1])
    spread, largest = x.std(axis=0), np.abs(x).max(axis=0, initial=0.0)
    loud, moves = np.where(largest > _NOISE, x, 0.0), spread > 1e-12 * (1 + largest)
    return LinkedLayer(
        seed=seed,
        n_hidden=n_hidden,
        sizes=tuple(sizes),
        alphas=_alphas(loud, sizes, z_max, weights),
        mean=x.mean(axis=0),
        scale=np.where(moves, 1 / np.where(moves, spread, 1.0), 0.0),
    )


def _alphas(x: Array, sizes: Sequence[int], z_max: Sequence[float], weights: Array) -> Array:
    """Scale every group: z_max over its largest |z| unscaled, or 0 when all its columns are."""
    edges = np.cumsum(sizes)[:-1]
    groups = zip(np.split(x, edges, axis=1), np.split(weights, edges, axis=1), strict=True)
    largest = np.array([_largest_input(group, part) for group, part in groups])
    silent = largest < np.finfo(float).tiny
    return np.where(silent, 0.0, np.asarray(z_max, dtype=float) / np.where(silent, 1.0, largest))


def _largest_input(x: Array, weights: Array) -> float:
    """Largest |R y| over all rows and neurons: z'_max of Section III-D, step 1.

    No |weight| is above 1, so no row can cause more than the sum of its |y|: only those are looked at for
    which that is more than what the first of them does cause.
    """
    bound = np.abs(x).sum(axis=1)
    largest = float(np.abs(weights @ x[bound.argmax()]).max())
    far = x[bound > largest]
    for start in range(0, len(far), _ROWS_PER_BLOCK):
        z = weights @ far[start : start + _ROWS_PER_BLOCK].T
        largest = max(largest, float(z.max()), -float(z.min()))
    return largest


def ridge_pairs(ridges: Sequence[float] = RIDGES) -> list[tuple[float, float]]:
    """Give the ridges of neurons and links to choose from, in pairs."""
    return list(product(ridges, LINK_RIDGES))


def fit_read_outs(
    layer: LinkedLayer,
    x: Array,
    targets: Array,
    pairs: Sequence[tuple[float, float]],
    weight: Array | None = None,
) -> list[Array]:
    """Solve for the read-outs of several targets, with every pair of ridges.

    Parameters
    ----------
    layer : LinkedLayer
        Gives n columns to read out.
    x : array of shape (N, n_features)
        The columns it gives them from.
    targets : array of shape (N, m)
        What it should say.
    pairs : sequence of pairs of float
        Ridges of neurons and links.
    weight : array of shape (N,), optional
        How much the error of each row counts; None: all the same, 1.

    Returns
    -------
    list of array of shape (n, m)
        beta of Eq. (15), one column for each target, for every pair.
    """
    gram, moment = _normal_equations(layer, x, targets, weight)
    return [_solve(gram, moment, layer.penalty(*pair)) for pair in pairs]


def _normal_equations(
    layer: LinkedLayer, x: Array, targets: Array, weight: Array | None
) -> tuple[Array, Array]:
    """Give H'H and H'o of Eq. (15), or H'WH and H'Wo, a block of rows at a time in the same memory."""
    root = None if weight is None else np.sqrt(weight)[:, np.newaxis]
    targets = targets if root is None else root * targets
    n = layer.n_columns
    gram, moment = np.zeros((n, n)), np.zeros((n, targets.shape[1]))
    memory, product = np.empty(n * min(_ROWS_PER_BLOCK, len(x))), np.empty((n, n))
    for start in range(0, len(x), _ROWS_PER_BLOCK):
        rows = slice(start, min(start + _ROWS_PER_BLOCK, len(x)))
        size = rows.stop - rows.start
        h = layer.columns(x[rows], out=memory[: n * size].reshape(n, size))
        if root is not None:
            h *= root[rows]
        gram += np.matmul(h.T, h, out=product)  # numpy takes this for a syrk
        moment += h.T @ targets[rows]
    return gram, moment


def _solve(gram: Array, moment: Array, penalty: Array) -> Array:
    """Solve (Gamma + H'H) beta = H'o, Eq. (15)."""
    ridged = gram.copy(order="F")
    np.fill_diagonal(ridged, gram.diagonal() + penalty)
    _, beta, info = dposv(ridged, moment, lower=True, overwrite_a=True)  # by Cholesky
    if info:
        raise InputError(f"ridge={penalty[0]:g} is too small for these data, raise it")
    return np.asarray(beta)
