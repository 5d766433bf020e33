"""The methods compared: the baselines, the paper's estimator and the default estimator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pandas as pd

from occupair.baselines import BASELINES
from occupair.errors import InputError
from occupair.estimator import OccupancyEstimator

OURS = "occupair"


def _estimate_baseline(model: Any, readings: pd.DataFrame, lag: float) -> pd.Series[float]:
    """Estimate with a model built for the lag."""
    people: pd.Series[float] = model.estimate(readings)
    return people


@dataclass(frozen=True)
class Method:
    """A method that estimates the occupancy of a room.

    Parameters
    ----------
    make : callable
        ``make(lag=...)`` [min] returns an untrained model with ``fit(readings)``; a class works.
    estimate : callable
        ``estimate(model, readings, lag)`` returns a Series [people] with the index of the readings, each
        from readings up to ``lag`` minutes after it; default: ``model.estimate(readings)``.
    one_fit : bool
        Whether one trained model serves all lags.
    is_baseline : bool
        Whether the method is one of the baselines that the others are compared with.

    Examples
    --------
    >>> from occupair.baselines import MeanBaseline
    >>> Method(MeanBaseline).make(lag=10)
    MeanBaseline(lag=10)
    """

    make: Callable[..., Any]
    estimate: Callable[[Any, pd.DataFrame, float], pd.Series[float]] = _estimate_baseline
    one_fit: bool = False
    is_baseline: bool = False


def _make_paper(*, lag: float) -> OccupancyEstimator:
    return OccupancyEstimator.paper(n_draws=1, random_state=0)


def _make_ours(*, lag: float) -> OccupancyEstimator:
    return OccupancyEstimator(random_state=0)


def _estimate_paper(model: Any, readings: pd.DataFrame, lag: float) -> pd.Series[float]:
    """Estimate with the three-step live estimator, Jiang et al. 2016, Eq. (26)."""
    people: pd.Series[float] = model.estimate(readings, mode="live", lag=lag)
    return people


def _estimate_ours(model: Any, readings: pd.DataFrame, lag: float) -> pd.Series[float]:
    people: pd.Series[float] = model.estimate(readings, lag=lag)
    return people


METHODS: dict[str, Method] = {
    **{name: Method(make, is_baseline=True) for name, make in BASELINES.items()},
    "paper": Method(_make_paper, _estimate_paper, one_fit=True),
    OURS: Method(_make_ours, _estimate_ours, one_fit=True),
}


def methods_called(names: list[str]) -> dict[str, Method]:
    """Return the methods with the given names; all methods if ``names`` is empty.

    Examples
    --------
    >>> list(methods_called(["profile", "mean", "profile"]))
    ['profile', 'mean']
    """
    for name in names:
        if name not in METHODS:
            raise InputError(f"unknown method {name!r}, choose from {', '.join(METHODS)}")
    return {name: METHODS[name] for name in names or METHODS}
