"""Readings of whole days on a regular grid, one row a day, for a filter that runs through all at once."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from occupair.readings.head_counts import WEIGHT
from occupair.readings.schema import interval_of, ventilation_of

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

STEP = 5.0
"""Time between grid points [min]; longer if the readings are further apart."""

LOW_TIME = 15.0
"""Time over which CO2 is averaged to find the lowest level of a day [min]."""

ASSUMED_HOURS = (7, 20)
"""Hours of weekdays in which a room without a ventilation signal is assumed to be ventilated.

Most rooms are ventilated by day, by fans or through windows, and few at night.
"""

MARGIN = 50.0
"""How far a new day may be below the lowest training day [ppm]."""


@dataclass(frozen=True)
class DayGrid:
    """D days at N times of day.

    Parameters
    ----------
    co2 : array of shape (D, N)
        Mean CO2 in each step [ppm]; NaN without readings.
    ventilation : array of shape (D, N)
        Mean ventilation relative to its highest value in the readings [0..1]; 0 without readings.
        Without a signal: 1 in ``ASSUMED_HOURS``, else 0.
    full_ventilation : float or None
        That highest value; None without a signal.
    counts : array of shape (D, N)
        Mean head count [people]; NaN without.
    base : array of shape (D, N)
        Base level: lowest CO2 of the day so far, within the range of all days [ppm].
    closed : array of shape (N,)
        Whether the room is closed at each time of day.
    step : float
        Length of a step [min].
    place : array of shape (n_readings,)
        Position of each reading in the flattened grid.
    """

    co2: Array
    ventilation: Array
    full_ventilation: float | None
    counts: Array
    base: Array
    closed: Mask
    step: float
    place: NDArray[np.int64]

    @property
    def level(self) -> Array:
        """CO2 above the base level [ppm]."""
        return self.co2 - self.base

    def days(self, which: NDArray[np.int64]) -> DayGrid:
        """Return some of the days; ``place`` is then empty."""
        return replace(
            self,
            co2=self.co2[which],
            ventilation=self.ventilation[which],
            counts=self.counts[which],
            base=self.base[which],
            place=np.empty(0, dtype=np.int64),
        )

    def at_readings(self, values: Array) -> Array:
        """Return values of the grid, shape (D, N), at every reading."""
        return np.asarray(values.ravel()[self.place])


def day_grid(readings: pd.DataFrame, closed: Mask, outdoor_co2: float | None = None) -> DayGrid:
    """Return the grid of checked readings.

    Parameters
    ----------
    readings : DataFrame
        Checked readings.
    closed : array of bool of shape (1440,)
        Minutes of the day at which the room is closed.
    outdoor_co2 : float, optional
        Outdoor CO2 [ppm], an upper limit of the base level unless the sensor never reads that low.
    """
    times = pd.DatetimeIndex(readings.index)
    step = max(STEP, interval_of(readings))
    n = int(np.ceil(1440 / step))
    dates, day = np.unique(times.tz_localize(None).normalize(), return_inverse=True)
    minute = (times.hour * 60 + times.minute + times.second / 60).to_numpy()
    place = day * n + ((minute + 1e-6) // step).astype(np.int64)
    shape = (int(day.max()) + 1, n)
    co2 = _means(readings["co2"].to_numpy(), place, shape)
    starts = (np.arange(n) * step).astype(int)
    ventilation = np.nan_to_num(_means(ventilation_of(readings), place, shape))
    full = float(ventilation.max()) or None
    if full is None:
        is_weekday = pd.DatetimeIndex(dates).day_of_week < 5
        is_day = (starts >= 60 * ASSUMED_HOURS[0]) & (starts < 60 * ASSUMED_HOURS[1])
        ventilation = np.outer(is_weekday, is_day).astype(float)
    return DayGrid(
        co2=co2,
        ventilation=ventilation / (full or 1.0),
        full_ventilation=full,
        counts=_means(_counts(readings), place, shape),
        base=_base_level(co2, max(round(LOW_TIME / step), 1), outdoor_co2),
        closed=closed[starts],
        step=step,
        place=place,
    )


def _counts(readings: pd.DataFrame) -> Array:
    """Return the head counts; NaN where there is none, or one without weight."""
    if "occupancy" not in readings.columns:
        return np.full(len(readings), np.nan)
    people = readings["occupancy"].to_numpy(dtype=float)
    return people if WEIGHT not in readings.columns else np.where(readings[WEIGHT] > 0, people, np.nan)


def _means(values: Array, place: NDArray[np.int64], shape: tuple[int, int]) -> Array:
    known = ~np.isnan(values)
    size = shape[0] * shape[1]
    count = np.bincount(place[known], minlength=size)
    total = np.bincount(place[known], values[known], minlength=size)
    means = np.full(size, np.nan)
    return np.asarray(np.divide(total, count, out=means, where=count > 0)).reshape(shape)


def _base_level(co2: Array, width: int, outdoor_co2: float | None) -> Array:
    """Return the lowest running mean of each day so far, within the range of the lows of all days [ppm]."""
    low = np.minimum.accumulate(_running_mean(co2, width), axis=1)
    lows = low[:, -1][np.isfinite(low[:, -1])]
    highest = float(lows.max())
    if outdoor_co2 is not None:
        highest = min(highest, max(outdoor_co2, float(lows.min())))
    low = np.where(np.isfinite(low), low, np.median(lows))
    return np.asarray(np.clip(low, float(lows.min()) - MARGIN, highest))


def _running_mean(values: Array, width: int) -> Array:
    """Return the mean of the last ``width`` known values of each row; infinite where none is known."""
    padded = np.concatenate([np.full((len(values), width - 1), np.nan), values], axis=1)
    windows = np.lib.stride_tricks.sliding_window_view(padded, width, axis=1)
    count = (~np.isnan(windows)).sum(axis=2)
    means = np.full(values.shape, np.inf)
    return np.asarray(np.divide(np.nansum(windows, axis=2), count, out=means, where=count > 0))
