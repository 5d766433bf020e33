"""Batched updates of live rooms: one reading of each of many ``LiveRoom`` objects, faster than one by one.

The rooms stay independent objects with their own histories, and each estimate equals that of
``LiveRoom.update``. Rooms of the default estimator with the same ``batch_key`` are evaluated as one
``occupair.room.batch.RoomBatch``, which itself holds no history. Rooms of the paper's estimator, Eq. (26),
are distributed over the cores instead: each revises a different part of its day, so one matrix for all rooms
would have to recompute every day in full.

In the live service, ``occupair.live.rooms.engine`` collects the readings that are due at the same time and
passes them to ``LiveRooms``.
"""

from __future__ import annotations

import datetime as dt
import logging
import os
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from typing import NamedTuple, cast

import numpy as np
from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

from occupair.live_room import Estimate, LiveRoom
from occupair.readings.other_sensors import check_sensor_values
from occupair.room.batch import RoomBatch, batch_key
from occupair.room.inputs import concatenate_inputs
from occupair.room.live_day import RoomDay

log = logging.getLogger("occupair.live")

MIN_BATCH = 4
"""Number of rooms from which on a batch is faster than one room after the other."""


class NextReading(NamedTuple):
    """The next reading of a room."""

    room: LiveRoom
    time: dt.datetime
    co2: float  # [ppm]
    ventilation: float | None  # [0..1]
    sensors: Mapping[str, float | None] | None = None  # values of optional sensors


class LiveRooms:
    """Updates many live rooms in batches.

    Parameters
    ----------
    rooms : iterable of LiveRoom
        Rooms whose models are batched. Rooms with other models can be updated too, one by one.

    Examples
    --------
    >>> import occupair as oc
    >>> offices = [oc.simulate_office(days=3, seed=seed).iloc[::5] for seed in (1, 2)]
    >>> rooms = [oc.OccupancyEstimator(random_state=0).fit(office).live() for office in offices]
    >>> nine = dt.datetime(2024, 1, 8, 9)
    >>> estimates = LiveRooms(rooms).update([NextReading(room, nine, 700.0, 0.5) for room in rooms])
    >>> [estimate.quality for estimate in estimates]
    ['starting', 'starting']
    """

    def __init__(self, rooms: Iterable[LiveRoom]) -> None:
        _blas()  # not later, while another thread loads a library
        by_key: dict[Hashable, list[RoomDay]] = {}
        for room in rooms:
            if isinstance(day := room.day, RoomDay):
                by_key.setdefault(batch_key(day.model), []).append(day)
        self._batches: dict[tuple[int, float], _DayBatch] = {}
        for days in by_key.values():
            try:
                batch = _DayBatch(days)
            except Exception:  # malformed models: update their rooms one by one
                log.exception("cannot batch %d rooms, updating them one by one", len(days))
            else:
                self._batches |= {_identity(day): batch for day in days}
        self._cores = os.cpu_count() or 1
        self._pool = ThreadPoolExecutor(self._cores, thread_name_prefix="rooms")

    def update(self, due: Sequence[NextReading]) -> list[Estimate | Exception]:
        """Update each room with one reading; a room must not occur twice.

        Returns
        -------
        list of Estimate or Exception
            The estimate of each room, or the error that its update raised.
        """
        results: dict[int, Estimate | Exception] = {}
        groups: dict[_DayBatch | type, list[_Pending]] = {}
        for number, one in enumerate(due):
            try:
                others = check_sensor_values(one.sensors)
                started = one.room.start_reading(one.time, one.co2, one.ventilation)
                pending = _Pending(number, one, *started, others)
            except Exception as error:  # noqa: BLE001 an error in one room must not affect the others
                results[number] = error
            else:
                groups.setdefault(self._group(one.room), []).append(pending)
        for group, members in groups.items():
            errors = self._append(group, members)
            for (number, one, *_), failure in zip(members, errors, strict=True):
                results[number] = failure or one.room.finish_reading(one.time)
        return [results[number] for number in range(len(due))]

    def _group(self, room: LiveRoom) -> _DayBatch | type:
        day = room.day
        batch = self._batches.get(_identity(day)) if isinstance(day, RoomDay) else None
        return batch or type(day)

    def _append(self, group: _DayBatch | type, pending: Sequence[_Pending]) -> list[Exception | None]:
        """Add the readings to their days; return the error of each, if any."""
        if len(pending) < MIN_BATCH or group is RoomDay:
            return _append_each(pending)
        if isinstance(group, _DayBatch):
            return group.append(pending)
        size = -(-len(pending) // self._cores)
        shares = [pending[start : start + size] for start in range(0, len(pending), size)]
        return [error for errors in self._pool.map(_append_each, shares) for error in errors]


class _Pending(NamedTuple):
    """A validated reading that its day has not taken yet."""

    number: int  # position in the list of due readings
    due: NextReading
    time: dt.datetime  # time and ventilation as the day takes them
    ventilation: float
    sensors: dict[str, float]

    def append(self) -> None:
        self.due.room.day.append(self.due.co2, self.ventilation, self.time, self.sensors)


class _DayBatch:
    """Days whose models have the same batch key."""

    def __init__(self, days: Sequence[RoomDay]) -> None:
        rooms = {_identity(day): day.model for day in days}
        self._places = {identity: place for place, identity in enumerate(rooms)}
        self._models = list(rooms.values())  # keeps the models alive, so that their ids stay unique
        self._rooms = RoomBatch(self._models, [confidence for _, confidence in rooms])

    def append(self, pending: Sequence[_Pending]) -> list[Exception | None]:
        """Add one reading to each day and estimate all of them at once."""
        days = [cast("RoomDay", one.due.room.day) for one in pending]
        inputs = [
            day.add_reading(one.due.co2, one.ventilation, one.time, one.sensors)
            for day, one in zip(days, pending, strict=True)
        ]
        try:
            places = np.array([self._places[_identity(day)] for day in days])
            seen = np.array([len(day) for day in days])
            with _blas().limit(limits=1):  # products too small to gain from threads
                found = self._rooms.people(concatenate_inputs(inputs), places, seen)
        except Exception:
            log.exception("batch update of %d rooms failed, updating them one by one", len(days))
            return [_try(partial(day.estimate, one)) for day, one in zip(days, inputs, strict=True)]
        refined = zip(*(people.tolist() for people in found.refined.values()), strict=True)
        intervals = zip(found.low.tolist(), found.high.tolist(), strict=True)
        above = zip(found.if_open.tolist(), found.scale.tolist(), strict=True)
        for day, people, interval, one in zip(days, refined, intervals, above, strict=True):
            day.set_estimates(people, interval, one)
        return [None] * len(pending)


def _identity(day: RoomDay) -> tuple[int, float]:
    """Return what distinguishes a trained room in a batch: its model and the confidence of its intervals."""
    return id(day.model), day.confidence


@cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController()


def _append_each(pending: Iterable[_Pending]) -> list[Exception | None]:
    return [_try(one.append) for one in pending]


def _try(work: Callable[[], None]) -> Exception | None:
    try:
        work()
    except Exception as error:  # noqa: BLE001 an error in one room must not affect the others
        return error
    return None
