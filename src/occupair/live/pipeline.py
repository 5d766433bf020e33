"""From readings to what is kept and told: one thread estimates, one writes, and neither waits for the other.

An estimate is told as soon as it is there. A reading is acknowledged only when it and all estimates that
follow from it are in the store, in one transaction; so whatever is killed or lost in between, the sender
still has what the store has not. While the store cannot be written to, estimates go on, and nothing is
acknowledged.
"""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
import logging
import threading
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from itertools import groupby, islice
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, NamedTuple

from occupair.live.config import RoomConfig, ServiceConfig
from occupair.live.messages import Fate, Reading, RoomState, Step
from occupair.live.rooms.engine import Engine, RoomSetup, is_sound
from occupair.live.rooms.models import RoomModels
from occupair.live.rooms.restore import Kept, Recall
from occupair.live.rooms.room import Model
from occupair.live.store import Store, StoreError
from occupair.live.writer import Writer
from occupair.wording import plural

if TYPE_CHECKING:
    from occupair.live.retraining import Trainer

log = logging.getLogger("occupair.live")

LOOK_EVERY, LOOKED_AT = 5.0, 200
"""How often rooms are looked at that may have fallen silent [s]; and how many of them at a time."""
TOGETHER = 4_000
"""Readings that are estimated together at most, about."""
TAKEN_UP, TELL_EVERY = 64, 10.0
"""Rooms that are taken up together; and how often the service says how far it is with that [s]."""
MOST_WAITING = 200_000
"""Readings that may wait for the store; more are not taken."""


class NotTaken(Exception):
    """So much waits for the store that no more is taken."""


@dataclass
class _Job:
    """Something for the engine to do; what comes of it has to be written before it is done."""

    done: asyncio.Future[Step]
    readings: Sequence[Reading] = ()  # to be taken, with others that wait; or else
    work: Callable[[Engine], Step] | None = None


class _Done(NamedTuple):
    """A job, and what came of it."""

    job: _Job
    step: Step


class Pipeline:
    """The service without its doors.

    Parameters
    ----------
    config : ServiceConfig
        Its settings.
    store : Store
        Where all is kept.
    """

    trainer: Trainer

    def __init__(self, config: ServiceConfig, store: Store) -> None:
        self.config = config
        self.store = store
        self.counters: Counter[tuple[str, Fate]] = Counter()
        self.delays: deque[float] = deque(maxlen=100_000)  # from a reading's coming in to its estimate [s]
        self.estimates_total = 0
        self.mqtt_status = "off"
        self.models = RoomModels(store, tolerance=config.tolerance)
        self._recall = Recall(store, self.models)
        self._engine = Engine(_setups(config), follows_clock=config.clock == "wall")
        self._states: dict[str, RoomState] = {}
        self._listeners: set[_Listener] = set()
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._waiting = 0  # readings that are not written yet
        self._writer = Writer[_Done](store, self._written)
        self._estimating = threading.Thread(target=self._estimate_all, name="estimating", daemon=True)
        self._swapping = asyncio.Lock()  # models in the store and in the engine change together
        self._newest: dt.datetime | None = None  # of the readings, for a clock that follows them

    # ---- its life ----

    async def start(self) -> None:
        """Take up all rooms where they were, and begin."""
        self._loop = asyncio.get_running_loop()
        await asyncio.to_thread(self._take_up, list(self.config.rooms.values()))
        self._estimating.start()
        self._writer.start()
        self._looking = asyncio.create_task(self._look())

    async def stop(self) -> None:
        """Finish what was begun, and write it if the store takes it."""
        self._looking.cancel()
        self._jobs.put(None)
        await asyncio.to_thread(self._estimating.join)
        await asyncio.to_thread(self._writer.stop)

    async def reload(self, config: ServiceConfig) -> None:
        """Go on with other rooms: those that are gone are forgotten, new ones and new models are taken up.

        Raises
        ------
        StoreError
            When the store cannot be asked. Rooms and settings then stay as they are; a model file that was
            read before that is in use.
        """
        before, setups = _setups(self.config), _setups(config)
        gone = set(before) - set(setups)
        begun = {
            room for room in setups if room not in before or before[room].timezone != setups[room].timezone
        }
        new = [config.rooms[room] for room in setups if room in begun]
        async with self._swapping:
            newest = await asyncio.to_thread(self.store.newest_readings)
            for some in _parts([room for room in config.rooms.values() if room.id in before]):
                await self._use_files(some)
            models, fault = await asyncio.to_thread(self._recall.models, new)
            if fault is not None:
                raise fault
            zones = await asyncio.to_thread(self.store.zones)
            kept = await asyncio.to_thread(self._recall.kept, new, newest, zones)
            self.config = config
            same = {room: setup for room, setup in setups.items() if room not in begun}
            await self._do(partial(self._change_rooms, gone, same))
            for some in _parts(new):
                part = {room.id: (setups[room.id], models[room.id]) for room in some}
                await self._do(partial(self._begin, part, {r: kept[r] for r in part if r in kept}))
                with contextlib.suppress(StoreError):  # the next start then estimates them anew
                    await asyncio.to_thread(self.store.keep_zones, {r.id: r.timezone for r in some})
        for room in gone:
            self._states.pop(room, None)

    async def _use_files(self, rooms: Sequence[RoomConfig]) -> None:
        """Use the model files of rooms that have changed; each room is whole when the store fails."""
        models, fault = await asyncio.to_thread(self._recall.models, rooms)
        await self._do(partial(self._use_others, models))
        if fault is not None:
            raise fault

    def _use_others(self, models: dict[str, Model | None], engine: Engine) -> Step:
        """Use those of some models that are not used yet."""
        others = {
            room: model
            for room, model in models.items()
            if model is not None and model.version != engine.version(room)
        }
        return engine.use(others, self._now())

    def _change_rooms(self, gone: set[str], setups: dict[str, RoomSetup], engine: Engine) -> Step:
        for room in gone:
            engine.remove(room)
        for room, setup in setups.items():
            engine.add(room, setup)
        return Step(states=engine.states(self._now()))

    def _begin(self, rooms: dict[str, tuple[RoomSetup, Model | None]], kept: Kept, engine: Engine) -> Step:
        """Begin with rooms that are new, or in another zone."""
        for room, (setup, _) in rooms.items():
            engine.add(room, setup)
        step = engine.use({room: model for room, (_, model) in rooms.items()}, self._now())
        step.follow(engine.restore(kept))
        step.states = engine.states(self._now(), rooms)
        return step

    # ---- what others ask of it ----

    async def submit(self, readings: Sequence[Reading]) -> list[Fate]:
        """Take readings; returns what became of each when all that is kept of them is in the store.

        Raises
        ------
        NotTaken
            When too much waits for the store already.
        """
        if self._waiting + len(readings) > MOST_WAITING:
            raise NotTaken(
                f"{self._waiting} readings wait for the store: {self._writer.fault or 'it is slow'}"
            )
        self._waiting += len(readings)
        return (await self._do(readings=readings)).fates

    async def use_model(self, room: str, data: bytes, *, origin: str, note: str = "") -> int:
        """Keep a model for a room and estimate with it from now on; its version."""
        await asyncio.to_thread(self.models.check, data)
        async with self._swapping:
            version = await asyncio.to_thread(self.store.add_model, room, data, origin=origin, note=note)
            await self._swap(room, version)
        return version

    async def activate(self, room: str, version: int | None) -> None:
        """Estimate a room with another of its models."""
        async with self._swapping:
            await self._swap(room, version)

    async def forget(self, room: str) -> None:
        """Go back to what a room was before it learned anything here."""
        if hasattr(self, "trainer"):
            await self.trainer.forget(room)
        async with self._swapping:
            await self._swap(room, await asyncio.to_thread(self.models.of_file, room))
            await asyncio.to_thread(self.store.forget, room)

    def states(self) -> dict[str, RoomState]:
        """Give what all rooms say."""
        return dict(self._states)

    def state(self, room: str) -> RoomState | None:
        """Give what a room says."""
        return self._states.get(room)

    @asynccontextmanager
    async def subscribe(self) -> AsyncIterator[AsyncIterator[list[RoomState]]]:
        """Give states as they change; a slow reader misses states between, never the newest of a room."""
        listener = _Listener()
        self._listeners.add(listener)
        try:
            yield listener.changes()
        finally:
            self._listeners.discard(listener)

    @property
    def healthy(self) -> dict[str, str]:
        """What works, in a word each."""
        alive = self._estimating.is_alive() and self._writer.is_alive and not self._looking.done()
        engine = "ok" if alive else "stopped"
        return {"store": self._writer.fault or "ok", "mqtt": self.mqtt_status, "engine": engine}

    @property
    def waiting(self) -> int:
        """Readings that wait for the store."""
        return self._waiting

    # ---- estimating ----

    async def _do(
        self, work: Callable[[Engine], Step] | None = None, *, readings: Sequence[Reading] = ()
    ) -> Step:
        done: asyncio.Future[Step] = asyncio.get_running_loop().create_future()
        self._jobs.put(_Job(done, readings, work))
        return await done

    def _estimate_all(self) -> None:
        for jobs in self._batches():
            try:
                self._estimate(jobs)
            except Exception as error:  # one job must not stop all rooms
                log.exception("a job of the engine failed")
                self._loop.call_soon_threadsafe(self._fail, jobs, error)

    def _batches(self) -> Iterator[list[_Job]]:
        """Give jobs in their order: readings that wait go together, any other job alone."""
        while True:
            waiting = list(self._waiting_jobs())
            for takes_readings, jobs in groupby(waiting, lambda job: job is not None and job.work is None):
                if takes_readings:
                    yield [job for job in jobs if job is not None]
                    continue
                for job in jobs:
                    if job is None:
                        return
                    yield [job]

    def _waiting_jobs(self) -> Iterator[_Job | None]:
        """Wait for a job, and give it with those behind it."""
        job, readings = self._jobs.get(), 0
        with contextlib.suppress(Empty):
            while True:
                yield job
                readings += 0 if job is None else len(job.readings)
                if readings >= TOGETHER:
                    return
                job = self._jobs.get_nowait()

    def _estimate(self, jobs: list[_Job]) -> None:
        readings = [reading for job in jobs for reading in job.readings]
        work = jobs[0].work
        step = work(self._engine) if work else self._engine.take(readings, self._now(readings))
        self._loop.call_soon_threadsafe(self._tell, step, readings)
        if work:
            done = [_Done(jobs[0], step)]
        else:
            fates = iter(step.fates)
            done = [_Done(job, Step(fates=list(islice(fates, len(job.readings))))) for job in jobs]
        if readings or len(step):
            self._writer.put(step, done)
        else:  # nothing of it has to be kept
            self._written(done)

    def _tell(self, step: Step, readings: Sequence[Reading]) -> None:
        """Give states to all who listen, before they are written."""
        now = dt.datetime.now(dt.UTC)
        for reading, fate in zip(readings, step.fates, strict=True):
            self.counters[reading.source, fate] += 1
            self.delays.append((now - reading.received).total_seconds())
        self.estimates_total += len(step.said)
        self._publish(step.states)

    def _publish(self, states: dict[str, RoomState]) -> None:
        changed = {room: state for room, state in states.items() if self._states.get(room) != state}
        self._states.update(changed)
        if changed:
            for listener in self._listeners:
                listener.put(changed)

    async def _look(self) -> None:
        """Say when rooms fall silent: some rooms at a time, so that no estimate waits for all."""
        while True:
            rooms = list(self.config.rooms)
            parts = [rooms[first : first + LOOKED_AT] for first in range(0, len(rooms), LOOKED_AT)] or [[]]
            for part in parts:
                await asyncio.sleep(LOOK_EVERY / len(parts))
                try:
                    await self._do(partial(self._states_of, part))
                except Exception:
                    log.exception("looking for silent rooms failed")

    def _states_of(self, rooms: list[str], engine: Engine) -> Step:
        return Step(states=engine.states(self._now(), rooms))

    def _now(self, readings: Sequence[Reading] = ()) -> dt.datetime:
        """Tell the time, or that of the newest reading where the clock follows those."""
        if self.config.clock == "wall":
            return dt.datetime.now(dt.UTC)
        sound = [one.time for one in readings if one.room in self._engine and is_sound(one)]
        times = sound + ([self._newest] if self._newest else [])
        self._newest = max(times, default=None)
        return self._newest or dt.datetime.now(dt.UTC)

    def _written(self, done: list[_Done]) -> None:
        self._loop.call_soon_threadsafe(self._finish, done)

    def _finish(self, done: list[_Done]) -> None:
        for job, step in done:
            self._waiting -= len(job.readings)
            if not job.done.done():
                job.done.set_result(step)

    def _fail(self, jobs: list[_Job], error: Exception) -> None:
        for job in jobs:
            self._waiting -= len(job.readings)
            if not job.done.done():
                job.done.set_exception(error)

    # ---- rooms ----

    def _take_up(self, rooms: Sequence[RoomConfig]) -> None:
        """Take up rooms where they were: with their models and today's readings."""
        started = told = time.monotonic()
        newest, zones, done = self.store.newest_readings(), self.store.zones(), 0
        for some in _parts(rooms):
            now = self._now([newest[room.id] for room in some if room.id in newest])
            self._engine.use({room.id: self._recall.model(room) for room in some}, now)
            kept = self._recall.kept(some, newest, zones)
            step = self._engine.restore(kept)
            if len(step):
                self.store.write([], step.said, cleared=step.cleared)
            self.store.keep_zones(
                {room.id: room.timezone for room in some if zones.get(room.id) != room.timezone}
            )
            done += len(some)
            if time.monotonic() > told + TELL_EVERY:
                told = time.monotonic()
                log.info("took up %d of %s", done, plural(len(rooms), "room"))
        self._states |= self._engine.states(self._now())
        if rooms:
            log.info("took up %s in %.1f s", plural(len(rooms), "room"), time.monotonic() - started)

    async def _swap(self, room: str, version: int | None) -> None:
        """Estimate with another model; that it is used and what it says of today are kept together."""
        model = await asyncio.to_thread(self.models.version, room, version)

        def work(engine: Engine) -> Step:
            step = engine.use({room: model}, self._now())
            step.activated = {room: version}
            return step

        await self._do(work)


class _Listener:
    """Somebody who wants to know: the newest state of every room that changed since they last looked."""

    def __init__(self) -> None:
        self._changed: dict[str, RoomState] = {}
        self._news = asyncio.Event()

    def put(self, states: dict[str, RoomState]) -> None:
        self._changed |= states
        self._news.set()

    async def changes(self) -> AsyncIterator[list[RoomState]]:
        while True:
            await self._news.wait()
            self._news.clear()
            changed, self._changed = self._changed, {}
            yield list(changed.values())


def _parts(rooms: Sequence[RoomConfig]) -> Iterator[Sequence[RoomConfig]]:
    return (rooms[first : first + TAKEN_UP] for first in range(0, len(rooms), TAKEN_UP))


def _setups(config: ServiceConfig) -> dict[str, RoomSetup]:
    return {id_: RoomSetup(room.timezone, room.stale_after) for id_, room in config.rooms.items()}
