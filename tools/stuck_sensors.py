"""Stuck optional sensors in public rooms: limits, detected readings, and the cost of planted faults.

python tools/stuck_sensors.py     # half a minute; needs data: occupair datasets fetch robod uci357 uci864

Limits are found in training readings and applied to held-out ones: the folds of the ROBOD rooms (working days
only), the two longer files of UCI 357 (each with a weekend), and the two halves of UCI 864 (with Christmas).
Only the ROBOD rooms were in view when the rule was chosen.

For planted faults, all sensors that a model uses stop on the first held-out day at 12:00, at a busy value
(their 97 % quantile on the held-out days), and repeat it until the end. Folds whose model uses no sensor are
left out.
"""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from occupair import OccupancyEstimator
from occupair.benchmark.scores import score
from occupair.datasets.catalogue import find_folder
from occupair.datasets.robod import read_robod
from occupair.folds import split_days
from occupair.readings.other_sensors import sensor_names
from occupair.room.stuck_sensors import NO_RUN, StuckRule

ROOMS = {"robod-1": 1, "robod-3": 3}
UCI864 = {"_Temp": "temperature", "_Light": "light", "_Sound": "sound", "_PIR": "motion"}
NOON = 12 * 60
BUSY = 0.97

Split = Sequence[pd.DataFrame]  # training and held-out readings


def main() -> None:
    folders = {name: find_folder(name) for name in ("robod", "uci357", "uci864")}
    if missing := [name for name, folder in folders.items() if folder is None]:
        raise SystemExit(f"data sets not found: occupair datasets fetch {' '.join(missing)}")
    found = {name: folder for name, folder in folders.items() if folder is not None}
    rooms = {
        room: read_robod(found["robod"], room=number, whole_days=False, sensors=True)
        for room, number in ROOMS.items()
    }
    print("| room | sensor | limits [h] | resting levels | stuck readings |")
    print("| --- | --- | --- | --- | --- |")
    for room, readings in rooms.items():
        folds = list(split_days(readings))
        for name in sensor_names(readings):
            print_detected(room, name, name, folds, 5.0)
    halves = read_uci357(found["uci357"])
    for column in ("Temperature", "Humidity", "Light"):
        print_detected("uci357", column, column.lower(), [halves, halves[::-1]], 1.0)
    halves = read_uci864(found["uci864"])
    for column in halves[0].columns:
        kind = next((kind for ending, kind in UCI864.items() if column.endswith(ending)), None)
        if kind is not None:
            print_detected("uci864", column, kind, [halves, halves[::-1]], 0.5)
    print("\n| room | sensors | working | stuck | stuck, not detected | without |")
    print("| --- | --- | --- | --- | --- | --- |")
    for room, readings in rooms.items():
        names, errors = planted(readings)
        print(f"| {room} | {', '.join(names)} | {' | '.join(f'{one:.3f}' for one in errors)} |", flush=True)


def print_detected(room: str, column: str, kind: str, folds: Sequence[Split], interval: float) -> None:
    """Print the limits and resting levels of the folds, and the readings at which a sensor is stuck."""
    limits, rest, stuck, n_readings = set(), set(), [], 0
    for train, held_out in folds:
        rule = StuckRule.fit(kind, train[column].to_numpy(dtype=float), interval)
        limits.add(rule.limit)
        rest |= set(rule.rest)
        which = rule.stuck_readings(held_out[column].to_numpy(dtype=float), interval, NO_RUN)
        stuck += held_out.index[which].tolist()
        n_readings += which.size
    days = sorted({f"{time:%Y-%m-%d}" for time in stuck})
    hours = ", ".join(f"{limit / 60:.3g}" for limit in sorted(limits))
    levels = ", ".join(f"{level:.3g}" for level in sorted(rest)) or "none"
    found = f"{len(stuck)} of {n_readings}" + (f" ({', '.join(days)})" if days else "")
    print(f"| {room} | {column} | {hours} | {levels} | {found} |")


def read_uci357(folder: Path) -> list[pd.DataFrame]:
    """Return the published columns of the two longer files, every minute."""
    names = ("datatraining", "datatest2")
    files = [next(folder.glob(f"{name}.txt*")) for name in names]
    return [pd.read_csv(file, parse_dates=["date"]).set_index("date") for file in files]


def read_uci864(folder: Path) -> list[pd.DataFrame]:
    """Return the published columns in two halves, every 30 s; sound in V."""
    table = pd.read_csv(next(folder.glob("Occupancy_Estimation.csv*")))
    table = table.set_index(pd.to_datetime(table["Date"] + " " + table["Time"]))
    return [table.iloc[: len(table) // 2], table.iloc[len(table) // 2 :]]


def planted(readings: pd.DataFrame) -> tuple[list[str], list[float]]:
    """Return the sensors used, and nRMSE with working, stuck, undetected stuck, and without sensors."""
    people: list[list[pd.Series]] = [[], [], [], []]
    truth, reference, used = [], [], set()
    for train, held_out in split_days(readings):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            model = OccupancyEstimator(random_state=0).fit(train)
        if not (names := model.sensor_names):
            continue
        used |= set(names)
        frozen = held_out.copy()
        first = int(np.argmax(held_out.index.hour * 60 + held_out.index.minute >= NOON))
        for name in names:
            frozen.iloc[first:, frozen.columns.get_loc(name)] = held_out[name].quantile(BUSY)
        people[0].append(model.estimate(held_out))
        people[1].append(model.estimate(frozen))
        people[3].append(model.estimate(held_out.drop(columns=list(names))))
        model.sensors_ = replace(model.sensors_, stuck=())
        people[2].append(model.estimate(frozen))
        truth.append(held_out["occupancy"])
        reference.append(np.full(len(held_out), train["occupancy"].mean()))
    actual, floor = pd.concat(truth), np.concatenate(reference)
    return sorted(used), [score(actual, pd.concat(one), floor)["nrmse"] for one in people]


if __name__ == "__main__":
    main()
