"""Fitting on sparse head counts, from files and from the database of the live service."""

import datetime as dt
import json
from importlib.util import find_spec

import numpy as np
import pytest
from command import occupair

import occupair as oc
from occupair.live.messages import Label, Reading
from occupair.live.store import Store
from occupair.metrics import rmse
from occupair.physics.room_properties import ACTIVITIES
from occupair.readings import thinning

ZONE = "Europe/Copenhagen"


@pytest.fixture(scope="module")
def counted(slow_office):
    """Head counts for half an hour every two hours, with weight 0.5 in the afternoon."""
    known = (slow_office.index.hour % 2 == 0) & (slow_office.index.minute < 30)
    weight = np.where(slow_office.index.hour >= 14, 0.5, 1.0)
    return slow_office.assign(occupancy=slow_office["occupancy"].where(known), occupancy_weight=weight)


@pytest.fixture(scope="module")
def desk(tmp_path_factory, counted):
    folder = tmp_path_factory.mktemp("desk")
    oc.write_readings(counted.iloc[: 3 * 288], folder / "train.csv")
    oc.write_readings(counted.iloc[3 * 288 :], folder / "test.csv")
    return folder


@pytest.fixture(scope="module")
def store(tmp_path_factory, counted):
    """A database of the live service: readings in UTC of a room in Copenhagen, and labels."""
    url = f"sqlite:///{tmp_path_factory.mktemp('store')}/rooms.db"
    store = Store(url)
    store.migrate()
    office = counted.tz_localize(ZONE).tz_convert("UTC")
    times = [time.to_pydatetime() for time in office.index]
    columns = zip(times, office["co2"], office["ventilation"], strict=True)
    store.write([Reading("lab", time, co2, flow, "http", time) for time, co2, flow in columns], [])
    store.write([Reading("hall", times[0], 500.0, None, "http", times[0])], [])
    for time, people in zip(times, office["occupancy"], strict=True):
        if people >= 0 and time.minute == 15:
            store.add_label(Label("lab", time, int(people), dt.datetime.now(dt.UTC)))
    yield store
    store.close()


def url_of(store):
    return store.url.render_as_string(hide_password=False)


def test_help_lists_all_activities():
    text = " ".join(occupair("fit", "--help").stdout.split())
    assert (
        f"What people do: {', '.join(ACTIVITIES).replace('seated', 'seated (default)')}; or the CO2 of"
        in text
    )


def test_fit_states_how_many_days_of_a_long_record_it_uses(tmp_path, slow_office, monkeypatch):
    monkeypatch.setattr(thinning, "MAX_DAYS", 2)
    oc.write_readings(slow_office.iloc[: 3 * 288], tmp_path / "long.csv")
    done = occupair("fit", "long.csv", "--hidden", 8, cwd=tmp_path)
    assert "trained on 2 of 3 days (864 readings, one every 5 min), up to" in done.stdout


def test_fit_uses_sparse_head_counts(desk, counted):
    done = occupair("fit", "train.csv", "--out", "ours.occupair", "--hidden", 8, cwd=desk)
    assert (done.returncode, done.stderr) == (0, "")
    words = "trained on 3 days (864 readings, one every 5 min, 216 of them labelled), up to"
    assert words in done.stdout
    model = oc.OccupancyEstimator(n_hidden=8, random_state=0).fit(counted.iloc[: 3 * 288])
    last = counted.iloc[3 * 288 :]
    ours = oc.OccupancyEstimator.load(desk / "ours.occupair")
    np.testing.assert_array_equal(ours.estimate(last), model.estimate(last))


def test_evaluate_scores_labelled_readings(desk, counted):
    assert occupair("fit", "train.csv", "--out", "ours.occupair", "--hidden", 8, cwd=desk).returncode == 0
    done = occupair("evaluate", "ours.occupair", "test.csv", "--json", cwd=desk)
    assert (done.returncode, done.stderr) == (0, "")
    last = counted.iloc[3 * 288 :]
    people = oc.OccupancyEstimator.load(desk / "ours.occupair").estimate(last)[last["occupancy"].notna()]
    scores = json.loads(done.stdout)
    assert scores["readings"] == 72
    assert scores["rmse"] == pytest.approx(rmse(last["occupancy"].dropna(), people))
    assert occupair("estimate", "ours.occupair", "test.csv", cwd=desk).stdout.count("\n") == 289


def test_head_count_with_weight_0_is_not_scored(desk, counted):
    last = counted.iloc[3 * 288 :]
    oc.write_readings(last.assign(occupancy_weight=(last.index.hour < 12) * 1.0), desk / "half.csv")
    assert occupair("fit", "train.csv", "--out", "ours.occupair", "--hidden", 8, cwd=desk).returncode == 0
    done = occupair("evaluate", "ours.occupair", "half.csv", "--json", cwd=desk)
    assert json.loads(done.stdout)["readings"] == 36


def test_paper_estimator_is_trained_on_labelled_readings(desk):
    done = occupair(
        "fit", "train.csv", "--out", "paper.occupair", "--paper", "--hidden", 8, "--draws", 1, cwd=desk
    )
    assert done.returncode == 2  # half an hour at a time is less than the horizon
    assert "must contain a day with more than 6 readings to train on" in done.stderr
    options = ["--paper", "--horizon", 10, "--stride", 5, "--hidden", 8, "--draws", 1]
    done = occupair("fit", "train.csv", "--out", "paper.occupair", *options, cwd=desk)
    assert (done.returncode, done.stderr) == (0, "")
    assert "trained on 3 days (216 readings, one every 5 min), up to" in done.stdout


def test_check_accepts_sparse_head_counts(desk):
    done = occupair("check", "train.csv", "--out", "check.html", cwd=desk)
    assert done.returncode in (0, 1)
    assert done.stderr == ""
    assert (desk / "check.html").stat().st_size > 1000


def test_too_few_head_counts_to_assess_accuracy(tmp_path, slow_office):
    known = np.isin(np.arange(len(slow_office)), [120, 288 + 150, 2 * 288 + 180])
    oc.write_readings(slow_office.assign(occupancy=slow_office["occupancy"].where(known)), tmp_path / "a.csv")
    done = occupair("fit", "a.csv", "--hidden", 5, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "trained on 3 days (1152 readings, one every 5 min, 3 of them labelled)" in done.stdout
    assert "Accuracy not assessed: too few head counts. Count at the same time" in done.stdout


def test_fit_from_a_store_agrees_with_the_library(tmp_path, store, counted):
    options = ["--room", "lab", "--store", url_of(store), "--timezone", ZONE, "--hidden", 8]
    done = occupair("fit", *options, "--out", "lab.occupair", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    # Labels at a quarter past every other hour, each applied to the readings within 5 min.
    words = "lab.occupair: trained on 4 days (1152 readings, one every 5 min, 144 of them labelled)"
    assert words in done.stdout
    assert "on held-out days" in done.stdout
    near = counted.index.minute.isin([10, 15, 20])
    at = counted["occupancy"].where(counted.index.minute == 15)
    held = counted.assign(occupancy=at.ffill(limit=1).bfill(limit=1).where(near)).drop(
        columns="occupancy_weight"
    )
    model = oc.OccupancyEstimator(n_hidden=8, random_state=0).fit(held.tz_localize(ZONE))
    ours = oc.OccupancyEstimator.load(tmp_path / "lab.occupair")
    assert ours.timezone_ == ZONE
    last = held.iloc[3 * 288 :].tz_localize(ZONE)
    np.testing.assert_allclose(ours.estimate(last), model.estimate(last), atol=1e-9)


def test_store_from_environment_and_note_on_time_zone(tmp_path, store, monkeypatch):
    monkeypatch.setenv("OCCUPAIR_STORE", url_of(store))
    done = occupair("fit", "--room", "lab", "--hidden", 5, cwd=tmp_path)
    assert done.returncode == 0
    words = "occupair: room lab: times of day are in UTC: set the room's time zone"
    assert done.stderr.startswith(words)
    assert oc.OccupancyEstimator.load(tmp_path / "room.occupair").timezone_ == "UTC"


def test_utc_times_of_a_file_are_noted(tmp_path, counted):
    oc.write_readings(counted.iloc[: 3 * 288].tz_localize("UTC"), tmp_path / "utc.csv")
    arguments = ("fit", tmp_path / "utc.csv", "--hidden", 5, "--overwrite")
    done = occupair(*arguments, cwd=tmp_path)
    assert done.returncode == 0
    assert done.stderr.startswith("occupair: ")
    assert "utc.csv: times of day are in UTC: set the room's time zone with --timezone" in done.stderr
    for zone in ("UTC", ZONE):  # chosen
        assert occupair(*arguments, "--timezone", zone, cwd=tmp_path).stderr == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a.csv", "--room", "lab"], "specify either READINGS or --room and --store, not both"),
        (["a.csv", "--store", "URL"], "specify either READINGS or --room and --store, not both"),
        ([], "specify either READINGS or a --room of the live service and its --store"),
        (["--room", "lab"], "specify either READINGS or a --room of the live service and its --store"),
        (["--store", "URL"], "specify either READINGS or a --room of the live service and its --store"),
        (
            ["--room", "lab", "--store", "URL", "--dayfirst"],
            "--column and --dayfirst apply to files only: drop them with --store",
        ),
        (
            ["--room", "attic", "--store", "URL"],
            "store sqlite:///PATH: has no readings of room 'attic', only of 'hall', 'lab'",
        ),
        (
            ["--room", "hall", "--store", "URL"],
            "store sqlite:///PATH: room 'hall' has no labels: enter head counts on its page",
        ),
        (["--room", "lab", "--store", "sqlite:///none.db"], "store sqlite:///none.db: file not found"),
        (["--room", "lab", "--store", "mysql://u:secret@h/x"], "--store must be "),
        (
            ["--room", "lab", "--store", "URL", "--timezone", "Mars"],
            "timezone must be a time zone name",
        ),
        (
            ["--room", "lab", "--store", "URL", "--paper", "--timezone", "UTC"],
            "room lab: readings: head counts are missing at 1008 of 1152 readings; the paper's layers need",
        ),
    ],
)
def test_user_error_is_one_line(tmp_path, store, arguments, message, monkeypatch):
    monkeypatch.delenv("OCCUPAIR_STORE", raising=False)
    path = str(store.url.database)
    arguments = [url_of(store) if word == "URL" else word for word in arguments]
    done = occupair("fit", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("occupair: " + message.replace("PATH", path)), done.stderr
    assert done.stderr.count("\n") == 1
    assert "secret" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_foreign_database_is_refused(tmp_path):
    import sqlite3

    sqlite3.connect(tmp_path / "other.db").close()
    (tmp_path / "other.db").touch()
    done = occupair("fit", "--room", "lab", "--store", f"sqlite:///{tmp_path}/other.db", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("occupair: store sqlite:///")


def test_missing_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(
        "occupair.cli.service.find_spec", lambda name: None if name == "sqlalchemy" else find_spec(name)
    )
    done = occupair("fit", "--room", "lab", "--store", "sqlite:///a.db", cwd=tmp_path)
    words = "occupair: fit --store requires packages that are not installed: pip install 'occupair[live]'\n"
    assert (done.returncode, done.stderr) == (2, words)


def test_closed_hours_are_given_as_options(desk):
    options = ["--hidden", 8, "--closed", "22:00-24:00", "--closed", "0:00-6:00"]
    done = occupair("fit", "train.csv", "--out", "closed.occupair", *options, cwd=desk)
    assert (done.returncode, done.stderr) == (0, "")
    assert oc.OccupancyEstimator.load(desk / "closed.occupair").closed == ("22:00-24:00", "0:00-6:00")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--closed", "night"], "closed must be a period of the day such as '22:00-06:00', got 'night'"),
        (["--closed", "22:00-06:00", "--paper"], "--closed applies to the default estimator only"),
    ],
)
def test_wrong_closed_hours_are_one_line(desk, options, message):
    done = occupair("fit", "train.csv", "--out", "wrong.occupair", *options, cwd=desk)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (desk / "wrong.occupair").exists()


@pytest.fixture
def uncounted(tmp_path, slow_office):
    oc.write_readings(slow_office.drop(columns="occupancy"), tmp_path / "room.csv")
    return tmp_path


def test_fit_without_head_counts_from_size_and_seats(uncounted, slow_office):
    done = occupair("fit", "room.csv", "--volume", 502, "--capacity", 35, cwd=uncounted)
    assert (done.returncode, done.stderr) == (0, "")
    assert "no head counts), up to" in done.stdout
    assert "people were inferred from CO2 without any head count" in done.stdout
    assert "Air change rate at ventilation 1:" in done.stdout
    assert "Not calibrated by head counts yet" in done.stdout
    oc.write_readings(slow_office, uncounted / "counted.csv")
    scores = occupair("evaluate", "room.occupair", "counted.csv", "--json", cwd=uncounted)
    assert json.loads(scores.stdout)["rmse"] < 0.5 * slow_office["occupancy"].std()


def test_fit_without_head_counts_and_size_says_what_is_missing(uncounted):
    done = occupair("fit", "room.csv", cwd=uncounted)
    assert done.returncode == 2
    assert "has no column 'occupancy'" in done.stderr
    assert "volume and capacity" in done.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--volume", 502], "the size of the room is given without capacity"),
        (["--capacity", 35], "capacity is given without the size of the room"),
        (["--volume", 502, "--capacity", 35, "--activity", "dancing"], "activity must be one of"),
        (["--volume", 502, "--capacity", 35, "--paper"], "--volume and --capacity apply to the default"),
    ],
)
def test_incomplete_size_is_refused(uncounted, options, message):
    done = occupair("fit", "room.csv", *options, cwd=uncounted)
    assert done.returncode == 2
    assert message in done.stderr


def test_check_reports_the_air_of_a_room(uncounted):
    done = occupair("check", "room.csv", "--volume", 502, "--capacity", 35, cwd=uncounted)
    assert done.returncode == 0  # head counts are not needed
    assert "Outdoor air with 35 people:" in done.stdout
    found = occupair("check", "room.csv", "--volume", 502, "--capacity", 35, "--json", cwd=uncounted)
    assert json.loads(found.stdout)["air"]["volume"] == 502
