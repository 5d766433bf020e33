"""Columns of the default estimator, in groups that are scaled by themselves.

M  the terms of the mass balance
P  CO2 above base now and before, and its rises
V  ventilation, now and averaged
T  time of day, and whether it is a weekend
S  what the mass balance says of now, ten and twenty minutes ago
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from occupair.room.balance import Balance, balance_terms
from occupair.room.rows import Rows

Array = NDArray[np.float64]

GROUPS = {"M": 5, "P": 8, "V": 4, "T": 7, "S": 3}
"""Columns in each group."""

_LEVELS = (0.0, 10.0, 20.0, 40.0)  # how long ago [min]
_RISES = (5.0, 10.0, 20.0, 40.0)  # over how long [min]
_MEANS = (10.0, 30.0, 60.0)  # over how long [min]


class Moment(NamedTuple):
    """Which reading is asked for, and how CO2 answers to it."""

    lag: int  # readings that came after it
    behind: int  # readings before the newest at which its mass balance is drawn up
    share: float  # part of the low of the day in the base level


def moment_of(balance: Balance, lag: int) -> Moment:
    """Look where the best of the mass balances looks."""
    return Moment(lag, balance.best.behind, balance.best.share)


def room_columns(rows: Rows, balance: Balance, moment: Moment, said: Array) -> Array:
    """Give the columns of all groups, one row for each row of ``rows``.

    Parameters
    ----------
    rows : Rows
        What is known.
    balance : Balance
        Of the reading that is asked for; gives the base level.
    moment : Moment
        Which reading is asked for.
    said : array of shape (N, 3)
        Group S [people].
    """
    groups = (
        balance_terms(rows, balance.base, moment.share, moment.behind)[:, :-1],
        levels_and_rises(rows, balance.base.at(rows, moment.share)),
        flows(rows, moment.behind),
        times(rows, moment.lag),
        said,
    )
    return np.column_stack(groups)


def levels_and_rises(rows: Rows, base: Array) -> Array:
    """Give group P, with CO2 counted from a base level [ppm]."""
    co2 = rows.co2
    levels = [(co2[:, round(minutes / rows.interval)] - base) / 100 for minutes in _LEVELS]
    rises = [(co2[:, 0] - co2[:, rows.steps(minutes)]) / 30 for minutes in _RISES]
    return np.column_stack(levels + rises)


def flows(rows: Rows, behind: int) -> Array:
    """Give group V, ``behind`` readings before the newest."""
    flow = rows.ventilation[:, behind:]
    means = [flow[:, : rows.steps(minutes)].mean(axis=1) for minutes in _MEANS]
    return np.column_stack([flow[:, 0], *means])


def times(rows: Rows, lag: int) -> Array:
    """Give group T, ``lag`` readings before the newest."""
    angle = (rows.clock.minute - lag * rows.interval) * (2 * np.pi / 1440)
    weekend = rows.clock.weekend
    day = np.column_stack([np.sin(angle), np.cos(angle)])
    return np.column_stack([day, np.sin(2 * angle), np.cos(2 * angle), weekend, day * weekend[:, np.newaxis]])
