"""When the time between two readings is a gap, and which gaps are bridged."""

from __future__ import annotations

from typing import overload

import numpy as np
from numpy.typing import NDArray

LONGEST_GAP = 10.0
"""Gaps up to this length are bridged by holding the last value, whatever the interval [min]."""
LOST_READINGS = 2
"""Readings in a row that a sensor may lose without a gap. Uplinks of battery sensors are often lost."""
LONGEST_HOLD = 60.0
"""The last value is not held for longer than this, unless the interval is as long [min]."""
VENTILATION_HOLD = 1440.0
"""A ventilation value is held for this long: many systems report changes of value only (COV) [min]."""
GAP_INTERVALS = 1.5
"""Intervals between two readings beyond which there is a gap; up to this, the second was only late."""


@overload
def is_gap(step: float, interval: float) -> bool: ...


@overload
def is_gap(
    step: NDArray[np.float64] | NDArray[np.int64], interval: float | NDArray[np.float64]
) -> NDArray[np.bool_]: ...


def is_gap(
    step: float | NDArray[np.float64] | NDArray[np.int64], interval: float | NDArray[np.float64]
) -> bool | NDArray[np.bool_]:
    """Whether the time between two readings is a gap, in the same unit as the ``interval``.

    Examples
    --------
    >>> is_gap(7.0, 5.0), is_gap(10.0, 5.0)
    (False, True)
    """
    return step > GAP_INTERVALS * interval


def default_gap(interval: float) -> float:
    """Return the length up to which gaps are bridged by default, with a reading every ``interval`` [min].

    Sensors that send often bridge ``LONGEST_GAP``, others ``LOST_READINGS`` lost readings.

    Examples
    --------
    >>> [default_gap(interval) for interval in (1.0, 5.0, 10.0, 15.0, 30.0)]
    [10.0, 17.5, 35.0, 52.5, 60.0]
    """
    return max(LONGEST_GAP, min((LOST_READINGS + GAP_INTERVALS) * interval, LONGEST_HOLD))


def bridged_step(interval: float, longest_gap: float) -> float:
    """Return the longest time between two readings over which the first value is held.

    All times are in the same unit.

    Examples
    --------
    >>> bridged_step(1.0, 10.0), bridged_step(15.0, 10.0)
    (10.0, 22.5)
    """
    return max(longest_gap, GAP_INTERVALS * interval)
