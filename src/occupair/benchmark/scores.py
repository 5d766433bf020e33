"""Scores per room and their mean over rooms."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from occupair import metrics
from occupair.readings.schema import date_slices

TOLERANCES = (0, 1, 2, 3, 4)  # [people]


def score(truth: ArrayLike, people: ArrayLike, reference: ArrayLike) -> dict[str, float]:
    """Score the estimates of all days of a room.

    Parameters
    ----------
    truth, people : array
        True and estimated occupancy [people, unrounded].
    reference : array
        Mean head count of the training days, at each reading [people].

    Returns
    -------
    dict
        ``nrmse``, the RMSE divided by that of ``reference``; ``rmse`` and ``mae`` [people]; ``fdr``,
        ``fpr``, ``fnr`` and ``within_0`` to ``within_4`` [0..1] of estimates rounded to whole people.

    Examples
    --------
    >>> scores = score([0, 0, 4, 4], [0, 0.4, 3, 5], [2, 2, 2, 2])
    >>> round(scores["nrmse"], 3), round(scores["mae"], 3), scores["fdr"], scores["within_0"]
    (0.367, 0.6, 0.0, 0.5)
    """
    whole = metrics.whole_people(people)
    error, floor = metrics.rmse(truth, people), metrics.rmse(truth, reference)
    return {
        "nrmse": error / floor if floor > 0 else math.nan,
        "rmse": error,
        "mae": float(np.mean(np.abs(np.asarray(people, dtype=float) - np.asarray(truth, dtype=float)))),
        "fdr": metrics.false_detection_rate(truth, whole),
        "fpr": metrics.false_positive_rate(truth, whole),
        "fnr": metrics.false_negative_rate(truth, whole),
        **{f"within_{x}": metrics.tolerance_accuracy(truth, whole, tolerance=x) for x in TOLERANCES},
    }


def day_squares(truth: pd.Series[float], people: pd.Series[float]) -> NDArray[np.float64]:
    """Return the sum of squared errors of each day [people squared].

    Examples
    --------
    >>> times = pd.date_range("2024-01-08", periods=4, freq="12h")
    >>> day_squares(pd.Series([0.0, 4, 2, 2], index=times), pd.Series([1.0, 2, 2, 5], index=times))
    array([5., 9.])
    """
    squares = (people - truth).to_numpy(dtype=float) ** 2
    return np.array([squares[day].sum() for day in date_slices(truth.to_frame())])


def average(scores: pd.DataFrame) -> pd.DataFrame:
    """Return the unweighted mean over rooms, ignoring rooms without a value.

    Parameters
    ----------
    scores : DataFrame
        Scores, one row for each room, method and lag.

    Returns
    -------
    DataFrame
        One row for each method and lag.
    """
    return scores.groupby(level=["method", "lag"], sort=False).mean()
