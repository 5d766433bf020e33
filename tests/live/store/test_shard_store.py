"""Shards in the store: locks, heartbeats, states and notifications."""

import asyncio
import os
import signal
import subprocess
import sys
from contextlib import ExitStack, closing

import pytest
from live.fake_pipeline import make_state
from live.postgres import empty_database, need_postgres, shared_server
from live.store_helpers import at, reading
from live.waiting import HANG_GUARD, wait_for

from occupair.errors import InputError
from occupair.live.room_shards import Shard
from occupair.live.store import Store, StoreError, service_lock, store_lock
from occupair.live.store.shard_store import PAYLOAD_BYTES, SHARDS_CHANGED, notification_texts
from occupair.live.store.state_news import listen_for_news
from occupair.live.store.state_rows import from_text

pytestmark = need_postgres
ONE, TWO = Shard(1, 2), Shard(2, 2)
HOLDER = """
import sys, time
from occupair.live.room_shards import parse_shard
from occupair.live.store import Store, service_lock
with service_lock(Store(sys.argv[1]).engine, parse_shard(sys.argv[2])):
    print("locked", flush=True)
    time.sleep(600)
"""


@pytest.fixture
def url(tmp_path):
    return empty_database("postgresql", tmp_path)


@pytest.fixture(autouse=True)
def patience(monkeypatch):
    """Wait for locks that should be free: PostgreSQL unlocks shortly after a session was closed."""
    monkeypatch.setattr(store_lock, "PATIENCE", HANG_GUARD)


def refusal(store, shard, monkeypatch):
    """Return why a store cannot be locked, without its URL."""
    with monkeypatch.context() as patch:
        patch.setattr(store_lock, "PATIENCE", 0.0)
        with pytest.raises(InputError) as refused, service_lock(store.engine, shard):
            pass
    return str(refused.value).split(": ", 1)[1]


IN_USE = "is used by another occupair service: stop it, or use another store"


@pytest.mark.parametrize(
    ("held", "asked", "reason"),
    [
        (None, ONE, IN_USE),
        (ONE, None, IN_USE),
        (ONE, ONE, "shard 1/2 is running already"),
        (ONE, Shard(2, 4), "is used by shard 1/2: all shards must have the same number of shards"),
    ],
)
def test_services_exclude_each_other(store, held, asked, reason, monkeypatch):
    with closing(Store(store.url.render_as_string(hide_password=False))) as other:
        with service_lock(store.engine, held):
            assert refusal(other, asked, monkeypatch) == reason
        with service_lock(other.engine, asked):
            pass


def test_shards_of_the_same_number_share_a_store(store):
    with ExitStack() as held:
        for number in (1, 2, 3):
            held.enter_context(service_lock(store.engine, Shard(number, 3)))


def test_lock_works_before_the_tables_exist(url):
    with closing(Store(url)) as store, service_lock(store.engine, ONE):
        store.migrate()


def test_killed_shard_leaves_no_lock_and_is_seen_to_be_gone(store):
    url = store.url.render_as_string(hide_password=False)
    command = [sys.executable, "-c", HOLDER, url, "1/2"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout.readline() == "locked\n"
        store.write_heartbeat(ONE, 7, "here:1")
        assert store.heartbeats(2)[1].holds_lock
        os.kill(holder.pid, signal.SIGKILL)
    wait_for(lambda: not store.heartbeats(2)[1].holds_lock)
    with service_lock(store.engine, ONE):
        assert store.heartbeats(2) == {}, "the heartbeat of the killed run is not that of the new one"


def test_heartbeats_are_those_of_the_newest_run(store):
    run = store.start_run()
    store.write_heartbeat(TWO, run, "10.0.0.2:8099")
    store.write_heartbeat(TWO, run, "10.0.0.2:8099")
    assert store.start_run() > run
    (number,), (found,) = zip(*store.heartbeats(2).items(), strict=True)
    assert (number, found.run, found.address, found.holds_lock) == (2, run, "10.0.0.2:8099", False)
    assert 0 <= found.age < HANG_GUARD
    assert store.heartbeats(3) == {}
    store.remove_heartbeat(TWO, run - 1)  # of an earlier run
    assert set(store.heartbeats(2)) == {2}
    store.remove_heartbeat(TWO, run)
    assert store.heartbeats(2) == {}


def test_states_are_replaced_and_dropped(store):
    store.write_states([make_state("lab", 1), make_state("hall", 2)], 5)
    store.write_states([make_state("hall", 3)], 6)
    found = store.stored_states()
    assert {room: (one.run, from_text(one.text).people) for room, one in found.items()} == {
        "lab": (5, 1),
        "hall": (6, 3),
    }
    assert set(store.stored_states(["hall", "attic"])) == {"hall"}
    store.drop_states(TWO, {})  # hall belongs to it, lab does not
    assert set(store.stored_states()) == {"lab"}


def test_thousands_of_states_are_written_and_announced(store):
    states = [make_state(f"{'r' * 50}-{number:05d}", 1) for number in range(3_000)]

    async def announced():
        found = set()
        async with listen_for_news(store.engine) as news:
            await asyncio.to_thread(store.write_states, states, 1)
            while len(found) < len(states):
                found |= await news.wait(HANG_GUARD)
        return found

    assert asyncio.run(announced()) == {state.room for state in states}
    assert len(store.stored_states()) == 3_000


def test_notifications_fit_the_limit_of_postgresql():
    rooms = [f"{'r' * 58}-{number:05d}" for number in range(1_000)]  # the longest ids
    texts = list(notification_texts(rooms))
    assert " ".join(texts).split() == rooms
    assert max(map(len, texts)) <= PAYLOAD_BYTES < 8_000
    assert list(notification_texts([])) == []


def test_news_tell_of_starts_and_stops(store):
    async def heard():
        async with listen_for_news(store.engine) as news:
            assert await news.wait(0.01) == set()
            await asyncio.to_thread(store.write_heartbeat, ONE, 1, "here:1")
            started = await news.wait(HANG_GUARD)
            await asyncio.to_thread(store.write_heartbeat, ONE, 1, "here:1")  # no news
            await asyncio.to_thread(store.write_states, [make_state("lab")], 1)
            changed = await news.wait(HANG_GUARD)
            await asyncio.to_thread(store.remove_heartbeat, ONE, 1)
            return started, changed, await news.wait(HANG_GUARD)

    assert asyncio.run(heard()) == ({SHARDS_CHANGED}, {"lab"}, {SHARDS_CHANGED})


def test_schemas_of_one_database_have_separate_news():
    url = shared_server().database()
    with closing(Store(url)) as first, closing(Store(f"{url}?options=-csearch_path%3Dother")) as other:
        with first.engine.begin() as connection:
            connection.exec_driver_sql("CREATE SCHEMA other")
        for store in (first, other):
            store.migrate()

        async def heard():
            async with listen_for_news(first.engine) as news:
                await asyncio.to_thread(other.write_states, [make_state("lab")], 1)
                await asyncio.to_thread(first.write_states, [make_state("hall")], 1)
                return await news.wait(HANG_GUARD)

        assert asyncio.run(heard()) == {"hall"}


def test_lost_connection_is_a_one_line_error(store):
    async def lose():
        async with listen_for_news(store.engine) as news:
            with store.engine.begin() as connection:
                listening = "SELECT pid FROM pg_stat_activity WHERE query LIKE 'LISTEN %%'"
                of_this = "datname = current_database()"
                connection.exec_driver_sql(
                    f"SELECT pg_terminate_backend(pid, 60000) FROM ({listening} AND {of_this}) AS found"
                )
            await news.wait(HANG_GUARD)

    with pytest.raises(StoreError, match=r"^store postgresql://occupair@\S+: .*connection") as lost:
        asyncio.run(lose())
    assert "\n" not in str(lost.value)


def test_unavailable_database_is_a_one_line_error():
    async def connect():
        async with listen_for_news(Store("postgresql://me:secret@127.0.0.1:1/rooms").engine):
            pass

    with pytest.raises(StoreError, match=r"^store postgresql://me@127.0.0.1:1/rooms: ") as error:
        asyncio.run(connect())
    assert "secret" not in str(error.value)
    assert "\n" not in str(error.value)


def test_shard_prunes_its_own_rooms(store):
    store.write([reading(room, 0, co2=500.0) for room in ("lab", "hall", "removed")], [])
    owned = [room for room in ("lab", "hall", "removed") if TWO.owns(room)]
    assert store.prune(at(5), shard=TWO) == len(owned) > 0
    assert not any(store.readings(room, None, None) for room in owned)
    assert store.readings("lab", None, None)
    days = [day * 1440 for day in (0, 2, 3)]
    store.write([reading(room, minute, co2=500.0) for room in ("lab", "hall") for minute in days], [])
    assert store.prune_to_newest_days(1, shard=TWO) == 1
    assert [len(store.readings(room, None, None)) for room in ("lab", "hall")] == [3, 2]
