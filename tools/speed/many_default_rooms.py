"""Default estimator for many rooms with synchronous readings: histories and parameters in shared arrays.

This is the upper bound on speed that the benchmark reports. Unlike ``occupair.live_rooms``, which batches
independent ``LiveRoom`` objects, it keeps the histories of all rooms in arrays as well, so a step has no work
per room in Python. The drift of sensors is not followed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from occupair.elm.cores import each_on_a_core
from occupair.room.batch import BatchEstimates, RoomBatch
from occupair.room.equation import as_slice
from occupair.room.inputs import Clock, Inputs, window_length
from occupair.room.model import RoomModel
from tools.speed.room_clocks import Indices, RoomClocks, check_step

Array = NDArray[np.float64]

_CHUNK = 2048  # rooms whose intermediate results fit into the cache


class ManyDefaultRooms:
    """Rooms that are updated at the same time; each estimate equals that of a ``LiveRoom`` without drift.

    Parameters
    ----------
    models : sequence of RoomModel
        Trained rooms (``OccupancyEstimator.room_``) with the same interval, smoothing and random layer: train
        them with the same ``random_state`` and ``n_draws=1``.
    confidence : float
        Nominal coverage of the prediction intervals.

    Examples
    --------
    >>> import occupair as oc
    >>> offices = [oc.simulate_office(days=3, seed=seed).iloc[::5] for seed in (1, 2)]
    >>> models = [oc.OccupancyEstimator(random_state=0).fit(office).room_ for office in offices]
    >>> rooms = ManyDefaultRooms(models)
    >>> time = pd.Timestamp("2024-01-08 10:00")
    >>> rooms.update(time, co2=np.array([600.0, 420.0]), ventilation=np.ones(2)).people.shape
    (2,)
    """

    def __init__(self, models: Sequence[RoomModel], *, confidence: float = 0.9) -> None:
        self._batch = RoomBatch(models, confidence)
        n, width = len(models), window_length(models[0].interval, models[0].lags[-1])
        self._swept, self._pivots = np.zeros((width, n)), np.ones((width, n))  # newest first
        self._ventilation = np.zeros((width, n))
        self._lowest_co2 = np.full(n, np.inf)
        self._seen = np.zeros(n, dtype=np.int64)  # readings since the day began, or since a gap
        self._clocks = RoomClocks(n, interval=models[0].interval)

    def __len__(self) -> int:
        return len(self._seen)

    def update(
        self,
        time: pd.Timestamp | pd.DatetimeIndex,
        co2: Array,
        ventilation: Array | None = None,
        rooms: Indices | None = None,
    ) -> BatchEstimates:
        """Add one reading to each room, or to some rooms, and estimate the people in them.

        Parameters
        ----------
        time : Timestamp or DatetimeIndex
            Local or time zone aware; one for all rooms or one for each.
        co2, ventilation : array of shape (n,)
            Readings [ppm], [0..1]; rooms trained without ventilation ignore it.
        rooms : array of int of shape (n,), optional
            Indices of the rooms, each at most once; by default all rooms.
        """
        rooms, co2, ventilation = check_step(len(self), rooms, co2, ventilation)
        index, restarted = self._clocks.advance(rooms, time)
        self._seen[restarted], self._lowest_co2[restarted] = 0, np.inf
        clock = Clock(*(np.broadcast_to(values, rooms.shape) for values in Clock.of(index)))
        self._append(rooms, co2, ventilation)

        def step(chunk: slice) -> BatchEstimates:
            some = rooms[chunk]
            return self._batch.people(self._inputs(some, clock, chunk), some, self._seen[some])

        found = each_on_a_core(step, list(_chunks(rooms.size)))
        return BatchEstimates(
            people=np.concatenate([one.people for one in found]),
            low=np.concatenate([one.low for one in found]),
            high=np.concatenate([one.high for one in found]),
            refined={lag: np.concatenate([one.refined[lag] for one in found]) for lag in found[0].refined},
            started=np.concatenate([one.started for one in found]),
            if_open=np.concatenate([one.if_open for one in found]),
            scale=np.concatenate([one.scale for one in found]),
        )

    def _append(self, rooms: Indices, co2: Array, ventilation: Array) -> None:
        """Add a reading to each room: forward elimination of Eq. (25), and the ventilation."""
        first, own = self._seen[rooms] == 0, as_slice(rooms)
        weight, pivot = self._batch.smoothing, self._pivots[0, rooms]
        carried = np.where(first, 0.0, weight / (weight + pivot))
        for history, newest in (
            (self._swept, co2 + carried * self._swept[0, rooms]),
            (self._pivots, 1.0 + carried * pivot),
            (self._ventilation, ventilation),
        ):
            history[1:, own] = history[:-1, own]
            history[0, own] = newest
            history[:, rooms[first]] = newest[first]
        self._seen[rooms] += 1

    def _inputs(self, rooms: Indices, clock: Clock, chunk: slice) -> Inputs:
        """Return the newest input of each room: back substitution of Eq. (25)."""
        own = as_slice(rooms)
        swept, pivots, seen = self._swept[:, own], self._pivots[:, own], self._seen[own]
        weight, co2 = self._batch.smoothing, np.empty_like(swept)
        co2[0] = swept[0] / pivots[0]
        for j in range(1, len(co2)):
            smoothed = (swept[j] + weight * co2[j - 1]) / (weight + pivots[j])
            co2[j] = np.where(seen > j, smoothed, co2[j - 1])
        self._lowest_co2[rooms] = np.minimum(self._lowest_co2[rooms], co2[0])
        clock = Clock(clock.minute[chunk], clock.weekend[chunk])
        return Inputs(
            co2.T, self._ventilation[:, own].T, self._lowest_co2[rooms], clock, self._batch.interval
        )


def _chunks(n: int) -> Iterator[slice]:
    yield from (slice(start, min(start + _CHUNK, n)) for start in range(0, n, _CHUNK))
