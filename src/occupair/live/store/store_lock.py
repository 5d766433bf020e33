"""A lock that allows one service per store. It ends with the process, also if that is killed.

SQLite has the lock file ``FILE-lock`` beside the database, which is never deleted; PostgreSQL has an advisory
lock of one session. Reading a store, as for a backup, needs no lock.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Connection, Engine, text

from occupair.errors import InputError
from occupair.live.store.database import PRIVATE, StoreError, format_url, store_errors

log = logging.getLogger("occupair.live")

PATIENCE = 3.0
"""How long to wait for a service that is just ending [s]."""
CHECK_EVERY = 10.0
"""How often to check that the session of the lock still exists [s]."""
CLOSE_TIMEOUT = 1.0
"""How long unlocking may take [s]."""
_KEY = 0x0CC0_9A13
_TRY_LOCK = text(f"SELECT pg_try_advisory_lock({_KEY}, hashtext(current_schema()))")
_NOTICE_LOST_CLIENT = text(
    "SELECT set_config('tcp_keepalives_idle', '10', false),"
    " set_config('tcp_keepalives_interval', '5', false), set_config('tcp_keepalives_count', '3', false)"
)


@contextmanager
def service_lock(engine: Engine) -> Iterator[None]:
    """Hold the lock of a store.

    Raises
    ------
    InputError
        If another process holds it.
    StoreError
        If the database fails.
    """
    lock = _lock_file if engine.name == "sqlite" else _lock_session
    with contextlib.ExitStack() as held:
        end = time.monotonic() + PATIENCE
        while (release := lock(engine)) is None:
            if time.monotonic() > end:
                where = format_url(engine.url)
                raise InputError(
                    f"store {where}: is used by another occupair service: stop it, or use another store"
                )
            time.sleep(0.1)
        held.callback(release)
        yield


def _lock_file(engine: Engine) -> Callable[[], None] | None:
    """Lock the file beside a SQLite database and return how to release it, or None if it is locked."""
    if sys.platform == "win32":
        return lambda: None
    import fcntl

    file = f"{Path(str(engine.url.database)).resolve()}-lock"
    try:
        handle = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(handle)
            raise
    except BlockingIOError:
        return None
    except OSError as error:  # such as a network file system without locks
        raise StoreError(f"store {format_url(engine.url)}: cannot lock {file}: {error.strerror}") from None
    return lambda: os.close(handle)


def _lock_session(engine: Engine) -> Callable[[], None] | None:
    """Lock a PostgreSQL database and return how to release it, or None if it is locked."""
    session = _Session(engine)
    return session.close if session.lock() else None


class _Session:
    """A database session that holds the lock, and is replaced when it is lost."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._connection: Connection | None = None
        self._is_mine = True  # as far as is known
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="store lock", daemon=True)

    def lock(self) -> bool:
        """Open the session and lock, and return whether that succeeded."""
        if not self._connect():
            return False
        self._thread.start()
        return True

    def close(self) -> None:
        """Unlock. A server that does not respond is not waited for: the lock then ends with the process."""
        self._closing.set()
        self._thread.join(CLOSE_TIMEOUT)

    def _connect(self) -> bool:
        with store_errors(self._engine.url):
            connection = self._engine.connect()
            try:
                connection = connection.execution_options(isolation_level="AUTOCOMMIT")
                connection.detach()  # closed, not returned to the pool
                connection.execute(_NOTICE_LOST_CLIENT)
                locked = bool(connection.execute(_TRY_LOCK).scalar_one())
            except BaseException:
                connection.close()
                raise
        if locked:
            self._connection = connection
        else:
            connection.close()
        return locked

    def _disconnect(self) -> None:
        if self._connection is not None:
            with contextlib.suppress(StoreError), store_errors(self._engine.url):
                self._connection.close()
            self._connection = None

    def _watch(self) -> None:
        while not self._closing.wait(CHECK_EVERY):
            self.check()
        self._disconnect()

    def check(self) -> None:
        """Lock again if the session was lost, as after a restart of the server."""
        with contextlib.suppress(StoreError):  # the writer logs that the store is unavailable
            is_mine = self._is_alive() or self._connect()
            if self._is_mine and not is_mine:
                where = format_url(self._engine.url)
                log.error("store %s: another occupair service uses it as well: stop one of them", where)
            self._is_mine = is_mine

    def _is_alive(self) -> bool:
        if self._connection is None:
            return False
        try:
            with store_errors(self._engine.url):
                self._connection.execute(text("SELECT 1"))
        except StoreError:
            self._disconnect()
            return False
        return True
