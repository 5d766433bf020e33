"""People inferred between the head counts of a room of unknown size."""

import numpy as np
import pytest

import occupair as oc
from occupair.inferred_training import infer_between_counts
from occupair.metrics import rmse
from occupair.physics.room_properties import GUESSED_SPREAD, guessed_properties
from occupair.readings.head_counts import INFERRED, check_labelled


@pytest.fixture(scope="module")
def office():
    return oc.simulate_office(days=6, seed=4).iloc[::5]


@pytest.fixture(scope="module")
def counted(office):
    """Ten head counts a day on five days."""
    random = np.random.default_rng(0)
    places = [day * 288 + random.choice(np.arange(96, 230), 10, replace=False) for day in range(5)]
    known = np.isin(np.arange(len(office)), np.concatenate(places))
    return check_labelled(office.assign(occupancy=office["occupancy"].where(known)))


def test_inferred_counts_are_marked_and_head_counts_stay(office, counted):
    found = infer_between_counts(counted, None)
    known = counted["occupancy"].notna()
    assert (found[INFERRED] == ~known).all()
    assert found["occupancy"][known].equals(counted["occupancy"][known])
    last_day = slice(5 * 288, None)
    assert rmse(office["occupancy"].iloc[last_day], found["occupancy"].iloc[last_day]) < 4


def test_volume_follows_from_head_counts(office, counted):
    twice = counted.assign(occupancy=2 * counted["occupancy"])  # as in a room of twice the volume
    found = [infer_between_counts(one, None)["occupancy"].iloc[5 * 288 :].mean() for one in (counted, twice)]
    assert found[1] == pytest.approx(2 * found[0], rel=0.1)


def test_capacity_follows_from_co2_if_the_fullest_hours_were_not_counted(office):
    """Head counts of up to 5 people, in an office that has over 20 at its fullest."""
    few = office["occupancy"].where((office["occupancy"] <= 5) & (office.index.minute == 0))
    assert office["occupancy"].max() > 20
    found = infer_between_counts(check_labelled(office.assign(occupancy=few)), None)
    assert rmse(office["occupancy"], found["occupancy"]) < 0.5 * office["occupancy"].std()


def test_complete_head_counts_stay_as_they_are(office):
    readings = check_labelled(office)
    assert infer_between_counts(readings, None) is readings


def test_nothing_is_inferred_if_nobody_was_counted(office, counted):
    empty = counted.assign(occupancy=counted["occupancy"] * 0)
    assert infer_between_counts(empty, None) is empty


def test_people_counted_at_night_prevail_over_the_usual_closed_hours(counted):
    night = counted.copy()
    night.iloc[12, night.columns.get_loc("occupancy")] = 5.0
    night.iloc[12, night.columns.get_loc("occupancy_weight")] = 1.0
    found = infer_between_counts(night, None)
    assert found["occupancy"].iloc[12] == 5.0
    assert infer_between_counts(night, "00:00-05:00")["occupancy"].iloc[13] == 0.0


def test_accuracy_is_that_at_head_counts(counted):
    model = oc.OccupancyEstimator(random_state=0, verbose=False).fit(counted)
    assert model.air_ is None
    assert model.comparison_ is not None
    assert model.expectation_.errors[0.0] == pytest.approx(model.training_error_, rel=0.2)


def test_capacity_is_larger_the_fewer_days_were_counted():
    few, many = (guessed_properties(20, n_days) for n_days in (1, 100))
    assert few.capacity > 1.2 * many.capacity
    assert many.capacity == pytest.approx(25, rel=0.02)
    assert few.size_spread == GUESSED_SPREAD
