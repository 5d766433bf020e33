"""Model files: a trained estimator as JSON with a format version and a checksum, without pickle.

A file of some kilobytes stores the seed of the random layer, not the layer: numpy's RandomState always draws
the same layer from a seed, and a checksum of the layer verifies it. Numbers are written with full precision.
"""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from occupair._version import __version__
from occupair.atomic_files import write_atomically
from occupair.elm.regressors import ELMRegressor
from occupair.errors import InputError
from occupair.estimator import OccupancyEstimator
from occupair.paper.features import LAYERS, Layer
from occupair.physics.room_air import room_air_from_json, room_air_to_json
from occupair.physics.room_properties import PROPERTIES, room_properties
from occupair.readings.day_fingerprints import split_fingerprints
from occupair.readings.grid import check_grid_options
from occupair.readings.other_sensors import SENSORS
from occupair.readings.time_zones import is_time_zone
from occupair.room.closed_hours import parse_closed
from occupair.room.inputs import window_length
from occupair.room.model import RoomModel
from occupair.room.model_json import (
    check_layer,
    lags_from_json,
    layer_checksum,
    room_from_json,
    room_to_json,
)
from occupair.room.profile_comparison import ProfileComparison
from occupair.room.sensor_json import sensors_from_json, sensors_to_json
from occupair.room.sensor_training import SensorTrial

VERSION = 4
READABLE = (1, 2, 3, 4)  # 1 had no room layer; 2 no trees, and other features; 3 no kernel and no profile
_MAGIC = '{"format":"occupair model",'
_PARAMETERS = (
    "layer",
    "horizon",
    "stride",
    "smoothing",
    "z_max",
    "n_hidden",
    "ridge",
    "n_draws",
    "random_state",
)
_OPTIONAL = ("closed", *PROPERTIES)  # in the file only if given
_DEFAULTS = OccupancyEstimator().get_params()
# Neurons times lags: 200 MB of weights at some five columns per lag. Limits the memory of an untrusted file.
_MAX_WEIGHTS = 5_000_000
_MAX_WEIGHT = 1e12  # larger ones overflow when they are used


def save_model(estimator: OccupancyEstimator, path: str | Path) -> None:
    """Write a trained estimator to a file, atomically."""
    write_atomically(path, dump_model(estimator))


def load_model(path: str | Path) -> OccupancyEstimator:
    """Read an estimator written by ``save_model``.

    Raises
    ------
    InputError
        If the file is corrupted, truncated, of a newer format, or not an occupair model.
    """
    try:
        return parse_model(Path(path).read_bytes())
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def dump_model(estimator: OccupancyEstimator) -> bytes:
    """Return a trained estimator as the bytes of a model file."""
    check_is_fitted(estimator, "most_people_")
    days = estimator.trained_days_
    given = [name for name in _OPTIONAL if getattr(estimator, name) != _DEFAULTS[name]]
    names = (*_PARAMETERS, "screen", *given)
    model = {
        "parameters": {name: _plain(getattr(estimator, name)) for name in names},
        "interval": estimator.interval_,
        "most_people": estimator.most_people_,
        "uses_ventilation": estimator.uses_ventilation_,
        "ventilation_full": estimator.ventilation_full_,
        "ventilation_unit": estimator.ventilation_unit_,
        "timezone": estimator.timezone_,
        "training_error": estimator.training_error_,
        "trained_days": None if days is None else "".join(sorted(days)),
    }
    model |= _room_values(estimator) if hasattr(estimator, "room_") else _paper_values(estimator)
    text = _canonical(model)
    header = f'{_MAGIC}"version":{VERSION},"occupair":"{__version__}","checksum":"{_checksum(text)}"'
    return f'{header},"model":{text}}}\n'.encode()


def _room_values(estimator: OccupancyEstimator) -> dict[str, Any]:
    room = estimator.room_
    _check_size(window_length(room.interval, room.lags[-1]), room.refinements[0].layer.n_hidden)
    comparison = estimator.comparison_
    values: dict[str, Any] = {
        "room": room_to_json(room),
        "comparison": None if comparison is None else asdict(comparison),
    }
    if estimator.air_ is not None:
        values["air"] = room_air_to_json(estimator.air_)
    if estimator.sensors_ is not None:
        values["sensors"] = sensors_to_json(estimator.sensors_)
    if estimator.sensor_trials_:
        values["sensor_trials"] = [asdict(trial) for trial in estimator.sensor_trials_]
    return values


def _paper_values(estimator: OccupancyEstimator) -> dict[str, Any]:
    regressor = estimator.regressor_
    _check_size(estimator.layer_.horizon, regressor.coef_.size)
    return {
        "layer": asdict(estimator.layer_),
        "smoothing": estimator.smoothing_,
        "n_features": regressor.n_features_in_,
        "layer_seed": regressor.layer_seed_,
        "layer_checksum": layer_checksum(regressor.random_weights_, regressor.bias_),
        "scale": regressor.scale_.tolist(),
        "coef": regressor.coef_.tolist(),
    }


def parse_model(content: bytes) -> OccupancyEstimator:
    """Return the estimator in the bytes of a model file; raise InputError if they are not a valid model."""
    if not content.startswith(_MAGIC.encode()):
        raise InputError("is not an occupair model")
    try:
        document = json.loads(content, parse_constant=_reject_constant)
        version, checksum, model = document["version"], document["checksum"], document["model"]
    except (ValueError, KeyError, RecursionError):
        raise InputError("is damaged or truncated: it is not complete JSON") from None
    if version not in READABLE:
        message = f"has format version {version!r}, this occupair reads up to {VERSION}: upgrade occupair"
        raise InputError(message)
    try:
        if checksum != _checksum(_canonical(model)):
            raise InputError("is damaged: its checksum does not match its content")
        return _build(model)
    except (KeyError, TypeError, ValueError, ArithmeticError) as error:
        raise InputError(f"is not a valid model: {error}") from None


def _build(model: dict[str, Any]) -> OccupancyEstimator:
    parameters = {name: model["parameters"][name] for name in _PARAMETERS}
    parameters["screen"] = bool(model["parameters"].get("screen", True))
    parameters |= {name: model["parameters"].get(name, _DEFAULTS[name]) for name in _OPTIONAL}
    parse_closed(parameters["closed"])  # raises if it is invalid
    room_properties(**{name: parameters[name] for name in PROPERTIES})  # likewise
    for name in ("z_max", "closed"):
        if isinstance(parameters[name], list):
            parameters[name] = tuple(parameters[name])
    estimator = OccupancyEstimator(**parameters)
    estimator.interval_ = _positive(model, "interval")
    check_grid_options(estimator.interval_, None)
    estimator.most_people_ = _positive(model, "most_people", or_zero=True)
    estimator.training_error_ = _positive(model, "training_error", or_zero=True)
    estimator.uses_ventilation_ = bool(model["uses_ventilation"])
    full = model["ventilation_full"]
    estimator.ventilation_full_ = None if full is None else _positive(model, "ventilation_full")
    estimator.ventilation_unit_ = _optional_string(model, "ventilation_unit")
    estimator.timezone_ = _optional_string(model, "timezone")
    if estimator.timezone_ is not None and not is_time_zone(estimator.timezone_):
        raise ValueError(f"timezone must be a known time zone, got {estimator.timezone_!r}")
    days = _optional_string(model, "trained_days")
    estimator.trained_days_ = None if days is None else split_fingerprints(days)
    if "room" in model:
        estimator.room_ = _build_room(estimator, model["room"])
        comparison = model["comparison"]
        estimator.comparison_ = None if comparison is None else _build_comparison(comparison)
        air = model.get("air")  # of models with inferred people only
        estimator.air_ = None if air is None else room_air_from_json(air)
        sensors = model.get("sensors")  # of models with optional sensors only
        estimator.sensors_ = None if sensors is None else sensors_from_json(sensors, estimator.room_)
        estimator.sensor_trials_ = tuple(_build_trial(trial) for trial in model.get("sensor_trials", ()))
    else:
        estimator.smoothing_ = _positive(model, "smoothing", or_zero=True)
        estimator.layer_ = _build_layer(model["layer"])
        estimator.regressor_ = _build_regressor(estimator, model)
    return estimator


def _build_room(estimator: OccupancyEstimator, values: dict[str, Any]) -> RoomModel:
    width = window_length(estimator.interval_, lags_from_json(values)[-1])
    for one in values["refinements"]:
        _check_size(width, int(one["n_hidden"]))
    room = room_from_json(values)
    if room.interval != estimator.interval_:
        raise ValueError("the interval of the room does not match that of the model")
    return room


def _build_comparison(values: dict[str, Any]) -> ProfileComparison:
    error, profile_error = (_positive(values, name, or_zero=True) for name in ("error", "profile_error"))
    return ProfileComparison(error, profile_error, int(values["days"]))


def _build_trial(values: dict[str, Any]) -> SensorTrial:
    name, change = values["name"], values["change"]
    if name not in SENSORS or not (change is None or math.isfinite(change)):
        raise ValueError(f"sensor_trials must have a known sensor and a number, got {name!r}, {change!r}")
    return SensorTrial(name, None if change is None else float(change), kept=bool(values["kept"]))


def _build_layer(layer: dict[str, Any]) -> Layer:
    kind, horizon, stride = layer["kind"], layer["horizon"], layer["stride"]
    if kind not in LAYERS or not all(isinstance(count, int) for count in (horizon, stride)):
        raise ValueError("layer must have a known kind and integer numbers of readings")
    return Layer(kind, horizon, stride)


def _check_size(lags: int, n_hidden: int) -> None:
    if lags * n_hidden > _MAX_WEIGHTS:
        size = f"{n_hidden} neurons and {lags} lags"
        raise InputError(f"a hidden layer of {size} is too large for a model file")


def _build_regressor(estimator: OccupancyEstimator, model: dict[str, Any]) -> ELMRegressor:
    coef, scale = _vector(model, "coef"), _vector(model, "scale")
    layer = estimator.layer_
    _check_size(layer.horizon, coef.size)
    sizes = layer.sizes().values()
    if len(scale) != (len(sizes) if layer.kind == "fs-elm" else 1) or sum(sizes) != model["n_features"]:
        raise ValueError("scale, layer and n_features do not match")
    regressor = estimator.new_regressor(layer).rebuild(
        layer_seed=int(model["layer_seed"]), scale=scale, coef=coef, n_features=sum(sizes)
    )
    check_layer(model["layer_checksum"], regressor.random_weights_, regressor.bias_)
    regressor.training_error_ = estimator.training_error_
    return regressor


def _vector(model: dict[str, Any], name: str) -> NDArray[np.float64]:
    vector = np.array(model[name], dtype=float)
    if vector.ndim != 1 or not (np.abs(vector) <= _MAX_WEIGHT).all():
        raise ValueError(f"{name} must be a list of numbers up to {_MAX_WEIGHT:g}")
    return vector


def _optional_string(model: dict[str, Any], name: str) -> str | None:
    """Return an optional string; older files do not have it."""
    value = model.get(name)
    if not (value is None or isinstance(value, str)):
        raise ValueError(f"{name} must be a string, got {value!r}")
    return value


def _positive(model: dict[str, Any], name: str, *, or_zero: bool = False) -> float:
    value = float(model[name])
    if not (math.isfinite(value) and (value > 0 or (or_zero and value == 0))):
        rule = ", 0 or more" if or_zero else " above 0"
        raise ValueError(f"{name} must be a finite number{rule}, got {value}")
    return value


def _plain(value: Any) -> Any:
    """Return a parameter as JSON; a random state other than a seed is not needed and becomes None."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    return value if isinstance(value, str | int | float) else None


def _canonical(model: Any) -> str:
    return json.dumps(model, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _checksum(text: str) -> str:
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def _reject_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")
