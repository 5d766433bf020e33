"""The expected accuracy of a room in words."""

import math

from occupair.room.expectation import Expectation
from occupair.room.sensor_training import SensorTrial


def expectation(**changes):
    values = {
        "errors": {0: 1.234, 20: 0.9},
        "coverage": 0.912,
        "occupied_coverage": 0.848,
        "weights": {"network": 0.6, "balance": 0.25, "profile": 0.15},
        "advice": "head counts on more days",
    }
    return str(Expectation(**values | changes)).splitlines()


def test_expectation_in_words():
    assert expectation(hindsight_error=0.756) == [
        "Expected error (RMSE on held-out days) [people]: 1.23 live, 0.90 after 20 min, 0.76 in hindsight.",
        "The 90 % interval covers 91 % of them, 85 % of those with people.",
        "Weights: network 60 %, mass balance 25 %, time of day 15 %.",
        "What would help most: head counts on more days.",
    ]


def test_expectation_without_occupied_or_held_out_readings():
    assert expectation()[0].endswith("1.23 live, 0.90 after 20 min.")
    assert expectation(occupied_coverage=math.nan)[1] == "The 90 % interval covers 91 % of them."
    assert [line.split()[0] for line in expectation(coverage=math.nan)] == ["Expected", "Weights:", "What"]


def test_trials_of_sensors_in_words():
    assert [str(SensorTrial("humidity", change, kept)) for change, kept in TRIALS] == [
        "humidity: too few readings or labelled days, not used",
        "humidity: -12.3 %, kept",
        "humidity: no gain, not used",
        "humidity: -1.0 %, no clear gain, not used",
    ]


TRIALS = [(None, False), (-0.123, True), (0.02, False), (-0.01, False)]
