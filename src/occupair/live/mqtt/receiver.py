"""Incoming MQTT messages: parsed to readings, submitted to the pipeline, and acknowledged once stored."""

from __future__ import annotations

import asyncio
import datetime as dt
import logging
import math
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from occupair.errors import InputError
from occupair.live.config import VentilationTopic
from occupair.live.messages import Reading, ReadingOutcome
from occupair.live.mqtt.client import BrokerClient, IncomingMessage
from occupair.live.mqtt.formats import ValueMissing
from occupair.live.mqtt.payloads import Measurement, parse_co2, parse_sensor, parse_ventilation
from occupair.live.room_pipeline import RoomPipeline
from occupair.live.submission import Submitter
from occupair.readings.other_sensors import SENSORS

if TYPE_CHECKING:
    from occupair.live.config import RoomConfig

log = logging.getLogger(__name__)

BATCH_SIZE = 500
"""Most messages in one submit."""
MAX_BATCHES = 10_000
"""Most batches that may wait for the store."""
WARN_EVERY = 60.0
"""Shortest time between two warnings about the same topic [s]."""


class ReadingParser:
    """Parses messages to readings of the rooms that use their topic.

    Parameters
    ----------
    rooms : mapping of RoomConfig
    clock : callable
        Monotonic time [s], for the rate limit of warnings.
    """

    def __init__(
        self, rooms: Mapping[str, RoomConfig], *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._rooms: defaultdict[str, list[RoomConfig]] = defaultdict(list)
        for room in rooms.values():
            for topic in {source.topic: None for source in room.topics.values()}:
                self._rooms[topic].append(room)
        self._clock = clock
        self._warnings: dict[str, tuple[float, int]] = {}  # by topic: last warning, and refusals since
        self._seen: set[tuple[str, str]] = set()  # (topic, quantity) pairs that have been parsed
        self.refused = 0

    @property
    def topics(self) -> list[str]:
        """All topics that carry readings."""
        return list(self._rooms)

    def parse(self, messages: Iterable[IncomingMessage]) -> list[Reading]:
        """Return the readings in messages; payloads that are not readings are counted and logged."""
        return [
            reading
            for message in messages
            for room in self._rooms.get(message.topic, ())
            for reading in self._parse_for_room(room, message)
        ]

    def _parse_for_room(self, room: RoomConfig, message: IncomingMessage) -> list[Reading]:
        """Return the values in a message, as one reading if they have the same time."""
        readings: dict[dt.datetime, Reading] = {}
        parsers: dict[str, Callable[[bytes, dt.datetime, str], Measurement]] = {}
        for name, topic in room.topics.items():
            if topic.topic != message.topic:
                continue
            if name == "co2":
                parsers[name] = partial(parse_co2, topic)
            elif isinstance(topic, VentilationTopic):
                parsers[name] = partial(parse_ventilation, topic)
            else:
                parsers[name] = partial(parse_sensor, name, topic)
        for quantity, parse in parsers.items():
            try:
                measurement = parse(message.payload, message.received, room.timezone)
            except ValueMissing as error:
                if (message.topic, quantity) not in self._seen:
                    self._refuse(message.topic, str(error))
                continue
            except InputError as error:
                self._refuse(message.topic, str(error))
                continue
            self._seen.add((message.topic, quantity))
            self._add(readings, room.id, quantity, measurement, message)
        return list(readings.values())

    @staticmethod
    def _add(
        readings: dict[dt.datetime, Reading],
        room: str,
        quantity: str,
        measurement: Measurement,
        message: IncomingMessage,
    ) -> None:
        if message.retained and measurement.time is None:
            log.debug("%s: ignoring a retained message without a time", message.topic)
            return
        time = measurement.time or message.received
        reading = readings.get(time) or Reading(room, time, None, None, "mqtt", message.received)
        value = measurement.value
        if quantity in SENSORS:
            readings[time] = replace(reading, sensors={**reading.sensors, quantity: value})
        else:
            readings[time] = (
                replace(reading, co2=value) if quantity == "co2" else replace(reading, ventilation=value)
            )

    def _refuse(self, topic: str, reason: str) -> None:
        self.refused += 1
        now = self._clock()
        last, suppressed = self._warnings.get(topic, (-math.inf, 0))
        if now - last < WARN_EVERY:
            self._warnings[topic] = (last, suppressed + 1)
            return
        more = f" (and {suppressed} more before)" if suppressed else ""
        log.warning("not a reading: %s%s", reason, more, extra={"topic": topic})
        self._warnings[topic] = (now, 0)


class Receiver:
    """Receives the messages of one connection.

    Batches are submitted as they arrive, so estimates continue while the store is slow. They are acknowledged
    in the order of arrival, as MQTT requires.

    Parameters
    ----------
    client : BrokerClient
    parser : ReadingParser
    pipeline : RoomPipeline
    handle_other : callable
        Called with messages on topics that carry no readings.
    """

    def __init__(
        self,
        client: BrokerClient,
        parser: ReadingParser,
        pipeline: RoomPipeline,
        handle_other: Callable[[IncomingMessage], None],
    ) -> None:
        self._client, self._parser, self._pipeline = client, parser, pipeline
        self._handle_other = handle_other
        self._reading_topics = frozenset(parser.topics)
        self._submitter = Submitter(pipeline, log)
        self._batches: asyncio.Queue[tuple[list[IncomingMessage], asyncio.Task[None]]] = asyncio.Queue(
            MAX_BATCHES
        )

    async def run(self) -> None:
        """Receive messages until the connection is lost."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._acknowledge())
            while True:
                messages = await self._client.receive(limit=BATCH_SIZE)
                for message in messages:
                    if message.topic not in self._reading_topics:
                        self._handle_other(message)
                stored = tasks.create_task(self._submitter.store(self._parse(messages)))
                while self._batches.full() and self._client.connected:
                    await asyncio.sleep(0.1)
                if not self._batches.full():
                    self._batches.put_nowait((messages, stored))

    def _parse(self, messages: Sequence[IncomingMessage]) -> list[Reading]:
        before = self._parser.refused
        readings = self._parser.parse(messages)
        if refused := self._parser.refused - before:
            self._pipeline.counters["mqtt", ReadingOutcome.NONSENSE] += refused
        return readings

    async def _acknowledge(self) -> None:
        while True:
            messages, stored = await self._batches.get()
            await stored
            self._client.acknowledge(messages)
