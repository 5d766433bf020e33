"""People inferred from CO2 by the mass balance, in place of head counts that nobody made.

A Kalman smoother gives the people at every reading of the past. The room layer is then trained on them as if
they were head counts. It estimates better than the filter itself, because it learns what later readings show
about the present ones, and it works live, with lags, model files and thousands of rooms as always.

Where there are head counts, they calibrate the mass balance, the smoother passes through them, and they stand
for themselves.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from occupair.physics.calibration import Calibration, assume_ventilation, calibrate_by_counts, smoothed
from occupair.physics.day_grid import DayGrid, Mask, day_grid
from occupair.physics.room_properties import RoomProperties

Array = NDArray[np.float64]

DELAY = 5.0
"""Time until CO2 at the sensor responds to people: mixing of the air, and the sensor itself [min]."""

FEW = (0.5, 0.02)
"""Fewer people than this are nobody [people], [share of the capacity]."""

PEAK_QUANTILE = 0.998
"""Quantile of the inferred people that is their peak."""

MOST = 1.15
"""Largest inferred number of people, relative to the capacity."""


@dataclass(frozen=True)
class InferredCounts:
    """People inferred from the readings of a room.

    Parameters
    ----------
    people : array of shape (n_readings,)
        People at every reading [people].
    calibration : Calibration
        Air change rate, and CO2 per person.
    grid : DayGrid
        The days.
    room : RoomProperties
        The room.
    n_counts : int
        Number of grid steps with a head count.
    peak : float
        Largest number of people, without outliers, that CO2 suggests [people]; it may exceed the capacity.
    """

    people: Array
    calibration: Calibration
    grid: DayGrid
    room: RoomProperties
    n_counts: int
    peak: float


def infer_counts(readings: pd.DataFrame, room: RoomProperties, closed: Mask) -> InferredCounts:
    """Infer the people from checked readings, with or without head counts.

    Parameters
    ----------
    readings : DataFrame
        Checked readings.
    room : RoomProperties
        The room.
    closed : array of bool of shape (1440,)
        Minutes of the day at which the room is empty.
    """
    grid, calibration = assume_ventilation(day_grid(readings, closed, room.outdoor_co2), room)
    late = round(DELAY / grid.step)
    seen = _shifted(grid.counts, late)  # as CO2 sees them
    n_counts = int((~np.isnan(seen)).sum())
    if n_counts:
        calibration = calibrate_by_counts(replace(grid, counts=seen), room, calibration)
    people = _shifted(smoothed(grid, room, calibration, seen if n_counts else None), -late)
    people = np.where(np.isnan(people) | grid.closed, 0.0, people)
    peak = float(np.quantile(people[~np.isnan(grid.co2)], PEAK_QUANTILE))
    people = np.clip(people, 0.0, MOST * room.capacity)
    people = np.where(people < FEW[0] + FEW[1] * room.capacity, 0.0, people)
    return InferredCounts(grid.at_readings(people), calibration, grid, room, n_counts, peak)


def _shifted(values: Array, steps: int) -> Array:
    """Return values ``steps`` later; NaN where there are none.

    Examples
    --------
    >>> _shifted(np.array([[1.0, 2.0, 3.0]]), 1), _shifted(np.array([[1.0, 2.0, 3.0]]), -1)
    (array([[nan,  1.,  2.]]), array([[ 2.,  3., nan]]))
    """
    moved = np.full(values.shape, np.nan)
    n = values.shape[1]
    moved[:, max(steps, 0) : n + min(steps, 0)] = values[:, max(-steps, 0) : n - max(steps, 0)]
    return moved
