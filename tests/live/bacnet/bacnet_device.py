"""A BACnet device with the objects of some rooms, on a port of 127.0.0.1."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from bacpypes3.local.networkport import NetworkPortObject
from live.bacnet.bacnet_client import ANALOG_VALUE, BINARY_VALUE, BacnetClient
from live.fake_pipeline import FakePipeline, make_config
from live.waiting import until

from occupair.live.bacnet.device import RoomDevice
from occupair.live.bacnet.read_only import ReadOnlyApplication
from occupair.live.bacnet.room_objects import RoomObjects

INSTANCE = 4711
"""Device instance number."""
PEOPLE, LOW, HIGH, CO2, OCCUPIED = (*((ANALOG_VALUE, 10 + k) for k in (1, 2, 3, 4)), (BINARY_VALUE, 15))
"""Objects of the first room."""
NORMAL, FAULT = "0000", "0100"  # status flags: in alarm, fault, overridden, out of service


class Numbers:
    """Numbers of rooms in memory, given in order."""

    def __init__(self) -> None:
        self.given: dict[str, int] = {}

    def room_numbers(self, rooms: Iterable[str]) -> dict[str, int]:
        return {room: self.given.setdefault(room, len(self.given) + 1) for room in rooms}


def free_udp_port() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def is_bound(port: int) -> bool:
    """Whether a program has bound a UDP port of 127.0.0.1."""
    return f" 0100007F:{port:04X} " in Path("/proc/net/udp").read_text()


@dataclass
class Device:
    application: ReadOnlyApplication
    objects: RoomObjects
    pipeline: FakePipeline
    port: int

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"


def open_application(port: int, instance: int = INSTANCE) -> ReadOnlyApplication:
    network = NetworkPortObject(
        f"127.0.0.1/24:{port}", objectIdentifier=("network-port", 1), objectName="NetworkPort-1"
    )
    return ReadOnlyApplication.from_object_list([RoomDevice(instance, f"occupair-{instance}"), network])


@asynccontextmanager
async def running_device(*rooms: str, store=None, instance: int = INSTANCE) -> AsyncIterator[Device]:
    """Run a device until the end of the context."""
    pipeline = FakePipeline(make_config(*rooms))
    port = free_udp_port()
    application = open_application(port, instance)
    objects = RoomObjects(application, store or Numbers(), pipeline.config.rooms)
    task = asyncio.create_task(objects.run(pipeline))
    try:
        await until(lambda: (objects.is_complete and is_bound(port)) or task.done())
        yield Device(application, objects, pipeline, port)
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        application.close()


@asynccontextmanager
async def device_and_client(*rooms, **options):
    async with running_device(*rooms, **options) as device, BacnetClient.connect(device.port) as client:
        yield device, client
