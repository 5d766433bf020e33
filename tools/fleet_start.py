"""Whether rooms with few head counts gain from starting from their own portfolio instead of public rooms.

    python -m tools.fleet_start [--rooms 24] [--pooled 40] [--jobs 2]

Rooms are those of ``tools.blind_rooms``, with a reading every five minutes. The start is pooled over three
labelled weeks of some rooms. Other rooms are trained on three, five and ten labelled days and scored on a
later week.
"""

from __future__ import annotations

import argparse
import warnings
from concurrent.futures import ProcessPoolExecutor
from functools import partial, reduce
from multiprocessing import get_context
from operator import add

import numpy as np
from threadpoolctl import threadpool_limits

import occupair as oc
from occupair.progress import quietly, track
from occupair.report.text_table import Table, markdown
from occupair.room.pooled_start import PooledStart
from occupair.room.pooling import PoolSums, start_of, sum_room
from tools.blind_rooms import draw_room, simulate

STEP, LAGS = 5, (0, 20)
DAY = 1440 // STEP
FIRST_POOLED, FIRST_SCORED = 300, 400
"""First seeds of the rooms that are pooled, and of those that are scored."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rooms", type=int, default=24)
    parser.add_argument("--pooled", type=int, default=40)
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    rows = []
    with ProcessPoolExecutor(
        given.jobs, get_context("spawn"), initializer=threadpool_limits, initargs=(1,)
    ) as pool:
        pooled = range(FIRST_POOLED, FIRST_POOLED + given.pooled)
        start = start_of(reduce(add, pool.map(sums_of, pooled)))
        for days in track((3, 5, 10), "training", show=None):
            scored = range(FIRST_SCORED, FIRST_SCORED + given.rooms)
            errors = np.array(list(pool.map(partial(score, start, days), scored)))  # rooms, starts, lags
            ratio = errors[:, 1] / errors[:, 0]
            rows += [
                [
                    f"{days} days, lag {lag} min",
                    *(f"{value:.3f}" for value in errors[:, :, k].mean(axis=0)),
                    f"{np.exp(np.log(ratio[:, k]).mean()):.3f}",
                    f"{100 * (ratio[:, k] < 1).mean():.0f} %",
                ]
                for k, lag in enumerate(LAGS)
            ]
    print(markdown(Table(["training", "public rooms", "portfolio", "ratio", "better in"], rows)))


def sums_of(seed: int) -> PoolSums:
    with quietly():
        return PoolSums.of(str(seed), sum_room(simulate(draw_room(seed)).iloc[::STEP].iloc[: 21 * DAY]))


def score(start: PooledStart, days: int, seed: int) -> list[list[float]]:
    """Return the nRMSE at each lag with the start of the package, and with another."""
    readings = simulate(draw_room(seed)).iloc[::STEP]
    train, later = readings.iloc[7 * DAY : (7 + days) * DAY], readings.iloc[21 * DAY :]
    spread, found = later["occupancy"].std(ddof=0), []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        for one in ("pooled", start):
            estimator = oc.OccupancyEstimator(random_state=0, start=one).fit(train)
            estimates = [estimator.estimate(later, lag=lag) for lag in LAGS]
            found.append([oc.metrics.rmse(later["occupancy"], people) / spread for people in estimates])
    return found


if __name__ == "__main__":
    main()
