"""Rooms for choices that must hold in other rooms: public rooms, altered public rooms, and simulated offices.

The public rooms are from a few campuses and mostly have a ventilation signal and a good CO2 sensor. Altered
rooms lack the one or the other. An altered room is never scored with what was chosen on the room that it was
made of, nor the other way round.
"""

from __future__ import annotations

import re

import numpy as np
import pandas as pd

from occupair.datasets.benchmark_rooms import ROOMS, folder_of, read_room
from occupair.datasets.uci357 import read_uci357
from occupair.readings.schema import interval_of
from occupair.simulation import simulate_office

OFFICES = {f"office-{seats}": (seed, seats) for seed, seats in enumerate((8, 14, 20, 28, 35), start=101)}
"""Seed and number of seats of the simulated offices."""

OFFICE_DAYS = 12

NOISE, NOISE_TIME = 0.7, 60.0
"""Standard deviation of added noise relative to that of CO2, and its correlation time [min]."""

COLUMNS = ["co2", "ventilation", "occupancy"]

_ALTERATION = re.compile(", no ventilation|, noise|, mixed with ")


def study_rooms() -> dict[str, pd.DataFrame]:
    """Return the readings of all rooms by name."""
    public = {name: _plain(read_room(name)) for name in ROOMS}
    offices = {
        name: simulate_office(OFFICE_DAYS, seed=seed, seats=seats) for name, (seed, seats) in OFFICES.items()
    }
    presence = {"uci357": _plain(read_uci357(folder_of("uci357", "uci357")))}  # 1: occupied
    altered = {
        "sdu2018-3, no ventilation": without_ventilation(public["sdu2018-3"]),
        "sdu2019-1, no ventilation": without_ventilation(public["sdu2019-1"]),
        "robod-3, no ventilation": without_ventilation(public["robod-3"]),
        "sdu2018-4, noise": with_noise(public["sdu2018-4"], seed=1),
        "robod-1, noise": with_noise(public["robod-1"], seed=3),
        "sdu2018-1, mixed with sdu2018-4": mixed(public["sdu2018-1"], public["sdu2018-4"]),
    }
    return public | presence | altered | offices


def origins(name: str) -> set[str]:
    """Return the rooms that an altered room was made of, and of any other room itself; offices are one room.

    Examples
    --------
    >>> origins("robod-3, no ventilation"), origins("robod-3"), origins("office-8")
    ({'robod-3'}, {'robod-3'}, {'office'})
    >>> sorted(origins("sdu2018-1, mixed with sdu2018-4"))
    ['sdu2018-1', 'sdu2018-4']
    """
    return {"office"} if name in OFFICES else set(_ALTERATION.split(name)) - {""}


def without_ventilation(readings: pd.DataFrame) -> pd.DataFrame:
    """Return readings without the ventilation signal, as in most rooms."""
    return readings.drop(columns="ventilation")


def with_noise(readings: pd.DataFrame, *, seed: int) -> pd.DataFrame:
    """Return readings of a room with draughts: CO2 plus an autoregressive process of order 1."""
    keeps = np.exp(-interval_of(readings) / NOISE_TIME)
    steps = np.random.default_rng(seed).normal(0.0, np.sqrt(1 - keeps**2), len(readings))
    noise = np.zeros(len(readings))
    for k in range(1, len(readings)):
        noise[k] = keeps * noise[k - 1] + steps[k]
    co2 = readings["co2"] + NOISE * readings["co2"].std() * noise
    return readings.assign(co2=co2.clip(lower=200.0))


def mixed(readings: pd.DataFrame, neighbour: pd.DataFrame) -> pd.DataFrame:
    """Return readings with a sensor in a duct that carries the air of two rooms, half and half."""
    n = min(len(readings), len(neighbour))
    own = readings.iloc[:n]
    return own.assign(co2=(own["co2"].to_numpy() + neighbour["co2"].to_numpy()[:n]) / 2)


def _plain(readings: pd.DataFrame) -> pd.DataFrame:
    """Return readings without optional sensors."""
    return readings[[name for name in COLUMNS if name in readings.columns]]
