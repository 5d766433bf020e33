"""Smoothing of a day of estimates: against naive implementations, and limits."""

import numpy as np
import pytest

from occupair.room.day_smoothing import BILATERAL_SPAN, BILATERAL_TIME, DaySmoother, effect, smooth_people
from occupair.room.hindsight import smooth_in_ways
from occupair.room.hindsight_training import SMOOTHERS


@pytest.fixture(scope="module")
def people():
    """Estimates of three hours: a jump, a fluctuation and noise."""
    rng = np.random.default_rng(3)
    return np.maximum(np.repeat([0.0, 9.0, 4.0], 60) + rng.normal(0, 0.5, 180), 0.0)


def test_median_filter_is_the_median_of_a_window(people):
    found = smooth_people(people, DaySmoother(median=7.0), 1.0)
    padded = np.concatenate([np.full(7, people[0]), people, np.full(7, people[-1])])
    np.testing.assert_array_equal(found, [np.median(padded[k : k + 15]) for k in range(people.size)])


def test_quadratic_smoothing_minimises_its_cost(people):
    found = smooth_people(people, DaySmoother(quadratic=50.0), 5.0)
    changes = np.diff(np.eye(people.size), axis=0)
    expected = np.linalg.solve(np.eye(people.size) + 50.0 / 25.0 * changes.T @ changes, people)
    np.testing.assert_allclose(found, expected, atol=1e-9)


@pytest.mark.parametrize(("interval", "step"), [(1.0, 3), (2.0, 2), (5.0, 1), (15.0, 1)])
def test_bilateral_filter_averages_near_and_similar_estimates(people, interval, step):
    found = smooth_people(people, DaySmoother(alike=1.5), interval)
    most = int(BILATERAL_SPAN / interval) // step
    expected = []
    for k, own in enumerate(people):
        offsets = step * np.arange(-most, most + 1)
        others = people[np.clip(k + offsets, 0, people.size - 1)]
        weight = np.exp(-((offsets * interval / BILATERAL_TIME) ** 2) / 2 - ((others - own) / 1.5) ** 2 / 2)
        expected.append(weight @ others / weight.sum())
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_late_estimates_are_moved_back(people):
    assert smooth_people(people, DaySmoother(late=10.0), 5.0).tolist() == [
        *people[2:],
        people[-1],
        people[-1],
    ]
    assert smooth_people(people, DaySmoother(late=-5.0), 5.0).tolist() == [people[0], *people[:-1]]


def test_jump_survives_median_and_bilateral_filters():
    jump = np.repeat([0.0, 10.0], 120)
    for smoother in (DaySmoother(median=15.0), DaySmoother(alike=0.5)):
        np.testing.assert_allclose(smooth_people(jump, smoother, 1.0), jump, atol=1e-9)


@pytest.mark.parametrize("interval", [0.5, 1.0, 5.0, 15.0, 60.0])
def test_results_are_in_the_range_of_the_estimates_and_constants_stay(people, interval):
    for found in smooth_in_ways(people, SMOOTHERS, interval):
        assert people.min() - 1e-9 <= found.min() <= found.max() <= people.max() + 1e-9
    np.testing.assert_allclose(smooth_in_ways(np.full(50, 3.5), SMOOTHERS, interval), 3.5)


def test_several_ways_at_once_equal_one_at_a_time(people):
    each = [smooth_people(people, one, 1.0) for one in SMOOTHERS]
    np.testing.assert_array_equal(smooth_in_ways(people, SMOOTHERS, 1.0), each)


def test_smoothings_with_the_same_effect_are_equal(people):
    for interval in (1.0, 5.0, 15.0, 60.0):
        for one in SMOOTHERS:
            np.testing.assert_array_equal(
                smooth_people(people, effect(one, interval), interval), smooth_people(people, one, interval)
            )
    assert len({effect(one, 1.0) for one in SMOOTHERS}) == len(SMOOTHERS)
    hourly = {effect(one, 60.0) for one in SMOOTHERS}  # only the quadratic smoothing reaches an hour
    assert hourly == {DaySmoother(quadratic=weight) for weight in (0.0, 5.0, 15.0, 50.0, 150.0)}


def test_a_single_estimate_stays():
    np.testing.assert_allclose(smooth_in_ways(np.array([2.0]), SMOOTHERS, 1.0), 2.0)
