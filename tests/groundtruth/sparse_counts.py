"""What head counts here and there teach, by when in the day they are taken.

A week of counts in simulated offices, and the error of the default estimator on the week after, as Markdown.

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
    """Tell which of the times are a quarter past one of some hours."""
    return np.asarray((times.minute == 15) & np.isin(times.hour, hours))


def error(office: pd.DataFrame, counted: np.ndarray) -> float:
    """RMSE on the second half of the days, after training on some counts of the first half [people]."""
    days = np.unique(office.index.normalize())
    first = np.asarray(office.index < days[len(days) // 2])
    known = office[first].assign(occupancy=office.loc[first, "occupancy"].where(counted[first]))
    model = oc.OccupancyEstimator(random_state=0).fit(known)
    return oc.metrics.rmse(office.loc[~first, "occupancy"], model.estimate(office[~first]))


def main() -> None:
    """Print the table."""
    offices = [oc.simulate_office(days=14, seed=seed).iloc[::5] for seed in OFFICES]
    times = pd.DatetimeIndex(offices[0].index)
    ways = {
        "every 5 minutes": np.ones(len(times), dtype=bool),
        "once an hour": taken(times, list(range(24))),
        "six a day, 08:15 to 18:15": taken(times, [8, 10, 12, 14, 16, 18]),
        "four a day, 09:15 to 18:15": taken(times, [9, 12, 15, 18]),
        "every 5 minutes from 11 to 12": np.asarray(times.hour == 11),
    }
    sys.stdout.write("| counts | a week | error [people] |\n| --- | --- | --- |\n")
    for name, counted in ways.items():
        errors = ", ".join(f"{error(office, counted):.1f}" for office in offices)
        sys.stdout.write(f"| {name} | {int(counted.sum()) // 2} | {errors} |\n")


if __name__ == "__main__":
    warnings.simplefilter("ignore", UserWarning)
    main()
