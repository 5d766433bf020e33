"""The store keeps what it took, in SQLite and in a real PostgreSQL."""

import datetime as dt
import hashlib
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from live import postgres
from live.postgres import PASSWORD, empty_database, need_postgres, postgres_to_stop, why_no_postgres
from sqlalchemy import event, select, text

from occupair.errors import InputError
from occupair.live.messages import Estimated, Label, Quality, Reading
from occupair.live.store import DamagedModel, Store, StoreError, engine, schema
from occupair.live.store import store as store_module

EIGHT = dt.datetime(2024, 1, 8, 8, tzinfo=dt.UTC)


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request, tmp_path):
    return empty_database(request.param, tmp_path)


@pytest.fixture
def store(url):
    with closing(Store(url)) as store:
        store.migrate()
        yield store


def at(minute: float) -> dt.datetime:
    return EIGHT + dt.timedelta(minutes=minute)


def told(room="lab", minute=0.0, co2=None, ventilation=None, source="mqtt", received=1.0) -> Reading:
    return Reading(room, at(minute), co2, ventilation, source, at(minute + received))


def thought(room="lab", minute=0.0, people: float | None = 2.0, **others) -> Estimated:
    values = {
        "low": 1.0,
        "high": 3.5,
        "people_20": None,
        "co2": 612.0,
        "co2_smoothed": 610.5,
        "ventilation": None,
        "quality": Quality.OK,
        **others,
    }
    return Estimated(room, at(minute), people, **values)


# Readings


def test_a_new_store_is_empty(store):
    assert store.ping()
    assert store.readings("lab", None, None) == []
    assert store.newest_reading("lab") is None
    assert store.newest_readings() == {}
    assert store.estimates("lab", None, None, limit=10) == []
    assert store.labels("lab") == []
    assert not store.remove_label("lab", EIGHT)
    assert store.models("lab") == []
    assert store.active_model("lab") is None
    assert store.model("lab", 1) is None
    assert store.prune(at(1e6)) == 0
    store.forget("lab")
    store.write([], [])


def test_readings_come_back_as_they_were_sent(store):
    odd = EIGHT + dt.timedelta(microseconds=1)
    sent = [
        told(minute=-1e8, co2=0.0),
        told(co2=1 / 3, ventilation=0.1, source="http"),
        Reading("lab", odd, -5.0, None, "demo", odd),
        told(minute=1, ventilation=1.0),
        told(minute=2, co2=1e300),
        told(minute=3, co2=float("inf")),
    ]
    store.write(sent, [])
    assert store.readings("lab", None, None) == sent
    assert store.readings("Lab", None, None) == []


def test_rooms_may_have_any_name(store):
    names = ["lab", "Lab", "büro 3 ½", "会议室", "'; DROP TABLE readings; --", "a\nb", "😀", ""]
    store.write([told(room, co2=float(k)) for k, room in enumerate(names)], [])
    assert {room: store.readings(room, None, None)[0].co2 for room in names} == {
        room: float(k) for k, room in enumerate(names)
    }
    assert list(store.newest_readings()) == sorted(names)  # by code points, in both databases


def test_times_of_other_zones_are_the_same_times(store):
    zone = dt.timezone(dt.timedelta(hours=5, minutes=30))
    store.write([replace(told(co2=500.0), time=EIGHT.astimezone(zone))], [])
    (kept,) = store.readings("lab", EIGHT.astimezone(zone), None)
    assert kept.time == EIGHT
    assert kept.time.utcoffset() == dt.timedelta(0)


def test_nan_is_not_known(store):
    nan = float("nan")
    store.write([told(co2=nan, ventilation=0.5)], [thought(people=nan, co2=nan, co2_smoothed=nan)])
    assert store.readings("lab", None, None) == [told(ventilation=0.5)]
    (kept,) = store.estimates("lab", None, None, limit=1)
    assert kept.people is None
    assert np.isnan([kept.co2, kept.co2_smoothed]).all()
    store.write([told(co2=600.0)], [])
    assert store.newest_reading("lab").co2 == 600.0


def test_numbers_of_numpy_are_numbers(store):
    store.write([told(co2=np.float64(600.25))], [thought(people=np.float32(0.5), low=np.int64(0))])
    assert store.newest_reading("lab").co2 == 600.25
    assert store.estimates("lab", None, None, limit=1)[0].people == 0.5


def test_a_second_reading_fills_only_what_was_not_known(store):
    store.write([told(co2=600.0, source="mqtt", received=1)], [])
    store.write([told(co2=900.0, ventilation=0.5, source="http", received=2)], [])
    store.write([told(co2=901.0, ventilation=0.9, source="http", received=3)], [])
    store.write([told()], [])
    assert store.readings("lab", None, None) == [told(co2=600.0, ventilation=0.5, source="mqtt", received=1)]


def test_readings_merge_the_same_however_they_are_batched(store):
    draw = random.Random(3)
    sent = [
        told(
            room=draw.choice("ab"),
            minute=draw.randrange(6),
            co2=draw.choice([None, float(k)]),
            ventilation=draw.choice([None, k / 100]),
            source=f"s{k}",
        )
        for k in range(60)
    ]
    expected: dict = {}
    for one in sent:  # the rule, written out
        first = expected.setdefault((one.room, one.time), one)
        co2 = one.co2 if first.co2 is None else first.co2
        ventilation = one.ventilation if first.ventilation is None else first.ventilation
        expected[one.room, one.time] = replace(first, co2=co2, ventilation=ventilation)
    while sent:
        size = draw.randrange(1, 20)
        store.write(sent[:size], [])
        sent = sent[size:]
    kept = store.readings("a", None, None) + store.readings("b", None, None)
    assert kept == [expected[key] for key in sorted(expected)]


def test_since_is_inside_and_until_is_not(store):
    store.write(
        [told(minute=k, co2=500.0 + k) for k in range(5)] + [told("other", 2, co2=1.0)],
        [thought(minute=k) for k in range(5)],
    )
    assert [r.co2 for r in store.readings("lab", at(1), at(3))] == [501.0, 502.0]
    assert [r.co2 for r in store.readings("lab", at(3), None)] == [503.0, 504.0]
    assert [r.co2 for r in store.readings("lab", None, at(1))] == [500.0]
    assert store.readings("lab", at(3), at(3)) == []
    assert [e.time for e in store.estimates("lab", at(1), at(3), limit=9)] == [at(1), at(2)]


def test_the_newest_readings_of_all_rooms(store):
    store.write(
        [told(f"room {k}", minute=m, co2=k * 10.0 + m) for k in range(30) for m in range(k % 4 + 1)], []
    )
    newest = store.newest_readings()
    assert {room: one.co2 for room, one in newest.items()} == {
        f"room {k}": k * 10.0 + k % 4 for k in range(30)
    }
    assert all(store.newest_reading(room) == one for room, one in newest.items())


# Estimates


def test_estimates_come_back_and_new_ones_replace_old_ones(store):
    first = [
        thought(people=None, low=None, high=None, quality=Quality.STALE),
        thought(minute=1, people=4.25, ventilation=0.5, people_20=4.0),
    ]
    store.write([], first)
    assert store.estimates("lab", None, None, limit=10) == first
    second = thought(minute=1, people=None, low=None, quality=Quality.SUSPECT)
    store.write([], [thought(minute=1, people=9.0), second])
    assert store.estimates("lab", None, None, limit=10) == [first[0], second]


def test_pages_together_are_the_whole(store):
    store.write([], [thought(minute=k, people=float(k)) for k in range(23)] + [thought("other", 3)])
    seen, after = [], None
    while page := store.estimates("lab", at(2), at(22), limit=7, after=after):
        assert len(page) <= 7
        seen, after = seen + page, page[-1].time
    assert [one.people for one in seen] == [float(k) for k in range(2, 22)]
    assert store.estimates("lab", at(2), at(22), limit=7, after=at(-5))[0].people == 2.0


# Retention


def test_pruning_removes_what_is_older_and_nothing_else(store, monkeypatch):
    monkeypatch.setattr(store_module, "PRUNED_AT_ONCE", 7)
    monkeypatch.setattr(store_module, "PAUSE", 0.0)
    rooms = ["a", "b", "c"]
    store.write(
        [told(room, k, co2=1.0) for room in rooms for k in range(20)] + [told("new", 30)],
        [thought(room, k) for room in rooms for k in range(20)],
    )
    store.add_label(Label("a", at(0), 3, at(0)))
    ended = []
    event.listen(store.engine, "commit", ended.append)
    assert store.prune(at(12)) == 2 * 3 * 12
    assert len(ended) == 2 * 6  # 36 rows of each table, 7 at a time
    assert all(
        [r.time for r in store.readings(room, None, None)] == [at(k) for k in range(12, 20)] for room in rooms
    )
    assert len(store.estimates("b", None, None, limit=99)) == 8
    assert store.newest_reading("new") is not None
    assert len(store.labels("a")) == 1
    assert store.prune(at(12)) == 0


# Labels


def test_labels(store):
    first, second = Label("lab", at(0), 3, at(1)), Label("lab", at(9), 0, at(9))
    store.add_label(second)
    store.add_label(first)
    store.add_label(Label("other", at(0), 7, at(1)))
    assert store.labels("lab") == [first, second]
    store.add_label(replace(first, people=4, entered=at(20)))
    assert store.labels("lab") == [replace(first, people=4, entered=at(20)), second]
    assert store.remove_label("lab", at(0))
    assert not store.remove_label("lab", at(0))
    assert store.labels("lab") == [second]
    assert len(store.labels("other")) == 1


# Models


def test_models(store):
    data = bytes(range(256)) * 500
    before = dt.datetime.now(dt.UTC)
    first = store.add_model("lab", data, origin="file", note="from lab.npz")
    second = store.add_model("lab", b"", origin="trained")
    other = store.add_model("other", b"x", origin="upload")
    assert first < second < other
    assert store.active_model("lab") is None
    one, two = store.models("lab")
    assert (one.id, one.room, one.origin, one.note, one.active) == (
        first,
        "lab",
        "file",
        "from lab.npz",
        False,
    )
    assert (one.sha256, one.size) == (hashlib.sha256(data).hexdigest(), 128_000)
    assert before <= one.created <= dt.datetime.now(dt.UTC)
    assert (two.id, two.size) == (second, 0)
    assert store.model("lab", first) == data
    assert store.model("other", first) is None
    assert store.model("lab", 10**30) is None

    store.activate("lab", first)
    store.activate("other", other)
    assert store.active_model("lab") == (first, data)
    store.activate("lab", second)
    assert store.active_model("lab") == (second, b"")
    assert [model.active for model in store.models("lab")] == [False, True]
    for wrong in (other, 999, 0, -1, 10**30):
        with pytest.raises(InputError, match=f"room 'lab' has no model {wrong}"):
            store.activate("lab", wrong)
    assert store.active_model("lab") == (second, b"")
    store.activate("lab", None)
    assert store.active_model("lab") is None
    assert store.active_model("other") == (other, b"x")


def test_a_model_is_added_and_used_in_one_transaction(store, monkeypatch):
    first = store.add_model("lab", b"1", origin="file", activate=True)
    assert store.active_model("lab") == (first, b"1")
    second = store.add_model("lab", b"2", origin="file", activate=True)
    assert [(one.id, one.active) for one in store.models("lab")] == [(first, False), (second, True)]

    def end(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(store_module, "_activate", end)
    with pytest.raises(KeyboardInterrupt):
        store.add_model("lab", b"3", origin="file", activate=True)
    assert [(one.id, one.active) for one in store.models("lab")] == [(first, False), (second, True)]


def test_a_damaged_model_is_not_given_out(store):
    version = store.add_model("lab", b"good", origin="file")
    store.activate("lab", version)
    with store.engine.begin() as connection:
        connection.execute(schema.models.update().values(data=b"evil"))
    for ask in (lambda: store.active_model("lab"), lambda: store.model("lab", version)):
        with pytest.raises(
            DamagedModel, match=f"model {version} of room 'lab' is damaged, its sha256 differs"
        ):
            ask()


def test_forgetting_goes_back_to_the_newest_file(store):
    kept = [store.add_model("lab", data, origin="file") for data in (b"1", b"2")]
    for origin in ("upload", "trained"):
        store.activate("lab", store.add_model("lab", b"3", origin=origin))
    other = store.add_model("other", b"4", origin="trained")
    store.activate("other", other)
    for room in ("lab", "other"):
        store.add_label(Label(room, at(0), 3, at(1)))
    store.write([told(co2=500.0)], [thought()])
    store.forget("lab")
    assert [(model.id, model.active) for model in store.models("lab")] == [(kept[0], False), (kept[1], True)]
    assert store.labels("lab") == []
    assert len(store.readings("lab", None, None)) == len(store.estimates("lab", None, None, limit=9)) == 1
    assert store.active_model("other") == (other, b"4")
    assert len(store.labels("other")) == 1
    store.forget("other")
    assert store.active_model("other") is None
    assert store.models("other") == []
    assert store.add_model("other", b"5", origin="trained") > other  # a number is not given twice


# What is refused


REFUSED = [
    (
        lambda s: s.write([replace(told(), time=dt.datetime(2024, 1, 8))], []),
        "time must know its zone, got 2024-01",
    ),
    (
        lambda s: s.readings("lab", dt.datetime(2024, 1, 8), None),
        "time must know its zone, got 2024-01-08T00:00",
    ),
    (lambda s: s.write([told("a\0b")], []), r"room must be text of real characters, got 'a\\x00b'"),
    (lambda s: s.write([], [thought("\ud800")]), r"room must be text of real characters, got '\\ud800'"),
    (lambda s: s.readings("\0", None, None), "room must be text of real characters"),
    (lambda s: s.models("\0"), "room must be text of real characters"),
    (lambda s: s.active_model("\0"), "room must be text of real characters"),
    (lambda s: s.forget("\0"), "room must be text of real characters"),
    (lambda s: s.remove_label("\0", EIGHT), "room must be text of real characters"),
    (lambda s: s.add_model("lab", b"", origin="file", note="\0"), "note must be text of real characters"),
    (
        lambda s: s.add_model("lab", b"", origin="web"),
        "origin must be one of file, upload, trained, got 'web'",
    ),
    (lambda s: s.add_label(Label("lab", EIGHT, -1, EIGHT)), "people must be from 0 to 1000000, got -1"),
    (
        lambda s: s.add_label(Label("lab", EIGHT, 10**9, EIGHT)),
        "people must be from 0 to 1000000, got 1000000000",
    ),
    (lambda s: s.estimates("lab", None, None, limit=0), "limit must be 1 or more, got 0"),
]


def test_what_cannot_be_kept_is_refused(store):
    for ask, said in REFUSED:
        with pytest.raises(InputError, match=said):
            ask(store)


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("nonsense", "store must be sqlite:///FILE or postgresql://USER@HOST/DATABASE"),
        (
            "postgresql://ann:secret@db:port/rooms",
            "store must be sqlite:///FILE or postgresql://USER@HOST/DATABASE",
        ),
        ("mysql://ann:secret@db/rooms", "got one that begins with mysql:"),
        ("sqlite+aiosqlite:///rooms.db", r"got one that begins with sqlite\+aiosqlite:"),
        ("sqlite://", "store must name a file, such as sqlite:///rooms.db"),
        ("sqlite:///:memory:", "store must name a file"),
    ],
)
def test_urls_that_are_none(url, said):
    with pytest.raises(InputError, match=said) as caught:
        Store(url)
    assert "secret" not in str(caught.value)


def test_a_driver_that_is_missing_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(InputError, match=r"PostgreSQL needs psycopg: pip install 'occupair\[postgres\]'"):
        Store("postgresql://ann@db/rooms")


def test_nothing_that_is_shown_has_the_password():
    for url in (
        "postgres://ann:secret@127.0.0.1:1/rooms",
        "postgresql://ann@127.0.0.1:1/rooms?password=secret",
    ):
        store = Store(url)
        assert store.url.password == "secret"
        assert str(store) == "postgresql://ann@127.0.0.1:1/rooms"
        assert "secret" not in repr(store.engine) + repr(store.url)
    with pytest.raises(StoreError, match=r"^store postgresql://ann@127.0.0.1:1/rooms: .*refused") as caught:
        store.readings("lab", None, None)
    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert not store.ping()


def test_a_wrong_password_is_not_told():
    need_postgres()
    url = postgres.shared_server().database().replace(PASSWORD, "guessed")
    with closing(Store(url)) as store:
        with pytest.raises(StoreError, match='password authentication failed for user "occupair"') as caught:
            store.migrate()
        assert "guessed" not in str(caught.value)


def test_files_that_cannot_be_a_store(tmp_path):
    (tmp_path / "notes.txt").write_text("no database at all, but long enough to be one " * 50)
    for name, said in [
        ("notes.txt", "file is not a database"),
        ("no/such/folder.db", "unable to open database file"),
    ]:
        with closing(Store(f"sqlite:///{tmp_path / name}")) as store:
            with pytest.raises(StoreError, match=f"^store sqlite:///{tmp_path / name}: {said}$"):
                store.migrate()
            assert not store.ping()


# The schema


def test_migrations_make_the_tables_of_the_schema(store):
    store.migrate()
    with store.engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), schema.metadata) == []


def newer_version(monkeypatch, folder: Path) -> None:
    """Make this a version of occupair whose schema is one revision further."""
    versions = folder / "migrations/versions"
    versions.mkdir(parents=True)
    for path in [*engine.MIGRATIONS.glob("*.py"), *engine.MIGRATIONS.glob("versions/*.py")]:
        (folder / "migrations" / path.relative_to(engine.MIGRATIONS)).write_text(path.read_text())
    (versions / "r0002_next.py").write_text(
        "from alembic import op\nimport sqlalchemy as sa\n"
        "revision, down_revision, branch_labels, depends_on = '0002', '0001', None, None\n"
        "def upgrade():\n"
        "    op.add_column('labels', sa.Column('by', sa.Text))\n"
        "    op.execute(\"UPDATE labels SET by = 'unknown'\")\n"
    )
    monkeypatch.setattr(engine, "MIGRATIONS", folder / "migrations")


def test_an_older_store_is_brought_up_to_date(store, monkeypatch, tmp_path):
    store.write([told(co2=500.0)], [thought()])
    store.add_label(Label("lab", at(0), 3, at(1)))
    with monkeypatch.context() as later:
        newer_version(later, tmp_path / "newer 100%")
        store.migrate()
        store.migrate()
        with store.engine.connect() as connection:
            assert connection.execute(text("SELECT people, by FROM labels")).all() == [(3, "unknown")]
        assert store.newest_reading("lab") == told(co2=500.0)
    with pytest.raises(StoreError, match=r"is not occupair's, or of a newer version \(revision '0002'\)"):
        store.migrate()


def test_a_migration_that_fails_leaves_the_store_as_it_was(store, monkeypatch, tmp_path):
    newer_version(monkeypatch, tmp_path / "newer")
    store.add_label(Label("lab", at(0), 3, at(1)))
    bad = tmp_path / "newer/migrations/versions/r0002_next.py"
    bad.write_text(bad.read_text() + "    op.execute('SELECT nonsense FROM nowhere')\n")
    with pytest.raises(StoreError, match="nowhere"):
        store.migrate()
    with store.engine.connect() as connection:
        assert len(connection.execute(text("SELECT * FROM labels")).one()) == 4
        assert engine.check_revision(connection) == "0001"


def test_processes_that_migrate_at_once_do_not_meet(url):
    code = (
        "import sys; from occupair.live.store import Store; store = Store(sys.argv[1])\n"
        "print('ready', flush=True); input(); store.migrate(); print(store.ping()); store.close()"
    )
    children = [child(code, url) for _ in range(2)]
    for one in children:
        assert one.stdout.readline() == "ready\n"
    for one in children:
        one.stdin.write("go\n")
        one.stdin.flush()
    assert [(one.communicate(timeout=60), one.returncode) for one in children] == [(("True\n", ""), 0)] * 2


def test_threads_that_migrate_at_once_do_not_meet(url):
    with closing(Store(url)) as store:
        in_threads([store.migrate] * 4)
        assert store.readings("lab", None, None) == []


def child(code: str, *arguments: str) -> subprocess.Popen:
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    return subprocess.Popen([sys.executable, "-W", "error", "-c", code, *arguments], text=True, **pipes)


def in_threads(calls: Sequence) -> None:
    """Run calls at the same time, and raise what one of them raised."""
    raised = []

    def run(call):
        try:
            call()
        except BaseException as error:  # noqa: BLE001
            raised.append(error)

    threads = [threading.Thread(target=run, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if raised:
        raise raised[0]


# What was taken is there


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
from occupair.live.messages import Estimated, Quality, Reading
from occupair.live.store import Store
store, start = Store(sys.argv[1]), int(sys.argv[2])
for k in range(start, start + 100_000):
    time = dt.datetime(2024, 1, 8, 8, tzinfo=dt.UTC) + dt.timedelta(seconds=k)
    rooms = [f"room {n}" for n in range(50)]
    store.write(
        [Reading(room, time, float(k), None, "mqtt", time) for room in rooms],
        [Estimated(room, time, 1.0, None, None, None, 1.0, 1.0, None, Quality.OK) for room in rooms],
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
from live.test_store import Store, StoreError, told
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
    here = str(Path(__file__).parent.parent)
    done = child(code, f"sqlite:///{tmp_path / 'rooms.db'}", here)
    assert done.communicate(timeout=60) == ("disk I/O error\n1\n101\n", "")


def test_a_database_that_was_away_is_found_again():
    need_postgres()
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


def test_a_write_that_the_database_loses_half_way_is_not_there():
    need_postgres()
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


# Many at once


def test_readers_see_whole_writes_while_one_writes(store):
    done = threading.Event()

    def write():
        try:
            for k in range(20):
                store.write([told(minute=k + n / 50, co2=float(k)) for n in range(50)], [thought(minute=k)])
        finally:
            done.set()

    def read():
        seen = 0
        while not done.is_set():
            kept = store.readings("lab", None, None)
            assert len(kept) % 50 == 0
            assert len(kept) >= seen  # and none that was there is gone
            seen = len(kept)
            store.newest_readings()

    in_threads([write, read, read])
    assert len(store.readings("lab", None, None)) == 1000
    assert len(store.estimates("lab", None, None, limit=99)) == 20


def test_writers_wait_in_line(store):
    rooms = [f"room {n}" for n in range(40)]

    def write(which):
        draw = random.Random(which)
        for k in range(10):
            order = draw.sample(rooms, len(rooms))
            store.write(
                [told(room, k, co2=float(which)) for room in order], [thought(room, k) for room in order]
            )

    def label():
        for k in range(10):
            store.add_label(Label("room 1", at(k), k, at(k)))
            store.activate("room 1", store.add_model("room 1", b"m", origin="trained"))

    in_threads([lambda n=n: write(n) for n in range(3)] + [label, label])
    assert all(len(store.readings(room, None, None)) == 10 for room in rooms)
    assert len(store.labels("room 1")) == 10
    assert [model.active for model in store.models("room 1")].count(True) == 1


def test_pruning_and_writing_at_once(store, monkeypatch):
    monkeypatch.setattr(store_module, "PRUNED_AT_ONCE", 20)
    monkeypatch.setattr(store_module, "PAUSE", 0.01)
    store.write([told(f"room {n}", k, co2=1.0) for n in range(10) for k in range(60)], [])

    def write():
        for k in range(60, 90):
            store.write(
                [told(f"room {n}", k, co2=1.0) for n in range(10)],
                [thought(f"room {n}", k) for n in range(10)],
            )

    removed = []
    in_threads([write, lambda: removed.append(store.prune(at(50)))])
    assert removed == [500]
    assert all(len(store.readings(f"room {n}", None, None)) == 40 for n in range(10))


# Training


def test_training_readings_by_hand(store):
    # CO2 each minute from 08:00 to 08:19 but for a failed read at 08:03; in Copenhagen that is 09:00 on
    co2 = {k: 500.0 + k for k in range(20)} | {3: 0.0}
    store.write([told(minute=k, co2=value) for k, value in co2.items()], [])
    store.write([told("other", minute=k, co2=900.0) for k in range(20)], [])
    store.write([told(minute=0, ventilation=0.2), told(minute=4.5, ventilation=0.8)], [])
    for minute, people in [(6, 3), (9, 5), (18.5, 0)]:
        store.add_label(Label("lab", at(minute), people, at(minute)))
    rows = store.training_readings("lab", "Europe/Copenhagen", hold=2.0)
    assert str(rows.index.tz) == "Europe/Copenhagen"
    assert rows.index.name == "time"
    assert rows.index[0] == pd.Timestamp("2024-01-08 09:00", tz="Europe/Copenhagen")
    assert list(rows.index) == [at(k) for k in range(20)]
    assert rows.attrs["interval"] == 1.0
    assert list(rows["co2"]) == [500, 501, 502, 502, *range(504, 520)]  # a failed read is bridged
    assert list(rows["ventilation"]) == [0.2] * 5 + [0.8] * 15  # held until it is told again
    nan = np.nan  # 08:07 is 1 min after one label and 2 before the next; 08:08 the other way round
    expected = [nan] * 4 + [3, 3, 3, 3, 5, 5, 5, 5] + [nan] * 5 + [0, 0, 0]
    np.testing.assert_array_equal(rows["occupancy"], expected)


def test_training_readings_between_two_labels_as_near(store):
    store.write([told(minute=k, co2=500.0) for k in range(5)], [])
    for minute, people in [(0, 1), (4, 2)]:
        store.add_label(Label("lab", at(minute), people, at(minute)))
    assert list(store.training_readings("lab", "UTC")["occupancy"]) == [1, 1, 1, 2, 2]
    exact = store.training_readings("lab", "UTC", hold=0.0, interval=2.0)
    np.testing.assert_array_equal(exact["occupancy"], [1, np.nan, 2])


def test_training_readings_without_ventilation_and_labels(store):
    store.write([told(minute=k, co2=500.0) for k in range(5)], [])
    rows = store.training_readings("lab", "UTC")
    assert list(rows.columns) == ["co2", "occupancy"]
    assert rows["occupancy"].isna().all()


def test_training_readings_where_ventilation_is_not_known(store):
    store.write([told(minute=k, co2=500.0) for k in range(5)], [])
    store.write([told(minute=2, ventilation=1.0)], [])
    store.write([told(minute=k, co2=500.0) for k in range(1430, 1445)], [])
    rows = store.training_readings("lab", "UTC", interval=1.0)  # a value holds for 1440 min
    assert list(rows.index) == [at(k) for k in [2, 3, 4, *range(1430, 1443)]]


def test_training_readings_keep_gaps_and_days(store):
    night = 15 * 60 + 55  # 23:55 in UTC
    store.write([told(minute=night + k, co2=500.0 + k) for k in [*range(0, 60, 5), *range(90, 120, 5)]], [])
    rows = store.training_readings("lab", "UTC", interval=5.0)
    assert list(rows.index) == [at(night + k) for k in [*range(0, 60, 5), *range(90, 120, 5)]]


UNTRAINABLE = [
    ({"timezone": "Mars"}, "timezone must be one such as Europe/Copenhagen, got 'Mars'"),
    ({"hold": -1.0}, "hold must be 0 min or more, got -1.0"),
    ({"hold": float("nan")}, "hold must be 0 min or more, got nan"),
    ({"interval": 0.0}, "interval must be from 1/60 to 1440 min, got 0.0"),
    ({}, "room 'lab' in the store: has no CO2 reading"),
]


def test_training_readings_that_cannot_be(store):
    store.write([told(minute=k, co2=0.0) for k in range(5)], [])
    for options, said in UNTRAINABLE:
        with pytest.raises(InputError, match=said):
            store.training_readings("lab", **{"timezone": "UTC", **options})


# The server of the tests


def test_why_no_server_can_be_had_is_told(monkeypatch):
    monkeypatch.setattr(postgres, "_program", lambda name: "")
    assert "PostgreSQL is not installed" in str(why_no_postgres())
    monkeypatch.setattr(postgres, "_program", lambda name: "/bin/true")
    monkeypatch.setattr(postgres, "_other_user", lambda: None)
    monkeypatch.setattr(postgres.os, "geteuid", lambda: 0)
    assert "does not run as root" in str(why_no_postgres())
    monkeypatch.setattr(postgres.os, "geteuid", lambda: 1000)
    assert why_no_postgres() is None
