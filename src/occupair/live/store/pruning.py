"""Deletion of readings and estimates that are past their retention time, in small transactions."""

from __future__ import annotations

import time

from sqlalchemy import CTE, Connection, Engine, Table, and_, delete, func, select

from occupair.live.store.database import snapshot, transaction

ROWS_AT_ONCE = 5_000
"""Rows deleted in one transaction, which is how long other writers may have to wait..."""
PAUSE = 0.05
"""...and the pause after it, since SQLite does not serve waiting writers in turn [s]."""


def delete_before(engine: Engine, table: Table, limit: int) -> int:
    """Delete all rows of a table with a time before ``limit`` [us] and return their number."""
    rooms = rooms_of(table)
    oldest = select(func.min(table.c.time)).where(table.c.room == rooms.c.room).correlate(rooms)
    chosen = select(rooms.c.room).where(rooms.c.room.is_not(None), oldest.scalar_subquery() < limit)
    with snapshot(engine) as connection:
        remaining = [row.room for row in connection.execute(chosen)]
    n_deleted = 0
    while remaining:
        with transaction(engine) as connection:
            n_deleted += _delete_some(connection, table, remaining, limit)
        time.sleep(PAUSE if remaining else 0)
    return n_deleted


def _delete_some(connection: Connection, table: Table, rooms: list[str], limit: int) -> int:
    """Delete up to ``ROWS_AT_ONCE`` old rows, and remove from ``rooms`` those without any left."""
    n_deleted = 0
    while rooms and n_deleted < ROWS_AT_ONCE:
        old = and_(table.c.room == rooms[-1], table.c.time < limit)
        offset = ROWS_AT_ONCE - n_deleted
        first_kept = connection.execute(
            select(table.c.time).where(old).order_by(table.c.time).offset(offset).limit(1)
        )
        until = first_kept.scalar()
        some = old if until is None else and_(old, table.c.time < until)
        n_deleted += connection.execute(delete(table).where(some)).rowcount
        if until is None:
            rooms.pop()
    return n_deleted


def rooms_of(table: Table) -> CTE:
    """Return a query for the rooms in a table, and a NULL: one index lookup per room, however many rows."""
    rooms = select(func.min(table.c.room).label("room")).cte("rooms", recursive=True)
    following = select(func.min(table.c.room)).where(table.c.room > rooms.c.room).correlate(rooms)
    return rooms.union_all(select(following.scalar_subquery()).where(rooms.c.room.is_not(None)))
