"""Training of the paper's network on a table of readings: Jiang et al. 2016, Eq. (20) and Table I."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from occupair.elm.regressors import ELMRegressor, FSELMRegressor
from occupair.errors import InputError
from occupair.paper.features import Layer
from occupair.readings.schema import episode_slices, exact_readings, ventilation_of
from occupair.smoothing import smooth

Array = NDArray[np.float64]

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
    in_readings = exact_readings(horizon, interval, "horizon")
    return Layer(kind, in_readings, exact_readings(stride, interval, "stride") if kind == "fs-elm" else 1)


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
        raise InputError(f"readings must contain a day with more than {layer.horizon} readings to train on")
    return regressor.fit(features, people)


def training_features(readings: pd.DataFrame, layer: Layer, smoothing: float) -> tuple[Array, Array]:
    """Return the features y_k and the occupancy o_k of all days.

    Every episode is smoothed separately, and no lag window crosses midnight or a gap.

    Returns
    -------
    features : array of shape (N, n_features)
    people : array of shape (N,)
        Head counts [people].
    """
    co2, people = readings["co2"].to_numpy(), readings["occupancy"].to_numpy()
    ventilation = ventilation_of(readings)
    episodes = episode_slices(readings)
    features = [
        np.hstack(
            list(layer.groups(smooth(co2[one], smoothing=smoothing), people[one], ventilation[one]).values())
        )
        for one in episodes
    ]
    return np.vstack(features), np.concatenate([people[one][layer.horizon :] for one in episodes])
