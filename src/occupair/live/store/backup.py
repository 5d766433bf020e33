"""Backup of a store to one file, and restore, between any two databases.

The file is a zip archive with one JSON-lines file per table and a manifest: the schema revision, and the
number of rows and the sha256 of each table. It is a consistent snapshot of the store, which may be in use
meanwhile. A restore creates the tables of the backup's revision and then upgrades them. It reads the file row
by row and limits its unpacked size, so that a forged file cannot exhaust memory or disk.
"""

from __future__ import annotations

import base64
import errno
import hashlib
import io
import json
import os
import re
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

from sqlalchemy import Column, Connection, LargeBinary, MetaData, Table, func, inspect, select, text
from sqlalchemy.exc import IntegrityError

from occupair.atomic_files import replacing
from occupair.errors import InputError
from occupair.live.messages import Quality
from occupair.live.store import schema
from occupair.live.store.database import check_revision, revisions, snapshot, transaction, upgrade
from occupair.live.store.store import Store
from occupair.live.store.store_lock import service_lock
from occupair.live.wall_clock import utc_now

FORMAT, VERSION = "occupair-backup", 1
TABLES = tuple(schema.metadata.tables)
BATCH = 5_000
"""Rows read or written at a time..."""
BATCH_BYTES = 16_000_000
"""...unless they are longer than this when they are restored [bytes]."""
MAX_RATIO, SMALL_BYTES = 100, 10_000_000
"""Most that a file may unpack to: a multiple of its size (estimates reach 30), or this many bytes."""
MAX_MANIFEST_BYTES, MAX_ROW_BYTES, MAX_MODEL_BYTES = 1_000_000, 1_000_000, 256_000_000
"""Longest manifest, row of a table, and row of a table with models or floor plans."""
_WITH_FILES = tuple(
    name
    for name, table in schema.metadata.tables.items()
    if any(isinstance(column.type, LargeBinary) for column in table.c)
)
MAX_COMMAS = 10_000
"""More of them make no row, but a list that would take many times its size in memory."""


@dataclass(frozen=True)
class Contents:
    """Entry of a table in the manifest."""

    columns: tuple[str, ...]
    rows: int
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """The manifest of a backup."""

    revision: str
    tables: dict[str, Contents]


class Field(NamedTuple):
    """Name, accepted Python types and, if not all of them, accepted values of a column."""

    name: str
    kind: type
    fits: tuple[type, ...]
    values: frozenset[str] | None

    def allows(self, value: object) -> bool:
        """Whether a value of an accepted type is an accepted value."""
        return self.values is None or value in self.values


def backup(url: str, path: str | Path) -> None:
    """Back up a store to a file, completely or not at all. The service may be running.

    Parameters
    ----------
    url : str
        URL of the store, as for ``Store``.
    path : path
        The file. An existing file is replaced. Only its owner can read it.
    """
    with closing(Store(url)) as store:
        _check_exists(store)
        with snapshot(store.engine) as connection, replacing(path, private=True) as scratch:
            revision = check_revision(connection)
            if revision is None:
                raise InputError(f"store {store}: has no occupair tables: nothing to back up")
            _write(connection, revision, scratch)


def restore(path: str | Path, url: str, *, replace: bool = False) -> None:
    """Restore a store from a backup, completely or not at all.

    Parameters
    ----------
    path : path
        A file written by ``backup``. It is checked completely before the store is changed.
    url : str
        URL of the store, as for ``Store``. It is created if it does not exist.
    replace : bool
        Whether to replace a store that is not empty.

    Raises
    ------
    InputError
        If the file is not a backup, or a service uses the store, which does not read again what it has in
        memory.
    """
    with Path(path).open("rb") as file, closing(Store(url)) as store:
        with _archive_errors(path):
            archive = zipfile.ZipFile(file)
            _check_size(archive, path, os.fstat(file.fileno()).st_size)
            manifest = _check(archive, path)
        with (
            nullcontext() if _is_new(store) else service_lock(store.engine),
            _deleted_on_failure(store),
            transaction(store.engine) as connection,
        ):
            _drop_tables(connection, store, replace=replace)
            upgrade(connection, manifest.revision)
            tables = _reflected(connection)
            if set(tables) != set(manifest.tables):
                raise _broken(path, f"unexpected tables: {', '.join(manifest.tables)}")
            for name, table in tables.items():
                _fill(connection, table, manifest.tables[name], archive, path)
            upgrade(connection)


# ---- backup ----


def _check_exists(store: Store) -> None:
    """Raise an InputError for a missing file, which SQLite would create."""
    if _is_new(store):
        raise InputError(f"store {store}: no such file")


def _is_new(store: Store) -> bool:
    return store.engine.name == "sqlite" and not Path(str(store.url.database)).exists()


def _write(connection: Connection, revision: str, path: Path) -> None:
    contents: dict[str, Any] = {}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=3) as archive:
        for name, table in _reflected(connection).items():
            with archive.open(_member(name), "w", force_zip64=True) as file:
                contents[name] = _write_table(connection, table, file)
        manifest = {
            "format": FORMAT,
            "version": VERSION,
            "revision": revision,
            "created": utc_now().isoformat(timespec="seconds"),
            "tables": contents,
        }
        archive.writestr("manifest.json", json.dumps(manifest, indent=1))


def _write_table(connection: Connection, table: Table, file: IO[bytes]) -> dict[str, Any]:
    digest, rows = hashlib.sha256(), 0
    chosen = select(table).order_by(*table.primary_key.columns)
    with connection.execute(chosen, execution_options={"yield_per": _batch_size(table)}) as result:
        for some in result.partitions():
            lines = "".join(f"{json.dumps([_to_json(value) for value in row])}\n" for row in some).encode()
            file.write(lines)
            digest.update(lines)
            rows += len(some)
    return {"columns": list(table.c.keys()), "rows": rows, "sha256": digest.hexdigest()}


def _to_json(value: object) -> object:
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value


# ---- restore ----


@contextmanager
def _archive_errors(path: str | Path) -> Iterator[None]:
    """Raise any error of a zip file as a one-line InputError."""
    try:
        yield
    except InputError:
        raise
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError) as error:
        raise _broken(path, str(error) or "unexpected end of file") from None
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
        raise _broken(path, "invalid offset") from None


def _broken(path: str | Path, why: str) -> InputError:
    return InputError(f"{path}: not an occupair backup, or damaged: {why}")


def _check_size(archive: zipfile.ZipFile, path: str | Path, size: int) -> None:
    """Raise an InputError for a file that would unpack to far more than a backup of its size.

    These are the sizes that the file claims; ``zipfile`` reads no more than that, and fails if there is more.
    """
    unpacked = sum(member.file_size for member in archive.infolist())
    if unpacked > max(SMALL_BYTES, MAX_RATIO * size):
        raise _broken(path, f"{size / 1e6:.1f} MB that unpack to {unpacked / 1e6:.0f} MB")
    manifest = archive.NameToInfo.get("manifest.json")
    if manifest is not None and manifest.file_size > MAX_MANIFEST_BYTES:
        raise _broken(path, f"a manifest of {manifest.file_size / 1e6:.0f} MB")


def _check(archive: zipfile.ZipFile, path: str | Path) -> Manifest:
    """Read a backup from end to end and return its manifest."""
    if any(member.flag_bits & 1 for member in archive.infolist()):
        raise _broken(path, "it is encrypted")
    manifest = _parse_manifest(archive, path)
    for name, contents in manifest.tables.items():
        digest, rows = hashlib.sha256(), 0
        for line in _lines(archive, name, path):
            digest.update(line)
            rows += 1
        if rows != contents.rows or digest.hexdigest() != contents.sha256:
            raise _broken(path, f"the rows or the checksum of {name} do not match the manifest")
    return manifest


def _parse_manifest(archive: zipfile.ZipFile, path: str | Path) -> Manifest:
    try:
        document = json.loads(archive.read("manifest.json"))
        form, version, revision = (document[name] for name in ("format", "version", "revision"))
        tables = {
            str(name): Contents(tuple(map(str, entry["columns"])), int(entry["rows"]), str(entry["sha256"]))
            for name, entry in document["tables"].items()
        }
    except (KeyError, ValueError, TypeError, AttributeError, RecursionError):
        raise _broken(path, "missing or invalid manifest") from None
    if form != FORMAT or not {_member(name) for name in tables} <= set(archive.namelist()):
        raise _broken(path, "files named in the manifest are missing")
    if version != VERSION or str(revision) not in revisions():
        made = f"format {version!r:.60}, revision {revision!r:.60}"
        raise InputError(f"{path}: made by a newer version of occupair: {made}")
    return Manifest(str(revision), tables)


def _lines(archive: zipfile.ZipFile, name: str, path: str | Path) -> Iterator[bytes]:
    limit = MAX_MODEL_BYTES if name in _WITH_FILES else MAX_ROW_BYTES
    with archive.open(_member(name)) as member, io.BufferedReader(cast("io.RawIOBase", member)) as file:
        while line := file.readline(limit + 1):
            if len(line) > limit:
                raise _broken(path, f"a row of {name} is longer than {limit // 1_000_000} MB")
            yield line


@contextmanager
def _deleted_on_failure(store: Store) -> Iterator[None]:
    """Delete the file of a store that did not exist before, if the restore fails."""
    is_new = _is_new(store)
    try:
        yield
    except BaseException:
        if is_new:
            store.close()
            file = Path(str(store.url.database))
            for suffix in ("", "-wal", "-shm"):
                Path(f"{file}{suffix}").unlink(missing_ok=True)
        raise


def _drop_tables(connection: Connection, store: Store, *, replace: bool) -> None:
    """Drop the tables of a store that is empty or may be replaced."""
    tables = _reflected(connection)
    if check_revision(connection) is None and tables:
        raise InputError(f"store {store}: table {min(tables)} was not created by occupair")
    filled = [name for name, table in tables.items() if connection.execute(select(table).limit(1)).first()]
    if filled and not replace:
        raise InputError(f"store {store}: is not empty, it has {filled[0]}: use an empty store or --replace")
    for name in [*tables, "alembic_version"]:
        connection.execute(text(f"DROP TABLE IF EXISTS {name}"))


def _fill(
    connection: Connection, table: Table, contents: Contents, archive: zipfile.ZipFile, path: str | Path
) -> None:
    """Insert the rows of a backup into an empty table."""
    if sorted(contents.columns) != sorted(table.c.keys()):
        raise _broken(path, f"unexpected columns of {table.name}")
    fields = [_field(table.c[name]) for name in contents.columns]
    rows: list[dict[str, Any]] = []
    size = 0
    for line in _lines(archive, table.name, path):
        rows.append(_parse_row(line, table.name, fields, path))
        size += len(line)
        if len(rows) >= BATCH or size >= BATCH_BYTES:
            _insert(connection, table, rows, path)
            rows, size = [], 0
    if rows:
        _insert(connection, table, rows, path)
    if connection.dialect.name == "postgresql" and "id" in table.c and contents.rows:
        sequence = func.pg_get_serial_sequence(table.name, "id")
        connection.execute(select(func.setval(sequence, select(func.max(table.c.id)).scalar_subquery())))


def _insert(connection: Connection, table: Table, rows: list[dict[str, Any]], path: str | Path) -> None:
    try:
        connection.execute(table.insert(), rows)
    except IntegrityError:
        raise _broken(path, f"rows of {table.name} contradict each other") from None


def _field(column: Column[Any]) -> Field:
    kind = column.type.python_type
    fits = (float, int) if kind is float else (kind,)
    values = frozenset(Quality) if column.name == "quality" else None
    return Field(column.name, kind, fits + ((type(None),) if column.nullable else ()), values)


def _parse_row(line: bytes, table: str, fields: Sequence[Field], path: str | Path) -> dict[str, Any]:
    """Parse a row, and check the type of each value."""
    try:
        row = json.loads(line) if line.count(b",") <= MAX_COMMAS else None
    except (ValueError, RecursionError):
        row = None
    if not isinstance(row, list) or len(row) != len(fields):
        raise _broken(path, f"invalid row {line!r:.60}")
    values: dict[str, Any] = {}
    for value, field in zip(row, fields, strict=True):
        known = _from_base64(value) if field.kind is bytes else value
        if type(known) not in field.fits or not _is_storable(known) or not field.allows(known):
            raise _broken(path, f"invalid {field.name} of {table}: {value!r:.60}")
        values[field.name] = known
    return values


def _is_storable(value: object) -> bool:
    """Whether the databases can store a value of a type that fits: integers of 64 bits, and Unicode."""
    if isinstance(value, int):
        return -(2**63) <= value < 2**63
    return not isinstance(value, str) or value.isascii() or not re.search("[\ud800-\udfff]", value)


def _from_base64(value: object) -> bytes | None:
    try:
        return base64.b64decode(value, validate=True) if isinstance(value, str) else None
    except ValueError:
        return None


# ---- shared ----


def _reflected(connection: Connection) -> dict[str, Table]:
    """Return the tables as they are in the database, which may have another revision."""
    metadata = MetaData()
    there = inspect(connection).get_table_names()
    metadata.reflect(connection, only=[name for name in TABLES if name in there])
    return {name: metadata.tables[name] for name in TABLES if name in there}


def _batch_size(table: Table) -> int:
    """Return the number of rows to hold in memory: models and plans are large."""
    return 1 if any(isinstance(column.type, LargeBinary) for column in table.c) else BATCH


def _member(name: str) -> str:
    return f"{name}.jsonl"
