"""A lock that allows one service per store, or one per shard. It ends with the process, also if it is killed.

SQLite has the lock file ``FILE-lock`` beside the database, which is never deleted; PostgreSQL has advisory
locks of one session. A service holds the lock of the store exclusively, and shards hold it together. Each
shard also holds a lock of its number and the number of shards, so that it runs once, and the others see that
it runs and what they must agree on. Before a shard takes it, it deletes the heartbeat of an earlier run,
which the others would take for its own. Reading a store, as for a backup, needs no lock.
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
from occupair.live.room_shards import Shard
from occupair.live.store.database import PRIVATE, StoreError, format_url, store_errors

log = logging.getLogger("occupair.live")

PATIENCE = 3.0
"""How long to wait for a service that is just ending [s]."""
CHECK_EVERY = 10.0
"""How often to check that the session of the lock still exists [s]."""
CLOSE_TIMEOUT = 1.0
"""How long unlocking may take [s]."""
_KEY, _STARTING_KEY = 0x0CC0_9A13, 0x0CC0_9A14
_STORE = "hashtext(current_schema())"
_TRY_LOCK = text(f"SELECT pg_try_advisory_lock({_KEY}, {_STORE})")
_TRY_SHARE = text(f"SELECT pg_try_advisory_lock_shared({_KEY}, {_STORE})")
_BEGIN_START = text(f"SELECT pg_advisory_lock({_STARTING_KEY}, {_STORE})")  # shards start one at a time
_END_START = text(f"SELECT pg_advisory_unlock({_STARTING_KEY}, {_STORE})")
_SHARDS = "hashtext('occupair shards of ' || current_schema())"
_LOCK_SHARD = text(f"SELECT pg_advisory_lock({_SHARDS}, :shard)")
_HAS_SHARDS = text("SELECT to_regclass('shards') IS NOT NULL")
_DELETE_HEARTBEAT = text("DELETE FROM shards WHERE number = :number")
_HELD_SHARDS = text(
    "SELECT CAST(objid AS bigint) FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 2"
    f" AND classid = CAST(CAST({_SHARDS} AS bigint) & 4294967295 AS oid)"
    " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
)
_COUNT_SHIFT = 16  # bits of the number of a shard in the key of its lock
_IN_USE = "is used by another occupair service: stop it, or use another store"
_NOTICE_LOST_CLIENT = text(
    "SELECT set_config('tcp_keepalives_idle', '10', false),"
    " set_config('tcp_keepalives_interval', '5', false), set_config('tcp_keepalives_count', '3', false)"
)


@contextmanager
def service_lock(engine: Engine, shard: Shard | None = None) -> Iterator[None]:
    """Hold the lock of a store, or of a shard of a store in PostgreSQL.

    Raises
    ------
    InputError
        If another process holds it.
    StoreError
        If the database fails.
    """
    with contextlib.ExitStack() as held:
        end = time.monotonic() + PATIENCE
        while isinstance(found := _lock(engine, shard), str):
            if time.monotonic() > end:
                raise InputError(f"store {format_url(engine.url)}: {found}")
            time.sleep(0.1)
        held.callback(found)
        yield


def held_shards(connection: Connection) -> set[Shard]:
    """Return the shards whose processes hold their lock."""
    keys = connection.execute(_HELD_SHARDS).scalars()
    return {Shard(key & ((1 << _COUNT_SHIFT) - 1), key >> _COUNT_SHIFT) for key in keys}


def _lock(engine: Engine, shard: Shard | None) -> Callable[[], None] | str:
    """Lock a store and return how to release it, or why it is locked."""
    return _lock_file(engine) if engine.name == "sqlite" else _lock_session(engine, shard)


def _lock_file(engine: Engine) -> Callable[[], None] | str:
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
        return _IN_USE
    except OSError as error:  # such as a network file system without locks
        raise StoreError(f"store {format_url(engine.url)}: cannot lock {file}: {error.strerror}") from None
    return lambda: os.close(handle)


def _lock_session(engine: Engine, shard: Shard | None) -> Callable[[], None] | str:
    session = _Session(engine, shard)
    return session.lock() or session.close


def _try_lock(connection: Connection, shard: Shard | None, *, is_new: bool) -> str:
    """Take the locks of a service, a new one or one that had them, or return why it cannot."""
    if shard is None:
        return "" if connection.execute(_TRY_LOCK).scalar_one() else _IN_USE
    connection.execute(_BEGIN_START)
    try:
        if not connection.execute(_TRY_SHARE).scalar_one():
            return _IN_USE
        others = sorted(held_shards(connection), key=str)
        if others and others[0].count != shard.count:
            return f"is used by shard {others[0]}: all shards must have the same number of shards"
        if shard in others:
            return f"shard {shard} is running already"
        if is_new and connection.execute(_HAS_SHARDS).scalar_one():  # else it is created later
            connection.execute(_DELETE_HEARTBEAT, {"number": shard.number})
        connection.execute(_LOCK_SHARD, {"shard": shard.count << _COUNT_SHIFT | shard.number})
        return ""
    finally:
        connection.execute(_END_START)


class _Session:
    """A database session that holds the lock, and is replaced when it is lost."""

    def __init__(self, engine: Engine, shard: Shard | None = None) -> None:
        self._engine, self._shard = engine, shard
        self._connection: Connection | None = None
        self._is_mine = True  # as far as is known
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="store lock", daemon=True)

    def lock(self) -> str:
        """Open the session and lock, or return why that is not possible."""
        problem = self._connect()
        if not problem:
            self._thread.start()
        return problem

    def close(self) -> None:
        """Unlock. A server that does not respond is not waited for: the lock then ends with the process."""
        self._closing.set()
        self._thread.join(CLOSE_TIMEOUT)

    def _connect(self) -> str:
        with store_errors(self._engine.url):
            connection = self._engine.connect()
            try:
                connection = connection.execution_options(isolation_level="AUTOCOMMIT")
                connection.detach()  # closed, not returned to the pool
                connection.execute(_NOTICE_LOST_CLIENT)
                problem = _try_lock(connection, self._shard, is_new=not self._thread.is_alive())
            except BaseException:
                connection.close()
                raise
        if problem:
            connection.close()
        else:
            self._connection = connection
        return problem

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
            is_mine = self._is_alive() or not self._connect()
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
