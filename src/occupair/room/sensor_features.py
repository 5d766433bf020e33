"""Features of the optional sensors, for a whole episode and one reading at a time.

Each sensor has four features for each lag, relative to the time that is estimated:

- the level: mean over 5 min,
- the mean over 15 min,
- the change of the level within the 30 min before,
- the rise of the level above its lowest since the episode began, which removes the weather of the day.

With a lag, the two means are centred on the time that is estimated as far as the lag allows. A sensor is
usable if none of the readings that its features cover is missing; windows that reach back beyond the first
reading repeat it, as those of CO2 do.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]

LEVEL, MEAN, CHANGE = 5.0, 15.0, 30.0
"""Periods of the features [min]: short enough to follow people, and long enough to average noise."""
N_FEATURES = 4
"""Features of each sensor: level, mean, change and rise."""


def on_scale(name: str, values: Array) -> Array:
    """Return the values of a sensor on the scale of its features: light as a logarithm, others as they are.

    Daylight is a thousand times brighter than lamps.
    """
    return np.log10(1.0 + values) if name == "light" else values


@dataclass(frozen=True)
class Windows:
    """Periods of the features in readings.

    Parameters
    ----------
    level, mean, change : int
        ``LEVEL``, ``MEAN`` and ``CHANGE`` [readings].
    """

    level: int
    mean: int
    change: int

    @classmethod
    def at(cls, interval: float) -> Windows:
        """Return the windows for readings every ``interval`` minutes.

        Examples
        --------
        >>> Windows.at(1.0), Windows.at(10.0)
        (Windows(level=5, mean=15, change=30), Windows(level=1, mean=2, change=3))
        """
        return cls(*(max(round(minutes / interval), 1) for minutes in (LEVEL, MEAN, CHANGE)))

    def offsets(self, lag: int) -> tuple[int, int, int]:
        """Return how many readings ago the windows of level, mean and earlier level end, at a lag."""
        level, mean = (lag - min(lag, size // 2) for size in (self.level, self.mean))
        return level, mean, level + self.change

    def span(self, lag: int) -> int:
        """Return the number of readings that the features at a lag cover."""
        level, mean, earlier = self.offsets(lag)
        return max(level + self.level, mean + self.mean, earlier + self.level)


def episode_features(values: Array, interval: float, lags: Sequence[int]) -> tuple[Array, Bools]:
    """Return the features of a sensor at every reading of an episode.

    Parameters
    ----------
    values : array of shape (N,)
        Readings of the sensor; NaN if missing.
    interval : float
        Time between readings [min].
    lags : sequence of int
        Lags [readings].

    Returns
    -------
    features : array of shape (R, N, 4)
        Level, mean, change and rise at each lag; NaN or meaningless where the sensor is not usable.
    usable : array of bool of shape (R, N)
        Whether the sensor is usable.

    Examples
    --------
    >>> features, usable = episode_features(np.array([20.0, 20.0, 26.0]), 5.0, [0])
    >>> features[0, 2].tolist(), usable.all()
    ([26.0, 22.0, 6.0, 6.0], np.True_)
    """
    windows, place = Windows.at(interval), np.arange(values.size)
    level, mean = (_trailing_mean(values, size) for size in (windows.level, windows.mean))
    lowest = np.fmin.accumulate(level)
    last_missing = np.maximum.accumulate(np.where(np.isnan(values), place, -1))
    features, usable = np.empty((len(lags), values.size, N_FEATURES)), []
    for k, lag in enumerate(lags):
        ends = [np.maximum(place - offset, 0) for offset in windows.offsets(lag)]
        now = level[ends[0]]
        features[k] = np.column_stack([now, mean[ends[1]], now - level[ends[2]], now - lowest])
        usable.append((last_missing < 0) | (place - last_missing >= windows.span(lag)))
    return features, np.array(usable)


def _trailing_mean(values: Array, size: int) -> Array:
    padded = np.concatenate([np.full(size - 1, values[0]), values])
    return np.asarray(sliding_window_view(padded, size).mean(axis=1))


class SensorHistory:
    """Readings of the sensors of a model since its episode began.

    Parameters
    ----------
    names : sequence of str
        Sensors in the order of the model.
    interval : float
        Time between readings [min].
    lags : sequence of int
        Lags [readings].
    """

    def __init__(self, names: Sequence[str], interval: float, lags: Sequence[int]) -> None:
        windows = Windows.at(interval)
        self._names, self._windows = tuple(names), windows
        self._offsets = [windows.offsets(lag) for lag in lags]
        self._spans = [windows.span(lag) for lag in lags]
        self._interval, self._lags = interval, tuple(lags)
        self._sensors = [_OneSensor() for _ in names]

    def append(self, readings: Mapping[str, float]) -> None:
        """Add the values of one reading; sensors without a value are missing."""
        for name, sensor in zip(self._names, self._sensors, strict=True):
            value = readings.get(name, math.nan)
            sensor.append(math.log10(1.0 + value) if name == "light" else value, self._windows)

    def restore(self, columns: Mapping[str, Array], size: int) -> None:
        """Add the first ``size`` readings of an episode at once."""
        for name, sensor in zip(self._names, self._sensors, strict=True):
            values = columns[name] if name in columns else np.full(size, np.nan)
            sensor.restore(on_scale(name, values), self._windows)

    def features(self, n_sensors: int) -> list[list[float]]:
        """Return the features of the first sensors at the newest reading, in a row for each lag."""
        sensors = self._sensors[:n_sensors]
        return [
            [value for sensor in sensors for value in sensor.features(offsets)] for offsets in self._offsets
        ]

    def usable_prefixes(self) -> list[int]:
        """Return, for each lag, how many of the first sensors are all usable at the newest reading."""
        sizes = []
        for span in self._spans:
            usable = (sensor.since_missing >= span for sensor in self._sensors)
            sizes.append(next((n for n, one in enumerate(usable) if not one), len(self._sensors)))
        return sizes

    def copy(self) -> SensorHistory:
        """Return an independent copy."""
        other = copy(self)
        other._sensors = [sensor.copy() for sensor in self._sensors]
        return other


class _OneSensor:
    """Readings of one sensor; the step by step form of ``episode_features``."""

    def __init__(self) -> None:
        self._values: list[float] = []
        self._levels: list[float] = []
        self._means: list[float] = []
        self._lowest = np.nan
        self.since_missing = np.inf  # readings since the last missing one

    def append(self, value: float, windows: Windows) -> None:
        self._values.append(value)
        self._levels.append(self._mean(windows.level))
        self._means.append(self._mean(windows.mean))
        self.since_missing = 0 if value != value else self.since_missing + 1
        if not self._lowest <= self._levels[-1] and self._levels[-1] == self._levels[-1]:
            self._lowest = self._levels[-1]

    def restore(self, values: Array, windows: Windows) -> None:
        level, mean = (_trailing_mean(values, size) for size in (windows.level, windows.mean))
        self._values, self._levels, self._means = values.tolist(), level.tolist(), mean.tolist()
        self._lowest = float(np.fmin.reduce(level))
        missing = np.flatnonzero(np.isnan(values))
        self.since_missing = float(values.size - 1 - missing[-1]) if missing.size else np.inf

    def features(self, offsets: tuple[int, int, int]) -> tuple[float, float, float, float]:
        last = len(self._values) - 1
        level = self._levels[max(last - offsets[0], 0)]
        mean, earlier = self._means[max(last - offsets[1], 0)], self._levels[max(last - offsets[2], 0)]
        return level, mean, level - earlier, level - self._lowest

    def copy(self) -> _OneSensor:
        other = copy(self)
        other._values, other._levels, other._means = (
            self._values.copy(),
            self._levels.copy(),
            self._means.copy(),
        )
        return other

    def _mean(self, size: int) -> float:
        newest = self._values[-size:]
        return (sum(newest) + (size - len(newest)) * newest[0]) / size
