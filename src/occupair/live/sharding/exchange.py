"""Exchange of room states and heartbeats between the shards of a store."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from occupair.live.messages import RoomState
from occupair.live.room_shards import Shard, owner_of
from occupair.live.sharding.other_shards import OtherShards
from occupair.live.store import StoreError
from occupair.live.store.shard_store import SHARDS_CHANGED
from occupair.live.store.state_news import listen_for_news
from occupair.live.subscriptions import Subscriber, Subscribers

if TYPE_CHECKING:
    from occupair.live.pipeline import Pipeline

log = logging.getLogger("occupair.live")

HEARTBEAT_EVERY = 2.0
"""Time between two heartbeats [s]."""
WRITE_EVERY = 0.2
"""Shortest time between two batches of states written [s]."""
READ_EVERY, READ_EVERY_UNSEEN = 0.2, 1.0
"""Shortest time between two batches of states read, with and without an open event stream [s]."""
UPDATE_EVERY = 0.5
"""How often to determine which shards are running [s]."""
LISTEN_CHECK = 5.0
"""Time without news after which their connection is checked [s]."""
RETRY_PAUSE = (0.2, 5.0)
"""The first and the longest pause after an error [s]."""
GOODBYE_TIMEOUT = 3.0
"""Time limit for signing off when the service stops [s]."""


class ShardExchange:
    """States of all rooms: those of this shard from its pipeline, those of the others from the store.

    Parameters
    ----------
    pipeline : Pipeline
        The pipeline of this shard.
    shard : Shard
        This shard.
    address : str
        ``HOST:PORT`` at which the others reach it.
    """

    def __init__(self, pipeline: Pipeline, shard: Shard, address: str) -> None:
        self.shard = shard
        self._pipeline, self._store, self._address = pipeline, pipeline.store, address
        self._others = OtherShards(shard)
        self._subscribers = Subscribers()
        self._run_id: int | None = None  # None until it is known
        self._own = Subscriber()  # states of this shard that are not written yet
        self._has_written = False  # all states, in this run
        self._look = asyncio.Event()  # other shards have started or stopped
        pipeline.shards_status = "connecting"

    # ---- interface for HTTP ----

    def states(self) -> dict[str, RoomState]:
        """Return the states of all rooms."""
        return self._others.states(self._pipeline.config.rooms) | self._pipeline.states()

    def state(self, room: str) -> RoomState | None:
        """Return the state of a room."""
        return self._pipeline.state(room) if self.shard.owns(room) else self._others.state(room)

    @asynccontextmanager
    async def subscribe(self) -> AsyncIterator[AsyncIterator[list[RoomState]]]:
        """Yield states of all rooms as they change."""
        subscriber = Subscriber()
        with self._pipeline.subscribers.including(subscriber), self._subscribers.including(subscriber):
            yield subscriber.changes()

    def owner_of(self, room: str) -> Shard:
        """Return the shard of a room."""
        return self._others.owner_of(room)

    def address_of(self, room: str) -> str | None:
        """Return the address of the shard of a room, or None if it is not running."""
        return self._others.address_of(room)

    # ---- exchange ----

    async def run(self) -> None:
        """Exchange states until cancelled, then remove the heartbeat."""
        try:
            with self._pipeline.subscribers.including(self._own):
                await self._exchange()
        finally:
            await self._remove_heartbeat()

    async def _exchange(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            for work in (self._write, self._beat, self._listen, self._update):
                tasks.create_task(_again_and_again(work))

    async def _write(self, succeeded: Callable[[], None]) -> None:
        """Write the states of this shard as they change; all of them first, and after an error."""
        if self._run_id is None:
            self._run_id = await asyncio.to_thread(self._store.start_run)
        states = self._pipeline.states()
        await asyncio.to_thread(self._store.drop_states, self.shard, states)
        self._own.put(self._pipeline.states())
        async for changed in self._own.changes():
            await asyncio.to_thread(self._store.write_states, changed, self._run_id)
            succeeded()
            if not self._has_written:
                self._has_written = True
                self._look.set()
            await asyncio.sleep(WRITE_EVERY)

    async def _beat(self, succeeded: Callable[[], None]) -> None:
        """Write the heartbeat, and read those of the others."""
        while True:
            self._look.clear()
            if self._has_written and self._run_id is not None and self._is_working():
                await asyncio.to_thread(self._store.write_heartbeat, self.shard, self._run_id, self._address)
            now = time.monotonic()
            self._others.observe(await asyncio.to_thread(self._store.heartbeats, self.shard.count), now)
            self._publish(())
            succeeded()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(HEARTBEAT_EVERY):
                    await self._look.wait()

    def _is_working(self) -> bool:
        return self._pipeline.part_status["engine"] == "ok"

    async def _listen(self, succeeded: Callable[[], None]) -> None:
        """Copy the states of other shards: all of them after connecting, then those in the news."""
        async with listen_for_news(self._store.engine) as news:
            now = time.monotonic()
            stored = await asyncio.to_thread(self._store.stored_states)
            self._others.copy(stored, now, all_rooms=True)
            self._publish(stored)
            self._own.put(self._pipeline.states())  # the database may have lost some, if it has crashed
            while True:
                found = await news.wait(LISTEN_CHECK)
                if SHARDS_CHANGED in found:
                    self._look.set()
                now = time.monotonic()
                rooms = [room for room in found - {SHARDS_CHANGED} if not self.shard.owns(room)]
                stored = await asyncio.to_thread(self._store.stored_states, rooms) if rooms else {}
                self._others.copy(stored, now)
                self._publish(rooms)
                succeeded()
                await asyncio.sleep(READ_EVERY if self._subscribers else READ_EVERY_UNSEEN)

    async def _update(self, succeeded: Callable[[], None]) -> None:
        """Notice shards that are gone, also while the store does not respond."""
        while True:
            await asyncio.sleep(UPDATE_EVERY)
            self._publish(())
            succeeded()

    def _publish(self, changed: Iterable[str]) -> None:
        """Publish changed states of other shards, and those of shards that are gone or back."""
        shards = self._others.update(time.monotonic())
        missing = self._others.missing
        for number in sorted(shards):
            shard = Shard(number, self.shard.count)
            if shard in missing:
                log.warning("shard %s is gone: its rooms are stale", shard)
            else:
                log.info("shard %s is running", shard)
        self._pipeline.shards_status = f"not running: {', '.join(map(str, missing))}" if missing else "ok"
        if self._subscribers:
            rooms = self._pipeline.config.rooms
            found = {room for room in changed if room in rooms}
            if shards:
                found |= {room for room in rooms if owner_of(room, self.shard.count) in shards}
            if states := self._others.states(found):
                self._subscribers.put(states)

    async def _remove_heartbeat(self) -> None:
        if self._run_id is None:
            return
        with contextlib.suppress(StoreError, TimeoutError):
            async with asyncio.timeout(GOODBYE_TIMEOUT):
                await asyncio.to_thread(self._store.remove_heartbeat, self.shard, self._run_id)


async def _again_and_again(work: Callable[[Callable[[], None]], Awaitable[None]]) -> None:
    """Do work for ever: after an error again, with pauses that grow until it succeeds."""
    first, longest = RETRY_PAUSE
    pause = first

    def succeeded() -> None:
        nonlocal pause
        pause = first

    while True:
        try:
            await work(succeeded)
        except StoreError as error:
            if pause == first:  # not for every attempt
                log.warning("the exchange with other shards is interrupted: %s", error)
        except Exception:  # the rooms of this shard are still served
            log.exception("the exchange with other shards failed")
        await asyncio.sleep(pause)
        pause = min(2 * pause, longest)
