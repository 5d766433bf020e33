"""Whether the service can use a store, for ``occupair serve --check``. Nothing is created or changed."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from urllib.parse import quote

from sqlalchemy import URL, Connection, create_engine, text
from sqlalchemy.pool import NullPool

from occupair.live.store import schema
from occupair.live.store.database import (
    StoreError,
    check_revision,
    format_url,
    newest_revision,
    open_engine,
    parse_url,
    snapshot,
    store_errors,
)

_MAY_CREATE = text("SELECT coalesce(has_schema_privilege(current_schema(), 'CREATE'), false)")
_MAY_WRITE = text(
    "SELECT bool_and(has_table_privilege(pg_class.oid, privilege))"
    " FROM pg_class, unnest(array['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS privilege"
    " WHERE relname = ANY(:tables) AND relnamespace = current_schema()::regnamespace"
)


def describe_access(url: str) -> str:
    """Return what the service will do with a store: use it, create its tables or upgrade them.

    The database is opened for reading only. Of a SQLite file that does not exist, only the folder is checked.

    Raises
    ------
    StoreError
        If the store is unavailable, is not one of occupair or of a newer version, or cannot be written to.
    """
    parsed = parse_url(url)
    read = _sqlite_revision if parsed.get_backend_name() == "sqlite" else _postgres_revision
    revision = read(parsed)
    if revision is None:
        state = "no tables yet, created at start"
    elif revision == newest_revision():
        state = "ready"
    else:
        state = f"tables of an earlier version ({revision}), upgraded at start"
    return f"store {format_url(parsed)}: {state}"


def _sqlite_revision(url: URL) -> str | None:
    path = Path(str(url.database))
    if not path.parent.is_dir():
        raise _error(url, f"the folder {path.parent} does not exist")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise _error(url, f"the folder {path.parent} must be writable by this user")
    if not path.exists():
        return None
    if not os.access(path, os.R_OK | os.W_OK):
        raise _error(url, "the file must be readable and writable by this user")
    # Without a log file nobody is writing: as an immutable file, it is read without creating one.
    mode = "mode=ro" if Path(f"{path}-wal").exists() else "immutable=1"
    address = f"file:{quote(str(path.absolute()))}?{mode}"
    engine = create_engine(url, creator=lambda: sqlite3.connect(address, uri=True), poolclass=NullPool)
    with store_errors(url), engine.connect() as connection:
        return check_revision(connection)


def _postgres_revision(url: URL) -> str | None:
    engine = open_engine(url)
    try:
        with snapshot(engine) as connection:
            revision = check_revision(connection)
            if not _may_write(connection, revision):
                raise _error(url, "the user must be permitted to write to it")
            return revision
    finally:
        engine.dispose()


def _may_write(connection: Connection, revision: str | None) -> bool:
    if connection.scalar(text("SELECT pg_is_in_recovery()")):  # a replica
        return False
    if revision is None:
        return bool(connection.scalar(_MAY_CREATE))
    return bool(connection.scalar(_MAY_WRITE, {"tables": list(schema.metadata.tables)}))


def _error(url: URL, rule: str) -> StoreError:
    return StoreError(f"store {format_url(url)}: {rule}")
