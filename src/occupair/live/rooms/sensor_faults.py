"""Sensor fault detection: implausible CO2 (out of range, stuck, jumping) and wrong sensor clocks.

An estimate from such readings would be wrong and look certain, so that the occupancy is reported as unknown.
Whether CO2 is faulty at a reading depends on that reading and on those before it alone.
"""

from __future__ import annotations

import datetime as dt

import numpy as np

from occupair.checks.sensor_limits import (
    SETTLES,
    STUCK,
    STUCK_COARSE,
    elapsed_minutes,
    largest_step,
    stuck_limit,
)
from occupair.live.messages import Reading
from occupair.live.reasons import Cause, Reason
from occupair.live.rooms.reading_grid import TimeSeries
from occupair.readings.grid import MINUTE

FAULT_LOOKBACK = max(STUCK, STUCK_COARSE, SETTLES)
"""Older readings do not affect fault detection [min]."""

CLOCK_BEHIND = dt.timedelta(minutes=15)
"""A sensor clock that stays further behind than this is wrong."""
CATCH_UP_RATE = 20.0
"""Readings that arrive this many times faster than they were measured are a backlog being sent."""
CATCH_UP_READINGS = 3
"""Minimum number of such readings in a row."""
CATCH_UP_TIME = dt.timedelta(seconds=5)
"""Time after the last reading of a backlog during which its estimate still counts as current."""


class FaultDetector:
    """Detects a stuck or jumping CO2 sensor, incrementally as readings are appended.

    Parameters
    ----------
    co2 : TimeSeries
        The plausible CO2 readings of a room.
    bridged : float
        Longest time between two readings that is not a gap [us].
    """

    def __init__(self, co2: TimeSeries, bridged: float) -> None:
        self._co2, self._bridged = co2, bridged
        self.reset()

    def reset(self) -> None:
        """Start again from the first reading, after a reading was inserted or removed."""
        self._n_seen = 0
        self._jumped = -(1 << 62)  # [us]
        self._changed = 0  # index of the first reading with the present value
        self._constant = 0.0  # time since then without gaps [min]
        self._limit: float | None = None  # for that time [min], once it is needed

    def fault_at(self, time: int) -> Cause | None:
        """Return the fault at a time [us], or None. Times must not decrease between calls."""
        times = self._co2.times
        while self._n_seen < len(times) and times[self._n_seen] <= time:
            self._add(self._n_seen)
            self._n_seen += 1
        if not self._n_seen:
            return None
        if time - self._jumped < SETTLES * MINUTE:
            return Cause(Reason.JUMP)
        return Cause(Reason.STUCK, {"hours": round(self._constant / 60)}) if self._is_stuck() else None

    def _is_stuck(self) -> bool:
        if self._constant < STUCK:
            return False
        if self._limit is None:
            until = slice(self._changed + 1)
            elapsed = elapsed_minutes(np.array(self._co2.times[until]) / MINUTE, self._bridged / MINUTE)
            self._limit = stuck_limit(elapsed, np.array(self._co2.values[until]), self._changed)
        return self._constant >= self._limit

    def _add(self, index: int) -> None:
        if index == 0:
            return
        times, values = self._co2.times, self._co2.values
        step, waited = abs(values[index] - values[index - 1]), times[index] - times[index - 1]
        if step > 0:
            self._changed, self._constant, self._limit = index, 0.0, None
        elif waited <= self._bridged:
            self._constant += waited / MINUTE
        if step > largest_step(waited / MINUTE):
            self._jumped = times[index]


class SensorClock:
    """Detects a wrong sensor clock by comparing the times of measurement and of arrival of CO2 readings.

    A backlog of old readings sent in quick succession, after an outage or from a recording, counts as current
    while it arrives. A single old reading does not.

    Attributes
    ----------
    received : datetime, optional
        Time of arrival of the newest CO2 reading.
    fault : Cause, optional
        What is wrong with the time of the newest reading.
    """

    def __init__(self) -> None:
        self.received: dt.datetime | None = None
        self.fault: Cause | None = None
        self._measured: dt.datetime | None = None
        self._n_fast = 0  # readings in a row that arrived much faster than they were measured

    def add(self, reading: Reading) -> None:
        """Add a reading in the order of arrival."""
        if self._is_earlier(reading):
            return
        self.fault = None
        if self.received is not None and self._measured is not None:
            self._compare(reading.time - self._measured, reading.received - self.received, reading)
        self.received, self._measured = reading.received, reading.time

    def _is_earlier(self, reading: Reading) -> bool:
        """Whether an earlier reading is added after a later one.

        If it arrived earlier but was measured later, the system clock was set back in between.
        """
        if self.received is None or self._measured is None:
            return False
        return reading.received < self.received and reading.time <= self._measured

    def _compare(self, measured: dt.timedelta, arrived: dt.timedelta, reading: Reading) -> None:
        """Tell a slow clock from a backlog: a backlog catches up, a slow clock stays as far behind."""
        self._n_fast = self._n_fast + 1 if measured > CATCH_UP_RATE * arrived else 0
        behind = reading.received - reading.time
        if behind > CLOCK_BEHIND and abs(measured - arrived) < 0.5 * arrived:
            self.fault = Cause(Reason.CLOCK_BEHIND, {"minutes": _minutes(behind)})

    def set_ahead(self, ahead: dt.timedelta) -> None:
        """Record that a reading was rejected because its time is in the future."""
        self.fault = Cause(Reason.CLOCK_AHEAD, {"minutes": _minutes(ahead)})

    def is_catching_up(self, now: dt.datetime) -> bool:
        """Whether a backlog of old readings is arriving right now."""
        return (
            self._n_fast >= CATCH_UP_READINGS
            and self.received is not None
            and now - self.received <= CATCH_UP_TIME
        )


def _minutes(time: dt.timedelta) -> int:
    return round(time.total_seconds() / 60)
