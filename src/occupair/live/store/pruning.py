"""Deletion of readings and estimates that are past their retention time, in small transactions."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import CTE, Connection, Engine, Select, Table, and_, delete, func, literal, select

from occupair.live.room_shards import Shard
from occupair.live.store import schema
from occupair.live.store.database import snapshot, transaction

DAY = 86_400_000_000  # [us]
ROWS_AT_ONCE = 5_000
"""Rows deleted in one transaction, which is how long other writers may have to wait..."""
PAUSE = 0.05
"""...and the pause after it, since SQLite does not serve waiting writers in turn [s]."""


def delete_before(engine: Engine, tables: Sequence[Table], before: int, *, shard: Shard | None = None) -> int:
    """Delete all rows with a time before ``before`` [us], of a shard if given, and return their number."""
    return sum(_delete(engine, table, _of(shard, _limits(engine, table, before))) for table in tables)


def keep_newest_days(
    engine: Engine, tables: Sequence[Table], days: int, *, shard: Shard | None = None
) -> int:
    """Keep the newest days with readings of each room, delete all rows before them and return their number.

    Time without readings does not count. A few readings with a wrong time far in the future therefore do not
    make all others old, and neither does a recording of later days.

    Parameters
    ----------
    engine : Engine
    tables : sequence of Table
        Tables to delete from.
    days : int
        Number of UTC days to keep, in addition to the newest one, which may be incomplete.
    shard : Shard, optional
        Whose rooms to delete from, also those that are not in the settings any more. Default: all.
    """
    rooms = rooms_of(schema.readings)
    with snapshot(engine) as connection:
        known = connection.execute(select(rooms.c.room).where(rooms.c.room.is_not(None))).scalars().all()
        first = {room: connection.execute(_nth_newest_day(room, days + 1)).scalar() for room in known}
    limits = _of(shard, {room: day * DAY for room, day in first.items() if day is not None})
    return sum(_delete(engine, table, limits) for table in tables)


def _limits(engine: Engine, table: Table, before: int) -> dict[str, int]:
    """Return ``before`` [us] for each room that has older rows."""
    rooms = rooms_of(table)
    oldest = select(func.min(table.c.time)).where(table.c.room == rooms.c.room).correlate(rooms)
    chosen = select(rooms.c.room).where(rooms.c.room.is_not(None), oldest.scalar_subquery() < before)
    with snapshot(engine) as connection:
        return {row.room: before for row in connection.execute(chosen)}


def _of(shard: Shard | None, limits: dict[str, int]) -> dict[str, int]:
    if shard is None:
        return limits
    return {room: limit for room, limit in limits.items() if shard.owns(room)}


def _nth_newest_day(room: str, n: int) -> Select[Any]:
    """Return a query for the n-th newest UTC day with readings of a room: one index lookup per day."""
    time = schema.readings.c.time
    of_room = schema.readings.c.room == room
    first = select((func.max(time) // DAY).label("day"), literal(1).label("n")).where(of_room)
    days = first.cte("days", recursive=True)
    earlier = select(func.max(time) // DAY).where(of_room, time < days.c.day * DAY).correlate(days)
    following = select(earlier.scalar_subquery(), days.c.n + 1).where(days.c.day.is_not(None), days.c.n < n)
    days = days.union_all(following)
    return select(days.c.day).where(days.c.n == n)


def _delete(engine: Engine, table: Table, limits: Mapping[str, int]) -> int:
    """Delete the rows of rooms before the limit of each [us]."""
    remaining, n_deleted = list(limits.items()), 0
    while remaining:
        with transaction(engine) as connection:
            n_deleted += _delete_some(connection, table, remaining)
        time.sleep(PAUSE if remaining else 0)
    return n_deleted


def _delete_some(connection: Connection, table: Table, limits: list[tuple[str, int]]) -> int:
    """Delete up to ``ROWS_AT_ONCE`` old rows, and remove from ``limits`` the rooms without any left."""
    n_deleted = 0
    while limits and n_deleted < ROWS_AT_ONCE:
        room, limit = limits[-1]
        old = and_(table.c.room == room, table.c.time < limit)
        offset = ROWS_AT_ONCE - n_deleted
        first_kept = connection.execute(
            select(table.c.time).where(old).order_by(table.c.time).offset(offset).limit(1)
        )
        until = first_kept.scalar()
        some = old if until is None else and_(old, table.c.time < until)
        n_deleted += connection.execute(delete(table).where(some)).rowcount
        if until is None:
            limits.pop()
    return n_deleted


def rooms_of(table: Table) -> CTE:
    """Return a query for the rooms in a table, and a NULL: one index lookup per room, however many rows."""
    rooms = select(func.min(table.c.room).label("room")).cte("rooms", recursive=True)
    following = select(func.min(table.c.room)).where(table.c.room > rooms.c.room).correlate(rooms)
    return rooms.union_all(select(following.scalar_subquery()).where(rooms.c.room.is_not(None)))
