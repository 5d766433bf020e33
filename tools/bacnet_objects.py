"""Print how long the BACnet objects of many rooms take: to add, to read and to update, with COV.

python -m tools.bacnet_objects 10000        # rooms: about a minute
"""

import asyncio
import contextlib
import datetime as dt
import gc
import os
import socket
import struct
import sys
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from bacpypes3.app import Application
from bacpypes3.local.analog import AnalogValueObject
from bacpypes3.local.device import DeviceObject
from bacpypes3.local.networkport import NetworkPortObject

from occupair.live.bacnet.device import RoomDevice
from occupair.live.bacnet.read_only import ReadOnlyApplication
from occupair.live.bacnet.room_objects import RoomObjects
from occupair.live.config import RoomConfig
from occupair.live.messages import Quality, RoomState, unknown_state
from occupair.live.reasons import Cause, Reason
from occupair.live.service import FULL_COLLECTION_EVERY

COMPARED = 2_000
"""Objects of bacpypes3 to compare with."""
NOW = dt.datetime(2026, 3, 2, 12, tzinfo=dt.UTC)


class States:
    """A pipeline whose rooms all change at once."""

    def __init__(self, rooms: list[str]) -> None:
        self._rooms, self.people = rooms, 0
        self._news = asyncio.Event()
        self.change()

    def states(self) -> dict[str, RoomState]:
        return dict(self._states)

    def now(self) -> dt.datetime:
        return NOW

    def change(self) -> None:
        """Make new states of all rooms; `publish` passes them on."""
        self.people += 1
        known = {"people": self.people, "low": self.people - 0.5, "high": self.people + 0.5}
        unknown = unknown_state("", Quality.OK, Cause(Reason.NO_READING))
        state = replace(unknown, time=NOW, co2_smoothed=800.0, cause=None, **known)
        self._states = {room: replace(state, room=room) for room in self._rooms}

    def publish(self) -> None:
        self._news.set()

    @asynccontextmanager
    async def subscribe(self) -> AsyncIterator[AsyncIterator[list[RoomState]]]:
        yield self._changes()

    async def _changes(self) -> AsyncIterator[list[RoomState]]:
        while await self._news.wait():
            self._news.clear()
            yield list(self.states().values())


class Numbers:
    def room_numbers(self, rooms: list[str]) -> dict[str, int]:
        return {room: number for number, room in enumerate(rooms, start=1)}


class Subscriber:
    """A client that subscribes to the people of all rooms, and counts answers and notifications."""

    def __init__(self, port: int) -> None:
        self.answers = self.notifications = 0
        self._server = ("127.0.0.1", port)
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 24)
        self._socket.bind(("127.0.0.1", 0))
        threading.Thread(target=self._count, daemon=True).start()

    def subscribe(self, number: int) -> None:
        body = b"\x09\x01\x1c" + struct.pack(">I", 2 << 22 | 10 * number + 1) + b"\x29\x00\x3a\x0e\x10"
        apdu = bytes([0x01, 0x04, 0x00, 0x05, number % 256, 0x05]) + body
        self._socket.sendto(struct.pack(">BBH", 0x81, 0x0A, len(apdu) + 4) + apdu, self._server)

    def _count(self) -> None:
        while True:
            message = self._socket.recv(2_000)
            if message[6] == 0x10 and message[7] == 0x02:
                self.notifications += 1
            else:
                self.answers += 1


class LongestPause:
    """The longest time for which other tasks had to wait [s]."""

    def __init__(self) -> None:
        self.value = 0.0

    async def measure(self) -> None:
        last = time.perf_counter()
        while True:
            await asyncio.sleep(0.001)
            now = time.perf_counter()
            self.value, last = max(self.value, now - last), now

    def take(self) -> float:
        value, self.value = self.value, 0.0
        return value


async def compare() -> None:
    """Print how long objects of bacpypes3 take."""
    application = Application.from_object_list(
        [DeviceObject(objectIdentifier=("device", 1), objectName="device")]
    )
    start = time.perf_counter()
    for number in range(COMPARED):
        application.add_object(
            AnalogValueObject(
                objectIdentifier=("analog-value", number),
                objectName=f"object {number}",
                description="People in a room",
                presentValue=1.0,
                units="no-units",
                covIncrement=1.0,
                eventState="normal",
                reliability="no-fault-detected",
                outOfService=False,
            )
        )
    seconds = time.perf_counter() - start
    line(f"add {COMPARED:,} Analog Values of bacpypes3", seconds, 1e3 * seconds / COMPARED, "ms each")


async def measure(n_rooms: int) -> None:
    rooms = {f"room-{k}": RoomConfig(id=f"room-{k}", name=f"Room {k}") for k in range(n_rooms)}
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    network = NetworkPortObject(
        f"127.0.0.1/24:{port}", objectIdentifier=("network-port", 1), objectName="port"
    )
    device = RoomDevice(1, "occupair")
    application = ReadOnlyApplication.from_object_list([device, network])
    await asyncio.sleep(0.5)
    pipeline, pause = States(list(rooms)), LongestPause()
    objects = RoomObjects(application, Numbers(), rooms)
    memory, start = resident(), time.perf_counter()
    tasks = [asyncio.create_task(pause.measure()), asyncio.create_task(objects.run(pipeline))]
    while len(application.objectIdentifier) < 5 * n_rooms + 2:
        await asyncio.sleep(0.002)
    seconds = time.perf_counter() - start
    line(
        f"add the {5 * n_rooms:,} objects of {n_rooms:,} rooms",
        seconds,
        1e3 * pause.take(),
        "ms longest pause",
    )
    print(f"{'memory of these objects':48} {(resident() - memory) / 1e6:6.0f} MB")

    start = time.perf_counter()
    for k in range(1_000):
        await device.read_property("objectList", k % (5 * n_rooms) + 1)
    seconds = time.perf_counter() - start
    line("read 1,000 elements of the object list", seconds, 1e3 * seconds / 1_000, "ms each")

    newest = application.get_object_name(f"room-{n_rooms - 1}.people")
    pipeline.change()
    await asyncio.sleep(0.1)
    pause.take()
    start = time.perf_counter()
    pipeline.publish()
    while newest.presentValue != pipeline.people:
        await asyncio.sleep(0.002)
    line("change all rooms", time.perf_counter() - start, 1e3 * pause.take(), "ms longest pause")

    client = Subscriber(port)
    start = time.perf_counter()
    for number in range(1, n_rooms + 1):
        client.subscribe(number)
        while client.answers < number - 50:
            await asyncio.sleep(0.001)
    while client.notifications < n_rooms:
        await asyncio.sleep(0.002)
    seconds = time.perf_counter() - start
    line(f"subscribe to {n_rooms:,} objects", seconds, 1e3 * pause.take(), "ms longest pause")

    pipeline.change()
    await asyncio.sleep(0.1)
    pause.take()
    start = time.perf_counter()
    pipeline.publish()
    while client.notifications < 2 * n_rooms:
        await asyncio.sleep(0.002)
    seconds = time.perf_counter() - start
    line(
        f"change all rooms, {n_rooms:,} notifications received",
        seconds,
        1e3 * pause.take(),
        "ms longest pause",
    )
    for task in tasks:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
    application.close()


def line(what: str, seconds: float, number: float, unit: str) -> None:
    print(f"{what:48} {seconds:6.2f} s {number:8.2f} {unit}")


def resident() -> int:
    """Return the memory of this process [bytes]."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    gc.set_threshold(*gc.get_threshold()[:2], FULL_COLLECTION_EVERY)  # as in the service
    asyncio.run(compare())
    asyncio.run(measure(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000))
