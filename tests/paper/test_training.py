"""Training of the paper's network: settings of Table I, features of all days, and messages."""

import re

import numpy as np
import pandas as pd
import pytest

import occupair as oc
from dense import feature_vector, input_vector, smooth
from occupair.elm.regressors import ELMRegressor, FSELMRegressor
from occupair.paper import training
from occupair.paper.features import Layer
from occupair.paper.training import fit_regressor, layer_at, new_regressor, training_features


def message(text):
    return f"^{re.escape(text)}$"


def readings_of(*lengths, interval=5, seed=0):
    """Return readings of several days, each of some length."""
    draw = np.random.default_rng(seed)
    times = [
        pd.date_range(f"2024-01-{8 + d:02}", periods=n, freq=f"{interval}min") for d, n in enumerate(lengths)
    ]
    index, n = pd.DatetimeIndex(np.concatenate(times)), sum(lengths)
    columns = {"co2": draw.uniform(400, 900, n), "ventilation": draw.random(n)}
    return pd.DataFrame(columns | {"occupancy": draw.integers(0, 9, n).astype(float)}, index=index)


def expected_rows(readings, lengths, vector, horizon, stride, smoothing, every=1):
    rows, people, start = [], [], 0
    for n in lengths:
        day = readings.iloc[start : start + n]
        start += n
        if n <= horizon:
            continue
        co2, truth = smooth(day["co2"].to_numpy(), smoothing), day["occupancy"].to_numpy()
        ventilation = day["ventilation"].to_numpy()
        for k in range(horizon, n, every):
            rows.append(vector(co2, truth, ventilation, k, horizon, stride))
            people.append(truth[k])
    return np.array(rows), np.array(people)


def test_settings_match_table_1():
    assert training.SETTINGS == {
        "layer": "fs-elm",
        "horizon": 30,
        "stride": 10,
        "smoothing": 50,
        "z_max": (1.0, 1.0, 1.0, 1.0, 0.1),
        "n_hidden": 1000,
        "ridge": 0.001,
        "n_draws": 100,
    }
    lags = [training.SETTINGS[name] for name in ("layer", "horizon", "stride")]
    assert layer_at(*lags, interval=1.0) == Layer("fs-elm", 30, 10)


def test_lags_are_converted_to_readings():
    assert layer_at("fs-elm", 30, 10, interval=1.0) == Layer("fs-elm", 30, 10)
    assert layer_at("fs-elm", 30, 30, interval=5.0) == Layer("fs-elm", 6, 6)
    assert layer_at("elm", 30, 90, interval=5.0) == Layer("elm", 6, 1)  # Eq. (3) has no stride
    assert layer_at("fs-elm", 1439, 1, interval=1.0) == Layer("fs-elm", 1439, 1)


@pytest.mark.parametrize(
    ("lags", "text"),
    [
        ((32, 10), "horizon must be a multiple of the 5 min between readings, got 32 min"),
        ((30, 7), "stride must be a multiple of the 5 min between readings, got 7 min"),
        ((1440, 10), "horizon must be shorter than a day (1440 min), got 1440 min"),
        ((30, 35), "stride must be at most the horizon of 30 min, got 35 min"),
    ],
)
def test_invalid_lags_are_rejected(lags, text):
    with pytest.raises(oc.InputError, match=message(text)):
        layer_at("fs-elm", *lags, interval=5.0)


def test_regressor_of_a_layer():
    plain = new_regressor(Layer("elm", 6, 1), z_max=None, ridge=None, n_hidden=9)
    assert (type(plain), plain.ridge, plain.n_hidden) == (ELMRegressor, 0.001, 9)
    scaled = new_regressor(Layer("fs-elm", 6, 2), z_max=None, ridge=None, n_hidden=9)
    assert (type(scaled), scaled.ridge, scaled.n_hidden) == (FSELMRegressor, 0.001, 9)
    assert scaled.groups == [7, 5, 6, 6, 7]
    assert scaled.z_max == (1.0, 1.0, 1.0, 1.0, 0.1)
    own = new_regressor(Layer("fs-elm", 6, 2), z_max=(1, 2, 3, 4, 5), ridge=0.5)
    assert (own.z_max, own.ridge) == ((1, 2, 3, 4, 5), 0.5)


@pytest.mark.parametrize(("kind", "vector"), [("fs-elm", feature_vector), ("elm", input_vector)])
def test_features_of_all_days_match_the_equations(kind, vector):
    """The second day is shorter than the horizon, the last one longer by one reading."""
    lengths = (20, 3, 15, 5)
    readings = readings_of(*lengths)
    rows, people = training_features(readings, Layer(kind, 4, 2), 3.0)
    expected, truth = expected_rows(readings, lengths, vector, 4, 2, 3.0)
    np.testing.assert_allclose(rows, expected, rtol=0, atol=1e-9)
    np.testing.assert_array_equal(people, truth)
    assert people.size == 16 + 11 + 1


@pytest.mark.parametrize(("rows_allowed", "every"), [(28, 1), (27, 2), (14, 2), (10, 3)])
def test_rows_beyond_the_limit_are_thinned(monkeypatch, rows_allowed, every):
    """One row in n of each day, so that the values of all rows stay below the limit."""
    lengths = (20, 3, 15, 5)
    readings = readings_of(*lengths)
    n_features = 5 + 3 + 4 + 4 + 5
    monkeypatch.setattr(training, "MAX_VALUES", rows_allowed * n_features)
    rows, people = training_features(readings, Layer("fs-elm", 4, 2), 3.0)
    expected, truth = expected_rows(readings, lengths, feature_vector, 4, 2, 3.0, every=every)
    np.testing.assert_allclose(rows, expected, rtol=0, atol=1e-9)
    np.testing.assert_array_equal(people, truth)


def test_regressor_is_trained_on_the_features():
    readings, layer = readings_of(30, 25), Layer("fs-elm", 4, 2)
    expected, truth = expected_rows(readings, (30, 25), feature_vector, 4, 2, 3.0)
    settings = {"z_max": None, "ridge": 1.0, "n_hidden": 5, "n_draws": 1, "random_state": 0}
    found = fit_regressor(readings, new_regressor(layer, **settings), layer, 3.0)
    by_hand = new_regressor(layer, **settings).fit(expected, truth)
    np.testing.assert_allclose(found.predict(expected), by_hand.predict(expected), rtol=0, atol=1e-8)


def test_one_row_is_enough_to_train():
    readings, layer = readings_of(5, 4), Layer("elm", 4, 1)
    regressor = new_regressor(layer, z_max=None, ridge=1.0, n_hidden=5, n_draws=1, random_state=0)
    rows, _ = training_features(readings, layer, 3.0)
    assert rows.shape == (1, 5 + 4 + 5)
    assert fit_regressor(readings, regressor, layer, 3.0).coef_.shape == (5,)


def test_missing_head_counts_are_rejected():
    readings, layer = readings_of(20, 20), Layer("elm", 4, 1)
    readings.iloc[[3, 30], readings.columns.get_loc("occupancy")] = np.nan
    text = (
        "readings: head counts are missing at 2 of 40 readings; the paper's layers need one at every "
        "reading: train layer 'room', the default, or drop days without counts"
    )
    with pytest.raises(oc.InputError, match=message(text)):
        fit_regressor(readings, new_regressor(layer, z_max=None, ridge=None), layer, 3.0)


def test_days_shorter_than_the_horizon_are_rejected():
    readings, layer = readings_of(4, 3, 2), Layer("elm", 4, 1)
    text = (
        "readings must contain a day with more than 4 readings to train on, without gaps: "
        "the horizon is 20 min, use a shorter one or longer days"
    )
    with pytest.raises(oc.InputError, match=message(text)):
        fit_regressor(readings, new_regressor(layer, z_max=None, ridge=None), layer, 3.0)
