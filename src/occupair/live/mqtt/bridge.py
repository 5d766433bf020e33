"""The bridge between the MQTT broker and the pipeline: receives readings, publishes states, reconnects.

The session is persistent, so messages published with QoS 1 while the service is offline arrive after it has
reconnected.
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

import aiomqtt

from occupair.live.mqtt.client import BrokerClient, IncomingMessage, client_id, make_tls_context
from occupair.live.mqtt.publisher import Publisher
from occupair.live.mqtt.receiver import ReadingParser, Receiver
from occupair.live.mqtt.topics import OFFLINE, status_topic
from occupair.live.room_pipeline import RoomPipeline

if TYPE_CHECKING:
    from occupair.live.config import MqttConfig, RoomConfig
    from occupair.live.room_shards import Shard

log = logging.getLogger(__name__)

STABLE_AFTER = 30.0
"""A connection that lasted longer resets the reconnect delay [s]."""
MAX_SHORT_CONNECTIONS = 3
"""Connections in a row that did not last that long, from which on a second client is the probable cause."""
GOODBYE_TIMEOUT = 3.0
"""Time limit for publishing the offline status at shutdown [s]."""


class MqttBridge:
    """Persistent connection to the broker.

    Parameters
    ----------
    mqtt : MqttConfig
        The broker.
    rooms : mapping of RoomConfig
        The rooms of the service, or of the shard, by id.
    shard : Shard, optional
        Each shard has a session and a status topic of its own.
    first_delay, max_delay : float
        Reconnect delay, which doubles from the first to the maximum [s].
    """

    def __init__(
        self,
        mqtt: MqttConfig,
        rooms: Mapping[str, RoomConfig],
        *,
        shard: Shard | None = None,
        first_delay: float = 1.0,
        max_delay: float = 60.0,
    ) -> None:
        self._mqtt, self._shard = mqtt, shard
        self._first_delay, self._max_delay = first_delay, max_delay
        self._parser = ReadingParser(rooms)
        self._publisher = Publisher(mqtt, rooms, shard=shard)
        self._unknown_topics: dict[str, None] = {}  # of the session, but of no room
        self._unknown_topic_found = asyncio.Event()
        self._connected_before = False
        self._short_connections = 0  # in a row

    def remove_room(self, room: str) -> None:
        """Clear the retained messages of a room, now or after the next connect."""
        self._publisher.remove_room(room)

    async def run(self, pipeline: RoomPipeline) -> None:
        """Keep the connection up until cancelled, then publish the offline status."""
        pipeline.mqtt_status = "connecting"
        delay = self._first_delay
        while True:
            started = time.monotonic()
            # In its own task: before Python 3.13 a task group leaves its task marked as cancelled.
            reason = await asyncio.create_task(self._run_connection(pipeline))
            if (task := asyncio.current_task()) and task.cancelling():
                raise asyncio.CancelledError  # cancelled while the connection was being lost
            if time.monotonic() - started > STABLE_AFTER:
                delay = self._first_delay
            pause = delay * random.uniform(0.5, 1.0)
            pipeline.mqtt_status = f"no link: {reason}"
            log.warning("no connection to %s: %s; reconnecting in %.1f s", self._broker, reason, pause)
            await asyncio.sleep(pause)
            delay = min(2 * delay, self._max_delay)

    @property
    def _broker(self) -> str:
        return f"{self._mqtt.host}:{self._mqtt.port}"

    async def _run_connection(self, pipeline: RoomPipeline) -> str:
        """Run one connection until it is lost, and return the reason."""
        reason, client = "", None
        connected: float | None = None
        try:
            tls = await asyncio.to_thread(make_tls_context, self._mqtt)
            client = BrokerClient(self._mqtt, tls, shard=self._shard)
            async with client:
                connected = time.monotonic()
                try:
                    await self._exchange(client, pipeline)
                except asyncio.CancelledError:
                    await self._publish_offline(client)
                    raise
        except* (aiomqtt.MqttError, OSError) as lost:
            reason = _first_message(lost)
        except* Exception as bug:
            log.exception("unexpected error on the MQTT connection")
            reason = _first_message(bug)
        is_short = connected is not None and time.monotonic() - connected < STABLE_AFTER
        self._short_connections = self._short_connections + 1 if is_short else 0
        return self._explain(reason, is_taken_over=client is not None and client.taken_over)

    def _explain(self, reason: str, *, is_taken_over: bool) -> str:
        """Return the reason of a lost connection, which may be another client with the same id.

        The broker then closes the older connection, with MQTT 3.1.1 and in mosquitto 2.0.11 without a reason.
        """
        twin = f"another client with the client id {client_id(self._mqtt, self._shard)!r}"
        advice = "stop it, or set another client_id in [mqtt]"
        if is_taken_over:
            return f"{twin} has connected: {advice}"
        if self._short_connections >= MAX_SHORT_CONNECTIONS:
            times = f"{self._short_connections} times in a row soon after connecting"
            return f"{reason}, {times}: probably {twin} is connected: {advice}"
        return reason

    async def _exchange(self, client: BrokerClient, pipeline: RoomPipeline) -> None:
        self._log_connected(client)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(Receiver(client, self._parser, pipeline, self._handle_other).run())
            for topics, resend in ((self._parser.topics, False), (self._publisher.topics, True)):
                for topic in await client.subscribe_all(topics, resend_retained=resend):
                    log.error(
                        "%s refused the subscription to %s", self._broker, topic, extra={"topic": topic}
                    )
            pipeline.mqtt_status = "connected"
            tasks.create_task(self._publisher.run(client, pipeline))
            tasks.create_task(self._unsubscribe_unknown(client))

    def _log_connected(self, client: BrokerClient) -> None:
        session = "resumed" if client.session_resumed else "new"
        log.info("connected to %s, MQTT %s, %s session", self._broker, self._mqtt.version, session)
        if self._connected_before and not client.session_resumed:
            log.warning("%s lost the session: messages sent while disconnected are lost", self._broker)
        self._connected_before = True

    def _handle_other(self, message: IncomingMessage) -> None:
        if not self._publisher.handle_message(message):
            self._unknown_topics[message.topic] = None
            self._unknown_topic_found.set()

    async def _unsubscribe_unknown(self, client: BrokerClient) -> None:
        """Unsubscribe from topics of removed rooms, which are still part of the session."""
        while await self._unknown_topic_found.wait():
            self._unknown_topic_found.clear()
            for topic in tuple(self._unknown_topics):
                log.info("unsubscribing from %s, which no room uses any more", topic, extra={"topic": topic})
                await client.unsubscribe(topic)
                self._unknown_topics.pop(topic)

    async def _publish_offline(self, client: BrokerClient) -> None:
        client.timeout = GOODBYE_TIMEOUT
        with suppress(aiomqtt.MqttError, TimeoutError):
            async with asyncio.timeout(GOODBYE_TIMEOUT):
                await client.publish_retained(status_topic(self._mqtt, self._shard), OFFLINE)


def _first_message(group: BaseExceptionGroup[BaseException]) -> str:
    """Return the message of the first error of a group, which caused the others."""
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return (str(error) or type(error).__name__).splitlines()[0]
