"""Kernel regression: its kernel, robustness and limits."""

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF
from sklearn.kernel_ridge import KernelRidge

from occupair.room import kernel_regression
from occupair.room.kernel_regression import (
    N_WAVES,
    WIDTH,
    KernelEvaluator,
    KernelRegression,
    fit_kernel,
    random_waves,
    waves,
)

N_FEATURES = 6


def samples(seed=0, n=300):
    """Features in different units, and people as a smooth function of them with some noise."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, N_FEATURES))
    people = np.clip(8 + 3 * z[:, 0] - 2 * z[:, 1] + z[:, 2] * z[:, 3] + rng.normal(0, 0.3, n), 0, None)
    return z * 10.0 ** np.arange(-2, 4) + 400.0, people


def people_by(kernel, features):
    return KernelEvaluator([[kernel]]).people(features.T[:, np.newaxis])[0]


@pytest.fixture
def many_waves(monkeypatch):
    """So many waves that their inner products are close to the kernel."""
    monkeypatch.setattr(kernel_regression, "N_WAVES", 20_000)
    random_waves.cache_clear()
    yield
    random_waves.cache_clear()


def test_inner_products_of_waves_are_the_gaussian_kernel(many_waves):
    z = np.random.default_rng(0).normal(0, 4, (30, N_FEATURES))
    outputs = waves(z.T)
    assert outputs.shape == (20_001, 30)
    assert (outputs[-1] == 1).all()
    products = outputs[:-1].T @ outputs[:-1]
    distance = np.linalg.norm(z[:, np.newaxis] - z, axis=2)
    np.testing.assert_allclose(products, np.exp(-(distance**2) / (2 * WIDTH**2)), atol=0.04)
    np.testing.assert_allclose(products, RBF(WIDTH)(z), atol=0.04)
    assert np.ptp(products) > 0.5


def test_waves_are_bounded_and_always_the_same():
    projections, phases = random_waves(3)
    draw = np.random.RandomState(20161)
    np.testing.assert_array_equal(projections, draw.standard_normal((N_WAVES, 3)) / WIDTH)
    np.testing.assert_array_equal(phases, draw.uniform(0, 2 * np.pi, (N_WAVES, 1)))
    assert np.abs(waves(np.random.default_rng(0).normal(0, 1e6, (3, 500)))[:-1]).max() <= np.sqrt(2 / N_WAVES)


def test_regression_without_robustness_is_kernel_ridge_regression(many_waves, monkeypatch):
    """With many waves and a loss that is quadratic, against scikit-learn."""
    monkeypatch.setattr(kernel_regression, "_HUBER", 1e9)
    monkeypatch.setattr(kernel_regression, "_ITERATIONS", 1)
    monkeypatch.setattr(kernel_regression, "N_WAVES", 3000)
    random_waves.cache_clear()
    features, people = samples(n=150)
    z = (features - features.mean(axis=0)) / features.std(axis=0)
    found = people_by(fit_kernel(features, people), features)
    theirs = KernelRidge(alpha=0.3, kernel="rbf", gamma=1 / (2 * WIDTH**2)).fit(z, people - people.mean())
    np.testing.assert_allclose(found, people.mean() + theirs.predict(z), atol=0.25)
    assert people.std() > 3


def test_contradicting_day_has_less_influence_than_by_least_squares(monkeypatch):
    features, people = samples(n=400)
    wrong = np.where(np.arange(400) < 80, 20 - people, people)  # one day of five
    robust = fit_kernel(features, wrong)
    right = people_by(fit_kernel(features, people), features[80:])
    monkeypatch.setattr(kernel_regression, "_HUBER", 1e9)
    squares = fit_kernel(features, wrong)
    off = [np.sqrt(np.mean((people_by(one, features[80:]) - right) ** 2)) for one in (robust, squares)]
    assert off[0] < 0.5 * off[1]


def test_single_outlier_of_any_size_hardly_matters():
    features, people = samples(n=400)
    clean = people_by(fit_kernel(features, people), features[1:])
    for size in (50.0, 100.0):
        outlier = np.append(people[0] + size, people[1:])
        moved = people_by(fit_kernel(features, outlier), features[1:]) - clean
        assert np.sqrt(np.mean(moved**2)) < 0.2


def test_estimates_recover_a_linear_response_within_the_data():
    features, _ = samples(n=800)
    people = 10 + (features - features.mean(axis=0)) / features.std(axis=0) @ [3, -2, 1, 0, 0, 1]
    kernel = fit_kernel(features[:600], people[:600])
    off = people_by(kernel, features[600:]) - people[600:]
    assert np.sqrt(np.mean(off**2)) < 0.1 * people.std()


def test_estimates_are_bounded_far_from_the_data():
    features, people = samples()
    kernel = fit_kernel(features, people)
    far = features.mean(axis=0) + np.random.default_rng(1).normal(0, 1e5, (500, N_FEATURES))
    limit = np.abs(kernel.coef[:-1]).sum() * np.sqrt(2 / N_WAVES)
    assert np.abs(people_by(kernel, far) - kernel.coef[-1]).max() <= limit
    z = (features - features.mean(axis=0)) / features.std(axis=0)
    line = np.linalg.lstsq(np.column_stack([z, np.ones(len(z))]), people, rcond=None)[0]
    far_z = (far - features.mean(axis=0)) / features.std(axis=0)
    assert np.abs(people_by(kernel, far)).max() < 0.01 * np.abs(far_z @ line[:-1]).max()


def test_units_of_features_and_people_do_not_matter():
    features, people = samples()
    unit = 10.0 ** np.arange(N_FEATURES, 0, -1)
    one, other = fit_kernel(features, people), fit_kernel(features * unit - 7.0, 3 * people)
    np.testing.assert_allclose(
        people_by(other, features * unit - 7.0), 3 * people_by(one, features), rtol=0, atol=1e-6
    )


def test_weights_equal_repeated_samples(monkeypatch):
    """In the same unit of people, which is the spread of all samples whatever their weights."""
    monkeypatch.setattr(kernel_regression, "people_spread", lambda people: 2.0)
    features, people = samples(n=80)
    often = np.random.default_rng(2).integers(1, 4, 80)
    one = fit_kernel(features, people, often.astype(float))
    other = fit_kernel(np.repeat(features, often, axis=0), np.repeat(people, often))
    np.testing.assert_allclose(people_by(one, features), people_by(other, features), rtol=0, atol=1e-6)


def test_samples_of_weight_zero_do_not_matter(monkeypatch):
    monkeypatch.setattr(kernel_regression, "people_spread", lambda people: 2.0)
    features, people = samples(n=80)
    known = np.random.default_rng(3).random(80) < 0.5
    other = fit_kernel(np.where(known[:, np.newaxis], features, 9e9), people, known.astype(float))
    one = fit_kernel(features[known], people[known])
    np.testing.assert_allclose(people_by(one, features), people_by(other, features), rtol=0, atol=1e-6)


def test_weights_all_zero_equal_no_weights():
    features, people = samples(n=40)
    one, other = fit_kernel(features, people, np.zeros(40)), fit_kernel(features, people)
    np.testing.assert_array_equal(one.coef, other.coef)


def test_smaller_weights_stay_closer_to_the_mean():
    features, people = samples()
    spreads = [
        people_by(fit_kernel(features, people, np.full(len(people), weight)), features).std()
        for weight in (1.0, 0.1, 0.001)
    ]
    assert spreads == sorted(spreads, reverse=True)
    tiny = people_by(fit_kernel(features, people, np.full(len(people), 1e-12)), features)
    np.testing.assert_allclose(tiny, people.mean(), atol=1e-3)


def test_constant_features_are_ignored():
    features, people = samples()
    constant = np.column_stack([features, np.full(len(features), 412.3)])
    kernel = fit_kernel(constant, people)
    assert kernel.scale[-1] == 1
    nudged = constant + np.append(np.zeros(N_FEATURES), 1e-9)
    np.testing.assert_allclose(people_by(kernel, nudged), people_by(kernel, constant), atol=1e-8)
    alone = fit_kernel(np.full((50, 2), 7.0), people[:50])
    assert np.ptp(people_by(alone, np.full((50, 2), 7.0))) == 0


@pytest.mark.parametrize("count", [0.0, 5.0])
def test_constant_people(count):
    features, _ = samples()
    kernel = fit_kernel(features, np.full(len(features), count))
    np.testing.assert_allclose(people_by(kernel, features), count, atol=1e-9)


def test_single_sample():
    features, people = samples()
    assert people_by(fit_kernel(features[:1], people[:1]), features[:1]) == pytest.approx(people[:1])


def test_every_nth_of_many_samples_is_used(monkeypatch):
    monkeypatch.setattr(kernel_regression, "_MAX_SAMPLES", 100)
    features, people = samples(n=250)
    weight = np.random.default_rng(0).uniform(0.1, 1, 250)
    one, other = fit_kernel(features, people, weight), fit_kernel(features[::3], people[::3], weight[::3])
    np.testing.assert_array_equal(one.coef, other.coef)


def test_many_rooms_equal_single_rooms():
    rooms = [[fit_kernel(*samples(seed=10 * room + lag)) for lag in range(3)] for room in range(4)]
    features = np.stack([samples(seed=lag)[0][:20].T for lag in range(3)], axis=1)
    which = np.random.default_rng(0).integers(0, 4, 20)
    batch = KernelEvaluator(rooms)
    together = batch.people(features, which)
    assert together.shape == (3, 20)
    for n, room in enumerate(which):
        alone = KernelEvaluator([rooms[room]]).people(features[:, :, n : n + 1])[:, 0]
        np.testing.assert_allclose(together[:, n], alone, rtol=0, atol=1e-9)
        for lag in range(3):
            assert alone[lag] == pytest.approx(people_by(rooms[room][lag], features[:, lag, n : n + 1].T)[0])
    np.testing.assert_array_equal(
        batch.people(features[:, :, :2], slice(1, 3)), batch.people(features[:, :, :2], np.array([1, 2]))
    )


def test_estimate_worked_by_hand():
    """Only the second wave and the constant have a coefficient."""
    projections, phases = random_waves(2)
    coef = np.zeros(N_WAVES + 1)
    coef[1], coef[-1] = 3.0, 5.0
    kernel = KernelRegression(np.array([1.0, 2.0]), np.array([0.5, 4.0]), coef)
    angle = projections[1] @ [(3.0 - 1.0) * 0.5, (1.5 - 2.0) * 4.0] + phases[1, 0]
    expected = 5.0 + 3.0 * np.cos(angle) * np.sqrt(2 / N_WAVES)
    assert people_by(kernel, np.array([[3.0, 1.5]])) == pytest.approx([expected])
