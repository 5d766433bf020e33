"""Optional sensors on the ROBOD rooms: errors with and without them, and the sensors kept in each fold.

python tools/other_sensors.py        # about one minute; needs the data set: occupair datasets fetch robod
"""

import warnings

import numpy as np
import pandas as pd

from occupair import OccupancyEstimator
from occupair.benchmark.scores import score
from occupair.datasets.catalogue import find_folder
from occupair.datasets.robod import read_robod
from occupair.folds import split_days
from occupair.readings.other_sensors import sensor_names
from occupair.room.lags import LAGS

ROOMS = {"robod-1": 1, "robod-3": 3}


def main() -> None:
    folder = find_folder("robod")
    if folder is None:
        raise SystemExit("data set robod not found: occupair datasets fetch robod")
    kept: dict[str, list[str]] = {}
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
    for room, trials in kept.items():
        print(f"\n{room}:\n")
        for fold, text in enumerate(trials, start=1):
            print(f"- fold {fold}: {text}")


def evaluate(readings: pd.DataFrame) -> tuple[list[float], list[str]]:
    """Return the nRMSE of the default estimator at each lag, and the sensors of each fold."""
    people: list[list[pd.Series]] = [[] for _ in LAGS]
    truth, reference, trials = [], [], []
    for train, held_out in split_days(readings):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            estimator = OccupancyEstimator(random_state=0).fit(train)
        for of_lag, lag in zip(people, LAGS, strict=True):
            of_lag.append(estimator.estimate(held_out, lag=lag))
        truth.append(held_out["occupancy"])
        reference.append(np.full(len(held_out), train["occupancy"].mean()))
        trials.append("; ".join(map(str, estimator.sensor_trials_)))
    actual, floor = pd.concat(truth), np.concatenate(reference)
    return [score(actual, pd.concat(of_lag), floor)["nrmse"] for of_lag in people], trials


if __name__ == "__main__":
    main()
