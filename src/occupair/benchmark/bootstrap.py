"""How sure a difference is: days are drawn again, with replacement, within each room."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
N_RESAMPLES = 2000
COVERAGE = 0.95


@dataclass(frozen=True)
class DayErrors:
    """Sums of squared errors of each day of a room [people squared].

    Parameters
    ----------
    one, other : array
        Of the two methods that are compared.
    reference : array
        Of the training mean.
    """

    one: Array
    other: Array
    reference: Array


@dataclass(frozen=True)
class Interval:
    """A difference in nRMSE, and where 95 % of its resamples lie."""

    difference: float
    low: float
    high: float


def difference_interval(
    rooms: Sequence[DayErrors], *, n_resamples: int = N_RESAMPLES, seed: int = 0
) -> Interval:
    """Difference in nRMSE of one method to another, averaged over rooms, with its 95 % interval.

    Both methods are scored on the same drawn days, so what makes a day hard for both cancels out.

    Parameters
    ----------
    rooms : sequence of DayErrors
        One for each room.
    n_resamples : int
        How often the days are drawn.
    seed : int
        Where the draws start; the same for every pair of methods, so that their intervals compare.

    Examples
    --------
    >>> same = DayErrors(np.array([1.0, 4.0]), np.array([1.0, 4.0]), np.array([10.0, 10.0]))
    >>> difference_interval([same])
    Interval(difference=0.0, low=0.0, high=0.0)
    """
    rng = np.random.default_rng(seed)
    observed = np.mean([_difference(room, np.arange(room.one.size)[None]) for room in rooms], axis=0)
    draws = [rng.integers(room.one.size, size=(n_resamples, room.one.size)) for room in rooms]
    drawn = np.mean([_difference(room, days) for room, days in zip(rooms, draws, strict=True)], axis=0)
    low, high = np.nanquantile(drawn, [(1 - COVERAGE) / 2, (1 + COVERAGE) / 2])
    return Interval(float(observed[0]), float(low), float(high))


def _difference(room: DayErrors, days: NDArray[np.intp]) -> Array:
    """Difference in nRMSE on each row of day numbers; NaN where the training mean makes no error."""
    one, other, floor = (errors[days].sum(axis=1) for errors in (room.one, room.other, room.reference))
    floor = np.where(floor > 0, floor, np.nan)
    return np.asarray(np.sqrt(one / floor) - np.sqrt(other / floor))
