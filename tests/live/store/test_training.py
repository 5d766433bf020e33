"""Readings to train on: those that are kept on their grid, each with the label near it."""

import numpy as np
import pandas as pd
import pytest
from live.store_parts import at, told

from occupair.errors import InputError
from occupair.live.messages import Label


def test_training_readings_by_hand(store):
    # CO2 each minute from 08:00 to 08:19 but for a failed read at 08:03; in Copenhagen that is 09:00 on
    co2 = {k: 500.0 + k for k in range(20)} | {3: 0.0}
    store.write([told(minute=k, co2=value) for k, value in co2.items()], [])
    store.write([told("other", minute=k, co2=900.0) for k in range(20)], [])
    store.write([told(minute=0, ventilation=0.2), told(minute=4.5, ventilation=0.8)], [])
    for minute, people in [(6, 3), (9, 5), (18.5, 0)]:
        store.add_label(Label("lab", at(minute), people, at(minute)))
    rows = store.training_readings("lab", "Europe/Copenhagen", hold=2.0)
    assert str(rows.index.tz) == "Europe/Copenhagen"
    assert rows.index.name == "time"
    assert rows.index[0] == pd.Timestamp("2024-01-08 09:00", tz="Europe/Copenhagen")
    assert list(rows.index) == [at(k) for k in range(20)]
    assert rows.attrs["interval"] == 1.0
    assert list(rows["co2"]) == [500, 501, 502, 502, *range(504, 520)]  # a failed read is bridged
    assert list(rows["ventilation"]) == [0.2] * 5 + [0.8] * 15  # held until it is told again
    nan = np.nan  # 08:07 is 1 min after one label and 2 before the next; 08:08 the other way round
    expected = [nan] * 4 + [3, 3, 3, 3, 5, 5, 5, 5] + [nan] * 5 + [0, 0, 0]
    np.testing.assert_array_equal(rows["occupancy"], expected)


def test_training_readings_between_two_labels_as_near(store):
    store.write([told(minute=k, co2=500.0) for k in range(5)], [])
    for minute, people in [(0, 1), (4, 2)]:
        store.add_label(Label("lab", at(minute), people, at(minute)))
    assert list(store.training_readings("lab", "UTC")["occupancy"]) == [1, 1, 1, 2, 2]
    exact = store.training_readings("lab", "UTC", hold=0.0, interval=2.0)
    np.testing.assert_array_equal(exact["occupancy"], [1, np.nan, 2])


def test_training_readings_without_ventilation_and_labels(store):
    store.write([told(minute=k, co2=500.0) for k in range(5)], [])
    rows = store.training_readings("lab", "UTC")
    assert list(rows.columns) == ["co2", "occupancy"]
    assert rows["occupancy"].isna().all()


def test_training_readings_where_ventilation_is_not_known(store):
    store.write([told(minute=k, co2=500.0) for k in range(5)], [])
    store.write([told(minute=2, ventilation=1.0)], [])
    store.write([told(minute=k, co2=500.0) for k in range(1430, 1445)], [])
    rows = store.training_readings("lab", "UTC", interval=1.0)  # a value holds for 1440 min
    assert list(rows.index) == [at(k) for k in [2, 3, 4, *range(1430, 1443)]]


def test_training_readings_keep_gaps_and_days(store):
    night = 15 * 60 + 55  # 23:55 in UTC
    store.write([told(minute=night + k, co2=500.0 + k) for k in [*range(0, 60, 5), *range(90, 120, 5)]], [])
    rows = store.training_readings("lab", "UTC", interval=5.0)
    assert list(rows.index) == [at(night + k) for k in [*range(0, 60, 5), *range(90, 120, 5)]]


UNTRAINABLE = [
    ({"timezone": "Mars"}, "timezone must be one such as Europe/Copenhagen, got 'Mars'"),
    ({"hold": -1.0}, "hold must be 0 min or more, got -1.0"),
    ({"hold": float("nan")}, "hold must be 0 min or more, got nan"),
    ({"interval": 0.0}, "interval must be from 1/60 to 1440 min, got 0.0"),
    ({}, "room 'lab' in the store: has no CO2 reading"),
]


def test_training_readings_that_cannot_be(store):
    store.write([told(minute=k, co2=0.0) for k in range(5)], [])
    for options, said in UNTRAINABLE:
        with pytest.raises(InputError, match=said):
            store.training_readings("lab", **{"timezone": "UTC", **options})
