"""Kalman filter of CO2 and occupancy for many series in parallel, with a fixed-lag smoother."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from occupair.baselines.baseline import Array, Day
from occupair.baselines.co2_model import CO2Model


@dataclass(frozen=True)
class Noise:
    """Noise variances of the filter.

    Parameters
    ----------
    people : float
        Random walk of the occupancy [people squared/min].
    air : float
        Process noise of CO2 [ppm squared/min].
    sensor : float
        Measurement noise of a CO2 reading [ppm squared].
    start : float
        Occupancy at the first reading of a day, with mean 0 [people squared].
    """

    people: float
    air: float
    sensor: float
    start: float


@dataclass(frozen=True)
class Series:
    """Readings and model coefficients, one column per series, one row per reading.

    CO2 at the next reading is ``keep * co2 + push * people + rest``. ``known`` marks actual readings, as
    opposed to the padding of shorter series.
    """

    co2: Array
    keep: Array
    push: Array
    rest: Array
    known: NDArray[np.bool_]

    @classmethod
    def of(cls, days: list[Day], model: CO2Model) -> Series:
        """Discretise ``model`` exactly, for inputs constant between readings."""
        length = max(len(day) for day in days)
        columns = [_coefficients(day, model) for day in days]
        padded = [[np.pad(x, (0, length - x.size), mode="edge") for x in column] for column in columns]
        co2, keep, push, rest = (np.column_stack(parts) for parts in zip(*padded, strict=True))
        known = np.arange(length)[:, None] < np.array([len(day) for day in days])
        return cls(co2, keep, push, rest, known)


@dataclass(frozen=True)
class Filtered:
    """Results of the forward pass needed by the smoother, one row per reading.

    ``people`` [people] after each reading; the covariance of its error with the errors of CO2 and of the
    people; each innovation divided by its variance; the gains.
    """

    people: Array
    with_co2: Array
    variance: Array
    surprise: Array
    spread: Array
    gain_co2: Array
    gain_people: Array


def kalman_filter(series: Series, noise: list[Noise], interval: float) -> Filtered:
    """Run the forward filter over all series; series j has ``noise[j]``.

    Parameters
    ----------
    series : Series
        N readings of M series.
    noise : list of M Noise
        Noise variances of each series.
    interval : float
        Time between readings [min].

    Returns
    -------
    Filtered
        Arrays of shape (N, M).
    """
    walk, air, sensor, start = (
        np.array([getattr(one, name) for one in noise]) for name in ("people", "air", "sensor", "start")
    )
    stored = np.empty((7, *series.co2.shape))
    co2, people = series.co2[0].copy(), np.zeros_like(walk)
    pcc, pcn, pnn = sensor.copy(), np.zeros_like(walk), start
    for k in range(series.co2.shape[0]):
        spread = pcc + sensor
        gain_co2, gain_people = pcc / spread, pcn / spread
        surprise = series.co2[k] - co2
        co2, people = co2 + gain_co2 * surprise, people + gain_people * surprise
        pnn = pnn - gain_people * pcn
        pcn, pcc = (1 - gain_co2) * pcn, (1 - gain_co2) * pcc
        stored[:, k] = people, pcn, pnn, surprise / spread, spread, gain_co2, gain_people
        keep, push = series.keep[k], series.push[k]
        co2 = keep * co2 + push * people + series.rest[k]
        pcc = keep**2 * pcc + 2 * keep * push * pcn + push**2 * pnn + air * interval
        pcn = keep * pcn + push * pnn
        pnn = pnn + walk * interval
    return Filtered(*stored)


def fixed_lag(filtered: Filtered, series: Series, older: int) -> Array:
    """Return the smoothed people at each reading, given the ``older`` readings after it.

    The error of the people is correlated with later prediction errors: each innovation corrects it by
    that covariance divided by the variance of the innovation. All readings are processed in parallel.

    Returns
    -------
    array of shape (N, M)
        People at each reading, given ``older`` later readings or those up to the end [people].
    """
    people = filtered.people.copy()
    n = people.shape[0]
    with_co2, with_people = filtered.with_co2.copy(), filtered.variance.copy()
    for j in range(1, min(older, n - 1) + 1):
        then, since = slice(0, n - j), slice(j, n)
        step = slice(j - 1, n - 1)
        with_co2, with_people = with_co2[then], with_people[then]
        predicted = series.keep[step] * with_co2 + series.push[step] * with_people
        people[then] += np.where(series.known[since], predicted * filtered.surprise[since], 0.0)
        with_co2 = predicted * (1 - filtered.gain_co2[since])
        with_people = with_people - predicted * filtered.gain_people[since]
    return people


def _coefficients(day: Day, model: CO2Model) -> tuple[Array, Array, Array, Array]:
    decay = np.maximum(model.decay_at(day), 1e-9)
    keep = np.exp(-decay * day.interval)
    held = (1 - keep) / decay
    return day.co2, keep, held * model.gain, (1 - keep) * model.base.at(day) + held * model.drift
