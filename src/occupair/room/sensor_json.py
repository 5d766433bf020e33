"""Corrections by optional sensors as plain JSON values, and back.

Values are validated when read, because a model file may come from an untrusted source.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from occupair.readings.other_sensors import SENSORS
from occupair.room.json_values import array
from occupair.room.model import RoomModel
from occupair.room.prediction_intervals import QUANTILES, PredictionIntervals
from occupair.room.sensor_corrections import Correction, SensorCorrections
from occupair.room.sensor_features import N_FEATURES
from occupair.room.stuck_sensors import LONGEST, SHORTEST, StuckRule

_ARRAYS = ("low", "high", "rest", "scale", "coef")
_MAX_REST = 2  # resting levels of a sensor
_MAX_BINS = 1000  # of prediction intervals; limits the memory that an untrusted file can claim


def sensors_to_json(sensors: SensorCorrections) -> dict[str, Any]:
    """Return the corrections of a room as plain values."""
    values = {"names": list(sensors.names), "steps": [_step_to_json(step) for step in sensors.steps]}
    if sensors.stuck:
        values["stuck"] = [{"limit": rule.limit, "rest": list(rule.rest)} for rule in sensors.stuck]
    return values


def sensors_from_json(values: dict[str, Any], room: RoomModel) -> SensorCorrections:
    """Return the corrections of plain values, or raise ValueError, TypeError or KeyError."""
    names, lags = tuple(values["names"]), tuple(one.lag for one in room.refinements)
    if not names or len(set(names)) < len(names) or not set(names) <= SENSORS.keys():
        raise ValueError(f"sensors must be among {', '.join(SENSORS)}, got {values['names']!r}")
    if len(values["steps"]) != len(names):
        raise ValueError("there must be one correction for each sensor")
    steps = [_step_from_json(step, len(lags), n + 1) for n, step in enumerate(values["steps"])]
    rules = tuple(_rule_from_json(rule) for rule in values.get("stuck", ()))  # none in earlier versions
    if rules and len(rules) != len(names):
        raise ValueError("there must be one limit for stuck values for each sensor")
    return SensorCorrections(names, tuple(steps), room.interval, lags, room.max_people, room.hours, rules)


def _step_to_json(step: Correction) -> dict[str, Any]:
    intervals = [{"edges": one.edges.tolist(), "errors": one.errors.tolist()} for one in step.intervals]
    return {name: getattr(step, name).tolist() for name in _ARRAYS} | {"intervals": intervals}


def _step_from_json(values: dict[str, Any], n_lags: int, n_sensors: int) -> Correction:
    n_features = N_FEATURES * n_sensors
    widths = dict.fromkeys(_ARRAYS, n_features) | {"coef": 1 + n_features}
    arrays = {name: array(values[name], (n_lags, width)) for name, width in widths.items()}
    if (arrays["scale"] <= 0).any() or (arrays["low"] > arrays["high"]).any():
        raise ValueError("ranges and scales of the sensors must be positive")
    if len(values["intervals"]) != n_lags:
        raise ValueError("there must be prediction intervals for each lag")
    return Correction(**arrays, intervals=tuple(_intervals(one) for one in values["intervals"]))


def _rule_from_json(values: dict[str, Any]) -> StuckRule:
    limit, rest = array(values["limit"], ()), array(values["rest"], (len(values["rest"]),))
    if rest.size > _MAX_REST:
        raise ValueError(f"a sensor must have at most {_MAX_REST} resting levels, got {rest.size}")
    if not SHORTEST <= limit <= LONGEST:
        raise ValueError(f"limits for stuck values must be from {SHORTEST:g} to {LONGEST:g} min")
    return StuckRule(float(limit), tuple(rest.tolist()))


def _intervals(values: dict[str, Any]) -> PredictionIntervals:
    n_bins = len(values["edges"])
    edges = array(values["edges"], (n_bins,))
    if not 0 < n_bins <= _MAX_BINS or edges[0] > 0 or (np.diff(edges) < 0).any():
        raise ValueError("edges must increase from 0")
    return PredictionIntervals(edges, array(values["errors"], (n_bins, QUANTILES.size)))
