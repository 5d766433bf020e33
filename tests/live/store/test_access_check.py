"""Check of a store before the service starts: nothing is created or changed."""

import os
import sqlite3
from contextlib import closing

import pytest
from live.postgres import empty_database
from live.store_helpers import reading
from sqlalchemy import text

from occupair.live.store import Store, StoreError, database
from occupair.live.store.access_check import describe_access

EMPTY = "no tables yet, created at start"


def listing(folder):
    """Return the contents of all files, except for the shared memory in which SQLite registers readers."""
    return {path: "" if path.suffix == ".db-shm" else path.read_bytes() for path in folder.iterdir()}


def test_store_is_ready_empty_or_of_an_earlier_version(url):
    assert describe_access(url).endswith(EMPTY)
    with closing(Store(url)) as store:
        assert describe_access(url).endswith(EMPTY)  # and still has no tables
        store.migrate()
        assert describe_access(url) == f"store {store}: ready"
        with store.engine.begin() as connection:
            connection.execute(text("UPDATE alembic_version SET version_num = '0001'"))
        assert describe_access(url).endswith("tables of an earlier version (0001), upgraded at start")
        with store.engine.begin() as connection:
            connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
        with pytest.raises(StoreError, match=r"by a newer version \(revision '9999'\)$"):
            describe_access(url)


def test_sqlite_file_is_not_touched(tmp_path):
    folder = tmp_path / "a b#c"  # a name that has to be quoted in a URI
    folder.mkdir()
    url = f"sqlite:///{folder}/rooms.db"
    assert describe_access(url).endswith(EMPTY)
    assert list(folder.iterdir()) == []
    with closing(Store(url)) as store:
        store.migrate()
        store.write([reading(co2=500.0)], [])
        during = listing(folder)
        assert describe_access(url).endswith("ready")  # while the service runs
        assert listing(folder) == during
    after = listing(folder)
    assert describe_access(url).endswith("ready")
    assert listing(folder) == after


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("none/rooms.db", r"the folder .*/none does not exist$"),
        (".", r"unable to open database file$"),
        ("text.db", r"file is not a database$"),
    ],
)
def test_unusable_sqlite_file(tmp_path, path, message):
    (tmp_path / "text.db").write_text("no database " * 100)
    with pytest.raises(StoreError, match=rf"^store sqlite:///.*: {message}"):
        describe_access(f"sqlite:///{tmp_path}/{path}")


@pytest.mark.parametrize(
    ("refused", "message"),
    [("", "the folder .* must be writable"), ("rooms.db", "the file must be readable and writable")],
)
def test_sqlite_file_without_permission(tmp_path, monkeypatch, refused, message):
    sqlite3.connect(tmp_path / "rooms.db").close()
    allowed = os.access
    blocked = tmp_path / refused  # root may write everything
    monkeypatch.setattr("os.access", lambda path, mode: path != blocked and allowed(path, mode))
    with pytest.raises(StoreError, match=rf"^store sqlite:///.*: {message} by this user$"):
        describe_access(f"sqlite:///{tmp_path}/rooms.db")


def test_postgres_user_without_permission(tmp_path):
    url = empty_database("postgresql", tmp_path)
    with closing(Store(url)) as store:
        reader = store.url.set(username="occupair_reader", password="hush")
        with store.engine.begin() as connection:
            connection.execute(text("DROP ROLE IF EXISTS occupair_reader"))
            connection.execute(text("CREATE ROLE occupair_reader LOGIN PASSWORD 'hush'"))
            connection.execute(text("REVOKE CREATE ON SCHEMA public FROM public"))
        address = reader.render_as_string(hide_password=False)
        with pytest.raises(StoreError, match=r": the user must be permitted to write to it$"):
            describe_access(address)
        store.migrate()
        with store.engine.begin() as connection:
            connection.execute(text("GRANT SELECT ON ALL TABLES IN SCHEMA public TO occupair_reader"))
        with pytest.raises(StoreError, match=r": the user must be permitted to write to it$"):
            describe_access(address)
        with store.engine.begin() as connection:
            grant = "GRANT INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO occupair_reader"
            connection.execute(text(grant))
        assert describe_access(address).endswith("ready")
        with store.engine.begin() as connection:
            connection.execute(text("DROP OWNED BY occupair_reader"))
            connection.execute(text("DROP ROLE occupair_reader"))


def test_unreachable_postgres_is_one_line():
    with pytest.raises(StoreError, match=r"^store postgresql://me@127.0.0.1:1/rooms: ") as caught:
        describe_access("postgresql://me:hush@127.0.0.1:1/rooms")
    assert "\n" not in str(caught.value)
    assert "hush" not in str(caught.value)


def test_newest_revision_is_that_of_the_tables(store):
    with store.engine.connect() as connection:
        assert database.check_revision(connection) == database.newest_revision()
