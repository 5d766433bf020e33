"""State of one live room of the default estimator, from midnight or the end of a gap on."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from copy import copy, deepcopy
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from occupair.readings.daily_lows import DailyLow
from occupair.room.baseline_drift import DriftFollower
from occupair.room.inputs import Clock, Inputs, episode_inputs, window_length
from occupair.room.model import RoomModel
from occupair.room.open_hours import START_UP
from occupair.room.prediction_intervals import CONFIDENCE
from occupair.room.sensor_corrections import SensorCorrections
from occupair.room.sensor_live import LiveSensors
from occupair.room.stuck_sensors import Run
from occupair.smoothing import LocalSmoother

Array = NDArray[np.float64]


class RoomDay:
    """One day of a room, or the rest of it after a gap; takes readings one by one.

    Parameters
    ----------
    model : RoomModel
        The trained room.
    confidence : float
        Nominal coverage of the prediction interval.
    sensors : SensorCorrections, optional
        Corrections by optional sensors.
    """

    def __init__(
        self,
        model: RoomModel,
        *,
        confidence: float = CONFIDENCE,
        sensors: SensorCorrections | None = None,
    ) -> None:
        self.model = model
        self.confidence = confidence
        self._smoother = LocalSmoother(model.smoothing)
        self._ventilation: list[float] = []
        self._lowest_co2 = np.inf
        self._drift = DriftFollower(model.baseline, model.interval)
        self._people = np.zeros(1024)  # grows when the day has more readings
        self.prediction_interval: tuple[float, float] | None = None
        self._co2_people = 0.0  # newest estimate from CO2, before the optional sensors [people]
        self._above = (0.0, 1.0)  # see ``set_estimates``
        self._sensors = None if sensors is None else LiveSensors(sensors, confidence)
        self._clock: Clock | None = None  # of the newest reading

    def append(
        self,
        co2: float,
        ventilation: float,
        time: dt.datetime,
        sensors: Mapping[str, float] | None = None,
    ) -> None:
        """Add the next reading [ppm], [0..1] and update the estimates that it affects."""
        self.estimate(self.add_reading(co2, ventilation, time, sensors))

    def add_reading(
        self,
        co2: float,
        ventilation: float,
        time: dt.datetime,
        sensors: Mapping[str, float] | None = None,
    ) -> Inputs:
        """Add the next reading [ppm], [0..1] and return its input, without estimating yet."""
        self._smoother.append(co2)
        self._ventilation.append(ventilation)
        if self._sensors is not None:
            self._sensors.append(sensors or {})
        shift = self._drift.next_shift(time.toordinal(), time.hour * 60.0 + time.minute, co2)
        newest = self._newest_input(time).shifted(shift)
        self._clock = newest.clock
        return newest

    def estimate(self, newest: Inputs) -> None:
        """Update the estimates with the newest input."""
        people, if_open = self.model.people(newest)
        intervals = self.model.refinements[0].intervals  # of lag 0
        scales = intervals.scales_at(newest)
        low, high = intervals.with_errors(people[0], *self._errors, scales)
        lowest = float(low[0]) if people[0, 0] == 0 or self.model.is_open(newest)[0, 0] else 0.0
        above = float(if_open[0, 0]), 1.0 if scales is None else float(scales[1, 0])
        self.set_estimates(people[:, 0].tolist(), (lowest, float(max(high[0], above[0]))), above)

    def set_estimates(
        self, people: Sequence[float], interval: tuple[float, float], above: tuple[float, float]
    ) -> None:
        """Set the estimates of the newest reading, which are corrected here by the optional sensors.

        Parameters
        ----------
        people : sequence of float
            Estimate of each refinement from CO2 [people].
        interval : tuple of float
            Prediction interval of the current one [people].
        above : tuple of float
            What its upper end at another confidence depends on, besides the estimate: the estimate without
            regard to the open hours, and the unit of the errors [people].
        """
        self._co2_people, self._above = people[0], above
        if self._sensors is not None and self._clock is not None:
            people, interval = self._sensors.correct(people, interval, self._clock)
        last = len(self) - 1
        if last == self._people.size:
            self._people = np.append(self._people, np.zeros(last))
        for one, refined in zip(self.model.refinements, people, strict=True):
            if one.lag <= last:
                self._people[last - one.lag] = refined
        self.prediction_interval = interval

    def upper_end(self, confidence: float) -> float | None:
        """Return the upper end of the newest estimate's interval at another confidence [people]."""
        if self.prediction_interval is None or confidence == self.confidence:
            return None if self.prediction_interval is None else self.prediction_interval[1]
        if self._sensors is not None and (corrected := self._sensors.upper_end(confidence)) is not None:
            return corrected
        if_open, scale = self._above
        intervals = self.model.refinements[0].intervals
        return max(intervals.upper_end(self._co2_people, confidence, scale), if_open)

    def _newest_input(self, time: dt.datetime) -> Inputs:
        width = window_length(self.model.interval, self.model.lags[-1])
        first = max(len(self) - width, 0)
        co2 = _window(self._smoother.since(first), width)
        self._lowest_co2 = min(self._lowest_co2, float(co2[0, 0]))
        ventilation = _window(np.array(self._ventilation[first:]), width)
        return Inputs(co2, ventilation, np.array([self._lowest_co2]), Clock.at(time), self.model.interval)

    @cached_property
    def _errors(self) -> tuple[Array, Array]:
        """Errors that bound the prediction interval of the current estimate, for each bin [people]."""
        return self.model.refinements[0].intervals.errors_at(self.confidence)

    def restore(
        self,
        co2: Array,
        ventilation: Array,
        times: Sequence[dt.datetime],
        sensors: Mapping[str, Array] | None = None,
    ) -> None:
        """Restore the day from its readings so far, all at once."""
        sensors = sensors or {}
        clock = Clock.of(pd.DatetimeIndex(list(times[:-1])))
        if len(clock.minute):
            inputs = episode_inputs(
                co2[:-1],
                ventilation[:-1],
                clock,
                interval=self.model.interval,
                smoothing=self.model.smoothing,
                longest_lag=self.model.lags[-1],
            )
            self._lowest_co2 = float(inputs.lowest_co2[-1])
            inputs = inputs.shifted(self._drift.shifts(times[0].toordinal(), clock.minute, co2[:-1]))
            self._people = np.zeros(max(1024, 2 * co2.size))
            estimates = self.model.people(inputs)[0]
            if self._sensors is not None:
                earlier = {name: values[:-1] for name, values in sensors.items()}
                estimates = self._sensors.restore(earlier, estimates, clock)
            for one, people in zip(self.model.refinements, estimates, strict=True):
                self._people[: max(people.size - one.lag, 0)] = people[one.lag :]
            self._smoother.extend(co2[:-1].tolist())
            self._ventilation = ventilation[:-1].tolist()
        newest = {name: float(values[-1]) for name, values in sensors.items()}
        self.append(float(co2[-1]), float(ventilation[-1]), times[-1], newest)

    def copy(self) -> RoomDay:
        """Return an independent copy of the day; the trained model is shared."""
        other = copy(self)
        other._smoother = deepcopy(self._smoother)
        other._ventilation, other._people = self._ventilation.copy(), self._people.copy()
        other._sensors = None if self._sensors is None else self._sensors.copy()
        other._drift = self._drift.copy()
        return other

    def is_usual_time(self, time: dt.datetime) -> bool:
        """Whether a local time is in the open hours."""
        return bool(self.model.hours.at(Clock.at(time))[0])

    def continue_from(self, earlier: RoomDay) -> None:
        """Take over the baseline and the runs of the sensors from an earlier day, not used any more."""
        self._drift = earlier._drift
        if self._sensors is not None and earlier._sensors is not None:
            self._sensors.runs = earlier._sensors.runs

    def restore_lows(self, lows: Iterable[DailyLow]) -> None:
        """Set the lows of earlier days, before the first reading."""
        self._drift.restore(lows)

    def restore_runs(self, runs: Mapping[str, Run]) -> None:
        """Set the newest runs of the optional sensors on the day before, before the first reading."""
        if self._sensors is not None:
            self._sensors.runs = self._sensors.relevant_runs(runs)

    def relevant_runs(self, runs: Mapping[str, Run]) -> Mapping[str, Run]:
        """Return those runs of the optional sensors that affect the estimates."""
        return {} if self._sensors is None else self._sensors.relevant_runs(runs)

    @property
    def baseline_shift(self) -> float:
        """How far the sensor reads above its level in training, as far as estimates are corrected [ppm]."""
        return self._drift.shift

    def __len__(self) -> int:
        return len(self._ventilation)

    @property
    def missing_sensors(self) -> tuple[str, ...]:
        """Optional sensors of the model that the newest estimate does without."""
        return () if self._sensors is None else self._sensors.missing

    @property
    def stuck_sensors(self) -> tuple[str, ...]:
        """Those of ``missing_sensors`` that are stuck."""
        return () if self._sensors is None else self._sensors.stuck

    @property
    def started(self) -> bool:
        """Whether the start-up phase is over: the readings span ``START_UP``."""
        return (len(self) - 1) * self.model.interval >= START_UP

    @property
    def people(self) -> Array:
        """Current estimates of every reading of the day, refined as far as possible [people]; read-only."""
        return self._people[: len(self)]

    @property
    def co2_smoothed(self) -> Array:
        """Locally smoothed CO2 of the day [ppm]: Eq. (25)."""
        return self._smoother.values

    @property
    def co2_now(self) -> float:
        """Smoothed CO2 of the newest reading [ppm]."""
        return self._smoother.newest


def _window(values: Array, width: int) -> Array:
    """Return values newest first, padded to ``width`` with the oldest value, as one row."""
    if values.size < width:
        values = np.concatenate([np.full(width - values.size, values[0]), values])
    return values[np.newaxis, ::-1]
