"""Accuracy of the default estimator with few labelled days, with and without transfer from other rooms."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from occupair.benchmark.fold_run import run_fold
from occupair.benchmark.methods import METHODS, OURS, Method
from occupair.benchmark.room_starts import start_without
from occupair.estimator import OccupancyEstimator
from occupair.folds import split_days
from occupair.progress import quietly, track
from occupair.readings.schema import date_slices
from occupair.room.lags import LAGS
from occupair.room.pooled_start import PooledStart
from occupair.room.transfer import balance_prior

DAYS = (3, 5, 10)
"""Numbers of labelled days to train on."""

ALL = "all"
"""Label for all training days of a fold, for comparison."""

N_STARTS = 4
"""Number of blocks of each length per fold."""

FIRST_AND_LAST = (LAGS[0], LAGS[-1])
"""Shortest and longest lag [min]."""

BASELINE, ALONE, TRANSFER = "mass-balance", "alone", "with other rooms"

Make = Callable[[str, Sequence[Any]], Any]


def make_ours(room: str, others: Sequence[Any]) -> OccupancyEstimator:
    """Return the untrained default estimator for a room, started from models of other rooms if given."""
    pooled = start_without(room)
    if others:
        prior = replace(balance_prior(others), pooled=pooled if isinstance(pooled, PooledStart) else None)
        return OccupancyEstimator(random_state=0, start=prior)
    return OccupancyEstimator(random_state=0, start=pooled)


@dataclass(frozen=True)
class FewDays:
    """Results for training on few labelled days.

    Parameters
    ----------
    nrmse : DataFrame
        nRMSE of ``BASELINE``, ``ALONE`` and ``TRANSFER``; one row for each room, number of days and lag.
    runs : DataFrame
        Number of blocks ``run`` and ``skipped``; one row for each room and number of days.
    sources : dict
        For each room, the rooms whose models it was started from.
    not_mixed : dict
        For each room, the rooms excluded because only one of the two has ventilation readings.
    """

    nrmse: pd.DataFrame
    runs: pd.DataFrame
    sources: dict[str, list[str]]
    not_mixed: dict[str, list[str]]


@dataclass(frozen=True)
class Task:
    """A block of training days and the held-out days of its fold."""

    room: str
    days: str
    train: pd.DataFrame
    test: pd.DataFrame
    mean: float  # mean head count of all training days of the fold [people]

    @property
    def is_empty(self) -> bool:
        """Whether the room is empty on all training days."""
        return not bool((self.train["occupancy"] > 0).any())


def few_days(
    rooms: Mapping[str, pd.DataFrame],
    *,
    make: Make = make_ours,
    baseline: Method = METHODS[BASELINE],
    days: Sequence[int] = DAYS,
    lags: Sequence[float] = FIRST_AND_LAST,
) -> FewDays:
    """Train on few days of each room and score the held-out days of the benchmark's folds.

    Parameters
    ----------
    rooms : mapping
        Labelled readings by room name.
    make : callable
        ``make(room, others)`` returns an untrained model with ``fit(readings)`` and
        ``estimate(readings, lag=)``, started from the trained models ``others`` if there are any.
    baseline : Method
        Baseline trained on the same days.
    days : sequence of int
        Numbers of days to train on.
    lags : sequence of float
        Lags of the estimates: how long each may wait for later readings [min].
    """
    tasks = [task for name, readings in rooms.items() for task in tasks_of(name, readings, days)]
    runs = _count(tasks)
    with quietly():
        models = {name: make(name, []).fit(readings) for name, readings in rooms.items()}
    sources = {name: other_rooms(name, rooms, alike=True) for name in rooms}
    squares: list[dict[str, Any]] = []
    for task in track([task for task in tasks if not task.is_empty], "few labelled days", show=None):
        others = [models[other] for other in sources[task.room]]
        methods = {BASELINE: baseline, ALONE: _method(make, task.room, [])} | (
            {TRANSFER: _method(make, task.room, others)} if others else {}
        )
        with quietly():
            squares.extend(_squares(task, methods, lags))
    not_mixed = {name: other_rooms(name, rooms, alike=False) for name in rooms}
    return FewDays(_nrmse(squares, runs, lags), runs, sources, not_mixed)


def tasks_of(name: str, readings: pd.DataFrame, days: Sequence[int] = DAYS) -> Iterator[Task]:
    """Yield the blocks of training days of a room in all folds, including blocks without people."""
    folds = [(train, test, float(train["occupancy"].mean())) for train, test in split_days(readings)]
    for count in days:
        for train, test, mean in folds:
            for block in day_blocks(train, count):
                yield Task(name, str(count), block, test, mean)
    for train, test, mean in folds:
        yield Task(name, ALL, train, test, mean)


def day_blocks(train: pd.DataFrame, n_days: int, n_starts: int = N_STARTS) -> list[pd.DataFrame]:
    """Return blocks of ``n_days`` consecutive training days with evenly spaced starts.

    The starts run from the first day to the last possible one. If there are fewer than ``n_starts``, each
    is used once; with fewer than ``n_days`` days there are no blocks.

    Examples
    --------
    >>> times = pd.date_range("2024-01-08", periods=16, freq="12h")
    >>> train = pd.DataFrame({"co2": 400.0}, index=times)
    >>> [sorted(set(block.index.day)) for block in day_blocks(train, 5)]
    [[8, 9, 10, 11, 12], [9, 10, 11, 12, 13], [10, 11, 12, 13, 14], [11, 12, 13, 14, 15]]
    >>> len(day_blocks(train, 8)), len(day_blocks(train, 9))
    (1, 0)
    """
    days = date_slices(train)
    last = len(days) - n_days
    if last < 0:
        return []
    starts = np.unique(np.rint(np.linspace(0, last, n_starts)).astype(int))
    return [train.iloc[days[start].start : days[start + n_days - 1].stop] for start in starts]


def other_rooms(name: str, rooms: Mapping[str, pd.DataFrame], *, alike: bool) -> list[str]:
    """Return the other rooms that agree with this room on having ventilation readings, or those that differ.

    Examples
    --------
    >>> fan, none = pd.DataFrame(columns=["co2", "ventilation"]), pd.DataFrame(columns=["co2"])
    >>> rooms = {"a": fan, "b": none, "c": fan}
    >>> other_rooms("a", rooms, alike=True), other_rooms("a", rooms, alike=False)
    (['c'], ['b'])
    """
    has = {room: "ventilation" in readings.columns for room, readings in rooms.items()}
    return [room for room in rooms if room != name and (has[room] == has[name]) == alike]


def average_nrmse(nrmse: pd.DataFrame) -> pd.DataFrame:
    """Return the mean over the rooms in which all three have a value, and their number in ``rooms``."""
    whole = nrmse.dropna()
    by = whole.groupby(level=["days", "lag"], sort=False)
    return by.mean().assign(rooms=by.size())


def _method(make: Make, room: str, others: Sequence[Any]) -> Method:
    return Method(lambda *, lag: make(room, others), METHODS[OURS].estimate, one_fit=True)


def _squares(task: Task, methods: Mapping[str, Method], lags: Sequence[float]) -> Iterator[dict[str, Any]]:
    """Yield the sum of squared errors of each method on the held-out days, and that of the mean count."""
    truth = task.test["occupancy"].to_numpy()
    reference = float(np.sum((task.mean - truth) ** 2))
    for name, method in methods.items():
        for lag, run in run_fold(method, task.train, task.test, lags).items():
            square = float(np.sum((run.people - truth) ** 2))
            where = {"room": task.room, "days": task.days, "lag": float(lag), "method": name}
            yield where | {"square": square, "reference": reference}


def _nrmse(squares: Sequence[Mapping[str, Any]], runs: pd.DataFrame, lags: Sequence[float]) -> pd.DataFrame:
    """Return the pooled RMSE of all blocks of a length, relative to that of the mean count."""
    columns = ["room", "days", "lag", "method", "square", "reference"]
    table = pd.DataFrame(list(squares), columns=columns).astype({"square": float, "reference": float})
    sums = table.groupby(["room", "days", "lag", "method"], sort=False)[["square", "reference"]].sum()
    mean_squares = sums["square"] / sums["reference"].where(sums["reference"] > 0, math.nan)
    nrmse = (mean_squares**0.5).unstack("method")
    rows = [(room, days, float(lag)) for room, days in runs.index for lag in lags]
    index = pd.MultiIndex.from_tuples(rows, names=["room", "days", "lag"])
    found = pd.DataFrame(nrmse).reindex(index=index, columns=[BASELINE, ALONE, TRANSFER])
    return found.rename_axis(columns=None)


def _count(tasks: Sequence[Task]) -> pd.DataFrame:
    """Count the blocks run and skipped, for each room and number of days."""
    table = pd.DataFrame(
        {
            "room": [task.room for task in tasks],
            "days": [task.days for task in tasks],
            "run": [int(not task.is_empty) for task in tasks],
            "skipped": [int(task.is_empty) for task in tasks],
        }
    )
    return table.groupby(["room", "days"], sort=False).sum()
