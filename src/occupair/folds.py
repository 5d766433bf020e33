"""Day-wise folds for cross-validation: every day is held out once, by a model not trained on it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from occupair.errors import InputError
from occupair.readings.schema import date_slices

N_FOLDS = 3


class Fold(NamedTuple):
    """Day numbers of one fold."""

    train: list[int]
    held_out: list[int]


def day_folds(n_days: int, n_folds: int = N_FOLDS) -> list[Fold]:
    """Assign days to folds: day i is held out in fold i modulo ``n_folds`` and trained on in all others.

    With fewer days than folds there is one fold per day. A single day is both trained on and held out.

    Examples
    --------
    >>> [fold.held_out for fold in day_folds(4)]
    [[0, 3], [1], [2]]
    >>> day_folds(2)
    [Fold(train=[1], held_out=[0]), Fold(train=[0], held_out=[1])]
    >>> day_folds(1)
    [Fold(train=[0], held_out=[0])]
    """
    if n_days == 1:
        return [Fold([0], [0])]
    days = range(n_days)
    return [
        Fold([i for i in days if i % n_folds != fold], [i for i in days if i % n_folds == fold])
        for fold in range(min(n_folds, n_days))
    ]


def split_days(readings: pd.DataFrame, n_folds: int = N_FOLDS) -> list[tuple[pd.DataFrame, pd.DataFrame]]:
    """Split readings of two local days or more into training and held-out readings, for each fold.

    Examples
    --------
    >>> times = pd.date_range("2024-01-08", periods=8, freq="12h")
    >>> readings = pd.DataFrame({"co2": 400.0}, index=times)
    >>> [held_out.index.day.unique().tolist() for train, held_out in split_days(readings)]
    [[8, 11], [9], [10]]
    """
    if n_folds < 2:
        raise InputError(f"n_folds must be 2 or more, got {n_folds}")
    days = date_slices(readings)
    if len(days) < 2:
        raise InputError(f"readings must cover at least two days, one to hold out, got {len(days)}")

    def rows(numbers: list[int]) -> pd.DataFrame:
        return readings.iloc[np.concatenate([np.arange(days[i].start, days[i].stop) for i in numbers])]

    return [(rows(fold.train), rows(fold.held_out)) for fold in day_folds(len(days), n_folds)]
