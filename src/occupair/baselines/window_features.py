"""Features of the window regressors: CO2 and ventilation of the last hour, and the time of day."""

from __future__ import annotations

import numpy as np

from occupair.baselines.background_co2 import BackgroundCO2
from occupair.baselines.baseline import Array, Day
from occupair.baselines.rolling import running_mean, running_slope, shifted
from occupair.baselines.time_of_day import MINUTES_PER_DAY, is_weekend, minute_of_day

LAGS = (0, 5, 10, 15, 20, 30, 40, 60)  # [min]
RISES = (5, 10, 20, 40)  # [min]
SMOOTHING = 5.0  # [min], the update interval of some sensors
VENTILATION_MEANS = (10, 60)  # [min]


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
        Current CO2 above background, and smoothed at ``LAGS`` [ppm]; slopes of CO2 over ``RISES`` [ppm/min];
        current ventilation and its ``VENTILATION_MEANS`` [0..1]; CO2 above background times ventilation and
        its square [ppm], the loss terms of the mass balance; sine and cosine of one and two cycles per day;
        1 on weekends.
    """
    at_end = np.column_stack([*_air(day, base), *_ventilation(day, base)])
    features = at_end[np.minimum(np.arange(len(day)) + ahead, len(day) - 1)]
    return np.column_stack([features, *_clock(day)]) if time_of_day else features


def _air(day: Day, base: BackgroundCO2) -> list[Array]:
    smooth = running_mean(day.co2, day.readings_in(SMOOTHING))
    low = base.at(day)
    levels = [day.co2 - low, *(shifted(smooth, round(lag / day.interval)) - low for lag in LAGS)]
    rises = [running_slope(day.co2, day.readings_in(span) + 1) / day.interval for span in RISES]
    return [*levels, *rises]


def _ventilation(day: Day, base: BackgroundCO2) -> list[Array]:
    now = day.ventilation
    means = [running_mean(now, day.readings_in(span)) for span in VENTILATION_MEANS]
    above = day.co2 - base.at(day)
    return [now, *means, now * above, now**2 * above]


def _clock(day: Day) -> list[Array]:
    turn = 2 * np.pi * minute_of_day(day) / MINUTES_PER_DAY
    weekend = np.full(len(day), float(is_weekend(day)))
    return [np.sin(turn), np.cos(turn), np.sin(2 * turn), np.cos(2 * turn), weekend]
