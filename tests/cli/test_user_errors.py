"""User errors are one line with exit status 2; a traceback means a bug."""

import os
import subprocess
import sys

import pytest
from command import occupair

import occupair as oc


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


def test_bug_prints_a_traceback(tmp_path):
    code = "import occupair.cli as c, occupair.simulation as s; s.simulate_office = None; c.main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "simulate", "--out", tmp_path / "x.csv"], capture_output=True, text=True
    )
    assert "Traceback" in done.stderr
    assert done.returncode == 1
