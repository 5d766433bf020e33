"""Detection of look-ahead: changing future readings must not change past estimates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from occupair.benchmark.methods import Method
from occupair.errors import InputError
from occupair.progress import progress_to, track
from occupair.readings.schema import date_slices
from occupair.simulation import simulate_office

CUTS = (0.35, 0.5, 0.6, 0.75)  # start of the changed readings, as a fraction of the day
TOLERANCE = 1e-6  # [people], for rounding errors


def find_look_ahead(method: Method, readings: pd.DataFrame, lag: float) -> list[pd.Timestamp]:
    """Return the times whose estimates depend on readings more than ``lag`` minutes later.

    The method is trained on all days but the last two and estimates those two. On the first of them,
    readings later than t + ``lag`` are replaced by random ones, for several t: estimates up to t must not
    change.

    Parameters
    ----------
    method : Method
        Method to check.
    readings : DataFrame
        At least three days of labelled readings.
    lag : float
        Lag of the estimates [min].

    Returns
    -------
    list of Timestamp
        Times of the estimates that changed, in order; empty for a causal method.
    """
    days = date_slices(readings)
    if len(days) < 3:
        raise InputError(f"readings must cover at least three days to check for look-ahead, got {len(days)}")
    model = method.make(lag=lag)
    model.fit(readings.iloc[: days[-3].stop])
    test = readings.iloc[days[-2].start :].drop(columns="occupancy")
    length = days[-2].stop - days[-2].start
    people = method.estimate(model, test, lag)
    moved: set[pd.Timestamp] = set()
    for time in pd.DatetimeIndex(test.index)[[int(cut * length) for cut in CUTS]]:
        other = _with_random_future(test, time + pd.Timedelta(minutes=lag))
        change = (method.estimate(model, other, lag) - people).loc[:time].abs()
        moved.update(change.index[change > TOLERANCE])
    return sorted(moved)


def check_look_ahead(methods: Mapping[str, Method], lags: Sequence[float]) -> None:
    """Raise if a method looks ahead, checked on a simulated office.

    Raises
    ------
    InputError
        For the first method that looks ahead, with the time of day and the lag.
    """
    pairs = [(name, lag) for name in methods for lag in lags]
    for name, lag in track(pairs, "checking for look-ahead", show=None):
        with progress_to(lambda *_: None):
            moved = find_look_ahead(methods[name], office_for(lag), lag)
        if moved:
            rule = f"its estimate for {moved[0]:%H:%M} depends on readings more than {lag:g} min later"
            raise InputError(f"method {name!r} looks ahead: {rule}")


def office_for(lag: float) -> pd.DataFrame:
    """Return four days of the simulated office, at 5 min if that divides ``lag`` [min], else at 1 min."""
    return simulate_office(days=4, seed=3).iloc[:: 5 if lag % 5 == 0 else 1]


def _with_random_future(readings: pd.DataFrame, time: pd.Timestamp) -> pd.DataFrame:
    """Replace CO2 [ppm] and ventilation [0..1] after ``time`` by random values."""
    rng = np.random.default_rng(0)
    later = pd.DatetimeIndex(readings.index) > time
    changed = readings.copy()
    changed.loc[later, "co2"] = rng.uniform(300, 3000, later.sum())
    if "ventilation" in changed:
        changed.loc[later, "ventilation"] = rng.uniform(0, 1, later.sum())
    return changed
