"""The BACnet objects of all rooms, kept up to date with the states of the pipeline.

Room number k has the Analog Values 10 k + 1 (people), 10 k + 2 (low), 10 k + 3 (high) and 10 k + 4 (CO2), and
the Binary Value 10 k + 5 (occupied): the last digit is the quantity, the digits before it are the room. Rooms
with settings for outdoor air also have 10 k + 6 (recommended flow) and 10 k + 7 (damper position). The store
keeps the number of a room, so its instance numbers never change.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import logging
import math
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeVar

from bacpypes3.basetypes import EngineeringUnits, Reliability
from bacpypes3.primitivedata import CharacterString, Real

from occupair.live.bacnet.instance_numbers import instance_number
from occupair.live.bacnet.read_only import ReadOnlyApplication
from occupair.live.bacnet.value_objects import NO_FAULT, UNRELIABLE, AnalogValue, BinaryValue, RoomValue
from occupair.live.config import RoomConfig
from occupair.live.config.values import MAX_INSTANCE
from occupair.live.messages import Quality, RoomState
from occupair.live.reasons import Reason
from occupair.live.room_pipeline import RoomPipeline
from occupair.live.store import StoreError

log = logging.getLogger("occupair.live.bacnet")
T = TypeVar("T")

ROOMS_AT_ONCE = 20
"""Rooms that are added, removed or updated before other tasks get a turn: some 5 ms."""
STORE_RETRY = 5.0
"""Pause before the numbers of rooms are read again if the store is unavailable [s]."""
AGE_CHECK_EVERY = 30.0
"""How often CO2 of rooms without a model is checked for age [s]."""
MAX_NUMBER = (MAX_INSTANCE - 9) // 10
"""Largest number of a room."""


@dataclass(frozen=True)
class Quantity:
    """An Analog Value of each room.

    Parameters
    ----------
    text : str
        What it is, for the description.
    units : EngineeringUnits
    increment : Real
        COV increment, in these units.
    """

    text: str
    units: Any
    increment: Any


_NO_UNITS, _PPM = EngineeringUnits("no-units"), EngineeringUnits("parts-per-million")
_ONE = Real(1.0)
ANALOG = {
    "people": Quantity("people, estimated from CO2", _NO_UNITS, _ONE),
    "low": Quantity("people, lower end of the 90 % interval", _NO_UNITS, _ONE),
    "high": Quantity("people, upper end of the 90 % interval", _NO_UNITS, _ONE),
    "co2": Quantity("CO2, smoothed", _PPM, Real(25.0)),
}
"""The Analog Values of each room. 25 ppm is half of what a typical sensor is accurate to."""
AIR = {
    "outdoor_air": Quantity(
        "outdoor air, recommended for the people estimated", EngineeringUnits("liters-per-second"), Real(5.0)
    ),
    "damper": Quantity("damper position for the outdoor air", EngineeringUnits("percent"), Real(2.0)),
}
"""The Analog Values of rooms with settings for outdoor air."""
OCCUPIED = "occupied"
_EMPTY_TEXT, _OCCUPIED_TEXT = CharacterString("empty"), CharacterString("occupied")

_NO_SENSOR, _NO_READINGS = Reliability("no-sensor"), Reliability("communication-failure")
_NOT_CONFIGURED = Reliability("configuration-error")
RELIABILITY = {
    Quality.STARTING: UNRELIABLE,
    Quality.STALE: _NO_READINGS,
    Quality.SUSPECT: UNRELIABLE,
    Quality.UNTRAINED: _NOT_CONFIGURED,
}
"""Reliability of the count by quality flag, if there has been a reading."""
_NEVER_READ = (Reason.NO_READING, Reason.NO_CO2_READING)


class RoomNumbers(Protocol):
    """The part of the store that gives numbers to rooms."""

    def room_numbers(self, rooms: Iterable[str]) -> dict[str, int]:
        """Return the number of each room, which never changes once given."""


class Value(NamedTuple):
    """A value of a room, None if it is unknown, and its reliability."""

    value: float | None
    reliability: Any


@dataclass
class _Room:
    config: RoomConfig
    number: int
    objects: dict[str, RoomValue]


class RoomObjects:
    """The objects of all rooms in a BACnet application.

    Parameters
    ----------
    application : ReadOnlyApplication
        The application, with a Device object.
    store : RoomNumbers
        Keeps the number of each room.
    rooms : mapping of RoomConfig
        The rooms by id.
    """

    def __init__(
        self, application: ReadOnlyApplication, store: RoomNumbers, rooms: Mapping[str, RoomConfig]
    ) -> None:
        self._application, self._store = application, store
        self._rooms: dict[str, _Room] = {}
        self._wanted = dict(rooms)
        self._changed = asyncio.Event()
        self._changed.set()

    @property
    def is_complete(self) -> bool:
        """Whether exactly the rooms in the settings have objects."""
        return {id_: room.config for id_, room in self._rooms.items()} == self._wanted

    def use_rooms(self, rooms: Mapping[str, RoomConfig]) -> None:
        """Add and remove objects so that these rooms have some, while `run` is running.

        Objects of rooms that stay are not touched, and neither are subscriptions to them.
        """
        self._wanted = dict(rooms)
        self._changed.set()

    async def run(self, pipeline: RoomPipeline) -> None:
        """Keep the objects up to date until cancelled."""
        async with pipeline.subscribe() as changes, asyncio.TaskGroup() as tasks:
            tasks.create_task(self._follow_rooms(pipeline))
            tasks.create_task(self._check_ages(pipeline))
            async for states in changes:
                await self._update(states, pipeline)

    async def _follow_rooms(self, pipeline: RoomPipeline) -> None:
        while await self._changed.wait():
            self._changed.clear()
            wanted = self._wanted
            try:
                numbers = await asyncio.to_thread(self._store.room_numbers, list(wanted))
            except StoreError as error:
                log.warning("the BACnet objects of new rooms are not added yet: %s", error)
                await asyncio.sleep(STORE_RETRY)
                self._changed.set()
                continue
            await self._change_rooms(wanted, numbers, pipeline)

    async def _change_rooms(
        self, wanted: Mapping[str, RoomConfig], numbers: Mapping[str, int], pipeline: RoomPipeline
    ) -> None:
        removed = [id_ for id_ in self._rooms if id_ not in wanted]
        for ids in _batches(removed):
            for id_ in ids:
                self._remove(id_)
            await asyncio.sleep(0)
        for rooms in _batches(list(wanted.values())):
            states = pipeline.states()
            for room in rooms:
                self._add(room, numbers[room.id], states.get(room.id), pipeline.now())
            await asyncio.sleep(0)
        self._application.device_object.databaseRevision = self._revision()

    def _add(self, room: RoomConfig, number: int, state: RoomState | None, now: dt.datetime) -> None:
        """Add the objects of a room, or describe them anew if its settings have changed."""
        if number > MAX_NUMBER:
            log.error("room %s has no BACnet objects: there are no instance numbers left", room.id)
            return
        known = self._rooms.get(room.id)
        if known and known.objects.keys() != {*_quantities(room), OCCUPIED}:
            self._remove(room.id)  # outdoor air was added or removed
            known = None
        if known:
            known.config = room
            for key, one in known.objects.items():
                one.description = _description(room, key)
            return
        objects = dict(_new_objects(room, number))
        self._rooms[room.id] = _Room(room, number, objects)
        if state is not None:
            self._set_values(self._rooms[room.id], state, now)
        for one in objects.values():
            self._application.add_object(one)

    def _remove(self, id_: str) -> None:
        for one in self._rooms.pop(id_).objects.values():
            self._application.delete_object(one)

    def _revision(self) -> int:
        """Return Database_Revision, a checksum of all names and numbers: it changes with the objects only.

        The standard counts changes. A count would start anew with the service, as if objects had changed.
        """
        rooms = sorted(
            (room.number, id_, *(key for key in AIR if key in room.objects))
            for id_, room in self._rooms.items()
        )
        return zlib.crc32(repr(rooms).encode())

    async def _update(self, states: Iterable[RoomState], pipeline: RoomPipeline) -> None:
        for batch in _batches(list(states)):
            now = pipeline.now()
            for state in batch:
                if room := self._rooms.get(state.room):
                    self._set_values(room, state, now)
            await asyncio.sleep(0)

    async def _check_ages(self, pipeline: RoomPipeline) -> None:
        """Notice that the sensor of a room without a model is offline, which its state does not report."""
        while True:
            await asyncio.sleep(AGE_CHECK_EVERY)
            states = [one for one in pipeline.states().values() if one.quality is Quality.UNTRAINED]
            await self._update(states, pipeline)

    def _set_values(self, room: _Room, state: RoomState, now: dt.datetime) -> None:
        values = room_values(state, now, room.config.stale_after)
        for key, target in room.objects.items():
            target.set_value(*values[key])
            self._application.object_changed(target)


def room_values(state: RoomState, now: dt.datetime, stale_after: float) -> dict[str, Value]:
    """Return the values of a room's objects.

    Parameters
    ----------
    state : RoomState
        State of the room.
    now : datetime
        Current time, in UTC.
    stale_after : float
        Time without readings after which CO2 is unknown [min].
    """
    if state.people is None:
        unknown = Value(None, _reliability(state))
        counts = dict.fromkeys(("people", "low", "high", OCCUPIED), unknown)
    else:
        counts = {
            "people": Value(state.people, NO_FAULT),
            "low": _known(state.low, _NOT_CONFIGURED),  # the model has no interval
            "high": _known(state.high, _NOT_CONFIGURED),
            OCCUPIED: Value(state.people > 0, NO_FAULT),
        }
    air = {
        "outdoor_air": _known(state.outdoor_air, _NOT_CONFIGURED),
        "damper": _known(None if state.damper is None else 100 * state.damper, _NOT_CONFIGURED),
    }
    return counts | air | {"co2": _co2(state, now, stale_after)}


def _co2(state: RoomState, now: dt.datetime, stale_after: float) -> Value:
    """Return CO2, which is known without a count, such as before a room has a model."""
    if state.time is None or _known(state.co2_smoothed, NO_FAULT).value is None:
        reliability = _NO_SENSOR if state.quality is Quality.UNTRAINED else _reliability(state)
        return Value(None, reliability)
    if state.quality in (Quality.STALE, Quality.SUSPECT):
        return Value(None, _reliability(state))
    if state.quality is Quality.UNTRAINED and (now - state.time).total_seconds() > 60 * stale_after:
        return Value(None, _NO_READINGS)
    return Value(state.co2_smoothed, NO_FAULT)


def _known(value: float | None, otherwise: Any) -> Value:
    is_known = value is not None and math.isfinite(value)
    return Value(value, NO_FAULT) if is_known else Value(None, otherwise)


def _reliability(state: RoomState) -> Any:
    """Return why the occupancy of a room is unknown."""
    if state.cause is not None and state.cause.reason in _NEVER_READ:
        return _NO_SENSOR
    return RELIABILITY.get(state.quality, UNRELIABLE)


def _new_objects(room: RoomConfig, number: int) -> Iterator[tuple[str, RoomValue]]:
    """Yield the objects of a room by quantity. Ids of rooms have no dots, so names are unique."""
    for key, quantity in _quantities(room).items():
        yield (
            key,
            AnalogValue(
                instance_number(number, key),
                f"{room.id}.{key}",
                _description(room, key),
                units=quantity.units,
                increment=quantity.increment,
            ),
        )
    yield (
        OCCUPIED,
        BinaryValue(
            instance_number(number, OCCUPIED),
            f"{room.id}.{OCCUPIED}",
            _description(room, OCCUPIED),
            inactive=_EMPTY_TEXT,
            active=_OCCUPIED_TEXT,
        ),
    )


def _quantities(room: RoomConfig) -> dict[str, Quantity]:
    """Return the Analog Values of a room."""
    return ANALOG if room.outdoor_air is None else ANALOG | AIR


def _description(room: RoomConfig, key: str) -> Any:
    place = ", ".join(part for part in (room.name or room.id, room.floor) if part)
    quantity = _quantities(room).get(key)
    return CharacterString(f"{place}: {OCCUPIED if quantity is None else quantity.text}")


def _batches(items: list[T]) -> Iterator[list[T]]:
    for start in range(0, len(items), ROOMS_AT_ONCE):
        yield items[start : start + ROOMS_AT_ONCE]
