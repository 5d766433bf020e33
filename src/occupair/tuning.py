"""Tuning of the paper's estimator: coordinate search over its settings by day-wise cross-validation.

Jiang et al. 2016, Section III-D, recommend cross-validation for the five z_max. The score here is the error
of the free run, on the estimator's own past estimates. One step ahead of the true past nearly any setting
looks good, because occupancy changes little from one minute to the next.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.utils import check_random_state

from occupair.cross_validation import free_run_error
from occupair.elm.regressors import LINEAR_RANGE
from occupair.errors import InputError, check_integer
from occupair.estimator import OccupancyEstimator
from occupair.estimator_arguments import Mode
from occupair.folds import day_folds
from occupair.progress import stage, track
from occupair.readings.schema import check_readings, date_slices, episode_slices, interval_of

Settings = dict[str, float]
Score = Callable[[OccupancyEstimator, int], float]

GROUPS = ("P", "I", "D", "o", "v")

GRID: dict[str, tuple[float, ...]] = {
    "z_max_o": (0, 0.3, 1, 1.5),
    "smoothing": (0, 5, 20, 50, 100),
    "z_max_v": (0, 0.1, 0.3, 1),
    "z_max_P": (0.3, 1, 2),
    "z_max_I": (0.1, 0.3, 1, 2),
    "z_max_D": (0.1, 0.3, 1, 2),
    "horizon": (10, 20, 30, 45, 60, 90),
    "stride": (5, 10, 15, 30),
    "ridge": (1e-4, 1e-3, 1e-2, 0.1, 1, 10),
}
"""Values to try for each setting, in this order; horizon and stride [min], smoothing [min squared]."""

JOINT = ("z_max_o", "smoothing")
"""Settings tried in every combination: feedback needs smooth CO2, and no feedback does better without."""

MIN_DAYS = 3
_FULL_COST = 3  # run time of a score with all neurons, relative to one in the search


@dataclass(frozen=True)
class Tuning:
    """The result of ``tune``.

    Attributes
    ----------
    estimator : OccupancyEstimator
        The best settings, untrained.
    rmse : float
        Its error on held-out days [people]; slightly optimistic, see ``tune``.
    before : OccupancyEstimator
        The initial settings.
    rmse_before : float
        The error of the initial settings, scored in the same way [people].
    tried : DataFrame
        All scores in order: one column per setting, ``n_hidden``, ``rmse`` [people], ``seconds``.
    """

    estimator: OccupancyEstimator
    rmse: float
    before: OccupancyEstimator
    rmse_before: float
    tried: pd.DataFrame

    @property
    def changes(self) -> dict[str, tuple[float, float]]:
        """Settings that changed, each with its value before and after."""
        before, after = settings_of(self.before), settings_of(self.estimator)
        return {name: (before[name], after[name]) for name in before if before[name] != after[name]}

    @property
    def n_tried(self) -> int:
        """Number of different settings scored, including the initial ones."""
        return len(self.tried[list(settings_of(self.estimator))].drop_duplicates())


def tune(
    readings: pd.DataFrame,
    estimator: OccupancyEstimator | None = None,
    *,
    folds: int = 3,
    mode: Mode = "live",
    rounds: int = 1,
    grid: Mapping[str, Sequence[float]] | None = None,
    n_hidden: int = 200,
    every: int | None = None,
) -> Tuning:
    """Find better settings for a room by day-wise cross-validation of the free run.

    One setting at a time is changed to the value of its grid with the lowest error on held-out days (see
    ``free_run_error``), with all others fixed; feedback and smoothing are changed jointly. A setting changes
    only if another value is better. The same readings, estimator and seed give the same result.

    The error of the best settings is optimistic, as after any selection among many: score them on new days
    before you rely on it.

    Parameters
    ----------
    readings : DataFrame
        Readings with ``occupancy`` of three days or more. Days without more consecutive readings than the
        horizon are not used.
    estimator : OccupancyEstimator, optional
        The initial settings, with layer ``"fs-elm"`` or ``"elm"``; None is ``OccupancyEstimator.paper`` with
        one draw and ``random_state=0``.
    folds : int
        Number of folds, 2 or more.
    mode : {"live", "hindsight", "drifting"}
        How held-out days are run. ``"hindsight"`` is faster but selects settings for hindsight: heavy
        smoothing, which relies on later readings that a live estimate does not have. In offices of
        ``simulate_office`` its settings were worse live, on new days, than those of the paper.
    rounds : int
        Number of passes over all settings; the search stops early if a pass changes nothing.
    grid : mapping of str to sequence of float, optional
        The settings to tune and the values to try: ``horizon``, ``stride`` [min], ``smoothing`` [min
        squared], ``ridge``, and ``z_max_P`` to ``z_max_v``; None is ``GRID``. Values are skipped if the
        sum of z_max would exceed 5, Eq. (13), if horizon or stride are not a multiple of the interval, if the
        stride exceeds the horizon, and if no day is longer than the horizon.
    n_hidden : int
        Hidden neurons during the search, if the estimator has more, with one draw and a proportionally
        smaller ridge: the read-out sums over all neurons, so gamma / L is what regularises. The initial and
        the best settings are then scored with all neurons, and the better of the two is returned.
    every : int, optional
        See ``free_run_error``.

    Examples
    --------
    >>> import occupair as oc
    >>> office = oc.simulate_office(days=4, seed=1).iloc[::5]
    >>> start = oc.OccupancyEstimator.paper(n_hidden=30, n_draws=1, random_state=0, ridge=1e4)
    >>> found = tune(office, start, grid={"ridge": (1e-3, 1.0, 1e4)}, mode="hindsight")
    >>> list(found.changes), found.rmse < found.rmse_before
    (['ridge'], True)
    """
    if estimator is None:
        estimator = OccupancyEstimator.paper(n_draws=1, random_state=0)
    _check_request(estimator, grid, folds=folds, rounds=rounds, n_hidden=n_hidden)
    readings = _long_days(check_readings(readings, needed=("co2", "occupancy")), estimator, folds)
    start = with_settings(estimator, {}).set_params(random_state=_seed(estimator), verbose=False)
    score = _Scores(readings, folds=folds, mode=mode, every=every)
    plan = _plan(_grid_for(estimator, readings) if grid is None else grid)
    share = _FULL_COST / (rounds * len(plan) + 2 * _FULL_COST)
    with stage("scoring the initial settings", 0.0, share):
        rmse_before = score(start, start.n_hidden)
    with stage("trying settings", share, 1.0 - share):
        possible, show = _possible(readings, folds), estimator.verbose
        best = _search(start, score, plan, possible=possible, rounds=rounds, size=n_hidden, show=show)
    with stage("scoring the best settings", 1.0 - share, 1.0):
        rmse = score(best, start.n_hidden)
    if rmse >= rmse_before:  # better with few neurons only
        best, rmse = start, rmse_before
    return Tuning(
        estimator=with_settings(estimator, settings_of(best)),
        rmse=rmse,
        before=clone(estimator),
        rmse_before=rmse_before,
        tried=pd.DataFrame(score.scores),
    )


def settings_of(estimator: OccupancyEstimator) -> Settings:
    """Return the settings of an estimator that can be tuned, as one number each; None is the paper's.

    Examples
    --------
    >>> settings_of(OccupancyEstimator.paper(layer="elm"))
    {'horizon': 30, 'smoothing': 50, 'ridge': 0.001}
    >>> settings_of(OccupancyEstimator.paper())["z_max_v"]
    0.1
    """
    given = {name: value for name, value in estimator.get_params().items() if value is not None}
    given = OccupancyEstimator.paper().get_params() | given
    if estimator.layer == "elm":
        return {name: given[name] for name in ("horizon", "smoothing", "ridge")}
    z_max = np.asarray(given["z_max"], dtype=float)
    if z_max.shape not in {(), (1,), (len(GROUPS),)}:
        raise InputError(
            f"z_max must be one number or one per group ({len(GROUPS)}), got {estimator.z_max!r}"
        )
    each = np.broadcast_to(z_max, (len(GROUPS),)).tolist()
    influences = {f"z_max_{group}": value for group, value in zip(GROUPS, each, strict=True)}
    return {name: given[name] for name in ("horizon", "stride", "smoothing", "ridge")} | influences


def with_settings(estimator: OccupancyEstimator, settings: Settings) -> OccupancyEstimator:
    """Return an untrained copy of an estimator with some of the settings of ``settings_of`` changed.

    Examples
    --------
    >>> with_settings(OccupancyEstimator.paper(), {"z_max_o": 0.0, "horizon": 60}).z_max
    (1.0, 1.0, 1.0, 0.0, 0.1)
    """
    settings = settings_of(estimator) | settings
    parameters: dict[str, Any] = {name: value for name, value in settings.items() if name[:6] != "z_max_"}
    if estimator.layer != "elm":
        parameters["z_max"] = tuple(float(settings[f"z_max_{group}"]) for group in GROUPS)
    changed: OccupancyEstimator = clone(estimator).set_params(**parameters)
    return changed


class _Scores:
    """Scores settings by cross-validation and caches the results."""

    def __init__(self, readings: pd.DataFrame, **options: Any) -> None:
        self.scores: list[dict[str, float]] = []
        self._readings = readings
        self._options = options
        self._cached: dict[tuple[float, ...], float] = {}

    def __call__(self, estimator: OccupancyEstimator, n_hidden: int) -> float:
        """Return the error of the estimator with at most ``n_hidden`` neurons [people]."""
        settings, sized = settings_of(estimator), _sized(estimator, n_hidden)
        key = (*settings.values(), sized.n_hidden, sized.n_draws)
        if key not in self._cached:
            began = time.perf_counter()
            rmse = free_run_error(self._readings, sized, **self._options)
            seconds = time.perf_counter() - began
            self.scores.append(settings | {"n_hidden": sized.n_hidden, "rmse": rmse, "seconds": seconds})
            self._cached[key] = rmse
        return self._cached[key]


def _sized(estimator: OccupancyEstimator, n_hidden: int) -> OccupancyEstimator:
    """Return the estimator with at most ``n_hidden`` neurons and the same regularisation per neuron."""
    if n_hidden >= estimator.n_hidden:
        return estimator
    ridge = settings_of(estimator)["ridge"] * n_hidden / estimator.n_hidden
    smaller: OccupancyEstimator = clone(estimator).set_params(n_hidden=n_hidden, ridge=ridge, n_draws=1)
    return smaller


def _search(
    start: OccupancyEstimator,
    score: Score,
    plan: list[Settings],
    *,
    possible: Callable[[OccupancyEstimator], bool],
    rounds: int,
    size: int,
    show: bool | None,
) -> OccupancyEstimator:
    """Try the changes of the plan in order and keep each one that lowers the error."""
    best, error = start, math.inf
    for number in range(rounds):
        error_before = error
        with stage("trying settings", number / rounds, (number + 1) / rounds):
            for i, change in enumerate(track(plan, "trying settings", show=show)):
                tried = with_settings(best, change)
                if change and not possible(tried):
                    continue
                with stage("trying settings", i / len(plan), (i + 1) / len(plan)):
                    tried_error = score(tried, size)
                if tried_error < error:
                    best, error = tried, tried_error
        if error == error_before:
            break
    return best


def _plan(grid: Mapping[str, Sequence[float]]) -> list[Settings]:
    """Return the changes to try in order; the first one is empty.

    Examples
    --------
    >>> _plan({"ridge": (1, 2), "smoothing": (0, 5), "z_max_o": (0,)})
    [{}, {'z_max_o': 0, 'smoothing': 0}, {'z_max_o': 0, 'smoothing': 5}, {'ridge': 1}, {'ridge': 2}]
    """
    joint = [name for name in JOINT if name in grid]
    blocks = [joint] * bool(joint) + [[name] for name in grid if name not in joint]
    changes = [
        dict(zip(block, values, strict=True))
        for block in blocks
        for values in product(*(grid[name] for name in block))
    ]
    return [{}, *changes]


def _possible(readings: pd.DataFrame, folds: int) -> Callable[[OccupancyEstimator], bool]:
    """Return a predicate: whether settings satisfy Eq. (13), the interval and the length of the days."""
    interval = interval_of(readings)
    longest = _longest_episodes(readings)
    enough = min(max(longest[i] for i in fold.train) for fold in day_folds(len(longest), folds))

    def possible(estimator: OccupancyEstimator) -> bool:
        try:
            layer = estimator.layer_at(interval)
        except InputError:  # not a multiple of the interval
            return False
        if estimator.layer != "elm" and np.sum(estimator.z_max) > LINEAR_RANGE:
            return False
        return layer.stride <= layer.horizon < enough

    return possible


def _grid_for(estimator: OccupancyEstimator, readings: pd.DataFrame) -> dict[str, tuple[float, ...]]:
    """Return ``GRID`` without settings the estimator does not have or that have no effect in this room."""
    known = set(settings_of(estimator))
    if "ventilation" not in readings.columns or not readings["ventilation"].any():
        known.discard("z_max_v")
    return {name: values for name, values in GRID.items() if name in known}


def _long_days(readings: pd.DataFrame, estimator: OccupancyEstimator, folds: int) -> pd.DataFrame:
    """Return the days long enough to train on; raise InputError if there are too few."""
    horizon = estimator.layer_at(interval_of(readings)).horizon
    days = zip(date_slices(readings), _longest_episodes(readings), strict=True)
    long = [readings.iloc[day] for day, most in days if most > horizon]
    if len(long) < (needed := max(MIN_DAYS, folds)):
        rule = f"at least {needed} days with more than {horizon} consecutive readings"
        why = f"the horizon is {estimator.horizon:g} min"
        raise InputError(f"readings must contain {rule} ({why}), got {len(long)}")
    return pd.concat(long)


def _longest_episodes(readings: pd.DataFrame) -> list[int]:
    """Return the number of readings of the longest episode of each day.

    Examples
    --------
    >>> times = pd.date_range("2024-01-08 23:56", periods=9, freq="min").delete(2)
    >>> _longest_episodes(pd.DataFrame({"co2": 400.0}, index=times))
    [2, 5]
    """
    episodes = episode_slices(readings)
    return [
        max(part.stop - part.start for part in episodes if day.start <= part.start < day.stop)
        for day in date_slices(readings)
    ]


def _seed(estimator: OccupancyEstimator) -> int:
    """Return the seed shared by all scores, so that only settings differ."""
    if isinstance(estimator.random_state, int | np.integer):
        return int(estimator.random_state)
    return int(check_random_state(estimator.random_state).randint(np.iinfo(np.int32).max))


def _check_request(
    estimator: OccupancyEstimator, grid: Mapping[str, Sequence[float]] | None, **counts: int
) -> None:
    if estimator.layer not in ("fs-elm", "elm"):
        raise InputError(f"layer must be 'fs-elm' or 'elm' to be tuned, got {estimator.layer!r}")
    for name, count in counts.items():
        check_integer(name, count, least=2 if name == "folds" else 1)
    known = [name for name in GRID if name in settings_of(estimator)]
    for name in grid or {}:
        if name not in known:
            raise InputError(f"grid must contain only {', '.join(known)}, got {name!r}")
