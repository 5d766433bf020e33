r"""Occupancy from the CO2 mass balance, solved for the number of people.

.. math:: n = a_1 \dot C_{10} + a_2 \dot C_{20} + (b + c v + d v^2)(C - C_{base}) + e

The rate of change of CO2 is taken over 10 and 20 min. The equation is linear in its coefficients a to e,
which are fitted by ridge regression. Two settings are not linear: the delay with which CO2 responds and the
base level. Instead of choosing one value, the estimate is a weighted average over variants of the balance,
where the weight of a variant decreases with its error on held-out training days.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from occupair.room.inputs import Inputs, at_offset

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

SLOPES = (10.0, 20.0)  # periods over which the rate of change of CO2 is taken [min]
DELAYS = (0.0, 5.0, 10.0, 15.0, 20.0)  # delays with which CO2 may respond to occupancy [min]
LOW_SHARES = (1.0, 0.5, 0.0)  # share of the day's lowest CO2 in the base level; the rest is the median low
SHARPNESS = 60.0  # a variant with 1 % more squared error has exp(-0.6) of the weight
MIN_WEIGHT = 0.02  # variants with a smaller weight are dropped
NOISE = 1e-9  # a standard deviation below this, in units near 1, is rounding error
MARGIN = 300.0  # tolerance on the lowest CO2 of n training days, times n squared [ppm]

N_TERMS = 6
"""Number of terms in the mass balance."""

N_PARTS = 4
"""Number of parts of the mass balance that the network uses: see ``BalanceEvaluator``."""

Penalty = Callable[[float, float, Array, Array, Array | None], tuple[Array, Array]]
"""Called with low share, delay [min], terms, people and sample weights (None if all are 1); returns the
penalty matrix of the coefficients and the coefficients that it shrinks towards."""


@dataclass(frozen=True)
class BaseLevel:
    """CO2 level of the empty room, as far as it is known at the time of a reading.

    Parameters
    ----------
    lowest, highest : float or array
        Limits of the day's lowest CO2, from the training days [ppm]. An array of shape (K, 1) holds K base
        levels of one room, an array of shape (K, N) one for each of N inputs.
    median : float or array
        Median of the lowest CO2 of the training days [ppm].
    """

    lowest: float | Array
    highest: float | Array
    median: float | Array

    @classmethod
    def fit(cls, lows: Sequence[float]) -> BaseLevel:
        """Derive the limits from the lowest CO2 of each training day [ppm].

        Examples
        --------
        >>> BaseLevel.fit([410.0] * 5 + [425.0] * 4 + [480.0])
        BaseLevel(lowest=407.0, highest=483.0, median=417.5)
        """
        margin = MARGIN / len(lows) ** 2
        return cls(float(min(lows)) - margin, float(max(lows)) + margin, float(np.median(lows)))

    def at(self, inputs: Inputs, low_share: float | Array) -> Array:
        """Return the base level at every input [ppm].

        ``low_share`` of it follows the lowest CO2 of the day so far, the rest is the median. K shares, as an
        array of shape (K, 1) or (K, N), give an array of shape (K, N).
        """
        low = np.minimum(np.maximum(inputs.lowest_co2, self.lowest), self.highest)
        return low_share * low + (1 - low_share) * self.median


@dataclass(frozen=True)
class BalanceVariant:
    """Mass balance with one delay and one definition of the base level.

    Parameters
    ----------
    low_share : float
        Share of the day's lowest CO2 in the base level.
    delay : float
        Delay of the CO2 response [min].
    offset : int
        Reading at which the balance is evaluated, counted back from the newest.
    coef : array of shape (6,)
        a1, a2 [people min/ppm]; b, c, d [people per 100 ppm]; e [people].
    weight : float
        Weight in the average; 0 if dropped.
    """

    low_share: float
    delay: float
    offset: int
    coef: Array
    weight: float = 0.0


@dataclass(frozen=True)
class Balance:
    """Weighted average of mass balance variants, for one lag."""

    base: BaseLevel
    variants: tuple[BalanceVariant, ...]

    def people(self, inputs: Inputs) -> Array:
        """Estimate the people at every input, not clamped [people]."""
        return np.asarray(BalanceEvaluator([[self]]).people(inputs)[0])

    @property
    def best(self) -> BalanceVariant:
        """The variant with the largest weight."""
        return max(self.variants, key=lambda variant: variant.weight)


class BalanceEvaluator:
    """Evaluates the R mass balances of one or many rooms; terms that balances share are computed once.

    Parameters
    ----------
    rooms : sequence of sequence of Balance
        R balances of each room.
    with_parts : bool
        Whether to add the parts of the best variants of the first and of the last balance: what its slopes,
        and what its level and constant contribute, ``N_PARTS`` rows in all.
    """

    def __init__(self, rooms: Sequence[Sequence[Balance]], *, with_parts: bool = False) -> None:
        terms: dict[tuple[int, float, int], int] = {}
        used = []
        n_balances = len(rooms[0])
        for room, balances in enumerate(rooms):
            bases = [one.base for one in balances]
            for r, balance in enumerate(balances):
                for variant in balance.variants:
                    if variant.weight:
                        key = (bases.index(balance.base), variant.low_share, variant.offset)
                        k = terms.setdefault(key, len(terms))
                        used.append((r, k, room, variant.weight * variant.coef))
                        if with_parts and r in (0, n_balances - 1) and variant is balance.best:
                            for place, own in _parts(variant.coef, r, n_balances):
                                used.append((n_balances + place, k, room, own))
        n_rows = n_balances + (N_PARTS if with_parts else 0)
        coef = np.zeros((n_rows, N_TERMS, len(terms), len(rooms)))
        for r, k, room, own in used:
            coef[r, :, k, room] += own
        self._coef = coef.reshape(n_rows, -1, len(rooms))
        self._base = stack_base_levels([[balances[b].base for b, _, _ in terms] for balances in rooms])
        self._low_share = np.array([[low_share] for _, low_share, _ in terms])
        self._offset = np.array([[offset] for _, _, offset in terms])
        self._one_room = np.ascontiguousarray(self._coef[:, :, 0]) if len(rooms) == 1 else None

    def people(self, inputs: Inputs, rooms: slice | Indices | None = None) -> Array:
        """Estimate the people by each balance, not clamped, shape (R, N) or (R + N_PARTS, N) [people].

        Parameters
        ----------
        inputs : Inputs
            N inputs.
        rooms : slice or array of int, optional
            Room of each input. None: all inputs are of the only room.
        """
        base = self._base if rooms is None else take_rooms(self._base, rooms)
        terms = balance_terms(inputs, base, self._low_share, self._offset).reshape(-1, len(inputs))
        if self._one_room is not None:
            return np.asarray(self._one_room @ terms)
        return np.asarray(np.einsum("rjn,jn->rn", self._coef[:, :, rooms], terms))


def _parts(coef: Array, r: int, n_balances: int) -> list[tuple[int, Array]]:
    """Return the parts of balance ``r`` of the first and the last: place among the parts, coefficients."""
    of_slopes = np.arange(N_TERMS) < len(SLOPES)
    both = [np.where(of_slopes, coef, 0.0), np.where(of_slopes, 0.0, coef)]
    starts = [start for start, owner in ((0, 0), (2, n_balances - 1)) if owner == r]
    return [(start + k, own) for start in starts for k, own in enumerate(both)]


def stack_base_levels(rooms: Sequence[Sequence[BaseLevel]]) -> BaseLevel:
    """Stack K base levels of each of n rooms into one with arrays of shape (K, n)."""
    levels = np.array([[(base.lowest, base.highest, base.median) for base in bases] for bases in rooms])
    return BaseLevel(*np.ascontiguousarray(levels.transpose(2, 1, 0)))


def take_rooms(base: BaseLevel, rooms: slice | Indices) -> BaseLevel:
    """Return the stacked base levels of some rooms."""
    lowest, highest, median = np.asarray(base.lowest), np.asarray(base.highest), np.asarray(base.median)
    return BaseLevel(lowest[:, rooms], highest[:, rooms], median[:, rooms])


def balance_terms(inputs: Inputs, base: BaseLevel, low_share: float | Array, offset: int | Indices) -> Array:
    """Return the terms of the mass balance ``offset`` readings before the newest reading of each input.

    Parameters
    ----------
    inputs : Inputs
        N inputs.
    base : BaseLevel
        Base level.
    low_share : float or array of shape (K, 1) or (K, N)
        Share of the day's lowest CO2 in the base level.
    offset : int or array of int of shape (K, 1) or (K, N)
        Reading at which to evaluate; K offsets are evaluated at once.

    Returns
    -------
    array of shape (6, N) or (6, K, N)
        Rates of change of CO2 [ppm/min]; CO2 above base, also times v and times v squared [100 ppm]; 1.
    """
    co2, ventilation = inputs.co2.T, at_offset(inputs.ventilation.T, offset)
    level = at_offset(co2, offset)
    terms = np.empty((N_TERMS, *level.shape))
    for k, minutes in enumerate(SLOPES):
        steps = inputs.n_readings(minutes)
        terms[k] = (level - at_offset(co2, offset + steps)) / (steps * inputs.interval)
    terms[2] = (level - base.at(inputs, low_share)) / 100
    terms[3] = ventilation * terms[2]
    terms[4] = ventilation * terms[3]
    terms[5] = 1.0
    return terms


class DayTerms:
    """Mass balance terms of the training days, cached by low share and offset.

    Parameters
    ----------
    days : sequence of Inputs
        Inputs of each training day.
    base : BaseLevel
        Base level.
    """

    def __init__(self, days: Sequence[Inputs], base: BaseLevel) -> None:
        self.base = base
        self.interval = days[0].interval
        self.lengths = [len(day) for day in days]
        self._days = days
        self._cache: dict[tuple[float, int], tuple[Array, Array]] = {}

    def at(self, low_share: float, offset: int) -> tuple[Array, Array]:
        """Return the terms of all days, shape (N, 6), and H'H of each day, shape (days, 6, 6)."""
        if (low_share, offset) not in self._cache:
            days = [balance_terms(day, self.base, low_share, offset) for day in self._days]
            grams = np.array([terms @ terms.T for terms in days])
            self._cache[low_share, offset] = np.concatenate(days, axis=1).T, grams
        return self._cache[low_share, offset]


def weak_ridge(
    low_share: float, delay: float, terms: Array, people: Array, weight: Array | None = None
) -> tuple[Array, Array]:
    """Penalise weakly: ridge 1 on terms scaled to unit variance, almost none on the constant."""
    spread = terms[:, :-1].std(axis=0) if weight is None else _weighted_std(terms[:, :-1], weight)
    ridge = np.where(spread > NOISE, spread**2, 1.0)
    return np.diag([*ridge, 1e-6]), np.zeros(terms.shape[1])


def _weighted_std(terms: Array, weight: Array) -> Array:
    deviation = terms - np.average(terms, axis=0, weights=weight)
    return np.asarray(np.sqrt(np.average(deviation**2, axis=0, weights=weight)))


def fit_balance(
    days: DayTerms,
    people: Sequence[Array],
    *,
    lag: int,
    penalties: Sequence[Penalty] = (weak_ridge,),
    weights: Sequence[Array] | None = None,
) -> Balance:
    """Fit the mass balance of a room for one lag.

    Parameters
    ----------
    days : DayTerms
        Terms of the training days.
    people : sequence of array
        Head counts ``lag`` readings before each input, one array per day [people].
    lag : int
        Readings between the reading to estimate and the newest one.
    penalties : sequence of callable
        Candidate penalties on the coefficients.
    weights : sequence of array, optional
        Weight of each head count [0..1], one array per day; 0 where there is none. None: all 1.
    """
    counts = np.concatenate(people)
    weight = None if weights is None else np.concatenate(weights)
    if weight is not None and not weight.any():  # no head counts: the penalty alone decides
        weight = np.full(weight.size, NOISE)
    fitted = [
        _fit_variant(
            BalanceVariant(low_share, delay, offset, np.zeros(N_TERMS)), days, counts, weight, penalty
        )
        for penalty, low_share, (delay, offset) in product(penalties, LOW_SHARES, _delays(days.interval, lag))
    ]
    variant_weights = average_weights(np.array([error for _, error in fitted]))
    variants = [replace(one, weight=float(w)) for (one, _), w in zip(fitted, variant_weights, strict=True)]
    return Balance(days.base, tuple(variants))


def _delays(interval: float, lag: int) -> list[tuple[float, int]]:
    """Return the delays [min] that fit into ``lag`` readings, and the offset of each."""
    found: dict[int, float] = {}
    for delay in DELAYS:
        readings = round(delay / interval)
        if readings <= lag:
            found.setdefault(lag - readings, delay)
    return [(delay, offset) for offset, delay in found.items()]


def average_weights(errors: Array) -> Array:
    """Return the weights of candidates by their squared errors on held-out days; ``NOISE`` counts as 0.

    A few days cannot tell the best of several candidates, so good ones are averaged instead.
    """
    weights = np.exp(-SHARPNESS * (errors / max(errors.min(), NOISE) - 1))
    weights[weights < MIN_WEIGHT * weights.sum()] = 0.0
    return np.asarray(weights / weights.sum())


def _fit_variant(
    variant: BalanceVariant, days: DayTerms, people: Array, weight: Array | None, penalty: Penalty
) -> tuple[BalanceVariant, float]:
    """Fit one variant to all days; also return its squared error on each day when fitted to the others."""
    terms, grams = days.at(variant.low_share, variant.offset)
    matrix, start = penalty(variant.low_share, variant.delay, terms, people, weight)
    residual = people - terms @ start
    starts = np.cumsum([0, *days.lengths[:-1]])
    if weight is not None:  # weighted least squares: scale rows by the root of their weight
        root = np.sqrt(weight)
        terms, residual = root[:, np.newaxis] * terms, root * residual
        grams = np.array([day.T @ day for day in np.split(terms, starts[1:])])
    moments = np.add.reduceat(terms.T * residual, starts, axis=1).T
    gram, moment = grams.sum(axis=0) + matrix, moments.sum(axis=0)
    other_days = np.linalg.solve(gram - grams, (moment - moments)[:, :, np.newaxis])[:, :, 0]
    held_out = np.einsum("ij,ji->i", terms, np.repeat(other_days.T, days.lengths, axis=1))
    error = float(np.sum((held_out - residual) ** 2))
    return replace(variant, coef=start + np.linalg.solve(gram, moment)), error
