"""Outgoing MQTT messages: room states, announcements of rooms, and removal of rooms."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from occupair.live.config.values import ID_PATTERN
from occupair.live.messages import RoomState
from occupair.live.mqtt.client import SEND_WINDOW, BrokerClient, IncomingMessage
from occupair.live.mqtt.discovery import discovery_payload, discovery_topic, home_assistant_topic
from occupair.live.mqtt.topics import ONLINE, availability_topic, state_payload, state_topic, status_topic
from occupair.live.room_pipeline import RoomPipeline

if TYPE_CHECKING:
    from occupair.live.config import MqttConfig, RoomConfig
    from occupair.live.room_shards import Shard

_ROOM_ID = re.compile(ID_PATTERN)


class Publisher:
    """Publishes states and announcements. It outlives connections, so unpublished states are not lost.

    Retained messages of rooms that are not in the settings any more are cleared. Two services must therefore
    not share a prefix, unless they are shards, each of which clears only rooms of its own.

    Parameters
    ----------
    mqtt : MqttConfig
    rooms : mapping of RoomConfig
        The rooms of the service, or of the shard.
    shard : Shard, optional
    """

    def __init__(
        self, mqtt: MqttConfig, rooms: Mapping[str, RoomConfig], *, shard: Shard | None = None
    ) -> None:
        self._mqtt, self._rooms, self._shard = mqtt, dict(rooms), shard
        self._announced = False
        self._removed: set[str] = set()
        self._states: dict[str, RoomState] = {}  # the newest unpublished state of each room
        self._pending = asyncio.Event()

    @property
    def topics(self) -> list[str]:
        """Topics to subscribe to: availability of rooms announced earlier, and the Home Assistant status."""
        status = [home_assistant_topic(self._mqtt)] if self._mqtt.discovery else []
        return [availability_topic(self._mqtt, "+"), *status]

    def announce_rooms(self) -> None:
        """Announce all rooms again."""
        self._announced = False
        self._pending.set()

    def remove_room(self, room: str) -> None:
        """Clear the retained messages of a room."""
        self._rooms.pop(room, None)
        self._removed.add(room)
        self._pending.set()

    def handle_message(self, message: IncomingMessage) -> bool:
        """Handle a message that is not a reading; return False if its topic is not one of `topics`."""
        if message.topic == home_assistant_topic(self._mqtt):
            if message.payload == ONLINE.encode() and not message.retained:
                self.announce_rooms()
            return True
        room = message.topic.removeprefix(f"{self._mqtt.prefix}/").removesuffix("/availability")
        is_availability = message.topic == availability_topic(self._mqtt, room)
        is_announced = bool(message.payload) and message.retained and _ROOM_ID.fullmatch(room)
        is_own = self._shard is None or self._shard.owns(room)
        if is_availability and is_announced and is_own and room not in self._rooms:
            self.remove_room(room)  # announced with earlier settings
        return is_availability

    async def run(self, client: BrokerClient, pipeline: RoomPipeline) -> None:
        """Publish until the connection is lost."""
        self._announced = False
        async with pipeline.subscribe() as changes, asyncio.TaskGroup() as tasks:
            self._add_states(pipeline.states().values())
            tasks.create_task(self._publish(client))
            async for states in changes:
                self._add_states(states)

    def _add_states(self, states: Iterable[RoomState]) -> None:
        self._states |= {state.room: state for state in states}
        self._pending.set()

    async def _publish(self, client: BrokerClient) -> None:
        while True:
            await self._pending.wait()
            self._pending.clear()
            await self._publish_removals(client)
            if not self._announced:
                self._announced = True
                await self._publish_announcements(client)
            while self._states and self._announced and not self._removed:
                await self._publish_states(client)

    async def _publish_removals(self, client: BrokerClient) -> None:
        for room in tuple(self._removed):
            topics = [state_topic(self._mqtt, room), availability_topic(self._mqtt, room)]
            await client.publish_all((topic, "") for topic in [discovery_topic(self._mqtt, room), *topics])
            self._removed.discard(room)

    async def _publish_announcements(self, client: BrokerClient) -> None:
        rooms = list(self._rooms.values())
        if self._mqtt.discovery:
            await client.publish_all(
                (discovery_topic(self._mqtt, room.id), discovery_payload(self._mqtt, room, shard=self._shard))
                for room in rooms
            )
        await client.publish_all((availability_topic(self._mqtt, room.id), ONLINE) for room in rooms)
        await client.publish_retained(status_topic(self._mqtt, self._shard), ONLINE)

    async def _publish_states(self, client: BrokerClient) -> None:
        """Publish the oldest pending states, which are removed from the queue only now to be the newest."""
        batch = [self._states.pop(room) for room in list(self._states)[: 4 * SEND_WINDOW]]
        await client.publish_all(
            (state_topic(self._mqtt, state.room), state_payload(state))
            for state in batch
            if state.room in self._rooms
        )
