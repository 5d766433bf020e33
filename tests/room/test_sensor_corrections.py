"""Corrections by optional sensors: clamped, clipped, only in open hours, with a fallback for every sensor."""

import numpy as np
import pytest

from occupair.room.inputs import Clock
from occupair.room.open_hours import OpenHours
from occupair.room.prediction_intervals import PredictionIntervals
from occupair.room.sensor_corrections import Correction, SensorCorrections, describe_unused
from occupair.room.sensor_live import LiveSensors

OPEN = np.zeros((2, 1440), dtype=bool)
OPEN[:, 480:1080] = True
NINE, THREE = 540.0, 180.0


def _correction(coef, n_sensors):
    n = 4 * n_sensors
    return Correction(
        low=np.full((1, n), -2.0),
        high=np.full((1, n), 2.0),
        rest=np.zeros((1, n)),
        scale=np.ones((1, n)),
        coef=np.array([coef], dtype=float),
        intervals=(PredictionIntervals.unknown(10.0),),
    )


@pytest.fixture
def corrections():
    """Wi-Fi adds 2 people per unit of its level; with motion, motion adds 1 instead."""
    return SensorCorrections(
        names=("wifi", "motion"),
        steps=(
            _correction([0, 2, 0, 0, 0], 1),
            _correction([0, 0, 0, 0, 0, 1, 0, 0, 0], 2),
        ),
        interval=5.0,
        lags=(0,),
        max_people=10.0,
        hours=OpenHours(OPEN),
    )


def _correct(corrections, people, minute, levels, usable):
    features = np.zeros((1, 1, 8))
    features[0, 0, [0, 4]] = levels
    clock = Clock(np.array([minute]), np.zeros(1))
    found, applied = corrections.correct(
        np.array([[people]]), clock, features, np.array(usable).reshape(2, 1, 1)
    )
    return found[0, 0], applied[0, 0]


def test_longest_usable_prefix_is_applied(corrections):
    assert _correct(corrections, 3.0, NINE, [1.0, 1.0], [True, True]) == (4.0, 2)
    assert _correct(corrections, 3.0, NINE, [1.0, 1.0], [True, False]) == (5.0, 1)
    assert _correct(corrections, 3.0, NINE, [1.0, 1.0], [False, True]) == (3.0, 0)


def test_features_out_of_range_are_clipped(corrections):
    assert _correct(corrections, 1.0, NINE, [1e9, np.nan], [True, False]) == (5.0, 1)


def test_estimates_are_clamped(corrections):
    assert _correct(corrections, 9.0, NINE, [2.0, 0.0], [True, False]) == (10.0, 1)
    assert _correct(corrections, 1.0, NINE, [-2.0, 0.0], [True, False]) == (0.0, 1)


def test_nobody_appears_in_closed_hours(corrections):
    assert _correct(corrections, 0.0, THREE, [2.0, 2.0], [True, True]) == (0.0, 0)


def test_less_than_half_a_person_does_not_appear(corrections):
    assert _correct(corrections, 0.0, NINE, [0.2, 0.0], [True, False]) == (0.0, 1)
    assert _correct(corrections, 0.0, NINE, [0.3, 0.0], [True, False]) == (pytest.approx(0.6), 1)


def test_unused_sensors_are_named():
    assert describe_unused(("wifi", "motion")) == "estimated without wifi, motion: no recent reading"
    assert describe_unused(()) == ""
    stuck = describe_unused(("wifi", "motion"), ("wifi",))
    assert stuck == "estimated without wifi, motion: wifi unchanged for too long"


def test_live_correction_equals_that_of_an_episode(corrections):
    rng = np.random.default_rng(0)
    columns = {"wifi": rng.uniform(0, 2, 120), "motion": rng.uniform(0, 1, 120)}
    columns["motion"][40:44] = np.nan
    columns["wifi"][80] = np.nan
    co2_people = rng.uniform(0, 3, (1, 120))
    clock = Clock(NINE - 60 + 5.0 * np.arange(120), np.zeros(120))
    expected, applied = corrections.correct(co2_people, clock, *corrections.features(columns, 120))
    assert set(applied[0]) == {0, 1, 2}
    live = LiveSensors(corrections, 0.9)
    for k in range(120):
        live.append({name: values[k] for name, values in columns.items()})
        now = Clock(clock.minute[k : k + 1], clock.weekend[k : k + 1])
        people, interval = live.correct([co2_people[0, k]], (-1.0, -1.0), now)
        assert people == pytest.approx([expected[0, k]], abs=1e-9)
        if not applied[0, k]:
            assert interval == (-1.0, -1.0)
            assert live.upper_end(0.5) is None
        else:
            _, high = corrections.steps[0].intervals[0].around(expected[0, k : k + 1], 0.5)
            assert live.upper_end(0.5) == pytest.approx(high[0])
            low, high = corrections.steps[0].intervals[0].around(expected[0, k : k + 1], 0.9)
            assert interval == pytest.approx((low[0], high[0]))
