"""Model files: lossless round trips, and rejection of invalid files."""

import json
import os

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

import occupair as oc
from occupair.model_file import READABLE, VERSION, _canonical, _checksum, dump_model, parse_model


@pytest.fixture
def path(estimator, tmp_path):
    estimator.save(tmp_path / "room.occupair")
    return tmp_path / "room.occupair"


@pytest.mark.parametrize("mode", ["live", "hindsight", "drifting"])
def test_loaded_model_estimates_like_the_saved_one(estimator, path, last_day, mode):
    loaded = oc.OccupancyEstimator.load(path)
    pd.testing.assert_series_equal(
        loaded.estimate(last_day, mode=mode), estimator.estimate(last_day, mode=mode), check_exact=True
    )
    assert loaded.get_params() == estimator.get_params()
    assert dump_model(loaded) == path.read_bytes()


@pytest.mark.parametrize(
    "changes",
    [
        {"layer": "elm"},
        {"z_max": 0.5},
        {"random_state": np.random.RandomState(1)},
        {"z_max": list(np.full(5, 0.5, np.float32))},
    ],
)
def test_round_trip_of_other_settings(slow_office, changes):
    model = oc.OccupancyEstimator.paper(**({"n_hidden": 8, "n_draws": 2} | changes)).fit(slow_office)
    loaded = parse_model(dump_model(model))
    pd.testing.assert_series_equal(
        loaded.estimate(slow_office), model.estimate(slow_office), check_exact=True
    )
    assert loaded.regressor_.training_error_ == model.training_error_


def test_model_with_1000_neurons_is_below_40_kb(slow_office):
    model = oc.OccupancyEstimator.paper(n_draws=1, random_state=0).fit(slow_office.iloc[:288])
    assert len(dump_model(model)) < 40_000


def with_version(path, version):
    """Write the file with another format version."""
    assert b'"version":%d,' % VERSION in path.read_bytes()
    path.write_bytes(path.read_bytes().replace(b'"version":%d,' % VERSION, b'"version":%d,' % version))


@pytest.mark.parametrize("version", [1, 2, 3])
def test_earlier_versions_are_readable(estimator, path, last_day, version):
    assert READABLE == (1, 2, 3, VERSION)
    with_version(path, version)
    pd.testing.assert_series_equal(
        oc.OccupancyEstimator.load(path).estimate(last_day), estimator.estimate(last_day)
    )


def test_ventilation_unit_and_time_zone_are_saved(slow_office):
    readings = slow_office.tz_localize("Europe/Copenhagen")
    readings.attrs = {"ventilation_full": 100.0, "ventilation_unit": "%"}
    model = oc.OccupancyEstimator.paper(n_hidden=8, n_draws=1, random_state=0).fit(readings)
    loaded = parse_model(dump_model(model))
    assert (loaded.ventilation_unit_, loaded.timezone_) == ("%", "Europe/Copenhagen")


def test_files_without_unit_and_time_zone_are_readable(path, last_day, estimator):
    path.write_bytes(forged(path, lambda m: [m.pop("ventilation_unit"), m.pop("timezone")]))
    older = oc.OccupancyEstimator.load(path)
    assert (older.ventilation_unit_, older.timezone_) == (None, None)
    pd.testing.assert_series_equal(older.estimate(last_day), estimator.estimate(last_day))


def test_training_days_are_saved_without_readings(slow_office):
    model = oc.OccupancyEstimator(n_hidden=8, random_state=0).fit(slow_office)
    assert len(model.trained_days_) == 4
    loaded = parse_model(dump_model(model))
    assert loaded.trained_days_ == model.trained_days_
    stored = json.loads(dump_model(model))["model"]["trained_days"]
    assert len(stored) == 4 * 8


def test_file_without_training_days_is_readable(path):
    path.write_bytes(forged(path, lambda m: m.pop("trained_days")))
    assert oc.OccupancyEstimator.load(path).trained_days_ is None


def test_overwriting_leaves_no_other_file(estimator, path):
    estimator.save(path)
    assert os.listdir(path.parent) == ["room.occupair"]


def test_truncated_file_is_rejected_in_one_line(path):
    content = path.read_bytes()
    for end in range(0, len(content) - 2, 37):
        path.write_bytes(content[:end])
        with pytest.raises(
            oc.InputError, match=r"room\.occupair: is (not an occupair model|damaged)"
        ) as error:
            oc.OccupancyEstimator.load(path)
        assert "\n" not in str(error.value)


def test_changed_byte_is_detected(path):
    content = path.read_bytes()
    start = content.index(b'"model":')
    for position in range(start + 9, len(content) - 3, 101):
        digit = content[position : position + 1]
        if digit.isdigit():
            path.write_bytes(content[:position] + (b"7" if digit != b"7" else b"3") + content[position + 1 :])
            with pytest.raises(oc.InputError, match="is damaged"):
                oc.OccupancyEstimator.load(path)


@pytest.mark.parametrize("content", [b"", b"time,co2\n", b"\x80\x04\x95", b"{}", b"PK\x03\x04", b"[1, 2]"])
def test_foreign_file_is_rejected(tmp_path, content):
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(oc.InputError, match="x: is not an occupair model"):
        oc.OccupancyEstimator.load(tmp_path / "x")


def test_newer_format_asks_for_an_upgrade(path):
    with_version(path, VERSION + 1)
    message = f"has format version {VERSION + 1}, this occupair reads up to {VERSION}: upgrade occupair"
    with pytest.raises(oc.InputError, match=message):
        oc.OccupancyEstimator.load(path)


def forged(path, change):
    """Return a file with a valid checksum and changed content."""
    model = json.loads(path.read_bytes())["model"]
    change(model)
    text = _canonical(model)
    head = f'{{"format":"occupair model","version":{VERSION},"checksum":"{_checksum(text)}"'
    return f'{head},"model":{text}}}'.encode()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda m: m.pop("coef"), "is not a valid model: 'coef'"),
        (lambda m: m.update(coef=[[1.0]]), "coef must be a list of numbers up to 1e"),
        (lambda m: m.update(coef=["x"] * 40), "is not a valid model"),
        (lambda m: m.update(coef=[1.0, 2.0]), "cannot be reproduced on this machine"),
        (lambda m: m.update(scale=[1.0]), "scale, layer and n_features do not match"),
        (lambda m: m.update(timezone="Mars"), "timezone must be a known time zone, got 'Mars'"),
        (lambda m: m.update(trained_days="abc"), "trained_days must be fingerprints of days"),
        (lambda m: m.update(ventilation_unit=3), "ventilation_unit must be a string, got 3"),
        (lambda m: m.update(interval=0), "interval must be a finite number above 0, got 0"),
        (lambda m: m.update(most_people=-3), r"most_people must be a finite number, 0 or more, got -3"),
        (
            lambda m: m.update(layer_seed=5),
            "the random layer of the model cannot be reproduced on this machine",
        ),
        (lambda m: m.update(layer_seed=-5), "is not a valid model"),
        (lambda m: m["layer"].update(horizon=5_000_000), "5000000 lags is too large for a model file"),
        (
            lambda m: m["layer"].update(kind="cnn"),
            "layer must have a known kind and integer numbers of readings",
        ),
        (lambda m: m["layer"].update(horizon=6.5), "layer must have a known kind and integer numbers"),
        (
            lambda m: m["layer"].update(stride=0),
            "stride must be an integer, 1 or more, got 0",
        ),
        (lambda m: m.update(smoothing=-4), "smoothing must be a finite number, 0 or more, got -4"),
        (lambda m: m.update(smoothing="x"), "is not a valid model"),
    ],
)
def test_forged_file_is_rejected(path, change, message):
    with pytest.raises(oc.InputError, match=message) as error:
        parse_model(forged(path, change))
    assert "\n" not in str(error.value)


def test_model_too_large_to_load_is_not_saved(estimator, monkeypatch):
    monkeypatch.setattr("occupair.model_file._MAX_WEIGHTS", 239)  # six lags, forty neurons
    with pytest.raises(
        oc.InputError, match="a hidden layer of 40 neurons and 6 lags is too large for a model file"
    ):
        dump_model(estimator)


def test_untrained_estimator_is_not_saved(tmp_path):
    with pytest.raises(NotFittedError):
        oc.OccupancyEstimator().save(tmp_path / "room.occupair")
    assert os.listdir(tmp_path) == []


def test_settings_of_training_are_saved(slow_office):
    model = oc.OccupancyEstimator(n_hidden=8, random_state=0).fit(slow_office)
    before = model.estimate(slow_office)
    loaded = parse_model(dump_model(model.set_params(smoothing=0, horizon=60)))
    pd.testing.assert_series_equal(loaded.estimate(slow_office), before)


def test_nan_is_rejected(path):
    content = path.read_bytes().replace(b'"most_people":', b'"most_people":NaN,"x":')
    with pytest.raises(oc.InputError, match="is damaged"):
        parse_model(content)


def test_missing_file_raises_file_not_found(tmp_path):
    with pytest.raises(FileNotFoundError):
        oc.OccupancyEstimator.load(tmp_path / "nowhere.occupair")


def test_infinite_number_is_rejected(path):
    content = path.read_bytes().replace(b'"most_people":', b'"most_people":1e999,"x":')
    with pytest.raises(oc.InputError, match="is not a valid model"):
        parse_model(content)


def test_trial_of_an_unknown_sensor_is_rejected(trained_room, tmp_path):
    path, trial = tmp_path / "room.occupair", {"name": "humidity", "change": -0.1, "kept": False}
    trained_room.save(path)
    known = parse_model(forged(path, lambda model: model.update(sensor_trials=[trial])))
    assert [str(one) for one in known.sensor_trials_] == ["humidity: -10.0 %, no clear gain, not used"]
    with pytest.raises(
        oc.InputError, match=r"sensor_trials must have a known sensor and a number, got 'smell', -0\.1"
    ):
        parse_model(forged(path, lambda model: model.update(sensor_trials=[trial | {"name": "smell"}])))
