"""The number of each room in the instance numbers of its BACnet objects, which never changes once given."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import Engine, func, insert, select, text

from occupair.live.store import schema
from occupair.live.store.database import check_texts, snapshot, transaction


class RoomNumberStore:
    """The part of a store that holds the numbers of rooms."""

    engine: Engine

    def known_room_numbers(self) -> dict[str, int]:
        """Return the numbers that were given so far, of present and removed rooms."""
        with snapshot(self.engine) as connection:
            return {row.room: row.number for row in connection.execute(select(schema.bacnet_rooms))}

    def room_numbers(self, rooms: Iterable[str]) -> dict[str, int]:
        """Return the number of each room, and give the next free numbers to rooms without one.

        Numbers start at 1 and are given in the order of ``rooms``. A room that is removed keeps its number,
        which no other room gets, so that a BMS never reads another room through an object it knows.
        """
        wanted = list(dict.fromkeys(rooms))
        check_texts("room", wanted)
        table = schema.bacnet_rooms
        with transaction(self.engine) as connection:
            if connection.dialect.name == "postgresql":  # SQLite has one writer anyway
                connection.execute(text("LOCK TABLE bacnet_rooms IN SHARE ROW EXCLUSIVE MODE"))
            known = {row.room: row.number for row in connection.execute(select(table))}
            last = connection.execute(select(func.coalesce(func.max(table.c.number), 0))).scalar_one()
            new = [room for room in wanted if room not in known]
            given = {room: number for number, room in enumerate(new, start=last + 1)}
            if given:
                rows = [{"room": room, "number": number} for room, number in given.items()]
                connection.execute(insert(table), rows)
        known |= given
        return {room: known[room] for room in wanted}
