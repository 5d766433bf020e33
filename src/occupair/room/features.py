"""Columns of the default estimator, in groups that are scaled by themselves.

M  the terms of the mass balance
P  CO2 above base now and before, and its rises
V  ventilation, now and averaged
T  time of day, and whether it is a weekend
S  what the mass balance says of now, ten and twenty minutes ago
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from occupair.room.inputs import Inputs
from occupair.room.lags import LAGS
from occupair.room.mass_balance import Balance, BaseLevel, balance_terms

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

GROUPS = {"M": 5, "P": 8, "V": 4, "T": 7, "S": len(LAGS)}
"""Columns in each group."""

_PLACES = [slice(*ends) for ends in pairwise(accumulate(GROUPS.values(), initial=0))]
_LEVELS = (0.0, 10.0, 20.0, 40.0)  # how long ago [min]
_RISES = (5.0, 10.0, 20.0, 40.0)  # over how long [min]
_MEANS = (10.0, 30.0, 60.0)  # over how long [min]


class FeatureSettings(NamedTuple):
    """Which reading is asked for, and how CO2 answers to it."""

    lag: int  # readings that came after it
    behind: int  # readings before the newest at which its mass balance is drawn up
    share: float  # part of the low of the day in the base level


class FeatureSettingsArrays(NamedTuple):
    """K of them, for columns of all K at once."""

    lag: Indices  # of shape (K, 1)
    behind: Indices  # of shape (K,)
    share: Array  # of shape (K, 1)

    @classmethod
    def of(cls, moments: Sequence[FeatureSettings]) -> FeatureSettingsArrays:
        """Put moments together."""
        lag, behind, share = (np.array(column) for column in zip(*moments, strict=True))
        return cls(lag[:, np.newaxis], behind, share[:, np.newaxis])


def feature_settings(balance: Balance, lag: int) -> FeatureSettings:
    """Look where the best of the mass balances looks."""
    return FeatureSettings(lag, balance.best.behind, balance.best.share)


def room_features(
    rows: Inputs, base: BaseLevel, moment: FeatureSettings | FeatureSettingsArrays, said: Array
) -> Array:
    """Give the columns of all groups, one row for each row of ``rows``.

    Parameters
    ----------
    rows : Inputs
        What is known.
    base : BaseLevel
        The base level.
    moment : FeatureSettings
        Which reading is asked for, or which K.
    said : array of shape (3, N)
        Group S [people].

    Returns
    -------
    array of shape (N, 27) or (N, K, 27)
        One column after the other in memory.
    """
    level = base.at(rows, moment.share)
    columns = np.empty((sum(GROUPS.values()), *level.shape))
    m, p, v, t, s = (columns[place] for place in _PLACES)
    m[:] = balance_terms(rows, base, moment.share, moment.behind)[:-1]
    p[:] = levels_and_rises(rows, level)
    v[:] = flows(rows, moment.behind)
    t[:] = times(rows, moment.lag)
    for column, people in zip(s, said, strict=True):
        column[:] = people
    return columns.T


def levels_and_rises(rows: Inputs, base: Array) -> Array:
    """Give group P, a column first, with CO2 counted from a base level of shape (N,) or (K, N) [ppm]."""
    levels = rows.co2.T[[round(minutes / rows.interval) for minutes in _LEVELS]]
    rises = rows.co2.T[0] - rows.co2.T[[rows.steps(minutes) for minutes in _RISES]]
    group = np.empty((GROUPS["P"], *base.shape))
    each = (-1, *(1 for _ in base.shape[1:]), len(rows))  # the same for all of K base levels
    group[: len(_LEVELS)] = (levels.reshape(each) - base) / 100
    group[len(_LEVELS) :] = rises.reshape(each) / 30
    return group


def flows(rows: Inputs, behind: int | Indices) -> Array:
    """Give group V, a column first, ``behind`` readings before the newest; several give K of each."""
    sums, steps = rows.flow_sums, [rows.steps(minutes) for minutes in _MEANS]
    group = sums[np.add.outer([1, *steps], behind)] - sums[behind]
    for mean, n in zip(group[1:], steps, strict=True):
        mean /= n
    return np.asarray(group)


def times(rows: Inputs, lag: int | Indices) -> Array:
    """Give group T, a column first, ``lag`` readings before the newest; K of them have shape (K, 1)."""
    angle = (rows.clock.minute - lag * rows.interval) * (2 * np.pi / 1440)
    group = np.empty((GROUPS["T"], *angle.shape))
    np.sin(angle, out=group[0])
    np.cos(angle, out=group[1])
    np.sin(2 * angle, out=group[2])
    np.cos(2 * angle, out=group[3])
    group[4] = rows.clock.weekend
    group[5:] = group[:2] * rows.clock.weekend
    return group
