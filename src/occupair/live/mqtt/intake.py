"""Readings in by MQTT: messages that have come are kept, and acknowledged when they are."""

from __future__ import annotations

import asyncio
import datetime as dt
import logging
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Protocol

from occupair.errors import InputError
from occupair.live.messages import Reading, ReadingOutcome, RoomState
from occupair.live.mqtt.client import Arrived, BrokerClient
from occupair.live.mqtt.payloads import Parsed, SaysNothing, parse_co2, parse_ventilation

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from occupair.live.config import RoomConfig

log = logging.getLogger("occupair.live.mqtt.link")

AT_ONCE = 500
"""Messages that go into one submit."""
MOST_BATCHES = 10_000
"""Batches that may wait for the store."""
TRIES = 3
"""How often a reading is tried that fails while the store is well: one that will never do stops no other."""
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 10.0
"""Between tries: this, then twice as long each time, up to that [s]."""
COMPLAIN_EVERY = 60.0
"""A topic that sends what is no reading is logged this often [s]."""


class Sink(Protocol):
    """What MQTT needs of the pipeline."""

    counters: Counter[tuple[str, ReadingOutcome]]
    mqtt_status: str

    async def submit(self, readings: Sequence[Reading]) -> list[ReadingOutcome]:
        """Take readings; returns when what is kept of them is in the store."""

    def states(self) -> dict[str, RoomState]:
        """Give what all rooms say."""

    def subscribe(self) -> AbstractAsyncContextManager[AsyncIterator[list[RoomState]]]:
        """Give states as they change."""

    @property
    def healthy(self) -> dict[str, str]:
        """What works, in a word each."""


class Translator:
    """Messages as readings of the rooms whose topics they came on.

    Parameters
    ----------
    rooms : mapping of RoomConfig
    """

    def __init__(self, rooms: Mapping[str, RoomConfig]) -> None:
        self._rooms: defaultdict[str, list[RoomConfig]] = defaultdict(list)
        for room in rooms.values():
            for topic in {told.topic: None for told in (room.co2, room.ventilation) if told is not None}:
                self._rooms[topic].append(room)
        self._complaints: dict[str, tuple[float, int]] = {}
        self._heard: set[tuple[str, str]] = set()  # topics, and which quantity has come on them
        self.refused = 0

    @property
    def topics(self) -> list[str]:
        """All topics on which readings come."""
        return list(self._rooms)

    def readings(self, messages: Iterable[Arrived]) -> list[Reading]:
        """Give the readings in messages; what is none is counted, and logged once a while."""
        return [
            reading
            for message in messages
            for room in self._rooms.get(message.topic, ())
            for reading in self._of_room(room, message)
        ]

    def _of_room(self, room: RoomConfig, message: Arrived) -> list[Reading]:
        """Give CO2 and ventilation of one message as one reading, where they are of one time."""
        readings: dict[dt.datetime, Reading] = {}
        parsers: dict[str, Callable[[bytes, dt.datetime, str], Parsed]] = {}
        if room.co2 is not None and room.co2.topic == message.topic:
            parsers["co2"] = partial(parse_co2, room.co2)
        if room.ventilation is not None and room.ventilation.topic == message.topic:
            parsers["ventilation"] = partial(parse_ventilation, room.ventilation)
        for quantity, parse in parsers.items():
            try:
                parsed = parse(message.payload, message.received, room.timezone)
            except SaysNothing as error:
                if (message.topic, quantity) not in self._heard:
                    self._refuse(message.topic, str(error))
                continue
            except InputError as error:
                self._refuse(message.topic, str(error))
                continue
            self._heard.add((message.topic, quantity))
            self._add(readings, room.id, quantity, parsed, message)
        return list(readings.values())

    @staticmethod
    def _add(
        readings: dict[dt.datetime, Reading], room: str, quantity: str, parsed: Parsed, message: Arrived
    ) -> None:
        if message.retained and parsed.time is None:
            log.debug("%s: retained, and no time in it: old news", message.topic)
            return
        time = parsed.time or message.received
        reading = readings.get(time) or Reading(room, time, None, None, "mqtt", message.received)
        value = parsed.value
        readings[time] = (
            replace(reading, co2=value) if quantity == "co2" else replace(reading, ventilation=value)
        )

    def _refuse(self, topic: str, why: str) -> None:
        self.refused += 1
        now = time.monotonic()
        last, silent = self._complaints.get(topic, (-COMPLAIN_EVERY, 0))
        if now - last < COMPLAIN_EVERY:
            self._complaints[topic] = (last, silent + 1)
            return
        more = f" (and {silent} like it before)" if silent else ""
        log.warning("no reading: %s%s", why, more, extra={"topic": topic})
        self._complaints[topic] = (now, 0)


class Intake:
    """What comes in on one connection.

    Batches are submitted as they come, so that estimates go on while the store is slow, and acknowledged in
    the order they came in, which MQTT asks for.

    Parameters
    ----------
    client : BrokerClient
    translator : Translator
    sink : Sink
    others : callable
        Is given messages on other topics.
    """

    def __init__(
        self,
        client: BrokerClient,
        translator: Translator,
        sink: Sink,
        others: Callable[[Arrived], None],
    ) -> None:
        self._client, self._translator, self._sink, self._others = client, translator, sink, others
        self._known = frozenset(translator.topics)
        self._complained = -COMPLAIN_EVERY
        self._batches: asyncio.Queue[tuple[list[Arrived], asyncio.Task[None]]] = asyncio.Queue(MOST_BATCHES)

    async def run(self) -> None:
        """Take what comes until the link is lost."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._acknowledge())
            while True:
                messages = await self._client.arrived(most=AT_ONCE)
                for message in messages:
                    if message.topic not in self._known:
                        self._others(message)
                kept = tasks.create_task(self._keep(self._readings(messages)))
                while self._batches.full() and self._client.connected:
                    await asyncio.sleep(0.1)
                if not self._batches.full():
                    self._batches.put_nowait((messages, kept))

    def _readings(self, messages: Sequence[Arrived]) -> list[Reading]:
        before = self._translator.refused
        readings = self._translator.readings(messages)
        if refused := self._translator.refused - before:
            self._sink.counters["mqtt", ReadingOutcome.NONSENSE] += refused
        return readings

    async def _acknowledge(self) -> None:
        while True:
            messages, kept = await self._batches.get()
            await kept
            self._client.acknowledge(messages)

    async def _keep(self, readings: Sequence[Reading]) -> None:
        """Submit until all is kept: together, and if that fails one by one."""
        groups: list[Sequence[Reading]] = [readings] if readings else []
        tries, pause = 0, FIRST_PAUSE
        while groups:
            faults = [(group, await self._fault(group)) for group in groups]
            groups = [group for group, fault in faults if fault is not None]
            tries += not any(self._is_busy(fault) for _, fault in faults if fault is not None)
            if groups and tries >= TRIES and all(len(group) == 1 for group in groups):
                log.error("gave up %d readings that cannot be taken: %s", len(groups), groups[0][0])
                return
            if groups:
                await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)
            groups = [[reading] for group in groups for reading in group]

    def _is_busy(self, fault: Exception) -> bool:
        """Tell whether a reading was not taken through no fault of its own."""
        from occupair.live.pipeline import BacklogFull  # here, for who has another sink

        return isinstance(fault, BacklogFull) or self._sink.healthy.get("store") != "ok"

    async def _fault(self, readings: Sequence[Reading]) -> Exception | None:
        """Submit readings, and give what was wrong; None: they are kept."""
        try:
            await self._sink.submit(readings)
        except Exception as error:
            if time.monotonic() - self._complained > COMPLAIN_EVERY:
                log.exception("%d readings could not be taken, trying again", len(readings))
                self._complained = time.monotonic()
            return error
        return None
