"""Features of the window regressors: CO2 and ventilation of the last hour, and the time of day."""

from __future__ import annotations

import numpy as np

from occupair.baselines.background_co2 import BackgroundCO2
from occupair.baselines.baseline import Array, Day
from occupair.baselines.rolling import running_mean, running_slope, shifted
from occupair.baselines.time_of_day import MINUTES_PER_DAY, is_weekend, minute_of_day

CO2_AGES = (0, 5, 10, 15, 20, 30, 40, 60)
"""How long before the end of the window CO2 is sampled [min]."""
SLOPE_SPANS = (5, 10, 20, 40)
"""Time spans over which the slope of CO2 is computed [min]."""
SMOOTHING_SPAN = 5.0
"""Span of the running mean of CO2 [min]: the update interval of some sensors."""
VENTILATION_SPANS = (10, 60)
"""Time spans over which ventilation is averaged [min]."""


def window_features(day: Day, base: BackgroundCO2, *, ahead: int = 0, time_of_day: bool = True) -> Array:
    """Return the features of the window that ends ``ahead`` readings after each reading of a day.

    Parameters
    ----------
    day : Day
        Readings; those more than ``ahead`` after a reading are not used.
    base : BackgroundCO2
        Background level of CO2.
    ahead : int
        Number of later readings available; fewer at the end of a day.
    time_of_day : bool
        Whether to add the time of day and the day type.

    Returns
    -------
    array of shape (N, 18) or (N, 23)
        Current CO2 above background, and smoothed at ``CO2_AGES`` [ppm]; slopes of CO2 over
        ``SLOPE_SPANS`` [ppm/min]; current ventilation and its means over ``VENTILATION_SPANS`` [0..1]; CO2
        above background times ventilation and its square [ppm], the loss terms of the mass balance; sine and
        cosine of one and two cycles per day; 1 on weekends.
    """
    at_end = np.column_stack([*_air(day, base), *_ventilation(day, base)])
    features = at_end[np.minimum(np.arange(len(day)) + ahead, len(day) - 1)]
    return np.column_stack([features, *_clock(day)]) if time_of_day else features


def _air(day: Day, base: BackgroundCO2) -> list[Array]:
    smooth = running_mean(day.co2, day.readings_in(SMOOTHING_SPAN))
    low = base.at(day)
    levels = [day.co2 - low, *(shifted(smooth, round(age / day.interval)) - low for age in CO2_AGES)]
    rises = [running_slope(day.co2, day.readings_in(span) + 1) / day.interval for span in SLOPE_SPANS]
    return [*levels, *rises]


def _ventilation(day: Day, base: BackgroundCO2) -> list[Array]:
    now = day.ventilation
    means = [running_mean(now, day.readings_in(span)) for span in VENTILATION_SPANS]
    above = day.co2 - base.at(day)
    return [now, *means, now * above, now**2 * above]


def _clock(day: Day) -> list[Array]:
    turn = 2 * np.pi * minute_of_day(day) / MINUTES_PER_DAY
    weekend = np.full(len(day), float(is_weekend(day)))
    return [np.sin(turn), np.cos(turn), np.sin(2 * turn), np.cos(2 * turn), weekend]
