"""CO2 of the outdoor air: a level that wanders from day to day, and a daily cycle."""

import numpy as np
from numpy.typing import NDArray

from occupair.simulation.random_streams import generator

MEAN = 410.0  # [ppm] Mauna Loa's 2015 mean of 401 (NOAA), and some 10 more for a city
DRIFT = 6.0  # [ppm] standard deviation from day to day: wind from the sea or over the town; our judgement
PERSISTENCE = 0.7  # [-] of a day's departure left on the next: weather lasts some three days
DAILY_SWING = 8.0  # [ppm] half of the range: plants and still air at night, uptake and mixing by day
DAILY_PEAK = 6 * 60  # [min] after midnight: just before sunrise, which is near 7:00 in Singapore


def outdoor_co2(n_days: int, *, seed: int) -> NDArray[np.float64]:
    """CO2 of the outdoor air [ppm], one value per minute for ``n_days`` whole days.

    Levels at midnight wander (first-order autoregression) and are joined by straight lines; on top
    rides a cosine with its peak before sunrise. More days never change the earlier ones.

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
    """Levels [ppm] at ``n`` midnights, each departure partly inherited from the day before."""
    fresh = DRIFT * np.sqrt(1 - PERSISTENCE**2)  # keeps the standard deviation at DRIFT
    departures = np.empty(n)
    departures[0] = DRIFT * generator(seed, "outdoors", 0).standard_normal()
    for day in range(1, n):
        news = fresh * generator(seed, "outdoors", day).standard_normal()
        departures[day] = PERSISTENCE * departures[day - 1] + news
    return MEAN + departures
