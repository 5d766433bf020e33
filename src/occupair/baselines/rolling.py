"""Causal rolling operations within a day: shift, mean, slope and minimum.

A window that extends beyond the day repeats its first or last reading.
"""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from occupair.baselines.baseline import Array


def shifted(series: Array, readings: int) -> Array:
    """Return the value ``readings`` earlier, or later if negative.

    Examples
    --------
    >>> shifted(np.array([1.0, 2.0, 3.0]), 1)
    array([1., 1., 2.])
    >>> shifted(np.array([1.0, 2.0, 3.0]), -2)
    array([3., 3., 3.])
    """
    return series[np.clip(np.arange(series.size) - readings, 0, series.size - 1)]


def running_mean(series: Array, readings: int) -> Array:
    """Return the mean of the last ``readings`` values.

    Examples
    --------
    >>> running_mean(np.array([1.0, 3.0, 5.0]), 2)
    array([1., 2., 4.])
    """
    return np.asarray(_windows(series, readings).mean(axis=1))


def running_slope(series: Array, readings: int) -> Array:
    """Return the slope per reading of the least-squares line through the last ``readings`` values.

    Examples
    --------
    >>> running_slope(np.array([0.0, 3.0, 6.0, 9.0]), 3)
    array([0. , 1.5, 3. , 3. ])
    """
    readings = max(readings, 2)
    centred = np.arange(readings) - (readings - 1) / 2
    return _windows(series, readings) @ (centred / (centred @ centred))


def running_minimum(series: Array, readings: int) -> Array:
    """Return the minimum so far of the running mean, which is robust to noise.

    Examples
    --------
    >>> running_minimum(np.array([4.0, 2.0, 6.0]), 2)
    array([4., 3., 3.])
    """
    return np.minimum.accumulate(running_mean(series, readings))


def _windows(series: Array, readings: int) -> Array:
    padded = np.concatenate([np.full(readings - 1, series[0]), series])
    return np.asarray(sliding_window_view(padded, readings))
