"""Rooms of the load test: models, settings of the service and sensor readings."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd

from occupair import OccupancyEstimator, simulate_office

TRAINED = 5  # different models, assigned to the rooms in turn
N_HIDDEN = 1000


def train(folder: Path, kind: str) -> list[Path]:
    """Train the models."""
    found = []
    for seed in range(TRAINED):
        office = simulate_office(days=3, seed=seed)
        settings = {"n_draws": 1, "random_state": 0, "verbose": False}
        if kind == "paper":
            model = OccupancyEstimator.paper(n_hidden=N_HIDDEN, **settings)
        else:
            model = OccupancyEstimator(**settings)
        found.append(folder / f"{kind}-{seed}.occupair")
        model.fit(office).save(found[-1])
    return found


def name(number: int) -> str:
    return f"room-{number:05d}"


def settings(folder: Path, models: list[Path], rooms: int, *, store: str, broker: int, port: int) -> Path:
    """Write the settings file of the service."""
    lines = [
        "[service]",
        f"store = {json.dumps(store)}",
        f"port = {port}",
        'log = "json"',
        'log_level = "warning"',
        "[limits]",
        "requests_per_minute = 1000000",
        "body_bytes = 100000000",
        "readings_per_post = 100000",
        "[mqtt]",
        'host = "127.0.0.1"',
        f"port = {broker}",
    ]
    for number in range(rooms):
        topic = f'topic = "load/{name(number)}", shape = "json", time_path = "time"'
        lines += [
            f"[rooms.{name(number)}]",
            f"model = {json.dumps(models[number % len(models)].name)}",
            f'co2 = {{ {topic}, path = "co2" }}',
            f'ventilation = {{ {topic}, path = "ventilation" }}',
        ]
    path = folder / "rooms.toml"
    path.write_text("\n".join(lines) + "\n")
    return path


class Sensors:
    """Readings of all rooms, from simulated offices with a time shift per room."""

    def __init__(self) -> None:
        days = [simulate_office(days=5, seed=100 + seed) for seed in range(TRAINED)]
        self._co2 = np.array([day["co2"] for day in days])
        self._flow = np.array([day["ventilation"] for day in days])

    def payload(self, number: int, time: pd.Timestamp) -> dict[str, float | str]:
        """Return the payload of a room's sensor at a time."""
        minute = int(time.timestamp() // 60) + 7 * number
        of, at = number % TRAINED, minute % self._co2.shape[1]
        co2 = float(self._co2[of, at]) + 0.01 * (number % 100)
        return {"time": time.isoformat(), "co2": co2, "ventilation": float(self._flow[of, at])}
