"""The service with nothing around it: a broker in this process, and simulated rooms, sixty times as fast."""

from __future__ import annotations

import asyncio
import datetime as dt
import json
import logging
import socket
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import aiomqtt
import pandas as pd
from amqtt.broker import Broker

from occupair.estimator import OccupancyEstimator
from occupair.live.config import MqttConfig, RoomConfig, ServiceConfig, Topic, VentilationTopic
from occupair.live.messages import Reading
from occupair.live.pipeline import Pipeline
from occupair.live.service import serve
from occupair.model_file import save_model
from occupair.progress import track
from occupair.simulation import simulate_office

SPEED = 60.0
"""Times as fast as real."""
ROOMS = {
    "library": ("Reading room", "Ground floor"),
    "meeting-1": ("Meeting room 1", "First floor"),
    "studio": ("Design studio", "First floor"),
    "lab": ("Robotics lab", "Second floor"),
    "office": ("Open office", "Second floor"),
}
TRAINING_DAYS = 8
BEGINS = dt.timedelta(hours=9)
"""Time of the simulated day at which the demo begins."""


def serve_demo(host: str = "127.0.0.1", port: int = 8099) -> None:
    """Run the service on simulated rooms until it is told to stop; nothing is kept afterwards."""
    with tempfile.TemporaryDirectory(prefix="occupair-demo-") as folder:
        broker_port = free_port()
        days = {room: simulated_days(seed) for seed, room in enumerate(ROOMS)}
        config = demo_config(Path(folder), host, port, broker_port, days)

        async def beside(pipeline: Pipeline) -> None:
            async with broker_on(broker_port):
                await fill(pipeline, days)
                await play(broker_port, days)

        serve(config, beside)


def simulated_days(seed: int) -> pd.DataFrame:
    """Simulate an office: some days to train on, yesterday, and today, all of them working days."""
    office = simulate_office(days=TRAINING_DAYS + 2, seed=seed)
    dates = pd.date_range(end=pd.Timestamp.now().normalize(), periods=TRAINING_DAYS + 2)
    times = [date + pd.Timedelta(minutes=minute) for date in dates for minute in range(1440)]
    return office.set_axis(pd.DatetimeIndex(times).tz_localize("UTC"))


def demo_config(
    folder: Path, host: str, port: int, broker_port: int, days: Mapping[str, pd.DataFrame]
) -> ServiceConfig:
    """Train the rooms and give the settings to serve them with."""
    rooms = {}
    for room in track(list(days), "training five rooms", show=True):
        training = days[room].iloc[: TRAINING_DAYS * 1440]
        model = folder / f"{room}.occupair"
        save_model(OccupancyEstimator(random_state=0, verbose=False).fit(training), model)
        name, floor = ROOMS[room]
        source = {"topic": f"demo/{room}", "shape": "json", "time_path": "time"}
        rooms[room] = RoomConfig(
            id=room,
            name=name,
            model=model,
            co2=Topic.model_validate(source | {"path": "co2"}),
            ventilation=VentilationTopic.model_validate(source | {"path": "ventilation"}),
            floor=floor,
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


async def fill(pipeline: Pipeline, days: Mapping[str, pd.DataFrame]) -> None:
    """Take yesterday, and today until the demo begins."""
    for room, readings in days.items():
        known = readings.iloc[TRAINING_DAYS * 1440 : (TRAINING_DAYS + 1) * 1440 + _minutes(BEGINS)]
        now = dt.datetime.now(dt.UTC)
        columns = zip(known.index, known["co2"], known["ventilation"], strict=True)
        await pipeline.submit(
            [Reading(room, time.to_pydatetime(), float(c), float(v), "demo", now) for time, c, v in columns]
        )


async def play(broker_port: int, days: Mapping[str, pd.DataFrame]) -> None:
    """Publish the rest of the day, and the day again and again, as sensors would."""
    async with aiomqtt.Client("127.0.0.1", broker_port) as sensors:
        minute, shift = _minutes(BEGINS), pd.Timedelta(0)
        while True:
            for room, readings in days.items():
                place = (TRAINING_DAYS + 1) * 1440 + minute
                row, time = readings.iloc[place], pd.DatetimeIndex(readings.index)[place]
                said = {
                    "time": (time + shift).isoformat(),
                    "co2": round(float(row["co2"]), 1),
                    "ventilation": float(row["ventilation"]),
                }
                await sensors.publish(f"demo/{room}", json.dumps(said), qos=1)
            await asyncio.sleep(60 / SPEED)
            minute += 1
            if minute == 1440:
                minute, shift = 0, shift + pd.Timedelta(days=1)


@asynccontextmanager
async def broker_on(port: int) -> AsyncIterator[None]:
    """Run a broker in this process."""
    for chatty in ("amqtt", "transitions"):
        logging.getLogger(chatty).setLevel(logging.ERROR)
    settings = {
        "listeners": {"default": {"type": "tcp", "bind": f"127.0.0.1:{port}"}},
        "plugins": {"amqtt.plugins.authentication.AnonymousAuthPlugin": {"allow_anonymous": True}},
    }
    broker = Broker(settings)
    await broker.start()
    try:
        yield
    finally:
        await broker.shutdown()


def free_port() -> int:
    """Find a port of this machine that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _minutes(time: dt.timedelta) -> int:
    return round(time.total_seconds() / 60)
