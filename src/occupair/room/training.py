"""Training of the default estimator, with cross-validation over days.

In each fold everything is trained on the other days, starting with the mass balance, so no information about
a held-out day reaches its estimates. Ridges, presence thresholds and prediction intervals are chosen on the
held-out estimates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from occupair.elm.cores import each_on_a_core
from occupair.folds import day_folds
from occupair.progress import track
from occupair.room.day_conformal import fit_intervals
from occupair.room.equation import is_present, weighted_mean
from occupair.room.features import feature_settings, group_sizes, room_features
from occupair.room.inputs import Clock, Inputs
from occupair.room.lags import LAGS
from occupair.room.linked_elm import LinkedLayer, fit_layer, fit_read_outs, ridge_pairs
from occupair.room.mass_balance import (
    Balance,
    BalanceEvaluator,
    BaseLevel,
    DayTerms,
    fit_balance,
    weak_ridge,
)
from occupair.room.model import Refinement, RoomModel
from occupair.room.open_hours import OpenHours, fit_open_hours
from occupair.room.prediction_intervals import PredictionIntervals
from occupair.room.training_days import LabelledEpisode, TrainingDays, prepare_training_days
from occupair.room.transfer import BalancePrior

Array = NDArray[np.float64]

MAX_FOLDS = 10
"""Maximum number of folds in the cross-validation over days."""

MAX_NETWORK_SHARE = 0.5
"""Weight of the FS-ELM in the mean with the mass balance, given enough training days."""

FULL_SHARE_DAYS = 6
"""Number of training days from which on the FS-ELM has ``MAX_NETWORK_SHARE``; with fewer it has less.

It also has less if head counts cover only some hours of the day, because unlike the mass balance it depends
on the time of day.
"""

THRESHOLDS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
"""Candidate thresholds of presence."""


@dataclass(frozen=True)
class TrainingSettings:
    """Settings of the training.

    Parameters
    ----------
    interval : float
        Time between readings [min].
    smoothing : float
        Weight of the CO2 smoothing [readings squared].
    z_max : tuple of float
        Influence of each of ``GROUPS``, Eq. (13).
    n_hidden : int
        Number of neurons.
    ridges : tuple of float
        Candidate ridges of the neurons.
    seeds : tuple of int
        Seeds of the random layers to try; the one with the smallest error on held-out days is used.
    verbose : bool, optional
        Whether to show progress; None does so in a terminal, if it takes long.
    lags : tuple of float
        Lags of the estimates [min], 0 first, increasing.
    """

    interval: float
    smoothing: float
    z_max: tuple[float, ...]
    n_hidden: int
    ridges: tuple[float, ...]
    seeds: tuple[int, ...]
    verbose: bool | None = None
    lags: tuple[float, ...] = LAGS


@dataclass(frozen=True)
class HeldOutEstimates:
    """Cross-validated estimates of the training days, at lag 0.

    Parameters
    ----------
    clock : list of Clock
        Local times of each day.
    people, estimated : list of array
        Head counts and held-out estimates [people].
    weights : list of array, optional
        Weight of each head count, 0 where there is none; None: all 1.
    effective_days : float
        Number of fully labelled days that the head counts are equivalent to.
    """

    clock: list[Clock]
    people: list[Array]
    estimated: list[Array]
    weights: list[Array] | None
    effective_days: float

    @property
    def error(self) -> float:
        """RMSE [people]."""
        difference = np.concatenate(self.people) - np.concatenate(self.estimated)
        weight = None if self.weights is None else np.concatenate(self.weights)
        return float(np.sqrt(np.average(difference**2, weights=weight)))


def fit_room(
    dates: Sequence[Sequence[LabelledEpisode]], settings: TrainingSettings, prior: BalancePrior | None = None
) -> tuple[RoomModel, HeldOutEstimates]:
    """Train a room.

    Parameters
    ----------
    dates : sequence of sequence of LabelledEpisode
        Episodes of each local day.
    settings : TrainingSettings
        Settings of the training.
    prior : BalancePrior, optional
        Mass balances of other rooms to start from.

    Returns
    -------
    model, held_out
        The trained room, and its cross-validated estimates.
    """
    training = prepare_training_days(
        dates, interval=settings.interval, smoothing=settings.smoothing, lags=settings.lags
    )
    fitted, folds = _fit_balances(training, prior), _folds(training, prior)
    enough = min(1.0, training.effective_days / FULL_SHARE_DAYS)
    network_share = MAX_NETWORK_SHARE * enough * training.labelled_hours_share
    unobserved = None if training.sparse is None else training.sparse.unobserved
    hours, held_out_hours = fit_open_hours(
        training.clocks, training.people[0], training.weights(0), unobserved
    )
    validations = {
        lag: _best_validation(folds, training, lag, settings)
        for lag in track(list(training.people), "training", show=settings.verbose)
    }

    def refine(lag: int) -> tuple[Refinement, Array]:
        return _refine(fitted, folds, lag, validations[lag], network_share, held_out_hours, settings)

    trained = each_on_a_core(refine, list(validations))
    refinements = tuple(refinement for refinement, _ in trained)
    model = RoomModel(
        settings.interval,
        settings.smoothing,
        training.max_people,
        network_share,
        hours,
        refinements,
        settings.lags,
    )
    held_out = HeldOutEstimates(
        training.clocks,
        training.people[0],
        training.split(trained[0][1]),
        training.weights(0),
        effective_days=training.effective_days,
    )
    return model, held_out


@dataclass(frozen=True)
class _BalanceEstimates:
    """Inputs of some days and their people by the mass balances, arrays of shape (n_lags, N)."""

    days: Sequence[Inputs]
    people: Sequence[Array]


@dataclass(frozen=True)
class _FittedBalances:
    """Mass balances fitted to training days, by lag [readings]."""

    training: TrainingDays
    balances: dict[int, Balance]

    @cached_property
    def on_training_days(self) -> _BalanceEstimates:
        """Estimates of the days they were fitted to."""
        return self.estimate(self.training.days)

    def estimate(self, days: Sequence[Inputs]) -> _BalanceEstimates:
        """Estimate training days or other days."""
        evaluator = BalanceEvaluator([[self.balances[lag] for lag in self.training.lags_in_readings]])
        return _BalanceEstimates(days, [self.training.clamp(evaluator.people(day)) for day in days])

    def features(self, estimates: _BalanceEstimates, lag: int) -> Array:
        """Return the features of days at a lag, all days concatenated."""
        balance = self.balances[lag]
        settings = feature_settings(balance, lag)
        days = zip(estimates.days, estimates.people, strict=True)
        return np.concatenate([room_features(day, balance.base, settings, people) for day, people in days])

    def people(self, estimates: _BalanceEstimates, lag: int) -> Array:
        """Return the people by the mass balance at a lag, all days concatenated [people]."""
        place = self.training.lags_in_readings.index(lag)
        return np.concatenate([people[place] for people in estimates.people])


@dataclass(frozen=True)
class _Fold:
    """Mass balances fitted without some days, estimates of those days, and their place among all inputs."""

    fitted: _FittedBalances
    held_out: _BalanceEstimates
    place: NDArray[np.int64]


def _fit_balances(training: TrainingDays, prior: BalancePrior | None) -> _FittedBalances:
    days, balances = DayTerms(training.days, BaseLevel.fit(training.lows)), {}
    for lag, minutes in zip(training.lags_in_readings, training.lags, strict=True):
        penalty = weak_ridge if prior is None else prior.penalty(minutes, training.effective_days)
        balances[lag] = fit_balance(
            days, training.people[lag], lag=lag, penalty=penalty, weights=training.weights(lag)
        )
    return _FittedBalances(training, balances)


def _folds(training: TrainingDays, prior: BalancePrior | None) -> list[_Fold]:
    """Fit the mass balances without the days of each fold; a single day has no folds."""
    if len(training) < 2:
        return []
    day_of_input = np.repeat(np.arange(len(training)), [len(inputs) for inputs in training.days])

    def fold(train: list[int], held_out: list[int]) -> _Fold:
        fitted = _fit_balances(training.subset(train), prior)
        estimates = fitted.estimate([training.days[k] for k in held_out])
        return _Fold(fitted, estimates, np.flatnonzero(np.isin(day_of_input, held_out)))

    # not in threads: the steps are so small that threads would block each other
    return [fold(*days) for days in day_folds(len(training), MAX_FOLDS)]


def _refine(
    fitted: _FittedBalances,
    folds: Sequence[_Fold],
    lag: int,
    validation: _Validation,
    network_share: float,
    held_out_hours: Sequence[OpenHours],
    settings: TrainingSettings,
) -> tuple[Refinement, Array]:
    """Train the refinement of one lag; also return its held-out estimates [people]."""
    training, target = fitted.training, fitted.training.target(lag)
    layer, coefs = _train_network(fitted, lag, validation.seed, validation.pairs, settings)
    balance_people = np.zeros(target.size)
    for fold in folds:
        balance_people[fold.place] = fold.fitted.people(fold.held_out, lag)
    estimated = weighted_mean(validation.people, balance_people, network_share)
    threshold = _best_threshold(
        estimated, validation.presence, target, training.max_people, training.weight(lag)
    )
    present = is_present(estimated, validation.presence, threshold, training.max_people)
    before = lag * settings.interval
    is_open = np.concatenate(
        [hours.at(clock, before) for hours, clock in zip(held_out_hours, training.clocks, strict=True)]
    )
    estimated = np.where(present & is_open, estimated, 0.0)
    intervals = (
        fit_intervals(training, lag, estimated) if folds else PredictionIntervals.unknown(training.max_people)
    )
    balance = fitted.balances[lag]
    refinement = Refinement(
        balance=balance,
        features=feature_settings(balance, lag),
        layer=layer,
        coef=coefs[0][:, 0],
        presence=coefs[1][:, 1],
        threshold=threshold,
        intervals=intervals,
    )
    return refinement, estimated


def _train_network(
    fitted: _FittedBalances,
    lag: int,
    seed: int,
    pairs: Sequence[tuple[float, float]],
    settings: TrainingSettings,
) -> tuple[LinkedLayer, list[Array]]:
    """Train the network on all labelled inputs: its layer, and read-outs for every pair of ridges."""
    training, labelled = fitted.training, fitted.training.labelled(lag)
    features, weight = fitted.features(fitted.on_training_days, lag)[labelled], training.weight(lag)
    sizes = group_sizes(len(training.lags))
    layer = fit_layer(features, sizes, settings.z_max, n_hidden=settings.n_hidden, seed=seed)
    targets, weight = _targets(training.target(lag)[labelled]), None if weight is None else weight[labelled]
    return layer, fit_read_outs(layer, features, targets, pairs, weight)


@dataclass(frozen=True)
class _Validation:
    """Held-out outputs of a network with the best ridges for people and for presence."""

    seed: int
    pairs: tuple[tuple[float, float], tuple[float, float]]
    people: Array
    presence: Array
    error: float


def _best_validation(
    folds: Sequence[_Fold], training: TrainingDays, lag: int, settings: TrainingSettings
) -> _Validation:
    """Cross-validate every random layer and return the best."""
    target, weight = training.target(lag), training.weight(lag)
    validations = [_cross_validate(folds, lag, target, seed, settings, weight) for seed in settings.seeds]
    return min(validations, key=lambda validation: validation.error)


def _cross_validate(
    folds: Sequence[_Fold],
    lag: int,
    target: Array,
    seed: int,
    settings: TrainingSettings,
    weight: Array | None = None,
) -> _Validation:
    """Train on the other days of every fold with all ridges, and choose those with the smallest error."""
    pairs = ridge_pairs(settings.ridges)
    if not folds:
        return _Validation(seed, (pairs[-1], pairs[-1]), np.zeros(target.size), np.ones(target.size), 0.0)
    outputs = np.empty((target.size, len(pairs), 2))

    def validate(fold: _Fold) -> None:
        layer, found = _train_network(fold.fitted, lag, seed, pairs, settings)
        held_out = layer.outputs(fold.fitted.features(fold.held_out, lag)) @ np.hstack(found)
        outputs[fold.place] = held_out.reshape(-1, len(pairs), 2)
        outputs[fold.place, :, 0] = fold.fitted.training.clamp(outputs[fold.place, :, 0])

    each_on_a_core(validate, folds)
    squares = (outputs - _targets(target)[:, np.newaxis]) ** 2
    errors = np.sum(squares if weight is None else weight[:, np.newaxis, np.newaxis] * squares, axis=0)
    people, presence = (int(best) for best in errors.argmin(axis=0))
    return _Validation(
        seed,
        (pairs[people], pairs[presence]),
        people=outputs[:, people, 0].copy(),
        presence=outputs[:, presence, 1].copy(),
        error=float(errors[people, 0]),
    )


def _targets(people: Array) -> Array:
    """Return the targets of the network: people, and whether anybody is present."""
    return np.column_stack([people, people > 0])


def _best_threshold(
    estimated: Array, presence: Array, people: Array, max_people: float, weight: Array | None = None
) -> float:
    """Return the threshold of presence with the smallest squared error; of equals, the highest."""

    def error(threshold: float) -> float:
        present = is_present(estimated, presence, threshold, max_people)
        squares = (np.where(present, estimated, 0.0) - people) ** 2
        return float(np.sum(squares if weight is None else weight * squares))

    errors = [error(threshold) for threshold in THRESHOLDS]
    return THRESHOLDS[len(errors) - 1 - int(np.argmin(errors[::-1]))]
