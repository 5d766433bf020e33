"""Opening hours: the times at which a room is meant to be used, to which its use is related."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from occupair.errors import InputError
from occupair.room.closed_hours import parse_periods
from occupair.utilisation.counts import HOUR, Mask

WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


@dataclass(frozen=True)
class OpeningHours:
    """Opening hours of rooms.

    Parameters
    ----------
    hours : str
        Time of day, such as ``"08:00-18:00"``.
    weekdays : str
        Days of the week, such as ``"mon-fri"`` or ``"mon,wed,sat"``.

    Examples
    --------
    >>> opening = OpeningHours("08:00-18:00", "mon-fri")
    >>> times = pd.to_datetime(["2024-01-08 07:59", "2024-01-08 08:00", "2024-01-13 09:00"])
    >>> opening.contain(times).tolist()
    [False, True, False]
    >>> opening.hours_per_week, str(opening)
    (50.0, '08:00-18:00, mon-fri')
    """

    hours: str = "08:00-18:00"
    weekdays: str = "mon-fri"

    def __post_init__(self) -> None:
        _ = self._minutes, self.days

    def __str__(self) -> str:
        return f"{self.hours}, {self.weekdays}"

    @cached_property
    def _minutes(self) -> Mask:
        return parse_periods(self.hours, name="hours")

    @cached_property
    def days(self) -> tuple[int, ...]:
        """Days of the week on which rooms are open; Monday is 0."""
        return parse_weekdays(self.weekdays)

    @property
    def hours_per_week(self) -> float:
        """Opening hours of a week without a clock change [h]."""
        return len(self.days) * float(self._minutes.sum()) / HOUR

    def contain(self, times: pd.DatetimeIndex) -> Mask:
        """Whether each local time is within the opening hours."""
        minutes = np.asarray(60 * times.hour + times.minute)
        is_open: Mask = self.open_days(times) & self._minutes[minutes]
        return is_open

    def open_days(self, times: pd.DatetimeIndex) -> Mask:
        """Whether each local time is on a day of the week on which rooms are open."""
        return np.isin(np.asarray(times.day_of_week), self.days)


def parse_weekdays(text: str) -> tuple[int, ...]:
    """Return the days of the week in a text; Monday is 0.

    Examples
    --------
    >>> parse_weekdays("mon-fri"), parse_weekdays("sat, mon"), parse_weekdays("sat-mon")
    ((0, 1, 2, 3, 4), (0, 5), (0, 5, 6))
    """
    found: set[int] = set()
    for part in str(text).lower().split(","):
        first, _, last = (name.strip()[:3] for name in part.partition("-"))
        start, end = _weekday(first, text), _weekday(last or first, text)
        found |= {(start + k) % 7 for k in range((end - start) % 7 + 1)}
    return tuple(sorted(found))


def _weekday(name: str, text: str) -> int:
    if name not in WEEKDAYS:
        raise InputError(f"weekdays must be such as mon-fri or mon,wed,sat, got {text!r}")
    return WEEKDAYS.index(name)
