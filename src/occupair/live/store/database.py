"""Connections to SQLite and PostgreSQL: durable transactions, one-line errors, schema upgrades.

SQLite runs in WAL mode with ``synchronous=FULL``: a committed transaction is on disk, and readers and the
one writer do not block each other. Writers lock the database at the start of a transaction, which rules out
deadlocks between them. PostgreSQL connections (`postgres`) are tested before use, so that a restarted server
is found again. Neither database can hang a caller: after a time limit there is an error.
"""

from __future__ import annotations

import datetime as dt
import os
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import (
    URL,
    Connection,
    Engine,
    Select,
    Table,
    and_,
    create_engine,
    event,
    false,
    func,
    make_url,
    or_,
    select,
    text,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from occupair.errors import InputError
from occupair.live.messages import to_microseconds

Insert = postgresql.Insert | sqlite.Insert
MIGRATIONS = Path(__file__).parent / "migrations"
BUSY_TIMEOUT = 5.0
"""How long a writer waits for the lock, and a caller for a free connection [s]."""
PRIVATE = 0o600
"""Mode of new files: they show when people are present. Existing files keep the mode they were given."""
WAL_BYTES = 64_000_000
"""Size to which SQLite truncates its log file [bytes]."""
UPGRADE_LOCK_TIMEOUT = "60s"
"""How long an upgrade of the tables waits for another one, or for other users of PostgreSQL."""
_UPGRADE_KEY = 0x0CC0_9A12
_upgrading = threading.Lock()  # alembic keeps its context per process


class StoreError(OSError):
    """The database is unavailable or failed: one line with the store and the error, without its password."""


def parse_url(url: str) -> URL:
    """Parse the URL of a store.

    Parameters
    ----------
    url : str
        ``sqlite:///FILE`` or ``postgresql://USER:PASSWORD@HOST/DATABASE``.

    Examples
    --------
    >>> parse_url("postgresql://ann:secret@db/rooms")
    postgresql+psycopg://ann:***@db/rooms
    """
    try:
        parsed = make_url(url)
    except (SQLAlchemyError, ValueError):
        raise InputError("store must be sqlite:///FILE or postgresql://USER@HOST/DATABASE") from None
    if parsed.drivername in ("postgres", "postgresql", "postgresql+psycopg"):
        secret = parsed.query.get("password")  # where SQLAlchemy would show it
        password = secret if isinstance(secret, str) else parsed.password
        plain = parsed.difference_update_query(["password"])
        return plain.set(drivername="postgresql+psycopg", password=password)
    if parsed.drivername not in ("sqlite", "sqlite+pysqlite"):
        rule = "store must be sqlite:///FILE or postgresql://USER@HOST/DATABASE"
        raise InputError(f"{rule}, got a URL that starts with {parsed.drivername}:")
    if parsed.database in (None, "", ":memory:") or str(parsed.database).startswith("file:"):
        raise InputError("store must name a file, such as sqlite:///rooms.db")
    return parsed.set(drivername="sqlite")


def format_url(url: URL) -> str:
    """Format a URL without its password and without options, which may contain one.

    Examples
    --------
    >>> format_url(parse_url("postgresql://ann:secret@db/rooms?sslpassword=secret"))
    'postgresql://ann@db/rooms'
    """
    plain = url.set(drivername=url.get_backend_name(), query={})
    return plain._replace(password=None).render_as_string()


def open_engine(url: URL) -> Engine:
    """Create the SQLAlchemy engine of a store. It connects on first use."""
    common: dict[str, Any] = {
        "hide_parameters": True,
        "pool_size": 8,
        "max_overflow": 40,
        "pool_timeout": BUSY_TIMEOUT,
    }
    if url.get_backend_name() == "sqlite":
        engine = create_engine(url, connect_args={"timeout": BUSY_TIMEOUT}, **common)
        event.listen(engine, "do_connect", _create_private)
        event.listen(engine, "connect", _set_up_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
        return engine
    try:
        from occupair.live.store import postgres

        options = {name: value for name, value in postgres.PARAMETERS.items() if name not in url.query}
        engine = create_engine(url, connect_args=options, pool_pre_ping=True, **common)
    except ImportError:
        raise InputError("store: PostgreSQL needs psycopg: pip install 'occupair[postgres]'") from None
    event.listen(engine, "do_connect", postgres.connect)
    event.listen(engine, "connect", postgres.set_up_session)
    return engine


@contextmanager
def store_errors(url: URL) -> Iterator[None]:
    """Raise database errors as a one-line StoreError."""
    try:
        yield
    except SQLAlchemyError as error:
        message = str(error.orig if isinstance(error, DBAPIError) and error.orig else error)
        if url.password:
            message = message.replace(str(url.password), "***")
        line = " ".join(message.split())
        raise StoreError(f"store {format_url(url)}: {line[:300]}") from None


@contextmanager
def snapshot(engine: Engine) -> Iterator[Connection]:
    """Yield a connection that reads one snapshot of the store."""
    level = (
        {} if engine.name == "sqlite" else {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
    )
    with store_errors(engine.url), engine.connect() as connection:
        yield connection.execution_options(**level)


@contextmanager
def transaction(engine: Engine) -> Iterator[Connection]:
    """Yield a connection in a transaction that is committed to disk at the end, or rolled back."""
    with store_errors(engine.url), engine.connect() as connection:
        connection = connection.execution_options(occupair_writes=True)
        with connection.begin():
            yield connection


def upgrade(connection: Connection, revision: str = "head") -> None:
    """Upgrade the tables to a revision, within the transaction of ``connection``."""
    if connection.dialect.name == "postgresql":  # SQLite has one writer anyway
        connection.execute(text("SET LOCAL statement_timeout = 0"))
        connection.execute(text(f"SET LOCAL lock_timeout = '{UPGRADE_LOCK_TIMEOUT}'"))
        connection.execute(select(func.pg_advisory_xact_lock(_UPGRADE_KEY)))
    config = _config()
    config.attributes["connection"] = connection
    with _upgrading:
        check_revision(connection)
        command.upgrade(config, revision)


def check_revision(connection: Connection) -> str | None:
    """Return the schema revision, None for an empty database.

    Raises
    ------
    StoreError
        If the revision is unknown to this version of occupair.
    """
    revision = MigrationContext.configure(connection).get_current_revision()
    if revision is not None and revision not in revisions():
        where = format_url(connection.engine.url)
        raise StoreError(
            f"store {where}: was not made by occupair, or by a newer version (revision {revision!r})"
        )
    return revision


def revisions() -> set[str]:
    """Return the schema revisions that this version of occupair knows."""
    return {script.revision for script in ScriptDirectory.from_config(_config()).walk_revisions()}


def newest_revision() -> str | None:
    """Return the schema revision of this version of occupair."""
    return ScriptDirectory.from_config(_config()).get_current_head()


def rows_between(
    chosen: Select[Any], table: Table, room: str, since: dt.datetime | None, until: dt.datetime | None
) -> Select[Any]:
    """Restrict a query to the rows of a room in [since, until)."""
    check_texts("room", [room])
    chosen = chosen.where(table.c.room == room)
    if since is not None:
        chosen = chosen.where(table.c.time >= to_microseconds(since))
    if until is not None:
        chosen = chosen.where(table.c.time < to_microseconds(until))
    return chosen


def rows_of_rooms(
    chosen: Select[Any], table: Table, periods: Mapping[str, tuple[dt.datetime, dt.datetime | None]]
) -> Select[Any]:
    """Restrict a query to the rows of several rooms, each in its own period [since, until)."""
    check_texts("room", periods)
    conditions = []
    for room, (since, until) in periods.items():
        condition = and_(table.c.room == room, table.c.time >= to_microseconds(since))
        if until is not None:
            condition = and_(condition, table.c.time < to_microseconds(until))
        conditions.append(condition)
    return chosen.where(or_(false(), *conditions))


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    return config


def _create_private(dialect: object, record: object, args: Sequence[str], options: object) -> None:
    """Create a missing database file that only its owner can read; SQLite's log files take over its mode."""
    with suppress(OSError):  # it exists and keeps its mode, or SQLite names the problem
        os.close(os.open(args[0], os.O_RDWR | os.O_CREAT | os.O_EXCL, PRIVATE))


def _set_up_sqlite(connection: sqlite3.Connection, _record: object) -> None:
    connection.isolation_level = None  # transactions start explicitly, read transactions included
    connection.execute(f"PRAGMA busy_timeout = {int(BUSY_TIMEOUT * 1000)}")
    _turn_on_wal(connection)
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute(f"PRAGMA journal_size_limit = {WAL_BYTES}")


def _turn_on_wal(connection: sqlite3.Connection) -> None:
    """Switch a new file to WAL mode, with retries: SQLite ignores its busy timeout here."""
    for _ in range(100):
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                raise
            time.sleep(0.05)
    connection.execute("PRAGMA journal_mode = WAL")


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get("occupair_writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def upsert(table: Table, dialect: str) -> Insert:
    """Return a statement that inserts rows, and replaces existing ones."""
    statement = insert_into(table, dialect)
    keys = list(table.primary_key.columns)
    others = [column.name for column in table.c if not column.primary_key]
    return statement.on_conflict_do_update(
        index_elements=keys, set_={name: statement.excluded[name] for name in others}
    )


def insert_into(table: Table, dialect: str) -> Insert:
    """Return an insert statement that supports ON CONFLICT."""
    return postgresql.insert(table) if dialect == "postgresql" else sqlite.insert(table)


def check_texts(name: str, texts: Iterable[str]) -> None:
    r"""Raise an InputError for text that PostgreSQL cannot store.

    Examples
    --------
    >>> check_texts("room", ["lab", "kitchen\0"])
    Traceback (most recent call last):
        ...
    occupair.errors.InputError: room must be valid Unicode text without null characters, got 'kitchen\x00'
    """
    for one in texts:
        try:
            one.encode()
            valid = "\0" not in one
        except UnicodeEncodeError:
            valid = False
        if not valid:
            raise InputError(f"{name} must be valid Unicode text without null characters, got {one!r}")
