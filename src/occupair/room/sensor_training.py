"""Training of the corrections by optional sensors, and the decision which sensors to keep.

The corrections are fitted to the errors of the CO2 estimates on held-out training days, because those on the
days a model was trained on are too small. Sensors are added one at a time, the one with the largest gain
first, as long as the gain is clear: at least ``MIN_GAIN``, and larger than its standard error over days.
Gains are measured by cross-validation over days, on all lags together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from occupair.folds import day_folds
from occupair.readings.other_sensors import SENSORS
from occupair.room.day_conformal import fit_unscaled_intervals
from occupair.room.model import RoomModel
from occupair.room.prediction_intervals import PredictionIntervals
from occupair.room.sensor_corrections import Correction, SensorCorrections, clamp_corrected
from occupair.room.sensor_features import N_FEATURES, episode_features, on_scale
from occupair.room.stuck_sensors import StuckRule
from occupair.room.training import HeldOutEstimates
from occupair.room.training_days import LabelledEpisode, labelled_samples

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]

MIN_GAIN = 0.01
"""Smallest reduction of the RMSE on held-out days for which a sensor is kept."""

MIN_DAYS = 5
"""Labelled days from which on a gain is measured; with fewer its standard error means little."""

MIN_COVERAGE = 0.5
"""A sensor must be usable in this share of the training samples within open hours."""

RIDGES = (0.01, 0.1, 1.0, 10.0)
"""Candidate ridges, relative to the number of samples; columns have a mean square of 1."""

RANGE = (0.001, 0.999)
"""Quantiles of a feature in training to which it is clipped: meters and radio links produce single spikes."""

MAX_FOLDS = 5
"""Maximum number of folds over days."""

MAX_SAMPLES = 10_000
"""Of more training samples, evenly spaced ones are used: a correction has few coefficients."""


@dataclass(frozen=True)
class SensorTrial:
    """What a sensor gained in training.

    Parameters
    ----------
    name : str
        One of ``SENSORS``.
    change : float or None
        Relative change of the RMSE on held-out days when the sensor is added to those before it, negative
        for a gain; None if it was not tried.
    kept : bool
        Whether the model uses the sensor.
    """

    name: str
    change: float | None
    kept: bool

    def __str__(self) -> str:
        if self.change is None:
            return f"{self.name}: too few readings or labelled days, not used"
        if self.kept:
            return f"{self.name}: {_percent(self.change)}, kept"
        if self.change > -0.0005:
            return f"{self.name}: no gain, not used"
        return f"{self.name}: {_percent(self.change)}, no clear gain, not used"


@dataclass(frozen=True)
class FittedSensors:
    """The result of the training.

    Parameters
    ----------
    corrections : SensorCorrections or None
        None if no sensor is kept.
    trials : tuple of SensorTrial
        All sensors of the readings; those that are kept first, in the order of the model.
    error : float
        RMSE of the current estimate on held-out days, with the sensors that are kept [people].
    """

    corrections: SensorCorrections | None
    trials: tuple[SensorTrial, ...]
    error: float


def fit_sensors(
    dates: Sequence[Sequence[LabelledEpisode]],
    model: RoomModel,
    held_out: HeldOutEstimates,
    rules: Mapping[str, StuckRule],
) -> FittedSensors:
    """Train the corrections of a room.

    Parameters
    ----------
    dates : sequence of sequence of LabelledEpisode
        Episodes of each local day, with ``sensors``; readings of stuck ones are missing.
    model : RoomModel
        The room trained on them.
    held_out : HeldOutEstimates
        Its cross-validated estimates.
    rules : mapping
        When each sensor is stuck.
    """
    present = {name for date in dates for episode in date for name in episode.sensors or {}}
    samples = _Samples(dates, model, held_out, [name for name in SENSORS if name in present])
    not_tried = (
        samples.drop_insufficient() if samples.n_days >= MIN_DAYS and model.max_people else samples.names
    )
    kept, steps, trials = _choose(samples, [name for name in samples.names if name not in not_tried])
    corrections = None
    if kept:
        corrections = SensorCorrections(
            names=tuple(kept),
            steps=tuple(samples.fit(kept[: n + 1], step) for n, step in enumerate(steps)),
            interval=model.interval,
            lags=tuple(samples.lags),
            max_people=model.max_people,
            hours=model.hours,
            stuck=tuple(rules[name] for name in kept),
        )
    error = samples.current_error(steps[-1].people) if steps else held_out.error
    untried = (SensorTrial(name, None, kept=False) for name in not_tried)
    return FittedSensors(corrections, (*trials, *untried), error)


def _choose(samples: _Samples, tried: Sequence[str]) -> tuple[list[str], list[_Step], list[SensorTrial]]:
    """Add sensors one at a time while the gain is clear."""
    kept: list[str] = []
    steps: list[_Step] = []
    trials: list[SensorTrial] = []
    reference, previous = samples.reference(), samples.co2_people
    while left := [name for name in tried if name not in kept]:
        candidates = {name: samples.cross_validate([*kept, name], previous) for name in left}
        changes = {name: samples.change(reference, one.people) for name, one in candidates.items()}
        best = min(left, key=lambda name: changes[name])
        if changes[best] > -MIN_GAIN or not samples.is_clear(reference, candidates[best].people):
            losers = sorted(left, key=lambda name: changes[name])
            return kept, steps, [*trials, *(SensorTrial(name, changes[name], kept=False) for name in losers)]
        kept.append(best)
        steps.append(candidates[best])
        trials.append(SensorTrial(best, changes[best], kept=True))
        reference = previous = candidates[best].people
    return kept, steps, trials


@dataclass(frozen=True)
class _Step:
    """Held-out estimates with some sensors, arrays of shape (R, N), and the best ridge."""

    people: Array
    applied: Bools  # whether all of the sensors are usable and the room is open
    ridge: float


class _Samples:
    """Training samples with held-out CO2 estimates and sensor features; R lags, N samples, S sensors."""

    def __init__(
        self,
        dates: Sequence[Sequence[LabelledEpisode]],
        model: RoomModel,
        held_out: HeldOutEstimates,
        names: Sequence[str],
    ) -> None:
        training = held_out.training
        self.names, self.n_days, self.max_people = list(names), len(training), model.max_people
        self.lags = [one.lag for one in model.refinements]
        self._training = training
        sizes = [len(day) for day in training.days]
        every = max(-(-sum(sizes) // MAX_SAMPLES), 1)
        self._rows = np.arange(0, sum(sizes), every)
        self._day = np.repeat(np.arange(self.n_days), sizes)[self._rows]
        self._target = np.array([training.target(lag) for lag in self.lags])[:, self._rows]
        weights = [training.weight(lag) for lag in self.lags]
        self._weight = np.array([np.ones(sum(sizes)) if one is None else one for one in weights])[
            :, self._rows
        ]
        self.co2_people = np.array([held_out.by_lag[lag] for lag in self.lags])[:, self._rows]
        is_open = [
            np.concatenate(
                [
                    hours.at(clock, lag * model.interval)
                    for hours, clock in zip(held_out.hours, training.clocks, strict=True)
                ]
            )
            for lag in self.lags
        ]
        self._open = np.array(is_open)[:, self._rows]
        self._features, self._usable = self._sensor_features(dates, model)
        self._folds = [tuple(fold.held_out) for fold in day_folds(self.n_days, MAX_FOLDS)]
        self._all_applied = self._applied(self.names)
        self._scalings: dict[tuple[str, int, tuple[int, ...]], _Scaling] = {}
        self._normals: dict[tuple[int, tuple[int, ...]], _Normal] = {}

    def _sensor_features(
        self, dates: Sequence[Sequence[LabelledEpisode]], model: RoomModel
    ) -> tuple[dict[str, Array], dict[str, Bools]]:
        """Return for each sensor its features, shape (R, N, 4), and whether it is usable, (R, N)."""
        chosen = labelled_samples(dates, model.interval, self.lags)
        features, usable = {}, {}
        for name in self.names:
            found = []
            for episode, which in chosen:
                values = (episode.sensors or {}).get(name, np.full(episode.co2.size, np.nan))
                every, known = episode_features(on_scale(name, values), model.interval, self.lags)
                found.append((every[:, which], known[:, which]))
            features[name], usable[name] = (
                np.concatenate(parts, axis=1)[:, self._rows] for parts in zip(*found, strict=True)
            )
        return features, usable

    def drop_insufficient(self) -> list[str]:
        """Remove the sensors that are constant or usable too rarely, and return them."""
        wanted = self._open & (self._weight > 0)
        dropped = []
        for name in self.names:
            known = wanted & self._usable[name]
            days = np.unique(self._day[known.any(axis=0)])
            enough = days.size >= MIN_DAYS and known.sum() >= MIN_COVERAGE * wanted.sum()
            if not enough or np.ptp(self._features[name][known][:, 0]) == 0:
                dropped.append(name)
        self.names = [name for name in self.names if name not in dropped]
        self._all_applied = self._applied(self.names)
        return dropped

    def reference(self) -> Array:
        """Return what a sensor must improve: the CO2 estimates, or these rescaled if that is better.

        Without this, a sensor would be credited with a gain that any linear correction has.
        """
        rescaled = self.cross_validate([], self.co2_people).people
        return rescaled if self.error(rescaled) < self.error(self.co2_people) else self.co2_people

    def cross_validate(self, names: Sequence[str], previous: Array) -> _Step:
        """Return held-out estimates with some sensors; those of ``previous`` where one is not usable."""
        applied = self._applied(names)
        outputs = np.repeat(self.co2_people[np.newaxis], len(RIDGES), axis=0)
        for fold in self._folds:
            for k in range(len(self.lags)):
                normal = self._normal(names, k, fold, applied[k])
                held_out = normal.held_out
                co2_people, delta = self.co2_people[k, held_out], normal.design @ normal.solve(RIDGES)
                outputs[:, k, held_out] = clamp_corrected(co2_people, delta.T, self.max_people)
        people = np.where(applied, outputs, previous)
        best = min(range(len(RIDGES)), key=lambda k: self.error(people[k]))
        return _Step(people[best], applied, RIDGES[best])

    def fit(self, names: Sequence[str], step: _Step) -> Correction:
        """Fit the correction by some sensors to all days, and its intervals to its held-out estimates."""
        coefs, intervals = [], []
        scalings = [self._scaling(names, k, ()) for k in range(len(self.lags))]
        for k in range(len(self.lags)):
            coefs.append(self._equations(names, k, (), step.applied[k]).solve((step.ridge,))[:, 0])
            intervals.append(self._intervals(k, step))
        low, high, rest, scale = (
            np.array([getattr(one, part) for one in scalings]) for part in _Scaling.PARTS
        )
        return Correction(low, high, rest, scale, np.array(coefs), tuple(intervals))

    def _intervals(self, k: int, step: _Step) -> PredictionIntervals:
        which = step.applied[k]
        return fit_unscaled_intervals(self._training, self.lags[k], step.people[k, which], self._rows[which])

    def _applied(self, names: Sequence[str]) -> Bools:
        return np.asarray(np.logical_and.reduce([self._open, *(self._usable[name] for name in names)]))

    def _scaling(self, names: Sequence[str], k: int, held_out: tuple[int, ...]) -> _Scaling:
        """Return the scaling of the features at a lag on the days that are not held out."""
        for name in names:
            if (name, k, held_out) not in self._scalings:
                rows = self._open[k] & self._usable[name][k] & ~np.isin(self._day, held_out)
                is_empty = (self._target[k] == 0) & (self._weight[k] > 0)
                self._scalings[name, k, held_out] = _Scaling.of(self._features[name][k, rows], is_empty[rows])
        return _Scaling.join([self._scalings[name, k, held_out] for name in names])

    def _normal(self, names: Sequence[str], k: int, held_out: tuple[int, ...], applied: Bools) -> _Normal:
        """Return the equations of a fold; usually a part of those with all sensors, which are kept."""
        if not np.array_equal(applied, self._all_applied[k]):
            return self._equations(names, k, held_out, applied)
        if (k, held_out) not in self._normals:
            self._normals[k, held_out] = self._equations(self.names, k, held_out, applied)
        places = [self.names.index(name) for name in names]
        columns = [1 + N_FEATURES * place + feature for place in places for feature in range(N_FEATURES)]
        return self._normals[k, held_out].take(np.array([0, *columns]))

    def _equations(self, names: Sequence[str], k: int, held_out: tuple[int, ...], applied: Bools) -> _Normal:
        """Return the normal equations of the days that are not held out."""
        is_held_out = np.isin(self._day, held_out)
        train = np.flatnonzero(applied & ~is_held_out & (self._weight[k] > 0))
        rows = np.flatnonzero(applied & is_held_out)
        scaling = self._scaling(names, k, held_out)
        design = self._design(names, k, train, scaling)
        weighted = design * self._weight[k, train, np.newaxis]
        error = self._target[k, train] - self.co2_people[k, train]
        return _Normal(weighted.T @ design, weighted.T @ error, rows, self._design(names, k, rows, scaling))

    def _design(self, names: Sequence[str], k: int, rows: NDArray[np.int64], scaling: _Scaling) -> Array:
        """Return the columns of the regression, in the order of ``Correction.coef``."""
        share = self.co2_people[k, rows, np.newaxis] / max(self.max_people, 1.0)
        raw = np.hstack([np.empty((rows.size, 0)), *(self._features[name][k, rows] for name in names)])
        return np.hstack([share, scaling.scaled(raw)])

    # ---- scores ----

    def _squares(self, people: Array) -> Array:
        """Return the weighted squared error of each day, mean over lags."""
        squares = (self._weight * (people - self._target) ** 2).mean(axis=0)
        return np.asarray(np.bincount(self._day, weights=squares, minlength=self.n_days), dtype=float)

    @cached_property
    def _total_weight(self) -> float:
        return float(self._weight.mean(axis=0).sum())

    def error(self, people: Array) -> float:
        """RMSE over all lags [people]."""
        return float(np.sqrt(self._squares(people).sum() / self._total_weight))

    def current_error(self, people: Array) -> float:
        """RMSE at lag 0 [people]."""
        return float(np.sqrt(np.average((people[0] - self._target[0]) ** 2, weights=self._weight[0])))

    def change(self, before: Array, after: Array) -> float:
        """Return the relative change of the RMSE."""
        return self.error(after) / max(self.error(before), 1e-12) - 1

    def is_clear(self, before: Array, after: Array) -> bool:
        """Whether the gain is larger than its standard error over days."""
        gains = self._squares(before) - self._squares(after)
        return bool(gains.mean() > gains.std(ddof=1) / np.sqrt(gains.size))


@dataclass(frozen=True)
class _Normal:
    """Normal equations of the training days of a fold, and the regression columns of its held-out samples."""

    gram: Array
    moment: Array
    held_out: NDArray[np.int64]
    design: Array

    def take(self, columns: NDArray[np.int64]) -> _Normal:
        """Return the equations with some of the columns."""
        gram, moment = self.gram[np.ix_(columns, columns)], self.moment[columns]
        return _Normal(gram, moment, self.held_out, self.design[:, columns])

    def solve(self, ridges: Sequence[float]) -> Array:
        """Return the coefficients for each ridge as columns."""
        squares = np.diag(self.gram)
        penalty = np.diag(np.where(squares > 0, squares, 1.0))  # as if each column had a mean square of 1
        return np.column_stack(
            [np.linalg.solve(self.gram + ridge * penalty, self.moment) for ridge in ridges]
        )


@dataclass(frozen=True)
class _Scaling:
    """Range of features, their median in the empty room, and the root mean square deviation from it."""

    low: Array
    high: Array
    rest: Array
    scale: Array

    PARTS: ClassVar = ("low", "high", "rest", "scale")

    @classmethod
    def of(cls, features: Array, is_empty: Bools) -> _Scaling:
        if not len(features):  # all days with this sensor are held out
            return cls(*(np.full(N_FEATURES, value) for value in (0.0, 0.0, 0.0, 1.0)))
        low, high = np.quantile(features, RANGE, axis=0)
        clipped = np.clip(features, low, high)
        rest = np.median(clipped[is_empty] if is_empty.any() else clipped, axis=0)
        scale = np.sqrt(np.mean((clipped - rest) ** 2, axis=0))
        return cls(low, high, rest, np.where(scale > 0, scale, 1.0))

    @classmethod
    def join(cls, parts: Sequence[_Scaling]) -> _Scaling:
        """Return the scaling of the features of several sensors."""
        none = np.empty(0)
        return cls(*(np.concatenate([none, *(getattr(one, name) for one in parts)]) for name in cls.PARTS))

    def scaled(self, features: Array) -> Array:
        return np.asarray((np.clip(features, self.low, self.high) - self.rest) / self.scale)


def _percent(change: float) -> str:
    """Return a relative change in percent.

    Examples
    --------
    >>> _percent(-0.0213)
    '-2.1 %'
    """
    return f"{100 * change:+.1f} %"
