"""Settings of the default estimator: changes after training, random state, and invalid values."""

from copy import deepcopy

import numpy as np
import pandas as pd
import pytest
from room.small_estimator import small
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import occupair as oc


def test_set_params_does_not_change_trained_model(trained_room, last_day):
    model = deepcopy(trained_room)
    before = model.estimate(last_day, lag=20, interval=0.8)
    room = model.live()
    model.set_params(smoothing=0, z_max=0.0, n_hidden=3, ridge=1e3, layer="elm", random_state=5)
    pd.testing.assert_frame_equal(model.estimate(last_day, lag=20, interval=0.8), before)
    assert room.update(last_day.index[0], 500.0, 0.0) == model.live().update(last_day.index[0], 500.0, 0.0)


def test_refit_with_another_layer_and_back(slow_office, last_day):
    train = slow_office.iloc[: 2 * 288]
    model = small(n_draws=2).fit(train)
    ours = model.estimate(last_day)
    model.set_params(layer="fs-elm").fit(train)
    paper = small(layer="fs-elm", n_draws=2).fit(train)
    pd.testing.assert_series_equal(model.estimate(last_day), paper.estimate(last_day))
    assert not hasattr(model, "room_")
    assert not hasattr(model, "comparison_")
    model.set_params(layer="room").fit(train)
    pd.testing.assert_series_equal(model.estimate(last_day), ours)
    assert not {"regressor_", "layer_", "smoothing_"} & set(vars(model))


def test_failed_fit_keeps_trained_model(trained_room, slow_office, last_day):
    model = deepcopy(trained_room)
    before = model.estimate(last_day)
    for bad in ({"ridge": -1}, {"layer": "elm", "horizon": 7}, {"n_hidden": 0}):
        with pytest.raises(oc.InputError):
            model.set_params(**bad).fit(slow_office)
        pd.testing.assert_series_equal(model.estimate(last_day), before)


def test_random_state_is_reproducible(slow_office, last_day):
    train, last_day = slow_office.iloc[: 2 * 288 : 2], last_day.iloc[::2]
    one, same, other = (small(random_state=seed).fit(train).estimate(last_day) for seed in (3, 3, 4))
    pd.testing.assert_series_equal(one, same, check_exact=True)
    assert (one != other).any()
    generator = np.random.RandomState(3)
    pd.testing.assert_series_equal(
        small(random_state=generator).fit(train).estimate(last_day), one, check_exact=True
    )


def test_scikit_learn_interface(slow_office):
    model = oc.OccupancyEstimator(n_hidden=7, z_max=(1, 1, 1, 1, 1), ridge=0.5)
    assert clone(model).get_params() == model.get_params()
    assert model.get_params()["start"] == "pooled"
    assert model.get_params()["layer"] == "room"
    for ask in (model.estimate, lambda _: model.live()):
        with pytest.raises(NotFittedError):
            ask(slow_office)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"layer": "cnn"}, "layer must be one of room, fs-elm, elm, got 'cnn'"),
        ({"smoothing": -1}, "smoothing must be a finite number, 0 or more, got -1"),
        ({"smoothing": np.nan}, "smoothing must be a finite number, 0 or more, got nan"),
        (
            {"z_max": (1, 1)},
            r"z_max must be one number, or one for each of M, P, V, T, S, 0 or more, got \(1",
        ),
        (
            {"z_max": (1, 1, 1, 1, -1)},
            "z_max must be one number, or one for each of M, P, V, T, S, 0 or more",
        ),
        ({"z_max": np.nan}, "z_max must be one number, or one for each of M, P, V, T, S, 0 or more, got nan"),
        ({"z_max": "wide"}, "z_max must be one number, or .*, got 'wide'"),
        ({"z_max": [[1], [1, 2]]}, "z_max must be one number, or"),
        ({"ridge": 0}, "ridge must be a finite number above 0, or None, got 0"),
        ({"ridge": np.nan}, "ridge must be a finite number above 0, or None, got nan"),
        ({"ridge": np.inf}, "ridge must be a finite number above 0, or None, got inf"),
        ({"ridge": "big"}, "ridge must be a finite number above 0, or None, got 'big'"),
        (
            {"ridge": 1e-300, "n_hidden": 60, "z_max": 1e-9},
            "ridge=1e-300 is too small: the training data are singular; increase it",
        ),
        ({"n_hidden": 0}, "n_hidden must be an integer, 1 or more, got 0"),
        ({"n_hidden": 2.5}, r"n_hidden must be an integer, 1 or more, got 2\.5"),
        ({"n_draws": 0}, "n_draws must be an integer, 1 or more, got 0"),
        ({"n_draws": None}, "n_draws must be an integer, 1 or more, got None"),
    ],
)
def test_invalid_settings_raise(slow_office, settings, message):
    with pytest.raises(oc.InputError, match=f"^{message}") as error:
        small(**settings).fit(slow_office)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("lag", [np.nan, -5, np.inf, "20", None])
def test_invalid_lag_raises(trained_room, last_day, lag):
    with pytest.raises(oc.InputError, match=r"^lag must be a number of minutes, 0 or more, got"):
        trained_room.estimate(last_day, lag=lag)


@pytest.mark.parametrize("interval", [0, 1, 1.5, -0.1, 90, np.nan, "0.9"])
def test_invalid_confidence_raises(trained_room, last_day, interval):
    with pytest.raises(oc.InputError, match=r"^interval must be above 0 and below 1 \(90 % is 0\.9\), got"):
        trained_room.estimate(last_day, interval=interval)
    with pytest.raises(oc.InputError, match=r"^interval must be above 0 and below 1 \(90 % is 0\.9\), got"):
        trained_room.live(interval=interval)


def test_paper_has_no_prediction_interval(estimator, last_day):
    with pytest.raises(oc.InputError, match=r"^interval must be omitted: the paper's estimators have no"):
        estimator.estimate(last_day, interval=0.9)


def test_lag_requires_live_mode(trained_room, last_day):
    with pytest.raises(oc.InputError, match=r"^lag must be 0 with mode 'hindsight', got 20"):
        trained_room.estimate(last_day, mode="hindsight", lag=20)
