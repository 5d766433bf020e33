"""The learning curve of a room: how far off its estimator is after training on so many labelled days.

Labelled days are put into random orders. The last of each order are estimated by estimators that were
trained on its first 1, 2, 3, 5, ... days, so a day is never estimated by one that has seen it. The mean
squared error of least squares falls with the number n of days as

    E(n)^2 = a + b / n

where a is what no number of days takes away: CO2 answers late. The two are found by least squares of
relative errors, not below 0. How sure they are shows when orders and estimated days are drawn anew, each time
with n to another of the powers 1/2, 1 and 2: nobody knows how it goes on.

The labelled days may be lucky ones, too. b / n is what is still to be learned after n days on average; after
just these n it is more or less. They can mislead in n directions at most, so it is taken as b / n times a
chi-squared number of n degrees of freedom, over n; with m days more, the normal numbers behind it are mixed
with new ones by the share of the days that are new. Each draw has such numbers. And few days are less sure
than draws of them look: see ``occupair.groundtruth.planning.learning_curve``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats
from scipy.optimize import nnls
from sklearn.base import clone

from occupair.errors import InputError
from occupair.estimator import OccupancyEstimator
from occupair.progress import quietly, track
from occupair.readings.head_counts import WEIGHT, has_label

Array = NDArray[np.float64]

FEWEST = 3
"""Labelled days from which on there is a curve: two sizes to train on, and a day to test."""
SIZES = (1, 2, 3, 5, 8, 12, 20)
"""Days to train on."""
WORTH = 0.02
"""A day that takes less than this share off the error gains less than it costs to label."""
DRAWS = 300
"""How often orders and estimated days are drawn anew."""
POWERS = (0.5, 1.0, 2.0)
"""Powers of the number of days that the error may fall with."""
_MANY, _ORDERS_OF_FEW, _ORDERS_OF_MANY = 12, 8, 4
_FARTHEST = 1000  # days; farther than anybody labels


SURE = 0.8
"""How often a range should hold the truth."""


@dataclass(frozen=True)
class PredictionInterval:
    """A number, and between which it should lie four times in five."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class LearningCurve:
    """Errors by the number of labelled days.

    Attributes
    ----------
    n_days : labelled days that there are
    measured : RMSE on days left out [people], by days trained on
    curves : a and b [people squared] and the power of n: of the fit, then of the draws; shape (1 + DRAWS, 3)
    luck : normal numbers of each draw, of the labelled days and of those to come; shape (DRAWS, 2, n_days)
    """

    n_days: int
    measured: dict[int, float]
    curves: Array
    luck: Array

    def error(self, days: int) -> PredictionInterval:
        """RMSE to expect after training on so many days [people]."""
        errors = self._errors(days)
        return bootstrap_interval(float(errors[0]), errors[1:], self.n_days)

    def gain(self, more: int) -> PredictionInterval:
        """Share of today's error that so many more labelled days take away; below 0 they add to it."""
        now, then = self._errors(self.n_days), self._errors(self.n_days + more)
        left = then / np.maximum(now, 1e-12)
        rest = bootstrap_interval(float(left[0]), left[1:], self.n_days)
        return PredictionInterval(1 - rest.value, 1 - rest.high, 1 - rest.low)

    def enough(self, worth: float = WORTH) -> PredictionInterval:
        """Labelled days from which on another takes less than the share ``worth`` off the error [days].

        Examples
        --------
        Without an end to learning, E(n)^2 = 1 / n, the step from n to n + 1 days takes 1 - sqrt(n / (n + 1))
        off the error: 2.02 % from 24 to 25 days, 1.94 % from 25 to 26. A draw in which nothing is to be
        learned has enough of the 4 days there are.

        >>> curve = LearningCurve(4, {}, np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 1.0]]), np.zeros((1, 2, 4)))
        >>> curve.enough().value, curve.enough().low
        (25.0, 4.0)
        """
        days = np.arange(self.n_days, _FARTHEST)
        errors = np.sqrt(_square(self.curves[:, None, :], np.append(days, _FARTHEST)))
        small = 1 - errors[:, 1:] / np.maximum(errors[:, :-1], 1e-12) < worth
        first = np.where(small.any(axis=1), days[np.argmax(small, axis=1)], _FARTHEST).astype(float)
        found = bootstrap_interval(float(first[0]), first[1:], self.n_days)
        low, high = np.clip([np.floor(found.low), np.ceil(found.high)], self.n_days, _FARTHEST)
        return PredictionInterval(found.value, float(low), float(high))

    def _errors(self, days: int) -> Array:
        """RMSE after so many days: of the fit, and of the draws with the luck that each has [people]."""
        new = max(0, days - self.n_days)
        parts = np.sqrt([self.n_days / (self.n_days + new), new / (self.n_days + new)])
        luck = np.mean(np.einsum("p,dpn->dn", parts, self.luck) ** 2, axis=1)
        return np.sqrt(_square(self.curves, days, luck=np.append(1.0, luck)))


def learning_curve(
    days: Sequence[pd.DataFrame], *, estimator: OccupancyEstimator | None = None, seed: int = 0
) -> LearningCurve | None:
    """Measure the learning curve of a room.

    Parameters
    ----------
    days : sequence of DataFrame
        Readings with head counts, one table for each labelled day; at least ``FEWEST``.
    estimator : OccupancyEstimator, optional
        The settings; the default estimator if not given.
    seed : int
        What all chance comes from.

    Returns
    -------
    LearningCurve or None
        None where there is nothing to learn: nobody was in, or no estimate was ever off.
    """
    if len(days) < FEWEST:
        raise InputError(f"days must be {FEWEST} or more to tell a learning curve, got {len(days)}")
    estimator = estimator or OccupancyEstimator(random_state=0)
    orders = list(_orders(len(days), np.random.default_rng(seed)))
    runs = [(number, *run) for number, order in enumerate(orders) for run in _runs(order)]
    squares, weights = (np.zeros((len(orders), len(days), len(days))) for _ in range(2))
    for number, train, test in track(runs, "learning curve", show=None):
        if not any((days[k]["occupancy"] > 0).any() for k in train):
            continue  # nobody in: nothing to be learned from
        with quietly():
            model = clone(estimator).fit(_joined(days, train))
            people = model.estimate(_joined(days, test))
        for k in test:
            squares[number, k, len(train)], weights[number, k, len(train)] = _squared_error(days[k], people)
    return _fitted(squares, weights, np.random.default_rng([seed, 1]))


def _orders(n: int, rng: np.random.Generator) -> Iterator[NDArray[np.int_]]:
    """Give orders of the days, in which all are among the last about equally often."""
    count, n_test = _ORDERS_OF_FEW if n <= _MANY else _ORDERS_OF_MANY, _n_test(n)
    order = rng.permutation(n)
    for k in range(count):
        if k and (k * n_test) % n < n_test:  # once around
            order = rng.permutation(n)
        yield np.roll(order, k * n_test)


def _n_test(n: int) -> int:
    return max(1, n // 4)


def _runs(order: NDArray[np.int_]) -> list[tuple[list[int], list[int]]]:
    """Give the days to train on and those to test of each size of one order."""
    n_test = _n_test(order.size)
    most = order.size - n_test
    sizes = [size for size in SIZES if size <= most / 1.3]  # none close to the most, which tells more
    sizes += [most] if most <= 1.5 * SIZES[-1] else []
    return [(order[:size].tolist(), order[-n_test:].tolist()) for size in sizes]


def _joined(days: Sequence[pd.DataFrame], which: Sequence[int]) -> pd.DataFrame:
    joined = pd.concat([days[k] for k in sorted(which)])
    joined.attrs = dict(days[0].attrs)
    return joined


def _squared_error(day: pd.DataFrame, people: pd.Series[float]) -> tuple[float, float]:
    """Sum the squared errors of a day, each by how far its count is trusted, and those weights."""
    known = has_label(day)
    weight = day[WEIGHT].fillna(1.0).to_numpy()[known] if WEIGHT in day.columns else np.ones(int(known.sum()))
    off = people.loc[day.index].to_numpy()[known] - day["occupancy"].to_numpy()[known]
    return float(weight @ off**2), float(weight.sum())


def _fitted(squares: Array, weights: Array, rng: np.random.Generator) -> LearningCurve | None:
    """Fit the curve to errors by order, day and size."""
    sizes = np.flatnonzero(weights.sum(axis=(0, 1)))
    squares, weights = squares[:, :, sizes], weights[:, :, sizes]
    mean = squares.sum(axis=(0, 1)) / np.maximum(weights.sum(axis=(0, 1)), 1e-12)
    if sizes.size < 2 or not (mean > 0).all():
        return None
    orders, n = squares.shape[:2]
    curves = [fit_curve(sizes, mean)]
    for k in range(DRAWS):
        order_times = rng.multinomial(orders, np.full(orders, 1 / orders))
        day_times = rng.multinomial(n, np.full(n, 1 / n))
        drawn, worth = (np.einsum("r,d,rds->s", order_times, day_times, part) for part in (squares, weights))
        if (drawn > 0).all() and (worth > 0).all():  # else days on which there was nothing to estimate
            curves.append(fit_curve(sizes, drawn / worth, power=POWERS[k % len(POWERS)]))
    measured = dict(zip(sizes.tolist(), np.sqrt(mean).tolist(), strict=True))
    return LearningCurve(n, measured, np.array(curves), rng.normal(size=(len(curves) - 1, 2, n)))


def fit_curve(sizes: NDArray[np.int_], squares: Array, *, power: float = 1.0) -> tuple[float, float, float]:
    """Fit a + b / n**power to mean squared errors, a and b 0 or more, by least squares of relative errors.

    Examples
    --------
    >>> a, b, _ = fit_curve(np.array([1, 2, 4]), np.array([5.0, 3.0, 2.0]))
    >>> round(a, 6), round(b, 6)
    (1.0, 4.0)
    """
    rows = np.column_stack([np.ones(sizes.size), sizes.astype(float) ** -power]) / squares[:, None]
    (a, b), _ = nnls(rows, np.ones(sizes.size))
    return float(a), float(b), power


def _square(curves: Array, days: int | NDArray[np.int_], *, luck: Array | float = 1.0) -> Array:
    learned = curves[..., 1] / np.asarray(days, dtype=float) ** curves[..., 2]
    return np.asarray(curves[..., 0] + luck * learned)


def bootstrap_interval(value: float, drawn: Array, n_days: int) -> PredictionInterval:
    """Make the range of a number from what it is when the days are drawn anew; all above 0.

    Four fifths of the draws lie between two ends. Each end is moved away from the value, on a scale of
    logarithms, by ``widening``.

    Examples
    --------
    Two days ask for 3.4 times the width: half of the draws at 1/2 and half at 2 give 2 to the power of 3.4.

    >>> found = bootstrap_interval(1.0, np.array([0.5, 0.5, 2.0, 2.0]), 2)
    >>> round(found.low * found.high, 6), round(float(np.log2(found.high)), 1)
    (1.0, 3.4)
    """
    ends = np.quantile(drawn, [(1 - SURE) / 2, (1 + SURE) / 2])
    low, high = widening(n_days) * np.log(np.maximum(ends, 1e-12) / max(value, 1e-12))
    return PredictionInterval(
        value, value * float(np.exp(min(low, 0.0))), value * float(np.exp(max(high, 0.0)))
    )


def widening(n_days: int) -> float:
    """How many times as wide as the draws a range has to be.

    Drawing n days anew from themselves shows the spread of a mean as sqrt((n - 1) / n) of what it is, and
    what is reckoned from so few is as wide as Student's t with n - 1 degrees of freedom says, not as the
    normal distribution does.

    Examples
    --------
    From tables, t is 1.638 for 3 degrees and 1.440 for 6, the normal distribution has 1.282:
    1.638 / 1.282 * sqrt(4 / 3) and 1.440 / 1.282 * sqrt(7 / 6).

    >>> [round(widening(n), 2) for n in (4, 7, 1000)]
    [1.48, 1.21, 1.0]
    """
    upper = (1 + SURE) / 2
    return float(stats.t.ppf(upper, n_days - 1) / stats.norm.ppf(upper) * np.sqrt(n_days / (n_days - 1)))
