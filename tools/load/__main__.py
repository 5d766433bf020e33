"""Load test of the live service with a real broker and database, one reading per minute and room.

    python -m tools.load                      2,000 rooms with models of the paper's size for 10 min
    python -m tools.load --until-it-breaks    double the number of rooms until the limit is exceeded

Latency is the time from publishing a reading to receiving the state of the room from the broker.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import paho.mqtt.client as mqtt
import pandas as pd

from tools.load.rooms import Sensors, name, settings, train

BEFORE = 160  # readings of every room before the test, for realistic estimation times
MAX_LATENCY = 2.0  # [s], 99th percentile


@dataclass
class LoadResult:
    """Result of a load test."""

    rooms: int
    seconds_to_start: float
    readings_per_second: float  # while posting the backlog
    latencies: np.ndarray  # [s]
    lost: int
    memory: float  # [MB]
    cores: float  # busy on average

    @property
    def within_limit(self) -> bool:
        return self.lost == 0 and float(np.quantile(self.latencies, 0.99)) <= MAX_LATENCY


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rooms", type=int, default=2_000)
    parser.add_argument("--minutes", type=int, default=10)
    parser.add_argument("--model", choices=("paper", "default"), default="paper")
    parser.add_argument("--burst", action="store_true", help="publish all rooms in the same second")
    parser.add_argument("--before", type=int, default=BEFORE, help="readings of every room before the test")
    parser.add_argument("--store", help="database; default: a SQLite file")
    parser.add_argument("--until-it-breaks", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        models = train(Path(folder), options.model)
        rooms, minutes = options.rooms, options.minutes
        print(HEAD)
        while True:
            found = load(Path(folder), models, rooms, minutes, options)
            print(row(found), flush=True)
            if not (options.until_it_breaks and found.within_limit):
                break
            rooms *= 2
            if 2 * found.memory > free_memory():
                print(
                    f"{rooms:,} rooms would need {2 * found.memory:,.0f} MB, {free_memory():,.0f} MB are free"
                )
                break


HEAD = (
    "| rooms | median | 99th percentile | maximum | lost | memory | busy cores | start-up | backlog rate |\n"
    "| ----: | -----: | --------------: | ------: | ---: | -----: | ---------: | -------: | -----------: |"
)


def row(found: LoadResult) -> str:
    median, most, longest = np.quantile(found.latencies, [0.5, 0.99, 1.0])
    return (
        f"| {found.rooms:,} | {1000 * median:.0f} ms | {1000 * most:.0f} ms | {1000 * longest:.0f} ms "
        f"| {found.lost} | {found.memory:.0f} MB | {found.cores:.2f} | {found.seconds_to_start:.0f} s "
        f"| {found.readings_per_second:,.0f}/s |"
    )


def load(
    folder: Path, models: list[Path], rooms: int, minutes: int, options: argparse.Namespace
) -> LoadResult:
    work = Path(tempfile.mkdtemp(dir=folder))
    for model in models:
        (work / model.name).write_bytes(model.read_bytes())
    port = free_port()
    with broker(work) as broker_port:
        store = options.store or f"sqlite:///{work}/load.db"
        config = settings(work, models, rooms, store=store, broker=broker_port, port=port)
        started = time.monotonic()
        with service(config, port) as process:
            start_up = time.monotonic() - started
            filled = fill(port, rooms, options.before)
            begin, busy = time.monotonic(), cpu_time(process.pid)
            latencies, lost = play(broker_port, rooms, minutes, burst=options.burst)
            cores = (cpu_time(process.pid) - busy) / (time.monotonic() - begin)
            return LoadResult(rooms, start_up, filled, latencies, lost, memory(process.pid), cores)


def fill(port: int, rooms: int, before: int) -> float:
    """Post the readings of the last hours; return the number of readings stored per second."""
    sensors, now = Sensors(), pd.Timestamp.now(tz="UTC").floor("min")
    times = [now - pd.Timedelta(minutes=k) for k in range(before, 0, -1)]
    started = time.monotonic()
    for number in range(rooms):
        body = json.dumps([sensors.payload(number, at) for at in times]).encode()
        address = f"http://127.0.0.1:{port}/api/rooms/{name(number)}/readings"
        request = urllib.request.Request(address, body, {"Content-Type": "application/json"})
        urllib.request.urlopen(request, timeout=60).read()
    return rooms * before / (time.monotonic() - started)


def play(broker_port: int, rooms: int, minutes: int, *, burst: bool) -> tuple[np.ndarray, int]:
    """Publish every room once a minute, evenly or in a burst; return latencies [s] and the number lost."""
    sensors, sent, latencies = Sensors(), {}, []
    lock = threading.Lock()

    def on_state(client: mqtt.Client, userdata: object, message: mqtt.MQTTMessage) -> None:
        room = message.topic.split("/")[1]
        with lock:
            if not message.retain and room in sent:
                latencies.append(time.monotonic() - sent.pop(room))

    listener = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, "load-out")
    listener.on_message = on_state
    listener.connect("127.0.0.1", broker_port)
    listener.subscribe("occupair/+/state", 0)
    listener.loop_start()
    sender = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, "load-in")
    sender.max_inflight_messages_set(0)
    sender.connect("127.0.0.1", broker_port)
    sender.loop_start()
    time.sleep(2)
    begin, lost = time.monotonic(), 0
    for minute in range(minutes):
        for number in range(rooms):
            due = begin + 60 * minute + (0 if burst else 60 * number / rooms)
            time.sleep(max(due - time.monotonic(), 0))
            payload = sensors.payload(number, pd.Timestamp.now(tz="UTC"))
            # readings within the same minute must differ: an unchanged state is not published
            payload["co2"] = float(payload["co2"]) + 0.001 * minute
            with lock:
                lost += name(number) in sent
                sent[name(number)] = time.monotonic()
            sender.publish(f"load/{name(number)}", json.dumps(payload), qos=1)
        show(f"minute {minute + 1} of {minutes}")
    time.sleep(10)
    with lock:
        lost += len(sent)
    for client in (listener, sender):
        client.disconnect()
        client.loop_stop()
    return np.array(latencies), lost


def show(what: str) -> None:
    if sys.stderr.isatty():
        print(f"\r{what} ", end="", file=sys.stderr, flush=True)


@contextmanager
def broker(folder: Path) -> Iterator[int]:
    port = free_port()
    (folder / "mosquitto.conf").write_text(
        f"listener {port} 127.0.0.1\nallow_anonymous true\nmax_queued_messages 1000000\nlog_type error\n"
    )
    process = subprocess.Popen(["mosquitto", "-c", str(folder / "mosquitto.conf")])
    try:
        wait_until_open(port)
        yield port
    finally:
        stop(process)


@contextmanager
def service(config: Path, port: int) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-m", "occupair", "serve", str(config)]
    process = subprocess.Popen(command)
    try:
        wait_until_open(port, process, timeout_s=600)
        yield process
    finally:
        stop(process)


def stop(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(60)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def wait_until_open(port: int, process: subprocess.Popen[bytes] | None = None, timeout_s: float = 20) -> None:
    end = time.monotonic() + timeout_s
    while time.monotonic() < end:
        if process is not None and process.poll() is not None:
            raise SystemExit("the service failed to start")
        with socket.socket() as probe:
            probe.settimeout(1)
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                if process is None:
                    return
                try:
                    with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=2) as response:
                        if json.load(response)["status"] == "ok":
                            return
                except OSError:
                    pass
        time.sleep(0.2)
    raise SystemExit(f"timeout: no server on port {port}")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def memory(pid: int) -> float:
    """Return the peak memory of a process [MB]."""
    (line,) = [line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if "VmHWM" in line]
    return int(line.split()[1]) * 1024 / 1e6


def free_memory() -> float:
    """Return the available memory [MB]."""
    (line,) = [
        line for line in Path("/proc/meminfo").read_text().splitlines() if line.startswith("MemAvailable")
    ]
    return int(line.split()[1]) * 1024 / 1e6


def cpu_time(pid: int) -> float:
    """Return the CPU time of a process [s]."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
