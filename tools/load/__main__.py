"""Load test of the live service with a real broker and database, one reading per minute and room.

    python -m tools.load                      2,000 rooms with models of the paper's size for 10 min
    python -m tools.load --until-it-breaks    double the number of rooms until the limit is exceeded
    python -m tools.load --shards 1 4         one process, then four shards (serve --workers 4), on PostgreSQL

Latency is the time from publishing a reading to receiving the state of the room from the broker. With shards,
it is also measured to the event stream of the first shard, of rooms of the others.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import paho.mqtt.client as mqtt
import pandas as pd

from occupair.live.room_shards import owner_of
from tools.load.rooms import Sensors, name, settings, train
from tools.load.servers import (
    broker,
    cpu_time,
    free_memory,
    free_port,
    memory,
    pids,
    postgres,
    service,
)

BEFORE = 160  # readings of every room before the test, for realistic estimation times
MAX_LATENCY = 2.0  # [s], 99th percentile


@dataclass
class LoadResult:
    """Result of a load test."""

    rooms: int
    shards: int
    seconds_to_start: float
    readings_per_second: float  # while posting the backlog
    latencies: np.ndarray  # [s]
    elsewhere: np.ndarray  # of states in the event stream of another shard [s]
    lost: int
    memory: float  # of all processes [MB]
    cores: list[float]  # busy on average, of each process
    cpu_per_reading: float  # of all processes [s]

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
    parser.add_argument("--store", help="database; default: a SQLite file, or PostgreSQL with --shards")
    parser.add_argument("--until-it-breaks", action="store_true")
    parser.add_argument("--shards", type=int, nargs="+", help="numbers of shards to run one after the other")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        models = train(Path(folder), options.model)
        print(HEAD)
        if options.shards:
            for shards in options.shards:
                print(row(load(Path(folder), models, options.rooms, shards, options)), flush=True)
            return
        rooms = options.rooms
        while True:
            found = load(Path(folder), models, rooms, 1, options)
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
    "| rooms | shards | median | 99th percentile | maximum | at another shard | lost | memory | busy cores "
    "| busiest process | CPU per reading | start-up | backlog rate |\n"
    "| ----: | -----: | -----: | --------------: | ------: | ---------------: | ---: | -----: | ---------: "
    "| --------------: | --------------: | -------: | -----------: |"
)


def row(found: LoadResult) -> str:
    median, most, longest = np.quantile(found.latencies, [0.5, 0.99, 1.0])
    elsewhere = "" if not len(found.elsewhere) else f"{1000 * np.median(found.elsewhere):.0f} ms"
    cores = sum(found.cores)
    return (
        f"| {found.rooms:,} | {found.shards} | {1000 * median:.0f} ms | {1000 * most:.0f} ms "
        f"| {1000 * longest:.0f} ms | {elsewhere} | {found.lost} | {found.memory:.0f} MB | {cores:.2f} "
        f"| {max(found.cores):.2f} | {1000 * found.cpu_per_reading:.1f} ms "
        f"| {found.seconds_to_start:.0f} s | {found.readings_per_second:,.0f}/s |"
    )


def load(
    folder: Path, models: list[Path], rooms: int, shards: int, options: argparse.Namespace
) -> LoadResult:
    work = Path(tempfile.mkdtemp(dir=folder))
    for model in models:
        (work / model.name).write_bytes(model.read_bytes())
    port = free_port()

    def port_of(number: int) -> int:
        return port if shards == 1 else port + owner_of(name(number), shards)

    with ExitStack() as running:
        broker_port = running.enter_context(broker(work))
        store = options.store or f"sqlite:///{work}/load.db"
        if options.shards and not options.store:
            store = running.enter_context(postgres())
        config = settings(work, models, rooms, store=store, broker=broker_port, port=port)
        started = time.monotonic()
        process = running.enter_context(service(config, port, shards))
        start_up = time.monotonic() - started
        filled = fill(port_of, rooms, options.before)
        processes = pids(process)
        begin, busy = time.monotonic(), [cpu_time(pid) for pid in processes]
        page = None if shards == 1 else port + 1
        latencies, elsewhere, lost = play(
            broker_port, rooms, options.minutes, burst=options.burst, page=page, shards=shards
        )
        seconds = time.monotonic() - begin
        used = [cpu_time(pid) - before for pid, before in zip(processes, busy, strict=True)]
        return LoadResult(
            rooms=rooms,
            shards=shards,
            seconds_to_start=start_up,
            readings_per_second=filled,
            latencies=latencies,
            elsewhere=elsewhere,
            lost=lost,
            memory=sum(memory(pid) for pid in processes),
            cores=[one / seconds for one in used],
            cpu_per_reading=sum(used) / (rooms * options.minutes),
        )


def fill(port_of: Callable[[int], int], rooms: int, before: int) -> float:
    """Post the readings of the last hours; return the number of readings stored per second."""
    sensors, now = Sensors(), pd.Timestamp.now(tz="UTC").floor("min")
    times = [now - pd.Timedelta(minutes=k) for k in range(before, 0, -1)]
    started = time.monotonic()
    for number in range(rooms):
        body = json.dumps([sensors.payload(number, at) for at in times]).encode()
        address = f"http://127.0.0.1:{port_of(number)}/api/rooms/{name(number)}/readings"
        request = urllib.request.Request(address, body, {"Content-Type": "application/json"})
        urllib.request.urlopen(request, timeout=60).read()
    return rooms * before / (time.monotonic() - started)


class Latencies:
    """Times from the publication of a reading to the arrival of the state of its room."""

    def __init__(self) -> None:
        self.found: list[float] = []
        self.lost = 0
        self._sent: dict[str, float] = {}
        self._lock = threading.Lock()

    def sent(self, room: str) -> None:
        with self._lock:
            self.lost += room in self._sent
            self._sent[room] = time.monotonic()

    def arrived(self, room: str) -> None:
        with self._lock:
            if room in self._sent:
                self.found.append(time.monotonic() - self._sent.pop(room))

    def end(self) -> None:
        with self._lock:
            self.lost += len(self._sent)


def play(
    broker_port: int, rooms: int, minutes: int, *, burst: bool, page: int | None, shards: int
) -> tuple[np.ndarray, np.ndarray, int]:
    """Publish every room once a minute, evenly or in a burst.

    Returns latencies from the broker and from the event stream of the first shard [s], and the number lost.
    """
    sensors, published, streamed = Sensors(), Latencies(), Latencies()

    def on_state(client: mqtt.Client, userdata: object, message: mqtt.MQTTMessage) -> None:
        if not message.retain:
            published.arrived(message.topic.split("/")[1])

    listener = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, "load-out")
    listener.on_message = on_state
    listener.connect("127.0.0.1", broker_port)
    listener.subscribe("occupair/+/state", 0)
    listener.loop_start()
    sender = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, "load-in")
    sender.max_inflight_messages_set(0)
    sender.connect("127.0.0.1", broker_port)
    sender.loop_start()
    with following(page, streamed.arrived):
        time.sleep(2)
        begin = time.monotonic()
        for minute in range(minutes):
            for number in range(rooms):
                due = begin + 60 * minute + (0 if burst else 60 * number / rooms)
                time.sleep(max(due - time.monotonic(), 0))
                payload = sensors.payload(number, pd.Timestamp.now(tz="UTC"))
                # readings within the same minute must differ: an unchanged state is not published
                payload["co2"] = float(payload["co2"]) + 0.001 * minute
                published.sent(name(number))
                if page is not None and owner_of(name(number), shards) > 1:
                    streamed.sent(name(number))
                sender.publish(f"load/{name(number)}", json.dumps(payload), qos=1)
            show(f"minute {minute + 1} of {minutes}")
        time.sleep(10)
    for latencies in (published, streamed):
        latencies.end()
    for client in (listener, sender):
        client.disconnect()
        client.loop_stop()
    return np.array(published.found), np.array(streamed.found), published.lost + streamed.lost


@contextmanager
def following(port: int | None, arrived: Callable[[str], None]) -> Iterator[None]:
    """Follow the event stream of a service, as a page does."""
    if port is None:
        yield
        return
    stream = urllib.request.urlopen(f"http://127.0.0.1:{port}/api/events", timeout=120)

    def follow() -> None:
        try:
            for line in stream:
                if line.startswith(b"data: "):
                    for state in json.loads(line[6:]):
                        arrived(state["room"])
        except (OSError, ValueError):  # the service has stopped
            pass

    threading.Thread(target=follow, daemon=True).start()
    yield


def show(what: str) -> None:
    if sys.stderr.isatty():
        print(f"\r{what} ", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
