"""A room's readings on the grid of its model, in whatever order they come.

Rows are those of ``occupair.readings.grid.put_on_grid``: each grid time takes the last value at or before
it, a value is held to the next one if that is near, and a gap stays a gap. They are a function of the
readings alone, so that a late reading, a reading twice or a restart in between changes nothing. The newest
reading gives one row more than a file would: that of the next grid time, unless a reading comes before it.
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from occupair.readings.grid import MINUTE

LONGEST_GAP = 10.0
"""Gaps up to this are bridged by holding the last value, as ``read_readings`` does [min]."""
JITTER = 1.5
"""Intervals; a step up to this is one step that came late, never a gap."""
VENTILATION_HOLDS = 1440.0
"""Ventilation is often told only when it changes: a value holds this long [min]."""
NEVER = 1 << 62


class Row(NamedTuple):
    """What is known at a grid time."""

    tick: int  # [us] since 1970
    co2: float  # [ppm]
    ventilation: float | None  # [0..1]


class Column:
    """Values at rising times; compact, because a service holds thousands."""

    def __init__(self) -> None:
        self.times = array("q")  # [us] since 1970
        self.values = array("d")

    def __len__(self) -> int:
        return len(self.times)

    def has(self, time: int) -> bool:
        """Tell whether there is a value of this time."""
        place = bisect_left(self.times, time)
        return place < len(self.times) and self.times[place] == time

    def put(self, time: int, value: float) -> int:
        """Put a value in its place and say where that is."""
        place = bisect_left(self.times, time)
        self.times.insert(place, time)
        self.values.insert(place, value)
        return place

    def before(self, time: int) -> int:
        """Give the place of the last value at or before a time, -1 if there is none."""
        return bisect_right(self.times, time) - 1

    def forget_before(self, time: int) -> None:
        """Drop values before a time."""
        stop = bisect_left(self.times, time)
        del self.times[:stop], self.values[:stop]


class Rows:
    """Rows that were estimated; compact, too."""

    def __init__(self) -> None:
        self.ticks = array("q")
        self._co2, self._ventilation = array("d"), array("d")
        self._suspect = array("b")

    def __len__(self) -> int:
        return len(self.ticks)

    def append(self, row: Row, *, suspect: bool) -> None:
        """Note one more, and whether something was wrong with the sensor then."""
        self.ticks.append(row.tick)
        self._co2.append(row.co2)
        self._ventilation.append(math.nan if row.ventilation is None else row.ventilation)
        self._suspect.append(suspect)

    def pop(self) -> None:
        """Forget the last."""
        for column in (self.ticks, self._co2, self._ventilation, self._suspect):
            column.pop()

    def is_at(self, place: int, row: Row, *, suspect: bool) -> bool:
        """Tell whether it is this row that was noted there."""
        flow = self._ventilation[place]
        same_flow = math.isnan(flow) if row.ventilation is None else flow == row.ventilation
        same = self.ticks[place] == row.tick and self._co2[place] == row.co2 and same_flow
        return same and self._suspect[place] == suspect


class Slots:
    """Readings of one room on a grid.

    Parameters
    ----------
    interval : float
        Time between grid times [min].
    """

    def __init__(self, interval: float) -> None:
        self.step = round(interval * MINUTE)
        self.co2, self.ventilation = Column(), Column()
        self._reach = max(LONGEST_GAP * MINUTE, JITTER * self.step)

    def rows(self, since: int, until: int = NEVER, *, midnight: int = 0) -> Iterator[Row]:
        """Give the rows from one time until another, whose grid times are whole steps after midnight."""
        times, values = self.co2.times, self.co2.values
        for place in range(max(self.co2.before(since), 0), len(times)):
            at = times[place]
            if at >= until:
                return
            following = times[place + 1] if place + 1 < len(times) else NEVER
            stop = following if following - at <= self._reach else min(following, at + self.step)
            first = max(at, since)
            first += (midnight - first) % self.step
            for tick in range(first, min(stop, until), self.step):
                yield Row(tick, values[place], self._ventilation(tick))

    def _ventilation(self, tick: int) -> float | None:
        place = self.ventilation.before(tick)
        if place < 0 or tick - self.ventilation.times[place] > VENTILATION_HOLDS * MINUTE:
            return None
        return self.ventilation.values[place]
