"""How often the range of an estimate holds the true count, on days that training never saw."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from occupair.benchmark.methods import METHODS, OURS
from occupair.folds import split_days
from occupair.progress import quietly, track
from occupair.room.lags import LAGS

INTERVALS = (0.5, 0.8, 0.9, 0.95)
"""How often the ranges should hold."""


def make_ours() -> Any:
    """Make the estimator that the benchmark runs."""
    return METHODS[OURS].make(lag=0)


def coverage(
    rooms: Mapping[str, pd.DataFrame],
    *,
    make: Callable[[], Any] = make_ours,
    intervals: Sequence[float] = INTERVALS,
    lags: Sequence[float] = LAGS,
) -> pd.DataFrame:
    """Ask for ranges on the day-wise folds of the benchmark, and see how often they hold.

    Parameters
    ----------
    rooms : mapping
        Readings with head counts, by the name of the room.
    make : callable
        ``make()`` gives an untrained model with ``fit(readings)`` and ``estimate(readings, lag=,
        interval=)``, a table with ``low`` and ``high`` [people].
    intervals : sequence of float
        How often the ranges should hold [0..1].
    lags : sequence of float
        Minutes that an estimate may wait for later readings [min].

    Returns
    -------
    DataFrame
        See ``shares``; a row for each room, lag and interval.
    """
    tasks = [(name, fold) for name, readings in rooms.items() for fold in split_days(readings)]
    found: dict[tuple[str, float, float], pd.Series[float]] = {}
    for name, (train, test) in track(tasks, "ranges", show=None):
        truth, unlabelled = test["occupancy"], test.drop(columns="occupancy")
        with quietly():
            model = make().fit(train)
            for lag in lags:
                for interval in intervals:
                    ranges = model.estimate(unlabelled, lag=lag, interval=interval)
                    key = name, float(lag), float(interval)
                    found[key] = counts(truth, ranges["low"], ranges["high"]).add(found.get(key, 0.0))
    index = pd.MultiIndex.from_tuples(found, names=["room", "lag", "interval"])
    return shares(pd.DataFrame(list(found.values()), index=index))


def counts(truth: ArrayLike, low: ArrayLike, high: ArrayLike) -> pd.Series[float]:
    """Count the readings whose range holds the true count, its ends included.

    Examples
    --------
    >>> counts([0, 0, 4, 4], [0, 0, 3, 4.5], [0, 2, 6, 5.5]).to_dict()
    {'readings': 4.0, 'held': 3.0, 'with_people': 2.0, 'held_with_people': 1.0, 'width': 4.0, 'only_0': 1.0,
     'held_only_0': 1.0}
    """
    truth, low, high = (np.asarray(column, dtype=float) for column in (truth, low, high))
    held, people_in, only_0 = (low <= truth) & (truth <= high), truth > 0, high == 0
    found = {
        "readings": truth.size,
        "held": held.sum(),
        "with_people": people_in.sum(),
        "held_with_people": held[people_in].sum(),
        "width": (high - low)[people_in].sum(),
        "only_0": only_0.sum(),
        "held_only_0": held[only_0].sum(),
    }
    return pd.Series(found, dtype=float)


def shares(table: pd.DataFrame) -> pd.DataFrame:
    """Turn sums of ``counts`` into shares.

    Returns
    -------
    DataFrame
        ``held`` of all readings and ``held_with_people`` of those with people in [0..1]; the mean
        ``width`` of the range when people are in [people]; ``with_people`` and ``only_0``, the shares of
        all readings with people in and with the range that is the single number 0 [0..1];
        ``held_only_0``, how often that one holds [0..1]. NaN where there are no such readings.

    Examples
    --------
    >>> sums = counts([0, 0, 4, 4], [0, 0, 3, 4.5], [0, 2, 6, 5.5]).to_frame().T
    >>> shares(sums).iloc[0].to_dict()
    {'held': 0.75, 'held_with_people': 0.5, 'width': 2.0, 'with_people': 0.5, 'only_0': 0.25,
     'held_only_0': 1.0}
    """
    return pd.DataFrame(
        {
            "held": table["held"] / table["readings"],
            "held_with_people": table["held_with_people"] / table["with_people"],
            "width": table["width"] / table["with_people"],
            "with_people": table["with_people"] / table["readings"],
            "only_0": table["only_0"] / table["readings"],
            "held_only_0": table["held_only_0"] / table["only_0"],
        }
    )


def average_coverage(found: pd.DataFrame) -> pd.DataFrame:
    """Average over rooms: every room weighs the same; a row for each lag and interval."""
    return found.groupby(level=["lag", "interval"], sort=False).mean()
