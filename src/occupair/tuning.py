"""Settings chosen for a room: the paper's, moved as long as days that were left out get better for it.

Jiang et al. 2016, Section III-D, advise to set the five z_max by cross-validation. What is validated here is
the free run, on the estimator's own past estimates: one step ahead of the true past nearly any setting looks
good, because a room holds about as many people as a minute ago.
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

from occupair.cross_validation import check_integer, free_run_error
from occupair.elm.regressors import LINEAR_RANGE
from occupair.errors import InputError
from occupair.estimator import Mode, OccupancyEstimator
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
"""What is tried of each setting, in this order; horizon and stride [min], smoothing [min squared]."""

TOGETHER = ("z_max_o", "smoothing")
"""Tried in every combination: what is fed back needs smooth CO2, and what is not does better without."""

FEWEST_DAYS = 3
_FULL_COST = 3  # of a score with all neurons, in the time that one takes with those of the search


@dataclass(frozen=True)
class Tuning:
    """What ``tune`` found.

    Attributes
    ----------
    estimator : OccupancyEstimator
        The best settings, not yet trained.
    rmse : float
        Its error on the days left out [people]; somewhat too good, see ``tune``.
    before : OccupancyEstimator
        The settings it started from.
    rmse_before : float
        The error of those, scored in the same way [people].
    tried : DataFrame
        Every score, in order: one column for each setting, ``n_hidden``, ``rmse`` [people], ``seconds``.
    """

    estimator: OccupancyEstimator
    rmse: float
    before: OccupancyEstimator
    rmse_before: float
    tried: pd.DataFrame

    @property
    def changes(self) -> dict[str, tuple[float, float]]:
        """The settings that changed, each with its value before and after."""
        before, after = settings_of(self.before), settings_of(self.estimator)
        return {name: (before[name], after[name]) for name in before if before[name] != after[name]}

    @property
    def n_tried(self) -> int:
        """How many different settings were scored, with those it started from."""
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

    One setting after the other is moved to the value of its grid that errs least on the days left out (see
    ``free_run_error``), all others as they are; feedback and smoothing are moved together. A setting is left
    alone unless another value is better. The same readings, estimator and seed give the same result.

    The error of the winner is too good by as much as luck helped it to win, as with any choice among many:
    score it on days that were not here before you rely on it.

    Parameters
    ----------
    readings : DataFrame
        Readings with ``occupancy`` of three days or more. Days without more readings in a row than the
        estimator's horizon are left out of everything.
    estimator : OccupancyEstimator, optional
        Where to start, with layer ``"fs-elm"`` or ``"elm"``; None is ``OccupancyEstimator.paper`` with one
        draw and ``random_state=0``.
    folds : int
        Parts that the days are cut into, 2 or more.
    mode : {"live", "hindsight", "drifting"}
        How left-out days are run. ``"hindsight"`` is faster, but it chooses for hindsight: heavy smoothing,
        which later readings make good and a live estimate cannot wait for. In offices of ``simulate_office``
        what it chose was worse live, on new days, than the paper's settings.
    rounds : int
        How often to go through all settings; it ends sooner when a round changes nothing.
    grid : mapping of str to sequence of float, optional
        The settings to tune and the values to try: ``horizon``, ``stride`` [min], ``smoothing`` [min
        squared], ``ridge``, and ``z_max_P`` to ``z_max_v``; None is ``GRID``. Values are passed over where
        z_max would add up to more than 5, Eq. (13), where horizon or stride are no whole number of readings,
        where the stride exceeds the horizon, and where no day is longer than the horizon.
    n_hidden : int
        Hidden neurons while searching, if the estimator has more, with one draw, and with the ridge smaller
        in proportion: the read-out adds up all neurons, so it is gamma / L that regularises. The settings it
        starts from and the best are then scored with the estimator's own, and the better of the two is kept.
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
    part = _FULL_COST / (rounds * len(plan) + 2 * _FULL_COST)
    with stage("scoring where it starts", 0.0, part):
        rmse_before = score(start, start.n_hidden)
    with stage("trying settings", part, 1.0 - part):
        possible, show = _possible(readings, folds), estimator.verbose
        best = _search(start, score, plan, possible=possible, rounds=rounds, size=n_hidden, show=show)
    with stage("scoring the best", 1.0 - part, 1.0):
        rmse = score(best, start.n_hidden)
    if rmse >= rmse_before:  # better with few neurons only
        best, rmse = start, rmse_before
    return Tuning(
        estimator=with_settings(estimator, settings_of(best)),
        rmse=rmse,
        before=clone(estimator),
        rmse_before=rmse_before,
        tried=pd.DataFrame(score.rows),
    )


def settings_of(estimator: OccupancyEstimator) -> Settings:
    """Give the settings of an estimator that can be tuned, one number each; None is the paper's.

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
            f"z_max must be one number or one for each of {len(GROUPS)} groups, got {estimator.z_max!r}"
        )
    each = np.broadcast_to(z_max, (len(GROUPS),)).tolist()
    influences = {f"z_max_{group}": value for group, value in zip(GROUPS, each, strict=True)}
    return {name: given[name] for name in ("horizon", "stride", "smoothing", "ridge")} | influences


def with_settings(estimator: OccupancyEstimator, settings: Settings) -> OccupancyEstimator:
    """Make an untrained estimator with these of ``settings_of`` and all else as it is.

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
    """Scores settings by cross-validation, each once, and keeps what it found."""

    def __init__(self, readings: pd.DataFrame, **how: Any) -> None:
        self.rows: list[dict[str, float]] = []
        self._readings = readings
        self._how = how
        self._known: dict[tuple[float, ...], float] = {}

    def __call__(self, estimator: OccupancyEstimator, n_hidden: int) -> float:
        """Score the estimator with at most ``n_hidden`` neurons [people]."""
        settings, sized = settings_of(estimator), _sized(estimator, n_hidden)
        key = (*settings.values(), sized.n_hidden, sized.n_draws)
        if key not in self._known:
            began = time.perf_counter()
            rmse = free_run_error(self._readings, sized, **self._how)
            seconds = time.perf_counter() - began
            self.rows.append(settings | {"n_hidden": sized.n_hidden, "rmse": rmse, "seconds": seconds})
            self._known[key] = rmse
        return self._known[key]


def _sized(estimator: OccupancyEstimator, n_hidden: int) -> OccupancyEstimator:
    """Give the estimator with fewer neurons and as much regularised, or as it is if it has no more."""
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
    """Go through the plan and keep every change that lowers the error."""
    best, error = start, math.inf
    for number in range(rounds):
        error_before = error
        with stage("trying settings", number / rounds, (number + 1) / rounds):
            for place, change in enumerate(track(plan, "trying settings", show=show)):
                tried = with_settings(best, change)
                if change and not possible(tried):
                    continue
                with stage("trying settings", place / len(plan), (place + 1) / len(plan)):
                    tried_error = score(tried, size)
                if tried_error < error:
                    best, error = tried, tried_error
        if error == error_before:
            break
    return best


def _plan(grid: Mapping[str, Sequence[float]]) -> list[Settings]:
    """List the changes to try one after the other, the first of which is none.

    Examples
    --------
    >>> _plan({"ridge": (1, 2), "smoothing": (0, 5), "z_max_o": (0,)})
    [{}, {'z_max_o': 0, 'smoothing': 0}, {'z_max_o': 0, 'smoothing': 5}, {'ridge': 1}, {'ridge': 2}]
    """
    together = [name for name in TOGETHER if name in grid]
    blocks = [together] * bool(together) + [[name] for name in grid if name not in together]
    changes = [
        dict(zip(block, values, strict=True))
        for block in blocks
        for values in product(*(grid[name] for name in block))
    ]
    return [{}, *changes]


def _possible(readings: pd.DataFrame, folds: int) -> Callable[[OccupancyEstimator], bool]:
    """Make the rule that tells whether settings suit Eq. (13), the interval, and the length of the days."""
    interval = interval_of(readings)
    longest = _most_in_a_row(readings)
    enough = min(max(longest[i] for i in fold.train) for fold in day_folds(len(longest), folds))

    def possible(estimator: OccupancyEstimator) -> bool:
        try:
            layer = estimator.layer_at(interval)
        except InputError:  # no whole number of readings
            return False
        if estimator.layer != "elm" and np.sum(estimator.z_max) > LINEAR_RANGE:
            return False
        return layer.stride <= layer.horizon < enough

    return possible


def _grid_for(estimator: OccupancyEstimator, readings: pd.DataFrame) -> dict[str, tuple[float, ...]]:
    """Leave out of ``GRID`` what this estimator does not have, or what changes nothing in this room."""
    known = set(settings_of(estimator))
    if "ventilation" not in readings.columns or not readings["ventilation"].any():
        known.discard("z_max_v")
    return {name: values for name, values in GRID.items() if name in known}


def _long_days(readings: pd.DataFrame, estimator: OccupancyEstimator, folds: int) -> pd.DataFrame:
    """Keep the days that can be trained on, if they are enough."""
    horizon = estimator.layer_at(interval_of(readings)).horizon
    days = zip(date_slices(readings), _most_in_a_row(readings), strict=True)
    kept = [readings.iloc[day] for day, most in days if most > horizon]
    if len(kept) < (needed := max(FEWEST_DAYS, folds)):
        rule = f"at least {needed} days with more than {horizon} readings in a row, got {len(kept)}"
        raise InputError(f"readings must hold {rule}")
    return pd.concat(kept)


def _most_in_a_row(readings: pd.DataFrame) -> list[int]:
    """Count the readings of the longest episode of each day.

    Examples
    --------
    >>> times = pd.date_range("2024-01-08 23:56", periods=9, freq="min").delete(2)
    >>> _most_in_a_row(pd.DataFrame({"co2": 400.0}, index=times))
    [2, 5]
    """
    episodes = episode_slices(readings)
    return [
        max(part.stop - part.start for part in episodes if day.start <= part.start < day.stop)
        for day in date_slices(readings)
    ]


def _seed(estimator: OccupancyEstimator) -> int:
    """Give the seed that all scores share: settings are to differ, and chance not."""
    if isinstance(estimator.random_state, int | np.integer):
        return int(estimator.random_state)
    return int(check_random_state(estimator.random_state).randint(np.iinfo(np.int32).max))


def _check_request(
    estimator: OccupancyEstimator, grid: Mapping[str, Sequence[float]] | None, **counts: int
) -> None:
    if estimator.layer not in ("fs-elm", "elm"):
        raise InputError(f"only layer 'fs-elm' or 'elm' can be tuned, got layer {estimator.layer!r}")
    for name, count in counts.items():
        check_integer(name, count, least=2 if name == "folds" else 1)
    known = [name for name in GRID if name in settings_of(estimator)]
    for name in grid or {}:
        if name not in known:
            raise InputError(f"grid must be of {', '.join(known)}, got {name!r}")
