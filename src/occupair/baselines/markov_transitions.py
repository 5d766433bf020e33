"""Head counts as states of a Markov chain, and its time-dependent transition matrices."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from occupair.baselines.baseline import Array, Day
from occupair.baselines.time_of_day import days_of_kind, slot_of_day, slots_per_day

States = NDArray[np.intp]


@dataclass(frozen=True)
class CountStates:
    """States of head counts: 0 on its own, then bins of ``width`` counts.

    Parameters
    ----------
    width : int
        Counts per bin; 1 for small rooms.
    people : array
        Mean training count of each state [people].
    """

    width: int
    people: Array

    @classmethod
    def learn(cls, people: list[Array], *, most_states: int) -> CountStates:
        """Create the empty state and at most ``most_states`` occupied ones.

        Examples
        --------
        >>> CountStates.learn([np.array([0.0, 1.0, 2.0, 2.0, 4.0])], most_states=2)
        CountStates(width=2, people=array([0.        , 1.66666667, 4.        ]))
        """
        seen = np.concatenate(people)
        width = max(1, int(np.ceil(seen.max() / most_states)))
        states = _binned(seen, width)
        number = np.bincount(states)
        middle = np.maximum(0.0, np.arange(number.size) * width - (width - 1) / 2)
        mean = np.bincount(states, weights=seen) / np.maximum(number, 1)
        return cls(width, np.where(number > 0, mean, middle))

    def of(self, people: Array) -> States:
        """Return the state of each head count."""
        return _binned(people, self.width)


def _binned(people: Array, width: int) -> States:
    return np.ceil(people / width).astype(np.intp)


def count_transitions(day: Day, states: States, *, size: int, slot: float) -> Array:
    """Count the transitions in each time slot of ``slot`` minutes.

    Returns
    -------
    array of shape (slots, size, size)
        Transitions from the previous state (rows) to the next (columns).
    """
    counts = np.zeros((slots_per_day(slot), size, size))
    np.add.at(counts, (slot_of_day(day, slot)[1:], states[:-1], states[1:]), 1.0)
    return counts


def transition_matrices(
    days: list[Day], states: list[States], *, size: int, slot: float, weight: float
) -> dict[bool, Array]:
    """Return the transition matrices of each slot, for weekdays (False) and weekends (True).

    Each row is regularised towards the row pooled over all slots, with the weight of ``weight`` transitions;
    the pooled row includes one self-transition, so a state never left in training persists.

    Returns
    -------
    dict of arrays of shape (slots, size, size)
        Rows sum to 1.
    """
    counted = np.array(
        [count_transitions(day, s, size=size, slot=slot) for day, s in zip(days, states, strict=True)]
    )
    kinds = {weekend: counted[days_of_kind(days, weekend=weekend)].sum(axis=0) for weekend in (False, True)}
    return {weekend: _rows(counts, weight) for weekend, counts in kinds.items()}


def _rows(counts: Array, weight: float) -> Array:
    pooled = counts.sum(axis=0) + np.eye(counts.shape[1])
    pooled /= pooled.sum(axis=1, keepdims=True)
    regularised = counts + max(weight, 1e-9) * pooled  # also for states that do not occur in a slot
    return np.asarray(regularised / regularised.sum(axis=2, keepdims=True))
