"""The rooms of the benchmark are read as their facts say."""

import pytest

from occupair.datasets import DATASETS, ROOMS, read_robod, read_room
from occupair.errors import InputError
from occupair.readings.schema import check_readings, interval_of

KEYS = ["sdu2018-1", "sdu2018-2", "sdu2018-3", "sdu2018-4", "sdu2019-1", "robod-1", "robod-3", "uci864"]


def test_the_rooms():
    assert list(ROOMS) == KEYS
    assert {room.dataset for room in ROOMS.values()} == set(DATASETS) - {"uci357"}


@pytest.mark.parametrize("key", KEYS)
def test_every_room_is_as_its_facts_say(published, key):
    room = ROOMS[key]
    folder = published(room.dataset)
    readings = read_room(key, folder, aligned=False)
    assert readings["occupancy"].max() == room.most_people
    assert interval_of(readings) == room.interval
    assert check_readings(read_room(key)).notna().all(axis=None)


def test_the_room_that_was_asked_for(published):
    folder = published("robod")
    assert read_room("robod-3").equals(read_robod(folder, room=3, whole_days=False))


def test_no_such_room():
    with pytest.raises(InputError, match=r"unknown room 'attic', choose from sdu2018-1, sdu2018-2"):
        read_room("attic")


def test_a_room_whose_data_are_not_here(monkeypatch):
    monkeypatch.setattr("occupair.datasets.benchmark_rooms.find_folder", lambda name: None)
    message = r"robod-1: data set robod not found, .*'occupair datasets fetch robod' or set OCCUPAIR_DATA"
    with pytest.raises(InputError, match=message):
        read_room("robod-1")
