"""The hidden Markov model, compared with enumeration of all paths."""

from itertools import product

import numpy as np
import pytest

from occupair.baselines import HMMBaseline
from occupair.baselines.hmm_filter import Emissions, fixed_lag, forward


@pytest.fixture(scope="module")
def tiny():
    rng = np.random.default_rng(5)
    matrices = rng.dirichlet([1, 1, 1], size=(5, 3))
    return np.array([0.5, 0.3, 0.2]), matrices, rng.uniform(0.1, 1, size=(5, 3))


def enumerated(start, matrices, likelihood, k, last):
    """State probabilities at reading k given the readings up to ``last``, summed over all paths."""
    total = np.zeros(3)
    for path in product(range(3), repeat=last + 1):
        probability = start[path[0]] * likelihood[0, path[0]]
        for j in range(1, last + 1):
            probability *= matrices[j, path[j - 1], path[j]] * likelihood[j, path[j]]
        total[path[k]] += probability
    return total / total.sum()


@pytest.mark.parametrize("older", [0, 1, 2, 7])
def test_filter_and_smoother_agree_with_enumeration(tiny, older):
    start, matrices, likelihood = tiny
    smoothed = fixed_lag(forward(start, matrices, likelihood), matrices, likelihood, older)
    for k in range(5):
        np.testing.assert_allclose(smoothed[k], enumerated(*tiny, k, min(k + older, 4)), rtol=1e-12)


def test_densities_are_estimated_from_known_states():
    rng = np.random.default_rng(0)
    states = np.repeat([0, 1, 2], 20_000)
    people = np.array([0.0, 1.0, 2.0])
    seen = rng.normal(size=(60_000, 2)) * (1 + states[:, None]) + people[states][:, None]
    learned = Emissions.learn(seen, states, people)
    np.testing.assert_allclose(learned.mean, [[0, 0], [1, 1], [2, 2]], atol=0.05)
    np.testing.assert_allclose(learned.covariance, [np.eye(2) * s**2 for s in (1, 2, 3)], atol=0.15)


def test_likelihoods_are_gaussian_densities():
    covariance = np.array([[[2.0, 0.5], [0.5, 1.0]], [[1.0, 0.0], [0.0, 4.0]]])
    gaussians = Emissions(np.array([[0.0, 0.0], [1.0, -1.0]]), covariance)
    x = np.array([0.3, 0.7])
    density = [
        np.exp(-(x - m) @ np.linalg.inv(c) @ (x - m) / 2) / np.sqrt(np.linalg.det(2 * np.pi * c))
        for m, c in zip(gaussians.mean, covariance, strict=True)
    ]
    log = gaussians.log_likelihood(x[None, :])[0]
    assert log.max() == 0
    assert log[1] - log[0] == pytest.approx(np.log(density[1] / density[0]))


def test_memory_is_selected_by_cross_validation(slow_office):
    model = HMMBaseline(memories=(5, 40)).fit(slow_office)
    assert model.memory_ in (5, 40)
    assert HMMBaseline(memories=(10,)).fit(slow_office).memory_ == 10
