"""Weights of the members: worked by hand, and their limits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from occupair.room.stack import MEMBERS, STACK_PRIOR, StackPrior, member_weights

EXPONENT = 6.0  # power of the squared error with many days
PRIOR_DAYS = 5.0  # days at which half of it is reached

N_MEMBERS = len(MEMBERS)
EQUAL = np.full(N_MEMBERS, 1 / N_MEMBERS)


def weights_of(errors, prior, n_days, weight=None):
    return member_weights(errors, prior, n_days, weight, prior_days=PRIOR_DAYS)


def errors_of(seed, n=200, n_members=N_MEMBERS):
    """Errors that are correlated, as those of members that see the same CO2."""
    rng = np.random.default_rng(seed)
    common = rng.normal(0, rng.uniform(0.2, 2), n)
    return np.array([common + rng.normal(rng.normal(), rng.uniform(0.1, 3), n) for _ in range(n_members)])


def with_squares(*squares):
    """Errors of members with given mean squared errors."""
    return np.sqrt(np.array(squares))[:, np.newaxis] * np.array([1.0, -1.0, 1.0, 1.0])


def test_prior_has_a_weight_for_each_member():
    assert MEMBERS == ("network", "balance", "trees", "kernel", "profile")
    assert len(STACK_PRIOR.weights) == N_MEMBERS
    assert len(set(STACK_PRIOR.weights)) == 1  # no member leads
    assert STACK_PRIOR.days == PRIOR_DAYS
    assert StackPrior() == STACK_PRIOR


def test_weights_worked_by_hand():
    # Prior days: half of the exponent. Twice the squared error is 2^-3 of the weight: 8 / 9 and 1 / 9.
    assert EXPONENT == 6
    weights = weights_of(with_squares(1, 2), np.ones(2), n_days=PRIOR_DAYS)
    np.testing.assert_allclose(weights, [8 / 9, 1 / 9])
    # A prior of three to one: 24 / 25 and 1 / 25, or 8 / 11 and 3 / 11.
    np.testing.assert_allclose(
        weights_of(with_squares(1, 2), np.array([3.0, 1.0]), n_days=PRIOR_DAYS), [24 / 25, 1 / 25]
    )
    np.testing.assert_allclose(
        weights_of(with_squares(1, 2), np.array([1.0, 3.0]), n_days=PRIOR_DAYS), [8 / 11, 3 / 11]
    )
    # A fifth of the prior days: a sixth of the exponent, 2^-1.
    np.testing.assert_allclose(
        weights_of(with_squares(1, 2), np.ones(2), n_days=PRIOR_DAYS / 5), [2 / 3, 1 / 3]
    )
    # Many days: the full exponent, 2^-6.
    np.testing.assert_allclose(weights_of(with_squares(1, 2), np.ones(2), n_days=1e12), [64 / 65, 1 / 65])
    # Three members with squares 1, 2 and 1/2, that is 1, 1/8 and 8 of the weight.
    np.testing.assert_allclose(
        weights_of(with_squares(1, 2, 0.5), np.ones(3), n_days=PRIOR_DAYS), np.array([8, 1, 64]) / 73
    )


def test_more_prior_days_stay_closer_to_the_prior():
    errors = with_squares(1, 2)
    found = [member_weights(errors, np.ones(2), 4.0, prior_days=days)[0] for days in (1.0, 4.0, 20.0, 1e9)]
    assert found == sorted(found, reverse=True)
    assert found[1] == pytest.approx(8 / 9)  # as many as days: half of the exponent
    assert found[3] == pytest.approx(0.5, abs=1e-6)


@given(
    st.integers(0, 10_000),
    st.floats(1e-3, 1e6),
    st.lists(st.floats(0.01, 1), min_size=N_MEMBERS, max_size=N_MEMBERS),
    st.sampled_from([1e-140, 1e-8, 1.0, 1e6, 1e140]),
)
@settings(max_examples=60, deadline=None)
def test_weights_are_on_the_simplex_and_independent_of_units(seed, n_days, prior, unit):
    prior, errors = np.array(prior), errors_of(seed, n=20)
    weights = weights_of(errors, prior, n_days)
    assert (weights >= 0).all()
    assert weights.sum() == pytest.approx(1, abs=1e-12)
    np.testing.assert_allclose(weights_of(unit * errors, prior, n_days), weights, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(weights_of(errors, 7 * prior, n_days), weights, rtol=1e-9, atol=1e-12)


@given(st.integers(0, 10_000), st.floats(0.01, 1000))
@settings(max_examples=40, deadline=None)
def test_weights_are_ordered_like_errors_and_follow_the_members(seed, n_days):
    errors = errors_of(seed)
    weights, order = weights_of(errors, EQUAL, n_days), np.random.default_rng(seed).permutation(N_MEMBERS)
    assert np.argsort(-weights).tolist() == np.argsort((errors**2).mean(axis=1)).tolist()
    np.testing.assert_allclose(weights_of(errors[order], EQUAL, n_days), weights[order], rtol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_few_days_keep_prior_and_many_days_follow_errors(seed):
    errors, prior = errors_of(seed), np.array([0.2, 0.3, 0.1, 0.3, 0.1])
    np.testing.assert_allclose(weights_of(errors, prior, 1e-9), prior, atol=1e-6)
    best = np.argmin((errors**2).mean(axis=1))
    found = [weights_of(errors, prior, n_days)[best] for n_days in (1e-9, 1, 6, 40, 1e9)]
    assert found == sorted(found)
    mean_squares = [weights_of(errors, prior, n) @ (errors**2).mean(axis=1) for n in (1e-9, 1, 6, 40, 1e9)]
    assert mean_squares == sorted(mean_squares, reverse=True)


def test_useless_member_gets_no_weight():
    rng = np.random.default_rng(0)
    good = rng.normal(size=(N_MEMBERS - 1, 5000))
    errors = np.vstack([good, 20 + rng.normal(size=5000)])
    weights = weights_of(errors, EQUAL, n_days=6)
    assert weights[-1] < 1e-6
    np.testing.assert_allclose(weights[:-1], 1 / (N_MEMBERS - 1), atol=0.03)
    assert weights[-1] < weights_of(errors, EQUAL, n_days=1)[-1] < 0.1 / N_MEMBERS


def test_equal_members_keep_their_prior_weights():
    rng, prior = np.random.default_rng(1), np.array([0.2, 0.3, 0.1, 0.3, 0.1])
    same = rng.normal(size=100)
    errors = np.array([rng.permutation(same) * rng.choice([-1, 1], 100) for _ in prior])
    for n_days in (0.1, 5, 500):
        np.testing.assert_allclose(weights_of(errors, prior, n_days), prior, rtol=1e-9)


def test_member_with_prior_weight_zero_is_not_used():
    errors, prior = errors_of(3), np.array([0.5, 0.5, 0.0, 0.3, 0.0])
    used = prior > 0
    for others in (errors, np.where(used[:, np.newaxis], errors, 0.0)):  # even if it has no error
        weights = weights_of(others, prior, n_days=10)
        assert (weights[~used] == 0).all()
        np.testing.assert_allclose(weights[used], weights_of(errors[used], prior[used], n_days=10))
    only = np.array(MEMBERS) == "kernel"
    assert weights_of(errors, only.astype(float), n_days=10).tolist() == only.tolist()


def test_members_without_errors_share_the_weight():
    prior = np.array([0.1, 0.4, 0.3, 0.1, 0.1])
    np.testing.assert_allclose(weights_of(np.zeros((5, 9)), prior, n_days=4), prior)
    np.testing.assert_allclose(weights_of(np.ones((5, 9)), prior, n_days=4, weight=np.zeros(9)), prior)
    two = with_squares(1, 0, 2, 0, 3)
    np.testing.assert_allclose(weights_of(two, prior, n_days=4), [0, 0.8, 0, 0.2, 0])
    nearly = weights_of(with_squares(1, 1e-30, 2, 1e-30, 3), prior, n_days=4)
    np.testing.assert_allclose(nearly, [0, 0.8, 0, 0.2, 0], atol=1e-12)


def test_weights_equal_repeated_samples():
    errors, often = errors_of(4, n=60), np.random.default_rng(4).integers(0, 4, 60)
    np.testing.assert_allclose(
        weights_of(errors, EQUAL, 5, often.astype(float)),
        weights_of(np.repeat(errors, often, axis=1), EQUAL, 5),
        rtol=1e-9,
    )
    np.testing.assert_allclose(
        weights_of(errors, EQUAL, 5, np.full(60, 0.01)), weights_of(errors, EQUAL, 5), rtol=1e-9
    )
