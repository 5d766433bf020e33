"""Door counters with errors in the simulated office: accuracy of the ledger and of models trained on it.

``PYTHONPATH=tests python -m groundtruth.counter_study`` prints the table of docs/groundtruth.md.
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from groundtruth.simulated_doors import doubled, missed, off, office, rmse

import occupair as oc
from occupair.groundtruth.counters.read_passages import read_passages
from occupair.groundtruth.ledger.ledger import Ledger, build_ledger, label_readings

DAY = 1440
WEEK = 5  # counted days; the next day is error-free, for testing
CAPACITY = 35


def busy_period(single, truth, minutes, *, min_passages=8):
    """A few minutes with passages at both doors: the passages, and the change of occupancy from the start."""
    for start in truth.index[7 * 60 : DAY : 2]:
        times = pd.date_range(start, periods=minutes, freq="min")
        own = single[(single.index >= start) & (single.index < times[-1] + pd.Timedelta(minutes=1))]
        gained = truth[times] - truth[start - pd.Timedelta(minutes=1)]
        if len(own) >= min_passages and own["door"].nunique() == 2 and gained.min() >= 0:
            return own, gained
    raise AssertionError("no such period: use another seed")


def planted(single, seed):
    """Plant errors: missed exits, double counts, counter drift, and a clock 3 minutes ahead."""
    bad = missed(single, 6, way="left", seed=seed)
    bad = doubled(bad, 0.01, seed=seed)
    rng = np.random.default_rng([seed, 3])
    lost = (bad["door"] == "south") & (bad["left"] > 0) & (rng.random(len(bad)) < 0.03)
    return off(bad[~lost.to_numpy()], 3, door="south")


def write_counters(single, folder):
    """Write the files of two door counters: one logs every passage, the other a running total per minute."""
    north, south = (single[single["door"] == door] for door in ("north", "south"))
    way = np.where(north["entered"] > 0, "in", "out")
    table = pd.DataFrame({"Zeit": north.index.strftime("%d.%m.%Y %H:%M:%S"), "Richtung": way})
    table.to_csv(folder / "north.csv", index=False, sep=";")
    minutes = pd.date_range(
        south.index[0].normalize(), south.index[-1].normalize() + pd.Timedelta(days=1), freq="min"
    )
    counts = south.set_axis(south.index.floor("min")).groupby(level=0)[["entered", "left"]].sum()
    # the count of a minute is in the total at its end
    meter = counts.reindex(minutes, fill_value=0).cumsum().shift(1, fill_value=0)
    meter.rename_axis("time").rename(
        columns={"entered": "total_in", "left": "total_out"}
    ).reset_index().to_csv(folder / "south.csv", index=False)
    return folder / "north.csv", folder / "south.csv"


def error_after(train, test) -> float:
    """RMSE of the default estimator on an error-free day [people]."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # CO2 explains little of these counts, as intended
        model = oc.OccupancyEstimator(random_state=0).fit(train)
    return oc.metrics.rmse(test["occupancy"], model.estimate(test))


def measured(seed, folder) -> dict[str, float]:
    """Errors of the occupancy and of models trained on it, in one office [people]."""
    single, truth = office(WEEK + 1, seed=seed)
    air = oc.simulate_office(WEEK + 1, seed=seed).drop(columns="occupancy")
    known, clean = air.iloc[: WEEK * DAY], air.iloc[WEEK * DAY :].assign(occupancy=truth.iloc[WEEK * DAY :])
    files = write_counters(planted(single[single.index < clean.index[0]], seed), folder)
    ledger: Ledger = build_ledger(read_passages(*files), capacity=CAPACITY, readings=known)
    right, true = ledger.apply(), truth.iloc[: WEEK * DAY]
    as_counted = label_readings(ledger, known)
    return {
        "clock": float(sum(one.minutes for one in ledger.clock_corrections)),
        "corrections": len(ledger.corrections),
        "raw": rmse(ledger.occupancy, true),
        "corrected": rmse(right.occupancy, true),
        "on the truth": error_after(known.assign(occupancy=true), clean),
        "on corrected": error_after(label_readings(right, known), clean),
        "on raw, weighted": error_after(as_counted, clean),
        "on raw": error_after(
            as_counted.assign(occupancy=as_counted["occupancy"].clip(lower=0), occupancy_weight=1.0), clean
        ),
    }


if __name__ == "__main__":
    seeds = range(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
    with tempfile.TemporaryDirectory() as place:
        table = pd.DataFrame({seed: measured(seed, Path(place)) for seed in seeds}).T.rename_axis("office")
    table.loc["mean"] = table.mean()
    sys.stdout.write(f"{table.round(2).to_string()}\n")
