"""Training of the default estimator, with cross-validation over days.

In each fold everything is trained on the other days, starting with the mass balance, so no information about
a held-out day reaches its estimates. The weights of ridges and members, presence thresholds and prediction
intervals come from the held-out estimates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from occupair.elm.cores import each_on_a_core
from occupair.folds import day_folds
from occupair.progress import track
from occupair.room.boosted_trees import BoostedTrees, Columns, fit_trees, tree_columns
from occupair.room.day_conformal import fit_intervals
from occupair.room.equation import is_present
from occupair.room.evidence import fit_thresholds
from occupair.room.features import (
    feature_gains,
    feature_settings,
    group_sizes,
    people_spread,
    room_features,
)
from occupair.room.inputs import Clock, Inputs
from occupair.room.lags import LAGS, lags_in_readings
from occupair.room.linked_elm import LinkedLayer, fit_layer, fit_read_outs, ridge_pairs
from occupair.room.mass_balance import (
    Balance,
    BalanceEvaluator,
    BaseLevel,
    DayTerms,
    average_weights,
    fit_balance,
    weak_ridge,
)
from occupair.room.model import Refinement, RoomModel
from occupair.room.open_hours import OpenHours, fit_open_hours
from occupair.room.pooled_start import LAYER_SEED, PooledStart
from occupair.room.prediction_intervals import PredictionIntervals
from occupair.room.stack import PRIOR_DAYS, PRIOR_WEIGHTS, member_weights
from occupair.room.training_days import LabelledEpisode, TrainingDays, prepare_training_days
from occupair.room.transfer import BalancePrior

Array = NDArray[np.float64]

MAX_FOLDS = 5
"""Maximum number of folds in the cross-validation over days."""

FULL_WEIGHT_DAYS = 6
"""Number of training days from which on network and trees have their prior weight; with fewer they have less.

They also have less if head counts cover only some hours of the day, because unlike the mass balance they
depend on the time of day.
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
    start : PooledStart, optional
        Read-outs of other rooms that the network starts from; its layer is then the only one tried.
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
    start: PooledStart | None = None
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
    training : TrainingDays
        The training samples.
    by_lag : dict
        By lag [readings], the held-out estimates of all days concatenated [people].
    hours : list of OpenHours
        For each day the open hours learned from the other days.
    """

    clock: list[Clock]
    people: list[Array]
    estimated: list[Array]
    weights: list[Array] | None
    effective_days: float
    training: TrainingDays
    by_lag: dict[int, Array]
    hours: list[OpenHours]

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
    fitted, folds = fit_balances(training, prior), _folds(training, prior)
    unobserved = None if training.sparse is None else training.sparse.unobserved
    hours, held_out_hours = fit_open_hours(
        training.clocks, training.people[0], training.weights(0), unobserved
    )
    validations = {
        lag: _best_validation(folds, training, lag, settings)
        for lag in track(list(training.people), "training", show=settings.verbose)
    }

    def refine(lag: int) -> tuple[Refinement, Array]:
        return _refine(fitted, folds, lag, validations[lag], held_out_hours, settings)

    trained = each_on_a_core(refine, list(validations))
    refinements = tuple(refinement for refinement, _ in trained)
    model = RoomModel(
        settings.interval,
        settings.smoothing,
        training.max_people,
        hours,
        refinements,
        settings.lags,
        people_limit=training.people_limit,
        evidence_thresholds=fit_thresholds(
            [fold.held_out_balances for fold in folds], hours, training.max_people
        ),
    )
    held_out = HeldOutEstimates(
        training.clocks,
        training.people[0],
        training.split(trained[0][1]),
        training.counted_weights(0),
        effective_days=training.effective_days,
        training=training,
        by_lag={one.lag: estimated for one, estimated in trained},
        hours=held_out_hours,
    )
    return model, held_out


@dataclass(frozen=True)
class _BalanceEstimates:
    """Inputs of some days and group S of their features, arrays of shape (n_lags + N_PARTS, N)."""

    days: Sequence[Inputs]
    people: Sequence[Array]


@dataclass(frozen=True)
class FittedBalances:
    """Mass balances fitted to training days, by lag [readings]."""

    training: TrainingDays
    balances: dict[int, Balance]

    @cached_property
    def on_training_days(self) -> _BalanceEstimates:
        """Estimates of the days they were fitted to."""
        return self.estimate(self.training.days)

    def estimate(self, days: Sequence[Inputs]) -> _BalanceEstimates:
        """Estimate training days or other days."""
        n_lags = len(self.training.lags)
        balances = [self.balances[lag] for lag in self.training.lags_in_readings]
        evaluator = BalanceEvaluator([balances], with_parts=True)
        people = [evaluator.people(day) for day in days]
        for of_day in people:
            of_day[:n_lags] = self.training.clamp(of_day[:n_lags])
        return _BalanceEstimates(days, people)

    def features(self, estimates: _BalanceEstimates, lag: int) -> Array:
        """Return the features of days at a lag, all days concatenated."""
        balance = self.balances[lag]
        settings = feature_settings(balance, lag)
        days = zip(estimates.days, estimates.people, strict=True)
        return np.concatenate([room_features(day, balance.base, settings, people) for day, people in days])

    def tree_columns(self, estimates: _BalanceEstimates, features: Array, lag: int) -> Columns:
        """Return the columns of the boosted trees for the features of days, shape (N, n_columns)."""
        clocks = zip(*(day.clock for day in estimates.days), strict=True)
        clock = Clock(*(np.concatenate(times) for times in clocks))
        n_people = len(estimates.people[0])
        return tree_columns(features.T, clock, lag * self.training.interval, n_people).T

    def people(self, estimates: _BalanceEstimates, lag: int) -> Array:
        """Return the people by the mass balance at a lag, all days concatenated [people]."""
        place = self.training.lags_in_readings.index(lag)
        return np.concatenate([people[place] for people in estimates.people])


@dataclass(frozen=True)
class _Fold:
    """Mass balances fitted without some days, estimates of those days, and their place among all inputs."""

    fitted: FittedBalances
    held_out: _BalanceEstimates
    place: NDArray[np.int64]

    @property
    def held_out_balances(self) -> tuple[list[Balance], Sequence[Inputs]]:
        """Mass balance at each lag, and the inputs of the days it was not fitted to."""
        balances = self.fitted.balances
        return [balances[lag] for lag in self.fitted.training.lags_in_readings], self.held_out.days


def fit_balances(training: TrainingDays, prior: BalancePrior | None = None) -> FittedBalances:
    """Fit the mass balance of every lag, started from other rooms if given."""
    days, balances = DayTerms(training.days, BaseLevel.fit(training.lows)), {}
    for lag, minutes in zip(training.lags_in_readings, training.lags, strict=True):
        penalty = weak_ridge if prior is None else prior.penalty(minutes, training.effective_days)
        balances[lag] = fit_balance(
            days, training.people[lag], lag=lag, penalty=penalty, weights=training.weights(lag)
        )
    return FittedBalances(training, balances)


def _folds(training: TrainingDays, prior: BalancePrior | None) -> list[_Fold]:
    """Fit the mass balances without the days of each fold; a single day has no folds."""
    if len(training) < 2:
        return []
    day_of_input = np.repeat(np.arange(len(training)), [len(inputs) for inputs in training.days])

    def fold(train: list[int], held_out: list[int]) -> _Fold:
        fitted = fit_balances(training.subset(train), prior)
        estimates = fitted.estimate([training.days[k] for k in held_out])
        return _Fold(fitted, estimates, np.flatnonzero(np.isin(day_of_input, held_out)))

    # not in threads: the steps are so small that threads would block each other
    return [fold(*days) for days in day_folds(len(training), MAX_FOLDS)]


def _refine(
    fitted: FittedBalances,
    folds: Sequence[_Fold],
    lag: int,
    validation: _Validation,
    held_out_hours: Sequence[OpenHours],
    settings: TrainingSettings,
) -> tuple[Refinement, Array]:
    """Train the refinement of one lag; also return its held-out estimates [people]."""
    training, target = fitted.training, fitted.training.target(lag)
    network, trees = _train_members(fitted, lag, validation.seed, settings)
    members = np.array([validation.people, validation.balance, validation.trees])
    prior_days = PRIOR_DAYS if settings.start is None else settings.start.prior_days
    weights = _weights(training, members - target, training.weight(lag), prior_days)
    estimated = weights @ members
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
        fit_intervals(training, lag, estimated)
        if folds
        else PredictionIntervals.unknown(training.people_limit)
    )
    balance = fitted.balances[lag]
    refinement = Refinement(
        weights=tuple(weights.tolist()),
        balance=balance,
        trees=trees,
        features=feature_settings(balance, lag),
        layer=network.layer,
        coef=np.tensordot(validation.candidates[:, 0], network.read_outs, 1)[:, 0] * network.unit,
        presence=np.tensordot(validation.candidates[:, 1], network.read_outs, 1)[:, 1],
        threshold=threshold,
        intervals=intervals,
    )
    return refinement, estimated


class _Network(NamedTuple):
    """A trained network: its layer, a read-out for every candidate, and the unit of people [people]."""

    layer: LinkedLayer
    read_outs: list[Array]
    unit: float


def _train_members(
    fitted: FittedBalances, lag: int, seed: int, settings: TrainingSettings
) -> tuple[_Network, BoostedTrees]:
    """Train network and trees on all labelled inputs."""
    training, labelled = fitted.training, fitted.training.labelled(lag)
    features = fitted.features(fitted.on_training_days, lag)
    columns = fitted.tree_columns(fitted.on_training_days, features, lag)[labelled]
    people, weight = training.target(lag)[labelled], training.weight(lag)
    weight = None if weight is None else weight[labelled]
    network = train_network(features[labelled], people, weight, lag, seed, settings)
    return network, fit_trees(columns, people, weight)


def train_network(
    features: Array, people: Array, weight: Array | None, lag: int, seed: int, settings: TrainingSettings
) -> _Network:
    """Train the network with every candidate: all pairs of ridges, with and without the start."""
    n_lags, unit = len(settings.lags), people_spread(people)
    gains = feature_gains(features, people, n_lags)
    layer = fit_layer(gains, group_sizes(n_lags), settings.z_max, n_hidden=settings.n_hidden, seed=seed)
    targets = np.column_stack([people / unit, people > 0])
    start = None if settings.start is None else settings.start.read_outs[_minutes(lag, settings)]
    pairs = ridge_pairs(settings.ridges)
    return _Network(layer, fit_read_outs(layer, features, targets, pairs, weight, start), unit)


def _minutes(lag: int, settings: TrainingSettings) -> float:
    """Return the first lag of the settings that is ``lag`` readings [min]."""
    return settings.lags[lags_in_readings(settings.lags, settings.interval).index(lag)]


def _weights(
    training: TrainingDays, errors: Array, weight: Array | None, prior_days: float = PRIOR_DAYS
) -> Array:
    """Return the weights of network, mass balance and trees, given their errors on held-out days."""
    days = training.effective_days
    enough = min(1.0, days / FULL_WEIGHT_DAYS) * training.labelled_hours_share
    prior = np.array(PRIOR_WEIGHTS)
    prior[[0, 2]] *= enough
    prior[1] = 1 - prior[[0, 2]].sum()
    if len(training) < 2:
        return prior
    return member_weights(errors, prior, days, weight, prior_days=prior_days)


@dataclass(frozen=True)
class _Validation:
    """Held-out estimates of every member."""

    seed: int
    candidates: Array  # weight of each candidate read-out, for people and for presence, shape (n, 2)
    people: Array  # by the network
    presence: Array
    balance: Array
    trees: Array
    error: float


def _best_validation(
    folds: Sequence[_Fold], training: TrainingDays, lag: int, settings: TrainingSettings
) -> _Validation:
    """Cross-validate every random layer and return the best."""
    seeds = settings.seeds if settings.start is None else (LAYER_SEED,)
    validations = [_cross_validate(folds, training, lag, seed, settings) for seed in seeds]
    return min(validations, key=lambda validation: validation.error)


def _cross_validate(
    folds: Sequence[_Fold], training: TrainingDays, lag: int, seed: int, settings: TrainingSettings
) -> _Validation:
    """Train all members on the other days of every fold; choose the network with the smallest error."""
    target, weight = training.target(lag), training.weight(lag)
    n = len(ridge_pairs(settings.ridges)) * (1 if settings.start is None else 2)
    if not folds:
        strongest, nobody = np.zeros((n, 2)), np.zeros(target.size)
        strongest[len(ridge_pairs(settings.ridges)) - 1] = 1.0
        return _Validation(seed, strongest, nobody, np.ones(target.size), nobody, nobody, error=0.0)
    outputs, balance, trees = np.empty((target.size, n, 2)), np.empty(target.size), np.empty(target.size)

    def validate(fold: _Fold) -> None:
        fitted, held_out, place = fold.fitted, fold.held_out, fold.place
        network, fold_trees = _train_members(fitted, lag, seed, settings)
        features = fitted.features(held_out, lag)
        found = (network.layer.outputs(features) @ np.hstack(network.read_outs)).reshape(-1, n, 2)
        found[:, :, 0] = fitted.training.clamp(found[:, :, 0] * network.unit)
        outputs[place] = found
        balance[place] = fitted.people(held_out, lag)
        trees[place] = fitted.training.clamp(
            fold_trees.people(fitted.tree_columns(held_out, features, lag).T)
        )

    each_on_a_core(validate, folds)
    squares = (outputs - np.column_stack([target, target > 0])[:, np.newaxis]) ** 2
    errors = np.sum(squares if weight is None else weight[:, np.newaxis, np.newaxis] * squares, axis=0)
    candidates = np.column_stack([average_weights(of_target) for of_target in errors.T])
    people, presence = np.einsum("nct,ct->tn", outputs, candidates)
    return _Validation(
        seed,
        candidates,
        people=people,
        presence=presence,
        balance=balance,
        trees=trees,
        error=errors[:, 0].min(),
    )


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
