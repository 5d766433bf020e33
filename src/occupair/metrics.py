"""Scores for occupancy estimates, with errors in people.

Estimates are compared as given. The detection rates and accuracies of the paper apply to integer counts: pass
``whole_people(estimates)`` to them and the unrounded estimates to ``rmse``; ``scores`` does both.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from occupair.errors import InputError

Array = NDArray[np.float64]


def whole_people(estimates: ArrayLike) -> Array:
    """Round estimates to whole people, half to even.

    Examples
    --------
    >>> whole_people([0.4, 0.6, 2.0])
    array([0., 1., 2.])
    """
    rounded: Array = np.rint(np.asarray(estimates, dtype=float))
    return rounded


def rmse(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Root mean squared error [people]. Jiang et al. 2016, Eq. (27).

    Examples
    --------
    >>> rmse([0, 4], [3, 8])
    3.5355339059327378
    """
    y_true, y_pred = _paired(y_true, y_pred)
    return float(np.sqrt(np.mean((y_true - y_pred) ** 2)))


def false_positive_rate(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Fraction of the empty readings estimated as occupied. Jiang et al. 2016, Eq. (28).

    NaN, not 0, if there is no empty reading: the rate is then undefined.

    Examples
    --------
    >>> false_positive_rate([0, 0, 0, 0, 2], [0, 1, 0, 0, 2])
    0.25
    """
    y_true, y_pred = _paired(y_true, y_pred)
    return _fraction(y_pred[y_true <= 0] > 0)


def false_negative_rate(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Fraction of the occupied readings estimated as empty. Jiang et al. 2016, Eq. (29).

    NaN, not 0, if there is no occupied reading: the rate is then undefined.

    Examples
    --------
    >>> false_negative_rate([0, 1, 2, 3, 4], [0, 1, 0, 3, 9])
    0.25
    """
    y_true, y_pred = _paired(y_true, y_pred)
    return _fraction(y_pred[y_true > 0] <= 0)


def false_detection_rate(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Fraction of all readings whose presence is estimated wrongly. Jiang et al. 2016, Eq. (30).

    Examples
    --------
    >>> false_detection_rate([0, 0, 2, 2], [0, 1, 0, 7])
    0.5
    """
    y_true, y_pred = _paired(y_true, y_pred)
    return _fraction((y_true > 0) != (y_pred > 0))


def tolerance_accuracy(y_true: ArrayLike, y_pred: ArrayLike, *, tolerance: float) -> float:
    """Fraction of estimates within ``tolerance`` people of the true count. Jiang et al. 2016, Eq. (31).

    An error of exactly ``tolerance`` counts as correct, and ``tolerance=0`` is plain accuracy.

    Examples
    --------
    >>> tolerance_accuracy([0, 4, 10, 10], [1, 4, 12, 15], tolerance=2)
    0.75
    """
    y_true, y_pred = _paired(y_true, y_pred)
    if not tolerance >= 0:
        raise InputError(f"tolerance must be 0 people or more, got {tolerance}")
    return _fraction(np.abs(y_true - y_pred) <= tolerance)


def interval_score(y_true: ArrayLike, low: ArrayLike, high: ArrayLike, *, confidence: float) -> float:
    """Mean interval score of prediction intervals [people]; smaller is better.

    The score of an interval is its width, plus 2 / (1 - ``confidence``) times the distance of the true count
    from the interval if it lies outside (Winkler 1972; Gneiting and Raftery 2007). Narrow intervals with
    correct coverage have small scores.

    Examples
    --------
    >>> round(interval_score([4, 8], [3, 3], [6, 6], confidence=0.9), 9)
    23.0
    """
    y_true, low = _paired(y_true, low)
    _, high = _paired(y_true, high)
    if not 0 < confidence < 1:
        raise InputError(f"confidence must be above 0 and below 1, got {confidence!r}")
    outside = np.maximum(low - y_true, 0.0) + np.maximum(y_true - high, 0.0)
    return float(np.mean(high - low + 2 / (1 - confidence) * outside))


def scores(y_true: ArrayLike, y_pred: ArrayLike) -> dict[str, float]:
    """Return all five scores of unrounded estimates, rounding them where a score requires it.

    Returns
    -------
    dict
        ``rmse`` [people] on the unrounded estimates; ``fdr``, ``fpr``, ``fnr``, ``within_3`` and
        ``within_4`` [0..1] on the estimates rounded to whole people.

    Examples
    --------
    >>> scores([0, 0, 9, 9], [0.3, 0.0, 5.0, 9.0])["fpr"]
    0.0
    """
    whole = whole_people(y_pred)
    return {
        "rmse": rmse(y_true, y_pred),
        "fdr": false_detection_rate(y_true, whole),
        "fpr": false_positive_rate(y_true, whole),
        "fnr": false_negative_rate(y_true, whole),
        "within_3": tolerance_accuracy(y_true, whole, tolerance=3),
        "within_4": tolerance_accuracy(y_true, whole, tolerance=4),
    }


def _fraction(hits: NDArray[np.bool_]) -> float:
    return float(np.mean(hits)) if hits.size else math.nan


def _paired(y_true: ArrayLike, y_pred: ArrayLike) -> tuple[Array, Array]:
    truth, estimates = np.asarray(y_true, dtype=float), np.asarray(y_pred, dtype=float)
    if truth.ndim != 1 or truth.shape != estimates.shape:
        shapes = f"{truth.shape} and {estimates.shape}"
        raise InputError(f"y_true and y_pred must be one-dimensional and of equal length, got {shapes}")
    if truth.size == 0:
        raise InputError("y_true and y_pred must contain at least one value, got none")
    for name, values in (("y_true", truth), ("y_pred", estimates)):
        if not np.isfinite(values).all():
            raise InputError(f"{name} must be finite, got {values[~np.isfinite(values)][0]}")
    return truth, estimates
