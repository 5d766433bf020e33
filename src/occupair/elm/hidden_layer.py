"""The random hidden layer of an extreme learning machine, and the normal equations of its read-out.

The hidden layer output H is never stored as a whole: samples are processed in blocks, and the ridge solve
needs only H'H and H'o. Each core runs projection, sigmoid and H'H on blocks of its own with a single-threaded
BLAS, so no core waits for another and the sums stay in its cache.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from occupair.elm.cores import each_on_a_core, usable_cores

Array = NDArray[np.float64]
T = TypeVar("T")

_ROWS_PER_BLOCK = 4096
_FEW_ROWS = 256  # too few for a second core
_VALUES_PER_BLOCK = 4_000_000  # of H, 32 MB for each core
_OFF = 700.0  # inputs are clipped here: exp(-700) is about the smallest normal double


def sigmoid_in_place(z: Array) -> Array:
    """Overwrite z with h(z) = 1 / (1 + exp(-z)), the activation below Jiang et al. 2016, Eq. (4)."""
    np.negative(z, out=z)
    with np.errstate(over="ignore"):  # exp(-z) = inf gives h = 1 / inf = 0
        np.exp(z, out=z)
    z += 1.0
    return np.reciprocal(z, out=z)


def random_layer(seed: int, n_hidden: int, n_features: int) -> tuple[Array, Array]:
    """Draw weights from U(-1, 1) and bias from U(-0.1, 0.1), Section V-D.

    The generator is numpy's RandomState because its stream is frozen: a saved model stores only the seed.
    """
    generator = np.random.RandomState(seed)
    weights = generator.uniform(-1.0, 1.0, size=(n_hidden, n_features))
    return weights, generator.uniform(-0.1, 0.1, size=n_hidden)


@dataclass(frozen=True, eq=False)
class RandomLayer:
    """The random weights as drawn, one row per feature and one column per neuron, and the bias."""

    weights: Array
    bias: Array


_SHARED: WeakValueDictionary[tuple[int, int, int], RandomLayer] = WeakValueDictionary()


def shared_layer(seed: int, n_hidden: int, n_features: int) -> RandomLayer:
    """Return ``random_layer`` as a read-only object that all callers share while it is in use.

    Trained rooms differ only in scales and read-outs, some kilobytes each, so a thousand rooms need the
    random layer only once.
    """
    key = (seed, n_hidden, n_features)
    layer = _SHARED.get(key)
    if layer is None:
        weights, bias = random_layer(*key)
        layer = _SHARED[key] = RandomLayer(np.ascontiguousarray(weights.T), bias)
        layer.weights.flags.writeable = layer.bias.flags.writeable = False
    return layer


class GroupedRows:
    """Samples with grouped columns, measured once for all random layers that will be scaled to them.

    Parameters
    ----------
    x : array of shape (N, n_features)
        The samples.
    sizes : sequence of int
        Columns in each group.
    """

    def __init__(self, x: Array, sizes: Sequence[int]) -> None:
        self._edges = np.cumsum(sizes)[:-1]
        self._groups = np.split(x, self._edges, axis=1)
        self._measured = each_on_a_core(_mean_and_deviation, self._groups)

    def scales(self, weights: Array, z_max: Array) -> Array:
        """Return the scale of every group by the three steps of Section III-D: z_max / largest unscaled |z|.

        The scale of a group whose columns are all zero is 0.
        """
        parts = np.split(weights, self._edges, axis=1)
        unscaled = np.array(
            each_on_a_core(lambda group: self.largest_input(group, parts[group]), range(len(parts)))
        )
        silent = unscaled < np.finfo(float).tiny
        return np.where(silent, 0.0, z_max / np.where(silent, 1.0, unscaled))

    def largest_input(self, group: int, r: Array) -> float:
        """Return the largest |R y_k| of one group over all samples and neurons: z'_max of Section III-D.

        A sample is its mean m plus a deviation d, so |R y_k| is at most |m| max |sum of a row of R| + |d| max
        |row of R|. After the samples with the largest bounds have been evaluated, only those whose bound
        exceeds the result so far remain. These are few, because lag windows of a slow quantity are close to
        their mean. The result is accurate to nine digits.

        Examples
        --------
        >>> rows = GroupedRows(np.array([[1.0, 2.0], [-3.0, 0.5]]), [2])
        >>> rows.largest_input(0, np.array([[1.0, -1.0]]))
        3.5
        """
        x, most, longest = self._groups[group], np.abs(r.sum(axis=1)).max(), np.linalg.norm(r, axis=1).max()
        mean, deviation = self._measured[group]
        bound = np.abs(mean) * most + deviation * longest
        first = min(64, bound.size)
        rows, largest = np.argpartition(bound, bound.size - first)[-first:], 0.0
        while rows.size:
            largest = max(largest, float(np.abs(x[rows[:_ROWS_PER_BLOCK]] @ r.T).max()))
            bound[rows[:_ROWS_PER_BLOCK]] = 0.0
            rows = np.flatnonzero(bound > largest * (1 + 1e-9))
        return largest


def _mean_and_deviation(rows: Array) -> tuple[Array, Array]:
    """Return the mean of each row and the norm of its deviation."""
    mean = rows.mean(axis=1)
    return mean, np.linalg.norm(rows - mean[:, np.newaxis], axis=1)


def normal_equations(X: Array, y: Array, input_weights: Array, bias: Array) -> tuple[Array, Array]:
    """Return H'H and H'o of Eq. (15) without storing H, Eq. (14)."""
    transposed = np.ascontiguousarray(input_weights.T)

    def add_up(blocks: Sequence[slice]) -> tuple[Array, Array]:
        gram, moment, product = np.zeros((bias.size, bias.size)), np.zeros(bias.size), np.empty((0, 0))
        for rows, h in _hidden(X, transposed, bias, blocks):
            product = np.matmul(h.T, h, out=product if product.size else None)  # numpy uses syrk here
            gram += product
            moment += y[rows] @ h
        return gram, moment

    parts = _on_all_cores(add_up, X.shape[0], bias.size)
    gram, moment = parts[0]
    for other_gram, other_moment in parts[1:]:
        gram += other_gram
        moment += other_moment
    return gram, moment


def read_out(X: Array, input_weights: Array, bias: Array, coef: Array) -> Array:
    """Return H beta, Eq. (16), computed in blocks."""
    transposed = np.ascontiguousarray(input_weights.T)
    result = np.empty(X.shape[0])

    def fill(blocks: Sequence[slice]) -> None:
        for rows, h in _hidden(X, transposed, bias, blocks):
            np.matmul(h, coef, out=result[rows])

    _on_all_cores(fill, X.shape[0], bias.size)
    return result


def _hidden(
    X: Array, transposed: Array, bias: Array, blocks: Sequence[slice]
) -> Iterator[tuple[slice, Array]]:
    """Yield blocks of the hidden layer output H, Eq. (14), all in the same memory."""
    memory = np.empty((max(rows.stop - rows.start for rows in blocks), bias.size))
    for rows in blocks:
        h = memory[: rows.stop - rows.start]
        np.matmul(X[rows], transposed, out=h)
        h += bias
        if not _is_moderate(X[rows], transposed):
            np.clip(h, -_OFF, _OFF, out=h)
        yield rows, sigmoid_in_place(h)


def _is_moderate(x: Array, transposed: Array) -> bool:
    """Whether exp overflows for no neuron; unscaled inputs may cause that, and overflow is slow."""
    longest = float(np.einsum("ij,ij->i", x, x).max(initial=0.0))
    return longest * float(np.einsum("ij,ij->j", transposed, transposed).max()) < (_OFF - 1) ** 2


def _on_all_cores(work: Callable[[Sequence[slice]], T], n_rows: int, n_hidden: int) -> list[T]:
    """Distribute equal blocks of samples over the cores that the BLAS may use."""
    if n_rows <= _FEW_ROWS:
        return [work([slice(0, n_rows)])]
    cores = usable_cores()
    most = min(_ROWS_PER_BLOCK, max(_VALUES_PER_BLOCK // n_hidden, 1))
    rounds = math.ceil(n_rows / (cores * most))
    size = max(math.ceil(n_rows / (cores * rounds)), 256)
    blocks = [slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size)]
    shares = [share for core in range(cores) if (share := blocks[core::cores])]
    return each_on_a_core(work, shares)
