"""Running estimate of the background CO2, the level of the empty room."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from occupair.baselines.baseline import Array, Day
from occupair.baselines.rolling import running_minimum, shifted

AVERAGING_SPAN = 5.0  # [min], against single low readings


@dataclass(frozen=True)
class BackgroundCO2:
    """The minimum CO2 of the day so far, limited by the daily minima of the training days.

    The baseline of an uncalibrated sensor drifts by tens of ppm from day to day, so a single level for all
    days is inaccurate. The limits handle days that start with stale air and failed reads of 0 ppm.

    Parameters
    ----------
    lowest, highest : float
        Limits of the background level [ppm].
    """

    lowest: float
    highest: float

    @classmethod
    def learn(cls, days: list[Day], *, margin: float = 50.0) -> BackgroundCO2:
        """Derive the limits from the daily minima in training, the lower one with a ``margin`` [ppm].

        Examples
        --------
        >>> import pandas as pd
        >>> times = pd.date_range("2024-01-08", periods=2, freq="5min")
        >>> BackgroundCO2.learn([Day(times, np.array([c, 900.0]), np.zeros(2), 5.0) for c in (410.0, 430.0)])
        BackgroundCO2(lowest=360.0, highest=430.0)
        """
        lows = [float(_minimum_so_far(day)[-1]) for day in days]
        return cls(lowest=min(lows) - margin, highest=max(lows))

    def at(self, day: Day, *, ahead: int = 0) -> Array:
        """Return the background level at each reading, from readings up to ``ahead`` later [ppm]."""
        return np.clip(shifted(_minimum_so_far(day), -ahead), self.lowest, self.highest)


def _minimum_so_far(day: Day) -> Array:
    return running_minimum(day.co2, day.readings_in(AVERAGING_SPAN))
