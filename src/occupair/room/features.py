"""Features of the default estimator, in groups that are scaled separately.

M  terms of the mass balance
P  CO2 above the base level, now and earlier, and its rises
V  ventilation: current value and moving averages
T  time of day, weekend
S  people by the mass balance at each lag of the model
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from occupair.room.inputs import Inputs, at_offset
from occupair.room.mass_balance import N_TERMS, Balance, BaseLevel, balance_terms

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

_LEVELS = (0.0, 10.0, 20.0, 40.0)  # ages of the CO2 levels [min]
_RISES = (5.0, 10.0, 20.0, 40.0)  # periods of the CO2 rises [min]
_MEANS = (10.0, 30.0, 60.0)  # periods of the ventilation averages [min]

GROUPS = ("M", "P", "V", "T", "S")
"""Names of the groups."""

_N_TIMES = 7


def group_sizes(n_lags: int) -> tuple[int, ...]:
    """Return the number of features in each of ``GROUPS``, for a model with ``n_lags`` lags.

    Examples
    --------
    >>> group_sizes(3)
    (5, 8, 4, 7, 3)
    """
    return (
        N_TERMS - 1,  # without the constant
        len(_LEVELS) + len(_RISES),
        1 + len(_MEANS),
        _N_TIMES,
        n_lags,
    )


@cache
def _places(n_lags: int) -> tuple[slice, ...]:
    """Return the place of each group among the features."""
    return tuple(slice(*ends) for ends in pairwise(accumulate(group_sizes(n_lags), initial=0)))


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


def room_features(inputs: Inputs, base: BaseLevel, settings: FeatureSettings, balance_people: Array) -> Array:
    """Return the features of all groups.

    Parameters
    ----------
    inputs : Inputs
        N inputs.
    base : BaseLevel
        Base level, or R of them with arrays of shape (R, 1) or (R, N).
    settings : FeatureSettings
        Settings of one refinement, or of R with arrays of shape (R, 1) or (R, N).
    balance_people : array of shape (n_lags, N)
        Group S [people].

    Returns
    -------
    array of shape (N, n_features) or (N, R, n_features)
        ``n_features = sum(group_sizes(n_lags))``. Column-major: each feature is contiguous in memory.
    """
    level = base.at(inputs, settings.low_share)
    places = _places(len(balance_people))
    features = np.empty((places[-1].stop, *level.shape))
    m, p, v, t, s = (features[place] for place in places)
    m[:] = balance_terms(inputs, base, settings.low_share, settings.offset)[:-1]
    p[:] = _levels_and_rises(inputs, level)
    v[:] = _ventilation(inputs, settings.offset)
    t[:] = _times(inputs, settings.lag)
    for feature, people in zip(s, balance_people, strict=True):
        feature[:] = people
    return features.T


def _levels_and_rises(inputs: Inputs, base: Array) -> Array:
    """Return group P, feature first, for a base level of shape (N,) or (R, N) [ppm]."""
    levels = inputs.co2.T[[round(minutes / inputs.interval) for minutes in _LEVELS]]
    rises = inputs.co2.T[0] - inputs.co2.T[[inputs.n_readings(minutes) for minutes in _RISES]]
    group = np.empty((len(_LEVELS) + len(_RISES), *base.shape))
    shape = (-1, *(1 for _ in base.shape[1:]), len(inputs))  # the same for all R base levels
    group[: len(_LEVELS)] = (levels.reshape(shape) - base) / 100
    group[len(_LEVELS) :] = rises.reshape(shape) / 30
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
