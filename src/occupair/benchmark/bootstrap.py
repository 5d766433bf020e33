"""Confidence intervals of score differences, from a bootstrap over the days of each room."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
N_RESAMPLES = 2000
CONFIDENCE = 0.95


@dataclass(frozen=True)
class DayErrors:
    """Sum of squared errors on each day of a room [people squared].

    Parameters
    ----------
    one, other : array
        Errors of the two methods compared.
    reference : array
        Errors of the training mean.
    """

    one: Array
    other: Array
    reference: Array


@dataclass(frozen=True)
class ConfidenceInterval:
    """A difference in nRMSE with its 95 % bootstrap confidence interval."""

    difference: float
    low: float
    high: float


def difference_interval(
    rooms: Sequence[DayErrors], *, n_resamples: int = N_RESAMPLES, seed: int = 0
) -> ConfidenceInterval:
    """Return the mean difference in nRMSE between two methods over rooms, with its 95 % interval.

    Both methods are scored on the same resampled days, so the difficulty of a day cancels out.

    Parameters
    ----------
    rooms : sequence of DayErrors
        Daily errors, one entry per room.
    n_resamples : int
        Number of bootstrap resamples.
    seed : int
        Random seed; the same for every pair of methods, which makes their intervals comparable.

    Examples
    --------
    >>> same = DayErrors(np.array([1.0, 4.0]), np.array([1.0, 4.0]), np.array([10.0, 10.0]))
    >>> difference_interval([same])
    ConfidenceInterval(difference=0.0, low=0.0, high=0.0)
    """
    rng = np.random.default_rng(seed)
    observed = np.mean([_difference(room, np.arange(room.one.size)[None]) for room in rooms], axis=0)
    draws = [rng.integers(room.one.size, size=(n_resamples, room.one.size)) for room in rooms]
    drawn = np.mean([_difference(room, days) for room, days in zip(rooms, draws, strict=True)], axis=0)
    low, high = np.nanquantile(drawn, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return ConfidenceInterval(float(observed[0]), float(low), float(high))


def _difference(room: DayErrors, days: NDArray[np.intp]) -> Array:
    """Return the difference in nRMSE for each row of day numbers; NaN where the reference error is zero."""
    one, other, floor = (errors[days].sum(axis=1) for errors in (room.one, room.other, room.reference))
    floor = np.where(floor > 0, floor, np.nan)
    return np.asarray(np.sqrt(one / floor) - np.sqrt(other / floor))
