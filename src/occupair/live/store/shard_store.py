"""Shards of a store: their heartbeats, and the states of their rooms. PostgreSQL only.

The clock is that of the database, since the clocks of several machines differ. News are sent with NOTIFY at
the end of the transaction that writes them, on one channel per schema.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Engine,
    Text,
    any_,
    cast,
    delete,
    extract,
    func,
    literal,
    select,
    text,
)
from sqlalchemy.dialects import postgresql

from occupair.live.messages import RoomState
from occupair.live.room_shards import Shard
from occupair.live.store import schema
from occupair.live.store.database import snapshot, transaction
from occupair.live.store.state_rows import to_text
from occupair.live.store.store_lock import held_shards

PAYLOAD_BYTES = 7_900
"""Longest text of a notification; PostgreSQL allows less than 8,000 bytes."""
SHARDS_CHANGED = "*"
"""The notification that a shard has started or stopped; others list rooms."""
STATES_AT_ONCE = 2_000
"""Most states in one transaction."""
_NOW = cast(extract("epoch", func.clock_timestamp()) * 1_000_000, BigInteger)  # [us]
_NOT_DURABLE = text("SET LOCAL synchronous_commit = off")  # states are written again after a crash
_UPSERT_STATES = text(  # all rows as one text each for rooms and states, which takes least time to send
    "INSERT INTO room_states (room, run, state) SELECT given.room, :run, given.state"
    " FROM unnest(string_to_array(:rooms, E'\\n'), string_to_array(:states, E'\\n')) AS given (room, state)"
    " ON CONFLICT (room) DO UPDATE SET run = excluded.run, state = excluded.state"
)


_NOTIFY = text(  # on the channel of `channel_of`
    "SELECT pg_notify('occupair_' || left(encode(sha256(convert_to(current_schema(), 'UTF8')), 'hex'), 16),"
    " given.text) FROM unnest(CAST(:texts AS text[])) AS given (text)"
)


class Heartbeat(NamedTuple):
    """What the store has of a shard.

    Parameters
    ----------
    run : int
        Identifies the run of the shard: states of other runs are obsolete.
    address : str
        ``HOST:PORT``.
    age : float
        Time since its last heartbeat [s].
    holds_lock : bool
        Whether its process is connected to the database.
    """

    run: int
    address: str
    age: float
    holds_lock: bool


class StoredState(NamedTuple):
    """The state of a room, as text, and the run of the shard that wrote it."""

    run: int
    text: str


class ShardStore:
    """The part of a store that shards share."""

    engine: Engine

    def start_run(self) -> int:
        """Return the identifier of a new run of a shard."""
        with snapshot(self.engine) as connection:
            return int(connection.execute(select(_NOW)).scalar_one())

    def write_heartbeat(self, shard: Shard, run: int, address: str) -> None:
        """Record that a shard is running, and tell the others if that is new to the store."""
        table = schema.shards
        with transaction(self.engine) as connection:
            connection.execute(_NOT_DURABLE)
            known = connection.execute(select(table.c.run).where(table.c.number == shard.number)).scalar()
            row = {"number": shard.number, "count": shard.count, "run": run, "address": address}
            statement = postgresql.insert(table).values(**row, seen=_NOW)
            replaced = {name: statement.excluded[name] for name in ("count", "run", "address", "seen")}
            connection.execute(
                statement.on_conflict_do_update(index_elements=[table.c.number], set_=replaced)
            )
            if known != run:
                _notify(connection, [SHARDS_CHANGED])

    def remove_heartbeat(self, shard: Shard, run: int) -> None:
        """Record that a shard has stopped."""
        table = schema.shards
        with transaction(self.engine) as connection:
            connection.execute(delete(table).where(table.c.number == shard.number, table.c.run == run))
            _notify(connection, [SHARDS_CHANGED])

    def heartbeats(self, count: int) -> dict[int, Heartbeat]:
        """Return the newest heartbeat of each of ``count`` shards that has one, by number."""
        table = schema.shards
        with snapshot(self.engine) as connection:
            locked = held_shards(connection)
        with snapshot(self.engine) as connection:  # later than the locks: no heartbeat of a run before them
            now = connection.execute(select(_NOW)).scalar_one()
            rows = connection.execute(select(table).where(table.c.count == count)).all()
        return {
            row.number: Heartbeat(
                row.run, row.address, (now - row.seen) / 1e6, Shard(row.number, count) in locked
            )
            for row in rows
        }

    def write_states(self, states: Iterable[RoomState], run: int) -> None:
        """Write states of rooms of this shard, and tell the others."""
        texts = {one.room: to_text(one) for one in states}
        rooms = sorted(texts)
        for first in range(0, len(rooms), STATES_AT_ONCE):
            some = rooms[first : first + STATES_AT_ONCE]
            given = {"run": run, "rooms": "\n".join(some), "states": "\n".join(texts[room] for room in some)}
            with transaction(self.engine) as connection:
                connection.execute(_NOT_DURABLE)
                connection.execute(_UPSERT_STATES, given)
                _notify(connection, notification_texts(some))

    def drop_states(self, shard: Shard, rooms: Mapping[str, object]) -> None:
        """Delete the states of rooms of a shard that are not in its settings any more."""
        table = schema.room_states
        with transaction(self.engine) as connection:
            known = connection.execute(select(table.c.room)).scalars().all()
            dropped = [room for room in known if shard.owns(room) and room not in rooms]
            connection.execute(delete(table).where(_is_one_of(dropped)))

    def stored_states(self, rooms: Iterable[str] | None = None) -> dict[str, StoredState]:
        """Return the states of some or all rooms of shards."""
        table = schema.room_states
        chosen = select(table)
        if rooms is not None:
            chosen = chosen.where(_is_one_of(list(rooms)))
        with snapshot(self.engine) as connection:
            return {row.room: StoredState(row.run, row.state) for row in connection.execute(chosen)}


def channel_of(schema_name: str) -> str:
    """Return the notification channel of a schema, whose name may be too long for one."""
    return f"occupair_{hashlib.sha256(schema_name.encode()).hexdigest()[:16]}"


def notification_texts(rooms: Iterable[str]) -> Iterator[str]:
    """Join room ids with spaces to texts that fit into a notification.

    Examples
    --------
    >>> [len(text) for text in notification_texts(["room-00001"] * 1000)]
    [7897, 3101]
    """
    listed: list[str] = []
    size = 0
    for room in rooms:
        if listed and size + len(room) + 1 > PAYLOAD_BYTES:
            yield " ".join(listed)
            listed, size = [], 0
        listed.append(room)
        size += len(room) + 1
    if listed:
        yield " ".join(listed)


def _is_one_of(rooms: list[str]) -> ColumnElement[bool]:
    """Return the condition that a state is that of one of any number of rooms."""
    return schema.room_states.c.room == any_(literal(rooms, postgresql.ARRAY(Text)))


def _notify(connection: Connection, texts: Iterable[str]) -> None:
    connection.execute(_NOTIFY, {"texts": list(texts)})
