"""The paper's live estimator, Eq. (26), for many rooms at once that share one random layer.

Trained rooms then differ in their scales and read-outs only. One minute of all rooms is one matrix product
with the random weights. After every reading the minutes are estimated anew whose smoothed CO2 it moved: a
change fades by a constant factor per reading, so how many they are does not depend on the time of day.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import copy
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from occupair.elm.hidden_layer import each_on_a_core, sigmoid_in_place
from occupair.errors import InputError
from tools.speed.room_clocks import Indices, RoomClocks, check_step

if TYPE_CHECKING:
    from occupair.estimator import OccupancyEstimator

Array = NDArray[np.float64]

STILL = 1e-7
"""Smoothed CO2 that has moved by no more leaves an estimate as it was [ppm]."""

_LARGEST_MOVE = 1e4  # [ppm]: what has faded from this to STILL is kept no longer
_OF_EACH_ROOM = ("_scale", "_coef", "_most", "_seen", "_swept", "_pivots", "_co2", "_ventilation", "_people")
_AT_ONCE = 256  # rooms: their hidden neurons of one minute fit a cache


class ManyPaperRooms:
    """Rooms with the paper's estimator that are stepped together; each gives what ``LiveRoom`` gives alone.

    Parameters
    ----------
    estimators : sequence of OccupancyEstimator
        Trained with one of the paper's layers, with the same settings, ``random_state`` and ``n_draws=1``,
        so that they share one random layer.
    still : float
        Smoothed CO2 that has moved by no more leaves an estimate as it was [ppm]: the larger, the faster.
        At 1e-7 estimates are those of Eq. (26) written out to about 1e-6 people, at 1e-4 to about 1e-3.

    Examples
    --------
    >>> import occupair as oc
    >>> offices = [oc.simulate_office(days=2, seed=seed).iloc[::5] for seed in (1, 2)]
    >>> paper = oc.OccupancyEstimator.paper(n_hidden=20, n_draws=1, random_state=0)
    >>> from sklearn.base import clone
    >>> rooms = ManyPaperRooms([clone(paper).fit(office) for office in offices])
    >>> rooms.update(pd.Timestamp("2024-01-08 10:00"), np.array([600.0, 420.0]), np.ones(2))
    array([0., 0.])
    """

    def __init__(self, estimators: Sequence[OccupancyEstimator], *, still: float = STILL) -> None:
        _check_alike(estimators)
        first = estimators[0]
        regressors = [estimator.regressor_ for estimator in estimators]
        self._layer, self._smoothing, self._still = first.layer_, first.smoothing_, still
        sizes = list(first.layer_.sizes().values())
        self._sizes = sizes if len(regressors[0].scale_) > 1 else [sum(sizes)]
        self._weights = np.ascontiguousarray(regressors[0].random_weights_.T)
        self._bias = regressors[0].bias_
        self._scale = np.array([regressor.scale_ for regressor in regressors])
        self._coef = np.array([regressor.coef_ for regressor in regressors])
        self._most = np.array([estimator.most_people_ for estimator in estimators])
        n, length = len(estimators), first.layer_.horizon + 1 + _fading(self._smoothing, still)
        self._clocks = RoomClocks(n, interval=first.interval_)
        # Of the last readings, the newest in the last column:
        self._swept, self._pivots = np.zeros((n, length)), np.ones((n, length))
        self._co2, self._ventilation, self._people = np.zeros((3, n, length))
        self._seen = np.zeros(n, dtype=np.int64)  # readings since the day began, or a gap

    def __len__(self) -> int:
        return len(self._seen)

    def update(
        self,
        time: pd.Timestamp | pd.DatetimeIndex,
        co2: Array,
        ventilation: Array | None = None,
        rooms: Indices | None = None,
    ) -> Array:
        """Take one reading of each room, or of some, and estimate the people in them now [people].

        Parameters
        ----------
        time : Timestamp or DatetimeIndex
            Local time, or aware of its zone; one for all or one for each.
        co2, ventilation : array of shape (n,)
            The readings [ppm], [0..1].
        rooms : array of int of shape (n,), optional
            Which rooms, each once; all when not given.
        """
        which, readings, flow = check_step(len(self), rooms, co2, ventilation)
        _, anew = self._clocks.turn(which, time)
        self._seen[anew] = 0
        parts = [slice(start, start + _AT_ONCE) for start in range(0, which.size, _AT_ONCE)]
        each_on_a_core(lambda part: self._step(which[part], readings[part], flow[part]), parts)
        return np.asarray(self._people[which, -1])

    def people(self, rooms: Indices | None = None) -> Array:
        """Give what is now thought of the last readings of each room, the newest last [people]."""
        return np.array(self._people[slice(None) if rooms is None else rooms])

    def take(self, rooms: Indices) -> ManyPaperRooms:
        """Give some of the rooms as they are now, each as often as it is named: they go on on their own."""
        taken = copy(self)
        for name in _OF_EACH_ROOM:
            setattr(taken, name, getattr(self, name)[rooms])
        taken._clocks = self._clocks.take(rooms)
        return taken

    def _step(self, rooms: Indices, readings: Array, flow: Array) -> None:
        self._append(rooms, readings, flow)
        moved = self._smooth(rooms)
        seen, horizon, length = self._seen[rooms], self._layer.horizon, self._co2.shape[1]
        for back in range(moved, -1, -1):  # readings before the newest, the oldest first
            whose = rooms[seen - back > horizon]
            if whose.size:
                place = length - 1 - back
                self._people[whose, place] = self._estimate(whose, place)

    def _append(self, rooms: Indices, readings: Array, flow: Array) -> None:
        """Take a reading of each room: the forward elimination of Eq. (25)."""
        begins = self._seen[rooms] == 0
        pivot = self._pivots[rooms, -1]
        carried = np.where(begins, 0.0, self._smoothing / (self._smoothing + pivot))
        swept = readings + carried * self._swept[rooms, -1]
        for history, newest in (
            (self._swept, swept),
            (self._pivots, 1.0 + carried * pivot),
            (self._co2, swept / (1.0 + carried * pivot)),
            (self._ventilation, flow),
            (self._people, 0.0),
        ):
            history[rooms, :-1] = history[rooms, 1:]
            history[rooms, -1] = newest
        self._seen[rooms] += 1

    def _smooth(self, rooms: Indices) -> int:
        """Substitute back, Eq. (25), as far as smoothed CO2 still moves; how many readings that is."""
        weight, length, seen = self._smoothing, self._co2.shape[1], self._seen[rooms]
        newer = self._co2[rooms, -1]
        for back in range(1, length):
            place = length - 1 - back
            pivot = weight + self._pivots[rooms, place]
            value = self._swept[rooms, place] / pivot + weight / pivot * newer
            move = np.where(seen > back, np.abs(value - self._co2[rooms, place]), 0.0)
            self._co2[rooms, place] = value
            if move.max() <= self._still:
                return back - 1
            newer = value
        return int(length - 1 - self._layer.horizon)

    def _estimate(self, rooms: Indices, place: int) -> Array:
        """Eq. (16) at one minute of each room, clamped."""
        since = place - self._layer.horizon
        columns = self._layer.at(
            self._co2[rooms, since : place + 1],
            self._people[rooms, since:place],
            self._ventilation[rooms, since : place + 1],
        )
        columns *= np.repeat(self._scale[rooms], self._sizes, axis=1)
        z = columns @ self._weights
        z += self._bias
        people = np.einsum("ij,ij->i", sigmoid_in_place(z), self._coef[rooms])
        return np.asarray(np.clip(people, 0.0, self._most[rooms]))


def _fading(smoothing: float, still: float) -> int:
    """Count the readings after which the largest move of CO2 has faded to ``still`` [ppm]."""
    if smoothing == 0:
        return 1
    root = 1.0 + 0.5 / smoothing - math.sqrt(1.0 / smoothing + 0.25 / smoothing**2)
    return math.ceil(math.log(still / _LARGEST_MOVE) / math.log(root)) + 1


def _check_alike(estimators: Sequence[OccupancyEstimator]) -> None:
    if not estimators:
        raise InputError("estimators must hold at least one trained room")
    if not all(hasattr(estimator, "regressor_") for estimator in estimators):
        raise InputError("estimators must have a layer of the paper's; see room.many for others")
    if len({(one.interval_, one.layer_, one.smoothing_) for one in estimators}) > 1:
        raise InputError("estimators must have one interval, one layer and one smoothing")
    if len({(one.regressor_.layer_seed_, one.regressor_.coef_.size) for one in estimators}) > 1:
        raise InputError("estimators must share one random layer: one random_state and n_draws=1")
