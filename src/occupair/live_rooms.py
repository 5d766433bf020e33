"""Live rooms that take a reading each at the same time: what each would say alone, in less time.

Rooms of the default estimator that share a random layer are one matrix (``occupair.room.batch``). Rooms of
Eq. (26) are spread over the cores: each estimates other minutes of its day anew, by series of its own, where
one matrix would have to do all of them in full.
"""

from __future__ import annotations

import datetime as dt
import logging
import os
from collections.abc import Callable, Hashable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from typing import NamedTuple, cast

import numpy as np
from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

from occupair.live_room import Estimate, LiveRoom
from occupair.room.batch import RoomBatch, batch_key
from occupair.room.inputs import concatenate_inputs
from occupair.room.live_day import RoomDay

log = logging.getLogger("occupair.live")

FEWEST = 4
"""Rooms from which on it is worth the trouble to take them together."""


class NextReading(NamedTuple):
    """A reading that a room is to take next."""

    room: LiveRoom
    time: dt.datetime
    co2: float  # [ppm]
    ventilation: float | None  # [0..1]


class LiveRooms:
    """Steps rooms together.

    Parameters
    ----------
    rooms : iterable of LiveRoom
        Rooms whose models are expected. A room with another model is estimated too, alone.

    Examples
    --------
    >>> import occupair as oc
    >>> offices = [oc.simulate_office(days=3, seed=seed).iloc[::5] for seed in (1, 2)]
    >>> rooms = [oc.OccupancyEstimator(random_state=0).fit(office).live() for office in offices]
    >>> nine = dt.datetime(2024, 1, 8, 9)
    >>> said = LiveRooms(rooms).update([NextReading(room, nine, 700.0, 0.5) for room in rooms])
    >>> [estimate.quality for estimate in said]
    ['starting', 'starting']
    """

    def __init__(self, rooms: Iterable[LiveRoom]) -> None:
        kinds: dict[Hashable, list[RoomDay]] = {}
        for room in rooms:
            if isinstance(day := room.day, RoomDay):
                kinds.setdefault((batch_key(day.model), day.confidence), []).append(day)
        self._stacks: dict[tuple[int, float], _Stack] = {}
        for days in kinds.values():
            try:
                stack = _Stack(days)
            except Exception:  # whoever wrote such models: each room works alone
                log.exception("rooms cannot be estimated together")
            else:
                self._stacks |= {(id(day.model), day.confidence): stack for day in days}
        self._cores = os.cpu_count() or 1
        self._pool = ThreadPoolExecutor(self._cores, thread_name_prefix="rooms")

    def update(self, due: Sequence[NextReading]) -> list[Estimate | Exception]:
        """Take a reading of each room: what it says, or why it says nothing. No room may be due twice."""
        said: dict[int, Estimate | Exception] = {}
        groups: dict[_Stack | type, list[_Begun]] = {}
        for number, one in enumerate(due):
            try:
                begun = _Begun(number, one, one.room.start_reading(one.time, one.co2, one.ventilation))
            except Exception as error:  # noqa: BLE001 whatever is wrong with one room stays there
                said[number] = error
            else:
                groups.setdefault(self._group(one.room), []).append(begun)
        for group, begun_ones in groups.items():
            errors = self._append(group, begun_ones)
            for (number, one, _), fault in zip(begun_ones, errors, strict=True):
                said[number] = fault or one.room.finish_reading(one.time)
        return [said[number] for number in range(len(due))]

    def _group(self, room: LiveRoom) -> _Stack | type:
        day = room.day
        stack = self._stacks.get((id(day.model), day.confidence)) if isinstance(day, RoomDay) else None
        return stack or type(day)

    def _append(self, group: _Stack | type, begun: Sequence[_Begun]) -> list[Exception | None]:
        """Let days take their readings: what went wrong with each."""
        if len(begun) < FEWEST or group is RoomDay:
            return _append_each(begun)
        if isinstance(group, _Stack):
            return group.append(begun)
        size = -(-len(begun) // self._cores)
        parts = [begun[start : start + size] for start in range(0, len(begun), size)]
        return [error for errors in self._pool.map(_append_each, parts) for error in errors]


class _Begun(NamedTuple):
    """A reading whose day has begun, and that is now to take it."""

    number: int  # among those that are due
    due: NextReading
    flow: float  # ventilation as the day takes it

    def append(self) -> None:
        self.due.room.day.append(self.due.co2, self.flow, self.due.time)


class _Stack:
    """Days whose models are of one batch_key."""

    def __init__(self, days: Sequence[RoomDay]) -> None:
        models = {id(day.model): day.model for day in days}
        self._places = {identity: place for place, identity in enumerate(models)}
        self._models = list(models.values())  # so that no other model gets the identity of one of them
        self._rooms = RoomBatch(self._models, days[0].confidence)

    def append(self, begun: Sequence[_Begun]) -> list[Exception | None]:
        """Let days take a reading each, in one go."""
        days = [cast("RoomDay", one.due.room.day) for one in begun]
        rows = [day.note(one.due.co2, one.flow, one.due.time) for day, one in zip(days, begun, strict=True)]
        try:
            places = np.array([self._places[id(day.model)] for day in days])
            with _blas().limit(limits=1):  # products so small that threads would only wait for each other
                found = self._rooms.people(
                    concatenate_inputs(rows), places, np.array([len(day) for day in days])
                )
        except Exception:
            log.exception("rooms could not be estimated together")
            return [_tried(partial(day.estimate, row)) for day, row in zip(days, rows, strict=True)]
        refined = zip(*(people.tolist() for people in found.refined.values()), strict=True)
        ranges = zip(found.low.tolist(), found.high.tolist(), strict=True)
        for day, people, between in zip(days, refined, ranges, strict=True):
            day.keep(people, between)
        return [None] * len(begun)


@cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController()


def _append_each(begun: Iterable[_Begun]) -> list[Exception | None]:
    return [_tried(one.append) for one in begun]


def _tried(work: Callable[[], None]) -> Exception | None:
    try:
        work()
    except Exception as error:  # noqa: BLE001 whatever is wrong with one room stays there
        return error
    return None
