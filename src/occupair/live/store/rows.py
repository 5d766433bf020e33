"""Messages as rows of the tables and back, and the statements that put rows in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Row, Table, and_, func, or_
from sqlalchemy.dialects import postgresql, sqlite

from occupair.live.messages import EstimateRecord, Quality, Reading, to_microseconds, to_time
from occupair.live.store import schema
from occupair.live.store.values import check_texts, to_number
from occupair.room.lags import PUBLISHED_FIELD

Values = dict[str, Any]
Insert = postgresql.Insert | sqlite.Insert
FILLED = ("co2", "ventilation")


def reading_rows(readings: Sequence[Reading]) -> list[Values]:
    """Give rows in the order of their key, so that writers never wait for each other in a circle.

    Readings of one room and time become one row, in which the first known value stays.
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
        for name in FILLED:
            if first[name] is None:
                first[name] = row[name]
    return [rows[key] for key in sorted(rows)]


def estimate_rows(estimates: Sequence[EstimateRecord]) -> list[Values]:
    """Give rows in the order of their key; of those of one room and time, the last."""
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
    """Give the reading of a row."""
    return Reading(row.room, to_time(row.time), row.co2, row.ventilation, row.source, to_time(row.received))


def to_estimated(row: Row[Any]) -> EstimateRecord:
    """Give the estimate of a row."""
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


def fill(dialect: str) -> Insert:
    """Insert readings; of one that is there, fill in what was not known."""
    table = schema.readings
    statement = insert_into(table, dialect)
    new = {name: statement.excluded[name] for name in FILLED}
    return statement.on_conflict_do_update(
        index_elements=[table.c.room, table.c.time],
        set_={name: func.coalesce(table.c[name], new[name]) for name in FILLED},
        where=or_(*(and_(table.c[name].is_(None), new[name].is_not(None)) for name in FILLED)),
    )


def replace(table: Table, dialect: str) -> Insert:
    """Insert rows; one that is there is replaced."""
    statement = insert_into(table, dialect)
    keys = list(table.primary_key.columns)
    others = [column.name for column in table.c if not column.primary_key]
    return statement.on_conflict_do_update(
        index_elements=keys, set_={name: statement.excluded[name] for name in others}
    )


def insert_into(table: Table, dialect: str) -> Insert:
    """Begin an insert that knows what to do when a row is there."""
    return postgresql.insert(table) if dialect == "postgresql" else sqlite.insert(table)
