"""Does CO2 tell more than the clock? The estimator against the time-of-day profile, on days left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from occupair.room.inputs import Clock

Array = NDArray[np.float64]

SLOT = 30
"""Length of a time of day [min]."""

ENOUGH_DAYS = 5
"""Days from which on it is not by chance that CO2 does not help."""

WORTHWHILE = 0.95
"""Share of the profile's error below which CO2 adds something."""


@dataclass(frozen=True)
class ProfileComparison:
    """Errors on training days left out.

    Parameters
    ----------
    error : float
        RMSE of the estimator [people].
    profile_error : float
        RMSE of the mean of each time of day, weekdays and weekends apart, which never looks at CO2 [people].
    days : int
        How many there were; fewer than ``ENOUGH_DAYS`` are too few to complain.
    """

    error: float
    profile_error: float
    days: int

    @property
    def co2_helps(self) -> bool:
        """Whether CO2 tells more than the clock."""
        return self.error < WORTHWHILE * self.profile_error

    @property
    def is_warning(self) -> bool:
        """Whether CO2 does not help, on days enough to say so."""
        return not self.co2_helps and self.days >= ENOUGH_DAYS

    def __str__(self) -> str:
        verdict = (
            "CO2 tells more than the clock" if self.co2_helps else "CO2 adds next to nothing in this room"
        )
        ours, clock = f"{self.error:.2f}", f"{self.profile_error:.2f}"
        return f"{verdict}: on days left out {ours} people off with it, {clock} by the time of day alone"


def compare_with_profile(
    clocks: Sequence[Clock],
    people: Sequence[Array],
    estimated: Sequence[Array],
    weights: Sequence[Array] | None = None,
    worth: float | None = None,
) -> ProfileComparison | None:
    """Compare estimates of days left out with the profile of the other days.

    Parameters
    ----------
    clocks : sequence of Clock
        Times of each day; two days or more.
    people, estimated : sequence of array
        The truth, and the estimates [people].
    weights : sequence of array, optional
        How far each count is to be trusted [0..1]; only times of day are then compared at which a day
        alike has a count, too. None: all fully, and a time of day that no other day has is empty.
    worth : float, optional
        How many days the counts are worth.

    Returns
    -------
    ProfileComparison or None
        None when no time of day has a count on two days.
    """
    days = range(len(clocks))
    if weights is None:
        profiles = [profile(clocks, people, left_out=k) for k in days]
        return ProfileComparison(_rmse(people, estimated), _rmse(people, profiles), len(clocks))
    profiles = [profile(clocks, people, left_out=k, weights=weights) for k in days]
    seen = [weight * ~np.isnan(told) for weight, told in zip(weights, profiles, strict=True)]
    if not any(weight.any() for weight in seen):
        return None
    profiles = [np.nan_to_num(told) for told in profiles]
    error, profile_error = _rmse(people, estimated, seen), _rmse(people, profiles, seen)
    return ProfileComparison(error, profile_error, days=len(clocks) if worth is None else int(worth))


def profile(
    clocks: Sequence[Clock],
    people: Sequence[Array],
    *,
    left_out: int,
    weights: Sequence[Array] | None = None,
) -> Array:
    """Give the mean of each time of day over the other days, those of its kind if there are any [people].

    At a time of day that none of them has it is 0; with weights, it is not known: NaN.
    """
    day = clocks[left_out]
    others = [k for k in range(len(clocks)) if k != left_out]
    alike = [k for k in others if clocks[k].weekend[0] == day.weekend[0]] or others
    slots = np.concatenate([_slots(clocks[k]) for k in alike])
    counts = np.concatenate([people[k] for k in alike])
    weight = np.ones(counts.size) if weights is None else np.concatenate([weights[k] for k in alike])
    total = np.bincount(slots, weights=weight * counts, minlength=_PER_DAY)
    seen = np.bincount(slots, weights=weight, minlength=_PER_DAY)
    mean = np.where(seen > 0, total / np.where(seen > 0, seen, 1.0), 0.0 if weights is None else np.nan)
    return mean[_slots(day)]


_PER_DAY = 1440 // SLOT


def _slots(clock: Clock) -> NDArray[np.int64]:
    return (clock.minute // SLOT).astype(np.int64)


def _rmse(true: Sequence[Array], estimated: Sequence[Array], weights: Sequence[Array] | None = None) -> float:
    off = (np.concatenate(true) - np.concatenate(estimated)) ** 2
    return float(np.sqrt(np.average(off, weights=None if weights is None else np.concatenate(weights))))
