"""Training of the estimates in hindsight: weights of the smoothings from held-out days, and intervals.

Every smoothing is applied to the held-out estimates of the training days, and weighted by its squared error
as the variants of the mass balance are. So a room with gradual changes gets more smoothing than one in which
the count jumps, and a room that smoothing does not help gets none.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from occupair.room.day_conformal import fit_intervals
from occupair.room.day_smoothing import DaySmoother, effect
from occupair.room.features import people_spread
from occupair.room.hindsight import Hindsight, WeightedSmoother, average, smooth_in_ways
from occupair.room.mass_balance import NOISE, SHARPNESS
from occupair.room.open_hours import OpenHours
from occupair.room.training_days import SAMPLE_INTERVAL, LabelledEpisode, TrainingDays, labelled_samples

Array = NDArray[np.float64]

MEDIANS = (0.0, 7.0, 15.0)
"""Half widths of the median filters [min]; 0: none."""

QUADRATIC = (5.0, 15.0, 50.0, 150.0)
"""Weights of the quadratic smoothing [min squared]."""

ALIKE = (0.15, 0.3, 0.6)
"""Differences between alike estimates of the bilateral filters, in standard deviations of the head counts."""

LATE = (0.0, -5.0, 5.0)
"""Times by which estimates are moved [min]."""

SMOOTHERS = tuple(
    DaySmoother(median, quadratic, alike, late)
    for late in LATE
    for median in MEDIANS
    for quadratic, alike in [(0.0, 0.0), *((one, 0.0) for one in QUADRATIC), *((0.0, one) for one in ALIKE)]
)
"""Smoothings to try, the plain estimate first; ``alike`` is in standard deviations of the head counts."""

MAX_SMOOTHERS = 12
"""Number of smoothings that a room keeps: those with the largest weights."""


def fit_hindsight(
    dates: Sequence[Sequence[LabelledEpisode]],
    training: TrainingDays,
    refined: Array,
    hours: Sequence[OpenHours],
    smoothers: Sequence[DaySmoother] = SMOOTHERS,
) -> tuple[Hindsight, Array]:
    """Train the estimates in hindsight of a room with two or more training days.

    Parameters
    ----------
    dates : sequence of sequence of LabelledEpisode
        Episodes of each local day.
    training : TrainingDays
        The training samples made of them.
    refined : array of shape (N,)
        Held-out estimates of the samples at the longest lag [people].
    hours : sequence of OpenHours
        For each training day the open hours learned from the other days.
    smoothers : sequence of DaySmoother
        Smoothings to try; ``alike`` in standard deviations of the head counts.

    Returns
    -------
    hindsight, estimated
        The trained smoothing, and the held-out estimates of the samples in hindsight [people].
    """
    lag = training.lags_in_readings[-1]
    spread = people_spread(training.target(lag))
    own = [one._replace(alike=one.alike * spread) for one in smoothers]
    own = list(dict.fromkeys(effect(one, training.interval) for one in own))
    tried = _smoothed_samples(dates, training, refined, own)
    is_open = np.concatenate(
        [
            of_day.at(clock, lag * training.interval)
            for of_day, clock in zip(hours, training.clocks, strict=True)
        ]
    )
    squares, weight = (np.where(is_open, tried, refined) - training.target(lag)) ** 2, training.weight(lag)
    weights = _weights(np.sum(squares if weight is None else weight * squares, axis=1))
    estimated = np.where(is_open, average(tried, weights), refined)
    kept = tuple(WeightedSmoother(one, float(w)) for one, w in zip(own, weights, strict=True) if w)
    return Hindsight(kept, fit_intervals(training, lag, estimated)), estimated


def _smoothed_samples(
    dates: Sequence[Sequence[LabelledEpisode]],
    training: TrainingDays,
    refined: Array,
    smoothers: Sequence[DaySmoother],
) -> Array:
    """Smooth the estimates of the samples of each episode in every way, shape (n_smoothers, N) [people].

    Samples may be irregular: their estimates are interpolated at even distances, and the result back. Samples
    within the longest lag of the start of an episode have no reading of their own and stay as they are.
    """
    lag, interval = training.lags_in_readings[-1], training.interval
    step = max(round(SAMPLE_INTERVAL / interval), 1)
    found, first = np.tile(refined, (len(smoothers), 1)), 0
    for _, sampled in labelled_samples(dates, interval, training.lags_in_readings):
        place = first + np.flatnonzero(sampled >= lag)
        first += sampled.size
        reading = sampled[sampled >= lag] - lag
        if place.size > 1:
            even = np.arange(reading[0], reading[-1] + step, step)
            series = np.interp(even, reading, refined[place])
            smoothed = smooth_in_ways(series, smoothers, step * interval)
            found[:, place] = [np.interp(reading, even, one) for one in smoothed]
    return found


def _weights(errors: Array) -> Array:
    """Return the weights of the smoothings by their squared errors; all but the best few are 0."""
    weights = np.exp(-SHARPNESS * (errors / max(errors.min(), NOISE) - 1))
    weights[np.argsort(-weights, kind="stable")[MAX_SMOOTHERS:]] = 0.0
    return np.asarray(weights / weights.sum())
