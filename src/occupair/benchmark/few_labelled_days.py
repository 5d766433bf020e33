"""How few labelled days are enough, alone and with what models of other rooms know."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from occupair.benchmark.fold_run import run_fold
from occupair.benchmark.methods import METHODS, OURS, Method
from occupair.estimator import OccupancyEstimator
from occupair.folds import split_days
from occupair.progress import quietly, track
from occupair.readings.schema import date_slices
from occupair.room.lags import LAGS

DAYS = (3, 5, 10)
"""Labelled days to train on."""

ALL = "all"
"""All training days of the fold, to compare with."""

N_STARTS = 4
"""Runs of so many days are tried in each fold."""

NOW_AND_LAST = (LAGS[0], LAGS[-1])
"""Shortest and longest lag [min]."""

BASELINE, ALONE, TRANSFER = "mass-balance", "alone", "with other rooms"

Make = Callable[[Sequence[Any]], Any]


def make_ours(others: Sequence[Any]) -> OccupancyEstimator:
    """Make the estimator that the benchmark runs; it starts from models of other rooms if there are any."""
    if others:
        return OccupancyEstimator.transfer(others, random_state=0)
    return OccupancyEstimator(random_state=0)


@dataclass(frozen=True)
class FewDays:
    """What came out.

    Parameters
    ----------
    nrmse : DataFrame
        nRMSE of ``BASELINE``, ``ALONE`` and ``TRANSFER``; a row for each room, days and lag.
    runs : DataFrame
        ``run`` and ``skipped``, how many runs of days there were; a row for each room and days.
    sources : dict
        For each room, the rooms whose models it started from.
    not_mixed : dict
        For each room, those that could not be: one has ventilation readings and the other has none.
    """

    nrmse: pd.DataFrame
    runs: pd.DataFrame
    sources: dict[str, list[str]]
    not_mixed: dict[str, list[str]]


@dataclass(frozen=True)
class Task:
    """One run of training days, and the days it is tested on."""

    room: str
    days: str
    train: pd.DataFrame
    test: pd.DataFrame
    usual: float  # mean head count of all training days of the fold [people]

    @property
    def is_empty(self) -> bool:
        """Whether nobody was ever in on the training days."""
        return not bool((self.train["occupancy"] > 0).any())


def few_days(
    rooms: Mapping[str, pd.DataFrame],
    *,
    make: Make = make_ours,
    baseline: Method = METHODS[BASELINE],
    days: Sequence[int] = DAYS,
    lags: Sequence[float] = NOW_AND_LAST,
) -> FewDays:
    """Train on a few days of each room, and estimate the test days of the benchmark's folds.

    Parameters
    ----------
    rooms : mapping
        Readings with head counts, by the name of the room.
    make : callable
        ``make(others)`` gives an untrained model with ``fit(readings)`` and ``estimate(readings, lag=)``
        that starts from the trained models ``others``, or from nothing when there are none.
    baseline : Method
        What to compare with, trained on the same days.
    days : sequence of int
        How many days to train on.
    lags : sequence of float
        Minutes that an estimate may wait for later readings [min].
    """
    tasks = [task for name, readings in rooms.items() for task in tasks_of(name, readings, days)]
    runs = _count(tasks)
    with quietly():
        models = {name: make([]).fit(readings) for name, readings in rooms.items()}
    sources = {name: other_rooms(name, rooms, alike=True) for name in rooms}
    squares: list[dict[str, Any]] = []
    for task in track([task for task in tasks if not task.is_empty], "few days", show=None):
        others = [models[other] for other in sources[task.room]]
        methods = {BASELINE: baseline, ALONE: _method(make, [])} | (
            {TRANSFER: _method(make, others)} if others else {}
        )
        with quietly():
            squares.extend(_squares(task, methods, lags))
    not_mixed = {name: other_rooms(name, rooms, alike=False) for name in rooms}
    return FewDays(_nrmse(squares, runs, lags), runs, sources, not_mixed)


def tasks_of(name: str, readings: pd.DataFrame, days: Sequence[int] = DAYS) -> Iterator[Task]:
    """Give every run of training days of a room in all folds, those in which nobody was in among them."""
    folds = [(train, test, float(train["occupancy"].mean())) for train, test in split_days(readings)]
    for count in days:
        for train, test, usual in folds:
            for run in runs_of_days(train, count):
                yield Task(name, str(count), run, test, usual)
    for train, test, usual in folds:
        yield Task(name, ALL, train, test, usual)


def runs_of_days(train: pd.DataFrame, n_days: int, n_starts: int = N_STARTS) -> list[pd.DataFrame]:
    """Cut runs of ``n_days`` days that follow one another out of the training days.

    Their starts are spread evenly from the first day to the last possible one. Where there are fewer starts
    than asked for, each is taken once; with fewer days than ``n_days`` there is none.

    Examples
    --------
    >>> times = pd.date_range("2024-01-08", periods=16, freq="12h")
    >>> train = pd.DataFrame({"co2": 400.0}, index=times)
    >>> [sorted(set(run.index.day)) for run in runs_of_days(train, 5)]
    [[8, 9, 10, 11, 12], [9, 10, 11, 12, 13], [10, 11, 12, 13, 14], [11, 12, 13, 14, 15]]
    >>> len(runs_of_days(train, 8)), len(runs_of_days(train, 9))
    (1, 0)
    """
    days = date_slices(train)
    last = len(days) - n_days
    if last < 0:
        return []
    starts = np.unique(np.rint(np.linspace(0, last, n_starts)).astype(int))
    return [train.iloc[days[start].start : days[start + n_days - 1].stop] for start in starts]


def other_rooms(name: str, rooms: Mapping[str, pd.DataFrame], *, alike: bool) -> list[str]:
    """Name the other rooms which, as this one, have ventilation readings or have none; or those that differ.

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
    """Average over the rooms in which all three have a value, and count these in ``rooms``."""
    whole = nrmse.dropna()
    by = whole.groupby(level=["days", "lag"], sort=False)
    return by.mean().assign(rooms=by.size())


def _method(make: Make, others: Sequence[Any]) -> Method:
    return Method(lambda *, lag: make(others), METHODS[OURS].estimate, one_fit=True)


def _squares(task: Task, methods: Mapping[str, Method], lags: Sequence[float]) -> Iterator[dict[str, Any]]:
    """Sum the squared errors of each method on the test days, and those of the usual count."""
    truth = task.test["occupancy"].to_numpy()
    usual = float(np.sum((task.usual - truth) ** 2))
    for name, method in methods.items():
        for lag, run in run_fold(method, task.train, task.test, lags).items():
            square = float(np.sum((run.people - truth) ** 2))
            where = {"room": task.room, "days": task.days, "lag": float(lag), "method": name}
            yield where | {"square": square, "usual": usual}


def _nrmse(squares: Sequence[Mapping[str, Any]], runs: pd.DataFrame, lags: Sequence[float]) -> pd.DataFrame:
    """Pool the errors of all runs of so many days, and set them against those of the usual count."""
    columns = ["room", "days", "lag", "method", "square", "usual"]
    table = pd.DataFrame(list(squares), columns=columns).astype({"square": float, "usual": float})
    sums = table.groupby(["room", "days", "lag", "method"], sort=False)[["square", "usual"]].sum()
    mean_squares = sums["square"] / sums["usual"].where(sums["usual"] > 0, math.nan)
    nrmse = (mean_squares**0.5).unstack("method")
    rows = [(room, days, float(lag)) for room, days in runs.index for lag in lags]
    index = pd.MultiIndex.from_tuples(rows, names=["room", "days", "lag"])
    found = pd.DataFrame(nrmse).reindex(index=index, columns=[BASELINE, ALONE, TRANSFER])
    return found.rename_axis(columns=None)


def _count(tasks: Sequence[Task]) -> pd.DataFrame:
    """Count the runs of each room and number of days that are run, and those that are skipped."""
    table = pd.DataFrame(
        {
            "room": [task.room for task in tasks],
            "days": [task.days for task in tasks],
            "run": [int(not task.is_empty) for task in tasks],
            "skipped": [int(task.is_empty) for task in tasks],
        }
    )
    return table.groupby(["room", "days"], sort=False).sum()
