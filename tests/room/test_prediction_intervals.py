"""PredictionIntervals hold the true count as often as they promise, and widen with the promise."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from occupair.room.prediction_intervals import QUANTILES, PredictionIntervals


def estimates(n, seed):
    """Estimates and truths: nobody a third of the time, else off by more the more are in."""
    rng = np.random.default_rng(seed)
    estimated = np.where(rng.random(n) < 1 / 3, 0.0, rng.uniform(0.5, 30, n))
    true = np.maximum(estimated + rng.normal(0, 0.2 + 0.15 * estimated), 0.0)
    return estimated, true


LEARNED = PredictionIntervals.learn(*estimates(8000, seed=1))


@pytest.mark.parametrize("interval", [0.5, 0.8, 0.9, 0.95])
def test_holds_the_truth_as_often_as_asked(interval):
    estimated, true = estimates(20000, seed=2)
    low, high = LEARNED.around(estimated, interval)
    holds = (low <= true) & (true <= high)
    some = estimated > 0  # for nobody the truth is 0 half of the time, which every range holds
    assert holds[some].mean() == pytest.approx(interval, abs=0.015)
    assert holds[~some].mean() >= interval - 0.01


def test_holds_it_at_every_level_of_the_estimate():
    estimated, true = estimates(60000, seed=3)
    low, high = LEARNED.around(estimated, 0.9)
    holds = (low <= true) & (true <= high)
    for least, most in [(0.5, 5), (5, 15), (15, 30)]:
        inside = (estimated >= least) & (estimated < most)
        assert holds[inside].mean() == pytest.approx(0.9, abs=0.03)


@given(st.floats(0, 200), st.floats(0.001, 0.999), st.floats(0.001, 0.999))
def test_a_range_is_around_its_estimate_and_grows_with_the_promise(people, one, other):
    narrow, wide = (LEARNED.around(np.array([people]), p) for p in sorted((one, other)))
    assert 0 <= wide[0] <= narrow[0] <= people <= narrow[1] <= wide[1]


@given(st.lists(st.tuples(st.floats(0, 50), st.integers(0, 50)), min_size=1, max_size=300), st.floats(0, 60))
def test_any_errors_give_a_range(pairs, people):
    estimated, true = np.array(pairs).T
    ranges = PredictionIntervals.learn(estimated, true)
    assert ranges.edges[0] == 0
    assert (np.diff(ranges.edges) > 0).all()
    assert ranges.errors.shape == (ranges.edges.size, QUANTILES.size)
    assert (np.diff(ranges.errors, axis=1) >= 0).all()
    low, high = ranges.around(np.array([people]), 0.9)
    assert 0 <= low[0] <= people <= high[0]


def test_quantiles_of_the_errors_by_hand():
    # Errors of -10, -9 ... 10 over an estimate of 20: the 5 % and the 95 % quantile are -9 and 9.
    estimated = np.full(2100, 20.0)
    true = 20.0 + np.tile(np.arange(-10, 11), 100)
    low, high = PredictionIntervals.learn(estimated, true).around(np.array([20.0]), 0.9)
    assert (low[0], high[0]) == (pytest.approx(11.0), pytest.approx(29.0))


def test_few_estimates_are_one_level_and_many_are_eight():
    estimated = np.linspace(1, 10, 59)
    assert PredictionIntervals.learn(estimated, estimated).edges.tolist() == [0.0, 1.0]
    many = np.linspace(1, 10, 4800)
    np.testing.assert_allclose(
        PredictionIntervals.learn(many, many).edges, [0.0, *(1 + 9 * np.arange(8) / 8)], atol=0.0011
    )


@pytest.mark.parametrize("least", [0.0001, 0.0004, 0.3])
def test_an_empty_room_has_errors_of_its_own(least):
    """However little the least of the other estimates is."""
    estimated = np.append(np.zeros(100), np.linspace(least, 8, 50))
    true = np.append(np.zeros(100), np.full(50, 9.0))
    low, high = PredictionIntervals.learn(estimated, true).around(np.zeros(1), 0.9)
    assert (low[0], high[0]) == (0.0, 0.0)


def test_estimates_of_nobody_only():
    ranges = PredictionIntervals.learn(np.zeros(50), np.zeros(50))
    assert [bound.tolist() for bound in ranges.around(np.array([0.0, 3.0]), 0.9)] == [[0.0, 3.0], [0.0, 3.0]]


def test_unknown_ranges_hold_all_that_was_seen():
    low, high = PredictionIntervals.unknown(20.0).around(np.array([0.0, 7.0, 20.0]), 0.5)
    assert low.tolist() == [0.0, 0.0, 0.0]
    assert (high >= 20.0).all()


@pytest.mark.parametrize(("n", "interval"), [(18, 0.9), (8, 0.8), (198, 0.99)])
def test_too_few_errors_are_no_range(n, interval):
    """Beyond n errors lies the next with the chance 1 / (n + 1) on each side: more than is left over."""
    ranges = PredictionIntervals.learn(np.full(n, 5.0), np.full(n, 6.0), np.ones(n), 30.0)
    np.testing.assert_allclose(np.ravel(ranges.around(np.array([5.0]), interval)), [0.0, 35.0], atol=1e-9)
    ranges = PredictionIntervals.learn(np.full(n + 1, 5.0), np.full(n + 1, 6.0), np.ones(n + 1), 30.0)
    np.testing.assert_allclose(np.ravel(ranges.around(np.array([5.0]), interval)), [5.0, 6.0], atol=1e-9)


def test_ranks_of_few_errors_by_hand():
    # Errors 1 to 39: of forty places the 2nd from below and from above is the twentieth part.
    estimated = np.full(39, 20.0)
    ranges = PredictionIntervals.learn(estimated, estimated + np.arange(1, 40), np.ones(39), 99.0)
    low, high = ranges.errors_at(0.9)
    assert (low[-1], high[-1]) == pytest.approx((2.0, 38.0))
    # Each of them twice with half of the weight is the same.
    twice = PredictionIntervals.learn(
        np.repeat(estimated, 2), np.repeat(estimated + np.arange(1, 40), 2), np.full(78, 0.5), 99.0
    )
    np.testing.assert_allclose(twice.errors_at(0.9), ranges.errors_at(0.9))


@pytest.mark.parametrize("n", [25, 60, 200, 1000])
def test_few_errors_promise_no_more_than_they_hold(n):
    holds = []
    for seed in range(100):
        learned = PredictionIntervals.learn(*estimates(n, seed), np.ones(n), 60.0)
        estimated, true = estimates(200, seed=1000 + seed)
        low, high = learned.around(estimated, 0.9)
        holds.append(np.mean((low <= true) & (true <= high)))
    assert np.mean(holds) > 0.89


@given(
    st.lists(st.tuples(st.floats(0, 50), st.integers(0, 50), st.floats(0.01, 1)), min_size=1, max_size=200),
    st.floats(0, 60),
)
def test_any_few_errors_give_a_range(triples, people):
    estimated, true, weight = np.array(triples).T
    ranges = PredictionIntervals.learn(estimated, true, weight, 60.0)
    assert (np.diff(ranges.errors, axis=1) >= 0).all()
    assert np.isfinite(ranges.errors).all()
    low, high = ranges.around(np.array([people]), 0.9)
    assert 0 <= low[0] <= people <= high[0]
