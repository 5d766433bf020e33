"""Day-wise cross-validation of the paper's estimator in free run, on its own past estimates."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone

from occupair.errors import InputError, check_integer
from occupair.estimator import OccupancyEstimator
from occupair.estimator_arguments import Mode
from occupair.folds import split_days
from occupair.metrics import rmse
from occupair.paper.network import Network
from occupair.progress import stage
from occupair.readings.schema import check_readings, date_slices, episode_slices, interval_of, ventilation_of
from occupair.smoothing import smooth

Array = NDArray[np.float64]

THINNING = 11
"""Live scores of frequent readings use one reading in this many. People come and go on the hour and half
hour; 11 does not divide 60, so all minutes of the hour are sampled."""

FREQUENT = 5.0
"""Readings with a shorter interval than this are frequent [min]."""


def free_run_error(
    readings: pd.DataFrame,
    estimator: OccupancyEstimator,
    *,
    folds: int = 3,
    mode: Mode = "live",
    every: int | None = None,
) -> float:
    """Return the RMSE of the free run on held-out days [people].

    Whole local days are held out, see ``occupair.folds``; nothing of a held-out day reaches the training of
    its fold. The estimator then runs on its own past estimates, as in operation, and not on the true past it
    was trained on.

    Parameters
    ----------
    readings : DataFrame
        Readings with ``occupancy``, of at least as many local days as folds.
    estimator : OccupancyEstimator
        The settings; the estimator itself is not trained.
    folds : int
        Number of folds, 2 or more.
    mode : {"live", "hindsight", "drifting"}
        Mode of the free run, see ``OccupancyEstimator.estimate``.
    every : int, optional
        With mode ``"live"``, score one reading in this many. A live run updates its past estimates after
        every reading, and most of this work is skipped if not every reading is scored. The scored estimates
        are exactly those of ``estimate``. None scores all readings, or one in 11 if the interval is below 5
        minutes. The other modes score every reading.

    Examples
    --------
    >>> import occupair as oc
    >>> office = oc.simulate_office(days=3, seed=1).iloc[::5]
    >>> estimator = oc.OccupancyEstimator.paper(n_hidden=20, n_draws=1, random_state=0)
    >>> bool(0 < free_run_error(office, estimator, mode="hindsight") < 10)
    True
    """
    readings = check_readings(readings, needed=("co2", "occupancy"))
    check_integer("folds", folds, least=2)
    n_days = len(date_slices(readings))
    if n_days < folds:
        raise InputError(f"readings must cover at least {folds} days, one per fold, got {n_days}")
    step = _step(readings, mode, every)
    truth, people = [], []
    for fold, (train, held_out) in enumerate(split_days(readings, folds)):
        with stage("training on the other days", fold / folds, (fold + 1) / folds):
            trained = clone(estimator).fit(train)
            people.append(_free_run(trained, held_out, mode, step))
        truth.append(_thinned(held_out["occupancy"].to_numpy(), held_out, step))
    return rmse(np.concatenate(truth), np.concatenate(people))


def live_at_times(network: Network, co2: Array, ventilation: Array, *, every: int) -> Array:
    """Return the live estimates of one reading in ``every`` of an episode, Eq. (26) [people].

    The live estimate of reading k is the last one of a run over the readings up to k, smoothed with these
    readings. Each run starts at the first smoothed value that changed since the previous run; earlier
    estimates do not change.
    """
    horizon = network.layer.horizon
    people, known = np.zeros(co2.size), np.empty(0)
    times = np.arange(every - 1, co2.size, every)
    estimates = np.zeros(times.size)
    for i, k in enumerate(times):
        smoothed = smooth(co2[: k + 1], smoothing=network.smoothing)
        start = max(_first_change(known, smoothed), horizon)
        if k >= start:
            now = slice(start - horizon, k + 1)
            network.run(smoothed[now], ventilation[now], people[now], start=horizon)
        estimates[i], known = people[k], smoothed
    return estimates


def _free_run(trained: OccupancyEstimator, readings: pd.DataFrame, mode: Mode, step: int) -> Array:
    if mode != "live":
        return np.asarray(trained.estimate(readings, mode=mode), dtype=float)
    network, co2 = trained.network(), readings["co2"].to_numpy()
    ventilation = ventilation_of(readings)
    days = episode_slices(readings)
    return np.concatenate([live_at_times(network, co2[day], ventilation[day], every=step) for day in days])


def _thinned(values: Array, readings: pd.DataFrame, step: int) -> Array:
    """Return the last of every ``step`` values of each episode, as in ``live_at_times``."""
    return np.concatenate([values[day][step - 1 :: step] for day in episode_slices(readings)])


def _first_change(old: Array, new: Array) -> int:
    """Return the index of the first value of ``new`` that differs from the shorter ``old``."""
    changed = np.flatnonzero(new[: old.size] != old)
    return int(changed[0]) if changed.size else old.size


def _step(readings: pd.DataFrame, mode: Mode, every: int | None) -> int:
    if every is not None:
        check_integer("every", every, least=1)
    if mode != "live":
        return 1
    return every or (THINNING if interval_of(readings) < FREQUENT else 1)
