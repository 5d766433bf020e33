"""Coverage of the prediction intervals on held-out days."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from occupair.benchmark.methods import METHODS, OURS
from occupair.folds import split_days
from occupair.metrics import interval_score
from occupair.progress import quietly, track
from occupair.room.lags import LAGS

INTERVALS = (0.5, 0.8, 0.9, 0.95)
"""Nominal confidence levels."""


def make_ours(room: str) -> Any:
    """Return the untrained default estimator for a room, as in the benchmark."""
    return METHODS[OURS].for_room(room).make(lag=0)


def coverage(
    rooms: Mapping[str, pd.DataFrame],
    *,
    make: Callable[[str], Any] = make_ours,
    intervals: Sequence[float] = INTERVALS,
    lags: Sequence[float] = LAGS,
) -> pd.DataFrame:
    """Measure the coverage of prediction intervals by cross-validation over days.

    Parameters
    ----------
    rooms : mapping
        Labelled readings by room name.
    make : callable
        ``make(room)`` returns an untrained model with ``fit(readings)`` and ``estimate(readings, lag=,
        interval=)``, which returns a table with ``low`` and ``high`` [people].
    intervals : sequence of float
        Nominal confidence levels [0..1].
    lags : sequence of float
        Lags of the estimates: how long each may wait for later readings [min].

    Returns
    -------
    DataFrame
        Columns of ``to_fractions``; one row for each room, lag and confidence level.
    """
    tasks = [(name, fold) for name, readings in rooms.items() for fold in split_days(readings)]
    found: dict[tuple[str, float, float], pd.Series[float]] = {}
    for name, (train, test) in track(tasks, "intervals", show=None):
        truth, unlabelled = test["occupancy"], test.drop(columns="occupancy")
        with quietly():
            model = make(name).fit(train)
            for lag in lags:
                for interval in intervals:
                    bounds = model.estimate(unlabelled, lag=lag, interval=interval)
                    key = name, float(lag), float(interval)
                    counted = count_covered(truth, bounds["low"], bounds["high"], interval)
                    found[key] = counted.add(found.get(key, 0.0))
    index = pd.MultiIndex.from_tuples(found, names=["room", "lag", "interval"])
    return to_fractions(pd.DataFrame(list(found.values()), index=index))


def count_covered(truth: ArrayLike, low: ArrayLike, high: ArrayLike, confidence: float) -> pd.Series[float]:
    """Count the readings whose true count lies within the interval, bounds included, and sum the scores.

    Examples
    --------
    >>> count_covered([0, 0, 4, 4], [0, 0, 3, 4.5], [0, 2, 6, 5.5], 0.75).to_dict()
    {'readings': 4.0, 'held': 3.0, 'with_people': 2.0, 'held_with_people': 1.0, 'width': 4.0, 'only_0': 1.0,
     'held_only_0': 1.0, 'score': 10.0, 'score_with_people': 8.0}
    """
    truth, low, high = (np.asarray(column, dtype=float) for column in (truth, low, high))
    held, people_in, only_0 = (low <= truth) & (truth <= high), truth > 0, high == 0

    def score(chosen: NDArray[np.bool_]) -> float:
        some = truth[chosen], low[chosen], high[chosen]
        return chosen.sum() * interval_score(*some, confidence=confidence) if chosen.any() else 0.0

    found = {
        "readings": truth.size,
        "held": held.sum(),
        "with_people": people_in.sum(),
        "held_with_people": held[people_in].sum(),
        "width": (high - low)[people_in].sum(),
        "only_0": only_0.sum(),
        "held_only_0": held[only_0].sum(),
        "score": score(np.ones(truth.size, dtype=bool)),
        "score_with_people": score(people_in),
    }
    return pd.Series(found, dtype=float)


def to_fractions(table: pd.DataFrame) -> pd.DataFrame:
    """Convert sums of ``count_covered`` to fractions.

    Returns
    -------
    DataFrame
        ``held``, the coverage over all readings, and ``held_with_people``, over occupied readings
        [0..1]; ``width``, the mean width of the interval over occupied readings [people];
        ``with_people`` and ``only_0``, the fractions of readings that are occupied and whose interval
        is exactly 0 [0..1]; ``held_only_0``, the coverage of the latter [0..1]; ``score`` and
        ``score_with_people``, the mean interval score over all and over occupied readings [people]. NaN
        without such readings.

    Examples
    --------
    >>> sums = count_covered([0, 0, 4, 4], [0, 0, 3, 4.5], [0, 2, 6, 5.5], 0.75).to_frame().T
    >>> to_fractions(sums).iloc[0].to_dict()
    {'held': 0.75, 'held_with_people': 0.5, 'width': 2.0, 'with_people': 0.5, 'only_0': 0.25,
     'held_only_0': 1.0, 'score': 2.5, 'score_with_people': 4.0}
    """
    return pd.DataFrame(
        {
            "held": table["held"] / table["readings"],
            "held_with_people": table["held_with_people"] / table["with_people"],
            "width": table["width"] / table["with_people"],
            "with_people": table["with_people"] / table["readings"],
            "only_0": table["only_0"] / table["readings"],
            "held_only_0": table["held_only_0"] / table["only_0"],
            "score": table["score"] / table["readings"],
            "score_with_people": table["score_with_people"] / table["with_people"],
        }
    )


def average_coverage(found: pd.DataFrame) -> pd.DataFrame:
    """Return the unweighted mean over rooms; one row for each lag and confidence level."""
    return found.groupby(level=["lag", "interval"], sort=False).mean()
