"""The blocked, multi-core hidden layer against the equations on the full layer."""

import gc
import weakref

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from threadpoolctl import threadpool_limits

from occupair.elm.hidden_layer import (
    GroupedRows,
    normal_equations,
    random_layer,
    read_out,
    shared_layer,
    sigmoid_in_place,
)
from occupair.elm.regressors import ELMRegressor, FSELMRegressor
from occupair.progress import progress_to


def hidden(X, weights, bias):
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-(X @ weights.T + bias)))


@pytest.fixture(params=[1, 3])
def cores(request):
    with threadpool_limits(request.param):
        yield request.param


@pytest.mark.parametrize("n_rows", [1, 255, 257, 1000, 9001])
def test_normal_equations_and_read_out_match_the_full_layer(cores, n_rows):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n_rows, 7)), rng.normal(size=n_rows)
    weights, bias = random_layer(3, 20, 7)
    gram, moment = normal_equations(X, y, weights, bias)
    H = hidden(X, weights, bias)
    np.testing.assert_allclose(gram, H.T @ H, rtol=1e-12)
    np.testing.assert_allclose(moment, H.T @ y, atol=1e-10)
    np.testing.assert_allclose(read_out(X, weights, bias, y[:1].repeat(20)), H @ y[:1].repeat(20), rtol=1e-12)


def test_saturated_neurons_are_zero_or_one(cores):
    X = np.array([[1e4], [-1e4], [1e300], [0.0]])
    weights, bias = np.array([[1.0]]), np.array([0.0])
    gram, moment = normal_equations(X, np.array([1.0, 2.0, 4.0, 8.0]), weights, bias)
    np.testing.assert_allclose(moment, [1.0 + 4.0 + 8.0 / 2], rtol=1e-12)
    np.testing.assert_allclose(gram, [[1.0 + 1.0 + 0.25]], rtol=1e-12)


def test_memory_does_not_grow_with_samples(monkeypatch):
    """No allocated array is larger than one block of H."""
    largest = []
    empty = np.empty

    def watched(shape, *args, **kwargs):
        array = empty(shape, *args, **kwargs)
        largest.append(array.size)
        return array

    monkeypatch.setattr("occupair.elm.hidden_layer.np.empty", watched)
    weights, bias = random_layer(0, 50, 4)
    normal_equations(np.ones((50_000, 4)), np.ones(50_000), weights, bias)
    assert max(largest) <= 4096 * 50


tables = arrays(
    float, st.tuples(st.integers(1, 300), st.integers(1, 4)), elements=st.floats(-1e6, 1e6, allow_nan=False)
)


@settings(max_examples=60, deadline=None)
@given(x=tables, seed=st.integers(0, 99))
def test_largest_input_matches_full_evaluation(x, seed):
    r, _ = random_layer(seed, 5, x.shape[1])
    found = GroupedRows(x, [x.shape[1]]).largest_input(0, r)
    assert found == pytest.approx(np.abs(x @ r.T).max(), rel=1e-8)


def test_sigmoid_overwrites_its_argument():
    z = np.array([-np.log(3.0), 0.0, np.log(3.0)])
    assert sigmoid_in_place(z) is z
    np.testing.assert_allclose(z, [1 / 4, 1 / 2, 3 / 4], rtol=1e-15)


def test_largest_input_is_found_behind_samples_with_larger_means():
    # z of [10, -10] is 19, its mean 0; of 199 samples [150, 150] it is 15.
    x = np.vstack([[[10.0, -10.0]], np.full((199, 2), 150.0)])
    assert GroupedRows(x, [2]).largest_input(0, np.array([[1.0, -0.9]])) == pytest.approx(19.0)


def test_largest_input_is_found_behind_samples_with_larger_bounds():
    # R = [1, -1/2, -1/2]. The first sample lies along R: z and bound are both 3. A hundred others have z = 2
    # and, because of their part across R, a bound of 3.5.
    along, across = np.array([2.0, -1.0, -1.0]), np.array([0.0, 1.0, -1.0])
    x = np.vstack([along, np.tile(2 / 3 * along + 1.658 * across, (100, 1))])
    assert GroupedRows(x, [3]).largest_input(0, np.array([[1.0, -0.5, -0.5]])) == pytest.approx(3.0)


@pytest.mark.parametrize(("swing", "noise"), [(300.0, 0.0), (0.0, 0.0), (300.0, 5.0)])
def test_largest_input_skips_most_samples(monkeypatch, swing, noise):
    rng = np.random.default_rng(0)
    x = (400 + swing * rng.random((20_000, 1))) + noise * rng.normal(size=(20_000, 31))
    r, _ = random_layer(0, 100, 31)
    samples, evaluated = GroupedRows(x, [31]), []
    with monkeypatch.context() as patch:
        patch.setattr(
            "occupair.elm.hidden_layer.np.abs",
            lambda z: evaluated.append(z.ndim > 1 and len(z)) or np.absolute(z),
        )
        found = samples.largest_input(0, r)
    assert found == pytest.approx(np.absolute(x @ r.T).max(), rel=1e-8)
    assert sum(evaluated) < 5_000


def test_scales_reach_z_max_and_are_zero_for_a_zero_group():
    rng = np.random.default_rng(1)
    X = np.hstack([rng.normal(size=(500, 3)) * 1000, np.zeros((500, 2))])
    weights, _ = random_layer(0, 30, 5)
    alphas = GroupedRows(X, [3, 2]).scales(weights, np.array([2.0, 1.0]))
    assert np.abs(alphas[0] * X[:, :3] @ weights[:, :3].T).max() == pytest.approx(2.0)
    assert alphas[1] == 0.0


@pytest.fixture(scope="module")
def many_rows():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(12_000, 6))
    return X, np.sin(X[:, 0]) * X[:, 1] + 0.1 * rng.normal(size=12_000)


@pytest.mark.parametrize("machine", [ELMRegressor, FSELMRegressor])
def test_screening_finds_a_layer_close_to_the_best(many_rows, machine):
    model = machine(n_hidden=40, n_draws=60, random_state=0)
    screened, exhaustive = model.fit(*many_rows), None
    best = screened.training_error_
    exhaustive = machine(n_hidden=40, n_draws=60, random_state=0, screen=False).fit(*many_rows)
    assert best <= 1.005 * exhaustive.training_error_
    assert np.isfinite(exhaustive.training_errors_).all()
    finished = np.isfinite(screened.training_errors_)
    assert finished.sum() == 8
    np.testing.assert_array_equal(screened.training_errors_[finished], exhaustive.training_errors_[finished])


class RecordedELM(ELMRegressor):
    """Records the number of samples and the ridge of every training."""

    def _train(self, X, y, rows, seed, ridge):
        self.trained_ = [*getattr(self, "trained_", []), (len(y), ridge)]
        return super()._train(X, y, rows, seed, ridge)


@pytest.mark.parametrize(
    ("n_rows", "n_draws", "screened_on"),
    [
        (2999, 9, None),  # a subset would have fewer than 1500 samples
        (3000, 9, 1500),
        (32_000, 9, 1600),  # one in twenty
        (32_000, 8, None),  # no more draws than are trained on all samples
    ],
)
def test_screening_uses_a_subset_and_the_ridge_of_its_share(n_rows, n_draws, screened_on):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n_rows, 2)), rng.normal(size=n_rows)
    model = RecordedELM(n_hidden=3, ridge=0.5, n_draws=n_draws, random_state=0).fit(X, y)
    screened = [] if screened_on is None else [(screened_on, 0.5 * screened_on / n_rows)] * n_draws
    assert model.trained_ == [*screened, *[(n_rows, 0.5)] * 8, *([(n_rows, 0.5)] if n_rows == 2999 else [])]


def test_screening_is_shown(capsys):
    rng = np.random.default_rng(0)
    X, calls = rng.normal(size=(3000, 2)), []
    with progress_to(lambda what, done, total: calls.append((what, done, total))):
        ELMRegressor(n_hidden=2, n_draws=9, random_state=0).fit(X, X[:, 0])
    assert calls == [("screening", k, 9) for k in range(10)] + [("training", k, 8) for k in range(9)]
    ELMRegressor(n_hidden=2, n_draws=9, random_state=0, verbose=True).fit(X, X[:, 0])
    assert "screening" in capsys.readouterr().err


def test_few_draws_or_samples_are_not_screened(many_rows):
    X, y = many_rows
    assert np.isfinite(ELMRegressor(n_hidden=5, n_draws=8).fit(X, y).training_errors_).all()
    assert np.isfinite(ELMRegressor(n_hidden=5, n_draws=12).fit(X[:2500], y[:2500]).training_errors_).all()


def test_training_error_is_the_error_of_predictions(many_rows):
    model = FSELMRegressor(n_hidden=40, random_state=0).fit(*many_rows)
    error = np.sqrt(np.mean((model.predict(many_rows[0]) - many_rows[1]) ** 2))
    assert model.training_error_ == pytest.approx(error, rel=1e-9)


def test_shared_layer_exists_once_and_is_released():
    first, again = shared_layer(7, 5, 3), shared_layer(7, 5, 3)
    assert first is again
    weights, bias = random_layer(7, 5, 3)
    assert (first.weights == weights.T).all()
    assert (first.bias == bias).all()
    with pytest.raises(ValueError, match="read-only"):
        first.weights[0] = 1.0
    held = weakref.ref(first)
    del first, again
    gc.collect()
    assert held() is None
