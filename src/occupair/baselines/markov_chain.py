"""An inhomogeneous Markov chain of the occupancy, the literature's model without a sensor."""

from __future__ import annotations

import numpy as np

from occupair.baselines.baseline import Array, Baseline, Day
from occupair.baselines.markov_transitions import Counts, transition_matrices
from occupair.baselines.time_of_day import MINUTES_PER_DAY, is_weekend, minute_of_day, slots_per_day


class MarkovChainBaseline(Baseline):
    """The expected people of a Markov chain that starts empty at midnight.

    After Page et al. 2008 ("A generalised stochastic model for the simulation of occupant presence"):
    the chance to go from one head count to another depends on the time of day, and on whether it is a
    weekday. Page simulates one person's presence; we chain the head count of the whole room, and give the
    expectation instead of one draw. It never looks at CO2.

    Parameters
    ----------
    lag : float
        Minutes that an estimate may wait for later readings [min]; it gains nothing here.
    slot : float
        How long transition chances stay the same [min].
    most_states : int
        Occupied states at most; larger head counts share states.
    weight : float
        Transitions that the chances of the whole day count for in each slot.

    Attributes
    ----------
    counts_ : Counts
        The states.
    expected_ : dict
        Expected people at each step from midnight [people], by whether it is a weekend.
    """

    def __init__(
        self, *, lag: float = 0, slot: float = 30, most_states: int = 40, weight: float = 0.1
    ) -> None:
        self.lag = lag
        self.slot = slot
        self.most_states = most_states
        self.weight = weight

    def _learn(self, days: list[Day], people: list[Array]) -> None:
        counts = Counts.learn(people, most_states=self.most_states)
        states = [counts.of(inside) for inside in people]
        chances = transition_matrices(
            days, states, size=counts.people.size, slot=self.slot, weight=self.weight
        )
        self.counts_ = counts
        self.expected_ = {
            weekend: propagate(matrices, slot=self.slot, interval=days[0].interval) @ counts.people
            for weekend, matrices in chances.items()
        }

    def _people(self, day: Day) -> Array:
        steps = (minute_of_day(day) / day.interval).astype(int)
        return np.asarray(self.expected_[is_weekend(day)][steps])


def propagate(matrices: Array, *, slot: float, interval: float) -> Array:
    """Chances of each state at every step of a day that starts empty.

    Parameters
    ----------
    matrices : array of shape (slots, size, size)
        Transition chances in each slot.
    slot, interval : float
        Length of a slot and of a step [min].

    Returns
    -------
    array of shape (steps, size)

    Examples
    --------
    >>> one_in_four_comes = np.array([[[0.75, 0.25], [0.0, 1.0]]])
    >>> propagate(one_in_four_comes, slot=1440, interval=480)
    array([[1.    , 0.    ],
           [0.75  , 0.25  ],
           [0.5625, 0.4375]])
    """
    chances = np.zeros((int(np.ceil(MINUTES_PER_DAY / interval)), matrices.shape[1]))
    chances[0, 0] = 1.0
    last = slots_per_day(slot) - 1
    for k in range(1, len(chances)):
        chances[k] = chances[k - 1] @ matrices[min(int(k * interval / slot), last)]
    return chances
