"""The regressors against Eqs. (4)-(16), and scikit-learn's estimator checks."""

import os
import subprocess
import sys

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import occupair as oc
from occupair.elm.hidden_layer import random_layer
from occupair.progress import progress_to


def problem(n=200, seed=0):
    """Return samples with columns of very different size: two in the thousands, three from 0 to 1."""
    rng = np.random.default_rng(seed)
    X = np.hstack([rng.uniform(400, 2000, (n, 2)), rng.uniform(0, 1, (n, 3))])
    return X, X[:, 0] / 100 + 3 * X[:, 2] + rng.normal(0, 0.1, n)


def sigmoid(z):
    return 1 / (1 + np.exp(-np.clip(z, -700, 700)))


def dense_read_out(H, y, ridge):
    """Solve Eq. (15) as a stacked least-squares problem, without forming H'H."""
    stacked = np.vstack([H, np.sqrt(ridge) * np.eye(H.shape[1])])
    return np.linalg.lstsq(stacked, np.r_[y, np.zeros(H.shape[1])], rcond=None)[0]


@pytest.mark.parametrize("machine", ["ELMRegressor", "FSELMRegressor"])
def test_scikit_learn_estimator_checks_pass(machine):
    """In a subprocess: scikit-learn skips a check unless SCIPY_ARRAY_API is set before scipy loads."""
    code = (
        "import occupair as oc; from sklearn.utils.estimator_checks import check_estimator\n"
        f"for row in check_estimator(oc.{machine}(n_hidden=30), on_fail=None): print(row['status'])"
    )
    environment = os.environ | {"SCIPY_ARRAY_API": "1"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert set(done.stdout.split()) == {"passed"}
    assert len(done.stdout.split()) > 40


def test_elm_matches_equation_4():
    X, y = problem()
    X = (X - X.mean(0)) / X.std(0)
    model = oc.ELMRegressor(n_hidden=20, ridge=0.01, random_state=3).fit(X, y)
    W, b = model.random_weights_, model.bias_
    H = np.array([[sigmoid(W[i] @ x + b[i]) for i in range(20)] for x in X])
    np.testing.assert_allclose(model.coef_, dense_read_out(H, y, 0.01), rtol=1e-8)
    np.testing.assert_allclose(model.predict(X), H @ model.coef_, rtol=1e-10)
    np.testing.assert_allclose(model.hidden_input(X), X @ W.T + b, rtol=1e-12)
    assert model.training_error_ == pytest.approx(np.sqrt(np.mean((y - H @ model.coef_) ** 2)), rel=1e-10)


def test_fselm_matches_equations_9_to_16():
    X, y = problem()
    groups, z_max = [2, 1, 2], [1.0, 2.0, 0.1]
    model = oc.FSELMRegressor(groups=groups, z_max=z_max, n_hidden=25, ridge=0.001, random_state=5).fit(X, y)
    R, b = model.random_weights_, model.bias_
    alpha, start = [], 0
    for size, z in zip(groups, z_max, strict=True):
        columns = slice(start, start + size)
        largest = max(np.abs(R[:, columns] @ x[columns]).max() for x in X)
        alpha.append(z / largest)
        start += size
    np.testing.assert_allclose(model.scale_, alpha, rtol=1e-12)
    S = np.diag(np.repeat(alpha, groups))
    H = sigmoid(X @ S @ R.T + b)
    np.testing.assert_allclose(model.coef_, dense_read_out(H, y, 0.001), rtol=1e-6)
    np.testing.assert_allclose(model.predict(X), H @ dense_read_out(H, y, 0.001), rtol=1e-8)


def test_largest_input_of_every_group_is_its_z_max():
    X, y = problem()
    model = oc.FSELMRegressor(groups=[2, 3], z_max=[1.0, 0.1], n_hidden=40, random_state=0).fit(X, y)
    parts = [X[:, :2] @ model.input_weights_[:, :2].T, X[:, 2:] @ model.input_weights_[:, 2:].T]
    assert [np.abs(part).max() for part in parts] == pytest.approx([1.0, 0.1], rel=1e-12)


def test_one_group_with_z_max_5_matches_equation_11():
    X, y = problem()
    model = oc.FSELMRegressor(z_max=5.0, n_hidden=40, random_state=0).fit(X, y)
    assert model.scale_ == pytest.approx([5 / np.abs(X @ model.random_weights_.T).max()], rel=1e-12)
    assert np.abs(model.hidden_input(X) - model.bias_).max() == pytest.approx(5.0)


def test_random_layer_has_the_ranges_of_the_paper():
    weights, bias = random_layer(1, n_hidden=2000, n_features=20)
    assert -1 <= weights.min() < -0.999
    assert 0.999 < weights.max() <= 1
    assert weights.mean() == pytest.approx(0, abs=0.02)
    assert weights.var() == pytest.approx(1 / 3, rel=0.02)
    assert -0.1 <= bias.min() < -0.099
    assert 0.099 < bias.max() <= 0.1


def test_best_draw_is_kept():
    X, y = problem()
    model = oc.FSELMRegressor(groups=[2, 3], n_hidden=15, n_draws=12, random_state=0).fit(X, y)
    assert model.training_errors_.shape == (12,)
    assert model.training_error_ == pytest.approx(model.training_errors_.min(), rel=1e-6)
    assert model.training_errors_.max() > model.training_errors_.min()


def test_first_of_equally_good_draws_is_kept():
    X, _ = problem(n=20)
    models = [oc.ELMRegressor(n_hidden=3, n_draws=n, random_state=0).fit(X, np.zeros(20)) for n in (1, 4)]
    assert models[1].training_errors_.tolist() == [0, 0, 0, 0]
    assert models[0].layer_seed_ == models[1].layer_seed_


def test_defaults_are_those_of_the_paper():
    """L = 1000 and gamma = 0.001, Section V-D; one draw unless asked for more."""
    common = {"n_hidden": 1000, "ridge": 0.001, "n_draws": 1, "random_state": None, "verbose": None}
    assert oc.ELMRegressor().get_params() == common | {"screen": True}
    assert oc.FSELMRegressor().get_params() == common | {"screen": True, "groups": None, "z_max": 1.0}


def test_numbers_of_any_type_are_used_as_doubles():
    """The squares of counts of one byte would overflow, and single precision would change the scales."""
    X, y = problem(n=60)
    X, counts = X.astype(np.float32), np.rint(10 * y).astype(np.uint8)
    machine = oc.FSELMRegressor(groups=[2, 3], n_hidden=8, random_state=0)
    as_given = machine.fit(X, counts)
    error, scale = as_given.training_error_, as_given.scale_
    assert error == pytest.approx(
        np.sqrt(np.mean((as_given.predict(X) - counts.astype(float)) ** 2)), rel=1e-6
    )
    np.testing.assert_array_equal(scale, machine.fit(X.astype(float), counts.astype(float)).scale_)


def test_other_number_of_columns_is_rejected():
    X, y = problem()
    model = oc.ELMRegressor(n_hidden=5, random_state=0).fit(X, y)
    for method in (model.predict, model.hidden_input):
        with pytest.raises(ValueError, match="X has 4 features, but ELMRegressor is expecting 5 features"):
            method(X[:, :4])


def test_first_draws_do_not_depend_on_n_draws():
    X, y = problem()
    few = oc.ELMRegressor(n_hidden=10, n_draws=3, random_state=0).fit(X, y)
    many = oc.ELMRegressor(n_hidden=10, n_draws=9, random_state=0).fit(X, y)
    np.testing.assert_array_equal(few.training_errors_, many.training_errors_[:3])
    assert many.training_error_ <= few.training_error_


def test_blocks_do_not_change_the_solution():
    X, y = problem(n=10_000)
    model = oc.FSELMRegressor(groups=[2, 3], n_hidden=12, random_state=0).fit(X, y)
    H = sigmoid(model.hidden_input(X))
    np.testing.assert_allclose(H @ model.coef_, model.predict(X), rtol=1e-10)
    np.testing.assert_allclose(H @ dense_read_out(H, y, 1e-3), model.predict(X), rtol=1e-8)


def test_zero_column_has_no_influence():
    X, y = problem()
    X[:, 4] = 0.0
    model = oc.FSELMRegressor(groups=[4, 1], n_hidden=10, random_state=0).fit(X, y)
    assert model.scale_[1] == 0.0
    assert np.isfinite(model.predict(X)).all()


def test_z_max_of_zero_disables_a_group():
    X, y = problem()
    model = oc.FSELMRegressor(groups=[2, 3], z_max=[1.0, 0.0], n_hidden=10, random_state=0).fit(X, y)
    changed = X.copy()
    changed[:, 2:] += 100
    np.testing.assert_array_equal(model.predict(X), model.predict(changed))


def test_scaling_helps_with_columns_of_different_size():
    X, y = problem(n=1000)
    fresh, truth = problem(n=1000, seed=1)
    plain = oc.ELMRegressor(n_hidden=100, random_state=0).fit(X, y)
    scaled = oc.FSELMRegressor(groups=[2, 3], n_hidden=100, random_state=0).fit(X, y)
    assert scaled.score(fresh, truth) > 0.99 > plain.score(fresh, truth)


def test_regressor_works_in_pipeline_and_grid_search():
    X, y = problem()
    search = GridSearchCV(oc.FSELMRegressor(n_hidden=10, random_state=0), {"z_max": [0.5, 2.0]}, cv=2)
    assert make_pipeline(StandardScaler(), search).fit(X, y).predict(X).shape == y.shape


def test_rebuilt_model_predicts_the_same():
    X, y = problem()
    model = oc.FSELMRegressor(groups=[2, 3], n_hidden=10, random_state=0).fit(X, y)
    twin = oc.FSELMRegressor(groups=[2, 3], n_hidden=10)
    twin.rebuild(layer_seed=model.layer_seed_, scale=model.scale_, coef=model.coef_, n_features=5)
    np.testing.assert_array_equal(twin.predict(X), model.predict(X))


def test_progress_is_reported_per_draw():
    calls = []
    with progress_to(lambda what, done, total: calls.append((what, done, total))):
        oc.ELMRegressor(n_hidden=5, n_draws=3, random_state=0).fit(*problem())
    assert calls == [("training", done, 3) for done in range(4)]


def test_verbose_shows_a_progress_bar(capsys):
    oc.ELMRegressor(n_hidden=5, n_draws=3, random_state=0, verbose=True).fit(*problem())
    assert "training" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("machine", "message"),
    [
        (oc.ELMRegressor(n_hidden=0), "n_hidden must be an integer, 1 or more, got 0"),
        (oc.ELMRegressor(n_draws=1.5), r"n_draws must be an integer, 1 or more, got 1\.5"),
        (oc.ELMRegressor(ridge=0), "ridge must be a finite number above 0, got 0"),
        (oc.ELMRegressor(ridge=float("inf")), "ridge must be a finite number above 0, got inf"),
        (oc.ELMRegressor(ridge=float("nan")), "ridge must be a finite number above 0, got nan"),
        (oc.FSELMRegressor(groups=[2, 2]), r"groups must sum to the 5 columns of X, got \[2, 2\]"),
        (oc.FSELMRegressor(groups=[5, 0]), r"groups must sum to the 5 columns of X, got \[5, 0\]"),
        (oc.FSELMRegressor(groups=[]), r"groups must sum to the 5 columns of X, got \[\]"),
        (
            oc.FSELMRegressor(groups=[2, 3], z_max=[1, 1, 1]),
            r"z_max must be one number or one per group \(2\), got \[1, 1, 1\]",
        ),
        (oc.FSELMRegressor(z_max=-1), "z_max must be finite and 0 or more, got -1"),
        (oc.FSELMRegressor(z_max=np.inf), "z_max must be finite and 0 or more, got inf"),
    ],
)
def test_invalid_parameters_are_rejected(machine, message):
    with pytest.raises(oc.InputError, match=message):
        machine.fit(*problem())


def test_ridge_too_small_to_solve_is_rejected():
    X = np.ones((5, 2))  # identical samples: H'H has rank one
    with pytest.raises(
        oc.InputError, match="ridge must be large enough to solve for the read-out, got 1e-30: increase it"
    ):
        oc.ELMRegressor(n_hidden=50, ridge=1e-30, random_state=0).fit(X, np.arange(5.0))


def test_one_z_max_in_a_list_is_for_all_groups():
    X, y = problem()
    scales = [
        oc.FSELMRegressor(groups=[2, 1, 2], z_max=z_max, n_hidden=5, random_state=0).fit(X, y).scale_
        for z_max in (0.5, [0.5], [0.5, 0.5, 0.5])
    ]
    np.testing.assert_array_equal(scales, scales[:1] * 3)
    with pytest.raises(oc.InputError, match=r"z_max must be one number or one per group \(3\), got \[1, 1\]"):
        oc.FSELMRegressor(groups=[2, 1, 2], z_max=[1, 1]).fit(X, y)


def test_z_max_above_linear_range_warns():
    with pytest.warns(
        UserWarning, match=r"the sum of z_max is 6, above 5: some neurons may saturate, Eq. \(13\)"
    ) as warned:
        oc.FSELMRegressor(groups=[2, 3], z_max=3.0, n_hidden=5, random_state=0).fit(*problem())
    assert warned[0].filename == __file__  # the caller of fit
