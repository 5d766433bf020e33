"""Accuracy and coverage of the estimates in hindsight, and of other sets of smoothings.

In every fold of the benchmark the default estimator is trained as in ``make lead``, with read-outs and shapes
of other rooms only, and estimates the held-out days live, after 20 minutes and in hindsight. The rooms are
the public ones, altered ones and simulated offices; and simulated rooms of random size, use and ventilation,
trained on twelve days with head counts. "(22)" is the paper's estimator in hindsight.

The set of smoothings is chosen for each room on rooms of other origin, by the mean logarithm of the nRMSE.

    python -m tools.hindsight [--jobs 2] [--simulated 12] [--first-seed 400]
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import cache
from multiprocessing import get_context
from time import process_time
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

import occupair as oc
from occupair.benchmark.leave_one_room_out import best_on_others
from occupair.benchmark.room_variants import OFFICES, origins, study_rooms
from occupair.datasets.benchmark_rooms import BENCHMARK_ROOMS, ROOMS
from occupair.folds import N_FOLDS, split_days
from occupair.progress import quietly, track
from occupair.readings.schema import interval_of
from occupair.report.text_table import Table, markdown
from occupair.room.baseline_drift import Baseline
from occupair.room.day_smoothing import DaySmoother
from occupair.room.fit_and_estimate import Z_MAX, daily_lows, episodes_by_date, estimate_readings
from occupair.room.hindsight_training import SMOOTHERS, fit_hindsight
from occupair.room.linked_elm import RIDGES
from occupair.room.members import TrainingSettings
from occupair.room.model import RoomModel
from occupair.room.pooled_start import PooledStart, shipped_start
from occupair.room.pooling import N_HIDDEN, RoomSums, pool, sum_room
from occupair.room.training import fit_room
from occupair.smoothing import smoothing_in_readings
from tools.blind_rooms import DAY, draw_room, simulate

Array = NDArray[np.float64]

SIMULATED, SIMULATED_TRAINING = "simulated", 12  # name of the rooms, and training days of each
LIVE, REFINED, HINDSIGHT, PAPER = "live", "20 min", "hindsight", "(22)"
ALL = "all, moved"


def _is_single(one: DaySmoother, name: str) -> bool:
    return all(not value or field == name for field, value in one._asdict().items())


SETS: dict[str, tuple[DaySmoother, ...]] = {
    "none": (DaySmoother(),),
    "quadratic": tuple(one for one in SMOOTHERS if _is_single(one, "quadratic")),
    "median": tuple(one for one in SMOOTHERS if _is_single(one, "median")),
    "bilateral": tuple(one for one in SMOOTHERS if _is_single(one, "alike")),
    "all": tuple(one for one in SMOOTHERS if not one.late),
    ALL: SMOOTHERS,
}
"""Sets of smoothings to choose from; the last one is that of the default estimator."""


class Cell(NamedTuple):
    """What to measure: one fold of a room, or of a simulated room the seed."""

    room: str
    fold: int


class Found(NamedTuple):
    """Sums of one fold."""

    squares: dict[str, float]  # of the errors by estimate, and by set of smoothings
    reference: float  # squares of the differences from the mean head count of training
    covered: dict[str, Array]  # readings, those covered, occupied ones, those covered
    seconds: dict[str, float]  # of processor time


@cache
def rooms_of_study() -> dict[str, pd.DataFrame]:
    return study_rooms()


@cache
def sums_of(name: str) -> RoomSums:
    return sum_room(rooms_of_study()[name])


def start_for(room: str) -> PooledStart:
    """Return read-outs and shapes of rooms of other origin."""
    if room.startswith(SIMULATED):
        return shipped_start()
    return pool({name: sums_of(name) for name in ROOMS if name not in origins(room)})


def split(cell: Cell) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the readings to train on and to estimate."""
    if cell.room.startswith(SIMULATED):
        readings = simulate(draw_room(cell.fold))
        return readings.iloc[: SIMULATED_TRAINING * DAY], readings.iloc[14 * DAY :]
    return split_days(rooms_of_study()[cell.room])[cell.fold]


def measure(cell: Cell) -> Found:
    """Train and estimate one fold."""
    warnings.simplefilter("ignore", UserWarning)
    (train, test), start = split(cell), start_for(cell.room)
    truth, readings = test["occupancy"].to_numpy(), test.drop(columns="occupancy")
    interval = interval_of(train)
    settings = TrainingSettings(
        interval,
        smoothing_in_readings(10, interval),
        Z_MAX,
        N_HIDDEN,
        RIDGES,
        (0,),
        start=start,
        verbose=False,
    )
    squares, covered, seconds = {}, {}, {}
    with threadpool_limits(1), quietly():
        dates, began = episodes_by_date(train), process_time()
        model, held_out = fit_room(dates, settings, start.shapes.get("ventilation" in train.columns))
        seconds["training"] = process_time() - began
        model = replace(model, baseline=Baseline.fit(daily_lows(train), interval))
        for name, lag, hindsight in ((LIVE, 0, False), (REFINED, 20, False), (HINDSIGHT, 20, True)):
            began = process_time()
            table = _estimate(model, readings, lag, hindsight=hindsight)
            seconds[name] = process_time() - began
            squares[name] = float(np.sum((table["people"] - truth) ** 2))
            covered[name] = _covered(table, truth)
        refined = held_out.by_lag[held_out.training.lags_in_readings[-1]]
        for name, smoothers in SETS.items():
            began = process_time()
            found, _ = fit_hindsight(dates, held_out.training, refined, held_out.hours, smoothers)
            seconds[f"training, {name}"] = process_time() - began
            table = _estimate(replace(model, hindsight=found), readings, 20, hindsight=True)
            squares[name] = float(np.sum((table["people"] - truth) ** 2))
        if cell.room in BENCHMARK_ROOMS:
            paper = oc.OccupancyEstimator.paper(n_draws=1, random_state=0, verbose=False).fit(train)
            squares[PAPER] = float(np.sum((paper.estimate(readings, mode="hindsight") - truth) ** 2))
    seconds["readings"] = float(len(test))
    return Found(squares, float(np.sum((truth - train["occupancy"].mean()) ** 2)), covered, seconds)


def _estimate(model: RoomModel, readings: pd.DataFrame, lag: float, *, hindsight: bool) -> pd.DataFrame:
    return estimate_readings(
        readings,
        model,
        wait=int(lag / model.interval),
        confidence=0.9,
        verbose=False,
        hindsight=hindsight,
    )


def _covered(table: pd.DataFrame, truth: Array) -> Array:
    held = ((table["low"] <= truth) & (truth <= table["high"])).to_numpy()
    return np.array([truth.size, held.sum(), (truth > 0).sum(), held[truth > 0].sum()], dtype=float)


def group_of(room: str) -> str:
    """Return the name of the group of a room."""
    if room in BENCHMARK_ROOMS:
        return "benchmark rooms"
    if room in OFFICES:
        return "simulated offices"
    if room.startswith(SIMULATED):
        return "simulated rooms"
    return "altered rooms" if "," in room else "UCI rooms"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--simulated", type=int, default=12)
    parser.add_argument("--first-seed", type=int, default=400)
    given = parser.parse_args()
    seeds = range(given.first_seed, given.first_seed + given.simulated)
    cells = [Cell(name, fold) for name in rooms_of_study() for fold in range(N_FOLDS)]
    cells += [Cell(f"{SIMULATED}-{seed}", seed) for seed in seeds]
    with ProcessPoolExecutor(given.jobs, get_context("spawn")) as pool_:
        futures = [pool_.submit(measure, cell) for cell in cells]
        found = [future.result() for future in track(futures, "measuring", show=True)]
    report(cells, found)


def report(cells: Sequence[Cell], found: Sequence[Found]) -> None:
    """Print all tables."""
    by_room: dict[str, list[Found]] = {}
    for cell, one in zip(cells, found, strict=True):
        by_room.setdefault(cell.room, []).append(one)
    nrmse = pd.DataFrame(
        {room: _nrmse(folds) for room, folds in by_room.items()}
    ).T  # by room, a column for each estimate and each set
    print("# Estimates in hindsight\n\nnRMSE, and coverage of the 90 % interval [%].\n")
    rows = [_row(room, nrmse.loc[[room]], folds) for room, folds in by_room.items()]
    for group in dict.fromkeys(group_of(room) for room in by_room):
        some = [room for room in by_room if group_of(room) == group]
        rows.append(_row(f"mean of {len(some)} {group}", nrmse.loc[some], *(by_room[room] for room in some)))
    print(markdown(Table(HEADS, rows)))
    print("\n## Sets of smoothings\n\nRatio of the nRMSE to that of 20 min, geometric mean over rooms.\n")
    ratio = np.log(nrmse[list(SETS)].div(nrmse[REFINED], axis=0))
    groups = ratio.groupby([group_of(room) for room in nrmse.index], sort=False).mean()
    rows = [[name, *(f"{np.exp(value):.3f}" for value in groups[name])] for name in SETS]
    print(markdown(Table(["set", *groups.index], rows)))
    print(f"\n{_choices(nrmse)}\n{_times(found)}")


HEADS = [
    "room",
    LIVE,
    REFINED,
    HINDSIGHT,
    PAPER,
    *(f"{what}, {name}" for name in (REFINED, HINDSIGHT) for what in ("covered", "occupied")),
]


def _nrmse(folds: Iterable[Found]) -> pd.Series[float]:
    squares = pd.DataFrame([one.squares for one in folds]).sum(min_count=1)
    return np.sqrt(squares / sum(one.reference for one in folds))


def _row(name: str, nrmse: pd.DataFrame, *rooms: Sequence[Found]) -> list[str]:
    """Return a row of the table of scores, the mean over rooms."""
    means = nrmse.reindex(columns=[LIVE, REFINED, HINDSIGHT, PAPER]).mean()
    cells = ["–" if np.isnan(value) else f"{value:.3f}" for value in means]
    for estimate in (REFINED, HINDSIGHT):
        counts = np.array([sum(one.covered[estimate] for one in folds) for folds in rooms])
        shares = [counts[:, 1] / counts[:, 0], counts[:, 3] / np.maximum(counts[:, 2], 1)]
        cells += [f"{100 * share.mean():.1f}" for share in shares]
    return [name, *cells]


def _choices(nrmse: pd.DataFrame) -> str:
    """Describe the choice for each benchmark room on the other rooms, and the comparison with 20 min."""
    scores = nrmse[list(SETS)].rename_axis(index="room", columns="candidate").stack()
    chosen = {room: best_on_others(scores, room) for room in BENCHMARK_ROOMS if room in nrmse.index}
    own = np.mean([nrmse.loc[room, name] for room, name in chosen.items()])
    better = int((nrmse[HINDSIGHT] < nrmse[REFINED]).sum())
    worst = (nrmse[HINDSIGHT] / nrmse[REFINED]).max()
    names = ", ".join(f"{room}: {name}" for room, name in chosen.items())
    return (
        f"Chosen on the other rooms: {names}; mean nRMSE of these rooms {own:.3f}.\n"
        f"Hindsight is better than 20 min in {better} of {len(nrmse)} rooms; largest ratio: {worst:.3f}."
    )


def _times(found: Sequence[Found]) -> str:
    total = pd.DataFrame([one.seconds for one in found]).sum()
    own = total[f"training, {ALL}"]
    return (
        f"Time per reading relative to 20 min: {total[HINDSIGHT] / total[REFINED]:.2f}. Training takes "
        f"{100 * own / (total['training'] - own):.0f} % longer with hindsight than without."
    )


if __name__ == "__main__":
    main()
