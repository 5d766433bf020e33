"""Error of the default estimator trained on single head counts, in public rooms, on held-out days.

In every fold of the benchmark, single readings of the training days between 6:00 and 22:00 are drawn at
random, and only they keep their head count. Between them, people are inferred from CO2, with closed hours of
the room that are none, as usual (midnight to 5:00), or given.

    python tools/single_counts.py [--seeds 5] [--rooms NAME ...] [--counts 10 30 100]
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

import occupair as oc
from occupair.benchmark.few_labelled_days import FIRST_AND_LAST
from occupair.datasets.benchmark_rooms import BENCHMARK_ROOMS, read_room
from occupair.folds import split_days
from occupair.progress import quietly

FIRST_HOUR, LAST_HOUR = 6, 22  # head counts are entered in the daytime
COUNTS = (10, 30, 100)
SEEDS = 5
CLOSED: dict[str, Any] = {"none": (), "usual": None, "given": "22:00-06:00"}


def daytime_readings(train: pd.DataFrame) -> NDArray[np.int64]:
    """Return the positions of the readings at which somebody may enter a head count."""
    hour = pd.DatetimeIndex(train.index).hour
    return np.flatnonzero((hour >= FIRST_HOUR) & (hour < LAST_HOUR))


def draw_counts(train: pd.DataFrame, n: int, rng: np.random.Generator) -> pd.DataFrame:
    """Return readings of which only ``n`` in the daytime have a head count, at least one of them above 0."""
    daytime = daytime_readings(train)
    while True:
        chosen = rng.choice(daytime, size=n, replace=False)
        counts = pd.Series(np.nan, train.index)
        counts.iloc[chosen] = train["occupancy"].iloc[chosen]
        if counts.max() > 0:
            return train.assign(occupancy=counts)


def measure(name: str, counts: list[int], seeds: int, variants: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the squared error of each variant, and of the mean count, for each fold, number and seed."""
    found = []
    for number, (train, test) in enumerate(split_days(read_room(name))):
        truth, mean = test["occupancy"].to_numpy(), train["occupancy"].mean()
        reference = float(np.sum((truth - mean) ** 2))
        for n in counts:
            for seed in range(seeds):
                labelled = draw_counts(train, n, np.random.default_rng([seed, n, number]))
                for variant, closed in variants.items():
                    model = oc.OccupancyEstimator(random_state=0, **closed).fit(labelled)
                    for lag in FIRST_AND_LAST:
                        people = model.estimate(test.drop(columns="occupancy"), lag=lag).to_numpy()
                        row = {"room": name, "counts": n, "lag": lag, "variant": variant}
                        square = float(np.sum((people - truth) ** 2))
                        found.append(row | {"square": square, "reference": reference})
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--rooms", nargs="+", default=list(BENCHMARK_ROOMS))
    parser.add_argument("--counts", nargs="+", type=int, default=list(COUNTS))
    parser.add_argument("--variants", nargs="+", default=list(CLOSED), choices=list(CLOSED))
    given = parser.parse_args()
    variants = {name: {"closed": CLOSED[name]} for name in given.variants}
    squares = []
    with quietly():
        for name in given.rooms:
            squares += measure(name, given.counts, given.seeds, variants)
    sums = pd.DataFrame(squares).groupby(["counts", "lag", "variant", "room"], sort=False).sum()
    nrmse = np.sqrt(sums["square"] / sums["reference"]).unstack("room")
    print(nrmse.assign(mean=nrmse.mean(axis=1)).round(3).to_string())


if __name__ == "__main__":
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        main()
