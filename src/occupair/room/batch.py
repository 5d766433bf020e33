"""Trained rooms of the default estimator stacked: a row of each is estimated in one go.

What ``RoomModel`` does with scalars is done here with a column of them, one for each room. The random layer
is the same for all: rooms differ in their scales and read-outs only, some kilobytes each.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from occupair.elm.hidden_layer import random_layer, sigmoid_in_place
from occupair.errors import InputError
from occupair.room.features import GROUPS, flows, levels_and_rises, times
from occupair.room.inputs import Inputs
from occupair.room.lags import lags_in_readings
from occupair.room.mass_balance import BaseLevel, balance_terms
from occupair.room.model import Refinement, RoomModel, averaged, is_present
from occupair.room.open_hours import START
from occupair.room.prediction_intervals import PredictionIntervals, with_errors

Array = NDArray[np.float64]
Indices = NDArray[np.int64]


@dataclass(frozen=True)
class BatchEstimates:
    """What many rooms say after a reading each.

    Parameters
    ----------
    people, low, high : array of shape (n,)
        BatchEstimates now, unrounded, and their ranges [people].
    refined : dict
        By lag [readings], what is now thought of the reading so long ago [people]; NaN before the day began.
    started : array of bool of shape (n,)
        Whether enough has been seen of the day.
    """

    people: Array
    low: Array
    high: Array
    refined: dict[int, Array]
    started: NDArray[np.bool_]


def batch_key(model: RoomModel) -> Hashable:
    """Give what has to be the same of rooms that are stacked."""
    refinements = [
        (one.lag, one.layer.seed, one.layer.n_hidden, *((c.share, c.behind) for c in one.balance.choices))
        for one in model.refinements
    ]
    return (model.interval, model.smoothing, *refinements)


class RoomBatch:
    """Trained rooms, with a column of numbers in the place of each number.

    Parameters
    ----------
    models : sequence of RoomModel
        Trained rooms of one ``batch_key``.
    interval : float
        Probability that a range holds the true count.
    """

    def __init__(self, models: Sequence[RoomModel], interval: float) -> None:
        if not models:
            raise InputError("models must hold at least one trained room")
        if len({(model.interval, model.smoothing) for model in models}) > 1:
            raise InputError("models must have one interval and one smoothing")
        self.interval, self.smoothing = models[0].interval, models[0].smoothing
        self._most = np.array([model.most_people for model in models])
        self._share = np.array([model.network_share for model in models])
        self._open = np.array([model.hours.is_open for model in models])
        self._refinements = [
            _StackedRefinement([model.refinements[k] for model in models], interval)
            for k in range(len(models[0].refinements))
        ]

    def people(self, rows: Inputs, rooms: Indices, seen: Indices) -> BatchEstimates:
        """Estimate a row of each room."""
        most, share = self._most[rooms], self._share[rooms]
        balances = {one.lag: one.balance(rows, rooms) for one in self._refinements}
        said = np.array([balances[lag].people.clip(0.0, most) for lag in lags_in_readings(self.interval)])
        refined, if_open = {}, {}
        for one in self._refinements:
            network, presence = one.network(rows, rooms, balances[one.lag], said)
            balance = balances[one.lag].people.clip(0.0, most)
            people = averaged(network.clip(0.0, most), balance, share)
            minute = np.floor(rows.clock.minute - one.lag * self.interval).astype(int) % 1440
            is_open = self._open[rooms, rows.clock.weekend.astype(int), minute]
            present = is_present(people, presence, one.threshold[rooms], most)
            if_open[one.lag] = np.where(present, people, 0.0)
            people = np.where(is_open, if_open[one.lag], 0.0)
            refined[one.lag] = np.where(seen > one.lag, people, np.nan)
        low, high = self._refinements[0].around(refined[0], rooms)
        started = (seen - 1) * self.interval >= START
        return BatchEstimates(refined[0], low, np.maximum(high, if_open[0]), refined, started)


@dataclass(frozen=True)
class _Balanced:
    people: Array
    terms: Array  # of the best choice, group M, a column first
    share: Array  # of the best choice


class _StackedRefinement:
    def __init__(self, ones: Sequence[Refinement], interval: float) -> None:
        first = ones[0]
        if len({(one.layer.seed, one.layer.n_hidden) for one in ones}) > 1:
            raise InputError("models must share one random layer: train with one random_state and n_draws=1")
        self.lag, self.threshold = first.lag, np.array([one.threshold for one in ones])
        weights, self._bias = random_layer(first.layer.seed, first.layer.n_hidden, sum(GROUPS.values()))
        self._weights = np.ascontiguousarray(weights.T)
        self._alphas = np.array([np.repeat(one.layer.alphas, one.layer.sizes) for one in ones])
        self._mean = np.array([one.layer.mean for one in ones])
        self._scale = np.array([one.layer.scale for one in ones])
        self._coef = np.array([one.coef for one in ones])
        self._presence = np.array([one.presence for one in ones])
        self._choices = [(choice.share, choice.behind) for choice in first.balance.choices]
        self._choice_weight = np.array([[choice.weight for choice in one.balance.choices] for one in ones])
        self._choice_coef = np.array([[choice.coef for choice in one.balance.choices] for one in ones])
        self._best = self._choice_weight.argmax(axis=1)
        bases = [one.balance.base for one in ones]
        levels = ("lowest", "highest", "usual")
        self._base = [np.array([getattr(base, name) for base in bases]) for name in levels]
        ranges = _stacked_ranges([one.ranges for one in ones], interval)
        self._edges, self._low_errors, self._high_errors = ranges

    def balance(self, rows: Inputs, rooms: Indices) -> _Balanced:
        """Average the mass balances of each room."""
        base = BaseLevel(*(level[rooms] for level in self._base))
        people, best = np.zeros(rooms.size), self._best[rooms]
        best_terms, best_share = np.zeros((GROUPS["M"], rooms.size)), np.zeros(rooms.size)
        for k, (share, behind) in enumerate(self._choices):
            weight = self._choice_weight[rooms, k]
            if not weight.any():
                continue
            terms = balance_terms(rows, base, share, behind)
            people += weight * np.einsum("ji,ij->i", terms, self._choice_coef[rooms, k])
            best_terms[:, best == k], best_share[best == k] = terms[:-1, best == k], share
        return _Balanced(people, best_terms, best_share)

    def network(self, rows: Inputs, rooms: Indices, balanced: _Balanced, said: Array) -> tuple[Array, Array]:
        """Give what the network of each room says of people and of presence."""
        x, own = self._columns(rows, rooms, balanced, said), without_copy(rooms)
        hidden = (x * self._alphas[own]) @ self._weights
        hidden += self._bias
        sigmoid_in_place(hidden)
        hidden -= 0.5
        links = (x - self._mean[own]) * self._scale[own]
        read = [_read_out(hidden, links, coef[own]) for coef in (self._coef, self._presence)]
        return read[0], read[1]

    def _columns(self, rows: Inputs, rooms: Indices, balanced: _Balanced, said: Array) -> Array:
        base = BaseLevel(*(level[rooms] for level in self._base))
        behind = np.array([behind for _, behind in self._choices])[self._best[rooms]]
        flow = np.empty((GROUPS["V"], rooms.size))
        for place in np.unique(behind):
            flow[:, behind == place] = flows(rows.take(np.flatnonzero(behind == place)), int(place))
        groups = (
            balanced.terms,
            levels_and_rises(rows, base.at(rows, balanced.share)),
            flow,
            times(rows, self.lag),
            said,
        )
        return np.ascontiguousarray(np.concatenate(groups).T)

    def around(self, people: Array, rooms: Indices) -> tuple[Array, Array]:
        """Give the range of each room."""
        which = (self._edges[rooms] <= people[:, np.newaxis]).sum(axis=1) - 1
        return with_errors(people, self._low_errors[rooms, which], self._high_errors[rooms, which])


def without_copy(rooms: Indices) -> slice | Indices:
    """Give rooms that follow each other as a slice, which copies nothing of what it takes."""
    first = int(rooms[0])
    follow = np.array_equal(rooms, np.arange(first, first + rooms.size))
    return slice(first, first + rooms.size) if follow else rooms


def _read_out(hidden: Array, links: Array, coef: Array) -> Array:
    """Read out each row with a read-out of its own."""
    n = hidden.shape[1]
    people = np.einsum("ij,ij->i", hidden, coef[:, :n]) + np.einsum("ij,ij->i", links, coef[:, n:-1])
    return np.asarray(people + coef[:, -1])


def _stacked_ranges(ranges: Sequence[PredictionIntervals], interval: float) -> tuple[Array, Array, Array]:
    """Give edges and errors of all rooms, as many bins each; those it does not have are out of reach."""
    bins = max(one.edges.size for one in ranges)
    errors = [one.errors_at(interval) for one in ranges]
    return (
        np.array([_filled_up(one.edges, bins, np.inf) for one in ranges]),
        np.array([_filled_up(low, bins, 0.0) for low, _ in errors]),
        np.array([_filled_up(high, bins, 0.0) for _, high in errors]),
    )


def _filled_up(values: Array, size: int, filler: float) -> Array:
    return np.append(values, np.full(size - values.size, filler))
