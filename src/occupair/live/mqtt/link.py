"""The link to the MQTT broker: readings in, counts out, for ever.

`mqtt_client` is a connection, `mqtt_in` what comes in on it, `mqtt_out` what goes out. The broker keeps our
session, so that what is published at QoS 1 while we are away comes when we are back.
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

from occupair.live.mqtt.client import Arrived, BrokerClient, tls_context
from occupair.live.mqtt.discovery import OFFLINE, status_topic
from occupair.live.mqtt.intake import Intake, Sink, Translator
from occupair.live.mqtt.outbox import Outbox

if TYPE_CHECKING:
    from occupair.live.config import MqttConfig, RoomConfig

log = logging.getLogger("occupair.live.mqtt.link")

STEADY = 30.0
"""After a link that held this long the pauses begin anew [s]."""
GOODBYE = 3.0
"""How long saying that we go may take [s]."""


class MqttLink:
    """The link to a broker.

    Parameters
    ----------
    mqtt : MqttConfig
        The broker, and how to get in.
    rooms : mapping of RoomConfig
        The rooms by id.
    first_wait, longest_wait : float
        Pause before the link is tried again: this, then twice as long each time, up to that [s].
    """

    def __init__(
        self,
        mqtt: MqttConfig,
        rooms: Mapping[str, RoomConfig],
        *,
        first_wait: float = 1.0,
        longest_wait: float = 60.0,
    ) -> None:
        self._mqtt = mqtt
        self._waits = (first_wait, longest_wait)
        self._translator = Translator(rooms)
        self._outbox = Outbox(mqtt, rooms)
        self._unknown: dict[str, None] = {}  # topics that our session has and our settings have not
        self._heard_unknown = asyncio.Event()
        self._connected_before = False

    def remove(self, room: str) -> None:
        """Take back what was said of a room, now or when the link is up: empty payloads on all its topics."""
        self._outbox.remove(room)

    async def run(self, pipeline: Sink) -> None:
        """Keep the link up, for ever; cancelled, it says that it goes."""
        pipeline.mqtt_status = "connecting"
        wait = self._waits[0]
        while True:
            started = time.monotonic()
            # A task of its own: before Python 3.13 a task group leaves its task marked as cancelled.
            why = await asyncio.create_task(self._connection(pipeline))
            if (task := asyncio.current_task()) and task.cancelling():
                raise asyncio.CancelledError  # it came while the link was being lost
            if time.monotonic() - started > STEADY:
                wait = self._waits[0]
            pause = wait * random.uniform(0.5, 1.0)
            pipeline.mqtt_status = f"no link: {why}"
            log.warning("no link to %s: %s; again in %.1f s", self._broker, why, pause)
            await asyncio.sleep(pause)
            wait = min(2 * wait, self._waits[1])

    @property
    def _broker(self) -> str:
        return f"{self._mqtt.host}:{self._mqtt.port}"

    async def _connection(self, pipeline: Sink) -> str:
        """Work on one connection until it is lost, and say why it was."""
        why = ""
        try:
            client = BrokerClient(self._mqtt, await asyncio.to_thread(tls_context, self._mqtt))
            async with client:
                try:
                    await self._work(client, pipeline)
                except asyncio.CancelledError:
                    await self._say_goodbye(client)
                    raise
        except* (aiomqtt.MqttError, OSError) as lost:
            why = _first(lost)
        except* Exception as bug:
            log.exception("the link failed in a way it should not")
            why = _first(bug)
        return why

    async def _work(self, client: BrokerClient, pipeline: Sink) -> None:
        self._note_connected(client)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(Intake(client, self._translator, pipeline, self._hear).run())
            for topics, again in ((self._translator.topics, False), (self._outbox.topics, True)):
                for topic in await client.follow(topics, again=again):
                    log.error("%s does not let us read %s", self._broker, topic, extra={"topic": topic})
            pipeline.mqtt_status = "connected"
            tasks.create_task(self._outbox.run(client, pipeline))
            tasks.create_task(self._leave_unknown(client))

    def _note_connected(self, client: BrokerClient) -> None:
        session = "resumed" if client.resumed else "new"
        log.info("connected to %s, MQTT %s, %s session", self._broker, self._mqtt.version, session)
        if self._connected_before and not client.resumed:
            log.warning("%s forgot our session: what was sent while we were away is lost", self._broker)
        self._connected_before = True

    def _hear(self, message: Arrived) -> None:
        if not self._outbox.hear(message):
            self._unknown[message.topic] = None
            self._heard_unknown.set()

    async def _leave_unknown(self, client: BrokerClient) -> None:
        """Leave topics of rooms that are gone: to the broker they belong to our session."""
        while await self._heard_unknown.wait():
            self._heard_unknown.clear()
            for topic in tuple(self._unknown):
                log.info("no room has topic %s any more", topic, extra={"topic": topic})
                await client.unsubscribe(topic)
                self._unknown.pop(topic)

    async def _say_goodbye(self, client: BrokerClient) -> None:
        client.timeout = GOODBYE
        with suppress(aiomqtt.MqttError, TimeoutError):
            async with asyncio.timeout(GOODBYE):
                await client.send(status_topic(self._mqtt), OFFLINE)


def _first(group: BaseExceptionGroup[BaseException]) -> str:
    """Give the words of the first error of a group, which led to the others."""
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return (str(error) or type(error).__name__).splitlines()[0]
