"""Stuck optional sensors: the rule found in training, and the readings at which a sensor is stuck."""

import numpy as np
import pytest

from occupair.datasets.robod import read_robod
from occupair.folds import split_days
from occupair.live.rooms.room import READINGS_KEPT
from occupair.readings.other_sensors import SENSOR_HOLD, sensor_columns
from occupair.room.stuck_sensors import LONGEST, NO_RUN, SHORTEST, Run, StuckRule, last_run

HOUR = 60.0


def hours(*runs):
    """Hourly readings: runs of (value, number of readings)."""
    return np.repeat(*(np.array(part) for part in zip(*runs, strict=True))).astype(float)


def test_limit_is_twice_the_longest_run():
    values = hours((0, 9), (1, 1), (0, 9), (3, 6), (2, 1), (0, 9))  # 3 for 5 h; 0 is the resting level
    assert StuckRule.fit("wifi", values, HOUR) == StuckRule(600.0, (0.0,))


def test_limit_is_bounded():
    assert StuckRule.fit("wifi", hours((0, 9), (3, 2), (0, 9)), HOUR).limit == SHORTEST
    assert StuckRule.fit("wifi", hours((0, 19), (3, 15), (0, 19)), HOUR).limit == LONGEST


def test_lowest_and_most_frequent_value_are_resting_levels():
    values = hours((1, 14), (9, 1), (1, 14), (0, 2), (5, 1))
    assert StuckRule.fit("wifi", values, HOUR).rest == (0.0, 1.0)
    assert StuckRule.fit("motion", hours((0, 14), (1, 3)), HOUR).rest == (0.0,)


def test_rare_value_is_no_resting_level():
    lowest = hours((1, 14), (9, 2), (1, 14), (0, 1), (5, 2))  # 0 in 1 of 33 readings
    assert StuckRule.fit("wifi", lowest, HOUR).rest == (1.0,)
    assert StuckRule.fit("sound", np.arange(100) / 7, HOUR).rest == ()


@pytest.mark.parametrize("name", ["temperature", "humidity"])
def test_temperature_and_humidity_have_no_resting_level(name):
    assert StuckRule.fit(name, hours((40, 14), (41, 3), (40, 2)), HOUR) == StuckRule(LONGEST, ())


def test_fault_in_training_changes_neither_limit_nor_resting_levels():
    works, stuck = hours((0, 9), (3, 2), (0, 9), (5, 1)), hours((-7, 200))
    expected = StuckRule.fit("power", works, HOUR)
    assert StuckRule.fit("power", np.concatenate([works, stuck, works]), HOUR) == expected
    gappy = np.concatenate([works, hours((7, 19), (np.nan, 2)), hours((7, 19)), works])
    assert StuckRule.fit("power", gappy, HOUR) == expected  # 38 readings of 7 in a row


@pytest.mark.parametrize("values", [[], [np.nan, np.nan]])
def test_sensor_without_readings_has_the_shortest_limit(values):
    assert StuckRule.fit("wifi", np.array(values), HOUR) == StuckRule(SHORTEST, ())


def test_sensor_is_stuck_once_a_run_exceeds_the_limit():
    rule = StuckRule(360.0, (0.0,))
    values = hours((3, 1), (17, 9), (np.nan, 1), (17, 2), (4, 1), (0, 30))
    stuck = rule.stuck_readings(values, HOUR, NO_RUN)
    # hours 1 to 7 have the value for up to 6 h; the missing reading ends neither the run nor counts
    assert np.flatnonzero(stuck).tolist() == [8, 9, 11, 12]


def test_run_before_counts():
    rule = StuckRule(360.0)
    assert rule.stuck_readings(hours((17, 4), (3, 1)), HOUR, Run(17.0, 5)).tolist() == [0, 0, 1, 1, 0]
    assert not rule.stuck_readings(hours((17, 4), (3, 1)), HOUR, Run(16.0, 5)).any()


def test_stuck_readings_of_training_include_the_start_of_the_run():
    rule = StuckRule(360.0, (0.0,))
    values = hours((3, 1), (17, 5), (np.nan, 1), (17, 4), (4, 7), (0, 30))
    stuck = rule.stuck_in_training(values, HOUR)
    assert np.flatnonzero(stuck).tolist() == [1, 2, 3, 4, 5, 7, 8, 9, 10]


def test_one_reading_at_a_time_equals_all_at_once():
    rng = np.random.default_rng(0)
    rule = StuckRule(25.0, (2.0,))
    values = np.repeat(rng.integers(0, 4, 300), rng.integers(1, 12, 300)).astype(float)
    values[rng.uniform(size=values.size) < 0.1] = np.nan
    run, found = Run(1.0, 4), []
    for value in values:
        run = run.then(value)
        found.append(value == value and rule.is_stuck(run, 5.0))
    expected = rule.stuck_readings(values, 5.0, Run(1.0, 4))
    assert 0 < expected.sum() < values.size / 2
    assert found == expected.tolist()
    for split in (0, 1, 700, values.size):
        halfway = last_run(values[:split], Run(1.0, 4))
        assert last_run(values[split:], halfway) == run
        np.testing.assert_array_equal(rule.stuck_readings(values[split:], 5.0, halfway), expected[split:])


def test_the_day_before_is_long_enough_for_every_limit():
    """The service continues runs from the day before midnight, of 23 h when the clock changes."""
    assert LONGEST + SENSOR_HOLD + 60 <= 23 * 60 <= READINGS_KEPT


OUTAGE = slice("2021-12-09 08:00", "2021-12-13 08:35")
"""No Wi-Fi clients in either room, with up to 7 people inside: a fault of the counter."""


@pytest.mark.parametrize("room", [1, 3])
def test_only_the_fault_in_public_rooms_is_found(published, room):
    readings = read_robod(published("robod"), room=room, whole_days=False, sensors=True)
    found = set()
    for train, held_out in split_days(readings):
        for name, values in sensor_columns(train).items():
            rule = StuckRule.fit(name, values, 5.0)
            for part in (train, held_out):
                stuck = part[name][rule.stuck_readings(part[name].to_numpy(), 5.0, NO_RUN)]
                found |= {(name, value) for value in stuck}
                assert stuck.size == stuck.loc[OUTAGE].size
    assert found == {("wifi", 0.0)}
