"""Prediction intervals reach their nominal coverage and widen with confidence."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from occupair.room.prediction_intervals import QUANTILES, PredictionIntervals


def estimates(n, seed):
    """Estimates and true counts: a third are zero, otherwise errors grow with occupancy."""
    rng = np.random.default_rng(seed)
    estimated = np.where(rng.random(n) < 1 / 3, 0.0, rng.uniform(0.5, 30, n))
    true = np.maximum(estimated + rng.normal(0, 0.2 + 0.15 * estimated), 0.0)
    return estimated, true


LEARNED = PredictionIntervals.fit(*estimates(8000, seed=1))


@pytest.mark.parametrize("confidence", [0.5, 0.8, 0.9, 0.95])
def test_coverage_matches_confidence(confidence):
    estimated, true = estimates(20000, seed=2)
    low, high = LEARNED.around(estimated, confidence)
    holds = (low <= true) & (true <= high)
    some = estimated > 0  # an empty room has true count 0, which every interval covers
    assert holds[some].mean() == pytest.approx(confidence, abs=0.015)
    assert holds[~some].mean() >= confidence - 0.01


def test_coverage_at_every_level_of_the_estimate():
    estimated, true = estimates(60000, seed=3)
    low, high = LEARNED.around(estimated, 0.9)
    holds = (low <= true) & (true <= high)
    for least, most in [(0.5, 5), (5, 15), (15, 30)]:
        inside = (estimated >= least) & (estimated < most)
        assert holds[inside].mean() == pytest.approx(0.9, abs=0.03)


@given(st.floats(0, 200), st.floats(0.001, 0.999), st.floats(0.001, 0.999))
def test_interval_contains_estimate_and_widens_with_confidence(people, one, other):
    narrow, wide = (LEARNED.around(np.array([people]), p) for p in sorted((one, other)))
    assert 0 <= wide[0] <= narrow[0] <= people <= narrow[1] <= wide[1]


@given(st.lists(st.tuples(st.floats(0, 50), st.integers(0, 50)), min_size=1, max_size=300), st.floats(0, 60))
def test_any_errors_give_valid_intervals(pairs, people):
    estimated, true = np.array(pairs).T
    intervals = PredictionIntervals.fit(estimated, true)
    assert intervals.edges[0] == 0
    assert (np.diff(intervals.edges) > 0).all()
    assert intervals.errors.shape == (intervals.edges.size, QUANTILES.size)
    assert (np.diff(intervals.errors, axis=1) >= 0).all()
    low, high = intervals.around(np.array([people]), 0.9)
    assert 0 <= low[0] <= people <= high[0]


def test_quantiles_worked_by_hand():
    # Errors of -10, -9 ... 10 over an estimate of 20: the 5 % and the 95 % quantile are -9 and 9.
    estimated = np.full(2100, 20.0)
    true = 20.0 + np.tile(np.arange(-10, 11), 100)
    low, high = PredictionIntervals.fit(estimated, true).around(np.array([20.0]), 0.9)
    assert (low[0], high[0]) == (pytest.approx(11.0), pytest.approx(29.0))


def test_number_of_bins_grows_with_errors():
    estimated = np.linspace(1, 10, 59)
    assert PredictionIntervals.fit(estimated, estimated).edges.tolist() == [0.0, 1.0]
    many = np.linspace(1, 10, 4800)
    np.testing.assert_allclose(
        PredictionIntervals.fit(many, many).edges, [0.0, *(1 + 9 * np.arange(8) / 8)], atol=0.0011
    )


@pytest.mark.parametrize("least", [0.0001, 0.0004, 0.3])
def test_empty_room_has_its_own_bin(least):
    """However small the smallest other estimate is."""
    estimated = np.append(np.zeros(100), np.linspace(least, 8, 50))
    true = np.append(np.zeros(100), np.full(50, 9.0))
    low, high = PredictionIntervals.fit(estimated, true).around(np.zeros(1), 0.9)
    assert (low[0], high[0]) == (0.0, 0.0)


def test_only_zero_estimates():
    intervals = PredictionIntervals.fit(np.zeros(50), np.zeros(50))
    assert [bound.tolist() for bound in intervals.around(np.array([0.0, 3.0]), 0.9)] == [
        [0.0, 3.0],
        [0.0, 3.0],
    ]


def test_unknown_intervals_span_all_occupancies():
    low, high = PredictionIntervals.unknown(20.0).around(np.array([0.0, 7.0, 20.0]), 0.5)
    assert low.tolist() == [0.0, 0.0, 0.0]
    assert (high >= 20.0).all()


@pytest.mark.parametrize(("n", "confidence"), [(18, 0.9), (8, 0.8), (198, 0.99)])
def test_too_few_errors_span_all_occupancies(n, confidence):
    """The next error exceeds n errors with probability 1 / (n + 1) on each side: more than allowed."""
    intervals = PredictionIntervals.fit(np.full(n, 5.0), np.full(n, 6.0), np.ones(n), 30.0)
    np.testing.assert_allclose(
        np.ravel(intervals.around(np.array([5.0]), confidence)), [0.0, 35.0], atol=1e-9
    )
    intervals = PredictionIntervals.fit(np.full(n + 1, 5.0), np.full(n + 1, 6.0), np.ones(n + 1), 30.0)
    np.testing.assert_allclose(np.ravel(intervals.around(np.array([5.0]), confidence)), [5.0, 6.0], atol=1e-9)


def test_sparse_quantiles_worked_by_hand():
    # Errors 1 to 39: of forty places the 2nd from below and from above is the twentieth part.
    estimated = np.full(39, 20.0)
    intervals = PredictionIntervals.fit(estimated, estimated + np.arange(1, 40), np.ones(39), 99.0)
    low, high = intervals.errors_at(0.9)
    assert (low[-1], high[-1]) == pytest.approx((2.0, 38.0))
    # Each of them twice with half of the weight is the same.
    twice = PredictionIntervals.fit(
        np.repeat(estimated, 2), np.repeat(estimated + np.arange(1, 40), 2), np.full(78, 0.5), 99.0
    )
    np.testing.assert_allclose(twice.errors_at(0.9), intervals.errors_at(0.9))


@pytest.mark.parametrize("n", [25, 60, 200, 1000])
def test_sparse_errors_reach_nominal_coverage(n):
    holds = []
    for seed in range(100):
        fitted = PredictionIntervals.fit(*estimates(n, seed), np.ones(n), 60.0)
        estimated, true = estimates(200, seed=1000 + seed)
        low, high = fitted.around(estimated, 0.9)
        holds.append(np.mean((low <= true) & (true <= high)))
    assert np.mean(holds) > 0.89


@given(
    st.lists(st.tuples(st.floats(0, 50), st.integers(0, 50), st.floats(0.01, 1)), min_size=1, max_size=200),
    st.floats(0, 60),
)
def test_any_sparse_errors_give_valid_intervals(triples, people):
    estimated, true, weight = np.array(triples).T
    intervals = PredictionIntervals.fit(estimated, true, weight, 60.0)
    assert (np.diff(intervals.errors, axis=1) >= 0).all()
    assert np.isfinite(intervals.errors).all()
    low, high = intervals.around(np.array([people]), 0.9)
    assert 0 <= low[0] <= people <= high[0]
