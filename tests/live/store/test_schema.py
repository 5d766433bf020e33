"""Creation and migration of the tables."""

from contextlib import closing
from dataclasses import replace

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from live.store_helpers import at, estimate, in_threads, newer_version, reading, start_child
from sqlalchemy import text

from occupair.live.messages import Label
from occupair.live.store import Store, StoreError, database, schema
from occupair.readings.other_sensors import SENSORS


def test_migrations_create_the_schema(store):
    store.migrate()
    with store.engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), schema.metadata) == []


def test_older_store_is_upgraded(store, monkeypatch, tmp_path):
    store.write([reading(co2=500.0)], [estimate()])
    store.add_label(Label("lab", at(0), 3, at(1)))
    with monkeypatch.context() as later:
        newer_version(later, tmp_path / "newer 100%")
        store.migrate()
        store.migrate()
        with store.engine.connect() as connection:
            assert connection.execute(text("SELECT people, by FROM labels")).all() == [(3, "unknown")]
        assert store.newest_reading("lab") == reading(co2=500.0)
    with pytest.raises(StoreError, match=r"not made by occupair, or by a newer version \(revision '9999'\)"):
        store.migrate()


def _drop_plans(connection):
    for table in ("plans", "places"):
        connection.execute(text(f"DROP TABLE {table}"))


def _drop_shards(connection):
    _drop_plans(connection)
    for table in ("shards", "room_states"):
        connection.execute(text(f"DROP TABLE {table}"))


def _drop_numbers(connection):
    _drop_shards(connection)
    connection.execute(text("DROP TABLE bacnet_rooms"))


def _drop_sensors(connection):
    for column in SENSORS:
        connection.execute(text(f"ALTER TABLE readings DROP COLUMN {column}"))


def test_store_without_sensors_is_upgraded(store):
    store.write([reading(co2=500.0)], [estimate()])
    with store.engine.begin() as connection:
        _drop_sensors(connection)
        _drop_numbers(connection)
        connection.execute(text("UPDATE alembic_version SET version_num = '0003'"))
    store.migrate()
    assert store.newest_reading("lab") == reading(co2=500.0)
    store.write([replace(reading(co2=500.0), sensors={"humidity": 41.5})], [])
    assert store.newest_reading("lab").sensors == {"humidity": 41.5}


def test_store_without_room_numbers_is_upgraded(store):
    store.write([reading(co2=500.0)], [estimate()])
    with store.engine.begin() as connection:
        _drop_numbers(connection)
        connection.execute(text("UPDATE alembic_version SET version_num = '0004'"))
    store.migrate()
    assert store.room_numbers(["lab"]) == {"lab": 1}
    assert store.newest_reading("lab") == reading(co2=500.0)


def test_store_without_shards_is_upgraded(store):
    store.write([reading(co2=500.0)], [estimate()])
    with store.engine.begin() as connection:
        _drop_shards(connection)
        connection.execute(text("UPDATE alembic_version SET version_num = '0005'"))
    store.migrate()
    with store.engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), schema.metadata) == []
    assert store.newest_reading("lab") == reading(co2=500.0)


def test_store_without_plans_is_upgraded(store):
    store.write([reading(co2=500.0)], [estimate()])
    with store.engine.begin() as connection:
        _drop_plans(connection)
        connection.execute(text("UPDATE alembic_version SET version_num = '0006'"))
    store.migrate()
    with store.engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), schema.metadata) == []
    assert (store.plans(), store.places()) == ([], {})
    assert store.newest_reading("lab") == reading(co2=500.0)


def test_store_without_zones_is_upgraded(store):
    store.write([reading(co2=500.0)], [estimate()])
    with store.engine.begin() as connection:
        connection.execute(text("DROP TABLE zones"))
        for column in ("source", "estimate"):
            connection.execute(text(f"ALTER TABLE labels DROP COLUMN {column}"))
        _drop_sensors(connection)
        _drop_numbers(connection)
        connection.execute(text("UPDATE alembic_version SET version_num = '0001'"))
    store.migrate()
    assert store.zones() == {}
    assert store.newest_reading("lab") == reading(co2=500.0)


def test_labels_without_source_are_upgraded(store):
    store.add_label(Label("lab", at(0), 3, at(1), "typed", 4))
    with store.engine.begin() as connection:
        for column in ("source", "estimate"):
            connection.execute(text(f"ALTER TABLE labels DROP COLUMN {column}"))
        _drop_sensors(connection)
        _drop_numbers(connection)
        connection.execute(text("UPDATE alembic_version SET version_num = '0002'"))
    store.migrate()
    assert store.labels("lab") == [Label("lab", at(0), 3, at(1), "unknown", None)]


def test_failed_migration_is_rolled_back(store, monkeypatch, tmp_path):
    newer_version(monkeypatch, tmp_path / "newer")
    store.add_label(Label("lab", at(0), 3, at(1)))
    bad = tmp_path / "newer/migrations/versions/r9999_next.py"
    bad.write_text(bad.read_text() + "    op.execute('SELECT nonsense FROM nowhere')\n")
    with pytest.raises(StoreError, match="nowhere"):
        store.migrate()
    with store.engine.connect() as connection:
        assert len(connection.execute(text("SELECT * FROM labels")).one()) == 6
        assert database.check_revision(connection) == "0007"


def test_concurrent_processes_can_migrate(url):
    code = (
        "import sys; from occupair.live.store import Store; store = Store(sys.argv[1])\n"
        "print('ready', flush=True); input(); store.migrate(); print(store.ping()); store.close()"
    )
    children = [start_child(code, url) for _ in range(2)]
    for one in children:
        assert one.stdout.readline() == "ready\n"
    for one in children:
        one.stdin.write("go\n")
        one.stdin.flush()
    assert [(one.communicate(timeout=600), one.returncode) for one in children] == [(("True\n", ""), 0)] * 2


def test_concurrent_threads_can_migrate(url):
    with closing(Store(url)) as store:
        in_threads([store.migrate] * 4)
        assert store.readings("lab", None, None) == []
