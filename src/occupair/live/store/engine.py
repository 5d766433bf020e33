"""How the two databases are talked to: what they took is on the disk, and what they say is one line.

SQLite runs in WAL mode with ``synchronous=FULL``: a transaction is in the file when it ends, and readers and
the one writer do not wait for each other. Writers ask for their turn at the beginning of a transaction, so
that they wait in line and never meet half-way. PostgreSQL connections are tried before they are used, so that
a server which was away is found again.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import URL, Connection, Engine, create_engine, event, func, make_url, select
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from occupair.errors import InputError

MIGRATIONS = Path(__file__).parent / "migrations"
BUSY = 30.0
"""How long a writer waits for its turn, and a caller for a free connection [s]."""
WAL_BYTES = 64_000_000
"""What is kept of SQLite's log file when it is empty [bytes]."""
POSTGRES: dict[str, Any] = {
    "application_name": "occupair",
    "connect_timeout": 5,  # [s]
    "keepalives_idle": 10,  # [s]
    "keepalives_interval": 5,  # [s]
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,  # [ms]
}
"""What a URL may say otherwise: a server that does not answer is given up after some twenty seconds."""
_UPGRADE_KEY = 0x0CC0_9A12
_upgrading = threading.Lock()  # alembic holds what it works on for the whole process


class StoreError(OSError):
    """The database cannot do it now: one line that says which one and what it said, without its password."""


def read_url(url: str) -> URL:
    """Read where a store is.

    Parameters
    ----------
    url : str
        ``sqlite:///FILE`` or ``postgresql://USER:PASSWORD@HOST/DATABASE``.

    Examples
    --------
    >>> read_url("postgresql://ann:secret@db/rooms")
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
        raise InputError(f"{rule}, got one that begins with {parsed.drivername}:")
    if parsed.database in (None, "", ":memory:") or str(parsed.database).startswith("file:"):
        raise InputError("store must name a file, such as sqlite:///rooms.db")
    return parsed.set(drivername="sqlite")


def shown(url: URL) -> str:
    """Write a URL for people: without password, and without options, which could hold one.

    Examples
    --------
    >>> shown(read_url("postgresql://ann:secret@db/rooms?sslpassword=secret"))
    'postgresql://ann@db/rooms'
    """
    plain = url.set(drivername=url.get_backend_name(), query={})
    return plain._replace(password=None).render_as_string()


def open_engine(url: URL) -> Engine:
    """Make the engine of a store; it connects when it is used."""
    common: dict[str, Any] = {
        "hide_parameters": True,
        "pool_size": 8,
        "max_overflow": 40,
        "pool_timeout": BUSY,
    }
    if url.get_backend_name() == "sqlite":
        engine = create_engine(url, connect_args={"timeout": BUSY}, **common)
        event.listen(engine, "connect", _set_up_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
        return engine
    wanted = {name: value for name, value in POSTGRES.items() if name not in url.query}
    try:
        engine = create_engine(url, connect_args=wanted, pool_pre_ping=True, **common)
    except ImportError:
        raise InputError("store: PostgreSQL needs psycopg: pip install 'occupair[postgres]'") from None
    event.listen(engine, "connect", _set_up_postgres)
    return engine


@contextmanager
def one_line(url: URL) -> Iterator[None]:
    """Turn whatever a database says into one line."""
    try:
        yield
    except SQLAlchemyError as error:
        said = str(error.orig if isinstance(error, DBAPIError) and error.orig else error)
        if url.password:
            said = said.replace(str(url.password), "***")
        line = " ".join(said.split())
        raise StoreError(f"store {shown(url)}: {line[:300]}") from None


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """Give a connection that reads one state of the store, whatever is written meanwhile."""
    level = (
        {} if engine.name == "sqlite" else {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
    )
    with one_line(engine.url), engine.connect() as connection:
        yield connection.execution_options(**level)


@contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """Give a connection in a transaction that is all there at the end, on the disk, or not at all."""
    with one_line(engine.url), engine.connect() as connection:
        connection = connection.execution_options(occupair_writes=True)
        with connection.begin():
            yield connection


def upgrade(connection: Connection, revision: str = "head") -> None:
    """Bring the tables to a revision, inside the transaction of ``connection``."""
    if connection.dialect.name == "postgresql":  # SQLite has one writer anyway
        connection.execute(select(func.pg_advisory_xact_lock(_UPGRADE_KEY)))
    config = _config()
    config.attributes["connection"] = connection
    with _upgrading:
        check_revision(connection)
        command.upgrade(config, revision)


def check_revision(connection: Connection) -> str | None:
    """Give the revision of the tables, None if there are none; refuse one that we do not know."""
    revision = MigrationContext.configure(connection).get_current_revision()
    if revision is not None and revision not in revisions():
        where = shown(connection.engine.url)
        raise StoreError(f"store {where}: is not occupair's, or of a newer version (revision {revision!r})")
    return revision


def revisions() -> set[str]:
    """Give the revisions that this version knows."""
    return {script.revision for script in ScriptDirectory.from_config(_config()).walk_revisions()}


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    return config


def _set_up_sqlite(connection: sqlite3.Connection, _record: object) -> None:
    connection.isolation_level = None  # transactions begin where we say so, also those that read
    connection.execute(f"PRAGMA busy_timeout = {int(BUSY * 1000)}")
    _turn_on_wal(connection)
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute(f"PRAGMA journal_size_limit = {WAL_BYTES}")


def _turn_on_wal(connection: sqlite3.Connection) -> None:
    """Switch a new file to WAL mode; SQLite does not wait here when another process does the same."""
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


def _set_up_postgres(connection: Any, _record: object) -> None:
    """Wait for the disk at the end of a transaction, even where the server was told not to."""
    setting = "synchronous_commit"
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT set_config('{setting}', 'on', false) WHERE current_setting('{setting}') = 'off'"
        )
    connection.commit()
