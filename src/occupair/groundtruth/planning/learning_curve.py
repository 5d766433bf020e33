"""Learning curve of a room: estimation error as a function of the number of labelled days.

The labelled days are put into several random orders. In each order the last days are held out, and
estimated by estimators trained on its first 1, 2, 3, 5, ... days. The mean squared error of least squares
decreases with the number of training days n as

    E(n)^2 = a + b / n

where a remains however many days are labelled, because CO2 responds with a delay. Both are non-negative and
fitted by least squares of the relative errors. Their uncertainty is estimated by resampling the orders and
the held-out days, with n to the power 1/2, 1 or 2 in turn, since the shape of the curve beyond the data is
unknown.

The labelled days may also be more or less informative than average. b / n is the expected excess error
after n days; after these particular n days it is larger or smaller. They can mislead in at most n
directions, so the excess is modelled as b / n times a chi-squared variable with n degrees of freedom,
divided by n. With m more days, the underlying normal variables are mixed with new ones by the fraction of
new days. Each resample has its own variables. Finally, intervals from so few days are widened: see
``widening_factor``.
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

MIN_DAYS = 3
"""Fewest labelled days for a curve: two training sizes and a held-out day."""
SIZES = (1, 2, 3, 5, 8, 12, 20)
"""Numbers of training days."""
MIN_GAIN = 0.02
"""A day that reduces the error by a smaller fraction is not worth labelling."""
RESAMPLES = 300
"""Bootstrap resamples of orders and held-out days."""
POWERS = (0.5, 1.0, 2.0)
"""Exponents of the number of days used in the resamples."""
CONFIDENCE = 0.8
"""Confidence of the prediction intervals."""
_MANY_DAYS, _ORDERS_FEW_DAYS, _ORDERS_MANY_DAYS = 12, 8, 4
_MAX_DAYS = 1000  # more than anybody labels


@dataclass(frozen=True)
class PredictionInterval:
    """A value with its 80 % prediction interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class LearningCurve:
    """Error by the number of labelled days.

    Attributes
    ----------
    n_days : number of labelled days
    measured : RMSE on held-out days [people], by number of training days
    curves : a and b [people squared] and the exponent of n, of the fit and then of the resamples; shape
        (1 + resamples, 3)
    luck : normal variables of each resample, for the labelled days and for new days; shape
        (resamples, 2, n_days)
    """

    n_days: int
    measured: dict[int, float]
    curves: Array
    luck: Array

    def error(self, days: int) -> PredictionInterval:
        """RMSE expected after training on this many days [people]."""
        errors = self._errors(days)
        return bootstrap_interval(float(errors[0]), errors[1:], self.n_days)

    def gain(self, more: int) -> PredictionInterval:
        """Relative reduction of the present error by this many more days; negative if the error grows."""
        now, then = self._errors(self.n_days), self._errors(self.n_days + more)
        ratio = then / np.maximum(now, 1e-12)
        remaining = bootstrap_interval(float(ratio[0]), ratio[1:], self.n_days)
        return PredictionInterval(1 - remaining.value, 1 - remaining.high, 1 - remaining.low)

    def enough(self, min_gain: float = MIN_GAIN) -> PredictionInterval:
        """Return the number of days from which another reduces the error by less than ``min_gain``.

        Examples
        --------
        Without a lower limit, E(n)^2 = 1 / n, the step from n to n + 1 days reduces the error by
        1 - sqrt(n / (n + 1)): 2.02 % from 24 to 25 days, 1.94 % from 25 to 26. In a resample without anything
        to learn, the present 4 days are enough.

        >>> curve = LearningCurve(4, {}, np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 1.0]]), np.zeros((1, 2, 4)))
        >>> curve.enough().value, curve.enough().low
        (25.0, 4.0)
        """
        days = np.arange(self.n_days, _MAX_DAYS)
        errors = np.sqrt(_squared_errors(self.curves[:, None, :], np.append(days, _MAX_DAYS)))
        small = 1 - errors[:, 1:] / np.maximum(errors[:, :-1], 1e-12) < min_gain
        first = np.where(small.any(axis=1), days[np.argmax(small, axis=1)], _MAX_DAYS).astype(float)
        found = bootstrap_interval(float(first[0]), first[1:], self.n_days)
        low, high = np.clip([np.floor(found.low), np.ceil(found.high)], self.n_days, _MAX_DAYS)
        return PredictionInterval(found.value, float(low), float(high))

    def _errors(self, days: int) -> Array:
        """RMSE after this many days, of the fit and of the resamples [people]."""
        new = max(0, days - self.n_days)
        mix = np.sqrt([self.n_days / (self.n_days + new), new / (self.n_days + new)])
        luck = np.mean(np.einsum("p,dpn->dn", mix, self.luck) ** 2, axis=1)
        return np.sqrt(_squared_errors(self.curves, days, luck=np.append(1.0, luck)))


def learning_curve(
    days: Sequence[pd.DataFrame], *, estimator: OccupancyEstimator | None = None, seed: int = 0
) -> LearningCurve | None:
    """Measure the learning curve of a room.

    Parameters
    ----------
    days : sequence of DataFrame
        Readings with head counts, one table per labelled day; at least ``MIN_DAYS``.
    estimator : OccupancyEstimator, optional
        Its settings are used; by default those of the default estimator.
    seed : int
        Random seed.

    Returns
    -------
    LearningCurve or None
        None if there is nothing to learn: the room was always empty, or every estimate was exact.
    """
    if len(days) < MIN_DAYS:
        raise InputError(f"days must be {MIN_DAYS} or more for a learning curve, got {len(days)}")
    estimator = estimator or OccupancyEstimator(random_state=0)
    orders = list(_orders(len(days), np.random.default_rng(seed)))
    runs = [(number, *split) for number, order in enumerate(orders) for split in _splits(order)]
    squares, weights = (np.zeros((len(orders), len(days), len(days))) for _ in range(2))
    models: dict[frozenset[int], OccupancyEstimator] = {}  # several orders start with the same days
    for number, train, test in track(runs, "learning curve", show=None):
        if not any((days[k]["occupancy"] > 0).any() for k in train):
            continue  # always empty: nothing to learn
        with quietly():
            model = models.get(frozenset(train)) or clone(estimator).fit(_joined(days, train))
            models[frozenset(train)] = model
            people = model.estimate(_joined(days, test))
        for k in test:
            squares[number, k, len(train)], weights[number, k, len(train)] = _squared_error(days[k], people)
    return _fit(squares, weights, np.random.default_rng([seed, 1]))


def _orders(n: int, rng: np.random.Generator) -> Iterator[NDArray[np.int_]]:
    """Yield orders of the days in which each is held out about equally often."""
    count, n_test = _ORDERS_FEW_DAYS if n <= _MANY_DAYS else _ORDERS_MANY_DAYS, _n_test(n)
    order = rng.permutation(n)
    for k in range(count):
        if k and (k * n_test) % n < n_test:  # every day has been held out: new permutation
            order = rng.permutation(n)
        yield np.roll(order, k * n_test)


def _n_test(n: int) -> int:
    return max(1, n // 4)


def _splits(order: NDArray[np.int_]) -> list[tuple[list[int], list[int]]]:
    """Training and held-out days for each training size of one order."""
    n_test = _n_test(order.size)
    largest = order.size - n_test
    sizes = [size for size in SIZES if size <= largest / 1.3]  # omit sizes close to the largest
    sizes += [largest] if largest <= 1.5 * SIZES[-1] else []
    return [(order[:size].tolist(), order[-n_test:].tolist()) for size in sizes]


def _joined(days: Sequence[pd.DataFrame], which: Sequence[int]) -> pd.DataFrame:
    joined = pd.concat([days[k] for k in sorted(which)])
    joined.attrs = dict(days[0].attrs)
    return joined


def _squared_error(day: pd.DataFrame, people: pd.Series[float]) -> tuple[float, float]:
    """Weighted sum of the squared errors of a day, and the sum of the weights."""
    known = has_label(day)
    weight = day[WEIGHT].fillna(1.0).to_numpy()[known] if WEIGHT in day.columns else np.ones(int(known.sum()))
    error = people.loc[day.index].to_numpy()[known] - day["occupancy"].to_numpy()[known]
    return float(weight @ error**2), float(weight.sum())


def _fit(squares: Array, weights: Array, rng: np.random.Generator) -> LearningCurve | None:
    """Fit the curve to squared errors by order, day and training size."""
    sizes = np.flatnonzero(weights.sum(axis=(0, 1)))
    squares, weights = squares[:, :, sizes], weights[:, :, sizes]
    mean = squares.sum(axis=(0, 1)) / np.maximum(weights.sum(axis=(0, 1)), 1e-12)
    if sizes.size < 2 or not (mean > 0).all():
        return None
    orders, n = squares.shape[:2]
    curves = [fit_curve(sizes, mean)]
    for k in range(RESAMPLES):
        order_counts = rng.multinomial(orders, np.full(orders, 1 / orders))
        day_counts = rng.multinomial(n, np.full(n, 1 / n))
        resampled, total = (
            np.einsum("r,d,rds->s", order_counts, day_counts, array) for array in (squares, weights)
        )
        if (resampled > 0).all() and (total > 0).all():  # otherwise only days without labels were drawn
            curves.append(fit_curve(sizes, resampled / total, power=POWERS[k % len(POWERS)]))
    measured = dict(zip(sizes.tolist(), np.sqrt(mean).tolist(), strict=True))
    return LearningCurve(n, measured, np.array(curves), rng.normal(size=(len(curves) - 1, 2, n)))


def fit_curve(sizes: NDArray[np.int_], squares: Array, *, power: float = 1.0) -> tuple[float, float, float]:
    """Fit a + b / n**power, with a, b >= 0, to mean squared errors by least squares of relative errors.

    Examples
    --------
    >>> a, b, _ = fit_curve(np.array([1, 2, 4]), np.array([5.0, 3.0, 2.0]))
    >>> round(a, 6), round(b, 6)
    (1.0, 4.0)
    """
    design = np.column_stack([np.ones(sizes.size), sizes.astype(float) ** -power]) / squares[:, None]
    (a, b), _ = nnls(design, np.ones(sizes.size))
    return float(a), float(b), power


def _squared_errors(curves: Array, days: int | NDArray[np.int_], *, luck: Array | float = 1.0) -> Array:
    excess = curves[..., 1] / np.asarray(days, dtype=float) ** curves[..., 2]
    return np.asarray(curves[..., 0] + luck * excess)


def bootstrap_interval(value: float, resampled: Array, n_days: int) -> PredictionInterval:
    """Return the prediction interval of a positive value from bootstrap resamples of a few days.

    The quantiles of the resamples are moved away from the value, on a logarithmic scale, by
    ``widening_factor``.

    Examples
    --------
    The factor of two days is 3.4: resamples of 1/2 and 2 in equal parts give 2 to the power of 3.4.

    >>> found = bootstrap_interval(1.0, np.array([0.5, 0.5, 2.0, 2.0]), 2)
    >>> round(found.low * found.high, 6), round(float(np.log2(found.high)), 1)
    (1.0, 3.4)
    """
    ends = np.quantile(resampled, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    low, high = widening_factor(n_days) * np.log(np.maximum(ends, 1e-12) / max(value, 1e-12))
    return PredictionInterval(
        value, value * float(np.exp(min(low, 0.0))), value * float(np.exp(max(high, 0.0)))
    )


def widening_factor(n_days: int) -> float:
    """Width of a prediction interval relative to that of the bootstrap resamples.

    Resampling n days underestimates the standard error of a mean by sqrt((n - 1) / n), and with so few days
    the mean follows Student's t distribution with n - 1 degrees of freedom rather than a normal distribution.

    Examples
    --------
    The tabulated t is 1.638 for 3 degrees of freedom and 1.440 for 6; the normal quantile is 1.282:
    1.638 / 1.282 * sqrt(4 / 3) and 1.440 / 1.282 * sqrt(7 / 6).

    >>> [round(widening_factor(n), 2) for n in (4, 7, 1000)]
    [1.48, 1.21, 1.0]
    """
    upper = (1 + CONFIDENCE) / 2
    return float(stats.t.ppf(upper, n_days - 1) / stats.norm.ppf(upper) * np.sqrt(n_days / (n_days - 1)))
