"""Corrections by optional sensors: clamped, clipped, only in open hours, with a fallback for every sensor."""

import numpy as np
import pytest

from occupair.room.inputs import Clock
from occupair.room.open_hours import OpenHours
from occupair.room.prediction_intervals import PredictionIntervals
from occupair.room.sensor_corrections import Correction, SensorCorrections, describe_unused

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


def test_unused_sensors_are_named(corrections):
    usable = np.array([True, False]).reshape(2, 1, 1)
    assert corrections.unused(usable) == ("motion",)
    assert corrections.unused(~usable) == ("wifi", "motion")
    assert describe_unused(("wifi", "motion")) == "estimated without wifi, motion: no recent reading"
    assert describe_unused(()) == ""
