"""The tables of a store: made, brought up to date, and left alone where that fails."""

from contextlib import closing

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from live.store_parts import at, child, in_threads, newer_version, thought, told
from sqlalchemy import text

from occupair.live.messages import Label
from occupair.live.store import Store, StoreError, engine, schema


def test_migrations_make_the_tables_of_the_schema(store):
    store.migrate()
    with store.engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), schema.metadata) == []


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
    with pytest.raises(StoreError, match=r"is not occupair's, or of a newer version \(revision '9999'\)"):
        store.migrate()


def test_a_store_from_before_zones_were_kept_is_brought_up_to_date(store):
    store.write([told(co2=500.0)], [thought()])
    with store.engine.begin() as connection:
        connection.execute(text("DROP TABLE zones"))
        connection.execute(text("UPDATE alembic_version SET version_num = '0001'"))
    store.migrate()
    assert store.zones() == {}
    assert store.newest_reading("lab") == told(co2=500.0)


def test_a_migration_that_fails_leaves_the_store_as_it_was(store, monkeypatch, tmp_path):
    newer_version(monkeypatch, tmp_path / "newer")
    store.add_label(Label("lab", at(0), 3, at(1)))
    bad = tmp_path / "newer/migrations/versions/r9999_next.py"
    bad.write_text(bad.read_text() + "    op.execute('SELECT nonsense FROM nowhere')\n")
    with pytest.raises(StoreError, match="nowhere"):
        store.migrate()
    with store.engine.connect() as connection:
        assert len(connection.execute(text("SELECT * FROM labels")).one()) == 4
        assert engine.check_revision(connection) == "0002"


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
