"""Lowest CO2 of a day and of its night, from which the drift of a sensor is estimated.

A low is the lowest mean over a quarter of an hour, so that noise and single readings matter little. It does
not depend on the smoothing of a model: training, replays, live rooms and the store all have the same lows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

PERIOD = 15
"""Length of the periods whose mean CO2 is taken [min]. Local midnight starts one in every time zone."""
NIGHT = 360
"""End of the night, after local midnight [min]. The low of the night is known before most people arrive."""
COMPLETE_SHARE = 0.65
"""Share of a day or a night that makes it complete; shorter ones may miss their low."""


class DailyLow(NamedTuple):
    """Lowest CO2 of a local day so far.

    Examples
    --------
    >>> DailyLow(738887).with_period(minute=345, mean=421.0)
    DailyLow(day=738887, low=421.0, night=421.0, periods=1, night_periods=1)
    """

    day: int  # ordinal of the date
    low: float = math.inf  # [ppm]
    night: float = math.inf  # until ``NIGHT`` [ppm]
    periods: int = 0  # with readings
    night_periods: int = 0

    def with_period(self, minute: float, mean: float) -> DailyLow:
        """Return the low with one more period.

        Parameters
        ----------
        minute : float
            Local time of the period [min since midnight].
        mean : float
            Mean CO2 [ppm].
        """
        at_night = minute < NIGHT
        return DailyLow(
            self.day,
            min(self.low, mean),
            min(self.night, mean) if at_night else self.night,
            self.periods + 1,
            self.night_periods + at_night,
        )

    def is_complete(self, interval: float) -> bool:
        """Whether readings every ``interval`` minutes cover enough of the day."""
        return self.periods * max(interval, PERIOD) >= COMPLETE_SHARE * 1440

    def is_night_complete(self, interval: float) -> bool:
        """Whether readings every ``interval`` minutes cover enough of the night."""
        return self.night_periods * max(interval, PERIOD) >= COMPLETE_SHARE * NIGHT


def periods_of(minutes: Array, co2: Array) -> Iterator[tuple[slice, float]]:
    """Yield the readings of each period, and the sum of their CO2 [ppm].

    Parameters
    ----------
    minutes : array of shape (N,)
        Local times, or any other times whose periods start at multiples of ``PERIOD`` [min].
    co2 : array of shape (N,)
        CO2 [ppm].

    Examples
    --------
    >>> list(periods_of(np.array([0.0, 10.0, 20.0]), np.array([400.0, 410.0, 430.0])))
    [(slice(0, 2, None), 810.0), (slice(2, 3, None), 430.0)]
    """
    starts = np.flatnonzero(np.diff(minutes // PERIOD, prepend=-1.0))
    stops = [*starts[1:].tolist(), co2.size]
    for start, stop, total in zip(starts.tolist(), stops, np.add.reduceat(co2, starts).tolist(), strict=True):
        yield slice(start, stop), total
