"""A hidden Markov model: head counts as hidden states, the mass balance as what is seen of them."""

from __future__ import annotations

import numpy as np

from occupair.baselines.baseline import Array, Baseline, Day
from occupair.baselines.hmm_filter import Emissions, fixed_lag, forward
from occupair.baselines.markov_transitions import Counts, transition_matrices
from occupair.baselines.mass_balance import MassBalanceBaseline
from occupair.baselines.time_of_day import is_weekend, slot_of_day
from occupair.folds import day_folds


class HMMBaseline(Baseline):
    r"""The expected head count of a hidden Markov chain, filtered as the readings come.

    The hidden states are head counts (in bins where there are many), with transition chances by time of
    day and kind of day counted in training. What is seen are the two parts of the mass balance
    (``MassBalanceBaseline``), the rise and the level of CO2, Gaussian in each state. With ``lag`` the
    forward filter is followed by fixed-lag smoothing.

    States are known in training, so that counting replaces the Baum-Welch iterations, and the forward
    filter is a few lines of numpy: a library for hidden Markov models would have nothing left to do. The
    errors of the balance last for tens of minutes, while the filter takes each reading as news: each
    likelihood is therefore raised to the power ``interval / memory``, with the memory of least error on
    training days left out in turn.

    Parameters
    ----------
    lag : float
        Minutes that an estimate may wait for later readings [min].
    slot : float
        How long transition chances stay the same [min].
    most_states : int
        Occupied states at most; larger head counts share states.
    weight : float
        Minutes that the chances of the whole day count for in each slot [min].
    memories : sequence of float
        How long an error of the balance lasts, to choose from [min].

    Attributes
    ----------
    balance_ : MassBalanceBaseline
        The mass balance.
    counts_ : Counts
        The states.
    emissions_ : Emissions
        What is seen in each state.
    chances_ : dict
        Transition matrices of each slot, by whether it is a weekend.
    memory_ : float
        The memory chosen [min].
    """

    def __init__(
        self,
        *,
        lag: float = 0,
        slot: float = 60,
        most_states: int = 15,
        weight: float = 60,
        memories: tuple[float, ...] = (5, 10, 20, 40),
    ) -> None:
        self.lag = lag
        self.slot = slot
        self.most_states = most_states
        self.weight = weight
        self.memories = memories

    def _learn(self, days: list[Day], people: list[Array]) -> None:
        memory = self._best_memory(days, people) if len(self.memories) > 1 else self.memories[0]
        self._count(days, people)
        self.memory_ = memory

    def _best_memory(self, days: list[Day], people: list[Array]) -> float:
        """Leave training days out in turn; with one day there is nothing to learn from but itself."""
        errors = np.zeros(len(self.memories))
        for train, held_out in day_folds(len(days)):
            trial = type(self)(**self.get_params())
            trial._count([days[i] for i in train], [people[i] for i in train])
            for j, trial.memory_ in enumerate(self.memories):
                found = [trial._people(days[i]) - people[i] for i in held_out]
                errors[j] += float(np.sum(np.concatenate(found) ** 2))
        return self.memories[int(np.argmin(errors))]

    def _count(self, days: list[Day], people: list[Array]) -> None:
        balance = MassBalanceBaseline(lag=self.lag)
        balance._learn(days, people)
        counts = Counts.learn(people, most_states=self.most_states)
        states, size = [counts.of(inside) for inside in people], counts.people.size
        seen = np.vstack([_rise_and_level(day, balance) for day in days])
        self.balance_, self.counts_ = balance, counts
        self.emissions_ = Emissions.learn(seen, np.concatenate(states), counts.people)
        self.chances_ = transition_matrices(
            days, states, size=size, slot=self.slot, weight=self.weight / days[0].interval
        )
        first = np.bincount([s[0] for s in states], minlength=size) + 1 / size
        self.start_ = first / first.sum()

    def _people(self, day: Day) -> Array:
        matrices = self.chances_[is_weekend(day)][slot_of_day(day, self.slot)]
        log = self.emissions_.log_likelihood(_rise_and_level(day, self.balance_))
        news = min(day.interval / self.memory_, 1.0)
        likelihood = np.maximum(np.exp(log * news), 1e-12)  # one odd reading rules nothing out
        chances = forward(self.start_, matrices, likelihood)
        older = self._ahead(day) - round(self.balance_.delay_ / day.interval)
        return fixed_lag(chances, matrices, likelihood, older) @ self.counts_.people


def _rise_and_level(day: Day, balance: MassBalanceBaseline) -> Array:
    """Split the people by the mass balance in what the rise of CO2 and what its level says [people]."""
    parts = balance.parts(day)
    return np.column_stack([parts[:, 0], parts[:, 1:].sum(axis=1)])
