"""Training data from the store: readings on the grid, with the nearest label."""

import numpy as np
import pandas as pd
import pytest
from live.store_helpers import at, reading

from occupair.errors import InputError
from occupair.live.messages import Label


def test_training_readings_of_a_worked_example(store):
    # CO2 every minute from 08:00 to 08:19 except for a failed read at 08:03; in Copenhagen from 09:00 on
    co2 = {k: 500.0 + k for k in range(20)} | {3: 0.0}
    store.write([reading(minute=k, co2=value) for k, value in co2.items()], [])
    store.write([reading("other", minute=k, co2=900.0) for k in range(20)], [])
    store.write([reading(minute=0, ventilation=0.2), reading(minute=4.5, ventilation=0.8)], [])
    for minute, people in [(6, 3), (9, 5), (18.5, 0)]:
        store.add_label(Label("lab", at(minute), people, at(minute)))
    rows = store.training_readings("lab", "Europe/Copenhagen", hold=2.0)
    assert str(rows.index.tz) == "Europe/Copenhagen"
    assert rows.index.name == "time"
    assert rows.index[0] == pd.Timestamp("2024-01-08 09:00", tz="Europe/Copenhagen")
    assert list(rows.index) == [at(k) for k in range(20)]
    assert rows.attrs["interval"] == 1.0
    assert list(rows["co2"]) == [500, 501, 502, 502, *range(504, 520)]  # a failed read is bridged
    assert list(rows["ventilation"]) == [0.2] * 5 + [0.8] * 15  # held until the next value
    nan = np.nan  # 08:07 is 1 min after one label and 2 before the next; 08:08 the other way round
    expected = [nan] * 4 + [3, 3, 3, 3, 5, 5, 5, 5] + [nan] * 5 + [0, 0, 0]
    np.testing.assert_array_equal(rows["occupancy"], expected)


def test_earlier_of_two_equally_near_labels_counts(store):
    store.write([reading(minute=k, co2=500.0) for k in range(5)], [])
    for minute, people in [(0, 1), (4, 2)]:
        store.add_label(Label("lab", at(minute), people, at(minute)))
    assert list(store.training_readings("lab", "UTC")["occupancy"]) == [1, 1, 1, 2, 2]
    exact = store.training_readings("lab", "UTC", hold=0.0, interval=2.0)
    np.testing.assert_array_equal(exact["occupancy"], [1, np.nan, 2])


def test_confirmed_estimates_are_not_trained_on(store):
    store.write([reading(minute=k, co2=500.0) for k in range(4)], [])
    for minute, source in enumerate(["typed", "confirmed", "unknown", "from a modified backup"]):
        store.add_label(Label("lab", at(minute), 3, at(minute), source, 3))
    rows = store.training_readings("lab", "UTC", hold=0.0)
    np.testing.assert_array_equal(rows["occupancy"], [3, np.nan, 3, 3])
    assert [label.time for label in store.training_labels("lab")] == [at(0), at(2), at(3)]


def test_training_readings_without_ventilation_and_labels(store):
    store.write([reading(minute=k, co2=500.0) for k in range(5)], [])
    rows = store.training_readings("lab", "UTC")
    assert list(rows.columns) == ["co2", "occupancy"]
    assert rows["occupancy"].isna().all()


def test_readings_with_unknown_ventilation_are_dropped(store):
    store.write([reading(minute=k, co2=500.0) for k in range(5)], [])
    store.write([reading(minute=2, ventilation=1.0)], [])
    store.write([reading(minute=k, co2=500.0) for k in range(1430, 1445)], [])
    rows = store.training_readings("lab", "UTC", interval=1.0)  # a value is held for 1440 min
    assert list(rows.index) == [at(k) for k in [2, 3, 4, *range(1430, 1443)]]


def test_gaps_stay_gaps_across_midnight(store):
    night = 15 * 60 + 55  # 23:55 in UTC
    store.write(
        [reading(minute=night + k, co2=500.0 + k) for k in [*range(0, 60, 5), *range(90, 120, 5)]], []
    )
    rows = store.training_readings("lab", "UTC", interval=5.0)
    assert list(rows.index) == [at(night + k) for k in [*range(0, 60, 5), *range(90, 120, 5)]]


def test_readings_of_a_slow_sensor_are_held_on_the_grid_of_a_minute_model(store):
    store.write([reading(minute=k, co2=500.0 + k) for k in (0, 15, 30, 75, 90, 150, 165)], [])  # two lost
    rows = store.training_readings("lab", "UTC", interval=1.0)
    assert list(rows.index) == [at(k) for k in [*range(91), *range(150, 166)]]
    assert rows["co2"].to_list()[30:76] == [530.0] * 45 + [575.0]


INVALID = [
    ({"timezone": "Mars"}, "timezone must be a time zone name such as Europe/Copenhagen, got 'Mars'"),
    ({"hold": -1.0}, "hold must be 0 min or more, got -1.0"),
    ({"hold": float("nan")}, "hold must be 0 min or more, got nan"),
    ({"interval": 0.0}, "interval must be from 1/60 to 1440 min, got 0.0"),
    ({}, "room 'lab' in the store: has no CO2 reading"),
]


def test_invalid_training_options_are_rejected(store):
    store.write([reading(minute=k, co2=0.0) for k in range(5)], [])
    for options, message in INVALID:
        with pytest.raises(InputError, match=message):
            store.training_readings("lab", **{"timezone": "UTC", **options})
