"""The paper's live estimator, Eq. (26), for a batch of rooms with the same random layer.

The rooms differ only in their scales and read-outs, so one reading of all rooms is a single matrix product
with the random weights. Every new reading updates the estimates whose smoothed CO2 it changed. A change
decays by a constant factor per reading, so their number does not depend on the time of day.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import copy
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from occupair.elm.cores import each_on_a_core
from occupair.elm.hidden_layer import sigmoid_in_place
from occupair.errors import InputError
from tools.speed.room_clocks import Indices, RoomClocks, check_step

if TYPE_CHECKING:
    from occupair.estimator import OccupancyEstimator

Array = NDArray[np.float64]

STILL = 1e-7
"""Largest change of smoothed CO2 that does not update an estimate [ppm]."""

_LARGEST_MOVE = 1e4  # [ppm]: readings are dropped once this has decayed to STILL
_PER_ROOM = ("_scale", "_coef", "_most", "_seen", "_swept", "_pivots", "_co2", "_ventilation", "_people")
_BLOCK = 256  # rooms per block: their hidden neurons fit into the cache


class ManyPaperRooms:
    """A batch of rooms with the paper's estimator; each estimate equals that of a single ``LiveRoom``.

    Parameters
    ----------
    estimators : sequence of OccupancyEstimator
        Trained with one of the paper's layers, the same settings and ``random_state``, and ``n_draws=1``, so
        they share one random layer.
    still : float
        Largest change of smoothed CO2 that does not update an estimate [ppm]: the larger, the faster. With
        1e-7 estimates are within some 1e-6 people of Eq. (26), with 1e-4 within some 1e-3.

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
        _check_compatible(estimators)
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
        # Recent readings, the newest in the last column:
        self._swept, self._pivots = np.zeros((n, length)), np.ones((n, length))
        self._co2, self._ventilation, self._people = np.zeros((3, n, length))
        self._seen = np.zeros(n, dtype=np.int64)  # readings since midnight or a gap

    def __len__(self) -> int:
        return len(self._seen)

    def update(
        self,
        time: pd.Timestamp | pd.DatetimeIndex,
        co2: Array,
        ventilation: Array | None = None,
        rooms: Indices | None = None,
    ) -> Array:
        """Add one reading of each room, or of some, and return their estimates now [people].

        Parameters
        ----------
        time : Timestamp or DatetimeIndex
            Local time, or time zone aware; one for all rooms or one per room.
        co2, ventilation : array of shape (n,)
            The readings [ppm], [0..1].
        rooms : array of int of shape (n,), optional
            Room numbers, each at most once; None is all rooms.
        """
        which, readings, flow = check_step(len(self), rooms, co2, ventilation)
        _, restarted = self._clocks.advance(which, time)
        self._seen[restarted] = 0
        parts = [slice(start, start + _BLOCK) for start in range(0, which.size, _BLOCK)]
        each_on_a_core(lambda part: self._step(which[part], readings[part], flow[part]), parts)
        return np.asarray(self._people[which, -1])

    def people(self, rooms: Indices | None = None) -> Array:
        """Return the current estimates of the recent readings of each room, newest last [people]."""
        return np.array(self._people[slice(None) if rooms is None else rooms])

    def take(self, rooms: Indices) -> ManyPaperRooms:
        """Return independent copies of some rooms in their current state; a room may occur several times."""
        taken = copy(self)
        for name in _PER_ROOM:
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
        """Add a reading of each room: the forward elimination of Eq. (25)."""
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
        """Substitute back, Eq. (25), while smoothed CO2 changes; return the number of readings."""
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
        """Return Eq. (16) for one reading of each room, clamped [people]."""
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
    """Return the readings until the largest change of CO2 has decayed to ``still`` [ppm]."""
    if smoothing == 0:
        return 1
    root = 1.0 + 0.5 / smoothing - math.sqrt(1.0 / smoothing + 0.25 / smoothing**2)
    return math.ceil(math.log(still / _LARGEST_MOVE) / math.log(root)) + 1


def _check_compatible(estimators: Sequence[OccupancyEstimator]) -> None:
    if not estimators:
        raise InputError("estimators must contain at least one trained estimator")
    if not all(hasattr(estimator, "regressor_") for estimator in estimators):
        raise InputError("estimators must have one of the paper's layers; use ManyDefaultRooms for others")
    if len({(one.interval_, one.layer_, one.smoothing_) for one in estimators}) > 1:
        raise InputError("estimators must have the same interval, layer and smoothing")
    if len({(one.regressor_.layer_seed_, one.regressor_.coef_.size) for one in estimators}) > 1:
        raise InputError("estimators must share one random layer: train with one random_state and n_draws=1")
