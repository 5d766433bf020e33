"""Concurrent readers and writers: no deadlocks and no partial writes."""

import random
import threading

import pytest
from live.store_helpers import at, estimate, in_threads, reading
from live.waiting import HANG_GUARD

from occupair.live.messages import Label
from occupair.live.store import database


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """Let SQLite, whose queue of writers is not fair, wait for its turn on a slow machine."""
    monkeypatch.setattr(database, "BUSY_TIMEOUT", HANG_GUARD)


def test_readers_never_see_partial_writes(store):
    done = threading.Event()

    def write():
        try:
            for k in range(20):
                store.write(
                    [reading(minute=k + n / 50, co2=float(k)) for n in range(50)],
                    [estimate(minute=k)],
                )
        finally:
            done.set()

    def read():
        seen = 0
        while not done.is_set():
            stored = store.readings("lab", None, None)
            assert len(stored) % 50 == 0
            assert len(stored) >= seen  # and nothing has disappeared
            seen = len(stored)
            store.newest_readings()

    in_threads([write, read, read])
    assert len(store.readings("lab", None, None)) == 1000
    assert len(store.estimates("lab", None, None, limit=99)) == 20


def test_concurrent_writers_do_not_deadlock(store):
    rooms = [f"room {n}" for n in range(40)]

    def write(which):
        draw = random.Random(which)
        for k in range(10):
            order = draw.sample(rooms, len(rooms))
            store.write(
                [reading(room, k, co2=float(which)) for room in order],
                [estimate(room, k) for room in order],
            )

    def label():
        for k in range(10):
            store.add_label(Label("room 1", at(k), k, at(k)))
            store.activate("room 1", store.add_model("room 1", b"m", origin="trained"))

    in_threads([lambda n=n: write(n) for n in range(3)] + [label, label])
    assert all(len(store.readings(room, None, None)) == 10 for room in rooms)
    assert len(store.labels("room 1")) == 10
    assert [model.active for model in store.models("room 1")].count(True) == 1
