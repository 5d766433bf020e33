"""Time per reading of the engine, without broker and database: rooms one by one, and in batches.

python -m tools.load.engine
"""

from __future__ import annotations

import datetime as dt
import tempfile
import time
from pathlib import Path

import pandas as pd

from occupair import live_rooms as live_together
from occupair.live.messages import Reading
from occupair.live.rooms.engine import Engine, RoomSetup
from occupair.live.rooms.room import Model
from occupair.live.rooms.room_models import load_model
from occupair.live_room import LiveRoom
from tools.load.rooms import Sensors, name, train

ROOMS, BEFORE, MEASURED = 500, 100, 20  # rooms, readings of each before and during the measurement
BEGIN = dt.datetime(2024, 1, 8, 6, tzinfo=dt.UTC)
NEVER = 1_000_000


def main() -> None:
    print("| model | processing | wall time per reading | CPU time per reading |")
    print("| ----- | ---------- | --------------------: | -------------------: |")
    for kind in ("paper", "default"):
        with tempfile.TemporaryDirectory() as folder:
            models = [load_model(path.read_bytes()) for path in train(Path(folder), kind)]
        for how, fewest in (("one by one", NEVER), ("batched", live_together.MIN_BATCH)):
            live_together.MIN_BATCH = fewest
            wall, processor = seconds_per_reading(models)
            print(f"| {kind} | {how} | {1e6 * wall:.0f} µs | {1e6 * processor:.0f} µs |", flush=True)


def seconds_per_reading(models: list[LiveRoom]) -> tuple[float, float]:
    engine = Engine({name(k): RoomSetup("UTC", 10) for k in range(ROOMS)}, follows_clock=False)
    engine.use_models({name(k): Model(1, models[k % len(models)]) for k in range(ROOMS)}, BEGIN)
    sensors = Sensors()
    minutes = [readings_at(sensors, BEGIN + dt.timedelta(minutes=k)) for k in range(BEFORE + MEASURED)]
    for readings in minutes[:BEFORE]:
        engine.add_readings(readings, readings[0].time)
    wall, processor = time.perf_counter(), time.process_time()
    for readings in minutes[BEFORE:]:
        engine.add_readings(readings, readings[0].time)
    n = ROOMS * MEASURED
    return (time.perf_counter() - wall) / n, (time.process_time() - processor) / n


def readings_at(sensors: Sensors, at: dt.datetime) -> list[Reading]:
    payloads = [sensors.payload(k, pd.Timestamp(at)) for k in range(ROOMS)]
    return [
        Reading(name(k), at, float(one["co2"]), float(one["ventilation"]), "mqtt", at)
        for k, one in enumerate(payloads)
    ]


if __name__ == "__main__":
    main()
