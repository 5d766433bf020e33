"""Time-of-day profile: means worked by hand, weekends, smoothing and weights."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from occupair.room.inputs import Clock
from occupair.room.time_profile import N_STEPS, STEP, TimeProfile, _smooth, mean_by_bin, step_of_day

PRIOR = 0.05  # weight of the mean of all head counts


def clock(minutes, weekend=0.0):
    minutes = np.asarray(minutes, dtype=float)
    return Clock(minutes, np.full(minutes.size, weekend))


def at(profile, minute, weekend=0.0, before=0.0):
    return float(profile.at(clock([minute], weekend), before)[0])


def test_means_worked_by_hand():
    """Two counts of 4 and 8 at noon, and one of 0 at midnight: their mean is 4."""
    profile = TimeProfile.fit([clock([0, 725]), clock([722])], [np.array([0.0, 8.0]), np.array([4.0])])
    share = {0: 6 / 16, 1: 4 / 16, 2: 1 / 16}  # of a count in the steps around its own
    for k, own in share.items():
        for step in {48 + k, 48 - k}:
            expected = (own * 12 + PRIOR * 4) / (own * 2 + PRIOR)
            assert profile.people[0, step] == pytest.approx(expected, abs=1e-4)
        for step in {k, -k}:  # around midnight as well
            assert profile.people[0, step] == pytest.approx(PRIOR * 4 / (own + PRIOR), abs=1e-4)
    others = np.delete(profile.people[0], [0, 1, 2, 94, 95, 46, 47, 48, 49, 50])
    np.testing.assert_allclose(others, 4.0, atol=1e-4)  # without head counts, the mean


def test_many_counts_give_the_mean_of_each_time():
    minutes = np.arange(0, 1440, 1.0)
    days = [np.where((minutes >= 540) & (minutes < 1020), people, 0.0) for people in (6.0, 10.0)]
    profile = TimeProfile.fit([clock(minutes)] * 2, days)
    assert at(profile, 720) == pytest.approx(8.0, abs=0.05)
    assert at(profile, 60) == pytest.approx(0.0, abs=0.05)
    assert at(profile, 540) == pytest.approx(8 * 11 / 16, abs=0.05)  # 1 + 4 of 16 are before 9:00
    assert at(profile, 539) == pytest.approx(8 * 5 / 16, abs=0.05)


def test_weekends_have_a_profile_of_their_own():
    minutes = np.arange(0, 1440, 5.0)
    both = TimeProfile.fit([clock(minutes), clock(minutes, 1.0)], [np.full(288, 9.0), np.full(288, 1.0)])
    assert at(both, 600) == pytest.approx(9.0, abs=0.1)
    assert at(both, 600, weekend=1.0) == pytest.approx(1.0, abs=0.1)


@pytest.mark.parametrize("kind", [0.0, 1.0])
def test_days_of_one_kind_stand_for_the_other(kind):
    minutes = np.arange(0, 1440, 5.0)
    people = minutes / 100
    one_kind = TimeProfile.fit([clock(minutes, kind)], [people])
    np.testing.assert_array_equal(one_kind.people[0], one_kind.people[1])
    # Days of the other kind without head counts change nothing.
    unlabelled = TimeProfile.fit(
        [clock(minutes, kind), clock(minutes, 1 - kind)],
        [people, np.full(288, 50.0)],
        [np.ones(288), np.zeros(288)],
    )
    np.testing.assert_array_equal(unlabelled.people, one_kind.people)
    # A single head count is enough for a profile of its own.
    weight = np.zeros(288)
    weight[100] = 1.0
    labelled = TimeProfile.fit(
        [clock(minutes, kind), clock(minutes, 1 - kind)], [people, np.full(288, 50.0)], [np.ones(288), weight]
    )
    assert at(labelled, 500, weekend=1 - kind) > 40
    assert at(labelled, 500, weekend=kind) == pytest.approx(5.0, abs=0.1)


@given(st.lists(st.floats(0, 100), min_size=N_STEPS, max_size=N_STEPS), st.integers(0, N_STEPS - 1))
@settings(max_examples=40, deadline=None)
def test_smoothing_conserves_the_total_and_has_no_first_step(values, shift):
    values = np.array(values)
    smooth = _smooth(values)
    assert smooth.shape == (N_STEPS,)
    assert smooth.sum() == pytest.approx(values.sum(), rel=1e-9, abs=1e-9)
    np.testing.assert_allclose(_smooth(np.roll(values, shift)), np.roll(smooth, shift), atol=1e-9)
    assert smooth.min() >= values.min() - 1e-9
    assert smooth.max() <= values.max() + 1e-9


def test_smoothing_of_one_step():
    values = np.zeros(N_STEPS)
    values[0] = 16.0
    assert _smooth(values)[[-3, -2, -1, 0, 1, 2, 3]].tolist() == [0, 1, 4, 6, 4, 1, 0]


def test_weights_equal_repeated_counts():
    rng = np.random.default_rng(0)
    minutes, people = rng.uniform(0, 1440, 50), rng.integers(0, 20, 50).astype(float)
    often = rng.integers(0, 4, 50)
    one = TimeProfile.fit([clock(minutes)], [people], [often.astype(float)])
    other = TimeProfile.fit([clock(np.repeat(minutes, often))], [np.repeat(people, often)])
    np.testing.assert_allclose(one.people, other.people, atol=1.1e-4)  # four decimals
    ones = TimeProfile.fit([clock(minutes)], [people], [np.ones(50)])
    np.testing.assert_array_equal(ones.people, TimeProfile.fit([clock(minutes)], [people]).people)


def test_days_are_taken_together():
    rng = np.random.default_rng(1)
    minutes, people = rng.uniform(0, 1440, 60), rng.integers(0, 20, 60).astype(float)
    one = TimeProfile.fit([clock(minutes)], [people])
    parts = [slice(0, 10), slice(10, 11), slice(11, 60)]
    three = TimeProfile.fit([clock(minutes[part]) for part in parts], [people[part] for part in parts])
    np.testing.assert_array_equal(one.people, three.people)


def test_no_head_counts_give_zero():
    minutes = np.arange(0, 1440, 60.0)
    profile = TimeProfile.fit([clock(minutes)], [np.full(24, 7.0)], [np.zeros(24)])
    assert profile.people.shape == (2, N_STEPS)
    assert not profile.people.any()


@given(st.integers(0, 10_000))
@settings(max_examples=40, deadline=None)
def test_profile_is_within_the_head_counts(seed):
    rng = np.random.default_rng(seed)
    people = rng.uniform(2, 30, 40)
    times = [Clock(rng.uniform(0, 1440, 40), rng.integers(0, 2, 40).astype(float))]
    profile = TimeProfile.fit(times, [people], [rng.uniform(0, 1, 40)])
    assert profile.people.min() >= people.min() - 1e-4
    assert profile.people.max() <= people.max() + 1e-4


def test_lookup_before_the_reading():
    profile = TimeProfile(np.array([np.arange(96.0), 100 + np.arange(96.0)]))
    assert at(profile, 0) == 0
    assert at(profile, 14.99) == 0
    assert at(profile, 15) == 1
    assert at(profile, 1439) == 95
    assert at(profile, 730) == 48
    assert at(profile, 730, before=10) == 48
    assert at(profile, 730, before=20) == 47
    assert at(profile, 10, before=20) == 95  # the evening before
    assert at(profile, 730, weekend=1.0) == 148


def test_steps_of_several_lags():
    steps = step_of_day(clock([0, 20, 740]), np.array([[0.0], [10.0], [20.0]]))
    assert steps.tolist() == [[0, 1, 49], [95, 0, 48], [94, 0, 48]]
    assert N_STEPS * STEP == 1440


def test_mean_by_bin_without_counts_is_nan():
    found = mean_by_bin(np.array([1, 1]), np.array([2.0, 4.0]), np.array([1.0, 3.0]), n_bins=3)
    np.testing.assert_array_equal(found, [np.nan, 3.5, np.nan])
