"""CO2 smoothing: a whole series at once, or one reading at a time.

Both minimise Eq. (17), the squared distance to the readings plus ``smoothing`` times the squared steps of the
result, by eliminating the tridiagonal matrix of Eq. (18) from the first reading on. The pivots are stored as
``smoothing + q``: all terms of ``q`` are positive, so nothing cancels and the result is accurate for any
smoothing weight.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg.lapack import dpttrs

from occupair.errors import InputError

Array = NDArray[np.float64]


def smooth(co2: ArrayLike, *, smoothing: float = 50.0) -> Array:
    r"""Smooth a series of CO2 readings in O(N).

    Jiang et al. 2016, Eq. (19): :math:`c_s = (I + \lambda\Delta)^{-1} c`, or Eq. (23) if the series is one
    whole day.

    Parameters
    ----------
    co2 : array of shape (N,)
        CO2 concentration [ppm], one value per reading; may be empty.
    smoothing : float
        Smoothing weight lambda [readings squared]; 0 returns the readings unchanged.

    Returns
    -------
    array of shape (N,)
        Smoothed CO2 [ppm], with the same mean as the readings.

    Examples
    --------
    >>> smooth([400.0, 403.0], smoothing=1.0)
    array([401., 402.])
    """
    co2 = _series(co2)
    smoothing = check_smoothing(smoothing)
    if co2.size < 2:
        return co2
    q = _pivots(co2.size, smoothing)
    diagonal = np.append(smoothing + q[:-1], q[-1])
    solution, info = dpttrs(diagonal, -smoothing / diagonal[:-1], co2)
    assert info == 0  # LAPACK reports wrong shapes here, which would be a bug
    return np.asarray(solution, dtype=float)


class LocalSmoother:
    r"""Smooth all readings so far, updated with every new reading.

    Jiang et al. 2016, Eq. (25): :math:`c^{ls}_{1:k} = (I + \lambda\Delta_k)^{-1} c_{1:k}`. The forward
    elimination of old readings does not change, and the back substitution stops at the first value that is
    bitwise unchanged, because older values cannot change either. A change decays by a constant factor per
    reading (0.87 for ``smoothing=50``), so the cost of an append does not depend on the length of the day.

    Parameters
    ----------
    smoothing : float
        Smoothing weight lambda [readings squared]; 0 returns the readings unchanged.

    Examples
    --------
    >>> smoother = LocalSmoother(smoothing=1.0)
    >>> smoother.append(400.0)
    0
    >>> smoother.append(403.0)
    0
    >>> smoother.values
    array([401., 402.])
    """

    def __init__(self, smoothing: float = 50.0) -> None:
        self.smoothing = check_smoothing(smoothing)
        self._q = 0.0  # pivot of the last reading
        self._swept = 0.0  # right-hand side after the forward elimination, of the last reading
        self._known: list[float] = []  # a of c_i = a_i + b_i c_{i+1}, fixed by the readings up to i
        self._carried: list[float] = []  # b
        self._values: list[float] = []

    def append(self, co2_ppm: float) -> int:
        """Add one reading [ppm]; return the index of the first smoothed value that changed."""
        self._eliminate(co2_ppm)
        return self._substitute_back()

    def extend(self, co2_ppm: Iterable[float]) -> None:
        """Add several readings [ppm]; the same as appending each, but faster."""
        for reading in co2_ppm:
            self._eliminate(reading)
        for i in range(len(self._values) - 2, -1, -1):
            self._values[i] = self._known[i] + self._carried[i] * self._values[i + 1]

    def _eliminate(self, co2_ppm: float) -> None:
        if not math.isfinite(co2_ppm):
            raise InputError(f"co2 must be a finite number of ppm, got {co2_ppm}")
        co2_ppm = float(co2_ppm)
        carried = self._carried[-1] if self._carried else 0.0
        self._q = 1.0 + carried * self._q
        self._swept = co2_ppm + carried * self._swept
        self._known.append(self._swept / (self.smoothing + self._q))
        self._carried.append(self.smoothing / (self.smoothing + self._q))
        self._values.append(self._swept / self._q)

    def _substitute_back(self) -> int:
        known, carried, values = self._known, self._carried, self._values
        changed = len(values) - 1
        value = values[changed]
        for i in range(changed - 1, -1, -1):
            value = known[i] + carried[i] * value
            if value == values[i]:
                break
            values[i] = value
            changed = i
        return changed

    def __len__(self) -> int:
        return len(self._values)

    @property
    def values(self) -> Array:
        """All readings so far, smoothed [ppm]; the same as ``smooth(readings, smoothing=...)``."""
        return np.array(self._values)

    @property
    def newest(self) -> float:
        """Smoothed value of the newest reading [ppm]."""
        return self._values[-1]

    def since(self, start: int) -> Array:
        """Return ``values[start:]`` [ppm] without copying the rest."""
        return np.array(self._values[start:])


def local_windows(co2: ArrayLike, width: int, *, smoothing: float) -> Array:
    r"""Return, for every reading k, the last values of the series smoothed with the readings up to k.

    Jiang et al. 2016, Eq. (25), for all k at once: column j of row k is :math:`c^{ls}_{k-j|k}`, the value j
    readings before k, smoothed with the readings up to k. The first reading is repeated before the start.

    Parameters
    ----------
    co2 : array of shape (N,)
        CO2 concentration [ppm].
    width : int
        Number of values per reading, including the newest.
    smoothing : float
        Smoothing weight lambda [readings squared].

    Returns
    -------
    array of shape (N, width)
        Smoothed CO2 [ppm], newest first.

    Examples
    --------
    >>> local_windows([400.0, 403.0], 2, smoothing=1.0)
    array([[400., 400.],
           [402., 401.]])
    """
    co2, weight = _series(co2), check_smoothing(smoothing)
    q = _pivots(co2.size, weight)
    swept = list(co2[:1])
    for reading, carried in zip(co2[1:].tolist(), (weight / (weight + q[:-1])).tolist(), strict=True):
        swept.append(reading + carried * swept[-1])
    known, carried = np.array(swept) / (weight + q), weight / (weight + q)
    windows = np.empty((width, co2.size)).T  # column-major: it is read by columns
    windows[:, 0] = np.array(swept) / q
    for j in range(1, width):
        windows[:j, j] = windows[:j, j - 1]
        windows[j:, j] = known[:-j] + carried[:-j] * windows[j:, j - 1]
    return windows


def _pivots(n: int, smoothing: float) -> Array:
    """Return the pivots of I + lambda Delta_n minus lambda; they converge within a few readings."""
    q = [1.0]
    while len(q) < n:
        settled = 1.0 + smoothing / (smoothing + q[-1]) * q[-1]
        if settled == q[-1]:
            break
        q.append(settled)
    return np.append(q, np.full(n - len(q), q[-1]))


def _series(co2: ArrayLike) -> Array:
    try:
        series = np.array(co2, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"co2 must be numbers, got {co2!r}") from None
    if series.ndim != 1:
        raise InputError(f"co2 must be one-dimensional, got an array of shape {series.shape}")
    bad = np.flatnonzero(~np.isfinite(series))
    if bad.size:
        raise InputError(f"co2 must be finite, got {series[bad[0]]} at index {bad[0]}")
    return series


def check_smoothing(smoothing: float) -> float:
    """Return ``smoothing`` as a float; raise InputError unless it is finite and 0 or more."""
    if not (isinstance(smoothing, int | float | np.number) and 0 <= smoothing < math.inf):
        raise InputError(f"smoothing must be a finite number, 0 or more, got {smoothing!r}")
    return float(smoothing)


def smoothing_in_readings(smoothing: float, interval: float) -> float:
    """Convert the smoothing weight from minutes squared to readings squared.

    Examples
    --------
    >>> smoothing_in_readings(50, 5.0)
    2.0
    """
    return check_smoothing(smoothing) / interval**2
