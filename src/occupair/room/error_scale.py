"""Size of the errors to expect of an estimate, relative to other estimates of the same level.

Errors are larger while CO2 changes and in hours in which people come and go. Two log-linear models describe
the mean shortfall (estimate above the true count) and the mean excess (true count above the estimate) as
functions of

- the estimate relative to the maximum occupancy, and whether it is 0,
- the changes of CO2 over the last 10 min, the 10 min before and the 20 min before that, so that the effect of
  a change fades with the time since it, and the direction of the newest one,
- CO2 above the lowest value of the day,
- the time of day and the weekend.

They are fitted by Poisson quasi-likelihood with a ridge penalty, which assumes nothing about the distribution
of the errors except that their mean depends on the features in this way. The scale of an error is the factor
due to all features but the estimate, whose effect is not log-linear; prediction intervals have bins for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from occupair.room.inputs import Inputs

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

N_FEATURES = 10
"""Number of features besides those of the estimate."""

MAX_FACTOR = 3.0
"""Largest factor by which errors are expected to be larger or smaller than others of the same estimate."""

_MAX_LOG_FACTOR = np.log(MAX_FACTOR)
_ENDS = (0.0, 10.0, 20.0, 40.0)  # ends of the periods whose CO2 changes are features, before the newest [min]
_CHANGE = 5.0  # CO2 change from which on it matters: above the noise of a sensor [ppm]
_RISE = 20.0  # CO2 above the lowest of the day from which on it matters [ppm]
_FEW = 0.05  # share of the maximum occupancy below which the level of the estimate hardly matters
_CLIP = 3.0  # standardised features are clipped to this, because nothing is known beyond them
_RIDGE = 200.0  # of errors in units of the maximum occupancy: that of one or two months of typical errors
_ITERATIONS, _MORE_ITERATIONS = 8, 3  # of Newton's method, from a constant and from similar coefficients
_MAX_STEP = 2.0  # of a coefficient in one iteration
_MAX_LOG = 3.0  # largest logarithm of a mean error; larger ones only occur while iterating

_TURNS = np.array([1.0, 1.0, 2.0, 2.0])[:, np.newaxis] * (2 * np.pi / 1440)  # [1/min]
_PHASES = np.array([0.0, 0.5, 0.0, 0.5])[:, np.newaxis] * np.pi


@cache
def _ends(interval: float) -> list[int]:
    return [0, *(max(round(minutes / interval), 1) for minutes in _ENDS[1:])]


def scale_features(inputs: Inputs, before: float) -> Array:
    """Return the features besides those of the estimate, shape (N_FEATURES, N).

    Parameters
    ----------
    inputs : Inputs
        N inputs.
    before : float
        Time from the reading that is estimated to the newest one [min].
    """
    features = np.empty((N_FEATURES, len(inputs)))
    levels = inputs.co2.T[_ends(inputs.interval)]
    changes = levels[:-1] - levels[1:]
    np.divide(np.abs(changes), _CHANGE, out=features[1:4])
    np.divide(np.maximum(levels[0] - inputs.lowest_co2, 0.0), _RISE, out=features[4])
    np.log1p(features[1:5], out=features[1:5])
    np.copysign(features[1], changes[0], out=features[0])
    np.sin(_TURNS * (inputs.clock.minute - before) + _PHASES, out=features[5:9])
    features[9] = inputs.clock.weekend
    return features


@dataclass(frozen=True)
class ErrorScale:
    """Scales of the shortfall and the excess in a room.

    Parameters
    ----------
    max_people : float
        Maximum occupancy, the unit of the scales [people].
    mean, spread : array of shape (N_FEATURES,)
        Mean and standard deviation of the features.
    coef : array of shape (2, N_FEATURES)
        Coefficients of the standardised features, of shortfall and excess.
    """

    max_people: float
    mean: Array
    spread: Array
    coef: Array

    def at(self, features: Array) -> Array:
        """Return the scales of shortfall and excess, shape (2, N) [people]."""
        columns = _standardised(features, self.mean[:, np.newaxis], self.spread[:, np.newaxis])
        return _scales_of(self.coef @ columns, self.max_people)


class RoomScales:
    """The scales of many rooms, evaluated for one input of each.

    Parameters
    ----------
    scales : sequence of (ErrorScale or None)
        Scales of each room; those of None are 1 person.
    """

    def __init__(self, scales: Sequence[ErrorScale | None]) -> None:
        unscaled = ErrorScale(1.0, np.zeros(N_FEATURES), np.ones(N_FEATURES), np.zeros((2, N_FEATURES)))
        known = [unscaled if one is None else one for one in scales]
        self._max_people = np.array([one.max_people for one in known])
        self._mean = np.array([one.mean for one in known]).T.copy()
        self._spread = np.array([one.spread for one in known]).T.copy()
        self._coef = np.array([one.coef for one in known]).transpose(1, 2, 0).copy()

    def at(self, inputs: Inputs, rooms: Indices) -> Array:
        """Return the scales of the current estimate of each room, shape (2, N) [people]."""
        features = scale_features(inputs, 0.0)
        columns = _standardised(features, self._mean[:, rooms], self._spread[:, rooms])
        logarithms = np.einsum("skn,kn->sn", self._coef[:, :, rooms], columns)
        return _scales_of(logarithms, self._max_people[rooms])


def scale_unit(max_people: float) -> float:
    """Return the unit of the scales of a room: its maximum occupancy, at least one person [people]."""
    return max(max_people, 1.0)


def fit_error_scale(
    features: Array,
    estimated: Array,
    true: Array,
    weight: Array,
    max_people: float,
    start: Array | None = None,
) -> tuple[ErrorScale, Array]:
    """Fit the scales of errors on held-out days.

    Parameters
    ----------
    features : array of shape (N_FEATURES, N)
        Features, see ``scale_features``.
    estimated, true : array of shape (N,)
        Estimates and head counts [people].
    weight : array of shape (N,)
        Weight of each error, scaled so that n independent errors sum to n.
    max_people : float
        Maximum occupancy [people].
    start : array, optional
        Coefficients for similar errors, to start from.

    Returns
    -------
    scale, coef
        The scales, and the coefficients of all features including those of the estimate.
    """
    unit = scale_unit(max_people)
    every = np.vstack([features, np.log(estimated / unit + _FEW), estimated == 0])
    mean = np.average(every, axis=1, weights=weight)
    spread = np.sqrt(np.average((every - mean[:, np.newaxis]) ** 2, axis=1, weights=weight))
    spread = np.where(spread > 1e-9, spread, 1.0)
    columns = np.vstack(
        [_standardised(every, mean[:, np.newaxis], spread[:, np.newaxis]), np.ones(true.size)]
    )
    sides = np.maximum(np.stack([estimated - true, true - estimated]) / unit, 0.0)
    starts = [None, None] if start is None else list(start)
    coef = np.array([_poisson(columns, one, weight, first) for one, first in zip(sides, starts, strict=True)])
    own = slice(N_FEATURES)
    return ErrorScale(unit, mean[own], spread[own], coef[:, own]), coef


def _standardised(features: Array, mean: Array, spread: Array) -> Array:
    return np.minimum(np.maximum((features - mean) / spread, -_CLIP), _CLIP)


def _scales_of(logarithms: Array, max_people: float | Array) -> Array:
    bounded = np.minimum(np.maximum(logarithms, -_MAX_LOG_FACTOR), _MAX_LOG_FACTOR)
    return np.asarray(np.exp(bounded) * max_people)


def _poisson(columns: Array, target: Array, weight: Array, start: Array | None) -> Array:
    """Return the coefficients of a log-linear mean, by Newton's method with a ridge penalty.

    The last column is the constant, without penalty.
    """
    if start is None:
        coef, iterations = np.zeros(len(columns)), _ITERATIONS
        coef[-1] = np.log(max(float(np.average(target, weights=weight)), 1e-6))
    else:
        coef, iterations = start, _MORE_ITERATIONS
    penalty = np.append(np.full(coef.size - 1, _RIDGE), 1e-9)
    for _ in range(iterations):
        expected = weight * np.exp(np.minimum(coef @ columns, _MAX_LOG))
        gradient = columns @ (weight * target - expected) - penalty * coef
        curvature = (columns * expected) @ columns.T + np.diag(penalty)
        step = np.linalg.solve(curvature, gradient)
        coef = coef + step * min(1.0, _MAX_STEP / max(float(np.abs(step).max()), 1e-12))
    return coef
