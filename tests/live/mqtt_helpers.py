"""Helpers of the MQTT tests: a fake pipeline, a proxy that can be cut, and a recorder of messages."""

from __future__ import annotations

import asyncio
import datetime as dt
import re
import socket
import time
from collections import Counter
from contextlib import asynccontextmanager, suppress

import aiomqtt
import pytest
from live.waiting import until

from occupair.live.config import MqttConfig, RoomConfig, Topic, VentilationTopic
from occupair.live.messages import NOT_REFINED, Quality, ReadingOutcome, RoomState
from occupair.live.mqtt.bridge import MqttBridge

both_versions = pytest.mark.parametrize("version", ["5", "3.1.1"])
LAB = RoomConfig(
    id="lab",
    name="Lab",
    timezone="Europe/Copenhagen",
    co2=Topic(topic="lab/co2", shape="json", path="co2", time_path="at"),
    ventilation=VentilationTopic(topic="lab/fan", full=100.0),
)


def at(minute: float) -> dt.datetime:
    return dt.datetime(2024, 1, 8, 7, tzinfo=dt.UTC) + dt.timedelta(minutes=minute)


def payload_at(minute: float, co2: float = 812) -> str:
    """Return a payload of the lab with its time."""
    return f'{{"co2": {co2}, "at": {int(at(minute).timestamp())}}}'


def state(room: str = "lab", people: int | None = 3, **more) -> RoomState:
    values = dict.fromkeys(("people_exact", "low", "high", "co2", "co2_smoothed", "ventilation"), None)
    values["people_refined"] = NOT_REFINED
    occupied = None if people is None else people > 0
    values |= {"time": at(0), "quality": Quality.OK, "reason": "", "occupied": occupied} | more
    return RoomState(room, people=people, **values)


class FakePipeline:
    """A pipeline with a fake store, which stores nothing while ``gate`` is cleared."""

    def __init__(self, states=()):
        self.counters: Counter[tuple[str, ReadingOutcome]] = Counter()
        self.mqtt_status = "off"
        self.part_status = {"store": "ok"}
        self.submitted, self.stored, self.batches = [], [], []
        self.gate = asyncio.Event()
        self.gate.set()
        self.check = None  # called with the readings; may raise
        self.delay = 0.0  # of the store [s]
        self._states = {state.room: state for state in states}
        self._listeners = []

    async def submit(self, readings):
        self.submitted += readings
        self.batches.append(len(readings))
        if self.check:
            self.check(readings)
        await asyncio.sleep(self.delay)
        await self.gate.wait()
        self.stored += readings
        return [ReadingOutcome.ACCEPTED] * len(readings)

    def minutes(self):
        return sorted(round((reading.time - at(0)).total_seconds() / 60) for reading in self.stored)

    def states(self):
        return dict(self._states)

    def change_state(self, state):
        self._states[state.room] = state
        for waiting, news in self._listeners:
            waiting[state.room] = state
            news.set()

    @asynccontextmanager
    async def subscribe(self):
        waiting, news = {}, asyncio.Event()
        self._listeners.append((waiting, news))

        async def changes():
            while await news.wait():
                news.clear()
                changed = list(waiting.values())
                waiting.clear()
                yield changed

        try:
            yield changes()
        finally:
            self._listeners.remove((waiting, news))


class Proxy:
    """A TCP proxy to the broker that can be cut, paused and restored."""

    def __init__(self, port):
        self._broker_port, self.port, self.connections = port, 0, 0
        self._up = True
        self._forwarding = asyncio.Event()
        self._forwarding.set()
        self._writers: set[asyncio.StreamWriter] = set()

    async def open(self):
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self):
        await self.cut()
        self._server.close()

    async def cut(self):
        """Abort all connections and refuse new ones."""
        self._up = False
        for writer in tuple(self._writers):
            writer.transport.abort()
        await asyncio.sleep(0.02)

    def restore(self):
        """Accept connections again."""
        self._up = True

    def pause(self):
        """Forward nothing, but keep the connections open."""
        self._forwarding.clear()

    @property
    def paused(self):
        return not self._forwarding.is_set()

    def resume(self):
        self._forwarding.set()

    async def _serve(self, reader, writer):
        self.connections += 1
        self._writers.add(writer)
        try:
            if self._up:
                there, back = await asyncio.open_connection("127.0.0.1", self._broker_port)
                self._writers.add(back)
                try:
                    await asyncio.gather(self._pump(reader, back), self._pump(there, writer))
                finally:
                    self._writers.discard(back)
                    back.transport.abort()
        except OSError:
            pass
        finally:
            self._writers.discard(writer)
            writer.transport.abort()

    async def _pump(self, reader, writer):
        while data := await reader.read(65_536):
            await self._forwarding.wait()
            writer.write(data)
            await writer.drain()
        raise ConnectionResetError


@asynccontextmanager
async def proxy_to(server):
    proxy = Proxy(server.port)
    await proxy.open()
    try:
        yield proxy
    finally:
        await proxy.close()


def make_bridge(server, rooms=(LAB,), *, port=None, shard=None, **settings):
    mqtt = MqttConfig(host="127.0.0.1", port=port or server.port, **settings)
    by_id = {room.id: room for room in rooms}
    return MqttBridge(mqtt, by_id, shard=shard, first_delay=0.05, max_delay=0.2)


@asynccontextmanager
async def running(bridge, pipeline):
    """Run a bridge, and wait until it is connected."""
    task = asyncio.create_task(bridge.run(pipeline))
    try:
        await until(lambda: pipeline.mqtt_status == "connected" or task.done())
        yield task
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


@asynccontextmanager
async def device(server, **settings):
    """Connect a client like that of a device."""
    no_delay = [(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)]
    settings = {"identifier": "device", "max_inflight_messages": 20, "socket_options": no_delay} | settings
    async with aiomqtt.Client("127.0.0.1", server.port, **settings) as client:
        client.pending_calls_threshold = 10**6
        yield client


async def publish(server, *messages, qos=1, retain=False):
    """Publish (topic, payload) messages in order, and wait until the broker has them."""
    async with device(server) as client:
        for k in range(0, len(messages), 20):
            batch = messages[k : k + 20]
            await asyncio.gather(*(client.publish(*message, qos=qos, retain=retain) for message in batch))


def acknowledged(server, topic):
    """Whether the service has acknowledged all messages on a topic."""
    sent = re.findall(rf"Sending PUBLISH to occupair \(d\d, q1, r\d, m(\d+), '{topic}'", server.log)
    return {*sent} <= {*re.findall(r"Received PUBACK from occupair \(Mid: (\d+)", server.log)}


class Recorder:
    """Records the messages on some topics."""

    def __init__(self):
        self.messages: list[tuple[str, str, bool]] = []

    def of(self, topic):
        return [payload for name, payload, _ in self.messages if name == topic]

    def last(self, topic):
        return next((payload for payload in reversed(self.of(topic))), None)


@asynccontextmanager
async def recording(server, *topics, **settings):
    recorder = Recorder()
    async with device(server, identifier=f"recorder{time.monotonic_ns()}", **settings) as client:

        async def record():
            async for message in client.messages:
                recorder.messages.append((str(message.topic), message.payload.decode(), message.retain))

        for topic in topics:
            await client.subscribe(topic, qos=1)
        task = asyncio.create_task(record())
        try:
            yield recorder
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError, aiomqtt.MqttError):
                await task
