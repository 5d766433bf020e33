"""Errors planted in simulated door counters: what the ledger proposes and how far the labels are off.

python tools/door_counter_errors.py        # 20 seeds, about ten minutes on two cores
python tools/door_counter_errors.py 3      # 3 seeds
"""

import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from rich.console import Console
from rich.progress import track

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from groundtruth.simulated_doors import doubled, missed, off, office, swapped
from groundtruth.simulated_lectures import lectures

from occupair.groundtruth.counters.counter_records import passages_from_records
from occupair.groundtruth.ledger.ledger import Ledger, build_ledger, label_readings
from occupair.readings.source import Source

DAYS = 5
COUNTERS = {"events": None, "1 min": 1, "5 min": 5, "15 min": 15}
Planted = Callable[[pd.DataFrame, np.random.Generator], pd.DataFrame]


def overnight(single: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Add somebody who enters in the evening of the third day and leaves early on the fourth."""
    midnight = single.index[0].normalize() + pd.Timedelta(days=3)
    times = [
        midnight - pd.Timedelta(minutes=240),
        midnight + pd.Timedelta(minutes=int(rng.integers(120, 300))),
    ]
    stay = pd.DataFrame({"door": "north", "entered": [1, 0], "left": [0, 1], "weight": 1.0}, index=times)
    return pd.concat([single, stay]).sort_index()


def hole(single: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Remove the passages of one door from 10 to 16 on a day."""
    day = single.index[0].normalize() + pd.Timedelta(days=int(rng.integers(DAYS)))
    span = (single.index >= day + pd.Timedelta(hours=10)) & (single.index < day + pd.Timedelta(hours=16))
    return single[~(span & (single["door"] == "south").to_numpy())]


def early_end(single: pd.DataFrame, _: np.random.Generator) -> pd.DataFrame:
    """End the log of one door a day before the other."""
    late = single.index >= single.index[0].normalize() + pd.Timedelta(days=DAYS - 1)
    return single[~(late & (single["door"] == "south").to_numpy())]


PLANTED: dict[str, Planted] = {
    "none": lambda single, _: single,
    "15 missed exits": lambda single, rng: missed(single, 15, seed=rng),
    "3 % of entries twice": lambda single, rng: doubled(single, 0.03, seed=rng),
    "drift: 10 % of exits missed at one door": lambda single, rng: single[
        ~((single["door"] == "south") & (single["left"] > 0) & (rng.random(len(single)) < 0.1)).to_numpy()
    ],
    "clock 3 min ahead": lambda single, _: off(single, 3),
    "clock 12 min behind": lambda single, _: off(single, -12),
    "directions swapped": lambda single, _: swapped(single),
    "overnight stay": overnight,
    "hole of 6 h": hole,
    "log ends a day early": early_end,
}


def as_logged(single: pd.DataFrame, minutes: int | None) -> pd.DataFrame:
    """Return the passages as read from a log of single passages, or of counts per interval, with zeros."""
    if minutes is None:
        return passages_from_records(single, source=Source("doors"), single=True)
    tables = []
    for door, own in single.groupby("door"):
        first, last = own.index[0].normalize(), own.index[-1].normalize() + pd.Timedelta(days=1)
        times = pd.date_range(first, last, freq=f"{minutes}min", inclusive="left")
        counts = own[["entered", "left"]].groupby(own.index.floor(f"{minutes}min")).sum()
        tables.append(counts.reindex(times, fill_value=0).assign(door=door))
    return passages_from_records(
        pd.concat(tables).astype({"entered": float, "left": float}), source=Source("doors")
    )


def measure(ledger: Ledger, truth: pd.Series) -> dict[str, float]:
    """Errors of the labels with all proposals applied."""
    labels = label_readings(ledger.apply()).reindex(truth.index)
    wrong = (labels["occupancy"] - truth).abs()
    used = labels["occupancy_weight"].fillna(0) > 0
    error = (wrong[used] ** 2).mean() ** 0.5 if used.any() else 0.0
    return {
        "RMSE": error,
        "wrong": float(((wrong > 0) & (labels["occupancy_weight"] >= 0.999)).sum()),
        "unlabelled": float((~used).mean() * 100),
        "corrections": len(ledger.corrections),
    }


def with_stay(truth: pd.Series, single: pd.DataFrame) -> pd.Series:
    """Return the true occupancy from passages without errors, over midnight."""
    net = (single["entered"] - single["left"]).groupby(single.index.floor("min")).sum()
    return net.reindex(truth.index, fill_value=0).cumsum()


def planted_errors(seeds: int) -> list[str]:
    """Return a table of the errors of the labels, mean over the seeds."""
    found = []
    for seed in track(range(seeds), console=Console(stderr=True)):
        single, truth = office(DAYS, seed=seed)
        for name, plant in PLANTED.items():
            planted = plant(single, np.random.default_rng([seed, 5]))
            true = with_stay(truth, planted) if plant is overnight else truth
            for counter in ("events", "1 min"):
                ledger = build_ledger(as_logged(planted, COUNTERS[counter]))
                found.append({"error": name, "counter": counter, **measure(ledger, true)})
    mean = pd.DataFrame(found).groupby(["error", "counter"], sort=False).mean()
    lines = [
        "| error | counter | RMSE [people] | wrong minutes at weight 1 | not labelled [%] | corrections |"
    ]
    lines += ["| --- " * 6 + "|"]
    return lines + [
        f"| {name} | {counter} | {row['RMSE']:.2f} | {row['wrong']:.1f} | {row['unlabelled']:.1f} "
        f"| {row['corrections']:.1f} |"
        for (name, counter), row in mean.iterrows()
    ]


def false_alarms(seeds: int) -> list[str]:
    """Return a table of the findings in logs without errors, from a Monday to the Friday after next."""
    lines = ["", "| room without errors | counter | logs with a finding | findings |", "| --- " * 4 + "|"]
    for room, simulate in (("office", office), ("lecture room", lectures)):
        kinds: dict[str, list[set[str]]] = {counter: [] for counter in COUNTERS}
        for seed in track(range(seeds), console=Console(stderr=True)):
            single, _ = simulate(12, seed=seed)
            for counter, minutes in COUNTERS.items():
                issues = build_ledger(as_logged(single, minutes)).issues
                kinds[counter].append({issue.kind for issue in issues})
        for counter, own in kinds.items():
            number = Counter(kind for one in own for kind in one)
            said = ", ".join(f"`{kind}` {count}" for kind, count in sorted(number.items())) or "none"
            lines.append(f"| {room} | {counter} | {sum(map(bool, own))} of {len(own)} | {said} |")
    return lines


if __name__ == "__main__":
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    for table in (planted_errors, false_alarms):
        sys.stdout.write("\n".join(table(number)) + "\n")
        sys.stdout.flush()
