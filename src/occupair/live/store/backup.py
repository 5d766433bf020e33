"""A store in one file, and back, from either database into either.

The file is a zip of one list of JSON lines per table, and a manifest: which revision of the schema they are
of, how many rows each has, and their sha256. It is one state of the store, taken while the service may run.
What is restored becomes tables of the revision it was taken from, and those are then brought up to date.
"""

from __future__ import annotations

import base64
import datetime as dt
import errno
import hashlib
import json
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, Any, NamedTuple

from sqlalchemy import Column, Connection, LargeBinary, MetaData, Table, func, inspect, select, text

from occupair.atomic_files import replacing
from occupair.errors import InputError
from occupair.live.store import schema
from occupair.live.store.engine import check_revision, reading, revisions, upgrade, writing
from occupair.live.store.store import Store

FORMAT, VERSION = "occupair-backup", 1
TABLES = tuple(schema.metadata.tables)
BATCH = 5_000
"""Rows that are read and written at once."""


@dataclass(frozen=True)
class Contents:
    """What the manifest says of a table."""

    columns: tuple[str, ...]
    rows: int
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """What a backup says of itself."""

    revision: str
    tables: dict[str, Contents]


class Field(NamedTuple):
    """What a column takes."""

    name: str
    kind: type
    fits: tuple[type, ...]


def backup(url: str, path: str | Path) -> None:
    """Write a store to a file, whole or not at all; the service may run meanwhile.

    Parameters
    ----------
    url : str
        Of the store, as for ``Store``.
    path : path
        The file, which is replaced if it is there.
    """
    with closing(Store(url)) as store:
        _check_is_there(store)
        with reading(store.engine) as connection, replacing(path) as scratch:
            revision = check_revision(connection)
            if revision is None:
                raise InputError(f"store {store}: has no tables of occupair, there is nothing to back up")
            _write(connection, revision, scratch)


def restore(path: str | Path, url: str, *, replace: bool = False) -> None:
    """Fill a store from a backup, whole or not at all.

    Parameters
    ----------
    path : path
        What ``backup`` wrote. All of it is checked before the store is touched.
    url : str
        Of the store, as for ``Store``; it is made if it is not there.
    replace : bool
        Whether a store that holds something may be replaced. Stop the service first: what it has read
        already it does not read again.
    """
    with Path(path).open("rb") as file, closing(Store(url)) as store:
        with _faults_of(path):
            archive = zipfile.ZipFile(file)
            manifest = _checked(archive, path)
        with _vanishing_if_new(store), writing(store.engine) as connection:
            _make_room(connection, store, replace=replace)
            upgrade(connection, manifest.revision)
            tables = _reflected(connection)
            if set(tables) != set(manifest.tables):
                raise _broken(path, f"it has the tables {', '.join(manifest.tables)}")
            for name, table in tables.items():
                _fill(connection, table, manifest.tables[name], archive, path)
            upgrade(connection)


# Out


def _check_is_there(store: Store) -> None:
    """Refuse a file that is not there, which SQLite would make."""
    if store.engine.name == "sqlite" and not Path(str(store.url.database)).is_file():
        raise InputError(f"store {store}: there is no such file")


def _write(connection: Connection, revision: str, path: Path) -> None:
    contents: dict[str, Any] = {}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=3) as archive:
        for name, table in _reflected(connection).items():
            with archive.open(_member(name), "w", force_zip64=True) as file:
                contents[name] = _write_table(connection, table, file)
        about = {
            "format": FORMAT,
            "version": VERSION,
            "revision": revision,
            "created": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
            "tables": contents,
        }
        archive.writestr("manifest.json", json.dumps(about, indent=1))


def _write_table(connection: Connection, table: Table, file: IO[bytes]) -> dict[str, Any]:
    digest, rows = hashlib.sha256(), 0
    chosen = select(table).order_by(*table.primary_key.columns)
    with connection.execute(chosen, execution_options={"yield_per": _at_once(table)}) as result:
        for some in result.partitions():
            lines = "".join(f"{json.dumps([_to_json(value) for value in row])}\n" for row in some).encode()
            file.write(lines)
            digest.update(lines)
            rows += len(some)
    return {"columns": list(table.c.keys()), "rows": rows, "sha256": digest.hexdigest()}


def _to_json(value: object) -> object:
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value


# Back


@contextmanager
def _faults_of(path: str | Path) -> Iterator[None]:
    """Tell in one line whatever is wrong with a zip file."""
    try:
        yield
    except InputError:
        raise
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError) as error:
        raise _broken(path, str(error) or "it ends too early") from None
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
        raise _broken(path, "it points outside of itself") from None


def _broken(path: str | Path, why: str) -> InputError:
    return InputError(f"{path}: is no backup of occupair, or a broken one: {why}")


def _checked(archive: zipfile.ZipFile, path: str | Path) -> Manifest:
    """Read a backup from end to end and give its manifest."""
    if any(member.flag_bits & 1 for member in archive.infolist()):
        raise _broken(path, "it is encrypted")
    manifest = _manifest(archive, path)
    for name, contents in manifest.tables.items():
        digest, rows = hashlib.sha256(), 0
        for line in _lines(archive, name):
            digest.update(line)
            rows += 1
        if rows != contents.rows or digest.hexdigest() != contents.sha256:
            raise _broken(path, f"its {name} are not those that were written")
    return manifest


def _manifest(archive: zipfile.ZipFile, path: str | Path) -> Manifest:
    try:
        about = json.loads(archive.read("manifest.json"))
        form, version, revision = (about[name] for name in ("format", "version", "revision"))
        tables = {
            str(name): Contents(tuple(map(str, told["columns"])), int(told["rows"]), str(told["sha256"]))
            for name, told in about["tables"].items()
        }
    except (KeyError, ValueError, TypeError, AttributeError, RecursionError):
        raise _broken(path, "it has no manifest") from None
    if form != FORMAT or not {_member(name) for name in tables} <= set(archive.namelist()):
        raise _broken(path, "what its manifest names is not there")
    if version != VERSION or str(revision) not in revisions():
        made = f"format {version!r:.60}, revision {revision!r:.60}"
        raise InputError(f"{path}: was made by a newer version of occupair: {made}")
    return Manifest(str(revision), tables)


def _lines(archive: zipfile.ZipFile, name: str) -> Iterator[bytes]:
    with archive.open(_member(name)) as lines:
        yield from lines


@contextmanager
def _vanishing_if_new(store: Store) -> Iterator[None]:
    """Leave no empty file behind when a store that was not there cannot be filled."""
    file = Path(str(store.url.database))
    new = store.engine.name == "sqlite" and not file.exists()
    try:
        yield
    except BaseException:
        if new:
            store.close()
            for suffix in ("", "-wal", "-shm"):
                Path(f"{file}{suffix}").unlink(missing_ok=True)
        raise


def _make_room(connection: Connection, store: Store, *, replace: bool) -> None:
    """Remove the tables of a store that is empty or may be replaced."""
    tables = _reflected(connection)
    if check_revision(connection) is None and tables:
        raise InputError(f"store {store}: has a table {min(tables)} that is not occupair's")
    filled = [name for name, table in tables.items() if connection.execute(select(table).limit(1)).first()]
    if filled and not replace:
        raise InputError(f"store {store}: holds {filled[0]} already: give an empty one, or --replace")
    for name in [*tables, "alembic_version"]:
        connection.execute(text(f"DROP TABLE IF EXISTS {name}"))


def _fill(
    connection: Connection, table: Table, contents: Contents, archive: zipfile.ZipFile, path: str | Path
) -> None:
    """Put the rows of a backup into an empty table."""
    if sorted(contents.columns) != sorted(table.c.keys()):
        raise _broken(path, f"its {table.name} have other columns")
    fields = [_field(table.c[name]) for name in contents.columns]
    rows = (_values(line, table.name, fields, path) for line in _lines(archive, table.name))
    while some := list(islice(rows, _at_once(table))):
        connection.execute(table.insert(), some)
    if connection.dialect.name == "postgresql" and "id" in table.c and contents.rows:
        sequence = func.pg_get_serial_sequence(table.name, "id")
        connection.execute(select(func.setval(sequence, select(func.max(table.c.id)).scalar_subquery())))


def _field(column: Column[Any]) -> Field:
    kind = column.type.python_type
    fits = (float, int) if kind is float else (kind,)
    return Field(column.name, kind, fits + ((type(None),) if column.nullable else ()))


def _values(line: bytes, table: str, fields: Sequence[Field], path: str | Path) -> dict[str, Any]:
    """Give a row with its names, each value of a kind that its column has."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        row = None
    if not isinstance(row, list) or len(row) != len(fields):
        raise _broken(path, f"{line!r:.60} is no row")
    values: dict[str, Any] = {}
    for value, field in zip(row, fields, strict=True):
        known = _from_base64(value) if field.kind is bytes else value
        if type(known) not in field.fits:
            raise _broken(path, f"{field.name} of {table} cannot be {value!r:.60}")
        values[field.name] = known
    return values


def _from_base64(value: object) -> bytes | None:
    try:
        return base64.b64decode(value, validate=True) if isinstance(value, str) else None
    except ValueError:
        return None


# Both


def _reflected(connection: Connection) -> dict[str, Table]:
    """Give the tables as they are in the database, which may be of another revision."""
    metadata = MetaData()
    there = inspect(connection).get_table_names()
    metadata.reflect(connection, only=[name for name in TABLES if name in there])
    return {name: metadata.tables[name] for name in TABLES if name in there}


def _at_once(table: Table) -> int:
    """How many rows to hold in memory: models are large."""
    return 1 if any(isinstance(column.type, LargeBinary) for column in table.c) else BATCH


def _member(name: str) -> str:
    return f"{name}.jsonl"
