"""Train, load and serve models; run by ``test_lags`` with a copy of the package that has another lag."""

import asyncio
import inspect
import json
import sys
import warnings
from contextlib import closing
from pathlib import Path

from live.pipeline_helpers import readings_of
from sqlalchemy import text

import occupair as oc
from occupair.benchmark.run_benchmark import run_benchmark
from occupair.live.config import RoomConfig, ServiceConfig
from occupair.live.http.app import make_app
from occupair.live.http.state_json import StateEncoder
from occupair.live.mqtt.topics import state_payload
from occupair.live.pipeline import Pipeline
from occupair.live.store import Store
from occupair.live_rooms import LiveRooms, NextReading


def main(folder: Path, earlier: Path) -> dict:
    """Return what models and service give; ``earlier`` is the folder of files of an earlier version."""
    day = oc.read_readings(earlier / "day.csv", timezone="Europe/Copenhagen")
    office = oc.simulate_office(days=3, seed=0).iloc[::5].tz_localize("Europe/Copenhagen")
    model = oc.OccupancyEstimator(n_hidden=5, random_state=0).fit(office)
    model.save(folder / "new.occupair")
    new = oc.OccupancyEstimator.load(folder / "new.occupair")
    old = oc.OccupancyEstimator.load(earlier / "room.occupair")
    like = oc.OccupancyEstimator.transfer([old, new], n_hidden=5, random_state=0)
    like.fit(office.iloc[:288])
    return {
        "lags": [one.room_.lags for one in (new, old, like)],
        "refinements": [[refinement.lag for refinement in one.room_.refinements] for one in (new, old, like)],
        "features": [one.room_.refinements[0].layer.sizes[-1] for one in (new, old, like)],
        "used": [one.lag_used(60) for one in (new, old)],
        "benchmark": inspect.signature(run_benchmark).parameters["lags"].default,
        "estimates": {lag: new.estimate(day, lag=lag).tolist() for lag in (20, 30)},
        "earlier": old.estimate(day, lag=20).tolist(),
        "batched": [float(difference) for difference in batch_differences([new, old] * 4, day.iloc[60:90])],
        **asyncio.run(serve(folder, earlier, day.iloc[:120])),
    }


def batch_differences(models: list, day) -> list:
    """Return by how much the estimates of rooms in batches differ from those of each room alone."""
    alone, batched = ([model.live() for model in models] for _ in range(2))
    rooms = LiveRooms(batched)
    for time, co2, ventilation in zip(day.index, day["co2"], day["ventilation"], strict=True):
        rooms.update([NextReading(room, time, co2, ventilation) for room in batched])
        for room in alone:
            room.update(time, co2, ventilation)
    return [abs(one.people - other.people).max() for one, other in zip(alone, batched, strict=True)]


async def serve(folder: Path, earlier: Path, day) -> dict:
    """Return what a service with both models publishes and stores for a part of a day."""
    paths = {"new": folder / "new.occupair", "old": earlier / "room.occupair"}
    zone = "Europe/Copenhagen"
    rooms = {name: RoomConfig(id=name, model=path, timezone=zone) for name, path in paths.items()}
    config = ServiceConfig(store=f"sqlite:///{folder / 'store.db'}", clock="readings", rooms=rooms)
    with closing(Store(config.store)) as store:
        store.migrate()
        pipeline = Pipeline(config, store)
        await pipeline.start()
        for some in (day.iloc[:100], day.iloc[100:]):
            await pipeline.submit([one for room in rooms for one in readings_of(some, room)])
        states = {room: pipeline.states()[room] for room in rooms}
        schemas = make_app(pipeline, config).openapi()["components"]["schemas"]
        await pipeline.stop()
        with store.engine.connect() as connection:
            rows = connection.execute(text("SELECT * FROM estimates ORDER BY time")).mappings().all()
        records = store.estimates("new", None, None, limit=1000)
    return {
        "openapi": {name: list(schemas[name]["properties"]) for name in ("State", "Estimate")},
        "descriptions": [schemas["State"]["properties"][f"people_{lag}"]["description"] for lag in (20, 30)],
        "http": {room: json.loads(StateEncoder().encode(state)) for room, state in states.items()},
        "mqtt": {room: json.loads(state_payload(state)) for room, state in states.items()},
        "stored": {
            name: {room: [row[name] for row in rows if row["room"] == room] for room in rooms}
            for name in ("people_20", "people_30")
        },
        "records": [one.people_refined for one in records],
    }


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.stdout.write(json.dumps(main(*map(Path, sys.argv[1:]))))
