"""Comparison with the time-of-day profile: profiles by hand, and rooms with a known result."""

import numpy as np
import pytest

import occupair as oc
from occupair.room.inputs import Clock
from occupair.room.profile_comparison import ProfileComparison, compare_with_profile, held_out_profiles


def clock(*minutes, weekend=0.0):
    return Clock(np.array(minutes, dtype=float), np.full(len(minutes), weekend))


def test_profile_is_mean_of_same_half_hour_on_other_days():
    clocks = [clock(0, 29, 30, 59.5, 1439), clock(10, 35, 45), clock(0, 30, 1410)]
    people = [np.array([99.0] * 5), np.array([1.0, 2.0, 6.0]), np.array([3.0, 7.0, 4.0])]
    # 0:00 to 0:30: 1 and 3; 0:30 to 1:00: 2, 6 and 7; 23:30 on: 4.
    assert held_out_profiles(clocks, people)[0].tolist() == [2.0, 2.0, 5.0, 5.0, 4.0]


def test_half_hour_without_other_days_is_zero():
    people = [np.array([5.0, 5.0]), np.array([2.0])]
    assert held_out_profiles([clock(0, 600), clock(0)], people)[0].tolist() == [2.0, 0.0]


def test_weekends_use_other_weekends_if_available():
    clocks = [clock(0), clock(0, weekend=1.0), clock(0), clock(0, weekend=1.0)]
    people = [np.array([float(count)]) for count in (10, 1, 12, 3)]
    assert [held_out_profiles(clocks, people)[k][0] for k in range(4)] == [12.0, 3.0, 10.0, 1.0]
    assert held_out_profiles(clocks[:3], people[:3])[1][0] == 11.0  # no other weekend: all others


def test_errors_are_rmse_on_held_out_days():
    clocks = [clock(0, 30)] * 2
    people = [np.array([0.0, 4.0]), np.array([2.0, 4.0])]
    estimated = [np.array([0.0, 4.0]), np.array([2.0, 2.0])]
    # off by 0, 0, 0 and 2; the profile by 2, 0, 2 and 0
    comparison = compare_with_profile(clocks, people, estimated)
    assert (comparison.error, comparison.profile_error) == (1.0, pytest.approx(np.sqrt(2)))


@pytest.mark.parametrize(("error", "helps"), [(1.0, True), (1.89, True), (1.9, False), (3.0, False)])
def test_co2_helps_from_five_percent_improvement(error, helps):
    assert ProfileComparison(error, 2.0, 10).co2_helps == helps


def test_comparison_as_text():
    assert str(ProfileComparison(1.0, 2.0, 10)) == (
        "CO2 improves on the time-of-day profile: RMSE on held-out days is 1.00 people with CO2, "
        "2.00 with the profile alone"
    )
    assert str(ProfileComparison(2.5, 2.0, 10)) == (
        "CO2 adds almost nothing to the time-of-day profile of this room: RMSE on held-out days is 2.50 "
        "people with CO2, 2.00 with the profile alone"
    )


@pytest.mark.parametrize("seed", [0, 1])
def test_office_with_shuffled_air_gives_warning(seed):
    office = oc.simulate_office(days=7, seed=seed).iloc[::15]
    model = oc.OccupancyEstimator(n_hidden=10, random_state=0).fit(office)  # a warning would be an error
    assert model.comparison_.co2_helps
    assert model.training_error_ == pytest.approx(model.comparison_.error)
    air = ["co2", "ventilation"]
    shuffled = office.copy()
    shuffled[air] = np.roll(office[air].to_numpy(), 96, axis=0)
    with pytest.warns(UserWarning, match="^CO2 adds almost nothing to the time-of-day profile") as caught:
        model.fit(shuffled)
    assert caught[0].filename == __file__
    assert not model.comparison_.co2_helps


def test_profile_matches_pandas():
    office = oc.simulate_office(days=4, seed=2).iloc[::15]
    model = oc.OccupancyEstimator(n_hidden=5, random_state=0).fit(office)
    slot, day = office.index.floor("30min").strftime("%H:%M"), office.index.date
    off = []
    for date in np.unique(day):
        own, others = office["occupancy"][day == date], office["occupancy"][day != date]
        off.append(own - others.groupby(slot[day != date]).mean().reindex(slot[day == date]).to_numpy())
    assert model.comparison_.profile_error == pytest.approx(np.sqrt(np.mean(np.concatenate(off) ** 2)))


def test_single_day_has_no_comparison(slow_office):
    assert oc.OccupancyEstimator(n_hidden=5, random_state=0).fit(slow_office.iloc[:288]).comparison_ is None


@pytest.mark.parametrize(("days", "is_warning"), [(2, False), (4, False), (5, True), (30, True)])
def test_no_warning_with_few_days(days, is_warning):
    assert ProfileComparison(2.0, 2.0, days).is_warning == is_warning
    assert not ProfileComparison(1.0, 2.0, days).is_warning


def test_sparse_comparison_uses_times_with_two_head_counts():
    clocks = [clock(0, 600), clock(0, 900)]
    people = [np.array([0.0, 4.0]), np.array([2.0, 4.0])]
    estimated = [np.array([1.0, 0.0]), np.array([2.0, 0.0])]
    weights = [np.ones(2), np.ones(2)]
    # At midnight off by 1 and 0, the profile by 2 and 2; 10:00 and 15:00 are not compared.
    comparison = compare_with_profile(clocks, people, estimated, weights, effective_days=1.7)
    assert (comparison.error, comparison.profile_error, comparison.days) == (
        pytest.approx(np.sqrt(0.5)),
        2.0,
        1,
    )
    assert compare_with_profile(clocks, people, estimated, weights).days == 2


def test_weighted_profile_and_errors():
    clocks = [clock(0), clock(0, 1)]
    people = [np.array([3.0]), np.array([0.0, 4.0])]
    weights = [np.array([0.5]), np.array([0.25, 0.75])]
    # The mean of 0 and 4 by 1 : 3 is 3; that of the other is 3.
    assert held_out_profiles(clocks, people, weights)[0].tolist() == [3.0]
    comparison = compare_with_profile(clocks, people, [np.array([3.0]), np.array([0.0, 2.0])], weights)
    assert comparison.profile_error == pytest.approx(np.sqrt((0.25 * 9 + 0.75 * 1) / 1.5))
    assert comparison.error == pytest.approx(np.sqrt(0.75 * 4 / 1.5))


def test_no_comparison_without_shared_times():
    people = [np.array([5.0]), np.array([2.0])]
    assert np.isnan(held_out_profiles([clock(0), clock(600)], people, [np.ones(1)] * 2)[0]).all()
    assert compare_with_profile([clock(0), clock(600)], people, people, [np.ones(1)] * 2) is None
