"""Invalid rows, URLs and files: one-line errors without passwords."""

import datetime as dt
import sys
from contextlib import closing
from dataclasses import replace

import pytest
from live import postgres
from live.postgres import PASSWORD, need_postgres
from live.store_helpers import EIGHT, estimate, reading

from occupair.errors import InputError
from occupair.live.messages import Label
from occupair.live.store import Store, StoreError

INVALID = [
    (
        lambda s: s.write([replace(reading(), time=dt.datetime(2024, 1, 8))], []),
        "time must have a time zone, got 2024-01",
    ),
    (
        lambda s: s.readings("lab", dt.datetime(2024, 1, 8), None),
        "time must have a time zone, got 2024-01-08T00:00",
    ),
    (
        lambda s: s.write([reading("a\0b")], []),
        r"room must be valid Unicode text without null characters, got 'a\\x00b'",
    ),
    (
        lambda s: s.write([], [estimate("\ud800")]),
        r"room must be valid Unicode text without null characters, got '\\ud800'",
    ),
    (lambda s: s.readings("\0", None, None), "room must be valid Unicode text"),
    (lambda s: s.models("\0"), "room must be valid Unicode text"),
    (lambda s: s.active_model("\0"), "room must be valid Unicode text"),
    (lambda s: s.forget("\0"), "room must be valid Unicode text"),
    (lambda s: s.remove_label("\0", EIGHT), "room must be valid Unicode text"),
    (
        lambda s: s.add_model("lab", b"", origin="file", note="\0"),
        "note must be valid Unicode text",
    ),
    (
        lambda s: s.add_model("lab", b"", origin="web"),
        "origin must be one of file, upload, trained, calibrated, got 'web'",
    ),
    (lambda s: s.add_label(Label("lab", EIGHT, -1, EIGHT)), "people must be from 0 to 10000, got -1"),
    (
        lambda s: s.add_label(Label("lab", EIGHT, 10**9, EIGHT)),
        "people must be from 0 to 10000, got 1000000000",
    ),
    (lambda s: s.estimates("lab", None, None, limit=0), "limit must be 1 or more, got 0"),
]


def test_invalid_arguments_are_rejected(store):
    for call, message in INVALID:
        with pytest.raises(InputError, match=message):
            call(store)


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("nonsense", "store must be sqlite:///FILE or postgresql://USER@HOST/DATABASE"),
        (
            "postgresql://ann:secret@db:port/rooms",
            "store must be sqlite:///FILE or postgresql://USER@HOST/DATABASE",
        ),
        ("mysql://ann:secret@db/rooms", "got a URL that starts with mysql:"),
        ("sqlite+aiosqlite:///rooms.db", r"got a URL that starts with sqlite\+aiosqlite:"),
        ("sqlite://", "store must name a file, such as sqlite:///rooms.db"),
        ("sqlite:///:memory:", "store must name a file"),
    ],
)
def test_invalid_url_is_rejected(url, message):
    with pytest.raises(InputError, match=message) as caught:
        Store(url)
    assert "secret" not in str(caught.value)


def test_missing_driver_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(InputError, match=r"PostgreSQL needs psycopg: pip install 'occupair\[postgres\]'"):
        Store("postgresql://ann@db/rooms")


def test_password_is_never_shown():
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


@need_postgres
def test_wrong_password_is_not_shown():
    url = postgres.shared_server().database().replace(PASSWORD, "guessed")
    with closing(Store(url)) as store:
        with pytest.raises(StoreError, match='password authentication failed for user "occupair"') as caught:
            store.migrate()
        assert "guessed" not in str(caught.value)


def test_invalid_file_is_a_one_line_error(tmp_path):
    (tmp_path / "notes.txt").write_text("no database at all, but long enough to be one " * 50)
    for name, message in [
        ("notes.txt", "file is not a database"),
        ("no/such/folder.db", "unable to open database file"),
    ]:
        with closing(Store(f"sqlite:///{tmp_path / name}")) as store:
            with pytest.raises(StoreError, match=f"^store sqlite:///{tmp_path / name}: {message}$"):
                store.migrate()
            assert not store.ping()
