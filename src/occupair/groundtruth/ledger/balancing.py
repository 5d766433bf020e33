"""The cheapest change of the counts that balances a day, and all changes of the same cost.

A day is balanced if the occupancy is never negative, never above the capacity, and 0 at its end. Let c be
the cumulative change up to a minute: it starts at 0, ends at minus the remaining occupancy, and at every
minute occupancy + c must be within bounds. Changing the count of a minute by k people costs |k| times the
unit cost of that minute; the total cost is minimised. An integer programme would return one solution.
Dynamic programming over (minute, c), forward and backward (Bellman 1957), finds the same minimum and all
solutions that attain it. The passages do not distinguish these solutions. Each is weighted by the number of
people in the minutes it changes, since a person who is missed or counted twice is one of those passing.
From this:

- the proposed change is the median solution at every minute. The median of cheapest paths is itself a
  cheapest path, because the cost of a minute is convex in k; it is as often too early as too late, whereas
  the first or the last possible place would be biased to one side;
- the mean and variance over all solutions give the uncertainty of the occupancy at every minute.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from occupair.groundtruth.ledger.passage_grid import Counts

Floats = NDArray[np.float64]

COST_NOT_COUNTED, COST_UNCERTAIN, COST_REPEAT, COST_PASSAGES, COST_NO_PASSAGES = 1, 2, 2, 4, 6
"""Cost of changing a count by one person [quarters]: in an uncounted minute, in an uncertain minute, for a
passage that may be a repeated count, in a minute with passages, and in a minute without."""
MAX_CHANGE = 200  # people; a day that is off by more is not corrected
_INFINITE = 2**40  # above the cost of any path
_MIN_LOG_WEIGHT = -600.0  # keeps the weight of unlikely steps above 0
_CHUNK = 2**21  # transitions examined at once


@dataclass(frozen=True)
class CorrectionCosts:
    """Cost of changing the counts, by minute.

    Attributes
    ----------
    unit : cost per person [quarters]
    cheap_removals, cheap_additions : how many people fewer or more cost at most ``COST_REPEAT`` each, because
        they may have been counted twice
    likelihood : relative likelihood of a change in this minute at equal cost: the number of people passing
    """

    unit: Counts
    cheap_removals: Counts
    cheap_additions: Counts
    likelihood: Floats

    def of(self, minute: int, steps: Counts) -> Counts:
        """Cost of changing a minute by each of several numbers of people [quarters]."""
        unit = self.unit[minute]
        cheap = np.where(steps < 0, self.cheap_removals[minute], self.cheap_additions[minute])
        saved = np.minimum(np.abs(steps), cheap) * max(unit - COST_REPEAT, 0)
        return np.asarray(unit * np.abs(steps) - saved)

    def select(self, minutes: slice | Counts) -> CorrectionCosts:
        """Return the costs of some of the minutes."""
        return CorrectionCosts(
            self.unit[minutes],
            self.cheap_removals[minutes],
            self.cheap_additions[minutes],
            self.likelihood[minutes],
        )

    def distinct(self) -> tuple[Counts, Counts]:
        """Return one minute of every distinct cost, and for each minute which of these it equals."""
        table = np.column_stack([self.unit, self.cheap_removals, self.cheap_additions, self.likelihood])
        _, first, kind = np.unique(table, axis=0, return_index=True, return_inverse=True)
        return first, kind.ravel()


@dataclass(frozen=True)
class DayBalance:
    """The cheapest change that balances a day.

    Attributes
    ----------
    change : proposed cumulative change at every minute [people]; all 0 if the day is balanced
    cost : its cost [quarters]
    levels : cumulative changes considered [people]
    probabilities : of each level at every minute, shape (minutes, levels) [0..1]
    """

    change: Counts
    cost: int
    levels: Counts
    probabilities: Floats

    def mean(self) -> Floats:
        """Mean cumulative change at every minute [people]."""
        return np.asarray(self.probabilities @ self.levels)

    def variance(self) -> Floats:
        """Variance of the cumulative change at every minute [people squared]."""
        deviation = self.levels[None, :] - self.mean()[:, None]
        return np.asarray((self.probabilities * deviation**2).sum(axis=1))


def balance_day(
    occupancy: Counts, costs: CorrectionCosts, *, capacity: int | None = None
) -> DayBalance | None:
    """Find the cheapest change that balances a day; None if it exceeds ``MAX_CHANGE`` people.

    Parameters
    ----------
    occupancy : array of int
        As counted, at the end of every minute [people].
    costs : CorrectionCosts
        Cost of changing each minute.
    capacity : int, optional
        Maximum occupancy of the room [people].

    Examples
    --------
    Two people enter, one leaves, and the room is empty at the end of the day. The missing exit may be in any
    minute; weighted by the people passing, 2, 1, 1 and 1, the median is the second minute:

    >>> four = np.full(4, COST_PASSAGES)
    >>> costs = CorrectionCosts(four, four * 0, four * 0, np.array([2.0, 1.0, 1.0, 1.0]))
    >>> found = balance_day(np.array([2, 1, 1, 1]), costs)
    >>> found.change.tolist(), found.cost
    ([0, -1, -1, -1], 4)
    """
    lowest = -occupancy
    highest = np.full_like(occupancy, _INFINITE) if capacity is None else capacity - occupancy
    end = int(lowest[-1])
    low = min(0, end, int(highest.min()))
    high = max(0, int(lowest.max()))
    if high - low > MAX_CHANGE:
        return None
    levels = np.arange(low, high + 1)
    if levels.size == 1:
        return DayBalance(np.zeros_like(occupancy), 0, levels, np.ones((occupancy.size, 1)))
    allowed = (levels >= lowest[:, None]) & (levels <= highest[:, None])
    allowed[-1] = levels == end
    transitions = _transitions(levels, costs)
    forward, backward, cost = _cheapest_paths(allowed, transitions, start=-low)
    probabilities = _level_probabilities(forward, backward, cost, transitions, start=-low)
    change = levels[np.argmax(np.cumsum(probabilities, axis=1) >= 0.5 - 1e-9, axis=1)]
    return DayBalance(change, cost, levels, probabilities)


@dataclass(frozen=True)
class _Transitions:
    """Cost and unnormalised weight of moving from each level (row) to each (column), by kind of minute."""

    kind: Counts
    cost: Counts
    weight: Floats
    is_metric: NDArray[np.bool_]


def _transitions(levels: Counts, costs: CorrectionCosts) -> _Transitions:
    steps = levels[None, :] - levels[:, None]
    first, kind = costs.distinct()
    likelihood = costs.likelihood / costs.likelihood.max()
    number = np.abs(steps)
    # Poisson: a person who is missed or counted twice is one of those passing
    logs = [number * np.log(likelihood[k]) - gammaln(number + 1.0) for k in first]
    weight = np.exp(np.maximum(logs, _MIN_LOG_WEIGHT))
    is_metric = (costs.cheap_removals[first] == 0) & (costs.cheap_additions[first] == 0)
    return _Transitions(kind, np.stack([costs.of(int(k), steps) for k in first]), weight, is_metric)


def _cheapest_paths(
    allowed: NDArray[np.bool_], transitions: _Transitions, *, start: int
) -> tuple[Counts, Counts, int]:
    """Cost of the cheapest path to each level after each minute, from there to the end, and in total.

    Minutes with the same costs and bounds as their neighbour are skipped: the costs are a metric, and a
    change split over two such minutes is never cheaper.
    """
    n, size = allowed.shape
    kind, costs = transitions.kind, transitions.cost
    same_costs = (kind[1:] == kind[:-1]) & transitions.is_metric[kind[1:]]
    same_bounds = (allowed[1:] == allowed[:-1]).all(axis=1)
    forward, backward = np.full((n + 1, size), _INFINITE), np.full((n + 1, size), _INFINITE)
    forward[0, start] = 0
    for k in range(n):
        if k and same_costs[k - 1] and same_bounds[k - 1]:
            forward[k + 1] = forward[k]
            continue
        reached = (forward[k][:, None] + costs[kind[k]]).min(axis=0)
        forward[k + 1] = np.where(allowed[k], np.minimum(reached, _INFINITE), _INFINITE)
    backward[n] = np.where(allowed[-1], 0, _INFINITE)
    for k in range(n - 1, -1, -1):
        if 0 < k < n - 1 and same_costs[k] and same_bounds[k - 1]:
            backward[k] = backward[k + 1]
            continue
        remaining = (backward[k + 1][None, :] + costs[kind[k]]).min(axis=1)
        backward[k] = np.where(allowed[k - 1] if k else True, np.minimum(remaining, _INFINITE), _INFINITE)
    return forward, backward, int(backward[0, start])


def _level_probabilities(
    forward_cost: Counts, backward_cost: Counts, cost: int, transitions: _Transitions, *, start: int
) -> Floats:
    """Weighted fraction of the cheapest paths at each level after each minute."""
    n, size = forward_cost.shape[0] - 1, forward_cost.shape[1]

    def on_cheapest_path(minutes: slice) -> NDArray[np.bool_]:
        before, after = forward_cost[:-1][minutes, :, None], backward_cost[1:][minutes, None, :]
        return np.asarray(before + transitions.cost[transitions.kind[minutes]] + after == cost)

    def weights(k: int) -> Floats:
        return np.where(on_cheapest_path(slice(k, k + 1))[0], transitions.weight[transitions.kind[k]], 0.0)

    chunk = max(1, _CHUNK // size**2)
    off_diagonal = ~np.eye(size, dtype=bool)
    changes = np.concatenate(
        [(on_cheapest_path(slice(k, k + chunk)) & off_diagonal).any(axis=(1, 2)) for k in range(0, n, chunk)]
    )  # whether any cheapest path changes its level in a minute
    forward, backward = np.zeros((n + 1, size)), np.zeros((n + 1, size))
    forward[0, start], backward[n] = 1.0, backward_cost[n] == 0
    for k in range(n):
        forward[k + 1] = _normalised(forward[k] @ weights(k)) if changes[k] else forward[k]
    for k in range(n - 1, -1, -1):
        backward[k] = _normalised(weights(k) @ backward[k + 1]) if changes[k] else backward[k + 1]
    probabilities = forward[1:] * backward[1:]
    return np.asarray(probabilities / probabilities.sum(axis=1, keepdims=True))


def _normalised(weights: Floats) -> Floats:
    return np.asarray(weights / weights.sum())
