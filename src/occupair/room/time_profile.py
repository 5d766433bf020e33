"""Time-of-day profile: the mean occupancy of the training days at each time of day, without CO2.

It is a member of the default estimator for rooms in which CO2 tells less than the time of day; elsewhere its
weight is next to nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from occupair.room.inputs import Clock

Array = NDArray[np.float64]
Bins = NDArray[np.signedinteger[Any]]

STEP = 15
"""Resolution of the profile [min]."""

N_STEPS = 1440 // STEP
"""Number of steps of a day."""

_SMOOTHING = np.array([1.0, 4.0, 6.0, 4.0, 1.0]) / 16  # standard deviation of one step
_PRIOR = 0.05  # weight of the mean of all head counts, in head counts


@dataclass(frozen=True)
class TimeProfile:
    """Mean occupancy by time of day.

    Parameters
    ----------
    people : array of shape (2, N_STEPS)
        Mean head count of each step of the day on weekdays, and on weekends [people].
    """

    people: Array

    @classmethod
    def fit(
        cls, clocks: Sequence[Clock], people: Sequence[Array], weights: Sequence[Array] | None = None
    ) -> TimeProfile:
        """Average the head counts of the training days.

        If there are no training days on weekends, the profile of the weekdays is used, and vice versa.

        Parameters
        ----------
        clocks, people : sequence of Clock, of array
            Local times and head counts of each day [people].
        weights : sequence of array, optional
            Weight of each head count [0..1]; None: all 1.

        Examples
        --------
        >>> noon = Clock(np.arange(720.0, 735.0), np.zeros(15))
        >>> profile = TimeProfile.fit([noon], [np.full(15, 4.0)])
        >>> profile.at(Clock(np.array([727.0, 740.0]), np.zeros(2))).round(2)
        array([4., 4.])
        """
        minute, weekend = (np.concatenate(values) for values in zip(*clocks, strict=True))
        counts = np.concatenate(people)
        weight = np.ones(counts.size) if weights is None else np.concatenate(weights)
        mean = float(np.average(counts, weights=weight)) if weight.any() else 0.0
        steps, rows = (minute // STEP).astype(int), []
        for kind in (0.0, 1.0):
            own = weekend == kind if (weight[weekend == kind] > 0).any() else np.ones(counts.size, dtype=bool)
            sums = sums_by_bin(steps[own], counts[own], weight[own], n_bins=N_STEPS)
            total, weight_sum = (_smooth(values) for values in sums)
            rows.append((total + _PRIOR * mean) / (weight_sum + _PRIOR))
        return cls(np.round(rows, 4))

    def at(self, clock: Clock, before: float = 0.0) -> Array:
        """Return the mean occupancy ``before`` minutes before each time [people]."""
        return np.asarray(self.people[clock.weekend.astype(int), step_of_day(clock, before)])


def step_of_day(clock: Clock, before: float | Array = 0.0) -> NDArray[np.int64]:
    """Return the step of the day ``before`` minutes before each time; (R, 1) gives shape (R, N)."""
    return np.asarray(((clock.minute - before) % 1440 // STEP).astype(np.int64))


def _smooth(values: Array) -> Array:
    """Smooth values of the steps of a day, around midnight as well."""
    reach = len(_SMOOTHING) // 2
    return np.convolve(np.concatenate([values[-reach:], values, values[:reach]]), _SMOOTHING, mode="valid")


def mean_by_bin(bins: Bins, people: Array, weights: Array, *, n_bins: int) -> Array:
    """Return the weighted mean occupancy of each time-of-day bin [people]; NaN without head counts.

    Examples
    --------
    >>> mean_by_bin(np.array([0, 0, 2]), np.array([1.0, 4.0, 5.0]), np.array([1.0, 0.5, 1.0]), n_bins=3)
    array([ 2., nan,  5.])
    """
    return mean_of_sums(*sums_by_bin(bins, people, weights, n_bins=n_bins))


def sums_by_bin(bins: Bins, people: Array, weights: Array, *, n_bins: int) -> tuple[Array, Array]:
    """Return the sum of weighted people and the sum of weights of each bin."""
    total, weight_sum = (
        np.bincount(bins, weights=values, minlength=n_bins).astype(float)
        for values in (weights * people, weights)
    )
    return total, weight_sum


def mean_of_sums(total: Array, weight_sum: Array) -> Array:
    """Return means from the sums of ``sums_by_bin``; NaN without head counts."""
    has_counts = weight_sum > 0
    return np.where(has_counts, total / np.where(has_counts, weight_sum, 1.0), np.nan)
