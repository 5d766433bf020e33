"""An FS-ELM with direct links: its columns reach the output through the random neurons and past them.

The hidden layer is that of Jiang et al. 2016, Eqs. (9)-(14), with outputs counted from 1/2. Beside it the
columns themselves, each of mean 0 and variance 1, and a constant are read out by the same ridge solve,
Eq. (15). Neurons and links have a ridge each. The solve needs only H'H and H'o, so that to try other ridges
costs no more than a few small solves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from occupair.errors import InputError
from occupair.hidden_layer import GroupedRows, random_layer, sigmoid_in_place

Array = NDArray[np.float64]

RIDGES = (0.01, 0.1, 1.0, 10.0, 100.0)  # of the neurons, to choose from
LINK_RIDGES = (1.0, 100.0)  # of the links
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
        object.__setattr__(self, "_weights", np.ascontiguousarray(scaled.T))
        object.__setattr__(self, "_bias", bias)

    def columns(self, x: Array) -> Array:
        """Give what is read out: hidden outputs less 1/2, the scaled columns, and 1."""
        z = x @ self._weights  # type: ignore[attr-defined]
        z += self._bias  # type: ignore[attr-defined]
        hidden = sigmoid_in_place(z) - 0.5
        return np.column_stack([hidden, (x - self.mean) * self.scale, np.ones(len(x))])

    def penalty(self, ridge: float, link_ridge: float) -> Array:
        """Ridge of every column that is read out."""
        return np.concatenate([np.full(self.n_hidden, ridge), np.full(self.mean.size, link_ridge), [_FREE]])


def make_layer(
    x: Array, sizes: Sequence[int], z_max: Sequence[float], *, n_hidden: int, seed: int
) -> LinkedLayer:
    """Draw a layer and scale it to the columns ``x``, by the three steps of Section III-D."""
    weights, _ = random_layer(seed, n_hidden, x.shape[1])
    spread, loud = x.std(axis=0), np.where(np.abs(x).max(axis=0, initial=0.0) > _NOISE, x, 0.0)
    moves = spread > 1e-12 * (1 + np.abs(x).max(axis=0, initial=0.0))
    return LinkedLayer(
        seed=seed,
        n_hidden=n_hidden,
        sizes=tuple(sizes),
        alphas=GroupedRows(loud, sizes).scales(weights, np.asarray(z_max, dtype=float)),
        mean=x.mean(axis=0),
        scale=np.where(moves, 1 / np.where(moves, spread, 1.0), 0.0),
    )


def ridge_pairs(ridges: Sequence[float] = RIDGES) -> list[tuple[float, float]]:
    """Give the ridges of neurons and links to choose from, in pairs."""
    return list(product(ridges, LINK_RIDGES))


def read_outs(
    layer: LinkedLayer, columns: Array, targets: Array, pairs: Sequence[tuple[float, float]]
) -> list[Array]:
    """Solve for the read-outs of several targets, with every pair of ridges.

    Parameters
    ----------
    layer : LinkedLayer
        Made the columns.
    columns : array of shape (N, n)
        What is read out.
    targets : array of shape (N, m)
        What it should say.
    pairs : sequence of pairs of float
        Ridges of neurons and links.

    Returns
    -------
    list of array of shape (n, m)
        beta of Eq. (15), one column for each target, for every pair.
    """
    gram, moment = columns.T @ columns, columns.T @ targets
    return [_solve(gram, moment, layer.penalty(*pair)) for pair in pairs]


def _solve(gram: Array, moment: Array, penalty: Array) -> Array:
    """Solve (Gamma + H'H) beta = H'o, Eq. (15)."""
    ridged = gram.copy()
    ridged[np.diag_indices_from(ridged)] += penalty
    try:
        return np.asarray(cho_solve(cho_factor(ridged, lower=True, overwrite_a=True), moment))
    except LinAlgError:
        raise InputError(f"ridge={penalty[0]:g} is too small for these data, raise it") from None
