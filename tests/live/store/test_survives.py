"""What the store took is there: after a kill, on a full disk, with a database that was away."""

import datetime as dt
import random
import signal
from contextlib import closing
from pathlib import Path

import pytest
from live import postgres
from live.postgres import PASSWORD, need_postgres, postgres_to_stop
from live.store_parts import EIGHT, child, thought, told
from sqlalchemy import event, select, text

from occupair.live.store import Store, StoreError, schema


def test_the_disk_is_waited_for(store):
    with store.engine.connect() as connection:
        if store.engine.name == "sqlite":
            asked = [
                connection.execute(text(f"PRAGMA {name}")).scalar()
                for name in ("journal_mode", "synchronous")
            ]
            assert asked == ["wal", 2]  # 2 is FULL
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
        [EstimateRecord(room, time, 1.0, None, None, None, 1.0, 1.0, None, Quality.OK) for room in rooms],
    )
    print(k, flush=True)
"""


def test_what_was_written_survives_kill_9(store, url):
    draw, start, acknowledged = random.Random(5), 0, set()
    for _ in range(2):
        writer = child(WRITER, url, str(start))
        wait = draw.randrange(1, 30)
        acknowledged |= {int(writer.stdout.readline()) for _ in range(wait)}
        writer.send_signal(signal.SIGKILL)
        rest, said = writer.communicate()
        assert (writer.returncode, said) == (-signal.SIGKILL, "")
        acknowledged |= {int(line) for line in rest.splitlines(keepends=True) if line.endswith("\n")}
        start += 100_000
    rooms = [f"room {n}" for n in range(50)]
    kept = [{int(r.co2) for r in store.readings(room, None, None)} for room in rooms]
    counted = [{e.time for e in store.estimates(room, None, None, limit=10**6)} for room in rooms]
    assert acknowledged <= kept[0]
    assert all(one == kept[0] for one in kept)  # whole transactions only
    assert all(one == {EIGHT + dt.timedelta(seconds=k) for k in kept[0]} for one in counted)
    assert len(kept[0]) - len(acknowledged) <= 2  # one that was not acknowledged, at most, for each kill


def test_a_full_disk_is_one_line_and_leaves_nothing_half_written(store):
    fill_up(store, True)
    many = [told(f"room {n}", k, co2=500.0) for n in range(100) for k in range(50)]
    some = [told(f"room {n}", k, co2=500.0) for n in range(3) for k in range(5)]
    store.write(some, [])
    for _ in range(3):
        with pytest.raises(
            StoreError, match=r"^store \S+: .*(disk is full|No space left on device).*$"
        ) as caught:
            store.write(many, [thought(f"room {n}") for n in range(100)])
        assert "\n" not in str(caught.value)
    assert store.ping()
    assert {room: len(store.readings(room, None, None)) for room in ("room 0", "room 9")} == {
        "room 0": 5,
        "room 9": 0,
    }
    fill_up(store, False)
    store.write(many, [thought("room 1")])
    assert len(store.newest_readings()) == 100
    assert len(store.estimates("room 1", None, None, limit=9)) == 1


def fill_up(store: Store, full: bool) -> None:
    """Leave the database little space, or all it wants again."""
    if store.engine.name == "sqlite":
        pages = 40 if full else 2**30
        event.listen(
            store.engine, "connect", lambda c, _: c.execute(f"PRAGMA max_page_count = {pages}").close()
        )
        store.close()
        return
    with store.engine.begin() as connection:  # a real one would end every test's server
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


def test_a_file_that_may_not_grow_is_one_line(tmp_path):
    """The operating system refuses the write itself, in a process of its own because the limit stays."""
    code = """
import resource, sys
sys.path[:0] = sys.argv[2:]
from live.store_parts import told
from occupair.live.store import Store, StoreError
store = Store(sys.argv[1])
store.migrate()
store.write([told(co2=1.0)], [])
before = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, before[1]))
many = [told(f"room {n}", k, co2=500.0) for n in range(100) for k in range(50)]
try:
    store.write(many, [])
except StoreError as error:
    print(str(error).partition(": ")[2])
resource.setrlimit(resource.RLIMIT_FSIZE, before)
print(len(store.newest_readings()))
store.write(many, [])
print(len(store.newest_readings()))
"""
    here = str(Path(__file__).parents[2])
    done = child(code, f"sqlite:///{tmp_path / 'rooms.db'}", here)
    assert done.communicate(timeout=60) == ("disk I/O error\n1\n101\n", "")


@need_postgres
def test_a_database_that_was_away_is_found_again():
    with postgres_to_stop() as server, closing(Store(server.url)) as store:
        store.migrate()
        store.write([told(co2=500.0)], [])
        for how in (signal.SIGINT, signal.SIGQUIT):  # in order, and as in a crash
            server.stop(how)
            assert not store.ping()
            for _ in range(2):
                with pytest.raises(
                    StoreError, match=r"^store postgresql://occupair@127.0.0.1:\d+/postgres: "
                ) as caught:
                    store.write([told(minute=1, co2=1.0)], [])
                assert "\n" not in str(caught.value)
                assert PASSWORD not in str(caught.value)
            server.start()
            assert store.readings("lab", None, None) == [told(co2=500.0)]
            store.write([told(minute=2, co2=502.0)], [])
            assert store.newest_reading("lab") == told(minute=2, co2=502.0)
            with store.engine.begin() as connection:
                connection.execute(schema.readings.delete().where(schema.readings.c.co2 == 502.0))


@need_postgres
def test_a_write_that_the_database_loses_half_way_is_not_there():
    with closing(Store(postgres.shared_server().database())) as store:
        store.migrate()

        def cut(connection, cursor, statement, parameters, context, many):
            if "INTO estimates" in statement:
                with store.engine.connect() as other:
                    pid = connection.connection.dbapi_connection.info.backend_pid
                    other.execute(select(text(f"pg_terminate_backend({pid}, 5000)")))

        event.listen(store.engine, "before_cursor_execute", cut)
        with pytest.raises(StoreError, match=r"^store postgresql://\S+: "):
            store.write([told(co2=500.0)], [thought()])
        event.remove(store.engine, "before_cursor_execute", cut)
        assert store.readings("lab", None, None) == []
        store.write([told(co2=500.0)], [thought()])
        assert store.readings("lab", None, None) == [told(co2=500.0)]
