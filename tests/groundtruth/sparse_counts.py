"""Error of models trained on sparse head counts, by the times of day at which they are taken.

Prints as Markdown the error of the default estimator in simulated offices, trained on one week of head counts
and evaluated on the next.

    PYTHONPATH=tests python -m groundtruth.sparse_counts
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
import pandas as pd

import occupair as oc

OFFICES = (1, 2, 3)


def taken(times: pd.DatetimeIndex, hours: list[int]) -> np.ndarray:
    """Whether each time is a quarter past one of some hours."""
    return np.asarray((times.minute == 15) & np.isin(times.hour, hours))


def error(office: pd.DataFrame, counted: np.ndarray) -> float:
    """RMSE on the second half of the days after training on some head counts of the first half [people]."""
    days = np.unique(office.index.normalize())
    first = np.asarray(office.index < days[len(days) // 2])
    known = office[first].assign(occupancy=office.loc[first, "occupancy"].where(counted[first]))
    model = oc.OccupancyEstimator(random_state=0).fit(known)
    return oc.metrics.rmse(office.loc[~first, "occupancy"], model.estimate(office[~first]))


def main() -> None:
    """Print the table."""
    offices = [oc.simulate_office(days=14, seed=seed).iloc[::5] for seed in OFFICES]
    times = pd.DatetimeIndex(offices[0].index)
    schedules = {
        "every 5 minutes": np.ones(len(times), dtype=bool),
        "hourly": taken(times, list(range(24))),
        "six per day, 08:15 to 18:15": taken(times, [8, 10, 12, 14, 16, 18]),
        "four per day, 09:15 to 18:15": taken(times, [9, 12, 15, 18]),
        "every 5 minutes from 11 to 12": np.asarray(times.hour == 11),
    }
    sys.stdout.write("| head counts | per week | RMSE [people] |\n| --- | --- | --- |\n")
    for name, counted in schedules.items():
        errors = ", ".join(f"{error(office, counted):.1f}" for office in offices)
        sys.stdout.write(f"| {name} | {int(counted.sum()) // 2} | {errors} |\n")


if __name__ == "__main__":
    warnings.simplefilter("ignore", UserWarning)
    main()
