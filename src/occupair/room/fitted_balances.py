"""Mass balances fitted to training days and without the days of each fold, and the features made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from occupair.folds import day_folds
from occupair.room.boosted_trees import Columns, tree_columns
from occupair.room.features import feature_settings, room_features
from occupair.room.inputs import Clock, Inputs
from occupair.room.mass_balance import (
    Balance,
    BalanceEvaluator,
    BaseLevel,
    DayTerms,
    Penalty,
    fit_balance,
    weak_ridge,
)
from occupair.room.training_days import TrainingDays

Array = NDArray[np.float64]


class BalanceStart(Protocol):
    """What mass balances start from."""

    def penalty(self, lag: float, n_days: float) -> Penalty:
        """Return the penalty at a lag [min] for a number of labelled days."""


MAX_FOLDS = 5
"""Maximum number of folds in the cross-validation over days."""


@dataclass(frozen=True)
class BalanceEstimates:
    """Inputs of some days and group S of their features, arrays of shape (n_lags + N_PARTS, N)."""

    days: Sequence[Inputs]
    people: Sequence[Array]


@dataclass(frozen=True)
class FittedBalances:
    """Mass balances fitted to training days, by lag [readings]."""

    training: TrainingDays
    balances: dict[int, Balance]

    @cached_property
    def on_training_days(self) -> BalanceEstimates:
        """Estimates of the days they were fitted to."""
        return self.estimate(self.training.days)

    def estimate(self, days: Sequence[Inputs]) -> BalanceEstimates:
        """Estimate training days or other days."""
        n_lags = len(self.training.lags)
        balances = [self.balances[lag] for lag in self.training.lags_in_readings]
        evaluator = BalanceEvaluator([balances], with_parts=True)
        people = [evaluator.people(day) for day in days]
        for of_day in people:
            of_day[:n_lags] = self.training.clamp(of_day[:n_lags])
        return BalanceEstimates(days, people)

    def features(self, estimates: BalanceEstimates, lag: int) -> Array:
        """Return the features of days at a lag, all days concatenated."""
        balance = self.balances[lag]
        settings = feature_settings(balance, lag)
        days = zip(estimates.days, estimates.people, strict=True)
        return np.concatenate([room_features(day, balance.base, settings, people) for day, people in days])

    def tree_columns(self, estimates: BalanceEstimates, features: Array, lag: int) -> Columns:
        """Return the columns of the boosted trees for the features of days, shape (N, n_columns)."""
        clocks = zip(*(day.clock for day in estimates.days), strict=True)
        clock = Clock(*(np.concatenate(times) for times in clocks))
        n_people = len(estimates.people[0])
        return tree_columns(features.T, clock, lag * self.training.interval, n_people).T

    def people(self, estimates: BalanceEstimates, lag: int) -> Array:
        """Return the people by the mass balance at a lag, all days concatenated [people]."""
        place = self.training.lags_in_readings.index(lag)
        return np.concatenate([people[place] for people in estimates.people])


@dataclass(frozen=True)
class BalanceFold:
    """Mass balances fitted without some days, estimates of those days, and their place among all inputs."""

    fitted: FittedBalances
    held_out: BalanceEstimates
    place: NDArray[np.int64]

    @property
    def held_out_balances(self) -> tuple[list[Balance], Sequence[Inputs]]:
        """Mass balance at each lag, and the inputs of the days it was not fitted to."""
        balances = self.fitted.balances
        return [balances[lag] for lag in self.fitted.training.lags_in_readings], self.held_out.days


def fit_balances(training: TrainingDays, prior: BalanceStart | None = None) -> FittedBalances:
    """Fit the mass balance of every lag, started from other rooms if given."""
    days, balances = DayTerms(training.days, BaseLevel.fit(training.lows)), {}
    for lag, minutes in zip(training.lags_in_readings, training.lags, strict=True):
        penalties = [] if prior is None else [prior.penalty(minutes, training.informative_days)]
        balances[lag] = fit_balance(
            days,
            training.people[lag],
            lag=lag,
            penalties=[*penalties, weak_ridge],
            weights=training.weights(lag),
        )
    return FittedBalances(training, balances)


def fold_balances(training: TrainingDays, prior: BalanceStart | None) -> list[BalanceFold]:
    """Fit the mass balances without the days of each fold; a single day has no folds."""
    if len(training) < 2:
        return []
    day_of_input = np.repeat(np.arange(len(training)), [len(inputs) for inputs in training.days])

    def fold(train: list[int], held_out: list[int]) -> BalanceFold:
        fitted = fit_balances(training.subset(train), prior)
        estimates = fitted.estimate([training.days[k] for k in held_out])
        return BalanceFold(fitted, estimates, np.flatnonzero(np.isin(day_of_input, held_out)))

    # not in threads: the steps are so small that threads would block each other
    return [fold(*days) for days in day_folds(len(training), MAX_FOLDS)]
