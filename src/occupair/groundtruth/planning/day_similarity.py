"""Profiles of days from their readings, without head counts, and the dissimilarity of two days."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from occupair.readings.schema import SATURDAY, date_slices, interval_of

Array = NDArray[np.float64]

CO2_IN_USE = 100.0
"""CO2 above the daily low from which the room is considered in use [ppm]."""
VENTILATION_LEVELS = ("off", "up to 25 %", "26 to 50 %", "51 to 75 %", "76 to 100 %")
_LEVEL_EDGES = np.array([0.02, 0.255, 0.505, 0.755])
CO2_STEP = 100.0
"""Width of a CO2 class [ppm]."""
MIN_DURATION = 10.0
"""Shortest time in an air condition for it to count [min]."""

SCALES = {
    "co2_low": 100.0,
    "co2_high": 200.0,
    "ventilation": 0.2,
    "weekend": 0.5,
    "hours": 3.0,
    "middle": 2.5,
}
"""Difference of each feature that makes two days dissimilar by 1: [ppm], [ppm], fraction of the day, 1 or 0,
[h], [h]."""


@dataclass(frozen=True)
class DayProfile:
    """Features of a day.

    Attributes
    ----------
    date : its date
    weekend : whether it is a Saturday or a Sunday
    co2_low, co2_high : 5th and 95th percentile of CO2 [ppm]
    ventilation : fraction of the day at each of ``VENTILATION_LEVELS``
    hours : time in use, judging by CO2 [h]
    middle : mean time of day of the use [h]
    air_conditions : combinations of CO2 class and ventilation level that occur
    """

    date: pd.Timestamp
    weekend: bool
    co2_low: float
    co2_high: float
    ventilation: tuple[float, ...]
    hours: float
    middle: float
    air_conditions: frozenset[tuple[int, int]]

    def vector(self) -> Array:
        """Return the scaled features as a vector, ventilation levels first."""
        # half the sum of absolute differences is the fraction of the day with a different level
        levels = np.array(self.ventilation) / (2 * SCALES["ventilation"])
        others = [getattr(self, name) / SCALES[name] for name in SCALES if name != "ventilation"]
        return np.concatenate([levels, others])


def profile_days(readings: pd.DataFrame) -> list[DayProfile]:
    """Return the profile of each local day; ``occupancy`` is not used."""
    interval = interval_of(readings)
    return [_profile(readings.iloc[day], interval) for day in date_slices(readings)]


def _profile(day: pd.DataFrame, interval: float) -> DayProfile:
    co2, times = day["co2"].to_numpy(dtype=float), pd.DatetimeIndex(day.index)
    low, high = np.quantile(co2, [0.05, 0.95])
    in_use = co2 > low + CO2_IN_USE
    hours = times.hour.to_numpy() + times.minute.to_numpy() / 60
    flow = day["ventilation"].to_numpy(dtype=float) if "ventilation" in day.columns else np.zeros(co2.size)
    level = np.searchsorted(_LEVEL_EDGES, flow)
    conditions, counts = np.unique(np.column_stack([co2 // CO2_STEP, level]), axis=0, return_counts=True)
    return DayProfile(
        date=times[0].normalize(),
        weekend=bool(times[0].day_of_week >= SATURDAY),
        co2_low=float(low),
        co2_high=float(high),
        ventilation=tuple((np.bincount(level, minlength=len(VENTILATION_LEVELS)) / level.size).tolist()),
        hours=float(in_use.sum() * interval / 60),
        middle=float(hours[in_use].mean()) if in_use.any() else 12.0,
        air_conditions=frozenset(
            (int(co2_class), int(which))
            for (co2_class, which), count in zip(conditions, counts, strict=True)
            if count * interval >= MIN_DURATION
        ),
    )


def dissimilarity(one: DayProfile, other: DayProfile) -> float:
    """Dissimilarity of two days: 0 if equal, 1 for a clear difference in one feature.

    Euclidean norm of the feature differences, each divided by its scale in ``SCALES``. Ventilation differs by
    the fraction of the day with a different level.
    """
    differences = one.vector() - other.vector()
    n_levels = len(VENTILATION_LEVELS)
    ventilation = np.abs(differences[:n_levels]).sum()
    return float(np.hypot(ventilation, np.linalg.norm(differences[n_levels:])))


def nearest_dissimilarity(day: DayProfile, others: Sequence[DayProfile]) -> float:
    """Dissimilarity of a day to the most similar of the others."""
    return min(dissimilarity(day, other) for other in others)
