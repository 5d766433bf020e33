"""A synthetic year of outdoor temperature for a temperate climate.

Each day follows a cosine between its minimum and maximum. These are the monthly normals, interpolated
between the middles of the months, plus a deviation of the day that persists for some days. Nothing is
downloaded, and the seed makes every year different.
"""

from __future__ import annotations

import datetime as dt

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# London (Heathrow) 1991-2020, Met Office climate averages, rounded to whole degrees
DAILY_MAXIMUM = (8, 9, 12, 15, 18, 22, 24, 23, 20, 16, 11, 9)  # [degC] January to December
DAILY_MINIMUM = (3, 3, 4, 6, 9, 12, 14, 14, 12, 9, 5, 3)  # [degC]
DEVIATION = 3.0  # [K] standard deviation of daily means within a month; our judgement for a maritime climate
PERSISTENCE = 0.75  # [-] autocorrelation between days: weather persists for some days; our judgement
WARMEST_HOUR = 15.0  # [h] mid-afternoon
_STREAM = 7  # sets the random numbers of the weather apart from those of the office


def outdoor_temperature(first_date: dt.date, n_days: int, *, seed: int) -> Array:
    """Return the outdoor temperature [degC], one value per minute for ``n_days`` days.

    Simulating more days does not change the earlier ones, except for the second half of the last one.

    Examples
    --------
    >>> january = outdoor_temperature(dt.date(2016, 1, 1), 31, seed=0)
    >>> january.shape, bool(-5 < january.mean() < 12)
    ((44640,), True)
    """
    dates = [first_date + dt.timedelta(days=day) for day in range(n_days)]
    low, high = (np.repeat(_normals(dates, values), 1440) for values in (DAILY_MINIMUM, DAILY_MAXIMUM))
    hour = np.tile(np.arange(1440) / 60, n_days)
    swing = np.cos(2 * np.pi * (hour - WARMEST_HOUR) / 24)
    deviation = np.interp(np.arange(n_days * 1440), np.arange(n_days) * 1440 + 720, _deviations(n_days, seed))
    return np.asarray((low + high) / 2 + swing * (high - low) / 2 + deviation)


def _normals(dates: list[dt.date], monthly: tuple[int, ...]) -> Array:
    """Return the normals of each date, interpolated between the middles of the months."""
    middles = (np.arange(-1, 13) + 0.5) * 365.25 / 12
    days = [date.timetuple().tm_yday - 0.5 for date in dates]
    return np.interp(days, middles, [monthly[-1], *monthly, monthly[0]])


def _deviations(n: int, seed: int) -> Array:
    """Return the deviation of each day from the normal [K], a first-order autoregression."""
    shocks = np.random.default_rng([seed, _STREAM]).standard_normal(n) * DEVIATION
    deviations = np.empty(n)
    deviations[0] = shocks[0]
    for day in range(1, n):
        deviations[day] = PERSISTENCE * deviations[day - 1] + np.sqrt(1 - PERSISTENCE**2) * shocks[day]
    return deviations
