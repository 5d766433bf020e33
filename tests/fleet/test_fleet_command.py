"""The fleet commands: exit status, messages and files."""

import shutil
from contextlib import contextmanager

import pandas as pd
import pytest
from command import occupair
from fleet.immediate import Immediate
from fleet.portfolio import room_readings, write_rooms

from occupair.readings.files import write_readings


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch):
    """Run tasks in this process, which saves the start of worker processes."""

    @contextmanager
    def workers(number=None):
        yield Immediate()

    monkeypatch.setattr("occupair.fleet.fleet_run.local_workers", workers)


@pytest.fixture(scope="module")
def two_rooms(tmp_path_factory):
    """Data and models of two rooms."""
    folder = tmp_path_factory.mktemp("two")
    write_rooms(folder / "data", 2)
    with pytest.MonkeyPatch.context() as patch:
        in_this_process.__wrapped__(patch)
        done = occupair("fleet", "fit", folder / "data", "--out", folder / "models")
    assert done.returncode == 0, done.stderr
    return folder, done


def test_fit_reports_what_it_did(two_rooms):
    folder, done = two_rooms
    first, trust, sensors, table = done.stdout.splitlines()
    assert first.startswith("2 rooms trained, 0 failed, in ")
    assert trust == "Trust in the estimates: 2 good, 0 limited, 0 poor, 0 none. Fallbacks: 0."
    assert sensors == "CO2 sensors: 0 faulty, 0 to check."
    assert table.startswith(f"{folder / 'models'}/rooms.parquet: one row per room")
    assert len(pd.read_parquet(folder / "models/rooms.parquet")) == 2


def test_exit_status_tells_whether_all_some_or_none_succeeded(two_rooms, tmp_path):
    shutil.copytree(two_rooms[0] / "models", tmp_path / "models")
    shutil.copytree(two_rooms[0] / "data", tmp_path / "data")
    (tmp_path / "data/annex.csv").write_text("")
    some = occupair("fleet", "fit", tmp_path / "data", "--out", tmp_path / "models")
    assert some.returncode == 3
    assert "2 rooms trained, 1 failed, 2 of all unchanged, in " in some.stdout
    assert some.stderr == "occupair: annex: annex.csv: is empty\n"
    for path in (tmp_path / "data").glob("room*"):
        path.unlink()
    assert occupair("fleet", "fit", tmp_path / "data", "--out", tmp_path / "models").returncode == 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("fit", "nowhere", "--out", "models"), "nowhere: no such folder or file"),
        (("fit", "data", "--out", "m", "--timezone", "Mars"), "'Mars'"),
        (("fit", "data", "--out", "m", "--closed", "night"), "closed must be a period of the day"),
        (("fit", "data", "--out", "m", "--rooms", "missing.csv"), "missing.csv: No such file"),
        (("fit", "data", "--out", "m", "--workers", "2", "--scheduler", "tcp://127.0.0.1:1"), "drop it with"),
        (
            ("estimate", "data", "nowhere", "--out", "e"),
            "nowhere: has no trained rooms: run 'occupair fleet fit'",
        ),
        (("estimate", "data", "models", "--out", "e", "--interval", "2"), "above 0 and below 1"),
        (("evaluate", "data", "models", "--out", "scores.xlsx"), "must end in .csv or .parquet"),
        (("report", "nowhere"), "nowhere: has no trained rooms"),
        (("report", "models", "--out", "rooms.pdf"), "must end in .html"),
        (("split", "data", "--out", "parts"), "cannot be split"),
    ],
)
def test_mistakes_are_one_line(two_rooms, tmp_path, arguments, message):
    for name in ("data", "models"):
        (tmp_path / name).symlink_to(two_rooms[0] / name)
    done = occupair("fleet", *arguments, cwd=tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert message in done.stderr


def test_estimates_are_written_by_room(two_rooms, tmp_path):
    folder, _ = two_rooms
    done = occupair(
        "fleet", "estimate", folder / "data", folder / "models", "--out", tmp_path, "--interval", "0.9"
    )
    assert done.returncode == 0
    assert done.stdout.splitlines()[1] == f"{tmp_path}: {2 * 3 * 96} estimates."
    table = pd.read_parquet(tmp_path)  # as one data set
    assert list(table.columns) == ["time", "people", "low", "high", "room"]
    assert table["room"].value_counts().to_dict() == {"room-00": 288, "room-01": 288}
    assert ((table["low"] <= table["people"]) & (table["people"] <= table["high"])).all()


def test_evaluate_scores_every_room(two_rooms, tmp_path):
    folder, _ = two_rooms
    later = tmp_path / "later"
    later.mkdir()
    for number in (0, 1):
        readings = room_readings(number, days=5)
        write_readings(readings[readings.index >= "2015-08-06"], later / f"room-{number:02d}.csv")
    done = occupair("fleet", "evaluate", later, folder / "models", "--out", tmp_path / "scores.csv")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[1].startswith("Median of the rooms: RMSE ")
    scores = pd.read_csv(tmp_path / "scores.csv", index_col="room")
    assert scores["readings"].tolist() == [192, 192]
    assert scores["days_trained_on"].tolist() == [0, 0]
    seen = occupair("fleet", "evaluate", folder / "data", folder / "models")
    assert seen.stderr == "occupair: 2 rooms scored on days of their training: evaluate on other days\n"


def test_report_is_one_page(two_rooms, tmp_path):
    done = occupair("fleet", "report", two_rooms[0] / "models", "--out", tmp_path / "rooms.html")
    assert done.stdout.startswith(f"{tmp_path / 'rooms.html'}: 2 rooms, ")
    assert "room-01" in (tmp_path / "rooms.html").read_text()


def test_mixed_table_is_split_and_gives_the_same_models(two_rooms, tmp_path):
    folder, _ = two_rooms
    rooms = [room_readings(number).reset_index().assign(room=f"room-{number:02d}") for number in (0, 1)]
    pd.concat(rooms).sort_values("time").to_parquet(tmp_path / "all.parquet", index=False)
    done = occupair("fleet", "split", tmp_path / "all.parquet", "--out", tmp_path / "parts")
    assert done.stdout == f"{tmp_path / 'parts'}: 576 rows\n"
    assert occupair("fleet", "fit", tmp_path / "parts", "--out", tmp_path / "split").returncode == 0
    assert occupair("fleet", "fit", tmp_path / "all.parquet", "--out", tmp_path / "mixed").returncode == 0
    split, mixed = ((tmp_path / name / "rooms/room-01.occupair").read_bytes() for name in ("split", "mixed"))
    assert split == mixed == (folder / "models/rooms/room-01.occupair").read_bytes()


def test_missing_packages_are_named(monkeypatch, tmp_path):
    monkeypatch.setattr("occupair.cli.fleet.find_spec", lambda name: None)
    done = occupair("fleet", "report", tmp_path)
    assert (
        done.stderr
        == "occupair: fleet needs packages that are not installed: pip install 'occupair[fleet]'\n"
    )


def test_settings_of_the_live_service_use_the_models(two_rooms, tmp_path):
    settings = tmp_path / "rooms.toml"
    done = occupair(
        *("import", "fleet", two_rooms[0] / "models", "--co2", "bms/{room}/co2", "--out", settings),
        *("--ventilation", "bms/{room}/fan", "--timezone", "Europe/Copenhagen"),
    )
    assert (done.returncode, done.stderr) == (0, "occupair: 2 rooms; 2 lines marked CHECK\n")
    checked = occupair("serve", settings, "--check")
    assert (checked.returncode, checked.stderr) == (0, "")
    assert "room-01; room-01.occupair, a reading every 15 min, with ventilation;" in checked.stdout
