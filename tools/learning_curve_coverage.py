"""Coverage of the learning curve's prediction intervals, in public rooms and simulated offices.

In each room some days are labelled, and the learning curve predicts the gain of three more. Any three days
are then added, five times over, and the models with and without them are evaluated on the remaining days.

    python tools/learning_curve_coverage.py [REPEATS]
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
import pandas as pd
from label_plan_gain import full_days, join_days
from threadpoolctl import threadpool_limits

import occupair as oc
from occupair.datasets.benchmark_rooms import BENCHMARK_ROOMS, read_room
from occupair.groundtruth.planning.learning_curve import CONFIDENCE, learning_curve

LABELLED, MORE, DRAWS = (4, 7), 3, 5
REPEATS = 5
OFFICES = 3


def read_rooms() -> dict[str, pd.DataFrame]:
    simulated = {f"office {seed}": oc.simulate_office(days=16, seed=seed) for seed in range(OFFICES)}
    return simulated | {name: read_room(name) for name in BENCHMARK_ROOMS}


def measure(days: list[pd.DataFrame], n: int, rng: np.random.Generator) -> dict[str, float] | None:
    """Compare predicted and measured error and gain for one choice of ``n`` labelled days."""
    order = rng.permutation(len(days)).tolist()
    labelled, others = order[:n], order[n:]
    curve = learning_curve([days[k] for k in sorted(labelled)])
    if curve is None:
        return None
    before = oc.OccupancyEstimator(random_state=0).fit(join_days(days, labelled))
    squares = np.zeros(2)
    for _ in range(DRAWS):
        rng.shuffle(others)
        test = join_days(days, others[MORE:])
        after = oc.OccupancyEstimator(random_state=0).fit(join_days(days, labelled + others[:MORE]))
        squares += [
            oc.metrics.rmse(test["occupancy"], model.estimate(test)) ** 2 for model in (before, after)
        ]
    error, later_error = np.sqrt(squares / DRAWS)
    predicted_error, predicted_gain = curve.error(n), curve.gain(MORE)
    gain = 1 - later_error / error
    return {
        "error": error,
        "predicted error": predicted_error.value,
        "error covered": float(predicted_error.low <= error <= predicted_error.high),
        "high over low": predicted_error.high / predicted_error.low,
        "gain": gain,
        "predicted gain": predicted_gain.value,
        "gain covered": float(predicted_gain.low - 0.005 <= gain <= predicted_gain.high + 0.005),
        "gain error": abs(gain - predicted_gain.value),
    }


def main() -> None:
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else REPEATS
    results = []
    for name, readings in read_rooms().items():
        days = full_days(readings)
        for n in LABELLED:
            for repeat in range(repeats):
                found = measure(days, n, np.random.default_rng([repeat, n]))
                results += [{"room": name, "labelled": n} | found] if found else []
        print(name, file=sys.stderr)
    table = pd.DataFrame(results)
    print(table.groupby("room").mean().round(3).to_string())
    print(table.groupby("labelled").mean(numeric_only=True).round(3).to_string())
    ratio = table.groupby("labelled")["high over low"].median().round(2).to_dict()
    print(f"median ratio of high to low, by labelled days: {ratio}")
    print(f"{len(table)} runs; standard deviation of the gains {table['gain'].std():.3f}")
    coverage = [f"{table[f'{what} covered'].mean():.0%} for {what}s" for what in ("error", "gain")]
    print(f"coverage of the {CONFIDENCE:.0%} interval: {', '.join(coverage)}")


if __name__ == "__main__":
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        main()
