"""One room, live: the state of a day between two readings, whatever the trained estimator."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from typing import NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from occupair.errors import InputError
from occupair.readings.daily_lows import DailyLow
from occupair.readings.gaps import is_gap
from occupair.readings.other_sensors import check_sensor_values
from occupair.readings.schema import times_must_increase
from occupair.readings.time_zones import check_zone_stated, time_zone_of
from occupair.readings.value_rules import VALUE_RULES
from occupair.room.sensor_corrections import describe_unused
from occupair.room.stuck_sensors import Run

Array = NDArray[np.float64]


class Estimate(NamedTuple):
    """The live estimate for one reading."""

    time: dt.datetime
    people: float  # unrounded [people]
    low: float | None  # prediction interval [people]; None if the model has none
    high: float | None
    quality: str  # "ok", or "starting" while the day, or the time since a gap, is too short
    missing_sensors: tuple[str, ...] = ()  # optional sensors of the model that this estimate does without
    stuck_sensors: tuple[str, ...] = ()  # those of them that repeat a value for too long

    @property
    def reason(self) -> str:
        """Which optional sensors the estimate does without, and why; "" if none."""
        return describe_unused(self.missing_sensors, self.stuck_sensors)


class RunningDay(Protocol):
    """The state of a room since midnight or since a gap; every estimator has its own."""

    def append(
        self,
        co2: float,
        ventilation: float,
        time: dt.datetime,
        sensors: Mapping[str, float] | None = None,
    ) -> None:
        """Add the next reading [ppm], [0..1]; optional sensors without a value are missing."""

    def __len__(self) -> int:
        """Return the number of readings."""

    def restore(
        self,
        co2: Array,
        ventilation: Array,
        times: Sequence[dt.datetime],
        sensors: Mapping[str, Array] | None = None,
    ) -> None:
        """Add the first readings of the day, all at once."""

    def copy(self) -> Self:
        """Return an independent copy of the day."""

    def is_usual_time(self, time: dt.datetime) -> bool:
        """Whether the room may be occupied at a local time, as far as the model knows."""

    def continue_from(self, earlier: Self) -> None:
        """Take over from an earlier day what lasts longer than a day, before the first reading."""

    def restore_lows(self, lows: Iterable[DailyLow]) -> None:
        """Set the lowest CO2 of earlier days, before the first reading."""

    def restore_runs(self, runs: Mapping[str, Run]) -> None:
        """Set the newest runs of equal values of the optional sensors, before the first reading."""

    def relevant_runs(self, runs: Mapping[str, Run]) -> Mapping[str, Run]:
        """Return those runs of the optional sensors that affect the estimates."""

    @property
    def baseline_shift(self) -> float:
        """Shift of the CO2 baseline since training that estimates are corrected for [ppm]."""

    @property
    def started(self) -> bool:
        """Whether there are enough readings to estimate."""

    @property
    def prediction_interval(self) -> tuple[float, float] | None:
        """Prediction interval of the newest estimate (low, high) [people], if the model has one."""

    def upper_end(self, confidence: float) -> float | None:
        """Return the upper end of the newest estimate's interval at any confidence [people], if known."""

    @property
    def people(self) -> Array:
        """Current estimates of all readings [people]."""

    @property
    def missing_sensors(self) -> tuple[str, ...]:
        """Optional sensors of the model that the newest estimate does without."""

    @property
    def stuck_sensors(self) -> tuple[str, ...]:
        """Those of ``missing_sensors`` that are stuck."""

    @property
    def co2_smoothed(self) -> Array:
        """CO2 of all readings, smoothed with the readings so far [ppm]."""

    @property
    def co2_now(self) -> float:
        """Smoothed CO2 of the newest reading [ppm]."""


class LiveRoom:
    """One room, live: pass it every reading as it arrives.

    Each local day starts with an empty room at midnight. A reading with a new date starts a new day, and so
    does a reading after a gap: no estimate uses readings from before a gap. Midnight and the time of day are
    those of the time zone of training, to which times with a time zone are converted; times without one are
    local times.

    Parameters
    ----------
    start_day : callable
        Returns an empty day of the trained estimator.
    interval : float
        Time between readings [min].
    uses_ventilation : bool
        Whether the estimator was trained with a ventilation column; if not, ventilation is ignored.
    lags : tuple of float, optional
        Lags at which estimates are refined [min]; None if every later reading refines them.
    timezone : str, optional
        Time zone of training; None if the model was trained on local times.
    local : bool
        Whether times are in the time zone of the room, also if that is UTC. Without this, a model trained on
        local times refuses times in UTC.
    sensors : tuple of str
        Optional sensors that the model uses; values of others are ignored.
    """

    def __init__(
        self,
        start_day: Callable[[], RunningDay],
        *,
        interval: float,
        uses_ventilation: bool,
        lags: tuple[float, ...] | None = None,
        timezone: str | None = None,
        local: bool = False,
        sensors: tuple[str, ...] = (),
    ) -> None:
        self._start_day = start_day
        self.interval = interval
        self.uses_ventilation = uses_ventilation
        self.lags = lags
        self.timezone = timezone
        self.local = local
        self.sensors = sensors
        self._zone = None if timezone is None else time_zone_of(timezone)
        self._last: dt.datetime | None = None
        self.day = start_day()

    def update(
        self,
        time: dt.datetime,
        co2: float,
        ventilation: float | None = None,
        *,
        sensors: Mapping[str, float | None] | None = None,
    ) -> Estimate:
        """Add one reading and estimate the people in the room now.

        Parameters
        ----------
        time : datetime
            Local time, or in any time zone. One interval after the previous reading, a multiple of it after a
            gap, or any time on a later day.
        co2 : float
            CO2 [ppm].
        ventilation : float
            Ventilation [0..1]; required if the estimator was trained with it.
        sensors : mapping, optional
            Values of optional sensors, such as ``{"humidity": 41.0}``. Without a valid value of a sensor that
            the model uses, or if it is stuck, the estimate does without it, which its ``reason`` states.

        Raises
        ------
        InputError
            If the reading is invalid; the state of the room does not change.
        """
        others = check_sensor_values(sensors)
        local, flow = self.start_reading(time, co2, ventilation)
        self.day.append(co2, flow, local, others)
        return self.finish_reading(time)

    def start_reading(
        self, time: dt.datetime, co2: float, ventilation: float | None
    ) -> tuple[dt.datetime, float]:
        """Check a reading and start a new day if needed; return local time and ventilation for ``day``."""
        if not isinstance(time, dt.datetime) or time != time:  # NaT is a datetime, and not equal to itself
            raise InputError(f"time must be a datetime, got {time!r}")
        local = self._local(time)
        flow = self._checked(local, co2, ventilation)
        if self._starts_day(local) and len(self.day):
            self._start_next_day()
        return local, flow

    def finish_reading(self, time: dt.datetime) -> Estimate:
        """Return the estimate of ``day`` after the reading at this time was appended."""
        self._last = self._local(time)
        low, high = self.day.prediction_interval or (None, None)
        quality = "ok" if self.day.started else "starting"
        unused = self.day.missing_sensors, self.day.stuck_sensors
        return Estimate(time, float(self.day.people[-1]), low, high, quality, *unused)

    def fresh_copy(self) -> LiveRoom:
        """Return the same room without any readings."""
        return LiveRoom(
            self._start_day,
            interval=self.interval,
            uses_ventilation=self.uses_ventilation,
            lags=self.lags,
            timezone=self.timezone,
            local=self.local,
            sensors=self.sensors,
        )

    def restore_lows(self, lows: Iterable[DailyLow]) -> None:
        """Set the lowest CO2 of earlier days, from which the drift of the sensor is followed."""
        self.day = self._start_day()
        self.day.restore_lows(lows)

    def restore_runs(self, runs: Mapping[str, Run]) -> None:
        """Set the newest runs of equal values of the optional sensors, after ``restore_lows``.

        A sensor that has been stuck since the day before is then not used from midnight on.
        """
        self.day.restore_runs(runs)

    def relevant_runs(self, runs: Mapping[str, Run]) -> Mapping[str, Run]:
        """Return those runs of the optional sensors that affect the estimates, not at a resting level."""
        return self.day.relevant_runs(runs)

    def restore(
        self,
        times: Sequence[dt.datetime],
        co2: Array,
        ventilation: Array | None,
        sensors: Mapping[str, Array] | None = None,
    ) -> None:
        """Add the first readings of a day, or those after a gap; they must not have gaps.

        Later estimates are the same as after calling ``update`` with each reading, and this is faster.
        """
        times = [self._local(time) for time in times]
        flow = ventilation if self.uses_ventilation and ventilation is not None else np.zeros(len(times))
        self._start_next_day()
        self.day.restore(co2, flow, times, sensors)
        self._last = times[-1]

    def copy(self) -> LiveRoom:
        """Return an independent copy of the room in its current state."""
        other = copy(self)
        other.day = self.day.copy()
        return other

    def _start_next_day(self) -> None:
        earlier, self.day = self.day, self._start_day()
        self.day.continue_from(earlier)

    def __len__(self) -> int:
        """Return the number of readings since midnight or since the last gap."""
        return len(self.day)

    @property
    def missing_sensors(self) -> tuple[str, ...]:
        """Optional sensors of the model that the newest estimate does without."""
        return self.day.missing_sensors

    @property
    def stuck_sensors(self) -> tuple[str, ...]:
        """Those of ``missing_sensors`` that are stuck."""
        return self.day.stuck_sensors

    def is_usual_time(self, time: dt.datetime) -> bool:
        """Whether the room may be occupied at this time of day, as far as the model knows.

        People at other times were found by clear evidence of CO2, see ``occupair.room.evidence``.
        """
        return self.day.is_usual_time(self._local(time))

    def upper_end(self, confidence: float) -> float | None:
        """Return the upper end of the newest estimate's prediction interval at any confidence [people].

        The interval has the two-sided confidence ``confidence``. None if the model has no intervals.
        """
        return self.day.upper_end(confidence)

    def refines_after(self, lag: float) -> bool:
        """Whether estimates are refined ``lag`` minutes later."""
        return self.lags is None or lag in self.lags

    def refined_estimate(self, steps_back: int) -> float:
        """Return the refined estimate of the reading ``steps_back`` readings before the newest [people]."""
        return float(self.day.people[-1 - steps_back])

    @property
    def people(self) -> Array:
        """Current estimates of all readings of today [people], refined with all later readings."""
        return self.day.people.copy()

    @property
    def co2_smoothed(self) -> Array:
        """CO2 of today, smoothed with the readings so far [ppm]."""
        return self.day.co2_smoothed

    @property
    def co2_now(self) -> float:
        """Smoothed CO2 of the newest reading [ppm]."""
        return self.day.co2_now

    @property
    def baseline_shift(self) -> float:
        """Shift of the CO2 baseline since training that estimates are corrected for [ppm]."""
        return self.day.baseline_shift

    def _local(self, time: dt.datetime) -> dt.datetime:
        """Return a time in the time zone of training."""
        if time.tzinfo is None or time.tzinfo is self._zone:
            return time
        if not self.local:
            check_zone_stated(time, self.timezone, what="time")
        return time if self._zone is None else time.astimezone(self._zone)

    def _checked(self, time: dt.datetime, co2: float, ventilation: float | None) -> float:
        self._check_time(time)
        if not VALUE_RULES["co2"].allows(co2):
            raise InputError(f"co2 {VALUE_RULES['co2'].text}, got {co2!r} at {time}")
        if not self.uses_ventilation:
            return 0.0
        if ventilation is None:
            raise InputError(f"ventilation is missing at {time}, and this model was trained with it")
        if not VALUE_RULES["ventilation"].allows(ventilation):
            raise InputError(f"ventilation {VALUE_RULES['ventilation'].text}, got {ventilation!r} at {time}")
        return float(ventilation)

    def _starts_day(self, time: dt.datetime) -> bool:
        """Whether this is the first reading of all, of a date, or after a gap."""
        if self._last is None or time.date() != self._last.date():
            return True
        return is_gap(minutes_between(self._last, time), self.interval)

    def _check_time(self, time: dt.datetime) -> None:
        if self._last is None:
            return
        if (time.tzinfo is None) != (self._last.tzinfo is None):
            raise InputError(
                "times must all have a time zone or all have none, "
                f"got {time} after {self._last}: use the same kind"
            )
        minutes = minutes_between(self._last, time)
        if minutes <= 0:
            raise InputError(times_must_increase(time, self._last))
        intervals = minutes / self.interval
        if time.date() == self._last.date() and abs(intervals - round(intervals)) > 1e-6:
            rule = f"time must be a multiple of the {self.interval:g} min interval of training"
            raise InputError(f"{rule} after {self._last}, got {time}")


def minutes_between(earlier: dt.datetime, later: dt.datetime) -> float:
    """Return the elapsed time [min], correct across daylight saving changes."""
    if earlier.tzinfo is not None:
        earlier, later = earlier.astimezone(dt.UTC), later.astimezone(dt.UTC)
    return (later - earlier).total_seconds() / 60
