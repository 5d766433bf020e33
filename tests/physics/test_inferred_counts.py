"""People inferred from CO2."""

import numpy as np
import pytest
from physics.simulated_rooms import CLOSED, simulated_room, with_counts, without_counts

from occupair.physics.inferred_counts import infer_counts
from occupair.physics.room_properties import room_properties

ROOM = room_properties(volume=200, capacity=20)


@pytest.fixture(scope="module")
def readings():
    return simulated_room(4, last=24)


@pytest.fixture(scope="module")
def inferred(readings):
    return infer_counts(without_counts(readings), ROOM, CLOSED)


def test_every_reading_has_inferred_people(readings, inferred):
    assert inferred.people.shape == (len(readings),)
    assert np.isfinite(inferred.people).all()
    assert inferred.n_counts == 0


def test_nobody_is_inferred_in_closed_hours(readings, inferred):
    closed = readings.index.hour < 5
    assert (inferred.people[closed] == 0).all()
    assert (readings["co2"][closed] > 600).any()  # CO2 of the day before


def test_few_people_are_nobody(inferred):
    some = inferred.people[inferred.people > 0]
    assert some.min() >= 0.5 + 0.02 * 20
    assert (inferred.people == 0).mean() > 0.3


@pytest.mark.parametrize("capacity", [5, 20])
def test_people_are_limited_by_capacity(readings, capacity):
    room = room_properties(volume=600, capacity=capacity)
    people = infer_counts(without_counts(readings), room, CLOSED).people
    assert people.max() == pytest.approx(1.15 * capacity)


@pytest.mark.parametrize("factor", [0.01, 0.25, 0.7])
def test_unit_of_ventilation_does_not_matter(readings, inferred, factor):
    scaled = readings.assign(ventilation=readings["ventilation"] * factor)
    found = infer_counts(without_counts(scaled), ROOM, CLOSED)
    np.testing.assert_allclose(found.people, inferred.people, atol=1e-6)


@pytest.mark.parametrize("every", [2, 3])
def test_longer_intervals_give_about_the_same_people(readings, inferred, every):
    fewer = infer_counts(without_counts(readings.iloc[::every]), ROOM, CLOSED)
    assert fewer.grid.step == 5 * every
    assert np.corrcoef(fewer.people, inferred.people[::every])[0, 1] > 0.98
    assert fewer.people.mean() == pytest.approx(inferred.people.mean(), rel=0.15)


def test_head_counts_are_seen_one_step_later_by_the_filter(readings):
    last_step = 288 - 1
    assert infer_counts(with_counts(readings, [140, 150]), ROOM, CLOSED).n_counts == 2
    assert infer_counts(with_counts(readings, [140, last_step]), ROOM, CLOSED).n_counts == 1


def test_inferred_people_pass_near_head_counts(readings, inferred):
    at = np.array([288 * day + 132 for day in range(4)])
    wrong = readings.assign(occupancy=np.round(inferred.people + 4))
    found = infer_counts(with_counts(wrong, at), ROOM, CLOSED)
    assert (np.abs(found.people[at] - wrong["occupancy"].to_numpy()[at]) < 2.5).all()


def test_same_readings_give_the_same_people(readings, inferred):
    again = infer_counts(without_counts(readings), ROOM, CLOSED)
    np.testing.assert_array_equal(again.people, inferred.people)


def test_gap_does_not_spread_to_other_days(readings):
    gap = readings.drop(readings.index[288 + 100 : 288 + 180])
    people = infer_counts(without_counts(gap), ROOM, CLOSED).people
    assert people.shape == (len(gap),)
    truth = gap["occupancy"].to_numpy()
    assert np.abs(people[:288] - truth[:288]).mean() < 1.5
    assert np.abs(people[-288:] - truth[-288:]).mean() < 1.5
