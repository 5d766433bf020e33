"""The models in a store: all versions of each room, one of them active."""

from __future__ import annotations

import datetime as dt
import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Engine, Row, Select, delete, func, insert, select, text, update

from occupair.errors import InputError
from occupair.live.messages import to_microseconds, to_time
from occupair.live.store import schema
from occupair.live.store.database import StoreError, check_texts, snapshot, transaction
from occupair.live.wall_clock import utc_now

CALIBRATED = "calibrated"
"""Origin of models that are calibrated without head counts, or with few."""

ORIGINS = ("file", "upload", "trained", CALIBRATED)


CALIBRATED_KEPT = 3
"""Calibrated models of a room that are kept; there is a new one every night."""


@dataclass(frozen=True)
class ModelVersion:
    """A stored model, without its content.

    Parameters
    ----------
    id : int
        Version number, unique in the store and never reused.
    room : str
        Room id.
    origin : str
        ``"file"``, ``"upload"``, ``"trained"`` or ``"calibrated"``.
    note : str
        Free text.
    sha256 : str
        Checksum of the content, in hexadecimal.
    size : int
        Size of the content [bytes].
    created : datetime
        Time when it was added, in UTC.
    active : bool
        Whether it is in use.
    """

    id: int
    room: str
    origin: str
    note: str
    sha256: str
    size: int
    created: dt.datetime
    active: bool


class DamagedModel(StoreError):
    """The stored content of a model does not match its checksum."""


class ModelStore:
    """The part of a store that holds models."""

    engine: Engine

    def add_model(
        self,
        room: str,
        data: bytes,
        *,
        origin: str,
        note: str = "",
        activate: bool = False,
    ) -> int:
        """Store a model and return its version.

        With ``activate`` it is activated in the same transaction, and the room's newest estimate is deleted:
        the missing estimate tells the next start that today has to be estimated again, with this model.
        """
        if origin not in ORIGINS:
            raise InputError(f"origin must be one of {', '.join(ORIGINS)}, got {origin!r}")
        check_texts("room", [room])
        check_texts("note", [note])
        row = {
            "room": room,
            "origin": origin,
            "note": note,
            "sha256": hashlib.sha256(data).hexdigest(),
            "size": len(data),
            "created": to_microseconds(utc_now()),
            "active": False,
            "data": bytes(data),
        }
        added = insert(schema.models).values(row).returning(schema.models.c.id)
        with self._changing_models() if activate else transaction(self.engine) as connection:
            version = int(connection.execute(added).scalar_one())
            if activate:
                activate_model(connection, room, version)
                _delete_newest_estimate(connection, room)
        return version

    def activate(self, room: str, version: int | None) -> None:
        """Activate a model of a room; None deactivates them all."""
        with self._changing_models() as connection:
            activate_model(connection, room, version)

    def active_model(self, room: str) -> tuple[int, bytes] | None:
        """Return the version and the content of a room's active model."""
        table = schema.models
        return self._model(select(table).where(table.c.room == room, table.c.active), room)

    def models(self, room: str) -> list[ModelVersion]:
        """Return the models of a room, oldest first."""
        check_texts("room", [room])
        table = schema.models
        columns = [column for column in table.c if column is not table.c.data]
        rows = self._select(select(*columns).where(table.c.room == room).order_by(table.c.id))
        return [ModelVersion(**{**row._asdict(), "created": to_time(row.created)}) for row in rows]

    def model(self, room: str, version: int) -> bytes | None:
        """Return the content of a room's model."""
        table = schema.models
        if not _is_version(version):
            return None
        found = self._model(select(table).where(table.c.room == room, table.c.id == version), room)
        return None if found is None else found[1]

    def prune_calibrated(self, room: str) -> None:
        """Delete the calibrated models of a room except the active one and the newest."""
        table = schema.models
        check_texts("room", [room])
        own = (table.c.room == room, table.c.origin == CALIBRATED)
        newest = select(table.c.id).where(*own).order_by(table.c.id.desc()).limit(CALIBRATED_KEPT)
        with self._changing_models() as connection:
            kept = connection.execute(newest).scalars().all()
            connection.execute(delete(table).where(*own, ~table.c.active, table.c.id.not_in(kept)))

    def forget(self, room: str) -> None:
        """Delete the labels of a room and all its models except those from a file.

        The newest model from a file is activated, if there is one.
        """
        models, labels = schema.models, schema.labels
        check_texts("room", [room])
        with self._changing_models() as connection:
            connection.execute(delete(labels).where(labels.c.room == room))
            connection.execute(delete(models).where(models.c.room == room, models.c.origin != "file"))
            newest = select(func.max(models.c.id)).where(models.c.room == room)
            activate_model(connection, room, connection.execute(newest).scalar_one())

    def _select(self, statement: Select[Any]) -> Sequence[Row[Any]]:
        with snapshot(self.engine) as connection:
            return connection.execute(statement).all()

    def _model(self, statement: Select[Any], room: str) -> tuple[int, bytes] | None:
        check_texts("room", [room])
        rows = self._select(statement)
        if not rows:
            return None
        data = bytes(rows[0].data)
        if hashlib.sha256(data).hexdigest() != rows[0].sha256:
            raise DamagedModel(
                f"store {self}: model {rows[0].id} of room {room!r} is damaged: its checksum does not match"
            )
        return int(rows[0].id), data

    @contextmanager
    def _changing_models(self) -> Iterator[Connection]:
        """Yield a connection for changing the active model, one caller at a time."""
        with transaction(self.engine) as connection:
            if connection.dialect.name == "postgresql":
                connection.execute(text("LOCK TABLE models IN SHARE ROW EXCLUSIVE MODE"))
            yield connection


def activate_model(connection: Connection, room: str, version: int | None) -> None:
    """Activate a model of a room, within the transaction of ``connection``."""
    table = schema.models
    check_texts("room", [room])
    connection.execute(update(table).where(table.c.room == room, table.c.active).values(active=False))
    if version is None:
        return
    chosen = update(table).where(table.c.room == room, table.c.id == version).values(active=True)
    if not _is_version(version) or connection.execute(chosen).rowcount == 0:
        raise InputError(f"room {room!r} has no model {version}")


def _delete_newest_estimate(connection: Connection, room: str) -> None:
    table = schema.estimates
    newest = select(func.max(table.c.time)).where(table.c.room == room).scalar_subquery()
    connection.execute(delete(table).where(table.c.room == room, table.c.time == newest))


def _is_version(version: int) -> bool:
    return 0 < version < 2**31
