"""Load test of BACnet/IP: 200 simulated devices, of which 20 vanish and return; see docs/bacnet.md.

The service is the real one, with its normal times: a reading a minute. All values change every 20 s. Half of
the devices notify changes (COV).
"""

from __future__ import annotations

import argparse
import json
import math
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.request
from itertools import pairwise
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))
from tools.simulated_bms import Bms

ROOMS_EACH = 2
CHANGE_EVERY = 20.0  # [s]
INTERVAL = 60.0  # of rooms without a model [s]
TOLERANCE = 5.0  # between the time of a reading and that of its value [s]
SPACING = 1.0  # of readings from notifications [s]
LATE = 20.0  # a reading later than this after its interval is lost [s]


def free_ports(number: int) -> list[int]:
    sockets = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(number)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def value_of(device: int, room: int, step: int) -> float:
    """Return CO2 of a room at a step; no two steps or rooms near each other have the same."""
    return 400.0 + (device * ROOMS_EACH + room) * 0.25 + (step * 7 % 1000)


class Load:
    """One run."""

    def __init__(self, folder: Path, n_devices: int, n_gone: int, minutes: float) -> None:
        self.folder, self.minutes = folder, minutes
        own, self.http, *self.ports = free_ports(n_devices + 2)
        apart = max(1, n_devices // n_gone)
        self.gone = [min(k * apart + k % 2, n_devices - 1) for k in range(n_gone)]  # with and without COV
        self.changes: list[tuple[float, float]] = []  # of all values: begin and end; by step
        self.down = self.up = 0.0
        lines = ["[service]", f'store = "sqlite:///{folder}/rooms.db"', f"port = {self.http}"]
        lines += ["[limits]", "requests_per_minute = 100000"]
        lines += ["[bacnet]", 'address = "127.0.0.1"', "device = 4000000", f"port = {own}"]
        for device, port in enumerate(self.ports):
            for room in range(ROOMS_EACH):
                address = f'bacnet = "127.0.0.1:{port}"'
                lines += [
                    f"[rooms.{self.name(device, room)}]",
                    f'co2 = {{ {address}, object = "analog-input,{room}" }}',
                    f'ventilation = {{ {address}, object = "analog-value,{room}" }}',
                ]
        (folder / "rooms.toml").write_text("\n".join(lines))

    @staticmethod
    def name(device: int, room: int) -> str:
        return f"d{device:03d}-r{room}"

    def devices(self) -> list[dict[str, Any]]:
        """Return the devices; every other one supports COV."""
        devices = []
        for number, port in enumerate(self.ports):
            points: list[dict[str, Any]] = []
            for room in range(ROOMS_EACH):
                co2 = value_of(number, room, 0)
                points.append({"object": f"analog-input,{room}", "name": f"CO2 {room}", "value": co2})
                fan = {"object": f"analog-value,{room}", "name": f"fan {room}", "value": 50}
                points.append({**fan, "units": "percent"})
            device = {"port": port, "instance": 1000 + number, "points": points}
            devices.append({**device, "cov": number % 2 == 0})
        return devices

    def run(self) -> None:
        """Run the BMS and the service."""
        with Bms(self.devices()) as bms, (self.folder / "log").open("wb") as log:
            command = [sys.executable, "-m", "occupair", "serve", str(self.folder / "rooms.toml")]
            service = subprocess.Popen(command, stdout=log, stderr=log)
            try:
                self.changes.append((time.time(), time.time()))
                while self.status(service) != "connected":
                    time.sleep(0.5)
                self.memory = [resident(service.pid)]
                self.drive(bms, service)
                self.stopped = time.time()
                self.memory.append(resident(service.pid))
                self.busy = cpu_seconds(service.pid)
                self.notified = bms.command(ask=self.ports, notified=True)
                self.writes = sum(number for name, number in bms.totals().items() if "Write" in name)
            finally:
                service.terminate()
                service.wait(60)

    def drive(self, bms: Bms, service: subprocess.Popen[bytes]) -> None:
        start = time.time()
        while (now := time.time()) < start + 60 * self.minutes:
            part = (now - start) / (60 * self.minutes)
            ports = [self.ports[device] for device in self.gone]
            if part > 0.25 and not self.down:
                bms.command(down=ports)
                self.down = time.time()
                print(f"{now - start:4.0f} s: {len(ports)} devices vanish", flush=True)
            if part > 0.55 and not self.up:
                self.up = time.time()
                bms.command(up=ports)
                print(f"{now - start:4.0f} s: they return", flush=True)
            step = len(self.changes)
            changes = [
                [port, f"analog-input,{room}", {"value": value_of(device, room, step)}]
                for device, port in enumerate(self.ports)
                for room in range(ROOMS_EACH)
            ]
            begin = time.time()
            bms.command(set=changes)
            self.changes.append((begin, time.time()))
            time.sleep(max(0.0, now + CHANGE_EVERY - time.time()))
            part_status = self.status(service)
            print(f"{time.time() - start:4.0f} s: {resident(service.pid):.0f} MB, {part_status}", flush=True)

    def status(self, service: subprocess.Popen[bytes]) -> str:
        if service.poll() is not None:
            raise SystemExit((self.folder / "log").read_text()[-2000:])
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.http}/healthz", timeout=60) as answer:
                return str(json.load(answer)["parts"]["bacnet"])
        except OSError:
            return ""

    # ---- the result ----

    def report(self) -> bool:
        """Print the result and return whether it is as it must be."""
        connection = sqlite3.connect(self.folder / "rooms.db")
        wrong, lost, returned, n_readings = set(), 0, [0.0], 0
        for device, port in enumerate(self.ports):
            is_gone = device in self.gone
            for room in range(ROOMS_EACH):
                name = self.name(device, room)
                query = (
                    "SELECT time / 1e6, co2 FROM readings WHERE room = ? AND co2 IS NOT NULL ORDER BY time"
                )
                readings = connection.execute(query, (name,)).fetchall()
                n_readings += len(readings)
                for at, co2 in readings:
                    if not self.is_right(device, room, at, co2):
                        wrong.add(name)
                        print(f"wrong: {name}, {co2} ppm at {at - self.changes[0][0]:.1f} s")
                gaps = self.lost_intervals([at for at, _ in readings], is_gone=is_gone)
                stored = {co2 for _, co2 in readings}
                notified = self.notified[str(port)]["notified"]
                missed = missed_notifications(notified, f"analog-input,{room}", stored)
                lost += len(gaps) + len(missed)
                if gaps or missed:
                    print(f"lost: {name}, gaps {gaps}, notifications {sorted(missed)}")
                if is_gone:
                    returned.append(min((at for at, _ in readings if at > self.up), default=1e12) - self.up)
        connection.close()
        n_rooms = len(self.ports) * ROOMS_EACH
        gone = f"{len(self.gone)} vanished for {(self.up - self.down) / 60:.1f} min"
        size = f"{len(self.ports)} devices, {n_rooms} rooms, {2 * n_rooms} points"
        print(f"\n{size}, {self.minutes:g} min; {gone}")
        print(f"readings stored          {n_readings}")
        print(f"rooms wrong              {len(wrong)}")
        print(f"readings lost            {lost}")
        print(f"first reading after return, at most {max(returned):.0f} s")
        print(f"memory at start and end  {self.memory[0]:.0f} MB, {self.memory[1]:.0f} MB")
        print(f"CPU time of the service  {self.busy:.0f} s")
        print(f"writes to devices        {self.writes}")
        return not wrong and not lost and not self.writes

    def is_right(self, device: int, room: int, at: float, co2: float) -> bool:
        """Whether a value is one that the device had at the time of the reading."""
        if device in self.gone and self.down + INTERVAL < at < self.up:
            return False
        if device in self.gone and self.down <= at <= self.down + INTERVAL:
            at = self.down
        ends = [*(end for _, end in self.changes[1:]), math.inf]
        return any(
            begin - TOLERANCE <= at <= end + TOLERANCE and abs(co2 - value_of(device, room, step)) < 1e-6
            for step, ((begin, _), end) in enumerate(zip(self.changes, ends, strict=True))
        )

    def lost_intervals(self, times: list[float], *, is_gone: bool) -> list[str]:
        """Return the intervals without a reading while the device was there."""
        start = self.changes[0][0]
        if not is_gone:
            spans = [(start, self.stopped)]
        else:
            again = min((at for at in times if at > self.up), default=self.stopped)
            spans = [(start, self.down), (again, self.stopped)]
        lost = []
        for begin, end in spans:
            inside = [begin, *(at for at in times if begin <= at <= end), end]
            gaps = [(a, b) for a, b in pairwise(inside) if b - a > INTERVAL + LATE]
            lost += [f"{a - start:.0f} to {b - start:.0f} s" for a, b in gaps]
        return lost


def missed_notifications(notified: list[Any], name: str, stored: set[float]) -> list[float]:
    """Return notified values that are not stored, and were not replaced within the same second."""
    of_room = [(at, value) for one, value, at in notified if one == name]
    pairs = pairwise([*of_room, (math.inf, math.nan)])
    return [v for (at, v), (later, _) in pairs if v not in stored and later - at > 1.5 * SPACING]


def resident(pid: int) -> float:
    """Return the memory of a process [MB]."""
    (line,) = (
        line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmRSS")
    )
    return int(line.split()[1]) / 1000


def cpu_seconds(pid: int) -> float:
    words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / 100


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--devices", type=int, default=200)
    parser.add_argument("--gone", type=int, default=20)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        load = Load(Path(folder), given.devices, given.gone, given.minutes)
        load.run()
        sys.exit(not load.report())


if __name__ == "__main__":
    main()
