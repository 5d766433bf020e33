"""What a CO2 sensor says when it is broken: nothing, 0, always the same, or leaps.

A count from such readings would be wrong and look sure. What is wrong at a reading follows from it and from
those before it alone.
"""

from __future__ import annotations

import math

from occupair.live.rooms.reading_grid import Column
from occupair.readings.grid import MINUTE

LEAST, MOST = 200.0, 40_000.0
"""CO2 that a room can have [ppm]; a sensor says 0 when a read failed, and 65535 when it is broken."""
STUCK = 120.0
"""The same number for so long is a sensor that hangs [min]."""
STUCK_COARSE = 480.0
"""The same for a sensor that rounds to ``COARSE`` ppm or more [min]: its numbers stand for hours."""
COARSE = 5.0
JUMP = 600.0
"""More than people can do from one reading to the next [ppm]..."""
STEEPEST = 150.0
"""...or, if those are further apart, in a minute [ppm/min]."""
SETTLES = 20.0
"""So long after a jump what is estimated still comes from it [min]."""
LOOKS_BACK = max(STUCK, STUCK_COARSE, SETTLES)
"""What is older does not matter [min]."""


def is_plausible(co2: float) -> bool:
    """Tell whether a room can have this CO2 [ppm].

    Examples
    --------
    >>> is_plausible(0.0), is_plausible(420.0), is_plausible(65535.0)
    (False, True, False)
    """
    return LEAST <= co2 <= MOST


class Watch:
    """The faults of a room's CO2 readings, kept up as readings are added at the end.

    Parameters
    ----------
    co2 : Column
        Its plausible readings.
    """

    def __init__(self, co2: Column) -> None:
        self._co2 = co2
        self.begin()

    def begin(self) -> None:
        """Look at all readings anew."""
        self._seen = 0
        self._same_since = self._jumped = -(1 << 62)  # [us]
        self._smallest = math.inf  # step between two readings that differ [ppm]

    def at(self, time: int) -> str:
        """Say what is wrong at a time, no earlier than asked before; an empty text when nothing is."""
        times = self._co2.times
        while self._seen < len(times) and times[self._seen] <= time:
            self._see(self._seen)
            self._seen += 1
        if not self._seen:
            return ""
        if time - self._jumped < SETTLES * MINUTE:
            return "CO2 jumped further than people can make it"
        limit = STUCK_COARSE if COARSE <= self._smallest < math.inf else STUCK
        same = (times[self._seen - 1] - self._same_since) / MINUTE
        return f"CO2 has been the same for {same / 60:.0f} hours" if same >= limit else ""

    def _see(self, place: int) -> None:
        times, values = self._co2.times, self._co2.values
        time = times[place]
        if place == 0:
            self._same_since = time
            return
        step, minutes = abs(values[place] - values[place - 1]), (time - times[place - 1]) / MINUTE
        if step > 0:
            self._same_since = time
            self._smallest = min(self._smallest, step)
        if step > max(JUMP, STEEPEST * minutes):
            self._jumped = time
