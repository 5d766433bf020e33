"""The methods compared: the baselines, the paper's estimator and the default estimator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import pandas as pd

from occupair.baselines import BASELINES
from occupair.benchmark.room_starts import start_without
from occupair.errors import InputError
from occupair.estimator import OccupancyEstimator
from occupair.room.pooled_start import POOLED

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
    starts_from_rooms : bool
        Whether ``make`` takes ``start``, read-outs that must not be pooled over the room to be scored.

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
    starts_from_rooms: bool = False

    def for_room(self, room: str) -> Method:
        """Return the method for the scores of a room: a public room does not start from itself."""
        if not self.starts_from_rooms:
            return self
        return replace(self, make=partial(self.make, start=start_without(room)), starts_from_rooms=False)


def _make_paper(*, lag: float) -> OccupancyEstimator:
    return OccupancyEstimator.paper(n_draws=1, random_state=0)


def _make_ours(*, lag: float, start: Any = POOLED) -> OccupancyEstimator:
    return OccupancyEstimator(random_state=0, start=start)


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
    OURS: Method(_make_ours, _estimate_ours, one_fit=True, starts_from_rooms=True),
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
