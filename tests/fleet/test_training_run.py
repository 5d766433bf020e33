"""Portfolios from files to models: single fits, planted faults, resumed runs."""

import os
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import pytest
from fleet.folders import facts, model_bytes
from fleet.immediate import Immediate
from fleet.portfolio import FAULTS, plant_faults, room_readings, write_rooms

import occupair as oc
from occupair.errors import InputError
from occupair.fleet.fleet_run import FleetRun
from occupair.fleet.room_options import RoomOptions
from occupair.fleet.training_run import fit_fleet, read_fleet
from occupair.model_file import dump_model
from occupair.readings.files import read_labelled, write_readings

pytestmark = pytest.mark.slow

HANG_GUARD = 300.0  # s


class Trained(NamedTuple):
    """A trained portfolio: its data, its models, and the run."""

    data: Path
    models: Path
    run: FleetRun


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A portfolio of 21 rooms, 9 of them with planted faults, trained on two worker processes."""
    data, models = tmp_path_factory.mktemp("portfolio"), tmp_path_factory.mktemp("models")
    write_rooms(data, 12)
    plant_faults(data)
    return Trained(data, models, fit_fleet(data, models, workers=2))


def by_room(run):
    return {result.room: result for result in run.results}


def test_models_equal_single_fits(trained):
    for room in ("room-00", "room-07"):
        readings = read_labelled(trained.data / f"{room}.csv")
        alone = oc.OccupancyEstimator(random_state=0).fit(readings)
        # three labelled days are few, so the portfolio may lend its start; here it has too few rooms for one
        assert (trained.models / f"rooms/{room}.occupair").read_bytes() == dump_model(alone)


@pytest.mark.parametrize("room", FAULTS)
def test_planted_fault_is_a_row_with_its_reason(trained, room):
    result, (_, reason) = by_room(trained.run)[room], FAULTS[room]
    assert reason in result.reason
    assert result.status == ("fallback" if room == "sparse" else "failed")
    assert (trained.models / f"rooms/{room}.occupair").exists() == (room == "sparse")


def test_other_rooms_are_trained(trained):
    good = [result for result in trained.run.results if result.room.startswith("room-")]
    assert len(good) == 12
    assert {(one.status, one.basis, one.days, one.labelled_days) for one in good} == {
        ("trained", "head counts", 3, 3)
    }
    assert trained.run.n_failed == len(FAULTS) - 1


def test_table_has_a_row_per_room(trained):
    table = pd.read_parquet(trained.models / "rooms.parquet")
    assert table["room"].tolist() == sorted(table["room"]) == [one.room for one in trained.run.results]
    assert facts(read_fleet(trained.models)) == facts(trained.run.results)


def test_second_run_trains_only_what_changed(trained, tmp_path):
    data, models = tmp_path / "data", tmp_path / "models"
    shutil.copytree(trained.data, data)
    shutil.copytree(trained.models, models)
    before = {path: path.stat().st_ino for path in (models / "rooms").glob("*.occupair")}
    write_readings(room_readings(77), data / "room-05.csv")
    (data / "room-06.csv").unlink()
    (models / "rooms/room-08.occupair").unlink()
    run = fit_fleet(data, models, executor=Immediate())
    after = {path: path.stat().st_ino for path in (models / "rooms").glob("*.occupair")}
    changed = {path.stem for path in after if after[path] != before.get(path)}
    assert changed == {"room-05", "room-08"}
    assert "room-06" not in by_room(run)
    same = model_bytes(trained.models).items() & model_bytes(models).items()
    assert len(same) == len(before) - 1


def test_only_failed_rooms_are_trained_again(trained, tmp_path):
    data, models = tmp_path / "data", tmp_path / "models"
    shutil.copytree(trained.data, data)
    shutil.copytree(trained.models, models)
    write_readings(room_readings(78), data / "empty.csv")
    write_readings(room_readings(79), data / "room-05.csv")
    run = fit_fleet(data, models, executor=Immediate(), only_failed=True)
    results = by_room(run)
    assert len(results) == 21
    assert (results["empty"].status, results["columns"].status) == ("trained", "failed")
    assert model_bytes(models)["room-05.occupair"] == model_bytes(trained.models)["room-05.occupair"]


def test_room_that_fails_now_loses_its_earlier_model(tmp_path):
    data, models = tmp_path / "data", tmp_path / "models"
    write_rooms(data, 1)
    fit_fleet(data, models, executor=Immediate())
    (data / "room-00.csv").write_text("")
    run = fit_fleet(data, models, executor=Immediate())
    assert (run.n_failed, model_bytes(models)) == (1, {})


def test_volume_and_seats_replace_unusable_head_counts(trained, tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    for name in ("nobody", "uncounted", "clock"):
        shutil.copy(trained.data / f"{name}.csv", data)
    (data / "rooms.csv").write_text(
        "room,volume,capacity\nnobody,502,35\nuncounted,502,35\nclock,502,35\nlobby,90,5\n"
    )
    results = by_room(fit_fleet(data, tmp_path / "models", executor=Immediate()))
    assert {room: (one.status, one.basis) for room, one in results.items()} == {
        "clock": ("fallback", "no head counts"),
        "lobby": ("failed", ""),
        "nobody": ("fallback", "no head counts"),
        "uncounted": ("trained", "no head counts"),
    }
    assert results["nobody"].reason.endswith("at any head count: trained on volume and seats")
    assert results["lobby"].reason == "no readings: the data have no file of this room"
    assert {one.trust for one in results.values()} <= {"limited", "poor", "none"}


def test_threads_train_the_same_models(trained, tmp_path):
    data = tmp_path / "data"
    write_rooms(data, 3)
    with ThreadPoolExecutor(2) as threads:
        fit_fleet(data, tmp_path / "models", executor=threads)
    found = model_bytes(tmp_path / "models")
    assert len(found) == 3
    assert found.items() <= model_bytes(trained.models).items()


def test_progress_counts_rooms_and_failures(trained, tmp_path):
    data, seen = tmp_path / "data", []
    write_rooms(data, 1)
    shutil.copy(trained.data / "empty.csv", data)
    fit_fleet(data, tmp_path / "models", executor=Immediate(), on_progress=lambda *one: seen.append(one))
    assert (seen[0], seen[-1]) == (("training", 0, 0, 2), ("training", 2, 1, 2))


def test_time_zone_of_all_rooms_applies_unless_a_room_has_its_own(tmp_path):
    data = tmp_path / "data"
    write_rooms(data, 2)
    (data / "rooms.toml").write_text('[rooms.room-01]\ntimezone = "Asia/Tokyo"\n')
    fit_fleet(data, tmp_path / "m", executor=Immediate(), defaults=RoomOptions(timezone="Europe/Copenhagen"))
    loaded = [oc.OccupancyEstimator.load(tmp_path / f"m/rooms/room-0{k}.occupair") for k in (0, 1)]
    assert [one.timezone_ for one in loaded] == ["Europe/Copenhagen", "Asia/Tokyo"]


def test_data_without_files_are_refused(tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="has no readings: no CSV or Parquet files"):
        fit_fleet(tmp_path / "empty", tmp_path / "models", executor=Immediate())
    with pytest.raises(InputError, match="no such folder or file"):
        fit_fleet(tmp_path / "nowhere", tmp_path / "models", executor=Immediate())


def test_killed_driver_is_resumed_with_the_same_models(trained, tmp_path):
    command = [sys.executable, "-m", "occupair", "fleet", "fit", str(trained.data)]
    driver = subprocess.Popen(
        [*command, "--out", str(tmp_path), "--workers", "2"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    end = time.monotonic() + HANG_GUARD
    while len(model_bytes(tmp_path)) < 3:
        assert time.monotonic() < end
        assert driver.poll() is None, "it was faster than this test"
        time.sleep(0.02)
    os.killpg(driver.pid, signal.SIGKILL)  # the driver and its workers, wherever they are
    driver.wait()
    done = model_bytes(tmp_path)
    assert done.items() <= model_bytes(trained.models).items()
    assert 3 <= len(done) < 13  # twelve rooms without faults, and one with a fallback
    run = fit_fleet(trained.data, tmp_path, executor=Immediate())
    assert model_bytes(tmp_path) == model_bytes(trained.models)
    assert facts(run.results) == facts(trained.run.results)


def test_output_that_cannot_be_written_ends_the_run_with_one_line(tmp_path, monkeypatch):
    write_rooms(tmp_path / "data", 2)

    def full_disk(path, content, *, private=False):
        raise OSError(28, "No space left on device")

    storage = "occupair.fleet.storage"
    monkeypatch.setattr(f"{storage}.Storage.check_writable", lambda self: None)
    monkeypatch.setattr(f"{storage}.write_atomically", full_disk)
    with pytest.raises(
        InputError, match=r"rooms/room-0[01].occupair: cannot be written: No space left on device"
    ):
        fit_fleet(tmp_path / "data", tmp_path / "models", executor=Immediate())
