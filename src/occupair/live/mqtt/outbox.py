"""Counts out by MQTT: rooms are announced, their states told, and what is gone is taken back."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from occupair.live.messages import RoomState
from occupair.live.mqtt.client import SEND_WINDOW, Arrived, BrokerClient
from occupair.live.mqtt.discovery import (
    ONLINE,
    availability_topic,
    discovery_payload,
    discovery_topic,
    home_assistant_topic,
    state_payload,
    state_topic,
    status_topic,
)
from occupair.live.mqtt.intake import Sink

if TYPE_CHECKING:
    from occupair.live.config import MqttConfig, RoomConfig

_ROOM = re.compile(r"[a-z0-9_-]{1,64}")


class Outbox:
    """What is to be told; it outlives connections, so that nothing stays untold.

    What the broker retains of rooms that are not ours any more is taken back, so no two services may have the
    same prefix.

    Parameters
    ----------
    mqtt : MqttConfig
    rooms : mapping of RoomConfig
    """

    def __init__(self, mqtt: MqttConfig, rooms: Mapping[str, RoomConfig]) -> None:
        self._mqtt, self._rooms = mqtt, dict(rooms)
        self._announced = False
        self._gone: set[str] = set()
        self._states: dict[str, RoomState] = {}  # the newest of each room that is not told yet
        self._work = asyncio.Event()

    @property
    def topics(self) -> list[str]:
        """Topics to follow: what we said of rooms before, and Home Assistant's status."""
        status = [home_assistant_topic(self._mqtt)] if self._mqtt.discovery else []
        return [availability_topic(self._mqtt, "+"), *status]

    def announce(self) -> None:
        """Tell of all rooms again."""
        self._announced = False
        self._work.set()

    def remove(self, room: str) -> None:
        """Take back what was said of a room."""
        self._rooms.pop(room, None)
        self._gone.add(room)
        self._work.set()

    def hear(self, message: Arrived) -> bool:
        """Look at a message that is no reading; False: it is none for us either."""
        if message.topic == home_assistant_topic(self._mqtt):
            if message.payload == ONLINE.encode() and not message.retained:
                self.announce()
            return True
        room = message.topic.removeprefix(f"{self._mqtt.prefix}/").removesuffix("/availability")
        ours = message.topic == availability_topic(self._mqtt, room)
        told = bool(message.payload) and message.retained and _ROOM.fullmatch(room)
        if ours and told and room not in self._rooms:
            self.remove(room)  # we told of it when we had other settings
        return ours

    async def run(self, client: BrokerClient, sink: Sink) -> None:
        """Tell all that is to be told until the link is lost."""
        self._announced = False
        async with sink.subscribe() as changes, asyncio.TaskGroup() as tasks:
            self._note(sink.states().values())
            tasks.create_task(self._tell(client))
            async for states in changes:
                self._note(states)

    def _note(self, states: Iterable[RoomState]) -> None:
        self._states |= {state.room: state for state in states}
        self._work.set()

    async def _tell(self, client: BrokerClient) -> None:
        while True:
            await self._work.wait()
            self._work.clear()
            await self._take_back(client)
            if not self._announced:
                self._announced = True
                await self._announce(client)
            while self._states and self._announced and not self._gone:
                await self._tell_some(client)

    async def _take_back(self, client: BrokerClient) -> None:
        for room in tuple(self._gone):
            topics = [state_topic(self._mqtt, room), availability_topic(self._mqtt, room)]
            await client.send_all((topic, "") for topic in [discovery_topic(self._mqtt, room), *topics])
            self._gone.discard(room)

    async def _announce(self, client: BrokerClient) -> None:
        rooms = list(self._rooms.values())
        if self._mqtt.discovery:
            await client.send_all(
                (discovery_topic(self._mqtt, room.id), discovery_payload(self._mqtt, room)) for room in rooms
            )
        await client.send_all((availability_topic(self._mqtt, room.id), ONLINE) for room in rooms)
        await client.send(status_topic(self._mqtt), ONLINE)

    async def _tell_some(self, client: BrokerClient) -> None:
        """Tell the states that wait longest; taken out only now, so that each is the newest of its room."""
        some = [self._states.pop(room) for room in list(self._states)[: 4 * SEND_WINDOW]]
        await client.send_all(
            (state_topic(self._mqtt, state.room), state_payload(state))
            for state in some
            if state.room in self._rooms
        )
