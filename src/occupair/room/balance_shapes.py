"""Shapes of the mass balance in other rooms: a prior for rooms with few labelled days.

The coefficients of a mass balance depend on the size of the room. Relative to the spread of CO2 and of the
head counts in the room they do not: this is its shape, how much its slopes, its level and its ventilation
matter compared with each other, which is similar in all rooms. Even a few head counts tell the two spreads,
and so the scale.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from occupair.room.features import MIN_PEOPLE_SPREAD
from occupair.room.mass_balance import N_TERMS, SLOPES, Balance, BalanceVariant, DayTerms, Penalty

Array = NDArray[np.float64]

PRIOR_DAYS = 1.5
"""Number of labelled days at which the prior counts as much as the head counts; with d, (1.5 / d)^2."""

_CORRELATION = 0.7  # weight of the observed covariance of the coefficients over rooms
_MIN_SPREAD = 0.5  # smallest standard deviation of a coefficient over rooms, relative to its mean
_LEVEL = len(SLOPES)  # place of the CO2 level among the terms


class Shape(NamedTuple):
    """Coefficients of one variant of the mass balance in other rooms, relative to their units.

    Parameters
    ----------
    low_share, delay : float
        The variant, see ``BalanceVariant``.
    coef : array of shape (6,)
        Median over rooms.
    covariance : array of shape (6, 6)
        Covariance over rooms.
    """

    low_share: float
    delay: float
    coef: Array
    covariance: Array


T = TypeVar("T", Shape, BalanceVariant)


@dataclass(frozen=True)
class BalanceShapes:
    """Shapes of the mass balance in other rooms.

    Parameters
    ----------
    by_lag : dict
        By lag [min], the shape of every variant.
    """

    by_lag: dict[float, tuple[Shape, ...]]

    def penalty(self, lag: float, n_days: float) -> Penalty:
        """Return a penalty that shrinks a balance towards the other rooms, less so with more days."""

        def shrink(
            low_share: float, delay: float, terms: Array, people: Array, weight: Array | None = None
        ) -> tuple[Array, Array]:
            shape = nearest(self.by_lag[lag], low_share, delay)
            unit = coefficient_units(terms, people, weight)
            precision = np.linalg.inv(shape.covariance) / np.outer(unit, unit)
            n_samples = (len(people) if weight is None else float(weight.sum())) * (PRIOR_DAYS / n_days) ** 2
            return shrink_towards(shape.coef * unit, precision, terms, people, weight, n_samples=n_samples)

        return shrink


def coefficient_units(terms: Array, people: Array, weight: Array | None = None) -> Array:
    """Return the units of the coefficients in a room, shape (6,).

    The unit of people is the standard deviation of the head counts, that of the slopes the standard deviation
    of the longest one, and that of the levels the standard deviation of CO2 above base.

    Parameters
    ----------
    terms : array of shape (N, 6)
        Terms of the mass balance, see ``balance_terms``.
    people : array of shape (N,)
        Head counts [people].
    weight : array of shape (N,), optional
        Weight of each head count; None: all 1.
    """
    slope, level = (max(_spread(terms[:, k], weight), 1e-6) for k in (_LEVEL - 1, _LEVEL))
    units = np.full(N_TERMS, level)
    units[:_LEVEL], units[-1] = slope, 1.0
    return np.asarray(max(_spread(people, weight), MIN_PEOPLE_SPREAD) / units)


def _spread(values: Array, weight: Array | None) -> float:
    deviation = values - np.average(values, weights=weight)
    return float(np.sqrt(np.average(deviation**2, weights=weight)))


def relative_coefs(balance: Balance, days: DayTerms, people: Array) -> dict[tuple[float, float], Array]:
    """Return the coefficients of each variant of a room relative to their units, by low share and delay."""
    return {
        (one.low_share, one.delay): one.coef
        / coefficient_units(days.at(one.low_share, one.offset)[0], people)
        for one in balance.variants
    }


def pool_shapes(rooms: Sequence[Mapping[tuple[float, float], Array]]) -> tuple[Shape, ...]:
    """Return the shapes of the variants that all rooms have, see ``relative_coefs``."""
    shared = [key for key in rooms[0] if all(key in room for room in rooms)]
    found = []
    for low_share, delay in shared:
        coefs = np.array([room[low_share, delay] for room in rooms])
        found.append(Shape(low_share, delay, np.median(coefs, axis=0), covariance(coefs)))
    return tuple(found)


def nearest(variants: Sequence[T], low_share: float, delay: float) -> T:
    """Return the variant with the nearest low share, then the nearest delay."""
    return min(variants, key=lambda one: (abs(one.low_share - low_share), abs(one.delay - delay)))


def covariance(coefs: Array) -> Array:
    """Return the covariance of coefficients over rooms; diagonal for fewer than three rooms."""
    spread = np.maximum(coefs.std(axis=0), _MIN_SPREAD * np.abs(coefs.mean(axis=0))) + 1e-6
    if len(coefs) < 3:
        return np.diag(spread**2)
    deviation = coefs - coefs.mean(axis=0)
    observed = deviation.T @ deviation / len(coefs)
    return np.asarray(_CORRELATION * observed + (1 - _CORRELATION) * np.diag(spread**2))


def shrink_towards(
    start: Array, precision: Array, terms: Array, people: Array, weight: Array | None, *, n_samples: float
) -> tuple[Array, Array]:
    """Return the penalty matrix of a prior that counts as ``n_samples`` samples, and the start itself.

    Parameters
    ----------
    start, precision : array of shape (6,) and (6, 6)
        Mean and inverse covariance of the prior.
    terms, people, weight : array
        Training samples, see ``Penalty``.
    n_samples : float
        Number of samples that the prior is equivalent to.
    """
    residual = people - terms @ start
    weighted = terms if weight is None else weight[:, np.newaxis] * terms
    penalty = _noise(residual, weight) * precision
    for _ in range(2):  # the noise of the room is known only once the balance fits
        step = np.linalg.solve(weighted.T @ terms + n_samples * penalty, weighted.T @ residual)
        penalty = _noise(residual - terms @ step, weight) * precision
    return n_samples * penalty, start


def _noise(residual: Array, weight: Array | None = None) -> float:
    """Return the mean squared residual, never 0, so that there is always a penalty [people squared]."""
    return max(float(np.average(residual**2, weights=weight)), 1e-3)
