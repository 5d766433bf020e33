"""The command line: output, files written and error messages."""

import functools
import io
import json
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from command import occupair

import occupair as oc
from occupair.cli.shared import print_json
from occupair.report import paper_experiment

COMMANDS = [
    "simulate",
    "fit",
    "estimate",
    "evaluate",
    "reproduce",
    "datasets",
    "datasets fetch",
    "check",
    "benchmark",
    "validate",
]


@pytest.fixture(scope="module")
def desk(tmp_path_factory, slow_office):
    """A folder with three training days, one test day and a model fitted by the command line."""
    folder = tmp_path_factory.mktemp("desk")
    oc.write_readings(slow_office.iloc[: 3 * 288], folder / "train.csv")
    oc.write_readings(slow_office.iloc[3 * 288 :], folder / "test.csv")
    done = occupair(
        "fit", "train.csv", "--out", "room.occupair", "--paper", "--hidden", 40, "--draws", 1, cwd=folder
    )
    assert done.returncode == 0, done.stderr
    assert "room.occupair: trained on 3 days (864 readings, one every 5 min)" in done.stdout
    return folder


@pytest.fixture(scope="module")
def clean_days():
    """Five days of the simulated office, one reading per minute."""
    return oc.simulate_office(days=5, seed=0)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example(command):
    done = occupair(*command.split(), "--help")
    assert done.returncode == 0
    assert f"Example: occupair {command}" in done.stdout


def test_without_a_command_all_are_listed():
    done = occupair()
    assert all(command.split()[0] in done.stdout + done.stderr for command in COMMANDS)


@pytest.mark.parametrize("group", ["", "fleet", "groundtruth", "bacnet", "datasets", "export", "import"])
def test_descriptions_of_commands_are_not_cut_off(group):
    listed = occupair(*group.split(), "--help").stdout.partition("Commands:")[2]
    assert listed.count("\n") > 1
    assert "..." not in listed


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_simulate_writes_simulated_readings(tmp_path, suffix):
    done = occupair("simulate", "--out", tmp_path / f"office.{suffix}", "--days", "2", "--seed", "3")
    assert done.returncode == 0, done.stderr
    assert "2880 simulated readings, 2 weekdays" in done.stdout
    written = oc.read_readings(tmp_path / f"office.{suffix}")
    np.testing.assert_array_equal(written.to_numpy(), oc.simulate_office(2, seed=3).to_numpy())
    assert os.listdir(tmp_path) == [f"office.{suffix}"]


def test_fit_agrees_with_the_library(desk, estimator, last_day):
    model = oc.OccupancyEstimator.load(desk / "room.occupair")
    pd.testing.assert_series_equal(model.estimate(last_day), estimator.estimate(last_day))


def test_fit_defaults_to_the_default_estimator(desk, slow_office):
    assert occupair("fit", "train.csv", "--out", "plain.occupair", "--hidden", 8, cwd=desk).returncode == 0
    plain = oc.OccupancyEstimator.load(desk / "plain.occupair").get_params()
    assert plain == oc.OccupancyEstimator(n_hidden=8, random_state=0).get_params()


@pytest.fixture(scope="module")
def fitted(desk):
    """The output of fitting ours.occupair, a small default model."""
    return occupair("fit", "train.csv", "--out", "ours.occupair", "--hidden", 20, cwd=desk)


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


def test_check_notes_utc_times(tmp_path):
    office = oc.simulate_office(8, seed=1).iloc[::5].tz_localize("Europe/Copenhagen")
    oc.write_readings(office.tz_convert("UTC"), tmp_path / "office.csv")
    words = "utc_times: All times are in UTC, and days start at midnight UTC."
    assert words in occupair("check", "office.csv", cwd=tmp_path).stdout
    for zone in ("Europe/Copenhagen", "UTC"):
        assert "utc" not in occupair("check", "office.csv", "--timezone", zone, cwd=tmp_path).stdout


def test_lag_that_is_not_fully_used_is_noted(desk, percent_model):
    for lag, used in ((0, 0), (9, 0), (10, 10), (60, 20)):
        done = occupair("evaluate", "percent.occupair", "percent.csv", "--lag", lag, "--json", cwd=desk)
        assert json.loads(done.stdout)["lag_used"] == used
        text = occupair("evaluate", "percent.occupair", "percent.csv", "--lag", lag, cwd=desk).stdout
        assert (f"Lag used: {used} min instead of {lag} min" in text) == (lag != used)
    for model, readings in (("room.occupair", "test.csv"), ("percent.occupair", "percent.csv")):
        done = occupair("evaluate", model, readings, "--mode", "hindsight", "--json", cwd=desk)
        assert json.loads(done.stdout)["lag_used"] is None


def test_estimate_in_hindsight_has_intervals(desk, percent_model):
    options = ["--mode", "hindsight", "--interval", "0.9", "--out", "whole.csv"]
    done = occupair("estimate", "percent.occupair", "percent.csv", *options, cwd=desk)
    assert done.returncode == 0, done.stderr
    found = pd.read_csv(desk / "whole.csv")
    assert list(found) == ["time", "people", "people_whole", "low", "high"]
    model = oc.OccupancyEstimator.load(desk / "percent.occupair")
    expected = model.estimate(oc.read_readings(desk / "percent.csv"), mode="hindsight", interval=0.9)
    np.testing.assert_allclose(found[["people", "low", "high"]], expected.round(4), atol=1e-9)


def test_fit_warns_if_the_room_is_always_empty(desk, last_day):
    oc.write_readings(last_day.assign(occupancy=0), desk / "empty.csv")
    done = occupair("fit", "empty.csv", "--out", "empty.occupair", cwd=desk)
    assert (done.returncode, done.stderr) == (0, "")
    assert "trained on 1 day (288 readings" in done.stdout
    assert "The room is empty at every head count, so every estimate will be 0: train on days" in done.stdout


def test_column_names_can_be_mapped(desk, last_day):
    last_day.rename_axis("time").rename(columns={"co2": "Raum 7"}).to_csv(desk / "raum.csv")
    asked = occupair("estimate", "room.occupair", "raum.csv", cwd=desk).stderr
    assert "use --column co2='...' (in Python, columns={'co2': '...'})" in asked
    given = occupair("estimate", "room.occupair", "raum.csv", "--column", "co2=Raum 7", cwd=desk)
    assert given.returncode == 0, given.stderr
    wrong = occupair("estimate", "room.occupair", "raum.csv", "--column", "Raum 7", cwd=desk)
    assert "--column must be ours=theirs, e.g. co2='Raum 7', got Raum 7" in wrong.stderr


def test_check_reports_failed_reads(tmp_path):
    office = oc.simulate_office(8, seed=1)
    office.iloc[[700, 900], 0] = 0.0
    oc.write_readings(office, tmp_path / "office.csv")
    done = occupair("check", "office.csv", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")  # fit reads them as missing
    assert "DOUBTFUL (check before training)\n  failed_reads: CO2 reads 0 ppm 2 times" in done.stdout


def test_check_reports_all_faults_of_a_file(tmp_path):
    office = oc.simulate_office(8, seed=1).astype({"co2": object, "occupancy": float})
    office.iloc[700, 0] = "Bad"
    office.iloc[1170:1180, 2] = -2
    office.iloc[5000, 2] = 3.5
    office.rename_axis("time").to_csv(tmp_path / "office.csv")
    done = occupair("check", "office.csv", "--out", "page.html", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (1, "")
    assert "no_number: Row 702, column co2: must be a number, got 'Bad'." in done.stdout
    assert "negative_counts: The head count is negative in 10 readings, down to -2" in done.stdout
    assert "(first 2015-08-03 19:30)" in " ".join(done.stdout.split())
    assert "broken_counts: 1 of" in done.stdout
    assert "non-numeric values" in (tmp_path / "page.html").read_text()
    assert occupair("fit", "office.csv", cwd=tmp_path).returncode == 2


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


def test_check_of_good_readings(tmp_path, office):
    oc.write_readings(oc.simulate_office(8, seed=1), tmp_path / "office.csv")
    done = occupair("check", "office.csv", "--out", "check.html", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout.startswith("Fit to train on")
    assert (tmp_path / "check.html").read_text().startswith("<!DOCTYPE html>")


def test_check_of_clock_offset_exits_with_1(tmp_path):
    office = oc.simulate_office(8, seed=1)
    late = office.assign(co2=np.roll(office["co2"], 180))
    oc.write_readings(late, tmp_path / "late.csv")
    done = occupair("check", "late.csv", cwd=tmp_path)
    assert done.returncode == 1
    assert "CO2 is timestamped about 3 h late relative to the head counts" in done.stdout


def test_check_prints_json(tmp_path, clean_days):
    faulty = clean_days.copy()
    faulty.loc["2015-08-05 10:00":"2015-08-05 10:10", "co2"] = 65535.0
    faulty.loc["2015-08-06 19:30", "occupancy"] = -2.0
    oc.write_readings(faulty, tmp_path / "room.csv")
    done = occupair("check", "room.csv", "--json", "--out", "room.html", cwd=tmp_path)
    assert done.returncode == 1
    document = json.loads(done.stdout, parse_constant=pytest.fail)
    assert document["file"] == "room.csv"
    assert document["report"] == "room.html"
    assert (tmp_path / "room.html").is_file()
    assert document["fit_to_train"] is False
    assert document["verdict"].startswith("Not fit to train on: 2 faults to fix.")
    assert (document["days"], document["readings"], document["interval"]) == (5, 7200, 1.0)
    assert document["start"] == "2015-08-03T00:00:00"
    assert document["timezone"] is None
    found = {finding["code"]: finding for finding in document["findings"]}
    assert found["failed_reads"] == {
        "code": "failed_reads",
        "severity": "wrong",
        "finding": "CO2 reads 65535 ppm 11 times (first 2015-08-05 10:00): failed reads.",
        "fix": "Delete these rows.",
        "days": ["2015-08-05"],
        "times": [{"start": "2015-08-05T10:00:00", "end": "2015-08-05T10:10:00"}],
        "values": {"readings": 11, "share": 11 / 7200},
    }
    assert found["negative_counts"]["values"] == {"readings": 1, "lowest": -2.0}
    assert all(finding["finding"] for finding in document["findings"])


def test_json_of_check_names_row_and_column(tmp_path):
    lines = [f"2015-08-03 08:{minute:02d},{400 + minute}" for minute in range(30)]
    lines[10] = "2015-08-03 08:10,hot"
    (tmp_path / "room.csv").write_text("time,co2\n" + "\n".join(lines) + "\n")
    document = json.loads(occupair("check", "room.csv", "--json", cwd=tmp_path).stdout)
    found = {finding["code"]: finding for finding in document["findings"]}
    assert found["no_number"]["values"] == {"column": "co2", "row": 12, "rows": 1}
    assert found["no_number"]["fix"].startswith("Treated as missing here, but rejected by fit")


def test_undefined_numbers_are_null_in_json(capsys):
    print_json({"values": {"share": float("nan"), "range": (1.0, float("inf"))}})
    assert json.loads(capsys.readouterr().out) == {"values": {"share": None, "range": [1.0, None]}}


def test_benchmark_prints_tables_and_refuses_unknown_names(tmp_path, monkeypatch, slow_office):
    monkeypatch.setattr("occupair.datasets.benchmark_rooms.read_room", lambda name: slow_office)
    arguments = [
        "benchmark",
        "robod-3",
        "--methods",
        "mean,profile",
        "--lags",
        "0",
        "--cache",
        tmp_path / "cache",
    ]
    done = occupair(*arguments, "--out", tmp_path / "page.html")
    assert done.returncode == 0, done.stderr
    assert "| mean " in done.stdout
    assert json.loads(occupair(*arguments, "--json").stdout)
    assert (tmp_path / "page.html").exists()
    for wrong, message in (
        (["benchmark", "attic"], "unknown room 'attic', choose from sdu2018-1"),
        (["benchmark", "--methods", "oracle"], "'oracle'"),
        (["benchmark", "--lags", "soon"], "lags must be minutes separated by commas, got 'soon'"),
    ):
        done = occupair(*wrong)
        assert done.returncode == 2
        assert message in done.stderr
        assert done.stderr.count("\n") == 1


def test_datasets_lists_licence_and_location(monkeypatch, tmp_path):
    (tmp_path / "robod").mkdir()
    monkeypatch.setenv("OCCUPAIR_DATA", str(tmp_path))
    listed = occupair("datasets").stdout
    assert "sdu2018: Room-level Occupant Counts" in listed
    assert "CC-BY-4.0; https://github.com/ideas-lab-nus/robod" in listed
    assert f"in {tmp_path / 'robod'}" in listed


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["datasets", "fetch", "moon"], "occupair: unknown data set 'moon', choose from sdu2018"),
        (["fit", "nowhere.csv"], "occupair: nowhere.csv: No such file or directory"),
        (["fit", "."], "occupair: .: Is a directory"),
        (
            ["fit", "unlabelled.csv"],
            "occupair: unlabelled.csv: has no column 'occupancy', only 'co2', 'ventilation'",
        ),
        (["fit", "train.csv", "--out", "no/such/file"], "occupair: no/such/file: No such file or directory"),
        (
            ["fit", "train.csv", "--paper", "--horizon", "7"],
            "occupair: horizon must be a multiple of the",
        ),
        (
            ["fit", "train.csv", "--horizon", "30"],
            "occupair: --horizon and --stride apply to the paper's layers only: add --paper or",
        ),
        (
            ["fit", "train.csv", "--paper", "--like", "room.occupair", "--out", "new.occupair"],
            "occupair: --like applies to the default estimator only: drop --paper and --layer",
        ),
        (
            ["fit", "train.csv", "--like", "room.occupair", "--out", "room.occupair"],
            "occupair: --out room.occupair would overwrite the input file room.occupair: choose another name",
        ),
        (
            ["fit", "train.csv", "--like", "room.occupair", "--out", "fresh.occupair"],
            "occupair: rooms must all be trained with layer 'room', the default",
        ),
        (
            ["estimate", "room.occupair", "test.csv", "--interval", "0.9"],
            "occupair: interval must be omitted: the paper's estimators have no prediction interval",
        ),
        (
            ["estimate", "room.occupair", "test.csv", "--interval", "90"],
            "occupair: interval must be above 0 and below 1 (90 % is 0.9), got 90",
        ),
        (
            ["fit", "train.csv", "--layer", "cnn"],
            "occupair: layer must be one of room, fs-elm, elm, got 'cnn'",
        ),
        (
            ["fit", "train.csv", "--paper", "--horizon", "100000", "--out", "fresh.occupair"],
            "occupair: horizon must be shorter than a day (1440 min), got 100000 min",
        ),
        (["tune", "train.csv", "--horizon", "100000"], "occupair: horizon must be shorter than a day"),
        (["fit", "train.csv", "--ridge", "0"], "occupair: ridge must be a finite number above 0"),
        (
            ["fit", "train.csv", "--timezone", "Mars"],
            "occupair: timezone must be a time zone name such as Europe/Copenhagen, got 'Mars'",
        ),
        (
            ["fit", "train.csv", "--paper", "--horizon", "nan"],
            "occupair: horizon must be a number of minutes",
        ),
        (["fit", "none.parquet"], "occupair: none.parquet: No such file or directory"),
        (
            ["estimate", "room.occupair", "test.csv", "--lag", "inf"],
            "occupair: lag must be a number of minutes",
        ),
        (
            ["estimate", "room.occupair", "airless.csv"],
            "; if there is none, train a model without ventilation",
        ),
        (
            ["fit", "train.csv", "--out", "train.csv"],
            "--out train.csv would overwrite the input file train.csv",
        ),
        (["fit", "train.csv", "--out", "./train.csv"], "train.csv: choose another name"),
        (
            ["tune", "train.csv", "--out", "train.csv"],
            "--out train.csv would overwrite the input file train.csv",
        ),
        (
            ["check", "train.csv", "--out", "train.csv"],
            "--out train.csv would overwrite the input file train.csv",
        ),
        (
            ["estimate", "room.occupair", "test.csv", "--out", "test.csv"],
            "would overwrite the input file test.csv",
        ),
        (
            ["estimate", "room.occupair", "test.csv", "--out", "room.occupair"],
            "overwrite the input file room.occupair",
        ),
        (["tune", "nobody.csv"], "occupair: nobody.csv: all head counts are 0: there is nothing to tune on"),
        (["estimate", "train.csv", "test.csv"], "occupair: train.csv: is not an occupair model"),
        (
            ["estimate", "room.occupair", "minutes.csv"],
            "readings are every 1 min, but the model was trained on every 5 min: resample them",
        ),
        (
            ["estimate", "room.occupair", "test.csv", "--mode", "past"],
            "mode must be one of live, hindsight, drifting",
        ),
        (
            ["estimate", "room.occupair", "test.csv", "--out", "."],
            "is a folder: give a file name",
        ),
        (
            ["evaluate", "room.occupair", "unlabelled.csv"],
            "occupair: unlabelled.csv: has no column 'occupancy'",
        ),
        (["evaluate", "cut.occupair", "test.csv"], "occupair: cut.occupair: is damaged or truncated"),
        (["simulate", "--out", "no/such/folder.csv"], "No such file or directory"),
        (["reproduce", "--draws", "1", "--out", "no/such/report.html"], "No such file or directory"),
    ],
)
def test_user_error_is_one_line_with_exit_status_2(desk, slow_office, office, arguments, message):
    oc.write_readings(slow_office.drop(columns="occupancy"), desk / "unlabelled.csv")
    oc.write_readings(slow_office.drop(columns="ventilation"), desk / "airless.csv")
    oc.write_readings(office.iloc[:1440], desk / "minutes.csv")
    oc.write_readings(slow_office.assign(occupancy=0), desk / "nobody.csv")
    (desk / "cut.occupair").write_bytes((desk / "room.occupair").read_bytes()[:300])
    before = sorted(os.listdir(desk))
    done = occupair(*arguments, cwd=desk)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""
    assert sorted(os.listdir(desk)) == before


def test_brackets_are_printed_literally(desk, tmp_path):
    assert "error [people]" in occupair("evaluate", "room.occupair", "test.csv", cwd=desk).stdout
    (tmp_path / "d[").mkdir()
    assert (
        "d[/b].csv: 1440 simulated readings"
        in occupair("simulate", "--out", "d[/b].csv", "--days", 1, cwd=tmp_path).stdout
    )


def test_estimate_ignores_head_counts(desk, last_day):
    half = last_day.astype({"occupancy": float})
    half.iloc[100:, half.columns.get_loc("occupancy")] = np.nan
    oc.write_readings(half, desk / "half.csv")
    assert occupair("estimate", "room.occupair", "half.csv", cwd=desk).returncode == 0


def test_bug_prints_a_traceback(tmp_path):
    code = "import occupair.cli as c, occupair.simulation as s; s.simulate_office = None; c.main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "simulate", "--out", tmp_path / "x.csv"], capture_output=True, text=True
    )
    assert "Traceback" in done.stderr
    assert done.returncode == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["simulate", "--out", "x.csv", "--days", "0"],
        ["reproduce", "--draws", "0"],
        ["fit", "x.csv", "--hidden", "100000000"],
        ["tune", "x.csv", "--hidden", "100000000"],
    ],
)
def test_option_out_of_range_is_refused(tmp_path, arguments):
    done = occupair(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert f"Invalid value for '{arguments[-2]}'" in done.stderr
    assert os.listdir(tmp_path) == []


def test_reproduce_prints_both_tables_and_writes_the_report(tmp_path, monkeypatch):
    """The command with a small experiment: two training days, one test day, 20 neurons."""
    paper = oc.OccupancyEstimator.paper
    small = classmethod(lambda cls, **changes: paper(n_hidden=20, **changes))
    monkeypatch.setattr(oc.OccupancyEstimator, "paper", small)
    monkeypatch.setattr(paper_experiment, "DAYS", 3)
    monkeypatch.setattr(paper_experiment, "TRAIN_DAYS", 2)
    monkeypatch.setattr(paper_experiment, "reproduce", functools.cache(paper_experiment.reproduce))
    options = ["reproduce", "--draws", 2, "--out", "report.html"]
    done = occupair(*options, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "report.html").read_text().startswith("<!DOCTYPE html>")
    assert "The paper's data are not public. These results are for a simulation" in done.stdout
    lines = [line for line in done.stdout.splitlines() if " paper " in line and line[0] == "("]
    assert [line.split()[0] for line in lines] == ["(4)", "(21)", "(22)", "(24)", "(26)", "(16)", "(20)"]
    assert max(map(len, lines)) <= 80
    assert "5.9575" in lines[0]  # the paper's RMSE of the standard ELM
    assert "0.0012" in done.stdout
    assert "report.html" in done.stdout
    printed = json.loads(occupair(*options, "--json", cwd=tmp_path).stdout)
    assert set(printed["scores"]) == {"4", "21", "22", "24", "26"}
    assert printed["simulated"] is True
    assert printed["draws"] == 2
