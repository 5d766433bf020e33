"""The store of the service: readings, estimates, time zones, labels and models of all rooms."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, get_args

from sqlalchemy import Connection, Row, Select, and_, delete, func, or_, select

from occupair.errors import InputError
from occupair.live.messages import (
    MAX_PEOPLE,
    UNTRAINED_SOURCE,
    Co2Mean,
    EstimateRecord,
    Label,
    LabelledInterval,
    LabelSource,
    Quality,
    Reading,
    to_microseconds,
    to_time,
)
from occupair.live.room_shards import Shard
from occupair.live.store import schema
from occupair.live.store.database import (
    Insert,
    StoreError,
    check_texts,
    format_url,
    insert_into,
    open_engine,
    parse_url,
    rows_between,
    rows_of_rooms,
    snapshot,
    transaction,
    upgrade,
    upsert,
)
from occupair.live.store.labelled_intervals import labelled_intervals_query
from occupair.live.store.model_store import ModelStore, activate_model
from occupair.live.store.plan_store import PlanStore
from occupair.live.store.pruning import delete_before, keep_newest_days, rooms_of
from occupair.live.store.quarter_hours import QuarterHourStore
from occupair.live.store.room_numbers import RoomNumberStore
from occupair.live.store.shard_store import ShardStore
from occupair.readings.daily_lows import PERIOD
from occupair.readings.other_sensors import SENSORS
from occupair.room.lags import PUBLISHED_FIELDS

if TYPE_CHECKING:
    import pandas as pd

T = TypeVar("T")
Values = dict[str, Any]
VALUE_COLUMNS = ("co2", "ventilation", *SENSORS)
_MEAN_PERIOD = PERIOD * 60_000_000  # [us]
_PRUNED = (schema.readings, schema.estimates)


class Store(ModelStore, RoomNumberStore, ShardStore, QuarterHourStore, PlanStore):
    """A store in SQLite or PostgreSQL. Thread-safe.

    Parameters
    ----------
    url : str
        ``sqlite:///FILE`` or ``postgresql://USER:PASSWORD@HOST/DATABASE``. It is opened on first use.

    Raises
    ------
    StoreError
        From every method, if the database fails, with a one-line message. The data to be written are then not
        stored, or all of them if only the answer was lost. Writing them again is safe in both cases.

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
        self.url = parse_url(url)
        self.engine = open_engine(self.url)

    def __str__(self) -> str:
        return format_url(self.url)

    def migrate(self) -> None:
        """Create the tables, or upgrade those of an earlier version, in one transaction."""
        with transaction(self.engine) as connection:
            upgrade(connection)

    def close(self) -> None:
        """Close all connections; later calls open new ones."""
        self.engine.dispose()

    def ping(self) -> bool:
        """Whether the database responds."""
        try:
            with snapshot(self.engine) as connection:
                return bool(connection.execute(select(1)).scalar_one() == 1)
        except StoreError:
            return False

    # ---- readings and estimates ----

    def write(
        self,
        readings: Sequence[Reading],
        estimates: Sequence[EstimateRecord],
        *,
        activate: Mapping[str, int | None] | None = None,
        cleared: Mapping[str, dt.datetime] | None = None,
    ) -> None:
        """Write readings and estimates in one transaction, which is on disk when this returns.

        Parameters
        ----------
        readings : sequence of Reading
            Readings. If there is one of the same room and time, only its unknown values are filled in.
        estimates : sequence of EstimateRecord
            Estimates. They replace those of the same room and time.
        activate : mapping, optional
            By room, the version of the model that made these estimates and is active from now on, or None.
        cleared : mapping, optional
            By room, the time from which on all earlier estimates are deleted first.
        """
        new_readings, new_estimates = _reading_rows(readings), _estimate_rows(estimates)
        if not (new_readings or new_estimates or activate or cleared):
            return
        with transaction(self.engine) as connection:
            if new_readings:
                connection.execute(_insert_readings(self.engine.name), new_readings)
            for room, since in (cleared or {}).items():
                _delete_estimates(connection, room, since)
            if new_estimates:
                connection.execute(upsert(schema.estimates, self.engine.name), new_estimates)
            for room, version in (activate or {}).items():
                activate_model(connection, room, version)

    def readings(self, room: str, since: dt.datetime | None, until: dt.datetime | None) -> list[Reading]:
        """Return the readings of a room in [since, until), oldest first."""
        table = schema.readings
        chosen = rows_between(select(table), table, room, since, until)
        return [_to_reading(row) for row in self._select(chosen.order_by(table.c.time))]

    def readings_since(self, since: Mapping[str, dt.datetime]) -> dict[str, list[Reading]]:
        """Return the readings of several rooms, each since its own time, oldest first."""
        table = schema.readings
        chosen = rows_of_rooms(select(table), table, {room: (time, None) for room, time in since.items()})
        return self._select_by_room(chosen.order_by(table.c.room, table.c.time), since, _to_reading)

    def newest_reading(self, room: str) -> Reading | None:
        """Return the newest reading of a room."""
        table = schema.readings
        chosen = rows_between(select(table), table, room, None, None)
        rows = self._select(chosen.order_by(table.c.time.desc()).limit(1))
        return _to_reading(rows[0]) if rows else None

    def newest_readings(self) -> dict[str, Reading]:
        """Return the newest reading of every room that has one."""
        table = schema.readings
        rooms = rooms_of(table)
        newest = (
            select(func.max(table.c.time))
            .where(table.c.room == rooms.c.room)
            .correlate(rooms)
            .scalar_subquery()
        )
        joined = rooms.join(table, and_(table.c.room == rooms.c.room, table.c.time == newest))
        rows = self._select(select(table).select_from(joined).order_by(table.c.room))
        return {row.room: _to_reading(row) for row in rows}

    def estimates(
        self,
        room: str,
        since: dt.datetime | None,
        until: dt.datetime | None,
        *,
        limit: int,
        after: dt.datetime | None = None,
    ) -> list[EstimateRecord]:
        """Return up to ``limit`` estimates of a room in [since, until), oldest first.

        The next page starts ``after`` the time of the last estimate of the previous one.
        """
        if limit < 1:
            raise InputError(f"limit must be 1 or more, got {limit}")
        table = schema.estimates
        chosen = rows_between(select(table), table, room, since, until)
        if after is not None:
            chosen = chosen.where(table.c.time > to_microseconds(after))
        return [_to_estimate(row) for row in self._select(chosen.order_by(table.c.time).limit(limit))]

    def estimates_since(self, since: Mapping[str, dt.datetime]) -> dict[str, list[EstimateRecord]]:
        """Return the estimates of several rooms, each since its own time, oldest first."""
        table = schema.estimates
        chosen = rows_of_rooms(select(table), table, {room: (time, None) for room, time in since.items()})
        return self._select_by_room(chosen.order_by(table.c.room, table.c.time), since, _to_estimate)

    def co2_means(
        self, periods: Mapping[str, tuple[dt.datetime, dt.datetime | None]]
    ) -> dict[str, list[Co2Mean]]:
        """Return the mean CO2 of rooms for each quarter of an hour, without times with a faulty sensor.

        ``periods`` has [since, until) by room.
        """
        table = schema.estimates
        first, mean = func.min(table.c.time).label("first"), func.avg(table.c.co2).label("mean")
        chosen = rows_of_rooms(select(table.c.room, first, mean), table, periods)
        chosen = chosen.group_by(table.c.room, table.c.time // _MEAN_PERIOD)
        chosen = chosen.where(table.c.quality != Quality.SUSPECT.value, table.c.co2.is_not(None))
        return self._select_by_room(chosen.order_by(table.c.room, first), periods, _to_co2_mean)

    def _select_by_room(
        self, statement: Select[Any], rooms: Iterable[str], convert: Callable[[Row[Any]], T]
    ) -> dict[str, list[T]]:
        """Return the converted rows of each room; an empty list for a room without rows."""
        found: dict[str, list[T]] = {room: [] for room in rooms}
        for row in self._select(statement):
            found[row.room].append(convert(row))
        return found

    def zones(self) -> dict[str, str]:
        """Return the time zone in which each room was last estimated."""
        return {row.room: row.timezone for row in self._select(select(schema.zones))}

    def set_zones(self, zones: Mapping[str, str]) -> None:
        """Set the time zones in which rooms are estimated from now on."""
        check_texts("room", zones)
        rows = [{"room": room, "timezone": zone} for room, zone in sorted(zones.items())]
        if rows:
            with transaction(self.engine) as connection:
                connection.execute(upsert(schema.zones, self.engine.name), rows)

    def prune(self, before: dt.datetime, *, shard: Shard | None = None) -> int:
        """Delete readings and estimates older than ``before`` and return the number of deleted rows."""
        return delete_before(self.engine, _PRUNED, to_microseconds(before), shard=shard)

    def prune_to_newest_days(self, days: int, *, shard: Shard | None = None) -> int:
        """Delete readings and estimates before the newest days of each room; see ``keep_newest_days``."""
        return keep_newest_days(self.engine, _PRUNED, days, shard=shard)

    # ---- labels and training ----

    def add_label(self, label: Label) -> None:
        """Store a label; it replaces one of the same room and time."""
        if not 0 <= label.people <= MAX_PEOPLE:
            raise InputError(f"people must be from 0 to {MAX_PEOPLE}, got {label.people}")
        check_texts("room", [label.room])
        row = {
            "room": label.room,
            "time": to_microseconds(label.time),
            "people": int(label.people),
            "entered": to_microseconds(label.entered),
            "source": label.source,
            "estimate": label.estimate,
        }
        with transaction(self.engine) as connection:
            connection.execute(upsert(schema.labels, self.engine.name), [row])

    def labels(self, room: str) -> list[Label]:
        """Return the labels of a room, oldest first."""
        table = schema.labels
        rows = self._select(rows_between(select(table), table, room, None, None).order_by(table.c.time))
        return [
            Label(row.room, to_time(row.time), row.people, to_time(row.entered), _source(row), row.estimate)
            for row in rows
        ]

    def training_labels(self, room: str) -> list[Label]:
        """Return the labels of a room to train on, without confirmed estimates."""
        return [label for label in self.labels(room) if label.source != UNTRAINED_SOURCE]

    def labelled_rooms(self) -> set[str]:
        """Return the rooms that have labels."""
        return {row.room for row in self._select(select(schema.labels.c.room).distinct())}

    def labelled_intervals(self, room: str, *, follows_clock: bool = True) -> list[LabelledInterval]:
        """Return head counts with published intervals; see ``labelled_intervals_query``."""
        rows = self._select(labelled_intervals_query(room, follows_clock=follows_clock))
        return [
            LabelledInterval(to_time(row.time), row.people, to_time(row.published), row.low, row.high)
            for row in rows
        ]

    def remove_label(self, room: str, time: dt.datetime) -> bool:
        """Delete a label and return whether it existed."""
        check_texts("room", [room])
        table = schema.labels
        chosen = delete(table).where(table.c.room == room, table.c.time == to_microseconds(time))
        with transaction(self.engine) as connection:
            return connection.execute(chosen).rowcount > 0

    def training_readings(
        self, room: str, timezone: str, *, hold: float = 5.0, interval: float | None = None
    ) -> pd.DataFrame:
        """Return the training data of a room; see ``occupair.live.store.training_data``."""
        from occupair.live.store.training_data import training_readings  # needs pandas

        return training_readings(self, room, timezone, hold=hold, interval=interval)


def _source(row: Any) -> LabelSource:
    """Return the source of a label; that of a modified backup may be any text."""
    return next((one for one in get_args(LabelSource) if one == row.source), "unknown")


def _delete_estimates(connection: Connection, room: str, since: dt.datetime) -> None:
    table = schema.estimates
    check_texts("room", [room])
    connection.execute(delete(table).where(table.c.room == room, table.c.time >= to_microseconds(since)))


# ---- conversion between messages and table rows; unknown values are NULL, never NaN ----


def _reading_rows(readings: Sequence[Reading]) -> list[Values]:
    """Return the rows of readings, sorted by key so that concurrent writers cannot deadlock.

    Readings of the same room and time become one row with the first known value of each column.
    """
    check_texts("room", {reading.room for reading in readings})
    check_texts("source", {reading.source for reading in readings})
    rows: dict[tuple[str, int], Values] = {}
    for reading in readings:
        row: Values = {
            "room": reading.room,
            "time": to_microseconds(reading.time),
            "co2": _to_number(reading.co2),
            "ventilation": _to_number(reading.ventilation),
            "source": reading.source,
            "received": to_microseconds(reading.received),
            **{name: _to_number(reading.sensors.get(name)) for name in SENSORS},
        }
        first = rows.setdefault((row["room"], row["time"]), row)
        for name in VALUE_COLUMNS:
            if first[name] is None:
                first[name] = row[name]
    return [rows[key] for key in sorted(rows)]


def _estimate_rows(estimates: Sequence[EstimateRecord]) -> list[Values]:
    """Return the rows of estimates, sorted by key; of the same room and time, the last one."""
    check_texts("room", {estimate.room for estimate in estimates})
    rows: dict[tuple[str, int], Values] = {}
    for estimate in estimates:
        time = to_microseconds(estimate.time)
        rows[estimate.room, time] = {
            "room": estimate.room,
            "time": time,
            "people": _to_number(estimate.people),
            "low": _to_number(estimate.low),
            "high": _to_number(estimate.high),
            **dict(zip(PUBLISHED_FIELDS, map(_to_number, estimate.people_refined), strict=True)),
            "co2": _to_number(estimate.co2),
            "co2_smoothed": _to_number(estimate.co2_smoothed),
            "ventilation": _to_number(estimate.ventilation),
            "quality": str(estimate.quality),
        }
    return [rows[key] for key in sorted(rows)]


def _to_reading(row: Row[Any]) -> Reading:
    """Return the reading in a row."""
    sensors = {name: value for name in SENSORS if (value := getattr(row, name)) is not None}
    received = to_time(row.received)
    return Reading(row.room, to_time(row.time), row.co2, row.ventilation, row.source, received, sensors)


def _to_estimate(row: Row[Any]) -> EstimateRecord:
    """Return the estimate in a row."""
    nan = float("nan")
    return EstimateRecord(
        room=row.room,
        time=to_time(row.time),
        people=row.people,
        low=row.low,
        high=row.high,
        people_refined=tuple(getattr(row, name) for name in PUBLISHED_FIELDS),
        co2=nan if row.co2 is None else row.co2,
        co2_smoothed=nan if row.co2_smoothed is None else row.co2_smoothed,
        ventilation=row.ventilation,
        quality=Quality(row.quality),
    )


def _to_co2_mean(row: Row[Any]) -> Co2Mean:
    return Co2Mean(row.first, float(row.mean))


def _insert_readings(dialect: str) -> Insert:
    """Return a statement that inserts readings, and fills in unknown values of existing ones."""
    table = schema.readings
    statement = insert_into(table, dialect)
    new = {name: statement.excluded[name] for name in VALUE_COLUMNS}
    return statement.on_conflict_do_update(
        index_elements=[table.c.room, table.c.time],
        set_={name: func.coalesce(table.c[name], new[name]) for name in VALUE_COLUMNS},
        where=or_(*(and_(table.c[name].is_(None), new[name].is_not(None)) for name in VALUE_COLUMNS)),
    )


def _to_number(value: float | None) -> float | None:
    """Return a number, or None if it is unknown or NaN."""
    return None if value is None or value != value else float(value)
