"""Gradient-boosted trees of depth 3 on the features of the network and the minute of the day.

They find the edges of a timetable, and responses that a smooth network misses. They use no estimate of the
mass balance, so that their errors differ from those of the other members.

scikit-learn trains the trees. They are evaluated here, as arrays: a tree compares one feature with a
threshold, then one of two others, then one of four, and returns one of eight values. This is the same for one
room and for many, takes microseconds, and a trained room holds plain numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from occupair.errors import InputError
from occupair.room.inputs import Clock

if TYPE_CHECKING:
    from sklearn.ensemble import HistGradientBoostingRegressor

Array = NDArray[np.float64]
Indices = NDArray[np.int64]
Columns = NDArray[np.float32]

N_TREES = 100
"""Number of trees."""

DEPTH = 3
"""Number of comparisons from the root of a tree to a leaf."""

N_NODES, N_LEAVES = 2**DEPTH - 1, 2**DEPTH

_LEARNING_RATE = 0.05
_MIN_LEAF = 60  # samples: three hours
_MAX_SAMPLES = 6000  # about a fortnight; more take longer and hardly improve the trees
_L2 = 1.0
_FEATURE_SHARE = 0.5  # of the features, drawn for each split
_BINS = 255  # distinct values of a column between which thresholds are chosen
_DECIMALS = 6  # of the columns: far below the noise of sensors, far above rounding errors
_ROWS_PER_BLOCK = 2048  # limits the memory of an evaluation
_NO_LIMIT = float(np.finfo(np.float32).max)  # threshold of a node that does not split


@dataclass(frozen=True)
class BoostedTrees:
    """Complete trees of depth ``DEPTH`` whose values are added.

    Parameters
    ----------
    start : float
        Value to which those of the trees are added [people].
    feature : array of int of shape (n_trees, N_NODES)
        Features that the nodes compare; the children of node k are 2 k + 1 and 2 k + 2.
    threshold : array of float32 of shape (n_trees, N_NODES)
        Values above which a comparison continues to the right.
    value : array of float32 of shape (n_trees, N_LEAVES)
        Values of the leaves from left to right [people].
    """

    start: float
    feature: NDArray[np.int16]
    threshold: NDArray[np.float32]
    value: NDArray[np.float32]

    def people(self, columns: Columns) -> Array:
        """Estimate the people for columns of shape (n_columns, N), not clamped [people]."""
        return np.asarray(TreeEvaluator([[self]]).people(columns[:, np.newaxis])[0])


def tree_columns(features: Array, clock: Clock, before: float | Array, n_people: int) -> Columns:
    """Return the columns of the trees: all features except those of people, and the minute of the day.

    Parameters
    ----------
    features : array of shape (n_features, N) or (n_features, R, N)
        Features of the network; the last ``n_people`` are those of people.
    clock : Clock
        Local time of the newest reading.
    before : float or array of shape (R, 1) or (R, N)
        Time between the reading to estimate and the newest [min].
    n_people : int
        Size of group S.

    Returns
    -------
    array of float32 of shape (n_columns, N) or (n_columns, R, N)
        Rounded, so that live and replayed features, which differ by some 1e-13, are on the same side of a
        threshold. Single precision alone would keep such differences near 0.
    """
    columns = np.empty((len(features) - n_people + 1, *features.shape[1:]), dtype=np.float32)
    columns[:-1] = np.round(features[: len(features) - n_people], _DECIMALS)
    columns[-1] = (clock.minute - before) % 1440
    return columns


def fit_trees(columns: Columns, people: Array, weight: Array | None = None) -> BoostedTrees:
    """Train trees on columns of shape (N, n_columns) and head counts [people].

    ``weight`` holds sample weights; None or all equal: all 1. Of many samples, every n-th is used: neighbours
    are alike.
    """
    from sklearn.ensemble import HistGradientBoostingRegressor  # takes long to load; only training needs it

    some = slice(None, None, -(-len(people) // _MAX_SAMPLES))
    columns, people = columns[some], people[some]
    weight = None if weight is None or np.ptp(weight[some]) == 0 else weight[some]
    boosting = HistGradientBoostingRegressor(
        max_iter=N_TREES,
        learning_rate=_LEARNING_RATE,
        max_depth=DEPTH,
        max_leaf_nodes=None,
        min_samples_leaf=_MIN_LEAF,
        l2_regularization=_L2,
        max_features=_FEATURE_SHARE,
        max_bins=_BINS,
        early_stopping=False,
        random_state=0,
    ).fit(columns if weight is None else _few_values(columns), people, sample_weight=weight)
    trees = [_as_arrays(one.nodes) for (one,) in boosting._predictors]  # the trees have no public name
    found = BoostedTrees(
        float(np.asarray(boosting._baseline_prediction).item()),
        np.array([feature for feature, _, _ in trees], dtype=np.int16),
        _round_down(np.array([threshold for _, threshold, _ in trees])),
        np.array([value for _, _, value in trees], dtype=np.float32),
    )
    _check(found, boosting, columns)
    return found


def _few_values(columns: Columns) -> Columns:
    """Replace each value by the nearest of ``_BINS`` quantiles of its column, shape (N, n_columns).

    scikit-learn would take weighted quantiles of columns with more values, which takes longer than to train
    the trees. Thresholds are midway between values, so the columns themselves are on the same side.
    """
    found = np.empty_like(columns)
    for own, column in zip(found.T, columns.T, strict=True):
        values = np.unique(np.quantile(column, np.linspace(0, 1, _BINS), method="nearest"))
        own[:] = values[np.searchsorted((values[1:].astype(float) + values[:-1]) / 2, column)]
    return found


def _round_down(threshold: Array) -> NDArray[np.float32]:
    """Round to single precision, never up, so that columns in single precision stay on the same side."""
    rounded = threshold.astype(np.float32)
    return np.where(rounded > threshold, np.nextafter(rounded, np.float32(-np.inf)), rounded)


def _as_arrays(nodes: Any) -> tuple[list[int], list[float], list[float]]:
    """Return one tree of scikit-learn as a complete tree; a leaf above its last level compares nothing."""
    feature, threshold, value = [0] * N_NODES, [_NO_LIMIT] * N_NODES, [0.0] * N_LEAVES

    def place(node: Any, at: int) -> None:
        if at >= N_NODES:
            value[at - N_NODES] = float(node["value"])
            return
        left, right = node, node
        if not node["is_leaf"]:
            feature[at], threshold[at] = int(node["feature_idx"]), float(node["num_threshold"])
            left, right = nodes[node["left"]], nodes[node["right"]]
        place(left, 2 * at + 1)
        place(right, 2 * at + 2)

    place(nodes[0], 0)
    return feature, threshold, value


def _check(trees: BoostedTrees, boosting: HistGradientBoostingRegressor, columns: Columns) -> None:
    """Raise if the trees are not those of scikit-learn, whose internal layout may change."""
    some = columns[:: max(len(columns) // 200, 1)]
    if not np.allclose(trees.people(some.T), boosting.predict(some), rtol=1e-4, atol=1e-4):
        raise InputError(
            "boosted trees cannot be read from this version of scikit-learn: use another version"
        )


class TreeEvaluator:
    """Evaluates the boosted trees of R refinements in one or many rooms.

    Parameters
    ----------
    rooms : sequence of sequence of BoostedTrees
        Trees of the R refinements of each room, all with the same number of trees.
    """

    def __init__(self, rooms: Sequence[Sequence[BoostedTrees]]) -> None:
        n = len(rooms[0])
        self._start = np.array([[trees.start for trees in room] for room in rooms])
        feature = np.array([[trees.feature for trees in room] for room in rooms])
        feature = feature * n + np.arange(n, dtype=np.int16)[:, np.newaxis, np.newaxis]  # of all refinements
        self._n_trees = feature.shape[1] * feature.shape[2]  # of all refinements of a room
        self._feature = feature.ravel()
        self._threshold = np.array([[trees.threshold for trees in room] for room in rooms]).ravel()
        self._value = np.array([[trees.value for trees in room] for room in rooms]).ravel()

    def people(self, columns: Columns, rooms: slice | Indices | None = None) -> Array:
        """Estimate the people, not clamped, shape (R, N) [people].

        Parameters
        ----------
        columns : array of shape (n_columns, R, N)
            Columns of the trees.
        rooms : slice or array of int, optional
            Room of each input. None: all inputs are of the only room.
        """
        _, n_refinements, n = columns.shape
        numbers = np.zeros(1, dtype=np.intp) if rooms is None else np.arange(len(self._start))[rooms]
        flat = np.ascontiguousarray(columns).reshape(-1, n)
        found = np.empty((n, n_refinements))
        for first in range(0, n, _ROWS_PER_BLOCK):
            block = slice(first, min(first + _ROWS_PER_BLOCK, n))
            own = numbers if rooms is None else numbers[block]
            values = self._leaf_values(flat[:, block], own).reshape(
                -1, n_refinements, self._n_trees // n_refinements
            )
            found[block] = values.sum(axis=2, dtype=float) + self._start[own]
        return found.T

    def _leaf_values(self, columns: Columns, rooms: Indices) -> NDArray[np.float32]:
        """Return the value of every tree for columns of shape (n_columns R, N), of one room or N rooms."""
        n = columns.shape[1]
        columns, place = columns.ravel(), np.arange(n)[:, np.newaxis]
        tree = rooms[:, np.newaxis] * self._n_trees + np.arange(self._n_trees)
        root, node = tree * N_NODES, np.zeros((n, self._n_trees), dtype=np.intp)
        for _ in range(DEPTH):
            own = columns.take(self._feature.take(root + node) * np.intp(n) + place)
            node = 2 * node + 1 + (own > self._threshold.take(root + node))
        return np.asarray(self._value.take(tree * N_LEAVES + node - N_NODES))
