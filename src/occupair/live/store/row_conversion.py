"""Conversion between messages and table rows, and the statements that insert rows.

Unknown values are stored as NULL, never as NaN.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Row, Table, and_, func, or_
from sqlalchemy.dialects import postgresql, sqlite

from occupair.errors import InputError
from occupair.live.messages import EstimateRecord, Quality, Reading, to_microseconds, to_time
from occupair.live.store import schema
from occupair.room.lags import PUBLISHED_FIELD

Values = dict[str, Any]
Insert = postgresql.Insert | sqlite.Insert
VALUE_COLUMNS = ("co2", "ventilation")


def reading_rows(readings: Sequence[Reading]) -> list[Values]:
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
            "co2": to_number(reading.co2),
            "ventilation": to_number(reading.ventilation),
            "source": reading.source,
            "received": to_microseconds(reading.received),
        }
        first = rows.setdefault((row["room"], row["time"]), row)
        for name in VALUE_COLUMNS:
            if first[name] is None:
                first[name] = row[name]
    return [rows[key] for key in sorted(rows)]


def estimate_rows(estimates: Sequence[EstimateRecord]) -> list[Values]:
    """Return the rows of estimates, sorted by key; of the same room and time, the last one."""
    check_texts("room", {estimate.room for estimate in estimates})
    rows: dict[tuple[str, int], Values] = {}
    for estimate in estimates:
        time = to_microseconds(estimate.time)
        rows[estimate.room, time] = {
            "room": estimate.room,
            "time": time,
            "people": to_number(estimate.people),
            "low": to_number(estimate.low),
            "high": to_number(estimate.high),
            PUBLISHED_FIELD: to_number(estimate.people_refined),
            "co2": to_number(estimate.co2),
            "co2_smoothed": to_number(estimate.co2_smoothed),
            "ventilation": to_number(estimate.ventilation),
            "quality": str(estimate.quality),
        }
    return [rows[key] for key in sorted(rows)]


def to_reading(row: Row[Any]) -> Reading:
    """Return the reading in a row."""
    return Reading(row.room, to_time(row.time), row.co2, row.ventilation, row.source, to_time(row.received))


def to_estimate(row: Row[Any]) -> EstimateRecord:
    """Return the estimate in a row."""
    nan = float("nan")
    return EstimateRecord(
        room=row.room,
        time=to_time(row.time),
        people=row.people,
        low=row.low,
        high=row.high,
        people_refined=getattr(row, PUBLISHED_FIELD),
        co2=nan if row.co2 is None else row.co2,
        co2_smoothed=nan if row.co2_smoothed is None else row.co2_smoothed,
        ventilation=row.ventilation,
        quality=Quality(row.quality),
    )


def insert_readings(dialect: str) -> Insert:
    """Return a statement that inserts readings, and fills in unknown values of existing ones."""
    table = schema.readings
    statement = insert_into(table, dialect)
    new = {name: statement.excluded[name] for name in VALUE_COLUMNS}
    return statement.on_conflict_do_update(
        index_elements=[table.c.room, table.c.time],
        set_={name: func.coalesce(table.c[name], new[name]) for name in VALUE_COLUMNS},
        where=or_(*(and_(table.c[name].is_(None), new[name].is_not(None)) for name in VALUE_COLUMNS)),
    )


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


def to_number(value: float | None) -> float | None:
    """Return a number, or None if it is unknown or NaN."""
    return None if value is None or value != value else float(value)


def check_texts(name: str, texts: Iterable[str]) -> None:
    r"""Raise an InputError for text that PostgreSQL cannot store.

    Examples
    --------
    >>> check_texts("room", ["lab", "kitchen\0"])
    Traceback (most recent call last):
        ...
    occupair.errors.InputError: room must be valid Unicode text without null characters, got 'kitchen\x00'
    """
    for text in texts:
        try:
            text.encode()
            valid = "\0" not in text
        except UnicodeEncodeError:
            valid = False
        if not valid:
            raise InputError(f"{name} must be valid Unicode text without null characters, got {text!r}")
