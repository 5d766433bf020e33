"""Readings of the points of one BACnet device, at the interval of each room.

Every poller has a task and state of its own, and at most one request on its way: a device that is slow or
gone affects only its own rooms.

Points with a subscription (COV) that is known to work are not read: their newest value is the reading. It
counts only if the device was heard of within the interval, and is read all the same every ``CONFIRM_EVERY``,
so that a device that has vanished, or has forgotten its subscriptions, never leaves a value standing.
"""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
import logging
import math
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from bacpypes3.pdu import Address
from bacpypes3.primitivedata import ObjectIdentifier

from occupair.errors import InputError
from occupair.live.bacnet.application import BacnetApplication
from occupair.live.bacnet.point_values import DESCRIPTION, STATE, co2_increment, point_value
from occupair.live.bacnet.property_reads import DeviceReader, NoAnswer, Properties, Refused, add_property
from occupair.live.bacnet.subscription import Subscription
from occupair.live.config import BacnetPoint
from occupair.live.messages import Reading
from occupair.readings.other_sensors import SENSORS

log = logging.getLogger(__name__)

START_SPREAD = 5.0
"""Devices are first read at random times within this time, so that not all are at once [s]."""
FIRST_PAUSE, MAX_PAUSE = 2.0, 60.0
"""Pause before a device that does not answer is asked again, which doubles from the first to the maximum [s].
"""
CONFIRM_EVERY = 300.0
"""How often units are read, and points with a subscription [s]."""
MAX_INCREMENT = 10.0
"""CO2 points that notify larger changes only are read instead [ppm]."""
RESTART_SPACING = 10.0
"""Shortest time between two restarts of a device that are noticed [s]."""
SETTLE, SPACING = 0.2, 1.0
"""How long to wait for notifications of other points after one, and the shortest time between two readings
from notifications [s].
"""


class RoomPoint(NamedTuple):
    """A quantity of a room and its object."""

    room: str
    quantity: str  # "co2", "ventilation" or an optional sensor
    point: BacnetPoint


@dataclass
class _Point:
    """An object that one or more rooms use, and what is known of it."""

    uses: list[RoomPoint]
    subscription: Subscription | None
    properties: Properties = field(default_factory=dict)
    described: float = -math.inf  # when all properties were read last [s]
    problems: dict[RoomPoint, str] = field(default_factory=dict)
    _state: Sequence[str] = STATE  # those that the object has

    def names_to_read(self, now: float) -> Sequence[str]:
        """Return the properties to read."""
        return DESCRIPTION if now - self.described >= CONFIRM_EVERY else self._state

    def update(self, properties: Properties, names: Sequence[str], now: float) -> None:
        """Take over properties that were read; those that are missing do not exist any more."""
        before = self.properties.get("present-value")
        for name in names:
            self.properties.pop(name, None)
        self.properties |= properties
        if names == DESCRIPTION:
            self.described = now
        self._state = [name for name in STATE if name in properties] or STATE
        if self.subscription is not None and properties.get("present-value") != before:
            self.subscription.renew()  # the change was small, or the device has forgotten the subscription

    def notify(self, values: Any) -> None:
        """Take over properties of a notification, which does not have all of them."""
        for one in values:
            add_property(self.properties, str(one.propertyIdentifier), one.value)
        if self.properties.get("reliability") or self.properties.get("out-of-service"):
            self.described = -math.inf  # the fault may be over: read it

    def value(self, use: RoomPoint) -> tuple[float | None, str]:
        """Return a quantity of a room, or None and why it is not a reading."""
        try:
            return point_value(use.quantity, use.point, self.properties), ""
        except InputError as error:
            return None, str(error)
        except Exception as error:  # must not affect other points
            log.debug("properties %s", self.properties, exc_info=True)
            return None, f"has properties that cannot be read ({type(error).__name__})"


class DevicePoller:
    """Reads the points of one device.

    Parameters
    ----------
    application : BacnetApplication
    address : Address
        Address of the device.
    points : iterable of RoomPoint
        Its points.
    interval : callable
        Returns the time between two readings of a room [s].
    submit : callable
        Called with readings.
    refuse : callable
        Called once for each value that is not a reading.
    clock : callable
        Returns the current time in UTC.

    Attributes
    ----------
    problem : str, optional
        Why there are no readings; empty if there are, None before the first attempt.
    n_points : int
        Number of objects.
    """

    def __init__(
        self,
        application: BacnetApplication,
        address: Address,
        points: Iterable[RoomPoint],
        *,
        interval: Callable[[str], float],
        submit: Callable[[list[Reading]], None],
        refuse: Callable[[], None],
        clock: Callable[[], dt.datetime],
    ) -> None:
        self._application, self.address = application, address
        self._interval, self._submit, self._refuse, self._clock = interval, submit, refuse, clock
        self._reader = DeviceReader(application, address)
        self._points: dict[ObjectIdentifier, _Point] = {}
        for one in points:
            object_ = ObjectIdentifier(one.point.object)
            point = self._points.setdefault(object_, _Point([], None))
            point.uses.append(one)
            if one.point.cov and point.subscription is None:
                point.subscription = Subscription(application, address, object_)
        self.problem: str | None = None
        self.n_points = len(self._points)
        self._due: dict[str, float] = {}
        self._retry, self._pause = -math.inf, FIRST_PAUSE
        self._heard = -math.inf  # when the device last sent anything [s]
        self._wake = asyncio.Event()
        self._changes: dict[str, dict[str, float]] = {}  # notified values by room and quantity
        self._changed = clock()
        self._flush_handle: asyncio.TimerHandle | None = None
        self._flushed = -math.inf
        self._refuses_cov = False
        self._started = -math.inf  # when the device last announced itself [s]

    async def run(self) -> None:
        """Read the points until cancelled, then end the subscriptions."""
        self._loop = asyncio.get_running_loop()
        start = self._loop.time() + random.uniform(0, START_SPREAD)
        self._due = {use.room: start for point in self._points.values() for use in point.uses}
        self._application.on_change[self.address] = self._on_change
        self._application.on_start[self.address] = self._on_start
        try:
            while True:
                await self._wait()
                try:
                    await self._act()
                except NoAnswer as error:
                    self._fail(str(error))
                except Exception:
                    log.exception("reading BACnet device %s failed", self.address)
                    self._fail("unexpected error")
        finally:
            del self._application.on_change[self.address], self._application.on_start[self.address]
            if self._flush_handle is not None:
                self._flush_handle.cancel()

    def points_without_reading(self) -> list[str]:
        """Return the objects whose value is not a reading, with the address of the device."""
        return [
            f"{self.address} {object_}"
            for object_, point in self._points.items()
            if any(point.problems.values())
        ]

    async def unsubscribe(self) -> None:
        """End all subscriptions in the device, if it answers."""
        with contextlib.suppress(NoAnswer, Refused):
            for subscription in self._subscriptions():
                await subscription.cancel()

    def _subscriptions(self) -> list[Subscription]:
        return [one.subscription for one in self._points.values() if one.subscription is not None]

    # ---- what to do next ----

    async def _wait(self) -> None:
        """Wait until there is something to do."""
        self._wake.clear()
        when = self._retry if self.problem else min(self._due.values())
        if self.problem == "":  # units are known
            when = min([when, *(one.due for one in self._subscriptions())])
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout_at(max(when, self._loop.time())):
                await self._wake.wait()

    async def _act(self) -> None:
        """Read the rooms that are due, or else subscribe to one object."""
        now = self._loop.time()
        if self.problem:
            if now >= self._retry:
                await self._read_rooms(list(self._due))
            return
        if rooms := [room for room, due in self._due.items() if due <= now]:
            await self._read_rooms(rooms)
            return
        for object_, point in self._points.items():
            if point.subscription is not None and point.subscription.due <= now:
                await self._subscribe(object_, point, point.subscription)
                return

    def _fail(self, problem: str) -> None:
        """Note that the device does not answer, and when to ask again."""
        if not self.problem:
            log.warning("BACnet device %s: %s; its rooms have no readings meanwhile", self.address, problem)
            self._reader.reset()
        self.problem = problem
        for subscription in self._subscriptions():
            subscription.reset()
        self._retry = self._loop.time() + self._pause * random.uniform(0.5, 1.0)
        self._pause = min(2 * self._pause, MAX_PAUSE)

    def _succeed(self) -> None:
        if self.problem:
            log.info("BACnet device %s answers again", self.address)
        self.problem, self._pause = "", FIRST_PAUSE

    # ---- reading ----

    async def _read_rooms(self, rooms: Sequence[str]) -> None:
        """Read the points of rooms, and submit one reading of each room that has a value."""
        now = self._loop.time()
        asked = {
            object_: point
            for object_, point in self._points.items()
            if any(use.room in rooms for use in point.uses)
        }
        known = {object_ for object_, point in asked.items() if self._is_notified(point, now)}
        names = {one: point.names_to_read(now) for one, point in asked.items() if one not in known}
        read: set[ObjectIdentifier] = set()
        try:
            async for found in self._reader.read(names):
                self._heard = self._loop.time()
                for object_, properties in found.items():
                    asked[object_].update(properties, names[object_], now)
                read |= found.keys()
            read |= known  # not if the device has just vanished
        finally:
            self._submit_rooms(rooms, [asked[one] for one in asked if one in read])
        self._reschedule(rooms)
        self._succeed()

    def _is_notified(self, point: _Point, now: float) -> bool:
        """Whether the newest value of a point is known without reading it."""
        interval = min(self._interval(use.room) for use in point.uses)
        return (
            point.subscription is not None
            and point.subscription.is_alive(now)
            and now - self._heard < interval
            and now - point.described < CONFIRM_EVERY
        )

    def _reschedule(self, rooms: Sequence[str]) -> None:
        now = self._loop.time()
        for room in rooms:
            interval, due = self._interval(room), self._due[room]
            is_punctual = due <= now < due + interval  # else read early, after a failure, or late
            self._due[room] = (due if is_punctual else now) + interval

    def _submit_rooms(self, rooms: Iterable[str], points: Iterable[_Point]) -> None:
        """Submit values at the time of the answer, which may be one to a repeated request."""
        if self._flush_handle is not None:  # earlier values first
            self._flush_handle.cancel()
            self._flush()
        values: dict[str, dict[str, float]] = {room: {} for room in rooms}
        for point in points:
            for use in point.uses:
                if use.room in values and (value := self._value(point, use)) is not None:
                    values[use.room][use.quantity] = value
        self._submit_values(values, self._clock())

    def _submit_values(self, values: dict[str, dict[str, float]], time: dt.datetime) -> None:
        received = self._clock()
        readings = [
            Reading(
                room,
                time,
                of_room.get("co2"),
                of_room.get("ventilation"),
                "bacnet",
                received,
                {name: value for name, value in of_room.items() if name in SENSORS},
            )
            for room, of_room in values.items()
            if of_room
        ]
        if readings:
            self._submit(readings)

    def _value(self, point: _Point, use: RoomPoint) -> float | None:
        """Return the value of a quantity, None if it is not a reading, which is logged once."""
        value, problem = point.value(use)
        if problem:
            self._refuse()
        if problem != point.problems.get(use, ""):
            name = f"{use.room}, {use.quantity}: {use.point.object} of BACnet device {use.point.bacnet}"
            if problem:
                log.warning("%s %s", name, problem)
            else:
                log.info("%s is read again", name)
        point.problems[use] = problem
        return value

    # ---- notifications ----

    async def _subscribe(self, object_: ObjectIdentifier, point: _Point, subscription: Subscription) -> None:
        now = self._loop.time()
        increment = co2_increment(point.properties)
        is_co2 = any(use.quantity == "co2" for use in point.uses)
        if is_co2 and increment is not None and increment > MAX_INCREMENT:
            subscription.due = now + CONFIRM_EVERY
            return
        refusal = await subscription.subscribe(now)
        self._heard = self._loop.time()
        if refusal and not self._refuses_cov:
            self._refuses_cov = True
            log.info(
                "BACnet device %s: no COV of %s (%s), which is read instead", self.address, object_, refusal
            )

    def _on_change(self, object_: ObjectIdentifier, values: Any) -> bool:
        """Take over a notification; return False if there is no such subscription."""
        point = self._points.get(object_)
        if point is None or point.subscription is None:
            return False
        if not point.subscription.is_requested:
            self._on_start()
            return False
        self._heard = now = self._loop.time()
        point.subscription.notify(now)
        before = [point.value(use)[0] for use in point.uses]
        point.notify(values)
        for use, last in zip(point.uses, before, strict=True):
            value = self._value(point, use)
            if value is not None and value != last:
                self._changes.setdefault(use.room, {})[use.quantity] = value
        if self._changes:
            self._changed = self._clock()
            if self._flush_handle is None:
                when = max(now + SETTLE, self._flushed + SPACING)
                self._flush_handle = self._loop.call_at(when, self._flush)
        return True

    def _flush(self) -> None:
        """Submit the values of the last notifications."""
        self._flush_handle, self._flushed = None, self._loop.time()
        changes, self._changes = self._changes, {}
        self._submit_values(changes, self._changed)

    def _on_start(self) -> None:
        """Ask a device that announces itself at once, and subscribe again; but not whenever it does so."""
        now = self._loop.time()
        if self.problem is None or now - self._started < RESTART_SPACING:
            return
        self._started = now
        if self.problem:
            self._retry = now
        for subscription in self._subscriptions():
            subscription.renew()
        self._wake.set()
