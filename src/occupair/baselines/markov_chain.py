"""An inhomogeneous Markov chain of occupancy, the standard occupant model without a sensor."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from occupair.baselines.baseline import Array, Baseline, Day
from occupair.baselines.markov_transitions import CountStates, transition_matrices
from occupair.baselines.time_of_day import MINUTES_PER_DAY, is_weekend, minute_of_day, slots_per_day


@dataclass(kw_only=True, eq=False, repr=False)
class MarkovChainBaseline(Baseline):
    """The expected occupancy of a Markov chain that starts empty at midnight.

    After Page et al. 2008 ("A generalised stochastic model for the simulation of occupant presence"):
    the transition probabilities depend on the time of day and the day type. Page simulates the presence of
    one person; here the chain is that of the room's head count, and the estimate is its expectation. CO2 is
    not used.

    Parameters
    ----------
    lag : float
        Lag of the estimates [min]; has no effect here.
    slot : float
        Length of a time slot with constant transition probabilities [min].
    most_states : int
        Maximum number of occupied states; larger head counts are binned.
    weight : float
        Weight of the transition probabilities of the whole day in each slot [transitions].

    Attributes
    ----------
    counts_ : CountStates
        States.
    expected_ : dict
        Expected people at each step from midnight [people], keyed by whether the day is on a weekend.
    """

    slot: float = 30
    most_states: int = 40
    weight: float = 0.1

    def _fit_days(self, days: list[Day], people: list[Array]) -> None:
        counts = CountStates.learn(people, most_states=self.most_states)
        states = [counts.of(inside) for inside in people]
        transitions = transition_matrices(
            days, states, size=counts.people.size, slot=self.slot, weight=self.weight
        )
        self.counts_ = counts
        self.expected_ = {
            weekend: propagate(matrices, slot=self.slot, interval=days[0].interval) @ counts.people
            for weekend, matrices in transitions.items()
        }

    def _estimate_day(self, day: Day) -> Array:
        steps = (minute_of_day(day) / day.interval).astype(int)
        return np.asarray(self.expected_[is_weekend(day)][steps])


def propagate(matrices: Array, *, slot: float, interval: float) -> Array:
    """Return the state probabilities at every step of a day that starts empty.

    Parameters
    ----------
    matrices : array of shape (slots, size, size)
        Transition matrices of the time slots.
    slot, interval : float
        Length of a time slot and of a step [min].

    Returns
    -------
    array of shape (steps, size)

    Examples
    --------
    >>> fills_in_one_of_four = np.array([[[0.75, 0.25], [0.0, 1.0]]])
    >>> propagate(fills_in_one_of_four, slot=1440, interval=480)
    array([[1.    , 0.    ],
           [0.75  , 0.25  ],
           [0.5625, 0.4375]])
    """
    probabilities = np.zeros((int(np.ceil(MINUTES_PER_DAY / interval)), matrices.shape[1]))
    probabilities[0, 0] = 1.0
    last = slots_per_day(slot) - 1
    for k in range(1, len(probabilities)):
        probabilities[k] = probabilities[k - 1] @ matrices[min(int(k * interval / slot), last)]
    return probabilities
