"""The smallest change that makes a day close, and everything that is as small.

A day closes if nobody is missing at any minute (occupancy >= 0), never more than the capacity are in, and
nobody at its end. Let the change up to a minute be c; it begins with 0, ends with what is left over, and at
every minute lies where occupancy + c is allowed. A change by k people in a minute costs |k| times the price
of that minute, and the sum is to be least. As an integer programme a solver would give one answer; as a
shortest path through (minute, c), found from both ends (Bellman 1957), it has the same least sum and gives
all changes that are as small. Nothing in the passages tells those apart, so each is taken to be as likely as
there are people in the minutes in which it changes something (whom a counter misses or counts twice is one of
those who pass), and two things follow:

- the change that is proposed is the median of those paths at every minute. The median of shortest paths is a
  shortest path, since the price of a minute is convex in k; and it is in half of the cases too early and in
  half too late, where the first or the last of the places would be wrong on one side;
- their mean and variance say how sure the occupancy is at every minute.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

Whole = NDArray[np.int64]
Numbers = NDArray[np.float64]

NOT_COUNTED, UNSURE, AGAIN, PASSED, EMPTY = 1, 2, 2, 4, 6
"""Price of changing one person [quarters]: in a minute that was not counted, in one that was not sure, of a
passage that may be a second count, in a minute with passages, and in one without."""
MOST = 200  # people; a day that is off by more is not a matter of corrections
_FAR = 2**40  # more than any path costs
_LEAST_LOG = -600.0  # keeps what is unlikely above 0


@dataclass(frozen=True)
class Prices:
    """What changes cost, minute by minute.

    Attributes
    ----------
    each : of one person [quarters]
    fewer_cheap, more_cheap : how many fewer and more cost AGAIN at most, for they may have been counted twice
    places : how likely a change is in this minute beside others at the same price: the people who pass in it
    """

    each: Whole
    fewer_cheap: Whole
    more_cheap: Whole
    places: Numbers

    def of(self, minute: int, steps: Whole) -> Whole:
        """Price of changing by each of some numbers of people in a minute [quarters]."""
        each = self.each[minute]
        cheap = np.where(steps < 0, self.fewer_cheap[minute], self.more_cheap[minute])
        saved = np.minimum(np.abs(steps), cheap) * max(each - AGAIN, 0)
        return np.asarray(each * np.abs(steps) - saved)

    def alike(self) -> tuple[Whole, Whole]:
        """Give a minute of each kind that there is, and the kind of every minute."""
        table = np.column_stack([self.each, self.fewer_cheap, self.more_cheap, self.places])
        _, first, kind = np.unique(table, axis=0, return_index=True, return_inverse=True)
        return first, kind.ravel()


@dataclass(frozen=True)
class Closing:
    """The smallest change of a day.

    Attributes
    ----------
    change : people more than counted at every minute; all 0 if the day closes as it is
    cost : its price [quarters]
    levels : the changes that come into question at any minute [people]
    chances : of each level at every minute, shape (minutes, levels) [0..1]
    """

    change: Whole
    cost: int
    levels: Whole
    chances: Numbers

    def mean(self) -> Numbers:
        """Give the expected change at every minute [people]."""
        return np.asarray(self.chances @ self.levels)

    def variance(self) -> Numbers:
        """Give the variance of the change at every minute [people squared]."""
        away = self.levels[None, :] - self.mean()[:, None]
        return np.asarray((self.chances * away**2).sum(axis=1))


def close_day(occupancy: Whole, prices: Prices, *, capacity: int | None = None) -> Closing | None:
    """Find the smallest change that makes a day close; None if it is more than ``MOST`` people.

    Parameters
    ----------
    occupancy : array of int
        As counted, at the end of every minute [people].
    prices : Prices
        What changes cost.
    capacity : int, optional
        The most people the room holds.

    Examples
    --------
    Two came, one left again, and at the end of the day the room is empty. The exit that is missing may be in
    the last minute or in the one before; not earlier, or nobody would have been in to leave:

    >>> four = np.full(4, PASSED)
    >>> prices = Prices(four, four * 0, four * 0, np.array([2.0, 1.0, 1.0, 1.0]))
    >>> found = close_day(np.array([2, 1, 1, 1]), prices)
    >>> found.change.tolist(), found.cost
    ([0, -1, -1, -1], 4)
    """
    least, most = -occupancy, _FAR if capacity is None else capacity - occupancy
    end = int(-occupancy[-1])
    low = min(0, end, int(np.min(most)))
    high = max(0, end, int(np.max(least)))
    if high - low > MOST:
        return None
    levels = np.arange(low, high + 1)
    if levels.size == 1:
        return Closing(np.zeros_like(occupancy), 0, levels, np.ones((occupancy.size, 1)))
    allowed = (levels >= least[:, None]) & (levels <= np.reshape(most, (-1, 1)))
    allowed[-1] &= levels == end
    moves = _moves(levels, prices)
    before, after, cost = _shortest(allowed, moves, begin=-low)
    chances = _chances(before, after, cost, moves, begin=-low)
    change = levels[np.argmax(np.cumsum(chances, axis=1) >= 0.5 - 1e-9, axis=1)]
    return Closing(change, cost, levels, chances)


@dataclass(frozen=True)
class _Moves:
    """From each level (row) to each (column): prices, and chances but for a factor, by the kind of minute."""

    kind: Whole
    price: list[Whole]
    ways: list[Numbers]


def _moves(levels: Whole, prices: Prices) -> _Moves:
    steps = levels[None, :] - levels[:, None]
    first, kind = prices.alike()
    places = prices.places / prices.places.max()
    number = np.abs(steps)
    # Poisson: whom a counter misses or counts twice is one of those who pass
    logs = [number * np.log(places[k]) - gammaln(number + 1.0) for k in first]
    ways = [np.exp(np.maximum(log, _LEAST_LOG)) for log in logs]
    return _Moves(kind, [prices.of(int(k), steps) for k in first], ways)


def _shortest(allowed: NDArray[np.bool_], moves: _Moves, *, begin: int) -> tuple[Whole, Whole, int]:
    """Price of the cheapest way to each level after each minute, and from there to the end."""
    n, size = allowed.shape
    before, after = np.full((n + 1, size), _FAR), np.full((n + 1, size), _FAR)
    before[0, begin] = 0
    for k in range(n):
        reached = (before[k][:, None] + moves.price[moves.kind[k]]).min(axis=0)
        before[k + 1] = np.where(allowed[k], np.minimum(reached, _FAR), _FAR)
    after[n] = np.where(allowed[-1], 0, _FAR)
    for k in range(n - 1, -1, -1):
        to_go = (after[k + 1][None, :] + moves.price[moves.kind[k]]).min(axis=1)
        after[k] = np.where(allowed[k - 1] if k else True, np.minimum(to_go, _FAR), _FAR)
    return before, after, int(after[0, begin])


def _chances(before: Whole, after: Whole, cost: int, moves: _Moves, *, begin: int) -> Numbers:
    """Share of the shortest paths at each level after each minute, each path by the places it has."""
    n, size = before.shape[0] - 1, before.shape[1]

    def ways(k: int) -> Numbers:
        total = before[k][:, None] + moves.price[moves.kind[k]] + after[k + 1][None, :]
        return np.where(total == cost, moves.ways[moves.kind[k]], 0.0)

    forward, backward = np.zeros((n + 1, size)), np.zeros((n + 1, size))
    forward[0, begin], backward[n] = 1.0, after[n] == 0
    for k in range(n):
        forward[k + 1] = forward[k] @ ways(k)
        forward[k + 1] /= forward[k + 1].sum()
    for k in range(n - 1, -1, -1):
        backward[k] = ways(k) @ backward[k + 1]
        backward[k] /= backward[k].sum()
    chances = forward[1:] * backward[1:]
    return np.asarray(chances / chances.sum(axis=1, keepdims=True))
