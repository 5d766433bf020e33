"""Optional sensors in the store: written, merged, read back and used for training."""

from dataclasses import replace

import numpy as np
from live.store_helpers import at, reading

from occupair.live.messages import Label


def with_sensors(one, **sensors):
    return replace(one, sensors=sensors)


def test_sensors_are_read_back(store):
    one = with_sensors(reading(co2=500.0), humidity=41.5, motion=1.0)
    store.write([one], [])
    assert store.newest_reading("lab") == one
    assert store.readings("lab", None, None) == [one]


def test_known_values_are_kept_and_unknown_ones_filled_in(store):
    store.write([with_sensors(reading(co2=500.0), humidity=41.5)], [])
    store.write([with_sensors(reading(co2=900.0), humidity=10.0, wifi=3.0)], [])
    found = store.newest_reading("lab")
    assert (found.co2, dict(found.sensors)) == (500.0, {"humidity": 41.5, "wifi": 3.0})


def test_training_readings_hold_sensors_for_an_hour(store):
    readings = [reading(minute=5 * k, co2=500.0) for k in range(20)]
    readings.append(with_sensors(reading(minute=11.0), humidity=41.5))
    store.write(readings, [])
    store.add_label(Label("lab", at(15), 3, at(15)))
    rows = store.training_readings("lab", "UTC")
    assert len(rows) == 20
    known = rows["humidity"].notna().to_numpy()
    assert np.flatnonzero(known).tolist() == list(range(3, 15))  # minutes 15 to 70
    assert set(rows["humidity"][known]) == {41.5}
    assert "wifi" not in rows.columns
