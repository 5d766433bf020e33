"""Many rooms at once: one step of the default estimator for all rooms that share a random layer.

What one room does with scalars is done here with a column of them, one for each room. The random layer is
the same for all: rooms differ in their scales and read-outs only, some kilobytes each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from occupair.errors import InputError
from occupair.hidden_layer import each_on_a_core, random_layer, sigmoid_in_place
from occupair.room.balance import BaseLevel, balance_terms
from occupair.room.features import GROUPS, flows, levels_and_rises, times
from occupair.room.hours import START
from occupair.room.model import Refinement, RoomModel, averaged, is_present, lags_at
from occupair.room.ranges import Ranges, with_errors
from occupair.room.rows import Clock, Rows, width_at
from occupair.room_clocks import Indices, RoomClocks, check_step

Array = NDArray[np.float64]

_AT_ONCE = 2048  # rooms: what they need at a time fits a cache


@dataclass(frozen=True)
class Estimates:
    """What many rooms say after a reading each.

    Parameters
    ----------
    people, low, high : array of shape (n,)
        Estimates now, unrounded, and their ranges [people].
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


class ManyRooms:
    """Rooms that are stepped together; each gives what ``LiveRoom`` would give for it alone.

    Parameters
    ----------
    models : sequence of RoomModel
        Trained rooms (``OccupancyEstimator.room_``) with one interval, one smoothing and one random layer:
        train them with the same ``random_state`` and ``n_draws=1``.
    interval : float
        Probability that a range holds the true count.

    Examples
    --------
    >>> import occupair as oc
    >>> offices = [oc.simulate_office(days=3, seed=seed).iloc[::5] for seed in (1, 2)]
    >>> rooms = ManyRooms([oc.OccupancyEstimator(random_state=0).fit(office).room_ for office in offices])
    >>> time = pd.Timestamp("2024-01-08 10:00")
    >>> rooms.update(time, co2=np.array([600.0, 420.0]), ventilation=np.ones(2)).people.shape
    (2,)
    """

    def __init__(self, models: Sequence[RoomModel], *, interval: float = 0.9) -> None:
        self._model = _Stacked(models, interval)
        n, width = len(models), width_at(models[0].interval)
        self._swept, self._pivots = np.zeros((width, n)), np.ones((width, n))  # newest first
        self._ventilation = np.zeros((width, n))
        self._low = np.full(n, np.inf)
        self._seen = np.zeros(n, dtype=np.int64)  # readings since the day began, or a gap
        self._clocks = RoomClocks(n, interval=models[0].interval)

    def __len__(self) -> int:
        return len(self._seen)

    def update(
        self,
        time: pd.Timestamp | pd.DatetimeIndex,
        co2: Array,
        ventilation: Array | None = None,
        rooms: Indices | None = None,
    ) -> Estimates:
        """Take one reading of each room, or of some, and estimate the people in them now.

        Parameters
        ----------
        time : Timestamp or DatetimeIndex
            Local time, or aware of its zone; one for all or one for each.
        co2, ventilation : array of shape (n,)
            The readings [ppm], [0..1]; rooms trained without ventilation ignore it.
        rooms : array of int of shape (n,), optional
            Which rooms, each once; all when not given.
        """
        rooms, co2, flow = check_step(len(self), rooms, co2, ventilation)
        index, anew = self._clocks.turn(rooms, time)
        self._seen[anew], self._low[anew] = 0, np.inf
        clock = Clock(*(np.broadcast_to(part, rooms.shape) for part in Clock.of(index)))
        self._append(rooms, co2, flow)

        def step(part: slice) -> Estimates:
            some = rooms[part]
            return self._model.people(self._rows(some, clock, part), some, self._seen[some])

        parts = each_on_a_core(step, list(_parts(rooms.size)))
        now = [np.concatenate([getattr(part, name) for part in parts]) for name in ("people", "low", "high")]
        refined = {lag: np.concatenate([part.refined[lag] for part in parts]) for lag in parts[0].refined}
        started = np.concatenate([part.started for part in parts])
        return Estimates(now[0], now[1], now[2], refined, started)

    def _append(self, rooms: Indices, co2: Array, flow: Array) -> None:
        """Take a reading of each room: the forward elimination of Eq. (25), and the ventilation."""
        first, own = self._seen[rooms] == 0, _without_copy(rooms)
        weight, pivot = self._model.smoothing, self._pivots[0, rooms]
        carried = np.where(first, 0.0, weight / (weight + pivot))
        for history, newest in (
            (self._swept, co2 + carried * self._swept[0, rooms]),
            (self._pivots, 1.0 + carried * pivot),
            (self._ventilation, flow),
        ):
            history[1:, own] = history[:-1, own]
            history[0, own] = newest
            history[:, rooms[first]] = newest[first]
        self._seen[rooms] += 1

    def _rows(self, rooms: Indices, clock: Clock, part: slice) -> Rows:
        """Give what is known in each room now: the back substitution of Eq. (25)."""
        own = _without_copy(rooms)
        swept, pivots, seen = self._swept[:, own], self._pivots[:, own], self._seen[own]
        weight, co2 = self._model.smoothing, np.empty_like(swept)
        co2[0] = swept[0] / pivots[0]
        for j in range(1, len(co2)):
            known = (swept[j] + weight * co2[j - 1]) / (weight + pivots[j])
            co2[j] = np.where(seen > j, known, co2[j - 1])
        self._low[rooms] = np.minimum(self._low[rooms], co2[0])
        clock = Clock(clock.minute[part], clock.weekend[part])
        return Rows(co2.T, self._ventilation[:, own].T, self._low[rooms], clock, self._model.interval)


class _Stacked:
    """Trained rooms, with a column of numbers in the place of each number."""

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

    def people(self, rows: Rows, rooms: Indices, seen: Indices) -> Estimates:
        """Estimate a row of each room."""
        most, share = self._most[rooms], self._share[rooms]
        balances = {one.lag: one.balance(rows, rooms) for one in self._refinements}
        said = np.array([balances[lag].people.clip(0.0, most) for lag in lags_at(self.interval)])
        refined = {}
        for one in self._refinements:
            network, presence = one.network(rows, rooms, balances[one.lag], said)
            balance = balances[one.lag].people.clip(0.0, most)
            people = averaged(network.clip(0.0, most), balance, share)
            minute = np.floor(rows.clock.minute - one.lag * self.interval).astype(int) % 1440
            is_open = self._open[rooms, rows.clock.weekend.astype(int), minute]
            present = is_present(people, presence, one.threshold[rooms], most)
            people = np.where(present & is_open, people, 0.0)
            refined[one.lag] = np.where(seen > one.lag, people, np.nan)
        low, high = self._refinements[0].around(refined[0], rooms)
        started = (seen - 1) * self.interval >= START
        return Estimates(refined[0], low, high, refined, started)


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

    def balance(self, rows: Rows, rooms: Indices) -> _Balanced:
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

    def network(self, rows: Rows, rooms: Indices, balanced: _Balanced, said: Array) -> tuple[Array, Array]:
        """Give what the network of each room says of people and of presence."""
        x, own = self._columns(rows, rooms, balanced, said), _without_copy(rooms)
        hidden = (x * self._alphas[own]) @ self._weights
        hidden += self._bias
        sigmoid_in_place(hidden)
        hidden -= 0.5
        links = (x - self._mean[own]) * self._scale[own]
        read = [_read_out(hidden, links, coef[own]) for coef in (self._coef, self._presence)]
        return read[0], read[1]

    def _columns(self, rows: Rows, rooms: Indices, balanced: _Balanced, said: Array) -> Array:
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


def _without_copy(rooms: Indices) -> slice | Indices:
    """Give rooms that follow each other as a slice, which copies nothing of what it takes."""
    first = int(rooms[0])
    follow = np.array_equal(rooms, np.arange(first, first + rooms.size))
    return slice(first, first + rooms.size) if follow else rooms


def _read_out(hidden: Array, links: Array, coef: Array) -> Array:
    """Read out each row with a read-out of its own."""
    n = hidden.shape[1]
    people = np.einsum("ij,ij->i", hidden, coef[:, :n]) + np.einsum("ij,ij->i", links, coef[:, n:-1])
    return np.asarray(people + coef[:, -1])


def _stacked_ranges(ranges: Sequence[Ranges], interval: float) -> tuple[Array, Array, Array]:
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


def _parts(n: int) -> Iterator[slice]:
    yield from (slice(start, min(start + _AT_ONCE, n)) for start in range(0, n, _AT_ONCE))
