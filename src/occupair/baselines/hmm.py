"""A hidden Markov model with head counts as states and the terms of the mass balance as observations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from occupair.baselines.baseline import Array, Baseline, Day
from occupair.baselines.hmm_filter import Emissions, fixed_lag, forward
from occupair.baselines.markov_transitions import CountStates, transition_matrices
from occupair.baselines.mass_balance import MassBalanceBaseline
from occupair.baselines.time_of_day import is_weekend, slot_of_day
from occupair.folds import day_folds


@dataclass(kw_only=True, eq=False, repr=False)
class HMMBaseline(Baseline):
    r"""The expected head count of a hidden Markov model, filtered online.

    The hidden states are head counts (binned in large rooms), with transition probabilities by time of day
    and day type. The observations are the two parts of the mass balance (``MassBalanceBaseline``), from
    the rise and from the level of CO2, Gaussian in each state. With ``lag``, the forward filter is followed
    by fixed-lag smoothing.

    The states are known in training, so counting replaces Baum-Welch. Errors of the balance are correlated
    over tens of minutes, whereas the filter assumes independent observations: each likelihood is therefore
    raised to the power ``interval / memory``, with the memory selected by cross-validation over training
    days.

    Parameters
    ----------
    lag : float
        Lag of the estimates: how long each waits for later readings [min].
    slot : float
        Length of a time slot with constant transition probabilities [min].
    most_states : int
        Maximum number of occupied states; larger head counts are binned.
    weight : float
        Weight of the transition probabilities of the whole day in each slot [min].
    memories : sequence of float
        Candidate correlation times of the balance errors [min].

    Attributes
    ----------
    balance_ : MassBalanceBaseline
        Mass balance.
    counts_ : CountStates
        States.
    emissions_ : Emissions
        Observation densities.
    transitions_ : dict
        Transition matrices of each slot, keyed by whether the day is on a weekend.
    memory_ : float
        Selected memory [min].
    """

    slot: float = 60
    most_states: int = 15
    weight: float = 60
    memories: tuple[float, ...] = (5, 10, 20, 40)

    def _fit_days(self, days: list[Day], people: list[Array]) -> None:
        memory = self._best_memory(days, people) if len(self.memories) > 1 else self.memories[0]
        self._count(days, people)
        self.memory_ = memory

    def _best_memory(self, days: list[Day], people: list[Array]) -> float:
        """Select the memory by cross-validation over days; a single day is scored on itself."""
        errors = np.zeros(len(self.memories))
        for train, held_out in day_folds(len(days)):
            trial = type(self)(**self.get_params())
            trial._count([days[i] for i in train], [people[i] for i in train])
            for j, trial.memory_ in enumerate(self.memories):
                found = [trial._estimate_day(days[i]) - people[i] for i in held_out]
                errors[j] += float(np.sum(np.concatenate(found) ** 2))
        return self.memories[int(np.argmin(errors))]

    def _count(self, days: list[Day], people: list[Array]) -> None:
        balance = MassBalanceBaseline(lag=self.lag)
        balance._fit_days(days, people)
        counts = CountStates.learn(people, most_states=self.most_states)
        states, size = [counts.of(inside) for inside in people], counts.people.size
        seen = np.vstack([_rise_and_level(day, balance) for day in days])
        self.balance_, self.counts_ = balance, counts
        self.emissions_ = Emissions.learn(seen, np.concatenate(states), counts.people)
        self.transitions_ = transition_matrices(
            days, states, size=size, slot=self.slot, weight=self.weight / days[0].interval
        )
        first = np.bincount([s[0] for s in states], minlength=size) + 1 / size
        self.start_ = first / first.sum()

    def _estimate_day(self, day: Day) -> Array:
        matrices = self.transitions_[is_weekend(day)][slot_of_day(day, self.slot)]
        log = self.emissions_.log_likelihood(_rise_and_level(day, self.balance_))
        exponent = min(day.interval / self.memory_, 1.0)
        likelihood = np.maximum(np.exp(log * exponent), 1e-12)  # an outlier does not rule out any state
        probabilities = forward(self.start_, matrices, likelihood)
        older = self._ahead(day) - round(self.balance_.delay_ / day.interval)
        return fixed_lag(probabilities, matrices, likelihood, older) @ self.counts_.people


def _rise_and_level(day: Day, balance: MassBalanceBaseline) -> Array:
    """Split the mass balance estimate into the parts from the rise and from the level of CO2 [people]."""
    parts = balance.contributions(day)
    return np.column_stack([parts[:, 0], parts[:, 1:].sum(axis=1)])
