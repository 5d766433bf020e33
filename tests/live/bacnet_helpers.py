"""Helpers of the BACnet tests: a pipeline in memory, the link in this process, simulated devices."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections import Counter
from contextlib import asynccontextmanager

from live.ports import free_port

from occupair.live.bacnet.link import BacnetLink
from occupair.live.config import BacnetConfig, BacnetPoint, RoomConfig, VentilationPoint
from occupair.live.messages import ReadingOutcome


class RecordingPipeline:
    """A pipeline that keeps all readings."""

    def __init__(self, interval=0.3):
        self.seconds = interval
        self.counters: Counter[tuple[str, ReadingOutcome]] = Counter()
        self.mqtt_status = self.bacnet_status = "off"
        self.part_status = {"store": "ok"}
        self.store = self  # gives numbers to rooms
        self.readings = []
        self.error = None  # raised instead of storing

    def interval(self, room):
        return self.seconds / 60

    async def submit(self, readings):
        await asyncio.sleep(0)
        if self.error is not None:
            raise self.error
        self.readings += readings
        return [ReadingOutcome.ACCEPTED] * len(readings)

    def room_numbers(self, rooms):
        return {room: number for number, room in enumerate(rooms, start=1)}

    def now(self):
        return dt.datetime.now(dt.UTC)

    def states(self):
        return {}

    @asynccontextmanager
    async def subscribe(self):
        async def changes():
            await asyncio.Event().wait()
            yield []

        yield changes()

    def of(self, room):
        return [reading for reading in self.readings if reading.room == room]

    def newest(self, room):
        """Return (co2, ventilation, sensors) of the newest reading of a room."""
        found = self.of(room)
        return (found[-1].co2, found[-1].ventilation, dict(found[-1].sensors)) if found else None


def own_device(**more):
    return BacnetConfig(**{"address": "127.0.0.1", "device": 4_000_000, "port": free_port()} | more)


def make_room(room, port, *, co2="analog-input,1", fan=None, cov=True, full=1.0, **sensors):
    """Make a room with points of a device on this machine."""
    address = f"127.0.0.1:{port}"
    points = {name: BacnetPoint(bacnet=address, object=one, cov=cov) for name, one in sensors.items()}
    if co2:
        points["co2"] = BacnetPoint(bacnet=address, object=co2, cov=cov)
    if fan:
        points["ventilation"] = VentilationPoint(bacnet=address, object=fan, cov=cov, full=full)
    return RoomConfig(id=room, **points)


@asynccontextmanager
async def running(rooms, pipeline, config=None):
    """Run the link."""
    link = BacnetLink(config or own_device(), {room.id: room for room in rooms})
    task = asyncio.create_task(link.run(pipeline))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled(), task


def co2_point(number=1, value=600.0, **more):
    return {"object": f"analog-input,{number}", "name": f"CO2 {number}", "value": value, **more}


def device(*points, **more):
    return {"port": free_port(), "instance": 17, "points": list(points) or [co2_point()], **more}


async def ask(bms, port):
    return await asyncio.to_thread(bms.ask, port)


async def command(bms, **what):
    return await asyncio.to_thread(lambda: bms.command(**what))


async def subscribed(bms, port, number):
    while (await ask(bms, port))["subscriptions"] != number:
        await asyncio.sleep(0.05)
