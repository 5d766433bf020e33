"""Models know their training days: evaluate names them, fit and tune keep other models."""

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest
from command import occupair

import occupair as oc

EARLIER = Path(__file__).parent.parent / "compatibility" / "2026-11" / "room.occupair"
TINY = ("--hidden", 8)


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    """A folder with a room of six days, a model trained on the first four of them, and another room."""
    folder = tmp_path_factory.mktemp("desk")
    room = oc.simulate_office(days=6, seed=5).iloc[::5]
    oc.write_readings(room.iloc[: 4 * 288], folder / "train.csv")
    oc.write_readings(room.iloc[2 * 288 :], folder / "later.csv")
    oc.write_readings(room.iloc[4 * 288 :], folder / "new.csv")
    oc.write_readings(oc.simulate_office(days=6, seed=6).iloc[::5], folder / "other.csv")
    assert occupair("fit", "train.csv", *TINY, cwd=folder).returncode == 0
    return folder


def test_evaluate_on_the_training_file_says_so(desk):
    done = occupair("evaluate", "room.occupair", "train.csv", cwd=desk)
    assert done.returncode == 0
    message = "the model was trained on all 4 days scored here: evaluate it on other days"
    assert done.stderr == f"occupair: train.csv: {message}\n"


def test_evaluate_recognises_a_converted_training_file(desk):
    table = pd.read_csv(desk / "train.csv", parse_dates=["time"])
    table.rename(columns={"co2": "CO2 [ppm]"}).to_parquet(desk / "train.parquet")
    done = occupair("evaluate", "room.occupair", "train.parquet", "--json", cwd=desk)
    assert "trained on all 4 days scored here" in done.stderr
    document = json.loads(done.stdout)
    assert (document["days"], document["days_trained_on"]) == (4, 4)


def test_evaluate_counts_training_days(desk):
    done = occupair("evaluate", "room.occupair", "later.csv", cwd=desk)
    assert "later.csv: the model was trained on 2 of the 4 days scored here" in done.stderr


def test_evaluate_on_one_training_day(desk):
    lines = (desk / "train.csv").read_text().splitlines(keepends=True)
    (desk / "day.csv").write_text("".join(lines[:289]))
    done = occupair("evaluate", "room.occupair", "day.csv", cwd=desk)
    assert "day.csv: the model was trained on the only day scored here" in done.stderr


@pytest.mark.parametrize("file", ["new.csv", "other.csv"])
def test_evaluate_on_other_days_says_nothing(desk, file):
    done = occupair("evaluate", "room.occupair", file, "--json", cwd=desk)
    assert done.stderr == ""
    assert json.loads(done.stdout)["days_trained_on"] == 0


def test_training_days_of_an_earlier_model_are_unknown(desk):
    day = EARLIER.with_name("day.csv")
    done = occupair("evaluate", EARLIER, day, "--timezone", "Europe/Copenhagen", "--json", cwd=desk)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["days_trained_on"] is None


@pytest.fixture
def copy(desk, tmp_path):
    """A copy of the folder to write in."""
    return shutil.copytree(desk, tmp_path / "desk")


OTHER_ROOM = (
    "--out room.occupair is a model that was trained on none of these days, perhaps of another room: "
    "choose another name, or add --overwrite"
)


@pytest.mark.parametrize("command", ["fit", "tune"])
def test_model_of_another_room_is_kept(copy, command):
    before = (copy / "room.occupair").read_bytes()
    done = occupair(command, "other.csv", "--out", "room.occupair", *TINY, cwd=copy)
    assert (done.returncode, done.stderr) == (2, f"occupair: {OTHER_ROOM}\n")
    assert (copy / "room.occupair").read_bytes() == before


def test_default_name_of_the_model_is_kept_too(copy):
    assert occupair("fit", "other.csv", *TINY, cwd=copy).stderr == f"occupair: {OTHER_ROOM}\n"


def test_overwrite_replaces_any_model(copy):
    done = occupair("fit", "other.csv", "--overwrite", *TINY, cwd=copy)
    assert done.returncode == 0, done.stderr
    assert "trained on all 6 days" in occupair("evaluate", "room.occupair", "other.csv", cwd=copy).stderr


def test_same_room_is_trained_again_without_a_flag(copy):
    done = occupair("fit", "later.csv", *TINY, cwd=copy)
    assert done.returncode == 0, done.stderr


def test_model_of_an_earlier_version_is_kept(copy):
    shutil.copy(EARLIER, copy / "old.occupair")
    done = occupair("fit", "train.csv", "--out", "old.occupair", *TINY, cwd=copy)
    assert done.returncode == 2
    assert "--out old.occupair is a model of an earlier version, perhaps of another room" in done.stderr
    assert (copy / "old.occupair").read_bytes() == EARLIER.read_bytes()


def test_file_that_is_no_model_is_kept(copy):
    (copy / "notes.json").write_text("[]")
    done = occupair("fit", "train.csv", "--out", "notes.json", *TINY, cwd=copy)
    assert done.returncode == 2
    assert "--out notes.json exists and is not a readable model: choose another name" in done.stderr
    assert (copy / "notes.json").read_text() == "[]"
