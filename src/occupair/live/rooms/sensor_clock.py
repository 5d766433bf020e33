"""Whether a sensor's clock is right: when its readings were measured, against when they came in."""

from __future__ import annotations

import datetime as dt

from occupair.live.messages import Reading

BEHIND = dt.timedelta(minutes=15)
"""A sensor's clock that is further behind, and stays so, is wrong."""
FAST = 20.0
"""Readings that come so many times as fast as they were measured are catching up."""
BURST = 3
"""So many of them in a row, at least."""
CATCHING_UP = dt.timedelta(seconds=5)
"""So long after the last of them what they say counts as now."""


class SensorClock:
    """What the CO2 readings of one room tell about its clock.

    Old readings that are sent one upon the other, after an outage or out of a record, count as they come; one
    old reading alone is no news.

    Attributes
    ----------
    received : datetime, optional
        When CO2 last came in.
    fault : str
        What is wrong with the time of the newest reading, in plain words.
    """

    def __init__(self) -> None:
        self.received: dt.datetime | None = None
        self.fault = ""
        self._measured: dt.datetime | None = None
        self._fast = 0  # readings in a row that came much faster than they were measured

    def see(self, reading: Reading) -> None:
        """Look at a reading that came in."""
        if self.received is not None and reading.received < self.received:
            return
        self.fault = ""
        if self.received is not None and self._measured is not None:
            self._compare(reading.time - self._measured, reading.received - self.received, reading)
        self.received, self._measured = reading.received, reading.time

    def _compare(self, measured: dt.timedelta, came: dt.timedelta, reading: Reading) -> None:
        """Tell a clock that is behind from old readings: those catch up, it stays as far behind."""
        self._fast = self._fast + 1 if measured > FAST * came else 0
        behind = reading.received - reading.time
        if behind > BEHIND and abs(measured - came) < 0.5 * came:
            self.fault = f"the sensor's clock is {behind.total_seconds() / 60:.0f} minutes behind"

    def is_ahead(self, time: dt.timedelta) -> None:
        """Note that a reading was refused because its time has not come."""
        self.fault = f"the sensor's clock is {time.total_seconds() / 60:.0f} minutes ahead"

    def catches_up(self, now: dt.datetime) -> bool:
        """Tell whether old readings are coming in one upon the other just now."""
        return self._fast >= BURST and self.received is not None and now - self.received <= CATCHING_UP
