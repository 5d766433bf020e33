"""Intervals corrected by head counts: nominal coverage after a change, and limits."""

import datetime as dt
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from occupair.live.messages import LabelledInterval, to_microseconds
from occupair.live.rooms.interval_correction import (
    LEAST_DISTANCE,
    MAX_FACTOR,
    MIN_FACTOR,
    RECENT,
    STEP,
    UNCORRECTED,
    track_labels,
)

START = dt.datetime(2026, 3, 2, 8, tzinfo=dt.UTC)
MINUTE = 60_000_000  # [us]


def labelled(people, low=2.0, high=6.0, minute=0.0, age=0.0):
    """A head count some minutes after the start, of an interval published ``age`` minutes before it."""
    time = START + dt.timedelta(minutes=minute)
    return LabelledInterval(time, people, time - dt.timedelta(minutes=age), low, high)


def at(minute):
    return to_microseconds(START) + round(minute * MINUTE)


def test_factors_worked_by_hand():
    counts = [labelled(7, minute=0), labelled(4, minute=20), labelled(1, minute=40)]  # above, inside, below
    found = track_labels(counts, MINUTE)
    up, down = math.exp(0.95 * STEP), math.exp(-0.05 * STEP)
    assert found.factors_at(at(0)) == (1.0, 1.0)  # a head count does not affect the estimate of its own time
    assert found.factors_at(at(1)) == pytest.approx((down, up))
    assert found.factors_at(at(20.5)) == pytest.approx((down**2, up * down))
    assert found.factors_at(at(999)) == pytest.approx((down**2 * up, up * down**2))
    assert (found.covered, found.labels, found.coverage) == (1, 3, pytest.approx(1 / 3))


def test_bounds_of_the_interval_count_as_covered():
    assert track_labels([labelled(2, minute=0), labelled(6, minute=20)], MINUTE).coverage == 1.0


def test_head_counts_close_together_change_the_factors_once():
    counts = [labelled(9, minute=minute) for minute in (0, 1, 14.9, 15)]
    found = track_labels(counts, MINUTE)
    assert found.times == (at(0), at(15))
    assert found.labels == 4


@pytest.mark.parametrize(("age", "step", "used"), [(5, 1, 1), (5.1, 1, 0), (15, 15, 1), (15.1, 15, 0)])
def test_old_intervals_are_not_compared(age, step, used):
    assert track_labels([labelled(4, age=age)], step * MINUTE).labels == used


def test_coverage_is_of_recent_head_counts():
    counts = [labelled(9 if k < 30 else 4, minute=20 * k) for k in range(RECENT + 20)]
    found = track_labels(counts, MINUTE)
    assert found.labels == RECENT
    assert found.covered == RECENT - 10


def test_room_without_head_counts_keeps_its_intervals():
    assert track_labels([], MINUTE) == UNCORRECTED
    assert UNCORRECTED.coverage is None
    assert UNCORRECTED.corrected(0.1 + 0.2, 0.1, 0.7, at(0)) == (0.1, 0.7)


def test_corrected_interval_worked_by_hand():
    found = track_labels([labelled(9, minute=0)], MINUTE)
    below, above = found.factors_at(at(1))
    low, high = found.corrected(4.0, 2.0, 6.0, at(1))
    assert low == pytest.approx(4 - 2 * below)
    assert high == pytest.approx(4 + 2 * above + LEAST_DISTANCE * (above - 1))
    assert found.corrected(4.0, 2.0, 6.0, at(0)) == (2.0, 6.0)


def test_interval_of_an_empty_room_widens():
    counts = [labelled(3, 0.0, 0.0, minute=20 * k) for k in range(4)]
    low, high = track_labels(counts, MINUTE).corrected(0.0, 0.0, 0.0, at(100))
    assert low == 0.0
    assert high > 0.4


def test_model_without_intervals():
    found = track_labels([labelled(9)], MINUTE)
    assert found.corrected(4.0, None, None, at(1)) == (None, None)


@given(st.lists(st.integers(0, 30), max_size=80), st.floats(0, 30), st.floats(0, 5), st.floats(0, 5))
def test_corrected_interval_is_valid_and_factors_are_limited(counts, people, below, above):
    found = track_labels([labelled(count, minute=20 * k) for k, count in enumerate(counts)], MINUTE)
    assert all(MIN_FACTOR <= factor <= MAX_FACTOR for both in found.factors for factor in both)
    low, high = found.corrected(people, max(people - below, 0.0), people + above, at(10_000))
    assert 0 <= low <= people <= high


@pytest.mark.parametrize(("bias", "spread"), [(0.0, 1.0), (0.0, 2.0), (2.0, 1.0), (-2.0, 1.5), (0.0, 0.6)])
def test_coverage_returns_to_nominal_after_a_change(bias, spread):
    """The room changes after training: intervals of estimate ± 1.64 fit errors of spread 1 without a bias."""
    rng = np.random.default_rng(1)
    counts, covered = [], []
    for k in range(600):
        error = bias + spread * rng.normal()
        low, high = track_labels(counts[-400:], MINUTE).corrected(20.0, 20 - 1.64, 20 + 1.64, at(20 * k + 20))
        counts.append(labelled(20 + error, low, high, minute=20 * k))
        covered.append(low <= 20 + error <= high)
    most = 0.93 if bias == 0 else 0.96  # with a bias, no count lies beyond one of the bounds
    assert 0.87 < np.mean(covered[200:]) < most
