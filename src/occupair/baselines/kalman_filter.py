"""A Kalman filter of CO2 and people, over many series at once, with a fixed-lag smoother."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from occupair.baselines.baseline import Array, Day
from occupair.baselines.co2_model import CO2Model


@dataclass(frozen=True)
class Noise:
    """What the filter does not know, as variances.

    Parameters
    ----------
    people : float
        Of the random walk of the people [people squared/min].
    air : float
        Of the CO2 that the model misses [ppm squared/min].
    sensor : float
        Of one CO2 reading [ppm squared].
    start : float
        Of the people at the first reading of a day, around none [people squared].
    """

    people: float
    air: float
    sensor: float
    start: float


@dataclass(frozen=True)
class Series:
    """Readings and the model's coefficients at each, one column per series, one row per reading.

    CO2 at the next reading is ``keep * co2 + push * people + rest``. ``known`` marks the rows that a
    series really has: shorter series are padded.
    """

    co2: Array
    keep: Array
    push: Array
    rest: Array
    known: NDArray[np.bool_]

    @classmethod
    def of(cls, days: list[Day], model: CO2Model) -> Series:
        """Discretise ``model`` exactly for readings held constant over an interval."""
        length = max(len(day) for day in days)
        columns = [_coefficients(day, model) for day in days]
        padded = [[np.pad(x, (0, length - x.size), mode="edge") for x in column] for column in columns]
        co2, keep, push, rest = (np.column_stack(parts) for parts in zip(*padded, strict=True))
        known = np.arange(length)[:, None] < np.array([len(day) for day in days])
        return cls(co2, keep, push, rest, known)


@dataclass(frozen=True)
class Filtered:
    """What the forward pass leaves behind for the smoother, one row per reading.

    ``people`` [people] after each reading; the covariance of their error with the errors of CO2 and of
    the people; each innovation over its variance; the gains.
    """

    people: Array
    with_co2: Array
    variance: Array
    surprise: Array
    spread: Array
    gain_co2: Array
    gain_people: Array


def kalman_filter(series: Series, noise: list[Noise], interval: float) -> Filtered:
    """Run the filter forward over all series; series j has ``noise[j]``.

    Parameters
    ----------
    series : Series
        M columns of N readings.
    noise : list of M Noise
        The variances for each column.
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
    kept = np.empty((7, *series.co2.shape))
    co2, people = series.co2[0].copy(), np.zeros_like(walk)
    pcc, pcn, pnn = sensor.copy(), np.zeros_like(walk), start
    for k in range(series.co2.shape[0]):
        spread = pcc + sensor
        gain_co2, gain_people = pcc / spread, pcn / spread
        surprise = series.co2[k] - co2
        co2, people = co2 + gain_co2 * surprise, people + gain_people * surprise
        pnn = pnn - gain_people * pcn
        pcn, pcc = (1 - gain_co2) * pcn, (1 - gain_co2) * pcc
        kept[:, k] = people, pcn, pnn, surprise / spread, spread, gain_co2, gain_people
        keep, push = series.keep[k], series.push[k]
        co2 = keep * co2 + push * people + series.rest[k]
        pcc = keep**2 * pcc + 2 * keep * push * pcn + push**2 * pnn + air * interval
        pcn = keep * pcn + push * pnn
        pnn = pnn + walk * interval
    return Filtered(*kept)


def fixed_lag(filtered: Filtered, series: Series, older: int) -> Array:
    """Correct the people at each reading by what the ``older`` readings after it had to say.

    The error of the people then is correlated with the errors of the predictions since: each innovation
    corrects it by that covariance over the innovation's variance. All readings are done at once.

    Returns
    -------
    array of shape (N, M)
        People at each reading, seen ``older`` readings later or at the end of the series [people].
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
