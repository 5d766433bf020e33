"""Many rooms at once: one step of the default estimator for all rooms that share a random layer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from occupair.elm.hidden_layer import each_on_a_core
from occupair.room.batch import BatchEstimates, RoomBatch, without_copy
from occupair.room.inputs import Clock, Inputs, window_length
from occupair.room.model import RoomModel
from tools.speed.room_clocks import Indices, RoomClocks, check_step

Array = NDArray[np.float64]

_AT_ONCE = 2048  # rooms: what they need at a time fits a cache


class ManyDefaultRooms:
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
    >>> models = [oc.OccupancyEstimator(random_state=0).fit(office).room_ for office in offices]
    >>> rooms = ManyDefaultRooms(models)
    >>> time = pd.Timestamp("2024-01-08 10:00")
    >>> rooms.update(time, co2=np.array([600.0, 420.0]), ventilation=np.ones(2)).people.shape
    (2,)
    """

    def __init__(self, models: Sequence[RoomModel], *, interval: float = 0.9) -> None:
        self._model = RoomBatch(models, interval)
        n, width = len(models), window_length(models[0].interval)
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
    ) -> BatchEstimates:
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
        index, restarted = self._clocks.advance(rooms, time)
        self._seen[restarted], self._low[restarted] = 0, np.inf
        clock = Clock(*(np.broadcast_to(part, rooms.shape) for part in Clock.of(index)))
        self._append(rooms, co2, flow)

        def step(part: slice) -> BatchEstimates:
            some = rooms[part]
            return self._model.people(self._rows(some, clock, part), some, self._seen[some])

        parts = each_on_a_core(step, list(_parts(rooms.size)))
        now = [np.concatenate([getattr(part, name) for part in parts]) for name in ("people", "low", "high")]
        refined = {lag: np.concatenate([part.refined[lag] for part in parts]) for lag in parts[0].refined}
        started = np.concatenate([part.started for part in parts])
        return BatchEstimates(now[0], now[1], now[2], refined, started)

    def _append(self, rooms: Indices, co2: Array, flow: Array) -> None:
        """Take a reading of each room: the forward elimination of Eq. (25), and the ventilation."""
        first, own = self._seen[rooms] == 0, without_copy(rooms)
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

    def _rows(self, rooms: Indices, clock: Clock, part: slice) -> Inputs:
        """Give what is known in each room now: the back substitution of Eq. (25)."""
        own = without_copy(rooms)
        swept, pivots, seen = self._swept[:, own], self._pivots[:, own], self._seen[own]
        weight, co2 = self._model.smoothing, np.empty_like(swept)
        co2[0] = swept[0] / pivots[0]
        for j in range(1, len(co2)):
            known = (swept[j] + weight * co2[j - 1]) / (weight + pivots[j])
            co2[j] = np.where(seen > j, known, co2[j - 1])
        self._low[rooms] = np.minimum(self._low[rooms], co2[0])
        clock = Clock(clock.minute[part], clock.weekend[part])
        return Inputs(co2.T, self._ventilation[:, own].T, self._low[rooms], clock, self._model.interval)


def _parts(n: int) -> Iterator[slice]:
    yield from (slice(start, min(start + _AT_ONCE, n)) for start in range(0, n, _AT_ONCE))
