"""Sums over estimates by quarter of an hour, of one room or of all rooms."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence

from sqlalchemy import Engine, case, func, select, text

from occupair.live.hours import EMPTY, QUARTER, QuarterHour
from occupair.live.messages import to_microseconds
from occupair.live.store import schema
from occupair.live.store.database import check_texts, snapshot
from occupair.room.lags import PUBLISHED_FIELDS

ROOMS_AT_ONCE = 200
"""Rooms in one query, so that no query takes long."""


class QuarterHourStore:
    """The part of a store that sums up estimates."""

    engine: Engine

    def quarter_hours(
        self, rooms: Sequence[str], since: dt.datetime, until: dt.datetime
    ) -> list[QuarterHour]:
        """Return the quarter hours with estimates of some rooms in [since, until), by room and time."""
        check_texts("room", rooms)
        table = schema.estimates
        number = (table.c.time // QUARTER).label("number")
        best = func.coalesce(*(table.c[name] for name in reversed(PUBLISHED_FIELDS)), table.c.people)
        chosen = (
            select(
                table.c.room,
                number,
                func.count(),
                func.count(best),
                func.sum(case((best > EMPTY, 1), else_=0)),
                func.min(table.c.time),
                func.max(table.c.time),
                func.sum(best),
                func.max(best),
                func.sum(table.c.low),
                func.sum(table.c.high),
                func.count(table.c.low + table.c.high),
            )
            .where(table.c.time >= to_microseconds(since), table.c.time < to_microseconds(until))
            .group_by(table.c.room, text("number"))
            .order_by(table.c.room, text("number"))
        )
        found: list[QuarterHour] = []
        with snapshot(self.engine) as connection:
            for some in _chunks(sorted(rooms)):
                rows = connection.execute(chosen.where(table.c.room.in_(some)))
                found += [QuarterHour(*row) for row in rows]
        return found


def _chunks(rooms: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(rooms), ROOMS_AT_ONCE):
        yield rooms[start : start + ROOMS_AT_ONCE]
