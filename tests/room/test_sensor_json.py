"""Corrections in model files: read back as written, and refused if malformed."""

import copy
import json
from types import SimpleNamespace

import numpy as np
import pytest

from occupair.room.open_hours import OpenHours
from occupair.room.prediction_intervals import QUANTILES, PredictionIntervals
from occupair.room.sensor_corrections import Correction, SensorCorrections
from occupair.room.sensor_json import sensors_from_json, sensors_to_json
from occupair.room.stuck_sensors import StuckRule

ROOM = SimpleNamespace(
    refinements=(SimpleNamespace(lag=0), SimpleNamespace(lag=2)),
    interval=5.0,
    max_people=10.0,
    hours=OpenHours.always(),
)


def _correction(rng, n_sensors):
    n = 4 * n_sensors
    low = rng.normal(size=(2, n))
    intervals = PredictionIntervals(np.array([0.0, 1.5]), np.sort(rng.normal(size=(2, QUANTILES.size))))
    return Correction(
        low, low + 1.0, low + 0.5, np.ones((2, n)), rng.normal(size=(2, 1 + n)), (intervals,) * 2
    )


@pytest.fixture
def corrections():
    rng = np.random.default_rng(0)
    steps = (_correction(rng, 1), _correction(rng, 2))
    rules = (StuckRule(720.0, (0.0, 1.0)), StuckRule(360.0))
    return SensorCorrections(("wifi", "humidity"), steps, 5.0, (0, 2), 10.0, ROOM.hours, rules)


@pytest.fixture
def values(corrections):
    return json.loads(json.dumps(sensors_to_json(corrections)))


def test_corrections_are_read_back(corrections, values):
    again = sensors_from_json(values, ROOM)
    assert (again.names, again.lags, again.interval) == (corrections.names, (0, 2), 5.0)
    assert again.stuck == corrections.stuck
    for one, other in zip(again.steps, corrections.steps, strict=True):
        for name in ("low", "high", "rest", "scale", "coef"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
        for mine, theirs in zip(one.intervals, other.intervals, strict=True):
            np.testing.assert_array_equal(mine.edges, theirs.edges)
            np.testing.assert_array_equal(mine.errors, theirs.errors)


def test_corrections_of_earlier_versions_have_no_rules(values):
    del values["stuck"]
    assert sensors_from_json(values, ROOM).stuck == ()


def _set(path, value):
    def change(values):
        *way, last = path
        for step in way:
            values = values[step]
        values[last] = value

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_set(["names"], []), "sensors must be among"),
        (_set(["names"], ["wifi", "pressure"]), "sensors must be among .* got .*pressure"),
        (_set(["names"], ["wifi", "wifi"]), "sensors must be among"),
        (_set(["names"], ["wifi"]), "one correction for each sensor"),
        (_set(["steps", 0, "coef", 0, 0], float("inf")), "must be finite numbers of shape"),
        (_set(["steps", 0, "coef"], [[1.0] * 5]), "must be finite numbers of shape"),
        (_set(["steps", 0, "scale", 0, 0], 0.0), "must be positive"),
        (_set(["steps", 0, "high", 0, 0], -99.0), "must be positive"),
        (_set(["steps", 1, "intervals"], []), "prediction intervals for each lag"),
        (_set(["steps", 1, "intervals", 0, "edges"], [0.0, -1.0]), "edges must increase from 0"),
        (_set(["steps", 1, "intervals", 0, "errors"], [[0.0]]), "must be finite numbers of shape"),
        (_set(["stuck"], [{"limit": 360.0, "rest": []}]), "one limit for stuck values for each sensor"),
        (_set(["stuck", 0, "limit"], 1e9), "limits for stuck values must be from 360 to 1200 min"),
        (_set(["stuck", 0, "limit"], float("nan")), "must be finite numbers of shape"),
        (_set(["stuck", 0, "rest"], [0.0, 1.0, 2.0]), "at most 2 resting levels"),
        (_set(["stuck", 0, "rest"], [float("inf")]), "must be finite numbers of shape"),
    ],
)
def test_malformed_corrections_are_refused(values, change, message):
    changed = copy.deepcopy(values)
    change(changed)
    with pytest.raises(ValueError, match=message):
        sensors_from_json(changed, ROOM)
