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

from occupair.room.rows import Rows

Array = NDArray[np.float64]

SLOPES = (10.0, 20.0)  # over which the rise of CO2 is taken [min]
DELAYS = (0.0, 5.0, 10.0, 15.0, 20.0)  # how late CO2 may answer [min]
SHARES = (1.0, 0.5, 0.0)  # of the low of the day in the base level; the rest is the usual low
SHARPNESS = 60.0  # a choice with 1 % more squared error has exp(-0.6) of the weight
LEAST_WEIGHT = 0.02  # what has less is not heard
NOISE = 1e-9  # terms that spread less over the training days, in units near 1, do not move but for rounding
MARGIN = 300.0  # how far a low may lie outside those of n training days, times n squared [ppm]

Penalty = Callable[[float, float, Array, Array], tuple[Array, Array]]
"""Called with share, delay [min], terms and people: a matrix of penalties on coef, and what it draws to."""


@dataclass(frozen=True)
class BaseLevel:
    """The CO2 of the room with nobody in it, as far as can be known at the time.

    Parameters
    ----------
    lowest, highest : float or array
        Limits of the low of a day, from training days [ppm]; an array has one for each row.
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

    def at(self, rows: Rows, share: float | Array) -> Array:
        """Give the base level at every row: ``share`` of it follows the low of the day so far [ppm]."""
        return share * np.clip(rows.low, self.lowest, self.highest) + (1 - share) * self.usual


@dataclass(frozen=True)
class Choice:
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
    choices: tuple[Choice, ...]

    def people(self, rows: Rows) -> Array:
        """Estimate at every row [people]; not clamped."""
        people = np.zeros(len(rows))
        for choice in self.choices:
            if choice.weight:
                terms = balance_terms(rows, self.base, choice.share, choice.behind)
                people += choice.weight * (terms @ choice.coef)
        return people

    @property
    def best(self) -> Choice:
        """The choice with the largest weight."""
        return max(self.choices, key=lambda choice: choice.weight)


def balance_terms(rows: Rows, base: BaseLevel, share: float, behind: int) -> Array:
    """Terms of the mass balance ``behind`` readings before the newest of every row.

    Returns
    -------
    array of shape (N, 6)
        Rises of CO2 [ppm/min]; CO2 above base, alone, times v and times v squared [100 ppm]; 1.
    """
    co2, flow = rows.co2[:, behind], rows.ventilation[:, behind]
    slopes = [
        (co2 - rows.co2[:, behind + rows.steps(minutes)]) / (rows.steps(minutes) * rows.interval)
        for minutes in SLOPES
    ]
    above = (co2 - base.at(rows, share)) / 100
    return np.column_stack([*slopes, above, flow * above, flow**2 * above, np.ones(len(rows))])


def least_squares(share: float, delay: float, terms: Array, people: Array) -> tuple[Array, Array]:
    """Penalise hardly at all: a ridge of 1 on terms of unit variance, none on the constant."""
    spread = terms[:, :-1].std(axis=0)
    ridge = np.where(spread > NOISE, spread**2, 1.0)
    return np.diag([*ridge, 1e-6]), np.zeros(terms.shape[1])


def fit_balance(
    days: Sequence[Rows],
    people: Sequence[Array],
    base: BaseLevel,
    *,
    lag: int,
    penalty: Penalty = least_squares,
) -> Balance:
    """Learn the mass balance of a room from its training days.

    Parameters
    ----------
    days : sequence of Rows
        What was known, a day each.
    people : sequence of array
        How many were in ``lag`` readings before the newest of each row [people].
    base : BaseLevel
        The base level.
    lag : int
        Readings that came after the one to estimate.
    penalty : callable
        What is held against a coefficient.
    """
    tried = [
        _fit_choice(Choice(share, delay, behind, np.zeros(6)), days, people, base, penalty)
        for share, (delay, behind) in product(SHARES, _delays(days[0].interval, lag))
    ]
    weights = _weights(np.array([error for _, error in tried]))
    choices = [replace(choice, weight=float(w)) for (choice, _), w in zip(tried, weights, strict=True)]
    return Balance(base, tuple(choices))


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
    choice: Choice, days: Sequence[Rows], people: Sequence[Array], base: BaseLevel, penalty: Penalty
) -> tuple[Choice, float]:
    """Fit one balance to all days; also its squared error on each when fitted to all others."""
    terms = [balance_terms(day, base, choice.share, choice.behind) for day in days]
    matrix, start = penalty(choice.share, choice.delay, np.vstack(terms), np.concatenate(people))
    rest = [count - day @ start for day, count in zip(terms, people, strict=True)]
    grams = np.array([day.T @ day for day in terms])
    moments = np.array([day.T @ off for day, off in zip(terms, rest, strict=True)])
    gram, moment = grams.sum(axis=0) + matrix, moments.sum(axis=0)
    error = sum(
        float(np.sum((day @ np.linalg.solve(gram - own_gram, moment - own_moment) - off) ** 2))
        for day, off, own_gram, own_moment in zip(terms, rest, grams, moments, strict=True)
    )
    return replace(choice, coef=start + np.linalg.solve(gram, moment)), error
