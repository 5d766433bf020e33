"""A store: what the service keeps of its rooms, and gives back."""

from __future__ import annotations

import datetime as dt
import hashlib
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import CTE, Connection, Row, Select, Table, and_, delete, func, insert, select, text, update

from occupair.errors import InputError
from occupair.live.messages import EstimateRecord, Label, Reading, to_microseconds, to_time
from occupair.live.store import schema
from occupair.live.store.engine import StoreError, open_engine, read_url, reading, shown, upgrade, writing
from occupair.live.store.rows import estimate_rows, fill, reading_rows, replace, to_estimated, to_reading
from occupair.live.store.values import check_texts

if TYPE_CHECKING:
    import pandas as pd

ORIGINS = ("file", "upload", "trained")
PRUNED_AT_ONCE = 5_000
"""Rows that go in one transaction when a store is pruned: writers wait no longer than that takes..."""
PAUSE = 0.05
"""...and then have this time for themselves, since SQLite does not let them in by turns [s]."""
MOST_PEOPLE = 1_000_000


@dataclass(frozen=True)
class ModelVersion:
    """A model of a room, without its bytes.

    Parameters
    ----------
    id : int
        Its number, which no other model of the store has or had.
    room : str
    origin : str
        ``"file"``, ``"upload"`` or ``"trained"``.
    note : str
    sha256 : str
        Of its bytes, in hexadecimal.
    size : int
        [bytes]
    created : datetime
        When it was added, in UTC.
    active : bool
        Whether the room is estimated with it.
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
    """The database answers, but the bytes of a model are not those that were kept."""


class Store:
    """A store in SQLite or PostgreSQL; any thread may use it.

    Parameters
    ----------
    url : str
        ``sqlite:///FILE`` or ``postgresql://USER:PASSWORD@HOST/DATABASE``. It is opened when it is used.

    Raises
    ------
    StoreError
        From every method, when the database cannot do it: in one line. What was to be written is then not
        there, or all of it is if the answer got lost; to write it again is right in both cases.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> store = Store(f"sqlite:///{pathlib.Path(tempfile.mkdtemp()) / 'rooms.db'}")
    >>> store.migrate()
    >>> eight = dt.datetime(2024, 1, 8, 8, tzinfo=dt.UTC)
    >>> store.write([Reading("lab", eight, 612.0, None, "http", eight)], [])
    >>> store.newest_reading("lab").co2
    612.0
    >>> store.close()
    """

    def __init__(self, url: str) -> None:
        self.url = read_url(url)
        self.engine = open_engine(self.url)

    def __str__(self) -> str:
        return shown(self.url)

    def migrate(self) -> None:
        """Make the tables, or bring those of an older version up to date; whole or not at all."""
        with writing(self.engine) as connection:
            upgrade(connection)

    def close(self) -> None:
        """Close all connections; those that are needed later open again."""
        self.engine.dispose()

    def ping(self) -> bool:
        """Tell whether the database answers."""
        try:
            with reading(self.engine) as connection:
                return bool(connection.execute(select(1)).scalar_one() == 1)
        except StoreError:
            return False

    # Readings and estimates

    def write(
        self,
        readings: Sequence[Reading],
        estimates: Sequence[EstimateRecord],
        *,
        activate: Mapping[str, int | None] | None = None,
        cleared: Mapping[str, dt.datetime] | None = None,
    ) -> None:
        """Keep readings and estimates: all of them, on the disk, when this returns.

        Parameters
        ----------
        readings : sequence of Reading
            Of a time that the room has a reading of, only what was not known then is filled in.
        estimates : sequence of EstimateRecord
            One of a time that the room has an estimate of takes its place.
        activate : mapping, optional
            Models by room that these estimates are by: used from now on, or none.
        cleared : mapping, optional
            By room, the time from which on these estimates stand for all that were kept before.
        """
        told, thought = reading_rows(readings), estimate_rows(estimates)
        if not (told or thought or activate or cleared):
            return
        with writing(self.engine) as connection:
            if told:
                connection.execute(fill(self.engine.name), told)
            for room, since in (cleared or {}).items():
                _clear(connection, room, since)
            if thought:
                connection.execute(replace(schema.estimates, self.engine.name), thought)
            for room, version in (activate or {}).items():
                _activate(connection, room, version)

    def readings(self, room: str, since: dt.datetime | None, until: dt.datetime | None) -> list[Reading]:
        """Give the readings of a room from ``since`` on, before ``until``, oldest first."""
        table = schema.readings
        chosen = _between(select(table), table, room, since, until)
        return [to_reading(row) for row in self._rows(chosen.order_by(table.c.time))]

    def newest_reading(self, room: str) -> Reading | None:
        """Give the newest reading of a room."""
        table = schema.readings
        chosen = _between(select(table), table, room, None, None)
        rows = self._rows(chosen.order_by(table.c.time.desc()).limit(1))
        return to_reading(rows[0]) if rows else None

    def newest_readings(self) -> dict[str, Reading]:
        """Give the newest reading of every room that has one."""
        table = schema.readings
        rooms = _rooms_of(table)
        newest = (
            select(func.max(table.c.time))
            .where(table.c.room == rooms.c.room)
            .correlate(rooms)
            .scalar_subquery()
        )
        joined = rooms.join(table, and_(table.c.room == rooms.c.room, table.c.time == newest))
        rows = self._rows(select(table).select_from(joined).order_by(table.c.room))
        return {row.room: to_reading(row) for row in rows}

    def estimates(
        self,
        room: str,
        since: dt.datetime | None,
        until: dt.datetime | None,
        *,
        limit: int,
        after: dt.datetime | None = None,
    ) -> list[EstimateRecord]:
        """Give estimates of a room from ``since`` on, before ``until``, oldest first.

        At most ``limit`` of them: the next ones are those ``after`` the time of the last.
        """
        if limit < 1:
            raise InputError(f"limit must be 1 or more, got {limit}")
        table = schema.estimates
        chosen = _between(select(table), table, room, since, until)
        if after is not None:
            chosen = chosen.where(table.c.time > to_microseconds(after))
        return [to_estimated(row) for row in self._rows(chosen.order_by(table.c.time).limit(limit))]

    def zones(self) -> dict[str, str]:
        """Give the time zone that each room was last estimated in."""
        return {row.room: row.timezone for row in self._rows(select(schema.zones))}

    def set_zones(self, zones: Mapping[str, str]) -> None:
        """Keep the time zones that rooms are estimated in from now on."""
        check_texts("room", zones)
        rows = [{"room": room, "timezone": zone} for room, zone in sorted(zones.items())]
        if rows:
            with writing(self.engine) as connection:
                connection.execute(replace(schema.zones, self.engine.name), rows)

    def prune(self, before: dt.datetime) -> int:
        """Remove readings and estimates older than ``before``, a few at a time, and say how many."""
        limit = to_microseconds(before)
        return sum(self._prune(table, limit) for table in (schema.readings, schema.estimates))

    # Labels

    def add_label(self, label: Label) -> None:
        """Keep a head count; one of the same room and time takes its place."""
        if not 0 <= label.people <= MOST_PEOPLE:
            raise InputError(f"people must be from 0 to {MOST_PEOPLE}, got {label.people}")
        check_texts("room", [label.room])
        row = {
            "room": label.room,
            "time": to_microseconds(label.time),
            "people": int(label.people),
            "entered": to_microseconds(label.entered),
        }
        with writing(self.engine) as connection:
            connection.execute(replace(schema.labels, self.engine.name), [row])

    def labels(self, room: str) -> list[Label]:
        """Give the labels of a room, oldest first."""
        table = schema.labels
        rows = self._rows(_between(select(table), table, room, None, None).order_by(table.c.time))
        return [Label(row.room, to_time(row.time), row.people, to_time(row.entered)) for row in rows]

    def remove_label(self, room: str, time: dt.datetime) -> bool:
        """Remove a label and tell whether it was there."""
        check_texts("room", [room])
        table = schema.labels
        gone = delete(table).where(table.c.room == room, table.c.time == to_microseconds(time))
        with writing(self.engine) as connection:
            return connection.execute(gone).rowcount > 0

    # Models

    def add_model(
        self,
        room: str,
        data: bytes,
        *,
        origin: str,
        note: str = "",
        activate: bool = False,
    ) -> int:
        """Keep the bytes of a model and give its number.

        It is used once it is activated: by ``activate`` at once, so that it is never kept and yet not used.
        The room's newest estimate then goes: what of its day was said by another model is to be said anew,
        and whoever takes the room up sees it from that.
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
            "created": to_microseconds(dt.datetime.now(dt.UTC)),
            "active": False,
            "data": bytes(data),
        }
        added = insert(schema.models).values(row).returning(schema.models.c.id)
        with self._changing_models() if activate else writing(self.engine) as connection:
            number = int(connection.execute(added).scalar_one())
            if activate:
                _activate(connection, room, number)
                _drop_newest(connection, room)
        return number

    def activate(self, room: str, version: int | None) -> None:
        """Use a model from now on, or none."""
        with self._changing_models() as connection:
            _activate(connection, room, version)

    def active_model(self, room: str) -> tuple[int, bytes] | None:
        """Give the number and the bytes of the model that a room is estimated with."""
        table = schema.models
        return self._model(select(table).where(table.c.room == room, table.c.active), room)

    def models(self, room: str) -> list[ModelVersion]:
        """Give the models of a room, oldest first."""
        check_texts("room", [room])
        table = schema.models
        columns = [column for column in table.c if column is not table.c.data]
        rows = self._rows(select(*columns).where(table.c.room == room).order_by(table.c.id))
        return [ModelVersion(**{**row._asdict(), "created": to_time(row.created)}) for row in rows]

    def model(self, room: str, version: int) -> bytes | None:
        """Give the bytes of a model of a room."""
        table = schema.models
        if not _is_number(version):
            return None
        found = self._model(select(table).where(table.c.room == room, table.c.id == version), room)
        return None if found is None else found[1]

    def forget(self, room: str) -> None:
        """Forget what a room was taught: its labels go, and its models but for those that came from a file.

        The newest of those is used from now on, or none if there is none.
        """
        models, labels = schema.models, schema.labels
        check_texts("room", [room])
        with self._changing_models() as connection:
            connection.execute(delete(labels).where(labels.c.room == room))
            connection.execute(delete(models).where(models.c.room == room, models.c.origin != "file"))
            newest = select(func.max(models.c.id)).where(models.c.room == room)
            _activate(connection, room, connection.execute(newest).scalar_one())

    # Training

    def training_readings(
        self, room: str, timezone: str, *, hold: float = 5.0, interval: float | None = None
    ) -> pd.DataFrame:
        """Give what a room is trained on; see ``occupair.live.store.training``."""
        from occupair.live.store.training import training_readings

        return training_readings(self, room, timezone, hold=hold, interval=interval)

    # How it is done

    def _rows(self, statement: Select[Any]) -> Sequence[Row[Any]]:
        with reading(self.engine) as connection:
            return connection.execute(statement).all()

    def _model(self, statement: Select[Any], room: str) -> tuple[int, bytes] | None:
        check_texts("room", [room])
        rows = self._rows(statement)
        if not rows:
            return None
        data = bytes(rows[0].data)
        if hashlib.sha256(data).hexdigest() != rows[0].sha256:
            raise DamagedModel(
                f"store {self}: model {rows[0].id} of room {room!r} is damaged, its sha256 differs"
            )
        return int(rows[0].id), data

    @contextmanager
    def _changing_models(self) -> Iterator[Connection]:
        """Change which model is used, one caller after the other."""
        with writing(self.engine) as connection:
            if connection.dialect.name == "postgresql":
                connection.execute(text("LOCK TABLE models IN SHARE ROW EXCLUSIVE MODE"))
            yield connection

    def _prune(self, table: Table, limit: int) -> int:
        rooms = _rooms_of(table)
        oldest = select(func.min(table.c.time)).where(table.c.room == rooms.c.room).correlate(rooms)
        chosen = select(rooms.c.room).where(rooms.c.room.is_not(None), oldest.scalar_subquery() < limit)
        waiting = [row.room for row in self._rows(chosen)]
        removed = 0
        while waiting:
            with writing(self.engine) as connection:
                removed += _prune_some(connection, table, waiting, limit)
            time.sleep(PAUSE if waiting else 0)
        return removed


def _between(
    chosen: Select[Any], table: Table, room: str, since: dt.datetime | None, until: dt.datetime | None
) -> Select[Any]:
    """Choose rows of a room from ``since`` on, before ``until``."""
    check_texts("room", [room])
    chosen = chosen.where(table.c.room == room)
    if since is not None:
        chosen = chosen.where(table.c.time >= to_microseconds(since))
    if until is not None:
        chosen = chosen.where(table.c.time < to_microseconds(until))
    return chosen


def _rooms_of(table: Table) -> CTE:
    """Give the rooms of a table, and a NULL: one look into the index for each, however many rows it has."""
    rooms = select(func.min(table.c.room).label("room")).cte("rooms", recursive=True)
    following = select(func.min(table.c.room)).where(table.c.room > rooms.c.room).correlate(rooms)
    return rooms.union_all(select(following.scalar_subquery()).where(rooms.c.room.is_not(None)))


def _prune_some(connection: Connection, table: Table, waiting: list[str], limit: int) -> int:
    """Remove what is older than ``limit`` [us] of one room after the other, up to so many rows in all."""
    removed = 0
    while waiting and removed < PRUNED_AT_ONCE:
        old = and_(table.c.room == waiting[-1], table.c.time < limit)
        offset = PRUNED_AT_ONCE - removed
        edge = connection.execute(
            select(table.c.time).where(old).order_by(table.c.time).offset(offset).limit(1)
        )
        until = edge.scalar()
        some = old if until is None else and_(old, table.c.time < until)
        removed += connection.execute(delete(table).where(some)).rowcount
        if until is None:
            waiting.pop()
    return removed


def _activate(connection: Connection, room: str, version: int | None) -> None:
    table = schema.models
    check_texts("room", [room])
    connection.execute(update(table).where(table.c.room == room, table.c.active).values(active=False))
    if version is None:
        return
    chosen = update(table).where(table.c.room == room, table.c.id == version).values(active=True)
    if not _is_number(version) or connection.execute(chosen).rowcount == 0:
        raise InputError(f"room {room!r} has no model {version}")


def _clear(connection: Connection, room: str, since: dt.datetime) -> None:
    table = schema.estimates
    check_texts("room", [room])
    connection.execute(delete(table).where(table.c.room == room, table.c.time >= to_microseconds(since)))


def _drop_newest(connection: Connection, room: str) -> None:
    table = schema.estimates
    newest = select(func.max(table.c.time)).where(table.c.room == room).scalar_subquery()
    connection.execute(delete(table).where(table.c.room == room, table.c.time == newest))


def _is_number(version: int) -> bool:
    return 0 < version < 2**31
