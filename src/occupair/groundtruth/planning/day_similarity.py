"""What days are like, from their readings alone, and how unlike each other two days are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from occupair.readings.schema import date_slices, interval_of

Array = NDArray[np.float64]

IN_USE = 100.0
"""CO2 above the low of the day that people, and nothing else, make [ppm]."""
LEVELS = ("off", "up to 25 %", "26 to 50 %", "51 to 75 %", "76 to 100 %")
"""Ventilation, in words."""
_EDGES = np.array([0.02, 0.255, 0.505, 0.755])
CO2_STEP = 100.0
"""Air whose CO2 is closer than this is of one kind [ppm]."""
LEAST = 10.0
"""A day has a kind of air if it has this much of it [min]."""

UNITS = {"co2_low": 100.0, "co2_high": 200.0, "ventilation": 0.2, "weekend": 0.5, "hours": 3.0, "middle": 2.5}
"""How far two days are apart that are unlike by 1: [ppm], [ppm], share of the day, 1 or 0, [h], [h]."""


@dataclass(frozen=True)
class DayProfile:
    """What a day is like.

    Attributes
    ----------
    date : its date
    weekend : whether it is a Saturday or a Sunday
    co2_low, co2_high : between which CO2 lies for nine tenths of the day [ppm]
    ventilation : share of the day that the ventilation is at each of ``LEVELS``
    hours : how long CO2 says that the room is in use [h]
    middle : time of day about which that is [h]
    kinds : kinds of air that the day has, CO2 in steps and ventilation
    """

    date: pd.Timestamp
    weekend: bool
    co2_low: float
    co2_high: float
    ventilation: tuple[float, ...]
    hours: float
    middle: float
    kinds: frozenset[tuple[int, int]]

    def vector(self) -> Array:
        """Give the day as a point, in the units of ``UNITS``."""
        # half of the sum of the differences is the share of the day in which ventilation is another
        levels = np.array(self.ventilation) / (2 * UNITS["ventilation"])
        others = [getattr(self, name) / UNITS[name] for name in UNITS if name != "ventilation"]
        return np.concatenate([levels, others])


def profile_days(readings: pd.DataFrame) -> list[DayProfile]:
    """Say what each local day of some readings is like; ``occupancy`` is not looked at."""
    interval = interval_of(readings)
    return [_look(readings.iloc[day], interval) for day in date_slices(readings)]


def _look(day: pd.DataFrame, interval: float) -> DayProfile:
    co2, times = day["co2"].to_numpy(dtype=float), pd.DatetimeIndex(day.index)
    low, high = np.quantile(co2, [0.05, 0.95])
    in_use = co2 > low + IN_USE
    hours = times.hour.to_numpy() + times.minute.to_numpy() / 60
    flow = day["ventilation"].to_numpy(dtype=float) if "ventilation" in day.columns else np.zeros(co2.size)
    level = np.searchsorted(_EDGES, flow)
    air, minutes = np.unique(np.column_stack([co2 // CO2_STEP, level]), axis=0, return_counts=True)
    return DayProfile(
        date=times[0].normalize(),
        weekend=bool(times[0].day_of_week >= 5),
        co2_low=float(low),
        co2_high=float(high),
        ventilation=tuple((np.bincount(level, minlength=len(LEVELS)) / level.size).tolist()),
        hours=float(in_use.sum() * interval / 60),
        middle=float(hours[in_use].mean()) if in_use.any() else 12.0,
        kinds=frozenset(
            (int(step), int(which))
            for (step, which), n in zip(air, minutes, strict=True)
            if n * interval >= LEAST
        ),
    )


def dissimilarity(one: DayProfile, other: DayProfile) -> float:
    """How unlike two days are: 0 the same, 1 a clear difference in one respect.

    The root of the sum of the squared differences, each in its unit, ``UNITS``; ventilation differs by the
    share of the day in which its level is another.
    """
    differences = one.vector() - other.vector()
    ventilation = np.abs(differences[: len(LEVELS)]).sum()
    return float(np.hypot(ventilation, np.linalg.norm(differences[len(LEVELS) :])))


def nearest_dissimilarity(look: DayProfile, others: Sequence[DayProfile]) -> float:
    """How unlike a day is to the one of the others that is most like it."""
    return min(dissimilarity(look, other) for other in others)
