"""Ranges around what a few days tell: as wide as a few days ask for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Array = NDArray[np.float64]

SURE = 0.8
"""How often a range should hold the truth."""


@dataclass(frozen=True)
class Range:
    """A number, and between which it should lie four times in five."""

    value: float
    low: float
    high: float


def range_of(value: float, drawn: Array, n_days: int) -> Range:
    """Make the range of a number from what it is when the days are drawn anew; all above 0.

    Four fifths of the draws lie between two ends. Each end is moved away from the value, on a scale of
    logarithms, by ``widening``.

    Examples
    --------
    Two days ask for 3.4 times the width: half of the draws at 1/2 and half at 2 give 2 to the power of 3.4.

    >>> found = range_of(1.0, np.array([0.5, 0.5, 2.0, 2.0]), 2)
    >>> round(found.low * found.high, 6), round(float(np.log2(found.high)), 1)
    (1.0, 3.4)
    """
    ends = np.quantile(drawn, [(1 - SURE) / 2, (1 + SURE) / 2])
    low, high = widening(n_days) * np.log(np.maximum(ends, 1e-12) / max(value, 1e-12))
    return Range(value, value * float(np.exp(min(low, 0.0))), value * float(np.exp(max(high, 0.0))))


def widening(n_days: int) -> float:
    """How many times as wide as the draws a range has to be.

    Drawing n days anew from themselves shows the spread of a mean as sqrt((n - 1) / n) of what it is, and
    what is reckoned from so few is as wide as Student's t with n - 1 degrees of freedom says, not as the
    normal distribution does.

    Examples
    --------
    From tables, t is 1.638 for 3 degrees and 1.440 for 6, the normal distribution has 1.282:
    1.638 / 1.282 * sqrt(4 / 3) and 1.440 / 1.282 * sqrt(7 / 6).

    >>> [round(widening(n), 2) for n in (4, 7, 1000)]
    [1.48, 1.21, 1.0]
    """
    upper = (1 + SURE) / 2
    return float(stats.t.ppf(upper, n_days - 1) / stats.norm.ppf(upper) * np.sqrt(n_days / (n_days - 1)))
