"""Time and size of the view of today with many rooms: ``python tools/today_load.py [ROOMS] [STORE]``.

Fills a store with a day of estimates every minute, and computes the responses of ``/api/today`` at its end.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import gzip
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from occupair.live.config import RoomConfig
from occupair.live.hours import quarter_number
from occupair.live.http import today
from occupair.live.http.hours import today_json, today_lines
from occupair.live.messages import EstimateRecord, Quality
from occupair.live.store import Store
from occupair.progress import track

DAY = dt.datetime(2026, 3, 11, tzinfo=dt.UTC)
AT_ONCE = 20  # minutes written at a time


def fill(store: Store, rooms: list[str]) -> None:
    """Write estimates of every minute of a day."""
    draw = random.Random(0)
    for start in track(range(0, 1440, AT_ONCE), "estimates of a day", show=True):
        times = [DAY + dt.timedelta(minutes=start + k) for k in range(AT_ONCE)]
        store.write([], [_estimate(room, at, draw.random() * 9) for room in rooms for at in times])


def _estimate(room: str, time: dt.datetime, people: float) -> EstimateRecord:
    return EstimateRecord(
        room, time, people, people / 2, people * 2, (people,), 612.0, 610.5, None, Quality.OK
    )


def measure(store: Store, configs: list[RoomConfig]) -> None:
    """Print how long reading and encoding take, and the sizes of the responses."""
    now, cache = DAY + dt.timedelta(minutes=1439), today.TodayUse()

    def timed(name: str, work: Callable[[], Any]) -> Any:
        start = time.perf_counter()
        result = work()
        print(f"{name:<44} {time.perf_counter() - start:6.2f} s")
        return result

    timed("first read: the whole day", lambda: asyncio.run(cache.days(store, configs, now)))
    today.SHORTEST_AGE = today.LONGEST_AGE = 0.0
    days = timed("read again: what may have changed", lambda: asyncio.run(cache.days(store, configs, now)))
    text = timed("JSON", lambda: today_json(days))
    packed = timed("compressed", lambda: gzip.compress(text.encode(), 5))
    by_room = {room: day for day in days for room in day.rooms}
    lines = timed("CSV", lambda: "".join(today_lines(configs, by_room, quarter_number(now))))
    print(f"{'size of the JSON':<44} {len(text) / 1e3:6.0f} kB, compressed {len(packed) / 1e3:.0f} kB")
    print(f"{'size of the CSV':<44} {len(lines) / 1e6:6.1f} MB, {len(lines.splitlines()):,} lines")


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000
    config = RoomConfig(id="room", timezone="UTC", capacity=12)
    configs = [config.model_copy(update={"id": f"room-{k}"}) for k in range(count)]
    with tempfile.TemporaryDirectory() as folder:
        url = sys.argv[2] if len(sys.argv) > 2 else f"sqlite:///{Path(folder) / 'rooms.db'}"
        with closing(Store(url)) as store:
            store.migrate()
            fill(store, [one.id for one in configs])
            print(f"{count:,} rooms, {os.cpu_count()} cores, {store}")
            measure(store, configs)


if __name__ == "__main__":
    main()
