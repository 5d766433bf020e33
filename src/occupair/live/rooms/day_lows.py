"""Lowest CO2 of earlier days of a room, from the estimates in memory or in the store.

The drift of a sensor is followed from these lows, so they must be the same after a restart. They come from
the CO2 at grid times, without times at which the sensor was faulty.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from occupair.live.messages import Co2Mean, to_microseconds, to_time
from occupair.live.rooms.reading_grid import local_day
from occupair.readings.daily_lows import NIGHT, DailyLow, periods_of
from occupair.readings.grid import MINUTE


def co2_means(times: Sequence[int], co2: Sequence[float], valid: NDArray[np.bool_]) -> Iterator[Co2Mean]:
    """Yield the mean CO2 of each quarter of an hour.

    Parameters
    ----------
    times : sequence of int
        Grid times, increasing [us].
    co2 : sequence of float
        CO2 at those times [ppm].
    valid : array of bool
        Whether the sensor was not faulty.
    """
    at, values = np.asarray(times, dtype=np.int64)[valid], np.asarray(co2, dtype=float)[valid]
    for rows, total in periods_of(at / MINUTE, values):
        yield Co2Mean(int(at[rows.start]), total / (rows.stop - rows.start))


def lows_by_day(means: Iterable[Co2Mean], zone: dt.tzinfo) -> dict[int, DailyLow]:
    """Return the low of each local day, by the ordinal of its date; the means are in order of time."""
    lows: dict[int, DailyLow] = {}
    day = start = stop = night_end = 0
    for time, mean in means:
        if not start <= time < stop:
            start, stop = local_day(zone, time)
            date = to_time(time).astimezone(zone).date()
            day = date.toordinal()
            morning = dt.datetime.combine(date, dt.time(NIGHT // 60), zone)
            night_end = to_microseconds(morning)
        minute = 0 if time < night_end else NIGHT
        lows[day] = lows.get(day, DailyLow(day)).with_period(minute, mean)
    return lows
