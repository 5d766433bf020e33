"""The commands fit, estimate and evaluate: they agree with the library, in any unit and time zone."""

import io
import json

import numpy as np
import pandas as pd
import pytest
from command import occupair

import occupair as oc


@pytest.fixture(scope="module")
def fitted(desk):
    """The output of fitting ours.occupair, a small default model."""
    return occupair("fit", "train.csv", "--out", "ours.occupair", "--hidden", 20, cwd=desk)


@pytest.fixture(scope="module")
def percent_model(desk, slow_office):
    """A default model, trained on local times and a damper position in %."""
    train = slow_office.iloc[: 3 * 288]
    train.assign(ventilation=train["ventilation"] * 100).rename(
        columns={"ventilation": "damper [%]"}
    ).rename_axis("time").to_csv(desk / "percent.csv")
    done = occupair("fit", "percent.csv", "--out", "percent.occupair", "--hidden", 8, cwd=desk)
    assert done.returncode == 0, done.stderr
    return oc.OccupancyEstimator.load(desk / "percent.occupair")


def test_fit_agrees_with_the_library(desk, estimator, last_day):
    model = oc.OccupancyEstimator.load(desk / "room.occupair")
    pd.testing.assert_series_equal(model.estimate(last_day), estimator.estimate(last_day))


def test_fit_defaults_to_the_default_estimator(desk, slow_office):
    assert occupair("fit", "train.csv", "--out", "plain.occupair", "--hidden", 8, cwd=desk).returncode == 0
    plain = oc.OccupancyEstimator.load(desk / "plain.occupair").get_params()
    assert plain == oc.OccupancyEstimator(n_hidden=8, random_state=0).get_params()


def test_fit_compares_co2_with_the_time_of_day(fitted):
    assert "CO2 improves on the time-of-day profile: RMSE on held-out days" in fitted.stdout
    assert "people with CO2," in fitted.stdout


def test_fit_like_starts_from_other_models(desk, fitted, slow_office):
    options = ["--like", "ours.occupair", "--like", "ours.occupair", "--hidden", 20]
    done = occupair("fit", "test.csv", "--out", "new.occupair", *options, cwd=desk)
    assert done.returncode == 0, done.stderr
    assert "Accuracy not assessed: only one labelled day" in done.stdout
    other = oc.OccupancyEstimator.load(desk / "ours.occupair")
    new = oc.OccupancyEstimator.transfer([other, other], n_hidden=20, random_state=0)
    new.fit(slow_office.iloc[3 * 288 :])
    written = oc.OccupancyEstimator.load(desk / "new.occupair")
    pd.testing.assert_series_equal(written.estimate(slow_office), new.estimate(slow_office))


def test_fit_warns_if_the_room_is_always_empty(desk, last_day):
    oc.write_readings(last_day.assign(occupancy=0), desk / "empty.csv")
    done = occupair("fit", "empty.csv", "--out", "empty.occupair", cwd=desk)
    assert (done.returncode, done.stderr) == (0, "")
    assert "trained on 1 day (288 readings" in done.stdout
    assert "The room is empty at every head count, so every estimate will be 0: train on days" in done.stdout


def test_estimate_with_prediction_interval(desk, fitted, last_day):
    done = occupair("estimate", "ours.occupair", "test.csv", "--interval", "0.8", "--lag", "10", cwd=desk)
    table = pd.read_csv(io.StringIO(done.stdout), parse_dates=["time"], index_col="time")
    ours = oc.OccupancyEstimator.load(desk / "ours.occupair").estimate(last_day, lag=10, interval=0.8)
    assert table.columns.tolist() == ["people", "people_whole", "low", "high"]
    np.testing.assert_allclose(table[["people", "low", "high"]], ours.round(4), atol=1e-9)


def test_estimate_writes_a_file_or_standard_output(desk, estimator, last_day):
    expected = estimator.estimate(last_day)
    done = occupair("estimate", "room.occupair", "test.csv", "--out", "people.csv", cwd=desk)
    assert done.returncode == 0, done.stderr
    assert "people.csv: 288 estimates" in done.stdout
    people = pd.read_csv(desk / "people.csv", parse_dates=["time"])
    np.testing.assert_allclose(people["people"], expected.round(4), rtol=0, atol=1e-9)
    np.testing.assert_array_equal(people["people_whole"], np.rint(expected))
    screen = occupair("estimate", "room.occupair", "test.csv", cwd=desk)
    assert screen.stdout == (desk / "people.csv").read_text()


def test_estimate_with_mode_and_lag(desk, estimator, last_day):
    for options, expected in (
        (["--mode", "hindsight"], estimator.estimate(last_day, mode="hindsight")),
        (["--lag", "20"], estimator.estimate(last_day, lag=20)),
    ):
        done = occupair("estimate", "room.occupair", "test.csv", "--out", "p.parquet", *options, cwd=desk)
        assert done.returncode == 0, done.stderr
        np.testing.assert_allclose(
            pd.read_parquet(desk / "p.parquet")["people"], expected.round(4), atol=1e-9
        )


def test_estimate_in_hindsight_has_intervals(desk, percent_model):
    options = ["--mode", "hindsight", "--interval", "0.9", "--out", "whole.csv"]
    done = occupair("estimate", "percent.occupair", "percent.csv", *options, cwd=desk)
    assert done.returncode == 0, done.stderr
    found = pd.read_csv(desk / "whole.csv")
    assert list(found) == ["time", "people", "people_whole", "low", "high"]
    model = oc.OccupancyEstimator.load(desk / "percent.occupair")
    expected = model.estimate(oc.read_readings(desk / "percent.csv"), mode="hindsight", interval=0.9)
    np.testing.assert_allclose(found[["people", "low", "high"]], expected.round(4), atol=1e-9)


def test_estimate_ignores_head_counts(desk, last_day):
    half = last_day.astype({"occupancy": float})
    half.iloc[100:, half.columns.get_loc("occupancy")] = np.nan
    oc.write_readings(half, desk / "half.csv")
    assert occupair("estimate", "room.occupair", "half.csv", cwd=desk).returncode == 0


def test_lag_that_is_not_fully_used_is_noted(desk, percent_model):
    for lag, used in ((0, 0), (9, 0), (10, 10), (60, 20)):
        done = occupair("evaluate", "percent.occupair", "percent.csv", "--lag", lag, "--json", cwd=desk)
        assert json.loads(done.stdout)["lag_used"] == used
        text = occupair("evaluate", "percent.occupair", "percent.csv", "--lag", lag, cwd=desk).stdout
        assert (f"Lag used: {used} min instead of {lag} min" in text) == (lag != used)
    for model, readings in (("room.occupair", "test.csv"), ("percent.occupair", "percent.csv")):
        done = occupair("evaluate", model, readings, "--mode", "hindsight", "--json", cwd=desk)
        assert json.loads(done.stdout)["lag_used"] is None


def test_evaluate_agrees_with_the_library(desk, estimator, last_day):
    done = occupair("evaluate", "room.occupair", "test.csv", "--json", cwd=desk)
    scores = oc.metrics.scores(last_day["occupancy"], estimator.estimate(last_day))
    printed = json.loads(done.stdout)
    assert {name: printed[name] for name in scores} == pytest.approx(scores)
    assert printed["readings"] == 288
    table = occupair("evaluate", "room.occupair", "test.csv", cwd=desk).stdout
    assert f"{scores['rmse']:.4f}" in table
    assert "rounded to whole people" in " ".join(table.split())


def test_evaluate_prints_null_for_undefined_scores(desk, last_day):
    oc.write_readings(last_day.assign(occupancy=3), desk / "full.csv")
    done = occupair("evaluate", "room.occupair", "full.csv", "--json", cwd=desk)
    assert json.loads(done.stdout)["fpr"] is None


def test_brackets_are_printed_literally(desk, tmp_path):
    assert "error [people]" in occupair("evaluate", "room.occupair", "test.csv", cwd=desk).stdout
    (tmp_path / "d[").mkdir()
    assert (
        "d[/b].csv: 1440 simulated readings"
        in occupair("simulate", "--out", "d[/b].csv", "--days", 1, cwd=tmp_path).stdout
    )


def test_column_names_can_be_mapped(desk, last_day):
    last_day.rename_axis("time").rename(columns={"co2": "Raum 7"}).to_csv(desk / "raum.csv")
    asked = occupair("estimate", "room.occupair", "raum.csv", cwd=desk).stderr
    assert "use --column co2='...' (in Python, columns={'co2': '...'})" in asked
    given = occupair("estimate", "room.occupair", "raum.csv", "--column", "co2=Raum 7", cwd=desk)
    assert given.returncode == 0, given.stderr
    wrong = occupair("estimate", "room.occupair", "raum.csv", "--column", "Raum 7", cwd=desk)
    assert "--column must be ours=theirs, e.g. co2='Raum 7', got Raum 7" in wrong.stderr


def test_ventilation_scale_of_training_applies_to_later_files(desk, slow_office, last_day):
    """The maximum flow in training, 600 m3/h, is full scale, so 300 m3/h is 0.5 in any later file."""
    train = slow_office.iloc[: 3 * 288]
    for name, part, factor in (("flow.csv", train, 600), ("low.csv", last_day, 300)):
        table = part.rename_axis("Zeit").rename(columns={"ventilation": "Zuluft [m3/h]"})
        table.assign(**{"Zuluft [m3/h]": table["Zuluft [m3/h]"] * factor}).to_csv(desk / name, sep=";")
    done = occupair("fit", "flow.csv", "--out", "flow.occupair", "--hidden", 8, cwd=desk)
    assert done.returncode == 0, done.stderr
    model = oc.OccupancyEstimator.load(desk / "flow.occupair")
    assert model.ventilation_full_ == 600
    done = occupair("estimate", "flow.occupair", "low.csv", "--out", "low-people.csv", cwd=desk)
    assert done.returncode == 0, done.stderr
    half = last_day.assign(ventilation=last_day["ventilation"] / 2)
    np.testing.assert_allclose(
        pd.read_csv(desk / "low-people.csv")["people"], model.estimate(half).round(4), atol=1e-9
    )


def test_other_ventilation_unit_is_converted_or_refused(desk, percent_model, last_day):
    for name, column, factor in (("share.csv", "damper", 1), ("flow-now.csv", "damper [m3/h]", 600)):
        table = last_day.assign(ventilation=last_day["ventilation"] * factor).rename_axis("time")
        table.rename(columns={"ventilation": column}).to_csv(desk / name)
    done = occupair("estimate", "percent.occupair", "share.csv", "--out", "share-people.csv", cwd=desk)
    assert (done.returncode, done.stderr) == (
        0,
        "occupair: share.csv: ventilation is read as 0..1, but the model was trained in %\n",
    )
    estimates = pd.read_csv(desk / "share-people.csv")["people"]
    np.testing.assert_allclose(estimates, percent_model.estimate(last_day).round(4), atol=1e-9)
    done = occupair("estimate", "percent.occupair", "flow-now.csv", cwd=desk)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "occupair: flow-now.csv, column damper [m3/h]: ventilation is in m3/h, but was in % in training: "
        "convert it to %, or train again on readings in m3/h\n"
    )


def test_other_time_zone_than_in_training_is_noted(desk, percent_model, last_day):
    """A day in UTC, converted back to the zone of the room, equals the day in local times."""
    aware = last_day.tz_localize("Europe/Copenhagen")
    oc.write_readings(aware.tz_convert("UTC"), desk / "utc.csv")
    done = occupair("evaluate", "percent.occupair", "utc.csv", "--json", cwd=desk)
    assert done.returncode == 2
    assert done.stderr.startswith(
        "occupair: utc.csv: readings: times are in UTC, but the model was trained on local times: convert "
        "them to the time zone of the room (--timezone; in Python, tz_convert), got 2"
    )
    aware.tz_convert("Etc/GMT-1").rename_axis("time").to_csv(desk / "offset.csv")
    done = occupair("evaluate", "percent.occupair", "offset.csv", "--json", cwd=desk)
    words = "offset.csv: times are in UTC+01:00, but the model was trained on local times: set the room's"
    assert words in done.stderr
    given = ["--timezone", "Europe/Copenhagen"]
    done = occupair("evaluate", "percent.occupair", "utc.csv", "--json", *given, cwd=desk)
    assert "time" not in done.stderr
    expected = oc.metrics.scores(last_day["occupancy"], percent_model.estimate(last_day))["rmse"]
    assert json.loads(done.stdout)["rmse"] == pytest.approx(expected)
    assert occupair("fit", "train.csv", "--out", "zone.occupair", "--hidden", 8, *given, cwd=desk)[0] == 0
    done = occupair("evaluate", "zone.occupair", "test.csv", cwd=desk)
    assert "test.csv: times are local, but the model was trained in Europe/Copenhagen: set" in done.stderr
    assert occupair("evaluate", "zone.occupair", "utc.csv", cwd=desk).stderr == ""  # is converted
    assert occupair("fit", "utc.csv", "--out", "utc.occupair", "--hidden", 8, cwd=desk).returncode == 0
    done = occupair("evaluate", "utc.occupair", "utc.csv", *given, cwd=desk)
    assert "utc.csv: times are converted to UTC, as in training: set the room's time zone" in done.stderr
