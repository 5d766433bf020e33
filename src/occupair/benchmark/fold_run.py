"""One method on one fold: training, estimation on the held-out days, and their duration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from occupair.benchmark.methods import Method
from occupair.errors import InputError
from occupair.progress import progress_to


@dataclass(frozen=True)
class Run:
    """Estimates of one method on one fold at one lag.

    Parameters
    ----------
    people : array
        Estimates for the readings of the held-out days [people, unrounded].
    fit_seconds, estimate_seconds : float
        Duration of training and of estimation [s].
    """

    people: NDArray[np.float64]
    fit_seconds: float
    estimate_seconds: float


def run_fold(
    method: Method, train: pd.DataFrame, test: pd.DataFrame, lags: Sequence[float]
) -> dict[float, Run]:
    """Train a method on ``train`` and estimate ``test``, which is passed without head counts.

    Parameters
    ----------
    method : Method
        Method to run.
    train, test : DataFrame
        Readings of different days.
    lags : sequence of float
        Lags of the estimates: how long each may wait for later readings [min].

    Returns
    -------
    dict
        A ``Run`` for each lag.
    """
    test = test.drop(columns="occupancy", errors="ignore")
    model, fit_seconds, runs = None, 0.0, {}
    with progress_to(_nobody):  # the benchmark has its own progress bar
        for lag in lags:
            if model is None or not method.one_fit:
                model, fit_seconds = _trained(method, train, lag)
            began = perf_counter()
            people = method.estimate(model, test, lag)
            runs[lag] = Run(_checked(people, test), fit_seconds, perf_counter() - began)
    return runs


def _trained(method: Method, train: pd.DataFrame, lag: float) -> tuple[Any, float]:
    model = method.make(lag=lag)
    began = perf_counter()
    model.fit(train)
    return model, perf_counter() - began


def _checked(people: pd.Series[float], test: pd.DataFrame) -> NDArray[np.float64]:
    if not isinstance(people, pd.Series) or not people.index.equals(test.index):
        raise InputError("a method must return a Series with one estimate per reading")
    values = np.asarray(people, dtype=np.float64)
    if not np.isfinite(values).all():
        where = people.index[int(np.argmin(np.isfinite(values)))]
        raise InputError(f"a method must return finite estimates, got {people[where]} at {where}")
    return values


def _nobody(what: str, done: float, total: float) -> None:
    """Ignore progress."""
