"""Time of day and kind of day, which is all that some baselines look at."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from occupair.baselines.baseline import Array, Day

MINUTES_PER_DAY = 1440


def minute_of_day(day: Day) -> Array:
    """Minutes since local midnight, by the clock on the wall [min].

    Examples
    --------
    >>> import pandas as pd
    >>> times = pd.date_range("2024-01-08 08:00", periods=2, freq="30s")
    >>> minute_of_day(Day(times, np.zeros(2), np.zeros(2), 0.5))
    array([480. , 480.5])
    """
    since_midnight = day.times - day.times.normalize()
    return np.asarray(since_midnight.total_seconds(), dtype=float) / 60


def is_weekend(day: Day) -> bool:
    """Whether it is a Saturday or a Sunday.

    Examples
    --------
    >>> import pandas as pd
    >>> is_weekend(Day(pd.DatetimeIndex(["2024-01-07"]), np.zeros(1), np.zeros(1), 1.0))
    True
    """
    return bool(day.times[0].weekday() >= 5)


def slot_of_day(day: Day, slot: float) -> NDArray[np.intp]:
    """Tell which slot of ``slot`` minutes each reading falls into, counted from midnight.

    Examples
    --------
    >>> import pandas as pd
    >>> times = pd.date_range("2024-01-08 08:00", periods=3, freq="10min")
    >>> slot_of_day(Day(times, np.zeros(3), np.zeros(3), 10.0), 15)
    array([32, 32, 33])
    """
    return (minute_of_day(day) / slot).astype(np.intp)


def slots_per_day(slot: float) -> int:
    """Count the slots of ``slot`` minutes that a day has; the last may be short."""
    return int(np.ceil(MINUTES_PER_DAY / slot))


def alike(days: list[Day], *, weekend: bool) -> list[int]:
    """Which days to learn a weekday or a weekend from: all of them where there is none of the kind."""
    chosen = [i for i, day in enumerate(days) if is_weekend(day) == weekend]
    return chosen or list(range(len(days)))
