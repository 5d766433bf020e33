r"""The mass balance of CO2 turned around: people from its rise, its level and the ventilation.

.. math:: n = a_1 \dot C_{10} + a_2 \dot C_{20} + (b + c v + d v^2)(C - C_{base}) + e

It is linear in the unknown a to e, so least squares finds them. What is not linear, how late CO2 answers
and what base level to count from, is not chosen but averaged over: every choice speaks with a weight
that falls with its error on training days left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from occupair.room.inputs import Inputs

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

SLOPES = (10.0, 20.0)  # over which the rise of CO2 is taken [min]
DELAYS = (0.0, 5.0, 10.0, 15.0, 20.0)  # how late CO2 may answer [min]
SHARES = (1.0, 0.5, 0.0)  # of the low of the day in the base level; the rest is the usual low
SHARPNESS = 60.0  # a choice with 1 % more squared error has exp(-0.6) of the weight
LEAST_WEIGHT = 0.02  # what has less is not heard
NOISE = 1e-9  # terms that spread less over the training days, in units near 1, do not move but for rounding
MARGIN = 300.0  # how far a low may lie outside those of n training days, times n squared [ppm]

Penalty = Callable[[float, float, Array, Array, Array | None], tuple[Array, Array]]
"""Called with share, delay [min], terms, people and the weights of rows, None where all are 1: a matrix of
penalties on coef, and what it draws to."""


@dataclass(frozen=True)
class BaseLevel:
    """The CO2 of the room with nobody in it, as far as can be known at the time.

    Parameters
    ----------
    lowest, highest : float or array
        Limits of the low of a day, from training days [ppm]; an array of shape (N,) has one for each row,
        of shape (K, 1) one for each of K looks at all rows.
    usual : float or array
        Its median [ppm].
    """

    lowest: float | Array
    highest: float | Array
    usual: float | Array

    @classmethod
    def learn(cls, lows: Sequence[float]) -> BaseLevel:
        """Take the limits from the lows of the training days [ppm].

        Examples
        --------
        >>> BaseLevel.learn([410.0] * 5 + [425.0] * 4 + [480.0])
        BaseLevel(lowest=407.0, highest=483.0, usual=417.5)
        """
        margin = MARGIN / len(lows) ** 2
        return cls(float(min(lows)) - margin, float(max(lows)) + margin, float(np.median(lows)))

    def at(self, rows: Inputs, share: float | Array) -> Array:
        """Give the base level at every row: ``share`` of it follows the low of the day so far [ppm].

        Several shares, as an array of shape (K, 1), give an array of shape (K, N).
        """
        low = np.minimum(np.maximum(rows.low, self.lowest), self.highest)
        return share * low + (1 - share) * self.usual


@dataclass(frozen=True)
class BalanceVariant:
    """One mass balance among those that are averaged.

    Parameters
    ----------
    share : float
        Part of the low of the day in its base level.
    delay : float
        How late it takes CO2 to answer [min].
    behind : int
        How many readings before the newest one it is drawn up.
    coef : array of shape (6,)
        a1, a2 [people min/ppm]; b, c, d [people per 100 ppm]; e [people].
    weight : float
        Its part in the average; 0 is not heard.
    """

    share: float
    delay: float
    behind: int
    coef: Array
    weight: float = 0.0


@dataclass(frozen=True)
class Balance:
    """People some readings ago, by an average of mass balances."""

    base: BaseLevel
    choices: tuple[BalanceVariant, ...]

    def people(self, rows: Inputs) -> Array:
        """Estimate at every row [people]; not clamped."""
        return np.asarray(BalanceEvaluator([self]).people(rows)[0])

    @property
    def best(self) -> BalanceVariant:
        """The choice with the largest weight."""
        return max(self.choices, key=lambda choice: choice.weight)


class BalanceEvaluator:
    """What several mass balances say at once: what any of them looks at is computed once.

    Parameters
    ----------
    balances : sequence of Balance
        R balances of one room.
    """

    def __init__(self, balances: Sequence[Balance]) -> None:
        heard = [(r, one.base, choice) for r, one in enumerate(balances) for choice in one.choices]
        heard = [(r, base, choice) for r, base, choice in heard if choice.weight]
        looks = list(dict.fromkeys((base, choice.share, choice.behind) for _, base, choice in heard))
        coef = np.zeros((len(balances), 6, len(looks)))
        for r, base, choice in heard:
            coef[r, :, looks.index((base, choice.share, choice.behind))] += choice.weight * choice.coef
        self._coef = coef.reshape(len(balances), -1)
        self._base = stack_base_levels([base for base, _, _ in looks])
        self._share = np.array([[share] for _, share, _ in looks])
        self._behind = np.array([behind for _, _, behind in looks])

    def people(self, rows: Inputs) -> Array:
        """Give what each says of every row, shape (R, N) [people]; not clamped."""
        terms = balance_terms(rows, self._base, self._share, self._behind)
        return np.asarray(self._coef @ terms.reshape(-1, len(rows)))


def stack_base_levels(bases: Sequence[BaseLevel]) -> BaseLevel:
    """Give the base levels of K looks as one, with columns of K numbers."""
    levels = np.array([(base.lowest, base.highest, base.usual) for base in bases])
    return BaseLevel(*levels.T[:, :, np.newaxis])


def balance_terms(rows: Inputs, base: BaseLevel, share: float | Array, behind: int | Indices) -> Array:
    """Terms of the mass balance ``behind`` readings before the newest of every row.

    Parameters
    ----------
    rows : Inputs
        What is known.
    base : BaseLevel
        The base level.
    share : float or array of shape (K, 1)
        Part of the low of the day in it.
    behind : int or array of shape (K,)
        Where to look; K looks are taken at once.

    Returns
    -------
    array of shape (6, N) or (6, K, N)
        Rises of CO2 [ppm/min]; CO2 above base, alone, times v and times v squared [100 ppm]; 1.
    """
    co2, flow = rows.co2.T, rows.ventilation.T[behind]
    then = co2[behind]
    terms = np.empty((6, *then.shape))
    for k, minutes in enumerate(SLOPES):
        steps = rows.steps(minutes)
        terms[k] = (then - co2[behind + steps]) / (steps * rows.interval)
    terms[2] = (then - base.at(rows, share)) / 100
    terms[3] = flow * terms[2]
    terms[4] = flow * terms[3]
    terms[5] = 1.0
    return terms


class DayTerms:
    """Terms of the mass balance on training days; what was asked for once is kept.

    Parameters
    ----------
    days : sequence of Inputs
        What was known, a day each.
    base : BaseLevel
        The base level.
    """

    def __init__(self, days: Sequence[Inputs], base: BaseLevel) -> None:
        self.base = base
        self.interval = days[0].interval
        self.lengths = [len(day) for day in days]
        self._days = days
        self._kept: dict[tuple[float, int], tuple[Array, Array]] = {}

    def at(self, share: float, behind: int) -> tuple[Array, Array]:
        """Give the terms of all days in one, shape (N, 6), and H'H of each day, shape (days, 6, 6)."""
        if (share, behind) not in self._kept:
            days = [balance_terms(day, self.base, share, behind) for day in self._days]
            grams = np.array([terms @ terms.T for terms in days])
            self._kept[share, behind] = np.concatenate(days, axis=1).T, grams
        return self._kept[share, behind]


def weak_ridge(
    share: float, delay: float, terms: Array, people: Array, weight: Array | None = None
) -> tuple[Array, Array]:
    """Penalise hardly at all: a ridge of 1 on terms of unit variance, none on the constant."""
    spread = terms[:, :-1].std(axis=0) if weight is None else _weighted_spread(terms[:, :-1], weight)
    ridge = np.where(spread > NOISE, spread**2, 1.0)
    return np.diag([*ridge, 1e-6]), np.zeros(terms.shape[1])


def _weighted_spread(terms: Array, weight: Array) -> Array:
    away = terms - np.average(terms, axis=0, weights=weight)
    return np.asarray(np.sqrt(np.average(away**2, axis=0, weights=weight)))


def fit_balance(
    days: DayTerms,
    people: Sequence[Array],
    *,
    lag: int,
    penalty: Penalty = weak_ridge,
    weights: Sequence[Array] | None = None,
) -> Balance:
    """Learn the mass balance of a room from its training days.

    Parameters
    ----------
    days : DayTerms
        The training days.
    people : sequence of array
        How many were in ``lag`` readings before the newest of each row, a day each [people].
    lag : int
        Readings that came after the one to estimate.
    penalty : callable
        What is held against a coefficient.
    weights : sequence of array, optional
        How far each count is to be trusted [0..1], a day each; 0 where it is not known. None: all fully.
    """
    counts = np.concatenate(people)
    weight = None if weights is None else np.concatenate(weights)
    if weight is not None and not weight.any():  # no count is known: only the penalty speaks
        weight = np.full(weight.size, NOISE)
    tried = [
        _fit_choice(BalanceVariant(share, delay, behind, np.zeros(6)), days, counts, weight, penalty)
        for share, (delay, behind) in product(SHARES, _delays(days.interval, lag))
    ]
    heard = _weights(np.array([error for _, error in tried]))
    choices = [replace(choice, weight=float(w)) for (choice, _), w in zip(tried, heard, strict=True)]
    return Balance(days.base, tuple(choices))


def _delays(interval: float, lag: int) -> list[tuple[float, int]]:
    """Delays [min] that waiting for ``lag`` readings allows, and how far behind the newest each looks."""
    found: dict[int, float] = {}
    for delay in DELAYS:
        late = round(delay / interval)
        if late <= lag:
            found.setdefault(lag - late, delay)
    return [(delay, behind) for behind, delay in found.items()]


def _weights(errors: Array) -> Array:
    """Weigh choices by their squared errors on days left out; one below ``NOISE`` is none."""
    weights = np.exp(-SHARPNESS * (errors / max(errors.min(), NOISE) - 1))
    weights[weights < LEAST_WEIGHT * weights.sum()] = 0.0
    return np.asarray(weights / weights.sum())


def _fit_choice(
    choice: BalanceVariant, days: DayTerms, people: Array, weight: Array | None, penalty: Penalty
) -> tuple[BalanceVariant, float]:
    """Fit one balance to all days; also its squared error on each when fitted to all others."""
    terms, grams = days.at(choice.share, choice.behind)
    matrix, start = penalty(choice.share, choice.delay, terms, people, weight)
    rest = people - terms @ start
    starts = np.cumsum([0, *days.lengths[:-1]])
    if weight is not None:  # rows and what they should say times its root
        root = np.sqrt(weight)
        terms, rest = root[:, np.newaxis] * terms, root * rest
        grams = np.array([day.T @ day for day in np.split(terms, starts[1:])])
    moments = np.add.reduceat(terms.T * rest, starts, axis=1).T
    gram, moment = grams.sum(axis=0) + matrix, moments.sum(axis=0)
    without = np.linalg.solve(gram - grams, (moment - moments)[:, :, np.newaxis])[:, :, 0]
    left_out = np.einsum("ij,ji->i", terms, np.repeat(without.T, days.lengths, axis=1))
    error = float(np.sum((left_out - rest) ** 2))
    return replace(choice, coef=start + np.linalg.solve(gram, moment)), error
