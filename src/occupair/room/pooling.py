"""Pooling of rooms: one ridge regression over their features, and the shapes of their mass balances.

Only the sums H'H and H'o and the mass balance coefficients of each room enter, in units that are comparable
between rooms, see ``occupair.room.features.feature_gains`` and ``occupair.room.balance_shapes``. All rooms
have the same weight. The sums of parts of a portfolio add up to those of the whole. ``make pooled`` pools the
public rooms.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.linalg import solve

from occupair.readings.schema import interval_of
from occupair.room.balance_shapes import BalanceShapes, pool_shapes, relative_coefs
from occupair.room.features import feature_gains, group_sizes, people_spread
from occupair.room.fit_and_estimate import Z_MAX, episodes_by_date
from occupair.room.fitted_balances import FittedBalances, fit_balances
from occupair.room.lags import LAGS, lag_in_readings
from occupair.room.linked_elm import LinkedLayer, fit_layer, normal_equations
from occupair.room.mass_balance import BaseLevel, DayTerms
from occupair.room.pooled_start import LAYER_SEED, PooledStart
from occupair.room.training_days import prepare_training_days
from occupair.smoothing import smoothing_in_readings

Array = NDArray[np.float64]

VENTILATION = "ventilation"

N_HIDDEN = 300
"""Number of neurons, that of the default estimator."""

_RIDGE, _LINK_RIDGE = 0.01, 0.001  # relative to sums of one sample per room


class LagSums(NamedTuple):
    """Sums of one room at one lag, divided by its number of samples."""

    layer: LinkedLayer
    gram: Array  # H'H
    moment: Array  # H'o for people and presence


class RoomSums(NamedTuple):
    """What a room adds to the pool.

    Parameters
    ----------
    by_lag : dict
        Sums of the network by lag [min].
    balances : dict
        By whether ventilation readings are used, by lag [min], the coefficients of the mass balance relative
        to their units, see ``relative_coefs``. A room without ventilation readings has one entry.
    """

    by_lag: dict[float, LagSums]
    balances: dict[bool, dict[float, dict[tuple[float, float], Array]]]


def sum_room(readings: pd.DataFrame, *, smoothing: float = 10.0) -> RoomSums:
    """Return what a labelled room adds to the pool; the smoothing [min squared] is the estimator's."""
    fitted, sums = _fit_balances(readings, smoothing), {}
    training = fitted.training
    for minutes in LAGS:
        lag = lag_in_readings(minutes, training.interval)
        features, people = fitted.features(fitted.on_training_days, lag), training.target(lag)
        gains = feature_gains(features, people, len(LAGS))
        layer = fit_layer(gains, group_sizes(len(LAGS)), Z_MAX, n_hidden=N_HIDDEN, seed=LAYER_SEED)
        targets = np.column_stack([people / people_spread(people), people > 0])
        gram, moment = normal_equations(layer, features, targets, None)
        sums[minutes] = LagSums(layer, gram / len(people), moment / len(people))
    balances = {
        False: _relative(_fit_balances(readings.drop(columns=VENTILATION, errors="ignore"), smoothing))
    }
    if VENTILATION in readings.columns:
        balances[True] = _relative(fitted)
    return RoomSums(sums, balances)


def _fit_balances(readings: pd.DataFrame, smoothing: float) -> FittedBalances:
    interval = interval_of(readings)
    days = episodes_by_date(readings)
    return fit_balances(
        prepare_training_days(days, interval=interval, smoothing=smoothing_in_readings(smoothing, interval))
    )


def _relative(fitted: FittedBalances) -> dict[float, dict[tuple[float, float], Array]]:
    training = fitted.training
    days, found = DayTerms(training.days, BaseLevel.fit(training.lows)), {}
    for minutes, lag in zip(training.lags, training.lags_in_readings, strict=True):
        found[minutes] = relative_coefs(fitted.balances[lag], days, training.target(lag))
    return found


@dataclass(frozen=True)
class PoolSums:
    """Sums over rooms. Those of some rooms plus those of others are the sums over all of them.

    Parameters
    ----------
    rooms : tuple of str
        Names of the rooms.
    by_lag : dict
        Sums of the network by lag [min].
    balances : tuple of dict
        ``RoomSums.balances`` of each room.
    """

    rooms: tuple[str, ...]
    by_lag: dict[float, LagSums]
    balances: tuple[dict[bool, dict[float, dict[tuple[float, float], Array]]], ...]

    @classmethod
    def of(cls, room: str, sums: RoomSums) -> PoolSums:
        """Return the sums of one room."""
        return cls((room,), sums.by_lag, (sums.balances,))

    def __add__(self, other: PoolSums) -> PoolSums:
        by_lag = {
            minutes: LagSums(one.layer, one.gram + more.gram, one.moment + more.moment)
            for minutes, one in self.by_lag.items()
            for more in [other.by_lag[minutes]]
        }
        return PoolSums(self.rooms + other.rooms, by_lag, self.balances + other.balances)


def pool(rooms: Mapping[str, RoomSums]) -> PooledStart:
    """Return the read-outs and the shapes over some rooms."""
    total, *others = (PoolSums.of(name, sums) for name, sums in rooms.items())
    for one in others:
        total += one
    return start_of(total)


def start_of(sums: PoolSums) -> PooledStart:
    """Return the read-outs and the shapes over the rooms of some sums."""
    read_outs = {}
    for minutes, (layer, gram, moment) in sums.by_lag.items():
        read_outs[minutes] = np.array(
            [
                solve(
                    gram[np.ix_(own, own)] / len(sums.rooms)
                    + np.diag(layer.penalty(_RIDGE, _LINK_RIDGE, own.size - layer.mean.size - 1)),
                    moment[own] / len(sums.rooms),
                    assume_a="pos",
                )
                for own in layer.layer_outputs()
            ]
        )
    shapes = {}
    for known in (True, False):
        balances = [room[known] for room in sums.balances if known in room]
        if balances:
            by_lag = {minutes: pool_shapes([one[minutes] for one in balances]) for minutes in LAGS}
            shapes[known] = BalanceShapes(by_lag)
    return PooledStart(N_HIDDEN, Z_MAX, read_outs, sums.rooms, shapes)
