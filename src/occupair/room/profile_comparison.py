"""Comparison with the time-of-day profile on held-out days, to see whether CO2 adds information."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from occupair.room.inputs import Clock
from occupair.room.time_profile import mean_of_sums, sums_by_bin

Array = NDArray[np.float64]

PROFILE_STEP = 30
"""Resolution of the profile [min]."""

MIN_DAYS_TO_WARN = 5
"""Number of days from which on a missing benefit of CO2 is not put down to chance."""

MAX_ERROR_RATIO = 0.95
"""Ratio to the profile's error below which CO2 counts as adding information."""


@dataclass(frozen=True)
class ProfileComparison:
    """Errors of the estimator and of the time-of-day profile on held-out training days.

    Parameters
    ----------
    error : float
        RMSE of the estimator [people].
    profile_error : float
        RMSE of the mean occupancy by time of day, separate for weekdays and weekends, without CO2 [people].
    days : int
        Number of days; with fewer than ``MIN_DAYS_TO_WARN`` there is no warning.
    """

    error: float
    profile_error: float
    days: int

    @property
    def co2_helps(self) -> bool:
        """Whether CO2 adds information to the time of day."""
        return self.error < MAX_ERROR_RATIO * self.profile_error

    @property
    def is_warning(self) -> bool:
        """Whether CO2 does not help, and there are enough days to conclude so."""
        return not self.co2_helps and self.days >= MIN_DAYS_TO_WARN

    def __str__(self) -> str:
        verdict = (
            "CO2 improves on the time-of-day profile"
            if self.co2_helps
            else "CO2 adds almost nothing to the time-of-day profile of this room"
        )
        errors = f"{self.error:.2f} people with CO2, {self.profile_error:.2f} with the profile alone"
        return f"{verdict}: RMSE on held-out days is {errors}"


def compare_with_profile(
    clocks: Sequence[Clock],
    people: Sequence[Array],
    estimated: Sequence[Array],
    weights: Sequence[Array] | None = None,
    effective_days: float | None = None,
) -> ProfileComparison | None:
    """Compare estimates of held-out days with the time-of-day profile of the other days.

    Parameters
    ----------
    clocks : sequence of Clock
        Local times of each day; two days or more.
    people, estimated : sequence of array
        Head counts and estimates [people].
    weights : sequence of array, optional
        Weight of each head count [0..1]; the comparison then uses only times of day at which a day of the
        same kind also has a head count. None: all 1, and a time of day without other days counts as empty.
    effective_days : float, optional
        Number of fully labelled days that the head counts are equivalent to.

    Returns
    -------
    ProfileComparison or None
        None if no time of day has head counts on two days.
    """
    profiles = held_out_profiles(clocks, people, weights)
    if weights is None:
        return ProfileComparison(_rmse(people, estimated), _rmse(people, profiles), len(clocks))
    shared = [weight * ~np.isnan(profile) for weight, profile in zip(weights, profiles, strict=True)]
    if not any(weight.any() for weight in shared):
        return None
    profiles = [np.nan_to_num(profile) for profile in profiles]
    error, profile_error = _rmse(people, estimated, shared), _rmse(people, profiles, shared)
    n_days = len(clocks) if effective_days is None else int(effective_days)
    return ProfileComparison(error, profile_error, n_days)


def held_out_profiles(
    clocks: Sequence[Clock], people: Sequence[Array], weights: Sequence[Array] | None = None
) -> list[Array]:
    """Return, for every day, the mean occupancy of the other days at each of its times [people].

    Only days of the same kind (weekday or weekend) are used if there are any. Times of day that none of them
    has are 0, or NaN if weights are given.
    """
    given = [np.ones(day.size) for day in people] if weights is None else weights
    days = zip(clocks, people, given, strict=True)
    sums = np.array(
        [sums_by_bin(_steps(clock), count, weight, n_bins=_STEPS_PER_DAY) for clock, count, weight in days]
    )
    kinds = np.array([clock.weekend[0] for clock in clocks])
    others = _sums_of_others(sums)  # of any kind
    for kind in (0.0, 1.0):
        if (kinds == kind).sum() > 1:
            others[kinds == kind] = _sums_of_others(sums[kinds == kind])
    means = [mean_of_sums(*of_day)[_steps(clock)] for of_day, clock in zip(others, clocks, strict=True)]
    return [np.nan_to_num(mean) for mean in means] if weights is None else means


def _sums_of_others(sums: Array) -> Array:
    """Return for each day the sum over all other days; added, not subtracted, so that nothing remains 0."""
    none = np.zeros_like(sums[:1])
    before = np.concatenate([none, np.cumsum(sums[:-1], axis=0)])
    after = np.concatenate([np.cumsum(sums[:0:-1], axis=0)[::-1], none])
    return np.asarray(before + after)


_STEPS_PER_DAY = 1440 // PROFILE_STEP


def _steps(clock: Clock) -> NDArray[np.int64]:
    return (clock.minute // PROFILE_STEP).astype(np.int64)


def _rmse(true: Sequence[Array], estimated: Sequence[Array], weights: Sequence[Array] | None = None) -> float:
    squares = (np.concatenate(true) - np.concatenate(estimated)) ** 2
    return float(np.sqrt(np.average(squares, weights=None if weights is None else np.concatenate(weights))))
