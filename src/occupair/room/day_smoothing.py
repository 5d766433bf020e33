"""Smoothing of the estimates of a whole day, for estimates in hindsight.

An estimate fluctuates with the noise of CO2, while the count stays the same for minutes or hours and then
changes at once. Which smoothing suits depends on the room: in an office people come and go one by one, and a
quadratic penalty on changes is best; in a classroom the count jumps, which a median filter and a bilateral
filter preserve.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import median_filter

from occupair.room.lags import lag_in_readings
from occupair.smoothing import smooth, smoothing_in_readings

Array = NDArray[np.float64]

BILATERAL_TIME = 20.0
"""Standard deviation of the time weights of the bilateral filter [min]."""

BILATERAL_SPAN = 45.0
"""Largest distance of the readings that the bilateral filter averages [min]."""

_STEP = 3.0  # time between the readings that the bilateral filter averages [min]; those between are alike


class DaySmoother(NamedTuple):
    """Smoothing of the estimates of a day: a median filter, then one of the others, then a shift.

    Parameters
    ----------
    median : float
        Half of the width of the median filter [min]; 0: none.
    quadratic : float
        Weight of the squared changes, as lambda of Eq. (17) [min squared]; 0: none.
    alike : float
        Standard deviation of the difference between estimates that the bilateral filter averages [people]; 0:
        none.
    late : float
        Time by which estimates are late, by which they are moved back [min]; negative: early.
    """

    median: float = 0.0
    quadratic: float = 0.0
    alike: float = 0.0
    late: float = 0.0


def smooth_people(people: Array, smoother: DaySmoother, interval: float) -> Array:
    """Smooth the estimates of a day without gaps.

    Each result is a weighted mean of the estimates, or their median, so it is in their range.

    Parameters
    ----------
    people : array of shape (N,)
        Estimates [people]; before the first and after the last one, these are repeated.
    smoother : DaySmoother
        The smoothing.
    interval : float
        Time between readings [min].

    Examples
    --------
    >>> people = np.array([0.0, 0.0, 1.0, 0.0, 8.0, 8.0, 8.0])
    >>> smooth_people(people, DaySmoother(median=5.0), 5.0).tolist()
    [0.0, 0.0, 0.0, 1.0, 8.0, 8.0, 8.0]
    >>> smooth_people(people, DaySmoother(alike=0.5), 5.0).round(2).tolist()
    [0.02, 0.02, 0.58, 0.03, 8.0, 8.0, 8.0]
    >>> smooth_people(people, DaySmoother(late=5.0), 5.0).tolist()
    [0.0, 1.0, 0.0, 8.0, 8.0, 8.0, 8.0]
    """
    half = lag_in_readings(smoother.median, interval)
    if half:
        people = median_filter(people, 2 * half + 1, mode="nearest")
    if smoother.quadratic:
        people = smooth(people, smoothing=smoothing_in_readings(smoother.quadratic, interval))
    if smoother.alike:
        people = _bilateral(people, smoother.alike, interval)
    steps = round(smoother.late / interval)
    if steps:
        people = people[np.clip(np.arange(people.size) + steps, 0, people.size - 1)]
    return people


def effect(smoother: DaySmoother, interval: float) -> DaySmoother:
    """Return what remains of a smoothing at long intervals: filters shorter than them have no effect.

    Smoothings with the same effect are equal.

    Examples
    --------
    >>> effect(DaySmoother(median=7.0, quadratic=5.0, late=-5.0), 15.0)
    DaySmoother(median=0.0, quadratic=5.0, alike=0.0, late=0.0)
    """
    step, span = _bilateral_readings(interval)
    return DaySmoother(
        median=interval * lag_in_readings(smoother.median, interval),
        quadratic=smoother.quadratic,
        alike=smoother.alike if span >= step else 0.0,
        late=interval * float(round(smoother.late / interval)),
    )


def _bilateral_readings(interval: float) -> tuple[int, int]:
    """Return the distance between the readings that the bilateral filter averages, and the largest one."""
    step = max(round(_STEP / interval), 1)
    return step, lag_in_readings(BILATERAL_SPAN, interval) // step * step


def _bilateral(people: Array, alike: float, interval: float) -> Array:
    """Average each estimate with those that are near in time and similar (Tomasi and Manduchi 1998)."""
    (step, span), n = _bilateral_readings(interval), people.size
    padded = np.pad(people, span, mode="edge")
    total, weights = people.copy(), np.ones(n)
    for offset in range(step, span + 1, step):
        in_time = (offset * interval / BILATERAL_TIME) ** 2
        for first in (span - offset, span + offset):
            other = padded[first : first + n]
            weight = np.exp(-0.5 * (in_time + ((other - people) / alike) ** 2))
            total += weight * other
            weights += weight
    return total / weights
