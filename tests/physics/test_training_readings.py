"""Readings to train on, with inferred counts where nobody counted."""

import numpy as np
import pandas as pd
import pytest
from physics.simulated_rooms import CLOSED, simulated_room, with_counts, without_counts

from occupair.physics.inferred_counts import infer_counts
from occupair.physics.room_properties import room_properties
from occupair.physics.training_readings import labelled_days, with_inferred_counts
from occupair.readings.head_counts import check_labelled

ROOM = room_properties(volume=200, capacity=20)


@pytest.fixture(scope="module")
def readings():
    return simulated_room(4)


def test_without_head_counts_every_count_is_inferred(readings):
    given = without_counts(readings)
    found, air = with_inferred_counts(given, ROOM, CLOSED)
    assert list(found.columns) == ["co2", "ventilation", "occupancy"]
    expected = infer_counts(given, ROOM, CLOSED).people
    np.testing.assert_allclose(found["occupancy"], expected, atol=0.0005)
    assert (air.inferred_share, air.n_counts) == (1.0, 0)


def test_head_counts_stand_for_themselves(readings):
    counted = [100, 101, 700]
    sparse = with_counts(readings.assign(occupancy=readings["occupancy"] + 30), counted)
    found, _ = with_inferred_counts(sparse, ROOM, CLOSED)
    assert found["occupancy"].iloc[counted].tolist() == (readings["occupancy"].iloc[counted] + 30).tolist()
    assert np.delete(found["occupancy"].to_numpy(), counted).max() <= 1.15 * 20 + 0.001
    assert found["occupancy_weight"].iloc[counted].tolist() == [1, 1, 1]


def test_weight_zero_is_no_head_count(readings):
    weights = np.zeros(len(readings))
    weights[100], weights[700] = 1.0, 0.4
    sparse = check_labelled(readings.assign(occupancy=77, occupancy_weight=weights))
    found, air = with_inferred_counts(sparse, ROOM, CLOSED)
    assert np.flatnonzero(found["occupancy"] == 77).tolist() == [100, 700]
    assert found["occupancy_weight"].iloc[[100, 700]].tolist() == [1.0, 0.4]
    assert air.n_counts == 2


def test_inferred_weight_falls_with_labelled_days(readings):
    weights, shares = [], []
    for n_days in (0.5, 1, 3):
        n_counts = round(288 * n_days)
        found, air = with_inferred_counts(with_counts(readings, np.arange(n_counts)), ROOM, CLOSED)
        (inferred,) = found["occupancy_weight"].iloc[n_counts:].unique()
        assert inferred == pytest.approx(2 / (2 + n_days))
        rest = inferred * (4 - n_days)
        assert air.inferred_share == pytest.approx(rest / (rest + n_days))
        weights.append(inferred)
        shares.append(air.inferred_share)
    assert weights == sorted(weights, reverse=True)
    assert shares == sorted(shares, reverse=True)


def test_fully_labelled_readings_stay_as_they_are(readings):
    given = check_labelled(readings)
    found, air = with_inferred_counts(given, ROOM, CLOSED)
    pd.testing.assert_frame_equal(found, given)
    assert (air.inferred_share, air.spread) == (0.0, 0.0)
    assert air.is_calibrated


def test_labelled_days_are_the_sum_of_labelled_shares():
    times = pd.date_range("2024-01-08", periods=3 * 24, freq="h")
    known = np.zeros(72, dtype=bool)
    known[:24], known[30:36] = True, True
    readings = pd.DataFrame({"co2": 400.0}, index=times)
    assert labelled_days(known, readings) == pytest.approx(1.25)
    without_morning = readings.iloc[36:]  # the second day has 12 readings
    assert labelled_days(np.arange(36) < 6, without_morning) == pytest.approx(0.5)


def test_only_recent_days_without_head_counts_are_used():
    readings = simulated_room(32).iloc[::3]  # every 15 min
    by_day = readings.index.normalize()
    found, _ = with_inferred_counts(without_counts(readings), ROOM, CLOSED)
    assert found.index.normalize().unique().tolist() == by_day.unique()[4:].tolist()
    counted = with_counts(readings, [50])  # on the first day
    found, _ = with_inferred_counts(counted, ROOM, CLOSED)
    assert found.index.normalize().unique().tolist() == by_day.unique()[[0, *range(4, 32)]].tolist()


def test_closed_hours_have_nobody_and_attributes_are_kept(readings):
    given = without_counts(readings)
    given.attrs["ventilation_full"] = 100.0
    found, _ = with_inferred_counts(given, ROOM, CLOSED)
    assert (found["occupancy"][found.index.hour < 5] == 0).all()
    assert found.attrs == {"ventilation_full": 100.0}
    sparse = with_counts(readings, [100])
    sparse.attrs["ventilation_full"] = 100.0
    assert with_inferred_counts(sparse, ROOM, CLOSED)[0].attrs == {"ventilation_full": 100.0}
