"""Numbers of rooms in BACnet instance numbers: given once, kept for ever."""

from contextlib import closing

import pytest
from live.store_helpers import in_threads
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from occupair.errors import InputError
from occupair.live.store import Store


def test_numbers_are_given_in_order(store):
    assert store.room_numbers([]) == {}
    assert store.room_numbers(["lab", "hall", "lab"]) == {"lab": 1, "hall": 2}
    assert store.room_numbers(["attic", "hall", "lab"]) == {"attic": 3, "hall": 2, "lab": 1}


def test_removed_room_keeps_its_number(store):
    store.room_numbers(["lab", "hall"])
    assert store.room_numbers(["lab"]) == {"lab": 1}
    assert store.room_numbers(["lab", "attic"]) == {"lab": 1, "attic": 3}
    assert store.room_numbers(["hall", "lab"]) == {"hall": 2, "lab": 1}


def test_numbers_survive_a_restart(store, url):
    given = store.room_numbers([f"room-{k}" for k in range(3_000)])
    assert sorted(given.values()) == list(range(1, 3_001))
    with closing(Store(url)) as again:
        again.migrate()
        assert again.room_numbers(reversed(given)) == given


def test_forgotten_and_pruned_rooms_keep_their_numbers(store):
    store.room_numbers(["lab", "hall"])
    store.forget("lab")
    store.prune_to_newest_days(1)
    assert store.room_numbers(["new", "lab"]) == {"new": 3, "lab": 1}


def test_concurrent_callers_get_different_numbers(store):
    given = []
    rooms = [[f"{caller}-{k}" for k in range(20)] for caller in range(4)]
    in_threads([lambda some=some: given.append(store.room_numbers(some)) for some in rooms])
    numbers = [number for one in given for number in one.values()]
    assert sorted(numbers) == list(range(1, 81))


def test_database_refuses_a_number_twice(store):
    store.room_numbers(["lab"])
    with pytest.raises(IntegrityError), store.engine.begin() as connection:
        connection.execute(text("INSERT INTO bacnet_rooms (room, number) VALUES ('hall', 1)"))


def test_invalid_room_is_rejected(store):
    with pytest.raises(InputError, match="room must be valid Unicode text"):
        store.room_numbers(["lab\0"])
    assert store.room_numbers(["lab"]) == {"lab": 1}
