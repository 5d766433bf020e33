"""Inputs of the default estimator: recent CO2 and ventilation of each reading, and its local time.

Every feature is a function of one input, so live updates and replayed days give the same estimates.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from occupair.readings.schema import SATURDAY
from occupair.smoothing import local_windows

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

LOOKBACK = 60.0
"""Time span that the features cover before the longest lag [min]: mean ventilation over an hour."""


class Clock(NamedTuple):
    """Local time of readings."""

    minute: Array  # since midnight [min]
    weekend: Array  # 1 on Saturday and Sunday, otherwise 0

    @classmethod
    def of(cls, times: pd.DatetimeIndex) -> Clock:
        """Return the local time of each timestamp.

        Examples
        --------
        >>> Clock.of(pd.DatetimeIndex(["2024-01-13 09:30"]))
        Clock(minute=array([570.]), weekend=array([1.]))
        """
        minute = times.hour * 60.0 + times.minute + times.second / 60.0
        return cls(np.asarray(minute, dtype=float), np.asarray(times.day_of_week >= SATURDAY, dtype=float))

    @classmethod
    def at(cls, time: dt.datetime) -> Clock:
        """Return the local time of a single timestamp."""
        minute = time.hour * 60.0 + time.minute + time.second / 60.0
        return cls(np.array([minute]), np.array([float(time.weekday() >= SATURDAY)]))


@dataclass(frozen=True)
class Inputs:
    """N inputs, each with a window of the W most recent readings.

    Parameters
    ----------
    co2 : array of shape (N, W)
        CO2 of the window, newest first, smoothed with the readings available at the time [ppm].
    ventilation : array of shape (N, W)
        Ventilation of the window, newest first, not smoothed [0..1].
    lowest_co2 : array of shape (N,)
        Lowest smoothed CO2 since the episode began [ppm].
    clock : Clock
        Local time of the newest reading.
    interval : float
        Time between readings [min].
    """

    co2: Array
    ventilation: Array
    lowest_co2: Array
    clock: Clock
    interval: float

    def __len__(self) -> int:
        return len(self.lowest_co2)

    def n_readings(self, minutes: float) -> int:
        """Return the number of readings in a period [min], at least one."""
        return max(round(minutes / self.interval), 1)

    @cached_property
    def ventilation_sums(self) -> Array:
        """Cumulative ventilation from the newest reading backwards, shape (W + 1, N); starts at 0."""
        sums = np.zeros((self.ventilation.shape[1] + 1, len(self)))
        np.cumsum(self.ventilation.T, axis=0, out=sums[1:])
        return sums

    def shifted(self, shift: float | Array) -> Inputs:
        """Return the inputs with CO2 lower by a shift [ppm], one for all inputs or one for each."""
        if not np.any(shift):
            return self
        by_input = np.asarray(shift)[..., np.newaxis]
        return replace(self, co2=self.co2 - by_input, lowest_co2=self.lowest_co2 - shift)

    def take(self, which: slice | Indices) -> Inputs:
        """Return a subset of the inputs."""
        clock = Clock(self.clock.minute[which], self.clock.weekend[which])
        return Inputs(self.co2[which], self.ventilation[which], self.lowest_co2[which], clock, self.interval)


def window_length(interval: float, longest_lag: float) -> int:
    """Return the number of readings in a window, including the newest.

    Parameters
    ----------
    interval : float
        Time between readings [min].
    longest_lag : float
        Longest lag of the model [min].

    Examples
    --------
    >>> window_length(5.0, longest_lag=20.0)
    17
    """
    return max(round((LOOKBACK + longest_lag) / interval), 1) + 1


def episode_inputs(
    co2: Array, ventilation: Array, clock: Clock, *, interval: float, smoothing: float, longest_lag: float
) -> Inputs:
    """Return one input for each reading of an episode.

    Windows that reach back beyond the first reading repeat it.

    Parameters
    ----------
    co2, ventilation : array of shape (N,)
        One episode of readings [ppm], [0..1].
    clock : Clock
        Local time of the readings.
    interval : float
        Time between readings [min].
    smoothing : float
        Weight of the CO2 smoothing [readings squared].
    longest_lag : float
        Longest lag of the model [min].
    """
    width = window_length(interval, longest_lag)
    windows = local_windows(co2, width, smoothing=smoothing)
    padded = np.concatenate([np.full(width - 1, ventilation[0]), ventilation])
    ventilation_windows = sliding_window_view(padded, width)[:, ::-1]
    return Inputs(windows, ventilation_windows, np.minimum.accumulate(windows[:, 0]), clock, interval)


def concatenate_inputs(sequence: Sequence[Inputs]) -> Inputs:
    """Concatenate inputs with the same interval."""
    return Inputs(
        np.concatenate([inputs.co2.T for inputs in sequence], axis=1).T,  # column-major, as features read it
        np.concatenate([inputs.ventilation.T for inputs in sequence], axis=1).T,
        np.concatenate([inputs.lowest_co2 for inputs in sequence]),
        Clock(*(np.concatenate(values) for values in zip(*(one.clock for one in sequence), strict=True))),
        sequence[0].interval,
    )


def at_offset(columns: Array, offset: int | Indices) -> Array:
    """Return the values ``offset`` readings before the newest reading of each input.

    Parameters
    ----------
    columns : array of shape (W, N)
        A column for each input, newest first.
    offset : int or array of int of shape (..., 1) or (..., N)
        One offset for all inputs, or one for each.

    Returns
    -------
    array of shape (..., N)

    Examples
    --------
    >>> columns = np.array([[0.0, 10.0], [1.0, 11.0], [2.0, 12.0]])
    >>> at_offset(columns, 1), at_offset(columns, np.array([0, 2]))
    (array([ 1., 11.]), array([ 0., 12.]))
    """
    if isinstance(offset, int):
        return np.asarray(columns[offset])
    if offset.shape[-1] == 1:
        return np.asarray(columns[offset[..., 0]])
    return np.asarray(columns[offset, np.arange(columns.shape[1])])
