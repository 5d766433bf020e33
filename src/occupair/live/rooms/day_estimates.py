"""The estimates of one local day of a room: one grid reading after the other, refined as later ones arrive.

Methods that estimate are generators: they yield the readings to be estimated one by one, receive an
estimate for each, and return their result. The engine runs those of many rooms side by side and estimates
each round as one batch.
"""

from __future__ import annotations

import datetime as dt
import math
from collections import deque
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from occupair.live.messages import Co2Mean, EstimateRecord, Quality, Refined, to_microseconds, to_time
from occupair.live.reasons import Cause, Reason
from occupair.live.rooms.day_lows import co2_means
from occupair.live.rooms.interval_correction import IntervalCorrection
from occupair.live.rooms.reading_grid import EstimatedReadings, GridReading, ReadingGrid, local_day
from occupair.live.rooms.sensor_faults import FaultDetector
from occupair.live_room import Estimate, LiveRoom
from occupair.live_rooms import NextReading
from occupair.readings.grid import MINUTE
from occupair.room.prediction_intervals import CONFIDENCE

EMPTY_AT_MIDNIGHT = 30.0
"""A day whose first reading is at most this long after midnight starts with an empty room [min]."""

T = TypeVar("T")
Estimation = Generator[NextReading, Estimate, T]
"""Yields readings to be estimated, receives their estimates, and returns a result."""


class DayEstimates:
    """Estimates of a room since local midnight.

    Parameters
    ----------
    room : str
        Room id.
    zone : tzinfo
        Time zone of the day.
    grid : ReadingGrid
        The grid of the readings.
    faults : FaultDetector
        Detects faults of the CO2 sensor.
    lags : tuple of (int or None)
        Each of ``PUBLISHED_LAGS`` [intervals]; None if the model does not refine estimates at that lag.

    Attributes
    ----------
    live : LiveRoom, optional
        The model in use, with the readings so far; None estimates nothing.
    readings : EstimatedReadings
        The readings so far.
    fault : Cause, optional
        Why the newest grid reading has no estimate.
    longest_lag : int
        The longest of ``lags`` [intervals].
    """

    def __init__(
        self,
        room: str,
        zone: dt.tzinfo,
        grid: ReadingGrid,
        faults: FaultDetector,
        lags: tuple[int | None, ...],
    ) -> None:
        self._room, self._zone, self._grid, self._faults, self._lags = room, zone, grid, faults, lags
        self.longest_lag = max((lag for lag in lags if lag is not None), default=0)
        self.live: LiveRoom | None = None
        self.readings = EstimatedReadings(len(grid.sensor_names))
        self.fault: Cause | None = None
        self._recent: deque[EstimateRecord] = deque(maxlen=self.longest_lag + 2)
        self._live_before: LiveRoom | None = None  # before the newest grid reading, if that was kept

    # ---- the newest estimate ----

    @property
    def newest(self) -> EstimateRecord | None:
        """The estimate of the newest grid reading."""
        return self._recent[-1] if self._recent else None

    def upper_end(self, confidence: float, correction: IntervalCorrection) -> float | None:
        """Return the upper end of the newest estimate's interval at any confidence [people], if known."""
        newest = self.newest
        if newest is None or newest.people is None or self.live is None or confidence == CONFIDENCE:
            return None if newest is None else newest.high
        high = self.live.upper_end(confidence)
        return correction.corrected(newest.people, None, high, to_microseconds(newest.time))[1]

    def is_usual_time(self, time: dt.datetime) -> bool:
        """Whether the room may be occupied at this time of day, as far as its model knows."""
        return self.live is None or self.live.is_usual_time(time.astimezone(self._zone))

    @property
    def baseline_shift(self) -> float | None:
        """Shift of the CO2 baseline since training that estimates are corrected for [ppm]."""
        return None if self.live is None else self.live.baseline_shift

    def refined_estimate(self, lag: int) -> float | None:
        """Return the refined estimate for ``lag`` intervals ago [people], None before the first reading."""
        if self.live is None or len(self.live) <= lag:
            return None
        return self.live.refined_estimate(lag)

    def refined_estimates(self) -> Refined:
        """Return the refined estimates for each of ``PUBLISHED_LAGS`` ago [people]."""
        return tuple(None if lag is None else self.refined_estimate(lag) for lag in self._lags)

    @property
    def missing_sensors(self) -> tuple[str, ...]:
        """Optional sensors of the model that the newest estimate does without."""
        return () if self.live is None else self.live.missing_sensors

    @property
    def stuck_sensors(self) -> tuple[str, ...]:
        """Those of ``missing_sensors`` that are stuck."""
        return () if self.live is None else self.live.stuck_sensors

    # ---- the next estimate ----

    def estimate(
        self, reading: GridReading, correction: IntervalCorrection
    ) -> Estimation[list[EstimateRecord]]:
        """Estimate the next grid reading and refine the estimates that are one of ``lags`` older."""
        self.fault = self._faults.fault_at(reading.time)
        self.readings.append(reading, suspect=self.fault is not None)
        newest = yield from self._estimate(reading, correction)
        self._recent.append(newest)
        if self.live is None or not self._is_usable(reading):
            return [newest]
        refined: dict[int, EstimateRecord] = {}
        for place, lag in enumerate(self._lags):
            if lag is None or not 0 < lag < min(len(self._recent), len(self.live)):
                continue
            earlier = self._recent[-1 - lag]
            if earlier.time != to_time(reading.time - lag * self._grid.step) or earlier.people is None:
                continue
            people = list(earlier.people_refined)
            people[place] = self.live.refined_estimate(lag)
            refined[lag] = self._recent[-1 - lag] = replace(earlier, people_refined=tuple(people))
        return [*refined.values(), newest]

    def _estimate(self, reading: GridReading, correction: IntervalCorrection) -> Estimation[EstimateRecord]:
        if self.live is None:
            return self._record(reading, Quality.UNTRAINED)
        if not self._is_usable(reading):
            self.fault = Cause(Reason.VENTILATION_UNKNOWN)
            return self._record(reading, Quality.SUSPECT)
        local = to_time(reading.time).astimezone(self._zone)
        sensors = dict(zip(self._grid.sensor_names, reading.sensors, strict=True))
        estimate = yield NextReading(self.live, local, reading.co2, reading.ventilation, sensors)
        if not math.isfinite(estimate.people):
            self.fault = Cause(Reason.INVALID_ESTIMATE)
        if self.fault:
            return self._record(reading, Quality.SUSPECT, self.live.co2_now)
        quality = Quality.OK if estimate.quality == "ok" else Quality.STARTING
        if quality is Quality.STARTING and not self._started_empty(reading.time, self.live):
            return self._record(reading, quality, self.live.co2_now)
        interval = estimate.people, estimate.low, estimate.high
        low, high = correction.corrected(*interval, reading.time)
        return self._record(reading, quality, self.live.co2_now, estimate._replace(low=low, high=high))

    def _started_empty(self, time: int, live: LiveRoom) -> bool:
        """Whether the readings up to a time go back to midnight without a gap, when the room was empty."""
        first = time - (len(live) - 1) * self._grid.step
        return first - local_day(self._zone, time)[0] <= EMPTY_AT_MIDNIGHT * MINUTE

    def _record(
        self,
        reading: GridReading,
        quality: Quality,
        co2_smoothed: float | None = None,
        estimate: Estimate | None = None,
    ) -> EstimateRecord:
        return EstimateRecord(
            room=self._room,
            time=to_time(reading.time),
            people=estimate and estimate.people,
            low=estimate and estimate.low,
            high=estimate and estimate.high,
            people_refined=tuple(estimate.people if estimate and lag == 0 else None for lag in self._lags),
            co2=reading.co2,
            co2_smoothed=reading.co2 if co2_smoothed is None else co2_smoothed,
            ventilation=reading.ventilation,
            quality=quality,
        )

    def _is_usable(self, reading: GridReading) -> bool:
        return reading.ventilation is not None or not self._needs_ventilation

    @property
    def _needs_ventilation(self) -> bool:
        return self.live is not None and self.live.uses_ventilation

    # ---- estimates made before, or to be made again ----

    def is_same(self, index: int, reading: GridReading) -> bool:
        """Whether the grid reading at an index was estimated from these values."""
        suspect = self._faults.fault_at(reading.time) is not None
        return self.readings.is_same(index, reading, suspect=suspect)

    def keep_state(self) -> None:
        """Keep the present state, so that the estimate of the next grid reading can be undone."""
        if self.live is not None:
            self._live_before = self.live.copy()

    def undo_newest(self) -> bool:
        """Undo the estimate of the newest grid reading; False if the state before it was not kept."""
        if self.live is not None:
            if self._live_before is None:
                return False
            self.live = self._live_before.copy()
        self.readings.pop()
        self._recent.pop()
        return True

    def skip(self, readings: Sequence[GridReading]) -> None:
        """Advance past grid readings without estimating each of them, which is much faster."""
        for reading in readings:
            self.readings.append(reading, suspect=self._faults.fault_at(reading.time) is not None)
        if self.live is None:
            return
        for run in self._runs(readings):
            flow = np.array([reading.ventilation or 0.0 for reading in run])
            times = [to_time(reading.time).astimezone(self._zone) for reading in run]
            by_sensor = zip(*(reading.sensors for reading in run), strict=True)
            sensors = {name: np.array(v) for name, v in zip(self._grid.sensor_names, by_sensor, strict=False)}
            self.live.restore(times, np.array([reading.co2 for reading in run]), flow, sensors)

    def _runs(self, readings: Sequence[GridReading]) -> list[list[GridReading]]:
        """Return the usable grid readings in runs without gaps."""
        runs: list[list[GridReading]] = []
        for reading in filter(self._is_usable, readings):
            if runs and reading.time - runs[-1][-1].time == self._grid.step:
                runs[-1].append(reading)
            else:
                runs.append([reading])
        return runs

    def resume(self, readings: Sequence[GridReading], stored: Mapping[dt.datetime, EstimateRecord]) -> bool:
        """Continue from the stored estimates of the newest grid readings; False if any of them is missing.

        Parameters
        ----------
        readings : sequence of GridReading
            All grid readings of the day.
        stored : mapping
            Stored estimates by time.
        """
        newest = [stored.get(to_time(reading.time)) for reading in readings[-self.longest_lag - 2 :]]
        found = [one for one in newest if one is not None]
        if len(found) < len(newest):
            return False
        self.skip(readings)
        self._recent.extend(found)
        last = readings[-1]
        self.fault = (
            self._faults.fault_at(last.time) if self._is_usable(last) else Cause(Reason.VENTILATION_UNKNOWN)
        )
        return True

    # ---- the day as a whole ----

    def co2_means(self) -> Iterator[Co2Mean]:
        """Yield the mean CO2 of each quarter of an hour, without times at which the sensor was faulty."""
        valid = self.readings.valid(needs_ventilation=self._needs_ventilation)
        if valid.any():
            yield from co2_means(self.readings.times, self.readings.co2, valid)
