"""How far what the learning curve says of more labelled days holds, on public rooms and simulated offices.

Of each room some days are labelled, and the curve is asked what three more would gain. Then any three are
added, five times over, and both models are asked about the rest of the days.

    python tools/learning_curve_coverage.py [REPEATS]
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
import pandas as pd
from label_plan_gain import joined, thinned
from threadpoolctl import threadpool_limits

import occupair as oc
from occupair.datasets.benchmark_rooms import ROOMS, read_room
from occupair.groundtruth.planning.learning_curve import SURE, learning_curve
from occupair.readings.schema import date_slices

LABELLED, MORE, DRAWS = (4, 7), 3, 5
REPEATS = 5
OFFICES = 3


def rooms() -> dict[str, pd.DataFrame]:
    made = {f"office {seed}": oc.simulate_office(days=16, seed=seed) for seed in range(OFFICES)}
    return made | {name: read_room(name) for name in ROOMS if ROOMS[name].dataset != "uci864"}


def one_run(days: list[pd.DataFrame], n: int, rng: np.random.Generator) -> dict[str, float] | None:
    order = rng.permutation(len(days)).tolist()
    labelled, rest = order[:n], order[n:]
    curve = learning_curve([days[k] for k in sorted(labelled)])
    if curve is None:
        return None
    before = oc.OccupancyEstimator(random_state=0).fit(joined(days, labelled))
    squares = np.zeros(2)
    for _ in range(DRAWS):
        rng.shuffle(rest)
        clean = joined(days, rest[MORE:])
        after = oc.OccupancyEstimator(random_state=0).fit(joined(days, labelled + rest[:MORE]))
        squares += [oc.metrics.rmse(clean["occupancy"], one.estimate(clean)) ** 2 for one in (before, after)]
    error, later = np.sqrt(squares / DRAWS)
    said, gain = curve.error(n), curve.gain(MORE)
    true = 1 - later / error
    return {
        "error": error,
        "said": said.value,
        "error in range": float(said.low <= error <= said.high),
        "high over low": said.high / said.low,
        "gain": true,
        "gain said": gain.value,
        "gain in range": float(gain.low - 0.005 <= true <= gain.high + 0.005),
        "gain off": abs(true - gain.value),
    }


def main() -> None:
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else REPEATS
    rows = []
    for name, readings in rooms().items():
        readings = thinned(readings)
        days = [day for day in (readings.iloc[rows] for rows in date_slices(readings)) if len(day) >= 144]
        for n in LABELLED:
            for repeat in range(repeats):
                found = one_run(days, n, np.random.default_rng([repeat, n]))
                rows += [{"room": name, "labelled": n} | found] if found else []
        print(name, file=sys.stderr)
    table = pd.DataFrame(rows)
    print(table.groupby("room").mean().round(3).to_string())
    print(table.groupby("labelled").mean(numeric_only=True).round(3).to_string())
    print(
        f"median of high over low: {table.groupby('labelled')['high over low'].median().round(2).to_dict()}"
    )
    print(f"{len(table)} runs; standard deviation of the gains {table['gain'].std():.3f}")
    held = [f"{table[f'{what} in range'].mean():.0%} of the {what}s" for what in ("error", "gain")]
    print(f"ranges should hold {SURE:.0%}: they held {' and '.join(held)}")


if __name__ == "__main__":
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        main()
