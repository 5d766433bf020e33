"""Days cut into folds: every day is tested once, by a model that never saw it."""

from __future__ import annotations

import pandas as pd

from occupair.errors import InputError
from occupair.readings.schema import date_slices

N_FOLDS = 3


def day_folds(readings: pd.DataFrame, n_folds: int = N_FOLDS) -> list[tuple[pd.DataFrame, pd.DataFrame]]:
    """Cut readings into those to train on and those to test on, for each fold.

    The day with number i, in order, is tested in fold i modulo ``n_folds`` and trained on in all others.
    With fewer days than folds there are as many folds as days.

    Examples
    --------
    >>> times = pd.date_range("2024-01-08", periods=8, freq="12h")
    >>> readings = pd.DataFrame({"co2": 400.0}, index=times)
    >>> [test.index.day.unique().tolist() for train, test in day_folds(readings)]
    [[8, 11], [9], [10]]
    """
    if n_folds < 2:
        raise InputError(f"n_folds must be 2 or more, got {n_folds}")
    days = [readings.iloc[day] for day in date_slices(readings)]
    if len(days) < 2:
        raise InputError(
            f"readings must hold at least two days to train on one and test another, got {len(days)}"
        )
    return [
        (
            pd.concat([day for i, day in enumerate(days) if i % n_folds != fold]),
            pd.concat([day for i, day in enumerate(days) if i % n_folds == fold]),
        )
        for fold in range(min(n_folds, len(days)))
    ]
