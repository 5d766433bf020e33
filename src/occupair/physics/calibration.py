r"""Air change rate of a room from its readings, without head counts, and its correction by head counts.

The parameters of ``AirChange`` that are most probable given the readings: the likelihood of the Kalman filter
times log-normal priors. Errors of the mass balance last for many readings, so the log-likelihood of the
readings has a weight of ``READINGS_WEIGHT``.

The readings do not tell how much CO2 a person adds; volume and generation do. Head counts tell both better.
They are compared with the smoothed people of the filter, starting from the calibration without them. Each is
allowed the usual error of the mass balance, because its shape is not exact.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from occupair.physics.air_change import AirChange
from occupair.physics.co2_filter import FilteredDays, filter_days, smooth_people
from occupair.physics.day_grid import DayGrid
from occupair.physics.room_properties import RoomProperties

Array = NDArray[np.float64]

LEAKAGE = 0.15
"""Air change rate without ventilation to expect [1/h]."""

EXPONENT = 0.6
"""Exponent of the ventilation signal to expect: flow is not proportional to damper position."""

PRIOR_SPREAD = (0.7, 0.6, 0.35)
"""Standard deviations of the logarithms of leakage, ventilation and exponent."""

KNOWN_FLOW_SPREAD = 0.3
"""Standard deviation of the logarithm of the ventilation if the air flow is given."""

NO_SIGNAL_SHARE, NO_SIGNAL_SPREAD = 0.5, 0.8
"""Without a ventilation signal: ventilation by day to expect, relative to the design, and the standard
deviation of its logarithm."""

CONSTANT_RATE, CONSTANT_SPREAD = 0.4, 0.9
"""With the same air change rate at all times: the rate to expect [1/h], that of rooms with windows, and the
standard deviation of its logarithm, so that mechanical ventilation is possible."""

READINGS_WEIGHT = 0.03
"""Weight of the log-likelihood of readings every 5 min."""

COUNTS_SPREAD = (0.3, 0.15, 0.1)
"""How far head counts may move the logarithms of leakage, ventilation and exponent: one standard
deviation."""

COUNT_ERROR = (0.5, 0.12)
"""Error of the mass balance at one head count [people], [share of the capacity]."""

APART, COUNTS_PER_DAY = 60.0, 4.0
"""Head counts closer than this count as one [min]; and largest weight of all head counts of a day."""

MODEL_SPREAD = 0.2
"""Standard deviation of the logarithm of the air change rate due to errors of the model.

In eight public rooms and five simulated offices the rates from readings differ from those from head counts by
0.16 to 0.2.
"""

NO_SIGNAL_MODEL_SPREAD = 0.4
"""The same without a ventilation signal."""

LIMIT = 2.5
"""Largest distance of a parameter from its prior, in standard deviations."""

MAX_STEPS, MAX_STEP = 12, 1.0
"""Steps of the search, and their largest size in standard deviations of the prior."""

_SHARES = np.array([0.0, 0.1, 0.25, 0.5, 0.75, 1.0, 1.5])  # of a step that are tried
_DIFFERENCE = 0.1  # of the second differences, in standard deviations of the prior
_NO_RATE = np.log(1e-6)  # [1/h]
_ENOUGH = 0.02  # step after which the search ends


@dataclass(frozen=True)
class Calibration:
    """Calibrated parameters.

    Parameters
    ----------
    air : AirChange
        The parameters, one set.
    covariance : array of shape (4, 4)
        Covariance of their logarithms.
    model_spread : float
        Standard deviation of the logarithm of the air change rate due to errors of the model.
    evidence : float
        Logarithm of the probability of the readings, up to a constant (Laplace approximation).
    """

    air: AirChange
    covariance: Array
    model_spread: float = MODEL_SPREAD
    evidence: float = 0.0

    def rate(self, ventilation: float) -> float:
        """Air change rate at a ventilation value [1/h]."""
        return float(self.air.at(np.array([ventilation]))[0, 0])

    def rate_spread(self, ventilation: float) -> float:
        """Return the standard deviation of the logarithm of the air change rate."""
        own, step = self.air.logarithms[0], 1e-4
        moved = AirChange(own + step * np.eye(own.size)[:3])
        slopes = np.log(moved.at(np.array([ventilation]))[:, 0] / self.rate(ventilation)) / step
        variance = float(slopes @ self.covariance[:3, :3] @ slopes)
        return float(np.sqrt(variance + self.model_spread**2))

    @property
    def scale_spread(self) -> float:
        """Standard deviation of the logarithm of the CO2 per person."""
        return float(np.sqrt(self.covariance[3, 3]))


def prior_logarithms(room: RoomProperties, *, has_signal: bool) -> Array:
    """Return the parameters to expect, see ``AirChange``."""
    full = room.design_air_change * (1.0 if has_signal else NO_SIGNAL_SHARE)
    return np.log([LEAKAGE, full, EXPONENT, 1.0])


def calibrate(grid: DayGrid, room: RoomProperties) -> Calibration:
    """Calibrate the air change rate on readings without head counts.

    Without a ventilation signal the rate is either always the same or higher by day, depending on the
    ventilation of the grid; see ``assume_ventilation``.
    """
    has_signal = grid.full_ventilation is not None
    prior = prior_logarithms(room, has_signal=has_signal)
    spread = np.array([*PRIOR_SPREAD, 0.0])
    if not has_signal and grid.ventilation.all():
        prior[:2] = _NO_RATE, np.log(CONSTANT_RATE)
        spread[:3] = 0.0, CONSTANT_SPREAD, 0.0
    elif not has_signal:
        spread[1:3] = NO_SIGNAL_SPREAD, 0.0
    elif room.air_flow is not None:
        spread[1] = KNOWN_FLOW_SPREAD
    weight = READINGS_WEIGHT * grid.step / 5

    def log_likelihood(logarithms: Array) -> Array:
        return weight * filter_days(grid, AirChange(logarithms), room).log_likelihood

    found, covariance, evidence = _most_probable(log_likelihood, prior, spread)
    covariance[3, 3] = room.size_spread**2
    model_spread = MODEL_SPREAD if has_signal else NO_SIGNAL_MODEL_SPREAD
    return Calibration(AirChange(found[np.newaxis]), covariance, model_spread, evidence)


def assume_ventilation(grid: DayGrid, room: RoomProperties) -> tuple[DayGrid, Calibration]:
    """Return the grid and its calibration, in a room without signal with the more probable ventilation.

    It is either higher by day, as the grid has it, or always the same.
    """
    own = (grid, calibrate(grid, room))
    if grid.full_ventilation is not None:
        return own
    constant = replace(grid, ventilation=np.ones_like(grid.ventilation))
    other = (constant, calibrate(constant, room))
    return own if own[1].evidence >= other[1].evidence else other


def calibrate_by_counts(grid: DayGrid, room: RoomProperties, start: Calibration) -> Calibration:
    """Correct a calibration by the head counts of the grid, which has one or more."""
    some = np.flatnonzero(~np.isnan(grid.counts).all(axis=1))
    own = grid.days(some)
    day, time = np.nonzero(~np.isnan(own.counts))
    count = own.counts[day, time]
    error = COUNT_ERROR[0] + COUNT_ERROR[1] * room.capacity
    weight = count_weights(own.counts, grid.step)[day, time]

    def log_likelihood(logarithms: Array) -> Array:
        unscaled = logarithms.copy()
        unscaled[:, 3] = 0.0
        people = smooth_people(filter_days(own, AirChange(unscaled), room, keep=True))[:, day, time]
        people = np.clip(people / np.exp(logarithms[:, 3:]), 0.0, None)
        return np.asarray(-(weight * 2.5 * np.log1p(((count - people) / error) ** 2 / 4)).sum(axis=1))

    spread = np.array([*COUNTS_SPREAD, room.size_spread])
    found, covariance, _ = _most_probable(log_likelihood, start.air.logarithms[0], spread)
    return replace(start, air=AirChange(found[np.newaxis]), covariance=covariance)


def count_weights(counts: Array, step: float) -> Array:
    """Return the weight of each head count, shape (D, N): counts soon after each other tell little more.

    Examples
    --------
    >>> counts = np.full((1, 288), np.nan)
    >>> counts[0, [100, 101, 200]] = 5.0
    >>> count_weights(counts, 5.0)[0, [100, 101, 200]].tolist()
    [0.5, 0.5, 1.0]
    """
    known = ~np.isnan(counts)
    width = 2 * round(APART / step / 2) + 1
    near = np.array([np.convolve(row, np.ones(width), "same") for row in known])
    weight = known / np.maximum(near, 1.0)
    return np.asarray(
        weight * np.minimum(1.0, COUNTS_PER_DAY / np.maximum(weight.sum(axis=1), 1e-9))[:, None]
    )


def smoothed(
    grid: DayGrid, room: RoomProperties, calibration: Calibration, counts: Array | None = None
) -> Array:
    """Return the people given all readings of their day, shape (D, N) [people]."""
    filtered: FilteredDays = filter_days(grid, calibration.air, room, counts=counts, keep=True)
    return np.asarray(smooth_people(filtered)[0])


def _most_probable(
    log_likelihood: Callable[[Array], Array], prior: Array, spread: Array
) -> tuple[Array, Array, float]:
    """Return the most probable parameters, the covariance around them, and the logarithm of the evidence.

    Newton's method with second differences, in units of the standard deviations of the prior; all parameter
    sets of a step are evaluated at once. A spread of 0 fixes a parameter.
    """
    free = np.flatnonzero(spread > 0)

    def log_posterior(sets: Array) -> Array:
        full = np.tile(prior, (len(sets), 1))
        full[:, free] += sets * spread[free]
        return np.asarray(log_likelihood(full) - (sets**2).sum(axis=1) / 2)

    found = np.zeros(free.size)
    for _ in range(MAX_STEPS):
        slope, curvature = _differences(log_posterior, found)
        step = _inverse(curvature) @ slope
        step *= min(1.0, MAX_STEP / max(float(np.abs(step).max()), 1e-12))
        tried = np.clip(found + np.outer(_SHARES, step), -LIMIT, LIMIT)
        best = tried[int(np.argmax(log_posterior(tried)))]
        is_found = bool(np.abs(best - found).max() < _ENOUGH)
        found = best
        if is_found:
            break
    full, covariance = prior.copy(), np.zeros((prior.size, prior.size))
    full[free] += found * spread[free]
    inverse = _inverse(_differences(log_posterior, found)[1])
    covariance[np.ix_(free, free)] = inverse * np.outer(spread[free], spread[free])
    evidence = float(log_posterior(found[np.newaxis])[0] + np.linalg.slogdet(inverse)[1] / 2)
    return full, covariance, evidence


def _differences(function: Callable[[Array], Array], centre: Array) -> tuple[Array, Array]:
    """Return the gradient and the matrix of second derivatives of a function of the rows of a matrix."""
    moves, pairs = _DIFFERENCE * np.eye(centre.size), list(combinations(range(centre.size), 2))
    both = np.array([moves[i] + moves[j] for i, j in pairs]).reshape(-1, centre.size)
    values = function(np.vstack([centre, centre + moves, centre - moves, centre + both, centre - both]))
    n, middle = centre.size, values[0]
    up, down, upper, lower = np.split(values[1:], [n, 2 * n, 2 * n + len(pairs)])
    second = np.diag(up + down - 2 * middle)
    for (i, j), value in zip(pairs, upper + lower - 2 * middle, strict=True):
        second[i, j] = second[j, i] = (value - second[i, i] - second[j, j]) / 2
    return (up - down) / (2 * _DIFFERENCE), second / _DIFFERENCE**2


def _inverse(curvature: Array) -> Array:
    """Return the inverse of the negative curvature, which is at least that of the prior in all directions."""
    own, vectors = np.linalg.eigh(-curvature)
    return np.asarray((vectors / np.maximum(own, 1.0)) @ vectors.T)
