"""Accuracy with a sensor that sends rarely: the public rooms thinned to 5, 10, 15 and 30 min, 10 % lost.

In every fold of the benchmark, one model is trained on the thinned readings themselves, and one on all
readings. Both estimate the held-out days from thinned readings as the live service does: the second one on
the grid of its training, with CO2 held between readings. The count that the room shows is scored at every
published head count, also between two readings; it is unknown once the sensor is offline. Read-outs that
training starts from are of other rooms.

    python -m tools.sparse_readings [--jobs 2] [--rooms NAME ...]
"""

from __future__ import annotations

import argparse
import warnings
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

import occupair as oc
from occupair.benchmark.room_starts import start_without
from occupair.datasets.benchmark_rooms import BENCHMARK_ROOMS, ROOMS, read_room
from occupair.folds import N_FOLDS, split_days
from occupair.live.messages import STALE_AFTER
from occupair.progress import quietly, track
from occupair.readings.gaps import default_gap
from occupair.readings.grid import put_on_grid
from occupair.readings.source import Source
from occupair.report.text_table import Table, markdown

INTERVALS = (5.0, 10.0, 15.0, 30.0)  # [min]
LOST = 0.1
CONFIDENCE = 0.9
OWN, DENSE = "trained on such readings", "trained on all readings"
SOURCE = Source("thinned readings")


class Cell(NamedTuple):
    """What to measure: one fold of a room."""

    room: str
    fold: int


@cache
def readings_of(room: str) -> pd.DataFrame:
    """Return the readings of a public room, without optional sensors."""
    return read_room(room)[["co2", "ventilation", "occupancy"]]


def thin(readings: pd.DataFrame, every: float, interval: float) -> pd.DataFrame:
    """Return a reading every ``every`` minutes, from a random reading of each day on, without the lost ones.

    Examples
    --------
    >>> times = pd.date_range("2024-01-08", periods=1440, freq="min")
    >>> kept = thin(pd.DataFrame({"co2": 400.0}, index=times), every=10.0, interval=1.0)
    >>> sorted(set((np.diff(kept.index) / pd.Timedelta("1min")).tolist()))
    [10.0, 20.0]
    """
    random = np.random.default_rng(round(every))
    dates = pd.DatetimeIndex(readings.index).normalize()
    minute = np.asarray((readings.index - dates) / pd.Timedelta(minutes=1))
    days = dates.unique()
    phase = interval * random.integers(round(every / interval), size=len(days))
    sent = np.isclose((minute - phase[days.get_indexer(dates)]) % every, 0.0)
    return readings[sent & (random.random(len(readings)) >= LOST)]


def shown(estimates: pd.DataFrame, times: pd.DatetimeIndex, every: float) -> pd.DataFrame:
    """Return what the room shows at some times: the newest estimate of the day, NaN if it is too old."""
    stale_after = pd.Timedelta(minutes=max(STALE_AFTER, default_gap(every)))
    held = estimates.reindex(times, method="ffill", tolerance=stale_after)
    made = pd.Series(estimates.index.normalize(), estimates.index).reindex(times, method="ffill")
    return held[(made == times.normalize()).to_numpy()].reindex(times)


def score(
    model: oc.OccupancyEstimator, sent: pd.DataFrame, test: pd.DataFrame, every: float, mean: float
) -> dict[str, float]:
    """Return sums of squared errors, their reference, and covered and known times."""
    grid = put_on_grid(sent, interval=model.interval_, longest_gap=default_gap(every), source=SOURCE)
    found: dict[str, float] = {}
    truth = test["occupancy"].to_numpy()
    for lag in (0, 20):
        estimates = model.estimate(grid, lag=lag, interval=CONFIDENCE)
        if lag == 0:  # those between two readings are made only when the second one arrives
            estimates = estimates[estimates.index.isin(sent.index)]
        count = shown(estimates, pd.DatetimeIndex(test.index), every)
        known = count["people"].notna().to_numpy()
        found[f"square_{lag}"] = float(np.sum((count["people"].to_numpy() - truth)[known] ** 2))
        found[f"reference_{lag}"] = float(np.sum((truth - mean)[known] ** 2))
        if lag == 0:
            inside = ((count["low"].round() <= truth) & (truth <= count["high"].round())).to_numpy()
            occupied = known & (truth > 0)
            found |= {"covered": float(inside[occupied].sum()), "occupied": float(occupied.sum())}
            found |= {"known": float(known.sum()), "times": float(len(truth))}
    return found


def measure(cell: Cell) -> list[dict[str, Any]]:
    """Return the scores of a fold, for each interval and each model."""
    warnings.simplefilter("ignore", UserWarning)
    readings, interval = readings_of(cell.room), ROOMS[cell.room].interval
    train, test = split_days(readings)[cell.fold]
    mean = float(train["occupancy"].mean())
    found: list[dict[str, Any]] = []
    with threadpool_limits(1), quietly():
        settings: dict[str, Any] = {"random_state": 0, "verbose": False, "start": start_without(cell.room)}
        dense = oc.OccupancyEstimator(**settings).fit(train)
        days = test.drop(columns="occupancy")
        found.append({"every": 0.0, "model": DENSE} | score(dense, days, test, interval, mean))
        for every in INTERVALS:
            sparse = thin(readings, every, interval)
            given, sent = (sparse[sparse.index.isin(part.index)] for part in (train, test))
            sent = sent.drop(columns="occupancy")
            labelled = put_on_grid(given, interval=every, complete=False, source=SOURCE)  # as ``fit`` reads
            own = oc.OccupancyEstimator(**settings).fit(labelled)
            for name, model in ((OWN, own), (DENSE, dense)):
                found.append({"every": every, "model": name} | score(model, sent, test, every, mean))
    return [{"room": cell.room} | one for one in found]


def scores(found: pd.DataFrame) -> pd.DataFrame:
    """Return nRMSE at both lags, coverage and the known share of time, by interval, model and room."""
    table = found.groupby(["every", "model", "room"]).sum()
    return pd.DataFrame(
        {
            "0": np.sqrt(table["square_0"] / table["reference_0"]),
            "20": np.sqrt(table["square_20"] / table["reference_20"]),
            "coverage": table["covered"] / table["occupied"],
            "known": table["known"] / table["times"],
        }
    )


def mean_table(table: pd.DataFrame) -> Table:
    """Return the means over rooms for each interval."""
    means = table.groupby(level=["every", "model"]).mean()
    rows = []
    for every in means.index.unique("every"):
        dense = means.loc[(every, DENSE)]
        own = means.loc[(every, OWN)] if (every, OWN) in means.index else dense
        name = f"{every:g} min, {100 * LOST:g} % lost" if every else "1 or 5 min, all of them"
        rows.append([name, _pair(own), _percent(own), _pair(dense), _percent(dense)])
    return Table(["readings", OWN, "covered", DENSE, "covered"], rows)


def room_table(table: pd.DataFrame, model: str) -> Table:
    """Return nRMSE of one model in each room and for each interval."""
    rows = [
        [room, *(_pair(table.loc[(every, name, room)]) for every, name in _columns(model))]
        for room in table.index.unique("room")
    ]
    return Table(["room", "all readings", *(f"{every:g} min" for every in INTERVALS)], rows)


def _columns(model: str) -> list[tuple[float, str]]:
    return [(0.0, DENSE), *((every, model) for every in INTERVALS)]


def _pair(row: pd.Series) -> str:
    return f"{row['0']:.3f} / {row['20']:.3f}"


def _percent(row: pd.Series) -> str:
    return f"{100 * row['coverage']:.0f} %"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--rooms", nargs="+", default=list(BENCHMARK_ROOMS))
    given = parser.parse_args()
    todo = [Cell(room, fold) for room in given.rooms for fold in range(N_FOLDS)]
    with ProcessPoolExecutor(given.jobs, get_context("spawn")) as pool:
        futures = [pool.submit(measure, cell) for cell in todo]
        found = [one for future in track(futures, "measuring", show=True) for one in future.result()]
    table = scores(pd.DataFrame(found))
    for title, part in (
        ("Mean of the rooms, nRMSE at once / after 20 min", mean_table(table)),
        (f"Rooms, model {OWN}", room_table(table, OWN)),
        (f"Rooms, model {DENSE}", room_table(table, DENSE)),
    ):
        print(f"## {title}\n\n{markdown(part)}\n")
    print(f"A count is shown for {100 * table['known'].min():.1f} % of the time or more in every room.")


if __name__ == "__main__":
    main()
