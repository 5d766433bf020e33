"""The readings of one room on the time grid of its model, in whatever order they arrive.

Grid readings follow the rules of ``occupair.readings.grid.put_on_grid``: each grid time takes the last
value at or before it, short gaps are bridged by holding the last value, and longer gaps stay gaps. They
depend on the readings alone: late readings, duplicates and restarts do not change them. The newest reading
yields one grid reading more than a file would: that of the next grid time, unless another reading arrives
before it.
"""

from __future__ import annotations

import datetime as dt
import math
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from occupair.live.messages import to_microseconds, to_time
from occupair.readings.gaps import LONGEST_GAP, VENTILATION_HOLD, bridged_step
from occupair.readings.grid import MINUTE

NEVER = 1 << 62


class GridReading(NamedTuple):
    """CO2 and ventilation at a grid time."""

    time: int  # [us] since 1970
    co2: float  # [ppm]
    ventilation: float | None  # [0..1]


class TimeSeries:
    """Values sorted by time, in compact arrays because a service holds thousands of them."""

    def __init__(self) -> None:
        self.times = array("q")  # [us] since 1970
        self.values = array("d")

    def __len__(self) -> int:
        return len(self.times)

    def has(self, time: int) -> bool:
        """Whether there is a value at this time [us]."""
        index = bisect_left(self.times, time)
        return index < len(self.times) and self.times[index] == time

    def insert(self, time: int, value: float) -> int:
        """Insert a value and return its index."""
        index = bisect_left(self.times, time)
        self.times.insert(index, time)
        self.values.insert(index, value)
        return index

    def last_index(self, time: int) -> int:
        """Return the index of the last value at or before a time [us], -1 if there is none."""
        return bisect_right(self.times, time) - 1

    def drop_before(self, time: int) -> None:
        """Remove all values before a time [us]."""
        stop = bisect_left(self.times, time)
        del self.times[:stop], self.values[:stop]


class EstimatedReadings:
    """Grid readings of the day that have been estimated, in compact arrays."""

    def __init__(self) -> None:
        self.times = array("q")
        self.co2, self._ventilation = array("d"), array("d")
        self._suspect = array("b")

    def __len__(self) -> int:
        return len(self.times)

    def append(self, reading: GridReading, *, suspect: bool) -> None:
        """Append a grid reading and whether the sensor was faulty at its time."""
        self.times.append(reading.time)
        self.co2.append(reading.co2)
        self._ventilation.append(math.nan if reading.ventilation is None else reading.ventilation)
        self._suspect.append(suspect)

    def valid(self, *, needs_ventilation: bool) -> NDArray[np.bool_]:
        """Whether each grid reading could be estimated: the sensor was not faulty."""
        faulty = np.asarray(self._suspect, dtype=bool)
        return ~(faulty | np.isnan(self._ventilation)) if needs_ventilation else ~faulty

    def pop(self) -> None:
        """Remove the last grid reading."""
        for column in (self.times, self.co2, self._ventilation, self._suspect):
            column.pop()

    def is_same(self, index: int, reading: GridReading, *, suspect: bool) -> bool:
        """Whether the grid reading at an index was estimated from these values."""
        flow = self._ventilation[index]
        same_flow = math.isnan(flow) if reading.ventilation is None else flow == reading.ventilation
        same = self.times[index] == reading.time and self.co2[index] == reading.co2 and same_flow
        return same and self._suspect[index] == suspect


class ReadingGrid:
    """Plausible readings of one room, on a grid.

    Parameters
    ----------
    interval : float
        Time between grid times [min].
    """

    def __init__(self, interval: float) -> None:
        self.step = round(interval * MINUTE)  # [us]
        self.co2, self.ventilation = TimeSeries(), TimeSeries()
        self.bridged = bridged_step(self.step, LONGEST_GAP * MINUTE)  # [us]

    def with_interval(self, interval: float) -> ReadingGrid:
        """Return the same readings on another grid."""
        other = ReadingGrid(interval)
        other.co2, other.ventilation = self.co2, self.ventilation
        return other

    def readings(self, since: int, until: int = NEVER, *, midnight: int = 0) -> Iterator[GridReading]:
        """Yield the grid readings in [since, until) [us] on the grid that starts at midnight."""
        times, values = self.co2.times, self.co2.values
        for index in range(max(self.co2.last_index(since), 0), len(times)):
            at = times[index]
            if at >= until:
                return
            following = times[index + 1] if index + 1 < len(times) else NEVER
            stop = following if following - at <= self.bridged else min(following, at + self.step)
            first = max(at, since)
            first += (midnight - first) % self.step
            for time in range(first, min(stop, until), self.step):
                yield GridReading(time, values[index], self._ventilation_at(time))

    def _ventilation_at(self, time: int) -> float | None:
        index = self.ventilation.last_index(time)
        if index < 0 or time - self.ventilation.times[index] > VENTILATION_HOLD * MINUTE:
            return None
        return self.ventilation.values[index]


def local_day(zone: dt.tzinfo, time: int) -> tuple[int, int]:
    """Return the local midnights before and after a time [us]."""
    return _midnights(zone, to_time(time).astimezone(zone).date())


@lru_cache(maxsize=1024)
def _midnights(zone: dt.tzinfo, date: dt.date) -> tuple[int, int]:
    days = (date, date + dt.timedelta(days=1))
    start, stop = (to_microseconds(dt.datetime(d.year, d.month, d.day, tzinfo=zone)) for d in days)
    return start, stop
