"""Training of the default estimator, and its proof on days left out.

The proof trains anew on the other days, from the mass balance on: nothing of a day left out reaches what is
said of it. Ridges, thresholds and ranges are chosen by that proof.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from occupair.elm.hidden_layer import each_on_a_core
from occupair.folds import day_folds
from occupair.progress import track
from occupair.room.features import GROUPS, feature_settings, room_features
from occupair.room.inputs import Clock, Inputs
from occupair.room.lags import LAGS, lags_in_readings
from occupair.room.linked_elm import LinkedLayer, fit_layer, fit_read_outs, ridge_pairs
from occupair.room.mass_balance import Balance, BalanceEvaluator, BaseLevel, DayTerms, fit_balance, weak_ridge
from occupair.room.model import Refinement, RoomModel, averaged, is_present
from occupair.room.open_hours import OpenHours, fit_open_hours
from occupair.room.prediction_intervals import PredictionIntervals
from occupair.room.training_days import LabelledEpisode, TrainingDays, prepare_training_days
from occupair.room.transfer import BalancePrior

Array = NDArray[np.float64]

FOLDS = 10
"""The most parts that the days are dealt into for the proof."""

ENOUGH_DAYS = 6
"""Days from which on the FS-ELM has half of the say; with fewer, less.

Less, too, where counts are all from some hours of the day: unlike the mass balance it goes by the clock.
"""

APART = 15
"""Counts of one stretch of so many minutes of a day say much the same [min]."""

THRESHOLDS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
"""Presence from which on somebody is in, to choose from."""


@dataclass(frozen=True)
class TrainingSettings:
    """What training is told.

    Parameters
    ----------
    interval : float
        Time between readings [min].
    smoothing : float
        Weight of the CO2 smoothing [readings squared].
    z_max : tuple of float
        Influence of each of ``GROUPS``, Eq. (13).
    n_hidden : int
        Neurons.
    ridges : tuple of float
        Ridges of the neurons to choose from.
    seeds : tuple of int
        Random layers to try; the one with the least error on days left out is kept.
    verbose : bool, optional
        Whether to show progress; None does so on a terminal, when it takes long.
    """

    interval: float
    smoothing: float
    z_max: tuple[float, ...]
    n_hidden: int
    ridges: tuple[float, ...]
    seeds: tuple[int, ...]
    verbose: bool | None = None


@dataclass(frozen=True)
class HeldOutEstimates:
    """What the estimator says of training days when it is trained on the others, at lag 0.

    Parameters
    ----------
    clock : list of Clock
        Times of each day.
    people, estimated : list of array
        The truth, and what it says [people].
    weights : list of array, optional
        How far the truth is to be trusted, 0 where it is not known; None: all fully.
    worth : float
        How many days with all counts they are worth.
    """

    clock: list[Clock]
    people: list[Array]
    estimated: list[Array]
    weights: list[Array] | None
    worth: float

    @property
    def error(self) -> float:
        """RMSE [people]."""
        off = np.concatenate(self.people) - np.concatenate(self.estimated)
        weight = None if self.weights is None else np.concatenate(self.weights)
        return float(np.sqrt(np.average(off**2, weights=weight)))


def fit_room(
    dates: Sequence[Sequence[LabelledEpisode]], settings: TrainingSettings, others: BalancePrior | None = None
) -> tuple[RoomModel, HeldOutEstimates]:
    """Train a room.

    Parameters
    ----------
    dates : sequence of sequence of LabelledEpisode
        The episodes of each local day.
    settings : TrainingSettings
        What training is told.
    others : BalancePrior, optional
        Rooms to start from.

    Returns
    -------
    model, left_out
        The trained room, and its proof.
    """
    training = prepare_training_days(dates, interval=settings.interval, smoothing=settings.smoothing)
    learned, folds = _learn(training, others), _folds(training, others)
    share = 0.5 * min(1.0, training.worth / ENOUGH_DAYS) * training.covered
    unasked = None if training.gaps is None else training.gaps.unasked
    hours, hours_left_out = fit_open_hours(training.clocks, training.people[0], training.weights(0), unasked)
    proofs = {
        lag: _best_proof(folds, training, lag, settings)
        for lag in track(list(training.people), "training", show=settings.verbose)
    }

    def refine(lag: int) -> tuple[Refinement, Array]:
        return _refine(learned, folds, lag, proofs[lag], share, hours_left_out, settings)

    trained = each_on_a_core(refine, list(proofs))
    refinements = tuple(refinement for refinement, _ in trained)
    model = RoomModel(settings.interval, settings.smoothing, training.most, share, hours, refinements)
    estimated = training.split(trained[0][1])
    left_out = HeldOutEstimates(
        training.clocks, training.people[0], estimated, training.weights(0), worth=training.worth
    )
    return model, left_out


@dataclass(frozen=True)
class _Judged:
    """Some days, and what the mass balances say of each: arrays of shape (3, N), a row for each lag."""

    days: Sequence[Inputs]
    said: Sequence[Array]


@dataclass(frozen=True)
class _Learned:
    """The mass balances of some days, by lag [readings], and what they say of these days."""

    training: TrainingDays
    balances: dict[int, Balance]

    @cached_property
    def own(self) -> _Judged:
        """The days they were learned from."""
        return self.judge(self.training.days)

    def judge(self, days: Sequence[Inputs]) -> _Judged:
        """Give what they say of these or of other days."""
        heard = BalanceEvaluator([self.balances[lag] for lag in lags_in_readings(self.training.interval)])
        return _Judged(days, [self.training.clamped(heard.people(day)) for day in days])

    def columns(self, judged: _Judged, lag: int) -> Array:
        """Give the columns of days, all days in one."""
        balance = self.balances[lag]
        moment = feature_settings(balance, lag)
        days = zip(judged.days, judged.said, strict=True)
        return np.concatenate([room_features(day, balance.base, moment, said) for day, said in days])

    def people(self, judged: _Judged, lag: int) -> Array:
        """Give what the mass balance says, all days in one [people]."""
        place = lags_in_readings(self.training.interval).index(lag)
        return np.concatenate([said[place] for said in judged.said])


@dataclass(frozen=True)
class _Fold:
    """What was learned without some days, those days, and their place among all rows."""

    learned: _Learned
    left_out: _Judged
    place: NDArray[np.int64]


def _learn(training: TrainingDays, others: BalancePrior | None) -> _Learned:
    days, balances = DayTerms(training.days, BaseLevel.learn(training.lows)), {}
    for lag, minutes in zip(lags_in_readings(training.interval), LAGS, strict=True):
        penalty = weak_ridge if others is None else others.penalty(minutes, training.worth)
        balances[lag] = fit_balance(
            days, training.people[lag], lag=lag, penalty=penalty, weights=training.weights(lag)
        )
    return _Learned(training, balances)


def _folds(training: TrainingDays, others: BalancePrior | None) -> list[_Fold]:
    """Deal the days into parts, and learn without each; a single day has nobody to learn from."""
    if len(training) < 2:
        return []
    of_row = np.repeat(np.arange(len(training)), [len(rows) for rows in training.days])

    def fold(train: list[int], held_out: list[int]) -> _Fold:
        learned = _learn(training.only(train), others)
        left_out = learned.judge([training.days[i] for i in held_out])
        return _Fold(learned, left_out, np.flatnonzero(np.isin(of_row, held_out)))

    # not in threads: many small steps would wait for each other
    return [fold(*days) for days in day_folds(len(training), FOLDS)]


def _refine(
    learned: _Learned,
    folds: Sequence[_Fold],
    lag: int,
    proof: _Proof,
    share: float,
    hours: Sequence[OpenHours],
    settings: TrainingSettings,
) -> tuple[Refinement, Array]:
    """Train what is said of a reading some time later; also what it says of days left out [people]."""
    training, target = learned.training, learned.training.target(lag)
    layer, coefs = _train(learned, lag, proof.seed, proof.pairs, settings)
    balance_left_out = np.zeros(target.size)
    for fold in folds:
        balance_left_out[fold.place] = fold.learned.people(fold.left_out, lag)
    estimated = averaged(proof.people, balance_left_out, share)
    threshold = _threshold(estimated, proof.presence, target, training.most, training.weight(lag))
    present = is_present(estimated, proof.presence, threshold, training.most)
    before = lag * settings.interval
    is_open = np.concatenate([hours[k].at(clock, before) for k, clock in enumerate(training.clocks)])
    estimated = np.where(present & is_open, estimated, 0.0)
    ranges = _ranges(training, lag, estimated) if folds else PredictionIntervals.unknown(training.most)
    balance = learned.balances[lag]
    refinement = Refinement(
        balance=balance,
        moment=feature_settings(balance, lag),
        layer=layer,
        coef=coefs[0][:, 0],
        presence=coefs[1][:, 1],
        threshold=threshold,
        ranges=ranges,
    )
    return refinement, estimated


def _train(
    learned: _Learned, lag: int, seed: int, pairs: Sequence[tuple[float, float]], settings: TrainingSettings
) -> tuple[LinkedLayer, list[Array]]:
    """Train the network on all rows that teach: its layer, and read-outs for every pair of ridges."""
    training, taught = learned.training, learned.training.taught(lag)
    columns, weight = learned.columns(learned.own, lag)[taught], training.weight(lag)
    layer = fit_layer(columns, list(GROUPS.values()), settings.z_max, n_hidden=settings.n_hidden, seed=seed)
    targets, weight = _targets(training.target(lag)[taught]), None if weight is None else weight[taught]
    return layer, fit_read_outs(layer, columns, targets, pairs, weight)


def _ranges(training: TrainingDays, lag: int, estimated: Array) -> PredictionIntervals:
    """Learn how far off estimates are; counts of one quarter of an hour together weigh as one."""
    target, weights = training.target(lag), training.weights(lag)
    if weights is None:
        return PredictionIntervals.learn(estimated, target)
    apart = []
    for clock, weight in zip(training.clocks, weights, strict=True):
        slot = (clock.minute // APART).astype(int)
        rows = np.bincount(slot, weights=weight > 0, minlength=1440 // APART)[slot]
        apart.append(weight / np.maximum(rows, 1))
    weight, taught = np.concatenate(apart), training.taught(lag)
    return PredictionIntervals.learn(estimated[taught], target[taught], weight[taught], training.most)


@dataclass(frozen=True)
class _Proof:
    """What a network says of days left out with the best ridges for people and for presence."""

    seed: int
    pairs: tuple[tuple[float, float], tuple[float, float]]
    people: Array
    presence: Array
    error: float


def _best_proof(
    folds: Sequence[_Fold], training: TrainingDays, lag: int, settings: TrainingSettings
) -> _Proof:
    """Try every random layer, and keep the proof of the best."""
    target, weight = training.target(lag), training.weight(lag)
    proofs = [_prove(folds, lag, target, seed, settings, weight) for seed in settings.seeds]
    return min(proofs, key=lambda proof: proof.error)


def _prove(
    folds: Sequence[_Fold],
    lag: int,
    target: Array,
    seed: int,
    settings: TrainingSettings,
    weight: Array | None = None,
) -> _Proof:
    """Train on the other days of every fold with all ridges, and choose those that do best."""
    pairs = ridge_pairs(settings.ridges)
    if not folds:
        return _Proof(seed, (pairs[-1], pairs[-1]), np.zeros(target.size), np.ones(target.size), 0.0)
    said = np.empty((target.size, len(pairs), 2))

    def prove(fold: _Fold) -> None:
        learned, others = fold.learned, fold.learned.training
        layer, found = _train(learned, lag, seed, pairs, settings)
        coefs = np.hstack(found)
        outside = layer.columns(learned.columns(fold.left_out, lag)) @ coefs
        said[fold.place] = outside.reshape(-1, len(pairs), 2)
        said[fold.place, :, 0] = others.clamped(said[fold.place, :, 0])

    each_on_a_core(prove, folds)
    squares = (said - _targets(target)[:, np.newaxis]) ** 2
    errors = np.sum(squares if weight is None else weight[:, np.newaxis, np.newaxis] * squares, axis=0)
    people, presence = (int(best) for best in errors.argmin(axis=0))
    return _Proof(
        seed,
        (pairs[people], pairs[presence]),
        people=said[:, people, 0].copy(),
        presence=said[:, presence, 1].copy(),
        error=float(errors[people, 0]),
    )


def _targets(people: Array) -> Array:
    """Give what the network is to say: people, and whether anybody is in."""
    return np.column_stack([people, people > 0])


def _threshold(
    estimated: Array, presence: Array, people: Array, most: float, weight: Array | None = None
) -> float:
    """Choose the threshold of presence that leaves the least squared error; the highest of several."""

    def error(threshold: float) -> float:
        present = is_present(estimated, presence, threshold, most)
        squares = (np.where(present, estimated, 0.0) - people) ** 2
        return float(np.sum(squares if weight is None else weight * squares))

    errors = [error(threshold) for threshold in THRESHOLDS]
    return THRESHOLDS[len(errors) - 1 - int(np.argmin(errors[::-1]))]
