"""Benefit of planned over random days to label, in public rooms, on held-out days.

Four days of a room are labelled. Three more are chosen from half of the other days: those that
``plan_labels`` recommends first, or random ones. Errors on the held-out days are relative to those of the
four days alone; below 1 is better.

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

LABELLED, MORE, RANDOM_DRAWS = 4, 3, 5
MAX_DAYS = 24  # days of a room used in a run
REPEATS = 7


def full_days(readings: pd.DataFrame) -> list[pd.DataFrame]:
    """Split readings, thinned to one in five minutes for speed, into days of at least 12 hours."""
    thinned = readings[readings.index.minute % 5 == 0]
    days = [thinned.iloc[rows] for rows in date_slices(thinned)]
    return [day for day in days if len(day) >= 144]


def join_days(days: list[pd.DataFrame], which: list[int]) -> pd.DataFrame:
    return pd.concat([days[k] for k in sorted(which)])


def measure(days: list[pd.DataFrame], rng: np.random.Generator) -> dict[str, float]:
    """Relative errors after labelling planned days, random days and all candidate days."""
    order = rng.permutation(len(days))[:MAX_DAYS].tolist()
    labelled, others = order[:LABELLED], order[LABELLED:]
    split = max(2 * MORE, len(others) // 2)
    candidates, held_out = others[:split], others[split:]
    test = join_days(days, held_out)

    def error(which: list[int]) -> float:
        model = oc.OccupancyEstimator(random_state=0).fit(join_days(days, which))
        return oc.metrics.rmse(test["occupancy"], model.estimate(test))

    known = join_days(days, labelled)
    unknown = join_days(days, candidates).assign(occupancy=np.nan)
    plan = planning.plan_labels(pd.concat([known, unknown]).sort_index(), days=MORE)
    number = {days[k].index[0].normalize(): k for k in candidates}
    before = error(labelled)
    random = [error(labelled + rng.permutation(candidates)[:MORE].tolist()) for _ in range(RANDOM_DRAWS)]
    return {
        "planned": error(labelled + [number[day.date] for day in plan.days]) / before,
        "random": float(np.mean(random)) / before,
        "all candidates": error(labelled + candidates) / before,
    }


def main() -> None:
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else REPEATS
    planning.learning_curve = lambda *_, **__: None  # only the choice of days is measured
    results = []
    for name in ROOMS:
        days = full_days(read_room(name))
        if len(days) < LABELLED + 3 * MORE:
            continue
        for repeat in range(repeats):
            results.append({"room": name} | measure(days, np.random.default_rng(repeat)))
        print(f"{name}: {repeats} runs", file=sys.stderr)
    table = pd.DataFrame(results)
    difference = table["planned"] - table["random"]
    standard_error = difference.std() / len(difference) ** 0.5
    print(table.groupby("room").mean().round(3).to_string())
    print(table.drop(columns="room").mean().round(3).to_string())
    print(f"planned minus random: {difference.mean():.3f}, standard error {standard_error:.3f}")


if __name__ == "__main__":
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        main()
