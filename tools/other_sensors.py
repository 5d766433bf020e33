"""Optional sensors on the ROBOD rooms: errors with and without them, and the sensors kept in each fold.

At the end, the days of the sensors are shuffled: they then tell nothing about the people of a day, and any
that is kept is kept by chance.

python tools/other_sensors.py        # about two minutes; needs the data set: occupair datasets fetch robod
"""

import warnings
from collections.abc import Sequence

import numpy as np
import pandas as pd

from occupair import OccupancyEstimator
from occupair.benchmark.scores import score
from occupair.datasets.catalogue import find_folder
from occupair.datasets.robod import read_robod
from occupair.folds import split_days
from occupair.readings.other_sensors import sensor_names
from occupair.readings.schema import date_slices
from occupair.room.lags import LAGS

ROOMS = {"robod-1": 1, "robod-3": 3}
SHUFFLES = 4


def main() -> None:
    folder = find_folder("robod")
    if folder is None:
        raise SystemExit("data set robod not found: occupair datasets fetch robod")
    kept: dict[str, list[str]] = {}
    by_chance: list[bool] = []
    print("| room | columns | " + " | ".join(f"lag {lag:g} min" for lag in LAGS) + " |")
    print("| --- | --- | " + " | ".join("---" for _ in LAGS) + " |")
    for room, number in ROOMS.items():
        readings = read_robod(folder, room=number, whole_days=False, sensors=True)
        sensors = sensor_names(readings)
        columns = {"CO2 and ventilation": [], "and all sensors": sensors}
        for label, names in columns.items():
            scores, trials = evaluate(readings.drop(columns=[name for name in sensors if name not in names]))
            print(f"| {room} | {label} | " + " | ".join(f"{one:.3f}" for one in scores) + " |", flush=True)
            kept[room] = trials
        rng = np.random.default_rng(0)
        for _ in range(SHUFFLES):
            trials = evaluate(shuffle_days(readings, rng), lags=())[1]
            by_chance += [", kept" in one for one in trials]
    for room, trials in kept.items():
        print(f"\n{room}:\n")
        for fold, text in enumerate(trials, start=1):
            print(f"- fold {fold}: {text}")
    print(f"\nWith the days of the sensors shuffled, {sum(by_chance)} of {len(by_chance)} models use one.")


def shuffle_days(readings: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Return readings in which each day has the sensors of another day, at the same time of day."""
    shuffled, days = readings.copy(), date_slices(readings)
    names = sensor_names(readings)
    clock = pd.DatetimeIndex(readings.index).strftime("%H:%M")
    sources = [readings[names].iloc[day].set_axis(clock[day]) for day in days]
    for day, source in zip(days, rng.permutation(len(days)), strict=True):
        found = sources[source].reindex(clock[day]).ffill().bfill()  # some days begin at 08:00
        shuffled.iloc[day, shuffled.columns.get_indexer(names)] = found.to_numpy()
    return shuffled


def evaluate(readings: pd.DataFrame, lags: Sequence[float] = LAGS) -> tuple[list[float], list[str]]:
    """Return the nRMSE of the default estimator at each lag, and the sensors of each fold."""
    people: list[list[pd.Series]] = [[] for _ in lags]
    truth, reference, trials = [], [], []
    for train, held_out in split_days(readings):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            estimator = OccupancyEstimator(random_state=0).fit(train)
        for of_lag, lag in zip(people, lags, strict=True):
            of_lag.append(estimator.estimate(held_out, lag=lag))
        truth.append(held_out["occupancy"])
        reference.append(np.full(len(held_out), train["occupancy"].mean()))
        trials.append("; ".join(map(str, estimator.sensor_trials_)))
    actual, floor = pd.concat(truth), np.concatenate(reference)
    return [score(actual, pd.concat(of_lag), floor)["nrmse"] for of_lag in people], trials


if __name__ == "__main__":
    main()
