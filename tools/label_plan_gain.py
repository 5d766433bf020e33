"""What choosing days to label gains over taking any: on public rooms, days the models were not trained on.

Four days of a room are labelled, and of half of the others three more: those that ``plan`` names first, or
any three. Errors are on the rest of the days, over that of the four alone; below 1 is better.

    python tools/label_plan_gain.py [REPEATS]
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

import occupair as oc
from occupair.datasets.benchmark_rooms import ROOMS, read_room
from occupair.groundtruth.planning import plan as planning
from occupair.readings.schema import date_slices

LABELLED, MORE, ANY = 4, 3, 5
MOST = 24  # days of a room that a repeat takes
REPEATS = 7


def thinned(readings: pd.DataFrame) -> pd.DataFrame:
    """Take one reading in five minutes, for speed."""
    return readings[readings.index.minute % 5 == 0]


def one_run(days: list[pd.DataFrame], rng: np.random.Generator) -> dict[str, float]:
    order = rng.permutation(len(days))[:MOST].tolist()
    labelled, rest = order[:LABELLED], order[LABELLED:]
    pool, test = rest[: max(2 * MORE, len(rest) // 2)], rest[max(2 * MORE, len(rest) // 2) :]
    clean = joined(days, test)

    def error(which: list[int]) -> float:
        model = oc.OccupancyEstimator(random_state=0).fit(joined(days, which))
        return oc.metrics.rmse(clean["occupancy"], model.estimate(clean))

    known = joined(days, labelled)
    unknown = joined(days, pool).assign(occupancy=np.nan)
    plan = planning.plan_labels(pd.concat([known, unknown]).sort_index(), days=MORE)
    number = {days[k].index[0].normalize(): k for k in pool}
    before = error(labelled)
    any_three = [error(labelled + rng.permutation(pool)[:MORE].tolist()) for _ in range(ANY)]
    return {
        "planned": error(labelled + [number[day.date] for day in plan.days]) / before,
        "any three": float(np.mean(any_three)) / before,
        "all to choose from": error(labelled + pool) / before,
    }


def joined(days: list[pd.DataFrame], which: list[int]) -> pd.DataFrame:
    return pd.concat([days[k] for k in sorted(which)])


def main() -> None:
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else REPEATS
    planning.learning_curve = lambda *_, **__: None  # how many is not asked here
    rows = []
    for name in ROOMS:
        readings = thinned(read_room(name))
        days = [readings.iloc[rows] for rows in date_slices(readings)]
        days = [day for day in days if len(day) >= 144]
        if len(days) < LABELLED + 3 * MORE:
            continue
        for repeat in range(repeats):
            rows.append({"room": name} | one_run(days, np.random.default_rng(repeat)))
        print(f"{name}: {repeats} runs", file=sys.stderr)
    table = pd.DataFrame(rows)
    apart = table["planned"] - table["any three"]
    print(table.groupby("room").mean().round(3).to_string())
    print(table.drop(columns="room").mean().round(3).to_string())
    print(f"planned less any three: {apart.mean():.3f}, standard error {apart.std() / len(apart) ** 0.5:.3f}")


if __name__ == "__main__":
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        main()
