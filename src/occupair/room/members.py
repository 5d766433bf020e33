"""The members of the default estimator: their training, and their estimates of held-out days."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from occupair.elm.cores import each_on_a_core
from occupair.room.boosted_trees import BoostedTrees, fit_trees
from occupair.room.features import feature_gains, group_sizes, people_spread
from occupair.room.fitted_balances import BalanceEstimates, BalanceFold, FittedBalances
from occupair.room.kernel_regression import KernelEvaluator, KernelRegression, fit_kernel
from occupair.room.lags import LAGS, lags_in_readings
from occupair.room.linked_elm import LinkedLayer, fit_layer, fit_read_outs, ridge_pairs
from occupair.room.mass_balance import average_weights
from occupair.room.pooled_start import LAYER_SEED, PooledStart
from occupair.room.stack import MEMBERS, STACK_PRIOR, StackPrior, member_weights
from occupair.room.time_profile import TimeProfile
from occupair.room.training_days import TrainingDays

Array = NDArray[np.float64]

FULL_WEIGHT_DAYS = 6
"""Number of training days from which on all members have their prior weight; with fewer, all but the mass
balance have less.

They also have less if head counts cover only some hours of the day, because unlike the mass balance they
depend on the time of day.
"""


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
        Read-outs of other rooms that the network starts from, and prior of the weights of the members. The
        layer of the read-outs is then the only one tried.
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

    @property
    def stack_prior(self) -> StackPrior:
        """Prior of the weights of the members."""
        return STACK_PRIOR if self.start is None else self.start.stack


class TrainedNetwork(NamedTuple):
    """A trained network: its layer, a read-out for every candidate, and the unit of people [people]."""

    layer: LinkedLayer
    read_outs: list[Array]
    unit: float


class TrainedMembers(NamedTuple):
    """The members besides the mass balance, trained at one lag."""

    network: TrainedNetwork
    trees: BoostedTrees
    kernel: KernelRegression
    profile: TimeProfile


@dataclass(frozen=True)
class Validation:
    """Held-out estimates of every member at one lag.

    Parameters
    ----------
    seed : int
        Seed of the random layer of the network.
    candidates : array of shape (n, 2)
        Weight of each candidate read-out, for people and for presence.
    people : array of shape (n_members, N)
        Estimates of each of ``MEMBERS`` [people].
    presence : array of shape (N,)
        Presence by the network.
    error : float
        Squared error of the best candidate of the network [people squared].
    """

    seed: int
    candidates: Array
    people: Array
    presence: Array
    error: float


def train_members(fitted: FittedBalances, lag: int, seed: int, settings: TrainingSettings) -> TrainedMembers:
    """Train all members on the labelled inputs of the training days."""
    training, labelled = fitted.training, fitted.training.labelled(lag)
    features = fitted.features(fitted.on_training_days, lag)
    columns = fitted.tree_columns(fitted.on_training_days, features, lag)[labelled]
    features = features[labelled]
    people, weight = training.target(lag)[labelled], training.weight(lag)
    weight = None if weight is None else weight[labelled]
    return TrainedMembers(
        _train_network(features, people, weight, lag, seed, settings),
        fit_trees(columns, people, weight),
        fit_kernel(features, people, weight),
        TimeProfile.fit(training.clocks, training.people[0], training.weights(0)),
    )


def _train_network(
    features: Array, people: Array, weight: Array | None, lag: int, seed: int, settings: TrainingSettings
) -> TrainedNetwork:
    """Train the network with every candidate: all pairs of ridges, with and without the start."""
    n_lags, unit = len(settings.lags), people_spread(people)
    gains = feature_gains(features, people, n_lags)
    layer = fit_layer(gains, group_sizes(n_lags), settings.z_max, n_hidden=settings.n_hidden, seed=seed)
    targets = np.column_stack([people / unit, people > 0])
    start = None if settings.start is None else settings.start.read_outs[_minutes(lag, settings)]
    pairs = ridge_pairs(settings.ridges)
    return TrainedNetwork(layer, fit_read_outs(layer, features, targets, pairs, weight, start), unit)


def _minutes(lag: int, settings: TrainingSettings) -> float:
    """Return the first lag of the settings that is ``lag`` readings [min]."""
    return settings.lags[lags_in_readings(settings.lags, settings.interval).index(lag)]


def best_validation(
    folds: Sequence[BalanceFold], training: TrainingDays, lag: int, settings: TrainingSettings
) -> Validation:
    """Cross-validate the members with every random layer and return the best."""
    seeds = settings.seeds if settings.start is None else (LAYER_SEED,)
    validations = [cross_validate(folds, training, lag, seed, settings) for seed in seeds]
    return min(validations, key=lambda validation: validation.error)


def cross_validate(
    folds: Sequence[BalanceFold], training: TrainingDays, lag: int, seed: int, settings: TrainingSettings
) -> Validation:
    """Train all members on the other days of every fold, and estimate its days."""
    target, weight = training.target(lag), training.weight(lag)
    n = len(ridge_pairs(settings.ridges)) * (1 if settings.start is None else 2)
    people = np.zeros((len(MEMBERS), target.size))
    if not folds:
        strongest = np.zeros((n, 2))
        strongest[len(ridge_pairs(settings.ridges)) - 1] = 1.0
        return Validation(seed, strongest, people, np.ones(target.size), error=0.0)
    outputs = np.empty((target.size, n, 2))

    def validate(fold: BalanceFold) -> None:
        members = train_members(fold.fitted, lag, seed, settings)
        outputs[fold.place], people[1:, fold.place] = _held_out(members, fold.fitted, fold.held_out, lag)

    each_on_a_core(validate, folds)
    squares = (outputs - np.column_stack([target, target > 0])[:, np.newaxis]) ** 2
    errors = np.sum(squares if weight is None else weight[:, np.newaxis, np.newaxis] * squares, axis=0)
    candidates = np.column_stack([average_weights(of_target) for of_target in errors.T])
    people[0], presence = np.einsum("nct,ct->tn", outputs, candidates)
    return Validation(seed, candidates, people, presence, error=errors[:, 0].min())


def _held_out(
    members: TrainedMembers, fitted: FittedBalances, days: BalanceEstimates, lag: int
) -> tuple[Array, Array]:
    """Estimate days that the members were not trained on.

    Returns
    -------
    outputs : array of shape (N, n, 2)
        People and presence by every candidate of the network.
    people : array of shape (n_members - 1, N)
        Estimates of the other members, clamped [people].
    """
    network, training = members.network, fitted.training
    features = fitted.features(days, lag)
    outputs = network.layer.outputs(features) @ np.hstack(network.read_outs)
    outputs = outputs.reshape(len(features), len(network.read_outs), 2)
    outputs[:, :, 0] = training.clamp(outputs[:, :, 0] * network.unit)
    before = lag * training.interval
    people = [
        fitted.people(days, lag),
        members.trees.people(fitted.tree_columns(days, features, lag).T),
        KernelEvaluator([[members.kernel]]).people(features.T[:, np.newaxis])[0],
        np.concatenate([members.profile.at(day.clock, before) for day in days.days]),
    ]
    return outputs, training.clamp(np.array(people))


def stack_weights(
    training: TrainingDays, errors: Array, weight: Array | None, prior: StackPrior = STACK_PRIOR
) -> Array:
    """Return the weights of the members, given their errors on held-out days, shape (n_members, N)."""
    days = training.informative_days
    enough = min(1.0, days / FULL_WEIGHT_DAYS) * training.labelled_hours_share
    weights = np.array(prior.weights) / sum(prior.weights)
    balance = MEMBERS.index("balance")
    others = np.arange(len(MEMBERS)) != balance
    weights[others] *= enough
    if weights[balance] > 0:
        weights[balance] = 1 - weights[others].sum()
    if len(training) < 2:
        return np.asarray(weights / weights.sum())
    return member_weights(errors, weights, days, weight, prior_days=prior.days)
