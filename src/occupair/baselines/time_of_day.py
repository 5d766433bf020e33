"""Time of day and day type (weekday or weekend)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from occupair.baselines.baseline import Array, Day
from occupair.readings.schema import SATURDAY

MINUTES_PER_DAY = 1440


def minute_of_day(day: Day) -> Array:
    """Return the minutes since local midnight in wall-clock time [min].

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
    """Whether the day is a Saturday or Sunday.

    Examples
    --------
    >>> import pandas as pd
    >>> is_weekend(Day(pd.DatetimeIndex(["2024-01-07"]), np.zeros(1), np.zeros(1), 1.0))
    True
    """
    return bool(day.times[0].weekday() >= SATURDAY)


def slot_of_day(day: Day, slot: float) -> NDArray[np.intp]:
    """Return the number of the time slot of ``slot`` minutes, from midnight, of each reading.

    Examples
    --------
    >>> import pandas as pd
    >>> times = pd.date_range("2024-01-08 08:00", periods=3, freq="10min")
    >>> slot_of_day(Day(times, np.zeros(3), np.zeros(3), 10.0), 15)
    array([32, 32, 33])
    """
    return (minute_of_day(day) / slot).astype(np.intp)


def slots_per_day(slot: float) -> int:
    """Return the number of time slots of ``slot`` minutes in a day; the last may be shorter."""
    return int(np.ceil(MINUTES_PER_DAY / slot))


def days_of_kind(days: list[Day], *, weekend: bool) -> list[int]:
    """Return the indices of the weekend days or weekdays; all days if there are none of that type."""
    chosen = [i for i, day in enumerate(days) if is_weekend(day) == weekend]
    return chosen or list(range(len(days)))
