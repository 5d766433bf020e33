"""One service per store."""

import errno
import fcntl
import os
import re
import signal
import subprocess
import sys
import threading
from contextlib import closing, contextmanager

import pytest
from live.postgres import need_postgres, postgres_to_stop, shared_server
from live.service_process import ServiceProcess
from live.store_helpers import reading
from live.waiting import HANG_GUARD, wait_for

from occupair.errors import InputError
from occupair.live.store import Store, StoreError, backup, restore, service_lock, store_lock

IN_USE = r"^store \S+: is used by another occupair service: stop it, or use another store$"
HOLDER = """
import sys, time
from occupair.live.store import Store, service_lock
with service_lock(Store(sys.argv[1]).engine):
    print("locked", flush=True)
    time.sleep(600)
"""


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """Wait for a lock as long as it takes: PostgreSQL unlocks shortly after a session was closed."""
    monkeypatch.setattr(store_lock, "PATIENCE", HANG_GUARD)


@pytest.fixture
def impatient(monkeypatch):
    """Return a context in which a lock is not waited for."""

    @contextmanager
    def context():
        with monkeypatch.context() as patch:
            patch.setattr(store_lock, "PATIENCE", 0.0)
            yield

    return context


@pytest.fixture
def is_locked(impatient):
    def check(store):
        try:
            with impatient(), service_lock(store.engine):
                return False
        except InputError:
            return True

    return check


def test_second_service_is_refused_until_the_first_ends(store, impatient):
    with closing(Store(store.url.render_as_string(hide_password=False))) as second:
        with service_lock(store.engine):
            with impatient(), pytest.raises(InputError, match=IN_USE), service_lock(second.engine):
                pass
            assert second.ping(), "reading needs no lock"
        with service_lock(second.engine):
            pass


def test_killed_process_leaves_no_lock(store, is_locked):
    url = store.url.render_as_string(hide_password=False)
    with subprocess.Popen([sys.executable, "-c", HOLDER, url], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout.readline() == "locked\n"
        assert is_locked(store)
        os.kill(holder.pid, signal.SIGKILL)
    wait_for(lambda: not is_locked(store))


def test_two_paths_of_one_file_are_one_store(tmp_path, is_locked):
    (tmp_path / "link").symlink_to(tmp_path)
    with (
        closing(Store(f"sqlite:///{tmp_path}/rooms.db")) as store,
        closing(Store(f"sqlite:///{tmp_path}/link/rooms.db")) as same,
        service_lock(store.engine),
    ):
        assert is_locked(same)


@need_postgres
def test_two_schemas_of_one_database_are_two_stores():
    url = shared_server().database()
    with closing(Store(url)) as first, closing(Store(f"{url}?options=-csearch_path%3Dother")) as other:
        with first.engine.begin() as connection:
            connection.exec_driver_sql("CREATE SCHEMA other")
        with service_lock(first.engine), service_lock(other.engine):
            pass


@need_postgres
def test_lock_is_taken_again_after_a_restart_of_the_server(monkeypatch, is_locked):
    monkeypatch.setattr(store_lock, "CHECK_EVERY", 0.05)
    with (
        postgres_to_stop() as server,
        closing(Store(server.url)) as store,
        closing(Store(server.url)) as other,
    ):
        with service_lock(store.engine):
            server.stop()
            server.start()
            wait_for(lambda: is_locked(other))
        wait_for(lambda: not is_locked(other))


@need_postgres
def test_lock_lost_to_another_service_is_logged_once(caplog, is_locked):
    url = shared_server().database()
    with closing(Store(url)) as store, closing(Store(url)) as other:
        session = store_lock._Session(store.engine)
        assert session.lock() == ""
        with other.engine.begin() as connection:
            of_this = "database = (SELECT oid FROM pg_database WHERE datname = current_database())"
            locks = f"SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND {of_this}"
            connection.exec_driver_sql(f"SELECT pg_terminate_backend(pid, 60000) FROM ({locks}) AS held")
        with service_lock(other.engine):
            session.check()
            session.check()
            assert is_locked(store)
        wait_for(lambda: session.check() or is_locked(other))  # it is free, and locked again
        session.close()
    line = r"^store \S+: another occupair service uses it as well: stop one of them$"
    assert [bool(re.match(line, record.getMessage())) for record in caplog.records] == [True]


@need_postgres
def test_unlocking_does_not_wait_for_a_frozen_server(monkeypatch, is_locked):
    monkeypatch.setattr(store_lock, "CHECK_EVERY", 0.01)
    monkeypatch.setattr(store_lock, "CLOSE_TIMEOUT", 0.01)
    frozen, checking = threading.Event(), threading.Event()
    is_alive = store_lock._Session._is_alive

    def note(session):
        if frozen.is_set():
            checking.set()
        return is_alive(session)

    monkeypatch.setattr(store_lock._Session, "_is_alive", note)
    with postgres_to_stop() as server, closing(Store(server.url)) as store:
        session = store_lock._Session(store.engine)
        assert session.lock() == ""
        with server.frozen():
            frozen.set()
            assert checking.wait(HANG_GUARD)
            session.close()
            assert session._thread.is_alive()  # it waits for the server, up to MAX_SILENCE
        wait_for(lambda: not is_locked(store))
        session._thread.join(HANG_GUARD)


def test_file_system_without_locks_is_a_one_line_error(tmp_path, monkeypatch):
    def fail(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", fail)
    before = len(os.listdir("/proc/self/fd"))
    message = r"^store sqlite:///\S+: cannot lock \S+rooms.db-lock: No locks available$"
    with (
        closing(Store(f"sqlite:///{tmp_path}/rooms.db")) as store,
        pytest.raises(StoreError, match=message),
        service_lock(store.engine),
    ):
        pass
    assert len(os.listdir("/proc/self/fd")) == before


def test_restore_into_a_store_in_use_is_refused(store, tmp_path, impatient):
    store.write([reading("a", 0, co2=500.0, ventilation=None)], [])
    url = store.url.render_as_string(hide_password=False)
    with service_lock(store.engine):
        backup(url, tmp_path / "rooms.zip")  # while it is in use
        with impatient(), pytest.raises(InputError, match=IN_USE):
            restore(tmp_path / "rooms.zip", url, replace=True)
    restore(tmp_path / "rooms.zip", url, replace=True)
    assert len(store.readings("a", None, None)) == 1


def test_second_service_exits_with_one_line(tmp_path, start):
    url = f"sqlite:///{tmp_path}/rooms.db"
    first = start(ServiceProcess(tmp_path, store=url, broker=None, rooms="[rooms.lab]\n"))
    (tmp_path / "second").mkdir()
    second = ServiceProcess(tmp_path / "second", store=url, broker=None, rooms="[rooms.lab]\n")
    command = [sys.executable, "-m", "occupair", "serve", str(second.path)]
    ended = subprocess.run(command, capture_output=True, text=True)
    assert ended.returncode == 2
    assert ended.stderr.count("\n") == 1
    assert "is used by another occupair service: stop it, or use another store" in ended.stderr
    assert first.health() == "ok"
