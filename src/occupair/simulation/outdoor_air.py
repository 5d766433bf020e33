"""Outdoor CO2: a slowly varying level and a daily cycle."""

import numpy as np
from numpy.typing import NDArray

from occupair.simulation.random_streams import generator

MEAN = 410.0  # [ppm] Mauna Loa mean of 2015, 401 ppm (NOAA), plus about 10 ppm for a city
DRIFT = 6.0  # [ppm] standard deviation between days, from wind direction; our judgement
PERSISTENCE = 0.7  # [-] autocorrelation between days: weather persists for about three days
DAILY_SWING = 8.0  # [ppm] amplitude: respiration and still air at night, uptake and mixing by day
DAILY_PEAK = 6 * 60  # [min after midnight] shortly before sunrise, about 7:00 in Singapore


def outdoor_co2(n_days: int, *, seed: int) -> NDArray[np.float64]:
    """Return outdoor CO2 [ppm], one value per minute for ``n_days`` days.

    Levels at midnight follow a first-order autoregression and are interpolated linearly; a cosine with
    its peak before sunrise is added. Simulating more days does not change the earlier ones.

    Examples
    --------
    >>> outdoor_co2(2, seed=0).shape
    (2880,)
    """
    minute = np.arange(n_days * 1440)
    midnights = np.arange(n_days + 1) * 1440
    slow = np.interp(minute, midnights, _midnight_levels(n_days + 1, seed=seed))
    return slow + DAILY_SWING * np.cos(2 * np.pi * (minute - DAILY_PEAK) / 1440)


def _midnight_levels(n: int, *, seed: int) -> NDArray[np.float64]:
    """Return the levels at ``n`` midnights [ppm], a first-order autoregression."""
    innovation = DRIFT * np.sqrt(1 - PERSISTENCE**2)  # for a standard deviation of DRIFT
    deviations = np.empty(n)
    deviations[0] = DRIFT * generator(seed, "outdoors", 0).standard_normal()
    for day in range(1, n):
        step = innovation * generator(seed, "outdoors", day).standard_normal()
        deviations[day] = PERSISTENCE * deviations[day - 1] + step
    return MEAN + deviations
