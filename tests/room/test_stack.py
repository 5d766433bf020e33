"""Weights of the members against a general optimiser, and their limits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from occupair.room.stack import MEMBERS, PRIOR_DAYS, PRIOR_WEIGHTS, member_weights

THIRDS = np.full(3, 1 / 3)


def reference_weights(errors, prior, n_days, weight=None):
    """Minimise the mean square of the mean error plus the penalty over the simplex, numerically."""
    weight = np.ones(errors.shape[1]) if weight is None else weight
    size = np.mean([np.sum(weight * one**2) for one in errors])

    def loss(w):
        return np.sum(weight * (w @ errors) ** 2) / size + PRIOR_DAYS / n_days * np.sum((w - prior) ** 2)

    found = minimize(
        loss,
        prior,
        method="SLSQP",
        bounds=[(0, 1)] * len(prior),
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1},
        options={"ftol": 1e-14, "maxiter": 500},
    )
    assert found.success
    return found.x


def errors_of(seed, n=200):
    """Errors that are correlated, as those of members that see the same CO2."""
    rng = np.random.default_rng(seed)
    common = rng.normal(0, rng.uniform(0.2, 2), n)
    return np.array([common + rng.normal(rng.normal(), rng.uniform(0.1, 3), n) for _ in range(3)])


def test_prior_has_a_weight_for_each_member():
    assert len(PRIOR_WEIGHTS) == len(MEMBERS) == 3
    assert sum(PRIOR_WEIGHTS) == pytest.approx(1)


@given(st.integers(0, 10_000), st.floats(0.05, 500), st.sampled_from([(1, 1, 1), (1, 4, 1), (0.1, 9.8, 0.1)]))
@settings(max_examples=60, deadline=None)
def test_weights_equal_those_of_an_optimiser(seed, n_days, prior):
    prior = np.array(prior) / np.sum(prior)
    errors = errors_of(seed)
    np.testing.assert_allclose(
        member_weights(errors, prior, n_days), reference_weights(errors, prior, n_days), atol=2e-5
    )


@given(st.integers(0, 10_000), st.floats(0.05, 500))
@settings(max_examples=20, deadline=None)
def test_sample_weights_equal_those_of_an_optimiser(seed, n_days):
    errors, weight = errors_of(seed), np.random.default_rng(seed).uniform(0, 1, 200)
    np.testing.assert_allclose(
        member_weights(errors, THIRDS, n_days, weight),
        reference_weights(errors, THIRDS, n_days, weight),
        atol=2e-5,
    )


@given(
    st.integers(0, 10_000),
    st.floats(1e-3, 1e6),
    st.lists(st.floats(0.01, 1), min_size=3, max_size=3),
    st.sampled_from([1e-150, 1e-8, 1.0, 1e6]),
)
def test_weights_are_on_the_simplex_and_independent_of_the_unit(seed, n_days, prior, unit):
    prior = np.array(prior) / np.sum(prior)
    errors = errors_of(seed, n=20)
    weights = member_weights(unit * errors, prior, n_days)
    assert (weights >= 0).all()
    assert weights.sum() == pytest.approx(1, abs=1e-9)
    np.testing.assert_allclose(weights, member_weights(errors, prior, n_days), atol=1e-6)


def test_weights_worked_by_hand():
    # Errors without correlation and mean squares 1 and 3, penalty 6 / 3 of their mean, 4:
    # w + 4 (w - 1/2) = 3 (1 - w) + 4 (1 - w - 1/2), so w = 7 / 12.
    errors = np.array([[1.0, -1.0], [np.sqrt(3), np.sqrt(3)]])
    weights = member_weights(errors, np.array([0.5, 0.5]), n_days=3)
    np.testing.assert_allclose(weights, [7 / 12, 5 / 12])


@pytest.mark.parametrize("seed", range(5))
def test_few_days_keep_prior_and_many_days_follow_errors(seed):
    errors, prior = errors_of(seed), np.array([0.2, 0.5, 0.3])
    np.testing.assert_allclose(member_weights(errors, prior, 1e-6), prior, atol=1e-5)

    def square(weights):
        return np.mean((weights @ errors) ** 2)

    squares = [square(member_weights(errors, prior, n_days)) for n_days in (1e-6, 1, 6, 40, 1e9)]
    assert squares == sorted(squares, reverse=True)
    for other in np.random.default_rng(seed).dirichlet(np.ones(3), 300):
        assert squares[-1] <= square(other) + 1e-6


def test_useless_member_gets_no_weight_on_many_days():
    rng = np.random.default_rng(0)
    good = rng.normal(size=(2, 5000))
    errors = np.vstack([good, 20 + rng.normal(size=5000)])
    weights = member_weights(errors, THIRDS, n_days=1000)
    assert weights[2] < 0.01
    np.testing.assert_allclose(weights[:2], 0.5, atol=0.02)
    assert member_weights(errors, THIRDS, n_days=6)[2] < member_weights(errors, THIRDS, n_days=1)[2] < 1 / 3


def test_equal_members_keep_their_prior_weights():
    errors = np.tile(np.random.default_rng(1).normal(size=100), (3, 1))
    prior = np.array([0.2, 0.5, 0.3])
    np.testing.assert_allclose(member_weights(errors, prior, n_days=50), prior, atol=1e-9)


def test_member_with_prior_weight_zero_is_not_used():
    errors = errors_of(3)
    weights = member_weights(errors, np.array([0.5, 0.5, 0.0]), n_days=10)
    assert weights[2] == 0
    np.testing.assert_array_equal(weights[:2], member_weights(errors[:2], np.full(2, 0.5), n_days=10))
    assert member_weights(errors, np.array([0.0, 1.0, 0.0]), n_days=10).tolist() == [0, 1, 0]


def test_members_without_errors_keep_their_prior_weights():
    prior = np.array([0.1, 0.6, 0.3])
    assert member_weights(np.zeros((3, 9)), prior, n_days=4).tolist() == prior.tolist()
    weight = np.zeros(9)
    assert member_weights(np.ones((3, 9)), prior, n_days=4, weight=weight).tolist() == prior.tolist()


def test_weights_equal_repeated_samples():
    errors, often = errors_of(4, n=60), np.random.default_rng(4).integers(0, 4, 60)
    np.testing.assert_allclose(
        member_weights(errors, THIRDS, 5, often.astype(float)),
        member_weights(np.repeat(errors, often, axis=1), THIRDS, 5),
        atol=1e-12,
    )
