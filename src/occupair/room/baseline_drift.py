"""Drift of the CO2 baseline: how far a sensor reads above or below its level in training.

The low of a day varies around the level of the empty room. Its median and spread on the training days are
part of the model. A Bayesian filter over the lows of the last weeks, and of today so far, estimates the shift
since training. It assumes that

- a low is normally distributed around the median plus the shift, unless the room was not aired or the sensor
  failed for a while;
- the shift changes slowly (creep), or suddenly to any value, rather a small one (calibration).

So a single high low has little effect, two that agree are followed, and so is a slow rise. A single low that
is too low has more effect, because CO2 cannot fall below its level outdoors. The shift is updated every hour,
from the readings before that hour.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from occupair.readings.daily_lows import NIGHT, PERIOD, DailyLow, periods_of

Array = NDArray[np.float64]

MIN_LOWS = 3
"""Complete training days from which on drift is followed."""
LOOKBACK = 21
"""Lows of earlier days are used for this long [days]."""
MAX_SHIFT = 300.0
"""Largest shift that is followed [ppm]; a sensor that is further off is broken."""
CREEP = 2.0
"""Standard deviation of the change of the shift from one day to the next [ppm]. A creep of 20 ppm a month is
followed with a delay of about a week."""
CALIBRATION_RATE = 0.01
"""Probability of a sudden change from one day to the next."""
TYPICAL_SHIFT = 80.0
"""Mean size of the shift after a sudden change [ppm]."""
CHANGED_SINCE_TRAINING = 0.3
"""Probability of a change between training and the first low in use: months may have passed."""
STABLE_SPREAD = 5.0
"""Standard deviation of the shift at the first low otherwise [ppm]."""
NOT_AIRED, FAILED = 0.05, 0.005
"""Probabilities that a low is too high, in a room that was not aired, and too low, as the sensor failed."""
OUTLIER_RANGE = 400.0
"""Such a low is off by up to this much [ppm]."""
USUAL_SPREAD, USUAL_DAYS = 15.0, 4
"""Spread of lows in most rooms [ppm], and the number of training days that it counts as."""
IGNORED_SPREADS = 0.5
"""Shifts up to this many spreads of the daily lows are ignored: they hardly affect estimates, because the
model was trained on days that differ as much. From twice as many on, shifts are followed completely."""

_SHIFTS = np.arange(-MAX_SHIFT, MAX_SHIFT + 1, 4.0)  # shifts considered [ppm]
_AFTER_CHANGE = np.exp(-np.abs(_SHIFTS) / TYPICAL_SHIFT)  # probability of each after a sudden change
_AFTER_CHANGE /= _AFTER_CHANGE.sum()
_DEVIATION_TO_SPREAD = math.sqrt(math.pi / 2)  # from the mean absolute deviation of a normal distribution


@dataclass(frozen=True)
class LowDistribution:
    """Distribution of lows: their median, and their spread as a standard deviation [ppm]."""

    median: float
    spread: float

    @classmethod
    def fit(cls, lows: Sequence[float]) -> LowDistribution:
        """Fit the distribution to lows of training days [ppm]; few of them hardly change the usual spread.

        Examples
        --------
        >>> LowDistribution.fit([420.0] * 12)
        LowDistribution(median=420.0, spread=7.806247497997997)
        """
        median, n = float(np.median(lows)), len(lows)
        spread = _DEVIATION_TO_SPREAD * float(np.mean(np.abs(np.asarray(lows) - median)))
        variance = (USUAL_DAYS * USUAL_SPREAD**2 + n * spread**2) / (USUAL_DAYS + n)
        return cls(median, math.sqrt(variance * (1 + 1 / n)))  # of the next low: the median is uncertain, too

    def density(self, low: float) -> Array:
        """Return the probability density of a low for each possible shift [1/ppm]."""
        z = (low - self.median - _SHIFTS) / self.spread
        normal = np.exp(-0.5 * z**2) / (self.spread * math.sqrt(2 * math.pi))
        outlier = FAILED + (NOT_AIRED - FAILED) * ndtr(z)
        return np.asarray((1 - NOT_AIRED - FAILED) * normal + outlier / OUTLIER_RANGE)

    def at_most(self, low: float) -> Array:
        """Return the probability of a low of at most ``low``, for each possible shift."""
        return np.asarray(FAILED + (1 - FAILED) * ndtr((low - self.median - _SHIFTS) / self.spread))


@dataclass(frozen=True)
class Baseline:
    """Lows of the training days.

    Parameters
    ----------
    day : LowDistribution
        Of whole days.
    night : LowDistribution, optional
        Of nights; None if too few are complete.
    """

    day: LowDistribution
    night: LowDistribution | None

    @classmethod
    def fit(cls, days: Iterable[DailyLow], interval: float) -> Baseline | None:
        """Fit the baseline to training days with readings every ``interval`` minutes; None if too few."""
        days = list(days)
        lows = [one.low for one in days if one.is_complete(interval)]
        nights = [one.night for one in days if one.is_night_complete(interval)]
        if len(lows) < MIN_LOWS:
            return None
        night = LowDistribution.fit(nights) if len(nights) >= MIN_LOWS else None
        return cls(LowDistribution.fit(lows), night)

    def likelihood(self, one: DailyLow, *, interval: float, is_over: bool) -> Array:
        """Return the likelihood of each possible shift given the low of a day.

        Until a day is complete, its low is known to be at most the low so far. If the night is complete, the
        low of the night is known, and the low so far tells how much lower the day became after it.
        """
        if is_over and one.is_complete(interval):
            return self.day.density(one.low)
        likelihood = self.day.at_most(one.low)
        if self.night is not None and one.is_night_complete(interval):
            likelihood = likelihood / self.day.at_most(one.night) * self.night.density(one.night)
        return likelihood

    def followed(self, shift: float) -> float:
        """Return the part of a shift that is followed [ppm].

        Examples
        --------
        >>> baseline = Baseline(LowDistribution(420.0, 20.0), None)
        >>> [baseline.followed(shift) for shift in (8.0, -15.0, 20.0, 60.0)]
        [0.0, -10.0, 20.0, 60.0]
        """
        ignored = IGNORED_SPREADS * self.day.spread
        return math.copysign(min(abs(shift), max(2 * (abs(shift) - ignored), 0.0)), shift)


class DriftFollower:
    """Follows the baseline of one room, reading by reading.

    Parameters
    ----------
    baseline : Baseline, optional
        Lows of the training days. None follows nothing: the shift is 0.
    interval : float
        Time between readings [min].
    """

    def __init__(self, baseline: Baseline | None, interval: float) -> None:
        self.baseline = baseline
        self.interval = interval
        self.shift = 0.0  # at the newest reading [ppm]
        self._past: list[DailyLow] = []
        self._today: DailyLow | None = None
        self._prior = _SHIFTS  # probability of each shift today, before its readings
        self._hour = -1
        self._period, self._sum, self._count = -1, 0.0, 0  # readings of the current period

    def next_shift(self, day: int, minute: float, co2: float, readings: int = 1) -> float:
        """Return the shift at the next reading, and add the reading [ppm].

        Parameters
        ----------
        day : int
            Ordinal of the local date.
        minute : float
            Local time [min since midnight].
        co2 : float
            CO2, or the sum over all readings of a period [ppm].
        readings : int
            Number of readings.
        """
        if self.baseline is None:
            return 0.0
        period = int(minute // PERIOD)
        if self._today is None or self._today.day != day:
            self._start_day(day)
        elif period != self._period:
            self._end_period()
        if minute // 60 != self._hour:
            self._hour = int(minute // 60)
            self.shift = self._estimate(is_night=minute < NIGHT)
        self._period, self._sum, self._count = period, self._sum + co2, self._count + readings
        return self.shift

    def shifts(self, day: int, minutes: Array, co2: Array) -> Array:
        """Return the shift at each of the next readings of a day, and add them; see ``next_shift``."""
        shifts = np.zeros(co2.size)
        if self.baseline is not None:
            for readings, total in periods_of(minutes, co2):
                minute, n = float(minutes[readings.start]), readings.stop - readings.start
                shifts[readings] = self.next_shift(day, minute, total, n)
        return shifts

    def restore(self, lows: Iterable[DailyLow]) -> None:
        """Set the lows of earlier days, before the first reading of a day."""
        self._past = sorted(lows)
        self._today = None

    def copy(self) -> DriftFollower:
        """Return an independent copy."""
        other = copy(self)
        other._past = self._past.copy()
        return other

    def _start_day(self, day: int) -> None:
        assert self.baseline is not None
        if self._today is not None:
            self._end_period()
            self._past.append(self._today)
        self._sum, self._count = 0.0, 0
        self._past = [one for one in self._past if day - LOOKBACK <= one.day < day]
        self._prior = _prior(self.baseline, self._past, day, self.interval)
        self._today, self._hour = DailyLow(day), -1

    def _end_period(self) -> None:
        assert self._today is not None
        self._today = self._today.with_period(self._period * PERIOD, self._sum / self._count)
        self._sum, self._count = 0.0, 0

    def _estimate(self, *, is_night: bool) -> float:
        """Return the shift that is followed, from the periods that are over [ppm]."""
        assert self.baseline is not None
        assert self._today is not None
        weights = self._prior
        if self._today.periods:
            today = self._today._replace(night_periods=0) if is_night else self._today
            weights = weights * self.baseline.likelihood(today, interval=self.interval, is_over=False)
        return self.baseline.followed(_median(weights))


def _prior(baseline: Baseline, past: Sequence[DailyLow], day: int, interval: float) -> Array:
    """Return the probability of each shift on a day, given the lows of days before it."""
    stable = np.exp(-0.5 * (_SHIFTS / STABLE_SPREAD) ** 2)
    prior = _or_any(stable / stable.sum(), CHANGED_SINCE_TRAINING)
    ends = [one.day for one in past[1:]] + [day] * bool(past)
    for one, end in zip(past, ends, strict=True):
        prior = prior * baseline.likelihood(one, interval=interval, is_over=True)
        days = end - one.day
        prior = _or_any(_creep(days) @ (prior / prior.sum()), 1 - (1 - CALIBRATION_RATE) ** days)
    return prior


def _or_any(prior: Array, probability: float) -> Array:
    """Return probabilities of shifts, if with some probability the shift may have changed to any."""
    return np.asarray((1 - probability) * prior + probability * _AFTER_CHANGE)


@cache
def _creep(days: int) -> Array:
    """Return the probability of each shift (rows) some days after another (columns)."""
    distance = (_SHIFTS[:, np.newaxis] - _SHIFTS) / (CREEP * math.sqrt(days))
    kernel = np.exp(-0.5 * distance**2)
    return np.asarray(kernel / kernel.sum(axis=0))


def _median(weights: Array) -> float:
    """Return the median shift; unlike the mean it stays put while a change is less likely than not [ppm]."""
    total = np.cumsum(weights)
    return float(np.interp(0.5, (total - weights / 2) / total[-1], _SHIFTS))
