"""What is known of a room when a reading comes in: the last minutes of CO2 and ventilation, and the clock.

Everything the default estimator computes is a function of one such row, so that a row of a live room and
a row of a replayed day give the same.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from occupair.room.lags import LAGS
from occupair.smoothing import local_windows

Array = NDArray[np.float64]

LOOKBACK = 60.0 + LAGS[-1]
"""Span of readings that the features use [min]: mean ventilation over an hour, at the longest lag."""


class Clock(NamedTuple):
    """Local time of readings."""

    minute: Array  # since midnight [min]
    weekend: Array  # 1 on Saturday and Sunday, else 0

    @classmethod
    def of(cls, times: pd.DatetimeIndex) -> Clock:
        """Read the clock at every time.

        Examples
        --------
        >>> Clock.of(pd.DatetimeIndex(["2024-01-13 09:30"]))
        Clock(minute=array([570.]), weekend=array([1.]))
        """
        minute = times.hour * 60.0 + times.minute + times.second / 60.0
        return cls(np.asarray(minute, dtype=float), np.asarray(times.day_of_week >= 5, dtype=float))

    @classmethod
    def at(cls, time: dt.datetime) -> Clock:
        """Read the clock at one time."""
        minute = time.hour * 60.0 + time.minute + time.second / 60.0
        return cls(np.array([minute]), np.array([float(time.weekday() >= 5)]))


@dataclass(frozen=True)
class Inputs:
    """What is known at each of N readings.

    Parameters
    ----------
    co2 : array of shape (N, W)
        Smoothed CO2 of the last readings, newest first, by what is known then [ppm].
    ventilation : array of shape (N, W)
        The same of the ventilation, not smoothed [0..1].
    low : array of shape (N,)
        Lowest smoothed CO2 since the episode began [ppm].
    clock : Clock
        Local time of the newest reading.
    interval : float
        Time between readings [min].
    """

    co2: Array
    ventilation: Array
    low: Array
    clock: Clock
    interval: float

    def __len__(self) -> int:
        return len(self.low)

    def steps(self, minutes: float) -> int:
        """Count the readings in so many minutes, at least one."""
        return max(round(minutes / self.interval), 1)

    @cached_property
    def flow_sums(self) -> Array:
        """Ventilation of no reading, the newest, the newest two and so on, added up: shape (W + 1, N)."""
        sums = np.zeros((self.ventilation.shape[1] + 1, len(self)))
        np.cumsum(self.ventilation.T, axis=0, out=sums[1:])
        return sums

    def take(self, which: slice | NDArray[np.int64]) -> Inputs:
        """Give some of the rows."""
        clock = Clock(self.clock.minute[which], self.clock.weekend[which])
        return Inputs(self.co2[which], self.ventilation[which], self.low[which], clock, self.interval)


def window_length(interval: float) -> int:
    """Count the readings that a row looks back over, the newest included.

    Examples
    --------
    >>> window_length(5.0)
    17
    """
    return max(round(LOOKBACK / interval), 1) + 1


def episode_inputs(
    co2: Array, ventilation: Array, clock: Clock, *, interval: float, smoothing: float
) -> Inputs:
    """Give the rows of one episode.

    Parameters
    ----------
    co2, ventilation : array of shape (N,)
        One episode of readings [ppm], [0..1].
    clock : Clock
        Their local time.
    interval : float
        Time between them [min].
    smoothing : float
        Weight of the CO2 smoothing [readings squared].
    """
    width = window_length(interval)
    windows = local_windows(co2, width, smoothing=smoothing)
    before = np.concatenate([np.full(width - 1, ventilation[0]), ventilation])
    flows = sliding_window_view(before, width)[:, ::-1]
    return Inputs(windows, flows, np.minimum.accumulate(windows[:, 0]), clock, interval)


def concatenate_inputs(parts: Sequence[Inputs]) -> Inputs:
    """Put rows below each other."""
    return Inputs(
        np.concatenate([rows.co2.T for rows in parts], axis=1).T,  # by columns in memory, as they are read
        np.concatenate([rows.ventilation.T for rows in parts], axis=1).T,
        np.concatenate([rows.low for rows in parts]),
        Clock(*(np.concatenate(column) for column in zip(*(rows.clock for rows in parts), strict=True))),
        parts[0].interval,
    )
