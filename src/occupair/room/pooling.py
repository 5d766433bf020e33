"""Pooling of rooms: one ridge regression over the features of all rooms, each with the same weight.

Only the sums H'H and H'o of each room enter, in units that are comparable between rooms, see
``occupair.room.features.feature_gains``. ``make pooled`` pools the public rooms.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.linalg import solve

from occupair.readings.schema import interval_of
from occupair.room.features import feature_gains, group_sizes, people_spread
from occupair.room.fit_and_estimate import Z_MAX, episodes_by_date
from occupair.room.fitted_balances import fit_balances
from occupair.room.lags import LAGS, lag_in_readings
from occupair.room.linked_elm import LinkedLayer, fit_layer, normal_equations
from occupair.room.pooled_start import LAYER_SEED, PooledStart
from occupair.room.training_days import prepare_training_days
from occupair.smoothing import smoothing_in_readings

Array = NDArray[np.float64]

N_HIDDEN = 300
"""Number of neurons, that of the default estimator."""

_RIDGE, _LINK_RIDGE = 0.01, 0.001  # relative to sums of one sample per room


class RoomSums(NamedTuple):
    """Sums of one room at one lag, divided by its number of samples."""

    layer: LinkedLayer
    gram: Array  # H'H
    moment: Array  # H'o for people and presence


def sum_room(readings: pd.DataFrame, *, smoothing: float = 10.0) -> dict[float, RoomSums]:
    """Return the sums of a labelled room by lag [min]; the smoothing [min squared] is the estimator's."""
    interval = interval_of(readings)
    training = prepare_training_days(
        episodes_by_date(readings), interval=interval, smoothing=smoothing_in_readings(smoothing, interval)
    )
    fitted, sums = fit_balances(training), {}
    for minutes in LAGS:
        lag = lag_in_readings(minutes, interval)
        features, people = fitted.features(fitted.on_training_days, lag), training.target(lag)
        gains = feature_gains(features, people, len(LAGS))
        layer = fit_layer(gains, group_sizes(len(LAGS)), Z_MAX, n_hidden=N_HIDDEN, seed=LAYER_SEED)
        targets = np.column_stack([people / people_spread(people), people > 0])
        gram, moment = normal_equations(layer, features, targets, None)
        sums[minutes] = RoomSums(layer, gram / len(people), moment / len(people))
    return sums


def pool(rooms: Mapping[str, Mapping[float, RoomSums]]) -> PooledStart:
    """Return the read-outs over the sums of some rooms."""
    read_outs = {}
    for minutes in LAGS:
        sums = [room[minutes] for room in rooms.values()]
        layer = sums[0].layer
        gram, moment = (np.mean([getattr(one, name) for one in sums], axis=0) for name in ("gram", "moment"))
        read_outs[minutes] = np.array(
            [
                solve(
                    gram[np.ix_(own, own)]
                    + np.diag(layer.penalty(_RIDGE, _LINK_RIDGE, own.size - layer.mean.size - 1)),
                    moment[own],
                    assume_a="pos",
                )
                for own in layer.layer_outputs()
            ]
        )
    return PooledStart(N_HIDDEN, Z_MAX, read_outs, tuple(rooms))
