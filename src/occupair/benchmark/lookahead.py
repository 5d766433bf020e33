"""Methods that peek: the future is changed, and estimates of the past must not move."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from occupair.benchmark.methods import Method
from occupair.errors import InputError
from occupair.progress import progress_to, track
from occupair.readings.schema import date_slices
from occupair.simulation import simulate_office

CUTS = (0.35, 0.5, 0.6, 0.75)  # when the future begins, as a share of a day
TOLERANCE = 1e-6  # [people]: arithmetic in another order is no look-ahead


def find_look_ahead(method: Method, readings: pd.DataFrame, lag: float) -> list[pd.Timestamp]:
    """Find the times whose estimates change with readings that were not there yet.

    The method is trained on all days but the last two and run on those. On the first of them, readings
    later than t + ``lag`` are replaced by wild ones, for several t: estimates up to t must stay.

    Parameters
    ----------
    method : Method
        What to examine.
    readings : DataFrame
        At least three days of readings with head counts.
    lag : float
        Minutes that an estimate may wait for later readings [min].

    Returns
    -------
    list of Timestamp
        Times of estimates that moved, in order; empty for an honest method.
    """
    days = date_slices(readings)
    if len(days) < 3:
        raise InputError(f"readings must hold at least three days to look for look-ahead, got {len(days)}")
    model = method.make(lag=lag)
    model.fit(readings.iloc[: days[-3].stop])
    test = readings.iloc[days[-2].start :].drop(columns="occupancy")
    length = days[-2].stop - days[-2].start
    people = method.estimate(model, test, lag)
    moved: set[pd.Timestamp] = set()
    for time in pd.DatetimeIndex(test.index)[[int(cut * length) for cut in CUTS]]:
        other = _with_other_future(test, time + pd.Timedelta(minutes=lag))
        change = (method.estimate(model, other, lag) - people).loc[:time].abs()
        moved.update(change.index[change > TOLERANCE])
    return sorted(moved)


def check_look_ahead(methods: Mapping[str, Method], lags: Sequence[float]) -> None:
    """Refuse methods that peek at the future of a simulated office.

    Raises
    ------
    InputError
        Naming the first method that peeks, when and at which lag.
    """
    pairs = [(name, lag) for name in methods for lag in lags]
    for name, lag in track(pairs, "looking for look-ahead", show=None):
        with progress_to(lambda *_: None):
            moved = find_look_ahead(methods[name], office_for(lag), lag)
        if moved:
            rule = f"its estimate of {moved[0]:%H:%M} changes with readings more than {lag:g} min later"
            raise InputError(f"method {name!r} looks ahead: {rule}")


def office_for(lag: float) -> pd.DataFrame:
    """Four days of the simulated office, at five minutes where ``lag`` [min] allows that, else at one."""
    return simulate_office(days=4, seed=3).iloc[:: 5 if lag % 5 == 0 else 1]


def _with_other_future(readings: pd.DataFrame, time: pd.Timestamp) -> pd.DataFrame:
    """Change everything after ``time``: CO2 [ppm] and ventilation [0..1] at random."""
    rng = np.random.default_rng(0)
    later = pd.DatetimeIndex(readings.index) > time
    changed = readings.copy()
    changed.loc[later, "co2"] = rng.uniform(300, 3000, later.sum())
    if "ventilation" in changed:
        changed.loc[later, "ventilation"] = rng.uniform(0, 1, later.sum())
    return changed
