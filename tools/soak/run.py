"""One soak test on one database: servers, faults and measurements by simulated hour."""

from __future__ import annotations

import datetime as dt
import os
import random
import resource
import signal
import sqlite3
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from live.mosquitto import MosquittoServer, mosquitto_server
from live.postgres import PostgresServer, postgres_to_stop
from live.service_process import ServiceProcess
from live.waiting import wait_for

from occupair.live.calibration import night_before
from occupair.live.store import Store
from tools.soak.clock import SimulatedClock
from tools.soak.comparison import Comparison, compare
from tools.soak.rooms import Message, Rooms
from tools.soak.schedule import Faults, faults_of
from tools.soak.senders import Posters, Sensors

SQLITE_LOCKED = 8.0
"""How long another program locks the SQLite file, in place of a restart of the database [s]."""

CALIBRATED_WITHIN = 3600.0
"""Time limit for calibrations, which have a low priority [s]."""


@dataclass
class Hour:
    """Measurements of one simulated hour."""

    number: int
    faults: Faults
    sent: int = 0
    latencies: list[float] = field(default_factory=list)  # [s], without those that include a fault
    memory: float = 0.0  # of the service after the hour [MB]
    seconds_to_restore: float | None = None  # from the start of the process until it responds
    seconds_to_catch_up: float | None = None  # from then until all readings are estimated
    seconds: float = 0.0  # of real time


class Soak:
    """The service with its servers, sensors and faults."""

    def __init__(
        self,
        rooms: Rooms,
        service: ServiceProcess,
        broker: MosquittoServer,
        database: PostgresServer | None,
        clock: SimulatedClock,
        *,
        fault_hours: int,
    ) -> None:
        self._rooms, self._service, self._broker, self._database = rooms, service, broker, database
        self._clock, self._fault_hours = clock, fault_hours
        self._draw = random.Random(0)
        self.calibrated: dict[int, dict[dt.date, bytes]] = {}  # last model of each day, by room
        self._is_up = False
        self._sensors = Sensors(broker.port, rooms)
        self._posters = Posters(service, rooms)
        self._by_slot: dict[int, list[Message]] = {}
        for room in range(rooms.number):
            for message in rooms.messages(room):
                self._by_slot.setdefault(message.slot, []).append(message)

    def run(self) -> Iterator[Hour]:
        """Run all hours."""
        self._clock.advance_to(self._rooms.start)
        self._start_service()
        wait_for(lambda: self._service.health() == "ok")  # subscribed: before, the broker has no session
        for number in range(self._rooms.hours):
            yield self._run_hour(number)
        self._posters.close()
        self._sensors.close()

    def _run_hour(self, number: int) -> Hour:
        hour = Hour(number, faults_of(number, fault_hours=self._fault_hours))
        began = time.monotonic()
        self._clock.set_error(3600 * hour.faults.clock)
        first = number * self._rooms.slots_per_hour
        for slot in range(first, first + self._rooms.slots_per_hour):
            self._clock.advance_to(self._rooms.time_of(slot))
            messages = self._by_slot.get(slot, [])
            hour.sent += len(messages)
            if slot == first:
                self._send_with_kill(messages, hour)
            elif slot == first + 1:
                self._send_with_outages(messages, hour.faults)
            else:
                self._send(messages)
            self._sensors.wait_for_all()
            self._posters.wait_for_all()
            self._wait_for_calibrations(slot)
        hour.latencies = self._sensors.latencies()
        hour.memory = resident_memory(self._service.pid)
        hour.seconds = time.monotonic() - began
        return hour

    # ---- faults ----

    def _send_with_kill(self, messages: list[Message], hour: Hour) -> None:
        """Kill the service after part of the messages; the others arrive while it is down."""
        if not hour.faults.kill:
            return self._send(messages)
        part = self._draw.randrange(len(messages))
        with self._full_disk() if hour.faults.disk_full else nullcontext():
            self._send(messages[:part])
            self._sensors.disturb()
            self._service.kill()
        self._is_up = False
        self._send(messages[part:])
        hour.seconds_to_restore = self._start_service()
        began = time.monotonic()
        self._sensors.wait_for_all()
        hour.seconds_to_catch_up = time.monotonic() - began

    def _send_with_outages(self, messages: list[Message], faults: Faults) -> None:
        third = len(messages) // 3
        first, second, last = messages[:third], messages[third : 2 * third], messages[2 * third :]
        self._send(first)
        if faults.broker:
            self._sensors.disturb()
            self._broker.stop()
            if faults.broker == "down":
                self._send(second, waits=False)
                second = []
            self._broker.start()
        with self._database_outage(faults.database) if faults.database else nullcontext():
            self._send(second)
        self._send(last)

    @contextmanager
    def _full_disk(self) -> Iterator[None]:
        """Prevent writes: a file size limit of 0 for the service, or a stopped PostgreSQL."""
        if self._database is not None:
            self._database.stop()
            try:
                yield
            finally:
                self._database.start()
            return
        limit = resource.prlimit(self._service.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(self._service.pid, resource.RLIMIT_FSIZE, (0, limit[1]))
        yield

    @contextmanager
    def _database_outage(self, kind: str) -> Iterator[None]:
        if self._database is not None:
            self._database.stop(signal.SIGQUIT if kind == "crash" else signal.SIGINT)
            yield
            self._database.start()
            return
        with sqlite3.connect(self._service.store.removeprefix("sqlite:///"), timeout=60) as lock:
            lock.execute("BEGIN IMMEDIATE")
            yield
            time.sleep(SQLITE_LOCKED)
            lock.rollback()

    # ---- service and messages ----

    def _wait_for_calibrations(self, slot: int) -> None:
        """Before midnight and at the end, wait until rooms without a model are calibrated.

        Calibrations take real time, of which a simulated hour has little. The models are kept for the
        comparison, since the service keeps the newest only.
        """
        rooms, time_, following = self._rooms, self._rooms.time_of(slot), self._rooms.time_of(slot + 1)
        if following.date() > time_.date() or following == rooms.end:
            for room in filter(rooms.is_day_one, range(rooms.number)):
                path = f"/api/rooms/{rooms.name(room)}/models"
                night = night_before(time_, "UTC")
                wait_for(lambda path=path, night=night: self._is_calibrated(path, night), CALIBRATED_WITHIN)
                newest = self._service.get(path)["models"][-1]["version"]
                self.calibrated.setdefault(room, {})[time_.date()] = self._service.download(
                    f"{path}/{newest}"
                )

    def _is_calibrated(self, path: str, night: str) -> bool:
        models = self._service.get(path)["models"]
        return bool(models) and models[-1]["active"] and models[-1]["note"].startswith(night)

    def _start_service(self) -> float:
        began = time.monotonic()
        self._service.start()
        self._is_up = True
        return time.monotonic() - began

    def _send(self, messages: list[Message], *, waits: bool = True) -> None:
        for message in messages:
            if self._rooms.posts(message.room):
                self._posters.send(message)
            else:
                self._sensors.send(message, waits=waits and self._is_up)


def soak(
    rooms: Rooms, models: list[Path], folder: Path, database: str, *, fault_hours: int
) -> Iterator[Hour | Comparison]:
    """Run the soak test on one database; yield its hours and the comparison with an undisturbed replay."""
    own_server = nullcontext() if database == "sqlite" else postgres_to_stop()
    with mosquitto_server() as broker, own_server as server:
        store = f"sqlite:///{folder}/soak.db" if server is None else server.url
        clock_path = folder / "clock"
        clock = SimulatedClock(clock_path)
        service = ServiceProcess(
            folder,
            store=store,
            broker=broker.port,
            rooms=rooms.settings(models),
            more='log_level = "warning"',
        )
        service.command = [sys.executable, "-m", "tools.soak.serve", str(clock_path), str(service.path)]
        try:
            test = Soak(rooms, service, broker, server, clock, fault_hours=fault_hours)
            yield from test.run()
            if service.stop() != 0:
                raise RuntimeError(f"the service failed to stop: {service.log.read_text()[-2000:]}")
        finally:
            service.kill()
        stored = Store(store)
        try:
            yield compare(stored, rooms, models, test.calibrated)
        finally:
            stored.close()


def resident_memory(pid: int) -> float:
    """Return the memory of a process [MB]."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def percentiles(latencies: list[float]) -> str:
    """Return the 50th, 95th and 99th percentile [ms]."""
    if not latencies:
        return "- | - | -"
    return " | ".join(f"{1000 * value:.0f}" for value in np.quantile(latencies, [0.5, 0.95, 0.99]))
