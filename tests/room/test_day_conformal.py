"""Intervals calibrated on held-out days: nominal coverage on days that differ from each other."""

import numpy as np
import pytest

from occupair.room.day_conformal import (
    EDGES,
    MAX_SAMPLES,
    PRIOR_SCALE,
    HeldOutErrors,
    fit_scaled_intervals,
    prior_errors,
    supports_scale,
    upper_quantiles,
)
from occupair.room.error_scale import N_FEATURES
from occupair.room.prediction_intervals import QUANTILES

PER_DAY = 96


def days(n, seed, spread=1.0):
    """Days with 40 % occupied readings whose errors share an offset of the day, and grow while CO2 rises."""
    rng = np.random.default_rng(seed)
    size = n * PER_DAY
    features = rng.normal(size=(N_FEATURES, size))
    day = np.repeat(np.arange(n), PER_DAY)
    true = np.where(rng.random(size) < 0.4, rng.integers(1, 21, size), 0).astype(float)
    noise = np.repeat(rng.normal(0, spread, n), PER_DAY) + rng.normal(0, 1, size) * 1.5 ** features[1]
    estimated = np.clip(true + noise * np.sqrt(true + 0.05), 0.0, 20.0)
    estimated = np.where((true == 0) & (estimated < 1), 0.0, estimated)
    return HeldOutErrors(features, estimated, true, day, np.ones(size))


def covered(intervals, data, confidence):
    low, high = intervals.around(data.estimated, confidence, intervals.scale.at(data.features))
    return (low <= data.true) & (data.true <= high)


@pytest.mark.parametrize("n_days", [8, 30])
def test_coverage_of_all_and_of_occupied_readings(n_days):
    """Both are near nominal over many rooms, although all errors of a day share an offset."""
    found = []
    for seed in range(30):
        intervals = fit_scaled_intervals(days(n_days, seed), 20.0)
        new = days(20, seed=1000 + seed)
        holds = covered(intervals, new, 0.9)
        found.append((holds.mean(), holds[new.true > 0].mean()))
    every, occupied = np.mean(found, axis=0)
    assert every == pytest.approx(0.9, abs=0.05)
    assert occupied == pytest.approx(0.9, abs=0.05)


def test_intervals_are_wider_where_larger_errors_are_expected():
    intervals = fit_scaled_intervals(days(300, seed=1), 20.0)
    features = np.zeros((N_FEATURES, 2))
    features[1, 1] = 2.0
    low, high = intervals.around(np.array([10.0, 10.0]), 0.5, intervals.scale.at(features))
    assert high[1] - low[1] > 1.2 * (high[0] - low[0])


def test_intervals_contain_the_estimate_and_widen_with_confidence():
    data = days(6, seed=2)
    intervals = fit_scaled_intervals(data, 20.0)
    scales = intervals.scale.at(data.features)
    before = data.estimated, data.estimated
    for confidence in (0.05, 0.5, 0.8, 0.9, 0.95, 0.99):
        low, high = intervals.around(data.estimated, confidence, scales)
        assert (low >= 0).all()
        assert (low <= before[0]).all()
        assert (high >= before[1]).all()
        before = low, high
    assert intervals.errors.shape == (EDGES.size, QUANTILES.size)
    assert (np.diff(intervals.errors, axis=1) >= 0).all()


def test_upper_limit_is_bounded():
    """With n days it is at most the maximum occupancy and an n-th of it."""
    data = days(4, seed=3, spread=5.0)
    intervals = fit_scaled_intervals(data, 20.0)
    assert intervals.highest == 25.0
    high = intervals.around(data.estimated, 0.99, intervals.scale.at(data.features))[1]
    assert high.max() <= 25.0


def test_number_of_readings_per_day_does_not_matter():
    """A reading every minute, with a fifth of the weight, is as good as one every 5 min."""
    data = days(10, seed=4)
    often = HeldOutErrors(*(np.repeat(values, 5, axis=-1) for values in data))
    often = often._replace(weight=often.weight / 5)
    one, other = (fit_scaled_intervals(some, 20.0) for some in (data, often))
    np.testing.assert_allclose(one.errors, other.errors, rtol=0.02, atol=0.002)


def test_order_of_days_does_not_matter():
    data = days(10, seed=5)
    backwards = data.take(np.arange(data.true.size)[::-1])
    backwards = backwards._replace(day=9 - backwards.day)
    one, other = (fit_scaled_intervals(some, 20.0) for some in (data, backwards))
    np.testing.assert_allclose(one.errors, other.errors, atol=2e-3)


def test_many_readings_are_thinned():
    data = days(70, seed=6)
    thin = data.thinned()
    assert MAX_SAMPLES / 2 < thin.true.size <= MAX_SAMPLES
    assert thin.weight.sum() == pytest.approx(data.weight.sum(), rel=0.01)


def test_room_that_is_always_empty():
    size = 3 * PER_DAY
    empty = HeldOutErrors(
        np.zeros((N_FEATURES, size)), np.zeros(size), np.zeros(size), np.repeat(np.arange(3), PER_DAY),
        np.ones(size),
    )  # fmt: skip
    intervals = fit_scaled_intervals(empty, 0.0)
    low, high = intervals.around(np.zeros(2), 0.9, intervals.scale.at(np.zeros((N_FEATURES, 2))))
    assert low.tolist() == high.tolist() == [0.0, 0.0]


def test_prior_is_a_laplace_distribution_within_the_possible_errors():
    prior = prior_errors()
    middle = (EDGES[5] + EDGES[6]) / 2  # 0.25: half of the errors lie within log(2) times the scale
    scale = PRIOR_SCALE[0] + PRIOR_SCALE[1] * 0.5
    assert middle == 0.25
    np.testing.assert_allclose(
        np.quantile(prior[5], [0.25, 0.75]), np.array([-1, 1]) * np.log(2) * scale, atol=0.002
    )
    assert (prior[0] >= -1e-6).all()
    assert (prior[-1] <= 1 - EDGES[-1]).all()


def test_sparse_head_counts_need_days_and_errors():
    data = days(5, seed=7)
    assert supports_scale(data)
    assert not supports_scale(data.take(data.day < 4))
    assert not supports_scale(data._replace(weight=data.weight * 0.4))  # 192 independent errors


@pytest.mark.parametrize(("tail", "expected"), [(0.0, 9.0), (0.1, 8.0), (0.15, 8.0), (0.5, 4.0)])
def test_upper_quantiles_by_hand(tail, expected):
    values = np.arange(10.0)[::-1]
    assert upper_quantiles(values, np.ones(10), np.array([tail]))[0] == expected


def test_upper_quantiles_of_weighted_values():
    # 1, 2 and 3 with weights 1, 8 and 1: a tenth of the weight exceeds 2.
    assert upper_quantiles(
        np.array([3.0, 2.0, 1.0]), np.array([1.0, 8.0, 1.0]), np.array([0.1, 0.05])
    ).tolist() == [
        2.0,
        3.0,
    ]
