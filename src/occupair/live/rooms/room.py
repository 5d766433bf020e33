"""One room of the service: which grid readings of its local day are estimated, and again after late readings.

The estimates of a day depend only on the stored readings of that day and of the day before, and on the lowest
CO2 of earlier days, not on the order in which readings arrived nor on restarts in between.
"""

from __future__ import annotations

import datetime as dt
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple
from zoneinfo import ZoneInfo

import numpy as np

from occupair.checks.sensor_limits import is_plausible
from occupair.live.messages import (
    Co2Mean,
    EstimateRecord,
    LabelledInterval,
    Reading,
    ReadingOutcome,
    to_microseconds,
    to_time,
)
from occupair.live.rooms.day_estimates import DayEstimates, Estimation
from occupair.live.rooms.day_lows import lows_by_day
from occupair.live.rooms.interval_correction import UNCORRECTED, track_labels
from occupair.live.rooms.reading_grid import GridReading, ReadingGrid, TimeSeries, local_day
from occupair.live.rooms.sensor_faults import FAULT_LOOKBACK, FaultDetector, SensorClock
from occupair.live_room import LiveRoom
from occupair.readings.daily_lows import DailyLow
from occupair.readings.gaps import VENTILATION_HOLD
from occupair.readings.grid import MINUTE
from occupair.readings.time_zones import time_zone_of
from occupair.room.baseline_drift import LOOKBACK
from occupair.room.lags import PUBLISHED_LAGS, lag_in_readings
from occupair.room.stuck_sensors import Run, last_run

UNTRAINED_INTERVAL = 1.0
"""Interval of the grid of a room without a model [min]."""
READINGS_KEPT = max(FAULT_LOOKBACK, VENTILATION_HOLD)
"""Readings up to this long before midnight affect the estimates of a day [min]."""


class Model(NamedTuple):
    """A model in use."""

    version: int  # in the store
    room: LiveRoom  # before its first reading


class Room:
    """One room.

    Parameters
    ----------
    id : str
        Room id.
    zone : ZoneInfo
        Time zone. Days start at local midnight, or that of the time zone in which the model was trained.
    model : Model, optional
        Model in use.
    sent_every : float, optional
        Time between the readings of the CO2 sensor, if that is longer than the interval of models [min].

    Attributes
    ----------
    broken : bool
        Whether estimation failed with an unexpected error. Readings are still stored.
    correction : IntervalCorrection
        Correction of the prediction intervals by head counts.
    today : DayEstimates
        Estimates since local midnight.
    """

    def __init__(
        self, id: str, zone: ZoneInfo, model: Model | None = None, *, sent_every: float | None = None
    ) -> None:
        self.id = id
        self.zone = zone
        self.clock = SensorClock()
        self.broken = False
        self.grid = ReadingGrid(UNTRAINED_INTERVAL, sent_every=sent_every)
        self.correction = UNCORRECTED
        self.out_of_range = TimeSeries()  # implausible CO2 [ppm]
        self._day: tuple[int, int] | None = None  # midnights before and after the newest grid reading [us]
        self._lows: dict[int, DailyLow] = {}  # of earlier days, by the ordinal of the date
        self._sensor_runs: Mapping[str, Run] = {}  # of the optional sensors at midnight
        self._changes_newest = False  # whether the newest grid reading was changed after it was estimated
        self._set_model(model)

    @property
    def midnight(self) -> dt.datetime | None:
        """Local midnight at the start of the newest reading's day, in UTC."""
        return None if self._day is None else to_time(self._day[0])

    def use_model(self, model: Model | None) -> Estimation[list[EstimateRecord]]:
        """Switch to another model and return its estimates for today."""
        self._set_model(model)
        if not len(self.grid.co2):
            return []
        self._start_newest_day()
        return (yield from self._replay())

    def track_labels(self, labelled: Sequence[LabelledInterval]) -> None:
        """Correct the prediction intervals from now on by head counts since the model is in use."""
        self.correction = track_labels(labelled, self.grid.step)

    def take_readings_of(self, other: Room) -> None:
        """Take over the readings of another object for the same room, before a model is used."""
        self.clock, self.out_of_range = other.clock, other.out_of_range
        self.grid.take_readings_of(other.grid)

    def has(self, reading: Reading) -> bool:
        """Whether the room already has a value for everything in a reading."""
        time = to_microseconds(reading.time)
        has_co2 = reading.co2 is None or self._has_co2(time)
        has_sensors = all(self.grid.has_sensor(name, time) for name in reading.sensors)
        has_air = reading.ventilation is None or self.grid.ventilation.has(time)
        return has_co2 and has_air and has_sensors

    def add_readings(
        self, readings: Sequence[Reading]
    ) -> Estimation[tuple[list[ReadingOutcome], list[EstimateRecord]]]:
        """Add readings in any order.

        Returns
        -------
        outcomes, estimates
            The outcome of each reading, and the estimates that are new or have changed.
        """
        outcomes, grid_times, changed_from = [], [], []
        for reading in readings:
            if self.has(reading):
                outcomes.append(ReadingOutcome.DUPLICATE)
                continue
            time = to_microseconds(reading.time)
            grid_times.append(self._grid_time(time))
            outcomes.append(self._outcome(grid_times[-1]))
            self._insert(time, reading)
            before = self.grid.co2.last_index(time - 1)  # a short gap up to this reading is now bridged
            changed_from.append(
                grid_times[-1] if before < 0 else self._grid_time(self.grid.co2.times[before])
            )
        if self._day is not None and grid_times and max(grid_times) >= self._day[1]:
            self.broken = False  # retry on a new day
        if not grid_times or self.broken:
            return outcomes, []
        return outcomes, (yield from self._update(min(grid_times + changed_from)))

    def restore(
        self,
        readings: Iterable[Reading],
        estimates: Iterable[EstimateRecord] = (),
        co2_means: Iterable[Co2Mean] = (),
    ) -> Estimation[list[EstimateRecord]]:
        """Restore the room after a restart and return the estimates that had to be computed again.

        Parameters
        ----------
        readings : iterable of Reading
            All stored readings since ``restore_since``.
        estimates : iterable of EstimateRecord
            The newest stored estimates. Without them the whole day is estimated again, which takes longer.
        co2_means : iterable of Co2Mean
            CO2 of the days before, from which the drift of the sensor is followed.
        """
        self._lows = lows_by_day(co2_means, self._day_zone)
        for reading in readings:
            if not self.has(reading):
                self._insert(to_microseconds(reading.time), reading)
        if not len(self.grid.co2):
            return []
        self._start_newest_day()
        assert self._day is not None
        if self.today.resume(self._grid_readings(self._day[0]), {one.time: one for one in estimates}):
            return []
        return (yield from self._replay())

    # ---- readings ----

    def _insert(self, time: int, reading: Reading) -> None:
        if self._day is not None and time < self._day[0] - round(READINGS_KEPT * MINUTE):
            return  # too old to affect any estimate
        if reading.co2 is not None and not self._has_co2(time):
            series = self.grid.co2 if is_plausible(reading.co2) else self.out_of_range
            index = series.insert(time, reading.co2)
            if index < len(series) - 1:
                self._faults.reset()
        if reading.ventilation is not None and not self.grid.ventilation.has(time):
            self.grid.ventilation.insert(time, reading.ventilation)
        for name, value in reading.sensors.items():
            if not self.grid.has_sensor(name, time):
                self.grid.insert_sensor(name, time, value)
        if reading.co2 is not None:
            self.clock.add(reading)

    def _has_co2(self, time: int) -> bool:
        return self.grid.co2.has(time) or self.out_of_range.has(time)

    def _outcome(self, grid_time: int) -> ReadingOutcome:
        if self._day is not None and grid_time < self._day[0]:
            return ReadingOutcome.TOO_LATE
        times = self.today.readings.times
        is_late = len(times) and grid_time < times[-1]
        return ReadingOutcome.LATE if is_late else ReadingOutcome.ACCEPTED

    def _grid_time(self, time: int) -> int:
        """Return the first grid time at or after a time [us]."""
        is_today = self._day is not None and self._day[0] <= time < self._day[1]
        start, stop = self._day if self._day is not None and is_today else local_day(self._day_zone, time)
        return min(time + (start - time) % self.grid.step, stop)

    def _grid_readings(self, since: int) -> list[GridReading]:
        """Return the grid readings from a time on; every local midnight is a grid time, also across DST."""
        found: list[GridReading] = []
        stop, newest = since, self.grid.co2.times[-1] + self.grid.step
        while stop <= newest or stop == since:
            start, stop = local_day(self._day_zone, stop)
            found += self.grid.readings(max(since, start), stop, midnight=start)
        return found

    # ---- what is estimated, and estimated again ----

    def _update(self, since: int) -> Estimation[list[EstimateRecord]]:
        """Estimate the grid readings from a time on that are new or have changed."""
        if self._day is None:
            if not len(self.grid.co2):
                return []
            self._start_day(self._grid_time(self.grid.co2.times[0]))
        assert self._day is not None
        if since < self._day[0] and self._runs_at_midnight() != self._sensor_runs:
            return (yield from self._replay())
        times = self.today.readings.times
        start = max(min(since, times[-1] + self.grid.step if times else since), self._day[0])
        index = bisect_left(times, start)
        readings = self._grid_readings(start)
        if index < len(times) - 1:
            self._faults.reset()
        n_same = 0
        while index < len(times) and n_same < len(readings) and self.today.is_same(index, readings[n_same]):
            index, n_same = index + 1, n_same + 1
        readings = readings[n_same:]
        if not readings:
            return []
        is_newest = index == len(times) - 1
        if index < len(times) and not (is_newest and self.today.undo_newest()):
            self._changes_newest |= is_newest
            refined_from = times[max(index - self.today.longest_lag, 0)]
            return (yield from self._replay(min(readings[0].time, refined_from)))
        return (yield from self._estimate_all(readings))

    def _replay(self, since: int = 0) -> Estimation[list[EstimateRecord]]:
        """Estimate the day again, as far as estimates from a grid time on may change, and return those."""
        assert self._day is not None
        self._start_day(self._day[0])
        readings = self._grid_readings(self._day[0])
        changed = bisect_left([reading.time for reading in readings], since)
        start = max(changed - self.today.longest_lag - 1, 0)  # refined estimates reach back that far
        self.today.skip(readings[:start])
        estimates = yield from self._estimate_all(readings[start:])
        return [one for one in estimates if to_microseconds(one.time) >= since]

    def _estimate_all(self, readings: list[GridReading]) -> Estimation[list[EstimateRecord]]:
        """Estimate grid readings and return the estimates that are new or were refined."""
        estimates: dict[dt.datetime, EstimateRecord] = {}
        for number, reading in enumerate(readings, start=1):
            if self._changes_newest and number == len(readings):
                self.today.keep_state()
            if self._day is None or reading.time >= self._day[1]:
                self._start_day(reading.time)
            for one in (yield from self.today.estimate(reading, self.correction)):
                estimates[one.time] = one
        return list(estimates.values())

    # ---- models and days ----

    def _set_model(self, model: Model | None) -> None:
        self.model, self.broken, self.correction = model, False, UNCORRECTED
        trained = None if model is None else model.room.timezone
        self._day_zone = self.zone if trained is None else time_zone_of(trained)
        self.grid = (
            self.grid.with_interval(UNTRAINED_INTERVAL)
            if model is None
            else self.grid.with_interval(model.room.interval, model.room.sensors)
        )
        self._faults = FaultDetector(self.grid.co2, self.grid.bridged)
        interval = self.grid.step / MINUTE
        self._lags = tuple(
            lag_in_readings(lag, interval) if model is None or model.room.refines_after(lag) else None
            for lag in PUBLISHED_LAGS
        )
        self._drop_estimates()

    def _start_newest_day(self) -> None:
        """Start the day of the newest grid reading."""
        self._start_day(self.grid.co2.times[-1])
        assert self._day is not None
        readings = self._grid_readings(self._day[0])
        if readings and readings[-1].time >= self._day[1]:
            self._start_day(readings[-1].time)

    def _start_day(self, time: int) -> None:
        """Start the local day of a time [us] with an empty room, and drop readings too old to affect it."""
        day = local_day(self._day_zone, time)
        if self._day is not None and self._day[1] <= day[0]:
            self._keep_low()
        self._day = day
        for series in (self.grid, self.out_of_range):
            series.drop_before(self._day[0] - round(READINGS_KEPT * MINUTE))
        self._drop_estimates()
        self._sensor_runs = self._runs_at_midnight()
        if self.model is not None:
            self.today.live = self.model.room.fresh_copy()
            self.today.live.restore_lows(self._lows.values())
            self.today.live.restore_runs(self._sensor_runs)

    def _runs_at_midnight(self) -> Mapping[str, Run]:
        """Return the runs of equal values of the optional sensors at the end of the day before."""
        assert self._day is not None
        if self.model is None or not self.grid.sensor_names:
            return {}
        start, midnight = local_day(self._day_zone, self._day[0] - 1)
        readings = self.grid.readings(start, midnight, midnight=start)
        by_sensor = zip(*(reading.sensors for reading in readings), strict=True)
        runs = {
            name: last_run(np.array(values))
            for name, values in zip(self.grid.sensor_names, by_sensor, strict=False)
        }
        return self.model.room.relevant_runs(runs)

    def _keep_low(self) -> None:
        """Keep the lowest CO2 of the day that is over."""
        self._lows |= lows_by_day(self.today.co2_means(), self._day_zone)
        newest = max(self._lows, default=0)
        self._lows = {day: low for day, low in self._lows.items() if day >= newest - LOOKBACK}

    def _drop_estimates(self) -> None:
        self._faults.reset()
        self.today = DayEstimates(self.id, self._day_zone, self.grid, self._faults, self._lags)
