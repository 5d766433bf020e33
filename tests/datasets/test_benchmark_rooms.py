"""The rooms of the benchmark and their published properties."""

import numpy as np
import pytest

import occupair as oc
from occupair.datasets import BENCHMARK_ROOMS, DATASETS, ROOMS, read_robod, read_room
from occupair.errors import InputError
from occupair.readings.schema import check_readings, interval_of

KEYS = ["sdu2018-1", "sdu2018-2", "sdu2018-3", "sdu2018-4", "sdu2019-1", "robod-1", "robod-3", "uci864"]


def test_order_of_rooms():
    assert list(ROOMS) == KEYS
    assert list(BENCHMARK_ROOMS) == KEYS[:-1]
    assert {room.dataset for room in ROOMS.values()} == set(DATASETS) - {"uci357"}


@pytest.mark.parametrize("key", KEYS)
def test_room_has_its_published_properties(published, key):
    room = ROOMS[key]
    folder = published(room.dataset)
    readings = read_room(key, folder, aligned=False)
    assert readings["occupancy"].max() == room.most_people
    assert interval_of(readings) == room.interval
    assert check_readings(read_room(key)).notna().all(axis=None)


@pytest.mark.parametrize(
    ("key", "full", "unit"), [("sdu2018-2", 100, "%"), ("sdu2019-1", 100, "%"), ("robod-3", 50, "Hz")]
)
def test_ventilation_scale_is_written_and_read_back(published, tmp_path, key, full, unit):
    published(ROOMS[key].dataset)
    readings = read_room(key)
    assert (readings.attrs["ventilation_full"], readings.attrs["ventilation_unit"]) == (full, unit)
    readings = readings.iloc[:2000]
    oc.write_readings(readings, tmp_path / "room.csv")
    assert f"ventilation [{'%' if unit == '%' else '0..50 Hz'}]" in (tmp_path / "room.csv").read_text()
    again = oc.read_readings(tmp_path / "room.csv")
    np.testing.assert_array_equal(again["ventilation"], readings["ventilation"])
    assert (again.attrs["ventilation_full"], again.attrs["ventilation_unit"]) == (full, unit)


def test_read_room_selects_the_room(published):
    folder = published("robod")
    assert read_room("robod-3").equals(read_robod(folder, room=3, whole_days=False))


def test_unknown_room_is_refused():
    with pytest.raises(InputError, match=r"unknown room 'attic', choose from sdu2018-1, sdu2018-2"):
        read_room("attic")


def test_room_without_data_is_refused(monkeypatch):
    monkeypatch.setattr("occupair.datasets.benchmark_rooms.find_folder", lambda name: None)
    message = r"robod-1: data set robod not found, .*'occupair datasets fetch robod' or set OCCUPAIR_DATA"
    with pytest.raises(InputError, match=message):
        read_room("robod-1")
