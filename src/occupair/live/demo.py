"""Demo of the service: simulated rooms at sixty times real time, with an MQTT broker in the same process."""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
import json
import logging
import socket
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pandas as pd
from amqtt.broker import Broker

from occupair.estimator import OccupancyEstimator
from occupair.live.config import (
    MqttConfig,
    OutdoorAirTable,
    RoomConfig,
    ServiceConfig,
    Topic,
    VentilationTopic,
)
from occupair.live.demo_floors import add_floors
from occupair.live.messages import Reading
from occupair.live.mqtt.client import CancellableClient
from occupair.live.pipeline import Pipeline
from occupair.live.service import listen, serve
from occupair.live.wall_clock import utc_now
from occupair.model_file import save_model
from occupair.progress import track
from occupair.simulation import simulate_office

SPEED = 60.0
"""Simulated time per real time."""
ROOMS = {
    "library": ("Reading room", "Ground floor", 32),
    "meeting-1": ("Meeting room 1", "First floor", 24),
    "studio": ("Design studio", "First floor", 20),
    "lab": ("Robotics lab", "Second floor", 24),
    "office": ("Open office", "Second floor", 28),
}
"""Name, floor and seats of each room; the studio has fewer seats than people at times."""
OUTDOOR_AIR: dict[str, dict[str, Any]] = {
    "meeting-1": {"standard": "EN 16798-1", "area": 186.0, "minimum": 60.0},
    "office": {"standard": "ASHRAE 62.1", "space": "office", "area": 186.0, "confidence": 0.9},
}
"""Rooms with recommended outdoor air: a standard each, for the simulated office of 186 m2."""
NEW_ROOM = "seminar"
"""A room from its first day: with its size and seats, and without a model or head counts."""
NEW_ROOM_SIZE: dict[str, Any] = {"volume": 502.0, "capacity": 35}
TRAINING_DAYS = 8
PAST_DAYS = 6
"""Days before today that the demo has data of, so that the view of a week is not empty."""
START = dt.timedelta(hours=9)
"""Time of the simulated day at which the demo starts."""
BROKER_STOP_TIMEOUT = 2.0
"""How long stopping the broker may take [s]."""


def serve_demo(host: str = "127.0.0.1", port: int = 8099) -> None:
    """Run the service on simulated rooms until it is stopped. Its files are temporary."""
    listening = listen(host, port)  # before the training, which takes a while
    with tempfile.TemporaryDirectory(prefix="occupair-demo-") as folder:
        days = {room: simulated_days(seed) for seed, room in enumerate([*ROOMS, NEW_ROOM])}
        models = train_rooms(Path(folder), {room: days[room] for room in ROOMS})
        broker_port = free_port()  # after the training, during which another program could take it
        config = demo_config(Path(folder), host, port, broker_port, models)

        async def play_rooms(pipeline: Pipeline) -> None:
            add_floors(pipeline.store, demo_floors(config))
            async with broker_on(broker_port):
                await submit_past(pipeline, days)
                await publish(broker_port, days)

        serve(config, play_rooms, listening=listening)


def simulated_days(seed: int) -> pd.DataFrame:
    """Simulate an office: training days, past days and today, all of them working days."""
    n_days = TRAINING_DAYS + PAST_DAYS + 1
    office = simulate_office(days=n_days, seed=seed)
    dates = pd.date_range(end=pd.Timestamp.now().normalize(), periods=n_days)
    times = [date + pd.Timedelta(minutes=minute) for date in dates for minute in range(1440)]
    return office.set_axis(pd.DatetimeIndex(times).tz_localize("UTC"))


def train_rooms(folder: Path, days: Mapping[str, pd.DataFrame]) -> dict[str, Path]:
    """Train a model for each room and return its file."""
    models = {}
    for room in track(list(days), f"training {len(days)} rooms", show=True):
        training = days[room].iloc[: TRAINING_DAYS * 1440]
        models[room] = folder / f"{room}.occupair"
        save_model(OccupancyEstimator(random_state=0, verbose=False).fit(training), models[room])
    return models


def demo_config(
    folder: Path, host: str, port: int, broker_port: int, models: Mapping[str, Path]
) -> ServiceConfig:
    """Return the settings of the service."""
    rooms = {}
    for room, model in models.items():
        name, floor, seats = ROOMS[room]
        rooms[room] = RoomConfig(
            id=room,
            name=name,
            model=model,
            floor=floor,
            capacity=seats,
            outdoor_air=OutdoorAirTable(**OUTDOOR_AIR[room]) if room in OUTDOOR_AIR else None,
            **_topics(room),
        )
    rooms[NEW_ROOM] = RoomConfig(
        id=NEW_ROOM, name="Seminar room, new", floor="Second floor", **NEW_ROOM_SIZE, **_topics(NEW_ROOM)
    )
    mqtt = MqttConfig(host="127.0.0.1", port=broker_port, version="3.1.1")
    return ServiceConfig(
        store=f"sqlite:///{folder}/demo.db",
        host=host,
        port=port,
        clock="readings",
        mqtt=mqtt,
        rooms=rooms,
    )


def demo_floors(config: ServiceConfig) -> dict[str, list[str]]:
    """Return the rooms of each floor."""
    floors: dict[str, list[str]] = {}
    for room in config.rooms.values():
        floors.setdefault(room.floor, []).append(room.id)
    return floors


def _topics(room: str) -> dict[str, Any]:
    source = {"topic": f"demo/{room}", "shape": "json", "time_path": "time"}
    return {
        "co2": Topic.model_validate(source | {"path": "co2"}),
        "ventilation": VentilationTopic.model_validate(source | {"path": "ventilation"}),
    }


async def submit_past(pipeline: Pipeline, days: Mapping[str, pd.DataFrame]) -> None:
    """Submit the past days, and today until the start of the demo; of the new room, only the last hour."""
    for room, readings in days.items():
        now_at = (TRAINING_DAYS + PAST_DAYS) * 1440 + _minutes(START)
        past = readings.iloc[now_at - 60 if room == NEW_ROOM else TRAINING_DAYS * 1440 : now_at]
        now = utc_now()
        columns = zip(past.index, past["co2"], past["ventilation"], strict=True)
        await pipeline.submit(
            [Reading(room, time.to_pydatetime(), float(c), float(v), "demo", now) for time, c, v in columns]
        )


async def publish(broker_port: int, days: Mapping[str, pd.DataFrame]) -> None:
    """Publish the rest of the day as sensors would, then the same day again and again."""
    async with CancellableClient("127.0.0.1", broker_port) as sensors:
        minute, shift = _minutes(START), pd.Timedelta(0)
        while True:
            for room, readings in days.items():
                index = (TRAINING_DAYS + PAST_DAYS) * 1440 + minute
                row, time = readings.iloc[index], pd.DatetimeIndex(readings.index)[index]
                payload = {
                    "time": (time + shift).isoformat(),
                    "co2": round(float(row["co2"]), 1),
                    "ventilation": float(row["ventilation"]),
                }
                await sensors.publish(f"demo/{room}", json.dumps(payload), qos=1)
            await asyncio.sleep(60 / SPEED)
            minute += 1
            if minute == 1440:
                minute, shift = 0, shift + pd.Timedelta(days=1)


@asynccontextmanager
async def broker_on(port: int) -> AsyncIterator[None]:
    """Run an MQTT broker in this process."""
    for name in ("amqtt", "transitions"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    settings = {
        "listeners": {"default": {"type": "tcp", "bind": f"127.0.0.1:{port}"}},
        "plugins": {"amqtt.plugins.authentication.AnonymousAuthPlugin": {"allow_anonymous": True}},
    }
    broker = Broker(settings)
    await broker.start()
    try:
        yield
    finally:
        with contextlib.suppress(TimeoutError):  # amqtt may wait for ever for a client that is connecting
            async with asyncio.timeout(BROKER_STOP_TIMEOUT):
                await broker.shutdown()


def free_port() -> int:
    """Return a free TCP port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _minutes(time: dt.timedelta) -> int:
    return round(time.total_seconds() / 60)
