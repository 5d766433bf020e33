"""How far off an estimator is on days it was not trained on, when it runs on its own past estimates."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone

from occupair.errors import InputError
from occupair.estimator import Mode, OccupancyEstimator
from occupair.folds import split_days
from occupair.metrics import rmse
from occupair.paper.network import Network
from occupair.progress import stage
from occupair.readings.schema import check_readings, date_slices, episode_slices, interval_of, ventilation_of
from occupair.smoothing import smooth

Array = NDArray[np.float64]

THINNING = 11
"""Of close readings a live score takes one of so many: people come and go on the hour and the half, and 11
does not divide 60, so all minutes of the hour get their turn."""

CLOSE = 5.0
"""Readings that come more often than this are close [min]."""


def free_run_error(
    readings: pd.DataFrame,
    estimator: OccupancyEstimator,
    *,
    folds: int = 3,
    mode: Mode = "live",
    every: int | None = None,
) -> float:
    """RMSE of the free run on days that are left out of the training in turn [people].

    The local day with number i, in order, is left out in fold i modulo ``folds``, whole; nothing of it
    reaches the training of that fold. The estimator then runs over it on its own past estimates, as it will
    in use, and not on the true past, on which it was trained.

    Parameters
    ----------
    readings : DataFrame
        Readings with ``occupancy``, of at least as many local days as folds.
    estimator : OccupancyEstimator
        The settings; it is not trained itself.
    folds : int
        Parts that the days are cut into, 2 or more.
    mode : {"live", "hindsight", "drifting"}
        How it runs, see ``OccupancyEstimator.estimate``.
    every : int, optional
        With mode ``"live"``, score one reading of so many: a live run estimates its past anew after every
        reading, and most of that can be saved where not every reading is scored. The estimates that are
        scored are exactly those of ``estimate``. None is all readings, or one of 11 where they come more
        often than every 5 minutes. The other modes score every reading.

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
    """Live estimates of one reading of ``every`` of an episode, Eq. (26) [people].

    The live estimate of reading k is the last one of a run over the readings up to k, smoothed as far as k.
    Only what the readings since the last run have changed is run again; the estimates before the first
    smoothed value that changed stay as they are.
    """
    horizon = network.layer.horizon
    people, known = np.zeros(co2.size), np.empty(0)
    times = np.arange(every - 1, co2.size, every)
    said = np.zeros(times.size)
    for place, k in enumerate(times):
        smoothed = smooth(co2[: k + 1], smoothing=network.smoothing)
        start = max(_first_change(known, smoothed), horizon)
        if k >= start:
            now = slice(start - horizon, k + 1)
            network.run(smoothed[now], ventilation[now], people[now], start=horizon)
        said[place], known = people[k], smoothed
    return said


def _free_run(trained: OccupancyEstimator, readings: pd.DataFrame, mode: Mode, step: int) -> Array:
    if mode != "live":
        return np.asarray(trained.estimate(readings, mode=mode), dtype=float)
    network, co2 = trained.network(), readings["co2"].to_numpy()
    ventilation = ventilation_of(readings)
    days = episode_slices(readings)
    return np.concatenate([live_at_times(network, co2[day], ventilation[day], every=step) for day in days])


def _thinned(values: Array, readings: pd.DataFrame, step: int) -> Array:
    """Take the last of every ``step`` values of each episode, as ``live_at_times`` does."""
    return np.concatenate([values[day][step - 1 :: step] for day in episode_slices(readings)])


def _first_change(old: Array, new: Array) -> int:
    """Index of the first value of ``new`` that is not that of ``old``, which is its beginning."""
    changed = np.flatnonzero(new[: old.size] != old)
    return int(changed[0]) if changed.size else old.size


def _step(readings: pd.DataFrame, mode: Mode, every: int | None) -> int:
    if every is not None:
        check_integer("every", every, least=1)
    if mode != "live":
        return 1
    return every or (THINNING if interval_of(readings) < CLOSE else 1)


def check_integer(name: str, value: int, *, least: int) -> None:
    """Raise InputError unless ``value`` is an integer of at least ``least``."""
    if not (isinstance(value, int | np.integer) and value >= least):
        raise InputError(f"{name} must be an integer, {least} or more, got {value!r}")
