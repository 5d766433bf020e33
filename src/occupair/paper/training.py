"""Training of the paper's network on a table of readings: Jiang et al. 2016, Eq. (20) and Table I."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from occupair.elm.regressors import ELMRegressor, FSELMRegressor
from occupair.errors import InputError
from occupair.paper.features import Layer
from occupair.readings.schema import episode_slices, exact_readings, interval_of, ventilation_of
from occupair.smoothing import smooth

Array = NDArray[np.float64]

MINUTES_PER_DAY = 1440
"""The longest history: the estimator starts each day anew."""

MAX_VALUES = 40_000_000
"""Values of the features of all training rows that are enough, 320 MB: 180 days of minutes and Table I."""

SETTINGS: dict[str, Any] = {
    "layer": "fs-elm",
    "horizon": 30,  # l [min]
    "stride": 10,  # s [min]
    "smoothing": 50,  # lambda [min squared]
    "z_max": (1.0, 1.0, 1.0, 1.0, 0.1),  # of P, I, D, o and v
    "n_hidden": 1000,  # L
    "ridge": 1e-3,  # gamma
    "n_draws": 100,
}
"""The settings of Table I and Section V-D, by the parameters of ``OccupancyEstimator``."""


def layer_at(kind: str, horizon: float, stride: float, *, interval: float) -> Layer:
    """Return the features for readings every ``interval`` minutes; horizon and stride are in minutes.

    Examples
    --------
    >>> layer_at("fs-elm", 30, 10, interval=5.0)
    Layer(kind='fs-elm', horizon=6, stride=2)
    """
    lags = exact_readings(horizon, interval, "horizon")
    if horizon >= MINUTES_PER_DAY:
        raise InputError(f"horizon must be shorter than a day ({MINUTES_PER_DAY} min), got {horizon:g} min")
    if kind != "fs-elm":
        return Layer(kind, lags, 1)
    if stride > horizon:
        raise InputError(f"stride must be at most the horizon of {horizon:g} min, got {stride:g} min")
    return Layer(kind, lags, exact_readings(stride, interval, "stride"))


def new_regressor(layer: Layer, *, z_max: Any, ridge: float | None, **parameters: Any) -> ELMRegressor:
    """Return the untrained regressor of a layer; ``z_max=None`` and ``ridge=None`` are those of the paper."""
    parameters["ridge"] = SETTINGS["ridge"] if ridge is None else ridge
    if layer.kind == "elm":
        return ELMRegressor(**parameters)
    z_max = SETTINGS["z_max"] if z_max is None else z_max
    return FSELMRegressor(groups=list(layer.sizes().values()), z_max=z_max, **parameters)


def fit_regressor(
    readings: pd.DataFrame, regressor: ELMRegressor, layer: Layer, smoothing: float
) -> ELMRegressor:
    """Train a regressor on readings with a head count at every reading.

    Parameters
    ----------
    readings : DataFrame
        Checked readings with ``occupancy``.
    regressor : ELMRegressor
        The untrained regressor, see ``new_regressor``.
    layer : Layer
        The features.
    smoothing : float
        Weight of the CO2 smoothing, lambda [readings squared].
    """
    missing = int(readings["occupancy"].isna().sum())
    if missing:
        raise InputError(
            f"readings: head counts are missing at {missing} of {len(readings)} readings; the paper's layers "
            "need one at every reading: train layer 'room', the default, or drop days without counts"
        )
    features, people = training_features(readings, layer, smoothing)
    if people.size == 0:
        minutes = layer.horizon * interval_of(readings)
        raise InputError(
            f"readings must contain a day with more than {layer.horizon} readings to train on, without gaps: "
            f"the horizon is {minutes:g} min, use a shorter one or longer days"
        )
    return regressor.fit(features, people)


def training_features(readings: pd.DataFrame, layer: Layer, smoothing: float) -> tuple[Array, Array]:
    """Return the features y_k and the occupancy o_k of all days.

    Every episode is smoothed separately, and no lag window crosses midnight or a gap. If there are more than
    ``MAX_VALUES`` values, as for many days of frequent readings, one row in n of each episode is returned.

    Returns
    -------
    features : array of shape (N, n_features)
    people : array of shape (N,)
        Head counts [people].
    """
    co2, people = readings["co2"].to_numpy(), readings["occupancy"].to_numpy()
    ventilation = ventilation_of(readings)
    episodes, n_features = episode_slices(readings), sum(layer.sizes().values())
    n_rows = sum(max(one.stop - one.start - layer.horizon, 0) for one in episodes)
    every = max(math.ceil(n_rows * n_features / MAX_VALUES), 1)
    targets = [people[one][layer.horizon :: every] for one in episodes]
    features = np.empty((sum(target.size for target in targets), n_features))
    stop = 0
    for one, target in zip(episodes, targets, strict=True):
        groups = layer.groups(smooth(co2[one], smoothing=smoothing), people[one], ventilation[one])
        start, stop = stop, stop + target.size
        np.concatenate([group[::every] for group in groups.values()], axis=1, out=features[start:stop])
    return features, np.concatenate(targets)
