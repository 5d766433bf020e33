"""What a shard knows of the others: which of them are running, and the states of their rooms."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from occupair.live.messages import Quality, RoomState, unknown_state
from occupair.live.reasons import Cause, Reason
from occupair.live.room_shards import Shard, owner_of
from occupair.live.store.shard_store import Heartbeat, StoredState
from occupair.live.store.state_rows import from_text

log = logging.getLogger("occupair.live")

GONE_AFTER = 6.0
"""Time without a heartbeat after which a shard whose process has ended is gone [s]."""
FROZEN_AFTER = 20.0
"""The same for a shard whose process is still there, and for a store that cannot be read [s]."""


@dataclass
class _Copy:
    """A copy of a stored state, parsed when it is first asked for."""

    stored: StoredState
    parsed: RoomState | None = None
    is_valid: bool = True

    def state(self, run: int) -> RoomState | None:
        """Return the state, or None if it is of another run or of a version that is too different."""
        if self.stored.run != run:
            return None
        if self.parsed is None and self.is_valid:
            try:
                self.parsed = from_text(self.stored.text)
            except ValueError as error:
                log.warning("a state of another shard cannot be read: %s", error)
                self.is_valid = False
        return self.parsed


@dataclass(frozen=True)
class _Running:
    run: int
    address: str
    since: float  # time of the last observation [s]


class OtherShards:
    """Bookkeeping without input or output; times are monotonic [s].

    Parameters
    ----------
    shard : Shard
        This shard.
    """

    def __init__(self, shard: Shard) -> None:
        self.shard = shard
        self._copies: dict[str, _Copy] = {}
        self._copied_at = -math.inf  # when the copies were last known to be complete [s]
        self._observed: dict[int, _Running] = {}
        self._running: dict[int, _Running] = {}
        self._not_served: dict[str, RoomState] = {}

    def observe(self, seen: Mapping[int, Heartbeat], now: float) -> None:
        """Take note of the shards in the store, as read at a time."""
        for number, one in seen.items():
            limit = FROZEN_AFTER if one.holds_lock else GONE_AFTER
            if one.age <= limit:
                self._observed[number] = _Running(one.run, one.address, now)
            else:
                self._observed.pop(number, None)
        for number in self._observed.keys() - seen.keys():  # it has stopped
            del self._observed[number]

    def copy(self, states: Mapping[str, StoredState], now: float, *, all_rooms: bool = False) -> None:
        """Copy states of some or all rooms, as read at a time."""
        if all_rooms:
            self._copies.clear()
        self._copies |= {room: _Copy(one) for room, one in states.items() if not self.shard.owns(room)}
        self._copied_at = now

    def update(self, now: float) -> set[int]:
        """Determine which shards are running, and return those for which that has changed."""
        before, running = self._running, {}
        if now - self._copied_at <= FROZEN_AFTER:
            running = {
                number: one
                for number, one in self._observed.items()
                if now - one.since <= FROZEN_AFTER and number != self.shard.number
            }
        self._running = running
        return {
            number
            for number in before.keys() | running.keys()
            if _run_of(before.get(number)) != _run_of(running.get(number))
        }

    @property
    def missing(self) -> list[Shard]:
        """The shards that are not running."""
        numbers = range(1, self.shard.count + 1)
        here = {self.shard.number, *self._running}
        return [Shard(number, self.shard.count) for number in numbers if number not in here]

    def address_of(self, room: str) -> str | None:
        """Return the address of the shard of a room, or None if it is not running."""
        found = self._running.get(self.owner_of(room).number)
        return None if found is None else found.address

    def owner_of(self, room: str) -> Shard:
        """Return the shard of a room."""
        return Shard(owner_of(room, self.shard.count), self.shard.count)

    def state(self, room: str) -> RoomState:
        """Return the state of a room of another shard."""
        running = self._running.get(owner_of(room, self.shard.count))
        copy = self._copies.get(room)
        if running is not None and copy is not None and (state := copy.state(running.run)):
            return state
        if room not in self._not_served:
            self._not_served[room] = unknown_state(room, Quality.STALE, Cause(Reason.NOT_SERVED))
        return self._not_served[room]

    def states(self, rooms: Iterable[str]) -> dict[str, RoomState]:
        """Return the states of those rooms that belong to other shards."""
        return {room: self.state(room) for room in rooms if not self.shard.owns(room)}


def _run_of(one: _Running | None) -> int | None:
    return None if one is None else one.run
