"""Features of the default estimator, in groups that are scaled separately.

M  terms of the mass balance
P  CO2 above the base level, now and earlier, and its rises
V  ventilation: current value and moving averages
T  time of day, weekend
S  people by the mass balance at each lag of the model, and the parts that its rises and its level contribute
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from occupair.room.inputs import Inputs, at_offset
from occupair.room.mass_balance import N_PARTS, N_TERMS, SLOPES, Balance, BaseLevel, balance_terms

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

_RISES = (5.0, 10.0, 20.0, 40.0)  # periods of the CO2 rises [min]
_MEANS = (10.0, 30.0, 60.0)  # periods of the ventilation averages [min]
_LEVEL_UNIT, _RISE_UNIT = 100.0, 30.0  # units of the CO2 levels and rises [ppm]

GROUPS = ("M", "P", "V", "T", "S")
"""Names of the groups."""

_N_TIMES = 7
_REFERENCE_RISE = 20.0  # period of the rise whose spread is the unit of all rises [min]
MIN_PEOPLE_SPREAD = 0.3
"""Smallest unit of people, for rooms that are nearly always empty [people]."""


class ColumnSet(NamedTuple):
    """The columns of the groups P and S, which have changed since the first model files."""

    levels: tuple[float, ...]  # ages of the CO2 levels [min]
    n_parts: int  # parts of the mass balance in group S


COLUMN_SETS = {
    1: ColumnSet((0.0, 10.0, 20.0, 40.0), 0),
    2: ColumnSet((0.0, 5.0, 10.0, 15.0, 20.0, 30.0, 40.0, 60.0), N_PARTS),
}
"""Column sets by the number that a model file states."""

COLUMN_SET = 2
"""Column set of new models."""


@cache
def group_sizes(n_lags: int, column_set: int = COLUMN_SET) -> tuple[int, ...]:
    """Return the number of features in each of ``GROUPS``, for a model with ``n_lags`` lags.

    Examples
    --------
    >>> group_sizes(3), group_sizes(3, column_set=1)
    ((5, 12, 4, 7, 7), (5, 8, 4, 7, 3))
    """
    columns = COLUMN_SETS[column_set]
    return (
        N_TERMS - 1,  # without the constant
        len(columns.levels) + len(_RISES),
        1 + len(_MEANS),
        _N_TIMES,
        n_lags + columns.n_parts,
    )


@cache
def _places(n_lags: int, column_set: int) -> tuple[slice, ...]:
    """Return the place of each group among the features."""
    sizes = group_sizes(n_lags, column_set)
    return tuple(slice(*ends) for ends in pairwise(accumulate(sizes, initial=0)))


def feature_gains(features: Array, people: Array, n_lags: int) -> Array:
    """Return the factors that make the features of different rooms comparable.

    CO2 levels are divided by their standard deviation, rises and slopes by that of the 20-minute rise, and
    people by that of the head counts. Ventilation and time of day have the same meaning in every room.

    Parameters
    ----------
    features : array of shape (N, n_features)
        Training features of the current column set.
    people : array of shape (N,)
        Head counts [people].
    n_lags : int
        Number of lags of the model.
    """
    m, p, _, _, s = _places(n_lags, COLUMN_SET)
    gains = np.ones(features.shape[1])
    n_levels, n_slopes = len(COLUMN_SETS[COLUMN_SET].levels), len(SLOPES)
    level = _spread(features[:, p.start])
    rise = _spread(features[:, p.start + n_levels + _RISES.index(_REFERENCE_RISE)])
    gains[m][:n_slopes] = _REFERENCE_RISE / (_RISE_UNIT * rise)
    gains[m][n_slopes:] = gains[p][:n_levels] = 1 / level
    gains[p][n_levels:] = 1 / rise
    gains[s] = 1 / people_spread(people)
    return gains


def people_spread(people: Array) -> float:
    """Return the unit of people of a room: the standard deviation of its head counts [people]."""
    return max(float(people.std()), MIN_PEOPLE_SPREAD)


def _spread(values: Array) -> float:
    spread = float(values.std())
    return spread if spread > 1e-6 else 1.0  # constant CO2


class FeatureSettings(NamedTuple):
    """Parameters of the features of one refinement, or arrays of shape (R, n) for R of n rooms."""

    lag: int | Indices  # readings between the reading to estimate and the newest
    offset: int | Indices  # reading at which the mass balance is evaluated, counted back from the newest
    low_share: float | Array  # share of the day's lowest CO2 in the base level


def feature_settings(balance: Balance, lag: int) -> FeatureSettings:
    """Return the feature settings that match the best variant of a mass balance."""
    return FeatureSettings(lag, balance.best.offset, balance.best.low_share)


def stack_feature_settings(rooms: Sequence[Sequence[FeatureSettings]]) -> FeatureSettings:
    """Stack R feature settings of each of n rooms into one with arrays of shape (R, n)."""
    return FeatureSettings(
        np.array([[one.lag for one in settings] for settings in rooms]).T,
        np.array([[one.offset for one in settings] for settings in rooms]).T,
        np.array([[one.low_share for one in settings] for settings in rooms]).T,
    )


def room_features(
    inputs: Inputs,
    base: BaseLevel,
    settings: FeatureSettings,
    balance_people: Array,
    column_set: int = COLUMN_SET,
) -> Array:
    """Return the features of all groups.

    Parameters
    ----------
    inputs : Inputs
        N inputs.
    base : BaseLevel
        Base level, or R of them with arrays of shape (R, 1) or (R, N).
    settings : FeatureSettings
        Settings of one refinement, or of R with arrays of shape (R, 1) or (R, N).
    balance_people : array of shape (n_lags + n_parts, N)
        Group S [people].
    column_set : int
        A key of ``COLUMN_SETS``.

    Returns
    -------
    array of shape (N, n_features) or (N, R, n_features)
        ``n_features = sum(group_sizes(n_lags, column_set))``. Column-major: each feature is contiguous in
        memory.
    """
    level, columns = base.at(inputs, settings.low_share), COLUMN_SETS[column_set]
    places = _places(len(balance_people) - columns.n_parts, column_set)
    features = np.empty((places[-1].stop, *level.shape))
    m, p, v, t, s = (features[place] for place in places)
    m[:] = balance_terms(inputs, base, settings.low_share, settings.offset)[:-1]
    p[:] = _levels_and_rises(inputs, level, columns.levels)
    v[:] = _ventilation(inputs, settings.offset)
    t[:] = _times(inputs, settings.lag)
    for feature, people in zip(s, balance_people, strict=True):
        feature[:] = people
    return features.T


def _levels_and_rises(inputs: Inputs, base: Array, ages: Sequence[float]) -> Array:
    """Return group P, feature first, for a base level of shape (N,) or (R, N) [ppm]."""
    levels = inputs.co2.T[[round(minutes / inputs.interval) for minutes in ages]]
    rises = inputs.co2.T[0] - inputs.co2.T[[inputs.n_readings(minutes) for minutes in _RISES]]
    group = np.empty((len(ages) + len(_RISES), *base.shape))
    shape = (-1, *(1 for _ in base.shape[1:]), len(inputs))  # the same for all R base levels
    group[: len(ages)] = (levels.reshape(shape) - base) / _LEVEL_UNIT
    group[len(ages) :] = rises.reshape(shape) / _RISE_UNIT
    return group


def _ventilation(inputs: Inputs, offset: int | Indices) -> Array:
    """Return group V, feature first, at one or R offsets."""
    offsets = np.array([offset]) if isinstance(offset, int) else offset
    sums, lengths = inputs.ventilation_sums, [inputs.n_readings(minutes) for minutes in _MEANS]
    group = at_offset(sums, np.add.outer([1, *lengths], offsets)) - at_offset(sums, offsets)
    for mean, n in zip(group[1:], lengths, strict=True):
        mean /= n
    return group


def _times(inputs: Inputs, lag: int | Indices) -> Array:
    """Return group T, feature first, at one lag or at R lags of shape (R, 1) or (R, N)."""
    angle = (inputs.clock.minute - lag * inputs.interval) * (2 * np.pi / 1440)
    group = np.empty((_N_TIMES, *angle.shape))
    np.sin(angle, out=group[0])
    np.cos(angle, out=group[1])
    np.sin(2 * angle, out=group[2])
    np.cos(2 * angle, out=group[3])
    group[4] = inputs.clock.weekend
    group[5:] = group[:2] * inputs.clock.weekend
    return group
