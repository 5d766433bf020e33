"""The CO2 of the room with nobody in it, as far as can be known at the time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from occupair.baselines.baseline import Array, Day
from occupair.baselines.rolling import running_low, shifted

AVERAGING = 5.0  # [min]: a single low reading is noise


@dataclass(frozen=True)
class BackgroundCO2:
    """A running base level: the low of the day so far, kept near the lows of the training days.

    The lows of sensors without calibration move by tens of ppm from day to day, so that one level for all
    days misleads; but a day that starts in stale air has not yet seen its low, and one failed read of
    0 ppm must not spoil the rest of the day.

    Parameters
    ----------
    lowest, highest : float
        Limits of the base level [ppm].
    """

    lowest: float
    highest: float

    @classmethod
    def learn(cls, days: list[Day], *, margin: float = 50.0) -> BackgroundCO2:
        """Take the limits from the lows of the training days: from ``margin`` [ppm] below the lowest.

        Examples
        --------
        >>> import pandas as pd
        >>> times = pd.date_range("2024-01-08", periods=2, freq="5min")
        >>> BackgroundCO2.learn([Day(times, np.array([c, 900.0]), np.zeros(2), 5.0) for c in (410.0, 430.0)])
        BackgroundCO2(lowest=360.0, highest=430.0)
        """
        lows = [float(_low_so_far(day)[-1]) for day in days]
        return cls(lowest=min(lows) - margin, highest=max(lows))

    def at(self, day: Day, *, ahead: int = 0) -> Array:
        """Give the base level at each reading, from the readings up to ``ahead`` after it [ppm]."""
        return np.clip(shifted(_low_so_far(day), -ahead), self.lowest, self.highest)


def _low_so_far(day: Day) -> Array:
    return running_low(day.co2, day.readings_in(AVERAGING))
