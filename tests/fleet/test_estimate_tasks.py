"""Estimates of rooms, a year at a time, as on the whole record."""

import json

import numpy as np
import pandas as pd
import pytest
from fleet.portfolio import room_readings
from fleet.trained_rooms import model_of_room, write_model
from pyarrow import parquet

from occupair.fleet import estimate_tasks
from occupair.fleet.estimate_tasks import EstimateSettings, estimate_rooms, estimates_name
from occupair.fleet.room_options import RoomOptions
from occupair.fleet.room_sources import Part, RoomSource
from occupair.readings.files import write_readings


def long_record(first, days, *, zone=None, drift=0.0, readings_a_day=96):
    """CO2 every 15 min, with days that differ and a sensor that drifts by some ppm in all."""
    co2 = np.resize(room_readings(3)["co2"].to_numpy(), days * 96)
    co2 = co2 + np.repeat(np.random.default_rng(0).normal(0, 20, days), 96) + np.linspace(0, drift, days * 96)
    times = pd.date_range(first, periods=days * 96, freq="15min", tz=zone, name="time")
    return pd.DataFrame({"co2": co2}, index=times)[np.resize(np.arange(96) < readings_a_day, days * 96)]


class Rooms:
    """A room with readings, a model and a folder for estimates."""

    def __init__(self, folder, zone=None):
        self.folder = folder
        self.estimator = write_model(folder / "models", "lab", model_of_room(3, zone))
        self.source = RoomSource("lab", (Part(str(folder / "lab.parquet")),))

    def write(self, readings):
        write_readings(readings, self.folder / "lab.parquet")
        return readings

    def run(self, *sources, **settings):
        settings = EstimateSettings(str(self.folder / "models"), str(self.folder / "out"), **settings)
        return estimate_rooms(sources or (self.source,), settings)

    def estimates(self):
        file = self.folder / "out" / estimates_name("lab")
        table = parquet.read_table(file, partitioning=None)  # without the room in the name of the folder
        return table.to_pandas().set_index("time")


@pytest.fixture
def rooms(tmp_path):
    return Rooms(tmp_path)


def assert_equal(found, expected):
    expected = expected.to_frame() if isinstance(expected, pd.Series) else expected
    assert list(found.columns) == list(expected.columns)
    assert (found.index == expected.index).all()
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)


def test_record_of_more_than_a_year(rooms):
    readings = rooms.write(long_record("2023-11-01 00:00", 400, readings_a_day=8))
    (result,) = rooms.run().results
    whole = rooms.estimator.estimate(readings)
    assert_equal(rooms.estimates(), whole)
    assert (result.room, result.status, result.reason) == ("lab", "estimated", "")
    assert (result.estimates, result.first, result.last) == (3200, "2023-11-01", "2024-12-04")
    assert result.mean_people == pytest.approx(whole.mean(), abs=1e-9)
    assert result.most_people == pytest.approx(whole.max(), abs=1e-9)
    assert parquet.ParquetFile(rooms.folder / "out" / estimates_name("lab")).num_row_groups == 2


@pytest.mark.parametrize(("mode", "lag"), [("live", 20.0), ("hindsight", 0.0)])
@pytest.mark.parametrize("zone", [None, "Europe/Berlin", "America/Santiago"])
def test_pieces_are_the_whole_with_a_drifting_sensor(tmp_path, monkeypatch, zone, mode, lag):
    """With clock changes: on 31 March in Berlin, and at midnight of 8 September in Santiago."""
    monkeypatch.setattr(estimate_tasks, "YEAR", 8)
    rooms = Rooms(tmp_path, zone)
    first = "2024-09-08 05:00" if zone == "America/Santiago" else "2024-03-23 05:00"
    readings = rooms.write(long_record(first, 30, zone=zone, drift=150.0))
    rooms.run(mode=mode, lag=lag, interval=0.8)
    whole = rooms.estimator.estimate(readings, mode, lag=lag, interval=0.8)
    assert_equal(rooms.estimates(), whole)
    without_drift = rooms.estimator.estimate(readings.iloc[-96:])
    assert np.abs(whole["people"].iloc[-96:] - without_drift).max() > 1  # the days before matter


def test_days_are_those_of_the_model(tmp_path, monkeypatch):
    monkeypatch.setattr(estimate_tasks, "YEAR", 8)
    rooms = Rooms(tmp_path, "Asia/Tokyo")
    readings = rooms.write(long_record("2024-03-14 05:00", 30, zone="Europe/Berlin", drift=150.0))
    rooms.run()
    assert_equal(rooms.estimates(), rooms.estimator.estimate(readings))


def test_rest_of_a_single_reading_after_a_long_gap(rooms, monkeypatch):
    monkeypatch.setattr(estimate_tasks, "YEAR", 4)
    readings = long_record("2024-03-14", 4)
    alone = readings.iloc[-1:].set_axis([pd.Timestamp("2025-01-08 12:00")]).rename_axis("time")
    readings = rooms.write(pd.concat([readings, alone]))
    rooms.run()
    assert_equal(rooms.estimates(), rooms.estimator.estimate(readings))


def test_unchanged_rooms_are_not_estimated_again(rooms):
    rooms.write(long_record("2024-03-14", 2))
    first = rooms.run()
    path = rooms.folder / "out" / estimates_name("lab")
    before = path.stat().st_mtime_ns
    again = rooms.run()
    assert (first.n_unchanged, again.n_unchanged) == (0, 1)
    assert path.stat().st_mtime_ns == before
    for name in ("estimates", "first", "last", "mean_people", "most_people", "status"):
        assert getattr(again.results[0], name) == getattr(first.results[0], name)


@pytest.mark.parametrize(
    "change", ["model", "readings", "lag", "interval", "mode", "option", "damaged", "deleted"]
)
def test_changed_rooms_are_estimated_again(rooms, change):
    readings = rooms.write(long_record("2024-03-14", 2))
    rooms.run()
    path, settings, source, estimator = rooms.folder / "out" / estimates_name("lab"), {}, rooms.source, None
    if change == "model":
        estimator = write_model(rooms.folder / "models", "lab", model_of_room(3, None, 1))
    elif change == "readings":
        readings = rooms.write(readings + 1.0)
    elif change == "option":
        source = RoomSource("lab", source.parts, RoomOptions(dayfirst=True))
    elif change == "damaged":
        path.write_bytes(path.read_bytes()[:-10])
    elif change == "deleted":
        path.unlink()
    else:
        settings = {change: {"lag": 20.0, "interval": 0.9, "mode": "hindsight"}[change]}
    assert rooms.run(source, **settings).n_unchanged == 0
    expected = (estimator or rooms.estimator).estimate(readings, **settings)
    assert_equal(rooms.estimates(), expected)
    assert rooms.run(source, **settings).n_unchanged == 1


def test_estimates_are_a_partitioned_data_set(rooms):
    rooms.write(long_record("2024-03-14", 2))
    rooms.run()
    table = pd.read_parquet(rooms.folder / "out")
    assert table["room"].unique().tolist() == ["lab"]
    assert estimates_name("north/2.04") == "room=north%2F2.04/estimates.parquet"


def test_failed_rooms_are_rows_with_a_reason(rooms):
    rooms.write(long_record("2024-03-14", 2))
    for name in ("empty", "damaged", "slow", "clock"):
        write_model(rooms.folder / "models", name, model_of_room(3))
    (rooms.folder / "empty.csv").write_bytes(b"")
    write_readings(long_record("2024-03-14", 2).iloc[::2], rooms.folder / "slow.csv")
    utc = long_record("2024-03-14", 2, zone="UTC")
    write_readings(utc, rooms.folder / "clock.parquet")
    (rooms.folder / "models/rooms/damaged.occupair").write_bytes(b"{")
    files = {"empty": "empty.csv", "damaged": "lab.parquet", "slow": "slow.csv", "none": "lab.parquet"}
    files |= {"lab": "lab.parquet", "clock": "clock.parquet", "gone": "gone.csv"}
    write_model(rooms.folder / "models", "gone", model_of_room(3))
    found = rooms.run(*(RoomSource(room, (Part(str(rooms.folder / name)),)) for room, name in files.items()))
    reasons = {one.room: one.reason for one in found.results if one.status == "failed"}
    assert reasons.pop("empty") == "empty.csv: is empty"
    assert reasons.pop("none") == "has no model: see the reason in rooms.parquet of the models"
    assert reasons.pop("gone") == "gone.csv: file not found"
    assert reasons.pop("damaged") == "is not an occupair model"
    assert reasons.pop("slow").startswith(
        "readings are every 30 min, but the model was trained on every 15 min"
    )
    assert reasons.pop("clock").startswith(
        "readings: times are in UTC, but the model was trained on local times"
    )
    assert reasons == {}


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (MemoryError(), "out of memory: give the workers more"),
        (KeyError("x"), "unexpected error, please report it: KeyError: 'x'"),
    ],
)
def test_error_in_one_room_is_its_reason(rooms, monkeypatch, error, reason):
    rooms.write(long_record("2024-03-14", 2))

    def fail(*args):
        raise error

    monkeypatch.setattr(estimate_tasks, "model_of", fail)
    (result,) = rooms.run().results
    assert (result.status, result.reason) == ("failed", reason)


def test_model_of_local_times_gets_the_zone_of_the_room(rooms):
    readings = rooms.write(long_record("2024-03-14", 2, zone="UTC"))
    source = RoomSource("lab", rooms.source.parts, RoomOptions(timezone="Europe/Berlin"))
    (result,) = rooms.run(source).results
    assert result.status == "estimated"
    local = readings.set_axis(readings.index.tz_convert("Europe/Berlin"))
    found = rooms.estimates()["people"]
    np.testing.assert_allclose(found, rooms.estimator.estimate(local), rtol=0, atol=1e-9)


def test_facts_of_the_file_are_in_its_metadata(rooms):
    rooms.write(long_record("2024-03-14", 2))
    rooms.run()
    metadata = parquet.read_metadata(rooms.folder / "out" / estimates_name("lab")).metadata
    assert json.loads(metadata[b"occupair.room"])[:3] == [192, "2024-03-14", "2024-03-15"]
