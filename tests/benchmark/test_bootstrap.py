"""Bootstrap confidence intervals of score differences."""

import numpy as np
import pytest

from occupair.benchmark.bootstrap import DayErrors, difference_interval


@pytest.fixture
def days():
    """Random squared errors of 400 days."""
    rng = np.random.default_rng(5)
    return rng.normal(4.0, 1.0, 400), rng.normal(9.0, 1.5, 400), np.full(400, 16.0)


def test_difference_by_hand():
    room = DayErrors(np.array([1.0, 3.0]), np.array([4.0, 5.0]), np.array([8.0, 8.0]))
    other = DayErrors(np.array([9.0]), np.array([4.0]), np.array([16.0]))
    # sqrt(4/16) - sqrt(9/16) = -1/4 and sqrt(9/16) - sqrt(4/16) = 1/4
    assert difference_interval([room]).difference == pytest.approx(-0.25)
    assert difference_interval([other]).difference == pytest.approx(0.25)
    assert difference_interval([room, other]).difference == pytest.approx(0)


def test_one_day_gives_an_interval_of_width_zero():
    found = difference_interval([DayErrors(np.array([9.0]), np.array([4.0]), np.array([16.0]))])
    assert found.difference == found.low == found.high


def test_interval_of_many_days_agrees_with_the_delta_method(days):
    one, other, reference = days
    found = difference_interval([DayErrors(one, other, reference)], n_resamples=5000)
    # the delta method: d sqrt(m / f) = dm / (2 sqrt(m f))
    slopes = [1 / (2 * np.sqrt(errors.mean() * 16)) for errors in (one, other)]
    spread = np.std(slopes[0] * one - slopes[1] * other) / np.sqrt(400)
    assert found.low == pytest.approx(found.difference - 1.96 * spread, abs=0.1 * spread)
    assert found.high == pytest.approx(found.difference + 1.96 * spread, abs=0.1 * spread)


def test_interval_narrows_with_the_number_of_rooms(days):
    room = DayErrors(*days)
    widths = [found.high - found.low for found in map(difference_interval, ([room], [room, room]))]
    assert widths[1] == pytest.approx(widths[0] / np.sqrt(2), rel=0.1)


def test_interval_of_equal_methods_contains_zero(days):
    one, _, reference = days
    same = difference_interval([DayErrors(one, one, reference)])
    assert (same.difference, same.low, same.high) == (0, 0, 0)
    twin = np.random.default_rng(6).permutation(one)  # equally good, on other days
    found = difference_interval([DayErrors(one, twin, reference)])
    assert found.low < 0 < found.high


def test_methods_are_compared_on_the_same_days(days):
    one, _, reference = days
    hard = one * np.random.default_rng(7).uniform(0.1, 9, 400)  # the difficulty of a day cancels out
    paired = difference_interval([DayErrors(hard, 1.1 * hard, reference)])
    apart = difference_interval([DayErrors(hard, 1.1 * np.roll(hard, 1), reference)])
    assert paired.high - paired.low < 0.2 * (apart.high - apart.low)
    assert paired.high < 0


def test_interval_is_reproducible_with_a_seed(days):
    room = [DayErrors(*days)]
    assert difference_interval(room) == difference_interval(room)
    assert difference_interval(room) != difference_interval(room, seed=1)


def test_resamples_without_reference_error_are_ignored():
    room = DayErrors(np.array([1.0, 2.0]), np.array([1.0, 1.0]), np.array([0.0, 4.0]))
    found = difference_interval([room])
    assert np.isfinite([found.low, found.high]).all()
