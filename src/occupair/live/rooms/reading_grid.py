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
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from occupair.live.messages import to_microseconds, to_time
from occupair.readings.gaps import VENTILATION_HOLD, bridged_step, default_gap
from occupair.readings.grid import MINUTE
from occupair.readings.other_sensors import SENSOR_HOLD

NEVER = 1 << 62


class GridReading(NamedTuple):
    """CO2, ventilation and the optional sensors that the model uses, at a grid time."""

    time: int  # [us] since 1970
    co2: float  # [ppm]
    ventilation: float | None  # [0..1]
    sensors: tuple[float, ...] = ()  # NaN if missing


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
    """Grid readings of the day that have been estimated, in compact arrays.

    Parameters
    ----------
    n_sensors : int
        Number of optional sensors of each grid reading.
    """

    def __init__(self, n_sensors: int = 0) -> None:
        self._n_sensors = n_sensors
        self._sensors = array("d")  # those of one reading after the other
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
        self._sensors.extend(reading.sensors)

    def valid(self, *, needs_ventilation: bool) -> NDArray[np.bool_]:
        """Whether each grid reading could be estimated: the sensor was not faulty."""
        faulty = np.asarray(self._suspect, dtype=bool)
        return ~(faulty | np.isnan(self._ventilation)) if needs_ventilation else ~faulty

    def pop(self) -> None:
        """Remove the last grid reading."""
        for column in (self.times, self.co2, self._ventilation, self._suspect):
            column.pop()
        del self._sensors[len(self._sensors) - self._n_sensors :]

    def is_same(self, index: int, reading: GridReading, *, suspect: bool) -> bool:
        """Whether the grid reading at an index was estimated from these values."""
        flow = self._ventilation[index]
        same_flow = math.isnan(flow) if reading.ventilation is None else flow == reading.ventilation
        same = self.times[index] == reading.time and self.co2[index] == reading.co2 and same_flow
        first = index * self._n_sensors
        before = self._sensors[first : first + self._n_sensors]
        same = same and all(
            one == other or (math.isnan(one) and math.isnan(other))
            for one, other in zip(before, reading.sensors, strict=True)
        )
        return same and self._suspect[index] == suspect


class ReadingGrid:
    """Plausible readings of one room, on a grid.

    Parameters
    ----------
    interval : float
        Time between grid times [min].
    sensors : sequence of str
        Optional sensors that the model uses.
    sent_every : float, optional
        Time between the readings of the CO2 sensor, if that is longer than the interval [min].

    Attributes
    ----------
    bridged : float
        Longest time between two readings that is not a gap [us].
    """

    def __init__(self, interval: float, sensors: Sequence[str] = (), sent_every: float | None = None) -> None:
        self.step = round(interval * MINUTE)  # [us]
        self.sensor_names = tuple(sensors)
        self.co2, self.ventilation = TimeSeries(), TimeSeries()
        self.sensors: dict[str, TimeSeries] = {}
        self._sent_every = sent_every
        self.bridged = bridged_step(self.step, default_gap(max(interval, sent_every or 0.0)) * MINUTE)

    def with_interval(self, interval: float, sensors: Sequence[str] = ()) -> ReadingGrid:
        """Return the same readings on another grid, for a model with these optional sensors."""
        other = ReadingGrid(interval, sensors, self._sent_every)
        other.take_readings_of(self)
        return other

    def take_readings_of(self, other: ReadingGrid) -> None:
        """Take over the readings of another grid."""
        self.co2, self.ventilation, self.sensors = other.co2, other.ventilation, other.sensors

    def drop_before(self, time: int) -> None:
        """Remove all readings before a time [us]."""
        for series in (self.co2, self.ventilation, *self.sensors.values()):
            series.drop_before(time)

    def has_sensor(self, name: str, time: int) -> bool:
        """Whether there is a value of an optional sensor at this time [us]."""
        return name in self.sensors and self.sensors[name].has(time)

    def insert_sensor(self, name: str, time: int, value: float) -> None:
        """Insert a value of an optional sensor."""
        self.sensors.setdefault(name, TimeSeries()).insert(time, value)

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
                yield GridReading(time, values[index], self._ventilation_at(time), self._sensors_at(time))

    def _ventilation_at(self, time: int) -> float | None:
        index = self.ventilation.last_index(time)
        if index < 0 or time - self.ventilation.times[index] > VENTILATION_HOLD * MINUTE:
            return None
        return self.ventilation.values[index]

    def _sensors_at(self, time: int) -> tuple[float, ...]:
        """Return the last value of each sensor of the model, NaN if it is older than ``SENSOR_HOLD``."""
        found = []
        for name in self.sensor_names:
            series = self.sensors.get(name)
            index = -1 if series is None else series.last_index(time)
            fresh = series is not None and index >= 0 and time - series.times[index] <= SENSOR_HOLD * MINUTE
            found.append(series.values[index] if series is not None and fresh else math.nan)
        return tuple(found)


def local_day(zone: dt.tzinfo, time: int) -> tuple[int, int]:
    """Return the local midnights before and after a time [us]."""
    return _midnights(zone, to_time(time).astimezone(zone).date())


@lru_cache(maxsize=1024)
def _midnights(zone: dt.tzinfo, date: dt.date) -> tuple[int, int]:
    days = (date, date + dt.timedelta(days=1))
    start, stop = (to_microseconds(dt.datetime(d.year, d.month, d.day, tzinfo=zone)) for d in days)
    return start, stop
