"""Durability of the store: kill -9, full disk, database restarts."""

import datetime as dt
import random
import signal
from contextlib import closing
from pathlib import Path

import pytest
from live import postgres
from live.postgres import PASSWORD, need_postgres, postgres_to_stop
from live.store_helpers import EIGHT, estimate, reading, start_child
from sqlalchemy import event, select, text

from occupair.live.store import Store, StoreError, schema


def test_commit_waits_for_the_disk(store):
    with store.engine.connect() as connection:
        if store.engine.name == "sqlite":
            settings = [
                connection.execute(text(f"PRAGMA {name}")).scalar()
                for name in ("journal_mode", "synchronous")
            ]
            assert settings == ["wal", 2]  # 2 is FULL
            return
        name = connection.execute(text("SELECT current_database()")).scalar()
        connection.execute(text(f"ALTER DATABASE {name} SET synchronous_commit = off"))
        connection.commit()
    store.close()
    with store.engine.connect() as connection:
        assert connection.execute(text("SHOW synchronous_commit")).scalar() == "on"
        assert connection.execute(text("SHOW fsync")).scalar() == "on"


WRITER = """
import sys, datetime as dt
from occupair.live.messages import EstimateRecord, Quality, Reading
from occupair.live.store import Store
store, start = Store(sys.argv[1]), int(sys.argv[2])
for k in range(start, start + 100_000):
    time = dt.datetime(2024, 1, 8, 8, tzinfo=dt.UTC) + dt.timedelta(seconds=k)
    rooms = [f"room {n}" for n in range(50)]
    store.write(
        [Reading(room, time, float(k), None, "mqtt", time) for room in rooms],
        [EstimateRecord(room, time, 1.0, None, None, (None,), 1.0, 1.0, None, Quality.OK) for room in rooms],
    )
    print(k, flush=True)
"""


def test_acknowledged_writes_survive_kill_9(store, url):
    draw, start, acknowledged = random.Random(5), 0, set()
    for _ in range(2):
        writer = start_child(WRITER, url, str(start))
        n_lines = draw.randrange(1, 30)
        acknowledged |= {int(writer.stdout.readline()) for _ in range(n_lines)}
        writer.send_signal(signal.SIGKILL)
        rest, errors = writer.communicate()
        assert (writer.returncode, errors) == (-signal.SIGKILL, "")
        acknowledged |= {int(line) for line in rest.splitlines(keepends=True) if line.endswith("\n")}
        start += 100_000
    rooms = [f"room {n}" for n in range(50)]
    stored = [{int(r.co2) for r in store.readings(room, None, None)} for room in rooms]
    estimated = [{e.time for e in store.estimates(room, None, None, limit=10**6)} for room in rooms]
    assert acknowledged <= stored[0]
    assert all(one == stored[0] for one in stored)  # whole transactions only
    assert all(one == {EIGHT + dt.timedelta(seconds=k) for k in stored[0]} for one in estimated)
    assert len(stored[0]) - len(acknowledged) <= 2  # at most one unacknowledged write per kill


def test_full_disk_is_a_one_line_error_and_rolls_back(store):
    limit_space(store, True)
    many = [reading(f"room {n}", k, co2=500.0) for n in range(100) for k in range(50)]
    some = [reading(f"room {n}", k, co2=500.0) for n in range(3) for k in range(5)]
    store.write(some, [])
    for _ in range(3):
        with pytest.raises(
            StoreError, match=r"^store \S+: .*(disk is full|No space left on device).*$"
        ) as caught:
            store.write(many, [estimate(f"room {n}") for n in range(100)])
        assert "\n" not in str(caught.value)
    assert store.ping()
    assert {room: len(store.readings(room, None, None)) for room in ("room 0", "room 9")} == {
        "room 0": 5,
        "room 9": 0,
    }
    limit_space(store, False)
    store.write(many, [estimate("room 1")])
    assert len(store.newest_readings()) == 100
    assert len(store.estimates("room 1", None, None, limit=9)) == 1


def limit_space(store: Store, full: bool) -> None:
    """Limit the space of the database, or lift the limit."""
    if store.engine.name == "sqlite":
        pages = 40 if full else 2**30
        event.listen(
            store.engine, "connect", lambda c, _: c.execute(f"PRAGMA max_page_count = {pages}").close()
        )
        store.close()
        return
    with store.engine.begin() as connection:  # a really full disk would stop the server of all tests
        connection.execute(text("DROP TRIGGER IF EXISTS full_disk ON estimates"))
        if full:
            connection.execute(
                text(
                    "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
                    "RAISE EXCEPTION 'could not extend file: No space left on device' "
                    "USING ERRCODE = 'disk_full'; END $$"
                )
            )
            made = "CREATE TRIGGER full_disk BEFORE INSERT ON estimates EXECUTE FUNCTION full_disk()"
            connection.execute(text(made))


def test_file_size_limit_is_a_one_line_error(tmp_path):
    """The operating system refuses the write. In a child process, because the limit cannot be lifted."""
    code = """
import resource, sys
sys.path[:0] = sys.argv[2:]
from live.store_helpers import reading
from occupair.live.store import Store, StoreError
store = Store(sys.argv[1])
store.migrate()
store.write([reading(co2=1.0)], [])
before = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, before[1]))
many = [reading(f"room {n}", k, co2=500.0) for n in range(100) for k in range(50)]
try:
    store.write(many, [])
except StoreError as error:
    print(str(error).partition(": ")[2])
resource.setrlimit(resource.RLIMIT_FSIZE, before)
print(len(store.newest_readings()))
store.write(many, [])
print(len(store.newest_readings()))
store.close()
"""
    here = str(Path(__file__).parents[2])
    done = start_child(code, f"sqlite:///{tmp_path / 'rooms.db'}", here)
    assert done.communicate(timeout=600) == ("disk I/O error\n1\n101\n", "")


@need_postgres
def test_store_reconnects_after_a_database_restart():
    with postgres_to_stop() as server, closing(Store(server.url)) as store:
        store.migrate()
        store.write([reading(co2=500.0)], [])
        for how in (signal.SIGINT, signal.SIGQUIT):  # orderly, and as in a crash
            server.stop(how)
            assert not store.ping()
            for _ in range(2):
                with pytest.raises(
                    StoreError, match=r"^store postgresql://occupair@127.0.0.1:\d+/postgres: "
                ) as caught:
                    store.write([reading(minute=1, co2=1.0)], [])
                assert "\n" not in str(caught.value)
                assert PASSWORD not in str(caught.value)
            server.start()
            assert store.readings("lab", None, None) == [reading(co2=500.0)]
            store.write([reading(minute=2, co2=502.0)], [])
            assert store.newest_reading("lab") == reading(minute=2, co2=502.0)
            with store.engine.begin() as connection:
                connection.execute(schema.readings.delete().where(schema.readings.c.co2 == 502.0))


@need_postgres
def test_interrupted_write_is_rolled_back():
    with closing(Store(postgres.shared_server().database())) as store:
        store.migrate()

        def disconnect(connection, cursor, statement, parameters, context, many):
            if "INTO estimates" in statement:
                with store.engine.connect() as other:
                    pid = connection.connection.dbapi_connection.info.backend_pid
                    other.execute(select(text(f"pg_terminate_backend({pid}, 5000)")))

        event.listen(store.engine, "before_cursor_execute", disconnect)
        with pytest.raises(StoreError, match=r"^store postgresql://\S+: "):
            store.write([reading(co2=500.0)], [estimate()])
        event.remove(store.engine, "before_cursor_execute", disconnect)
        assert store.readings("lab", None, None) == []
        store.write([reading(co2=500.0)], [estimate()])
        assert store.readings("lab", None, None) == [reading(co2=500.0)]
