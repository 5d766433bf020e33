"""From readings to what is kept and told: one thread estimates, one writes, and neither waits for the other.

An estimate is told as soon as it is there. A reading is acknowledged only when it and all estimates that
follow from it are in the store, in one transaction; so whatever is killed or lost in between, the sender
still has what the store has not. While the store cannot be written to, estimates go on, and nothing is
acknowledged.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import logging
import threading
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from occupair.checks.cleaned import counted
from occupair.errors import InputError
from occupair.live.config import ServiceConfig
from occupair.live.engine import Engine, RoomSetup, Step, is_sound
from occupair.live.messages import Estimated, Fate, Reading, RoomState
from occupair.live.room_models import RoomModels
from occupair.live.store import Store, StoreError
from occupair.live.track import Model, Track

if TYPE_CHECKING:
    from occupair.live.retraining import Trainer

log = logging.getLogger("occupair.live")

LOOK_EVERY = 5.0
"""How often rooms are looked at that may have fallen silent [s]."""
AT_ONCE = 20_000
"""Rows that are written in one transaction, about."""
MOST_WAITING = 200_000
"""Readings that may wait for the store; more are not taken."""
LAST_SAID = dt.timedelta(minutes=90)
"""What was said that long before a restart is taken up again."""
PATIENCE = (0.2, 10.0)
"""The first and the longest pause between attempts to write [s]."""


class NotTaken(Exception):
    """So much waits for the store that no more is taken."""


@dataclass
class _Job:
    """Something for the engine to do; what comes of it has to be written before it is done."""

    work: Callable[[Engine], Step]
    done: asyncio.Future[Step]
    readings: Sequence[Reading] = ()


@dataclass
class _Written:
    """What is to be written, and who waits for it."""

    step: Step
    done: list[tuple[_Job, Step]] = field(default_factory=list)


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
        self._engine = Engine(_setups(config), follows_clock=config.clock == "wall")
        self._states: dict[str, RoomState] = {}
        self._listeners: set[_Listener] = set()
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._to_write: SimpleQueue[_Written | None] = SimpleQueue()
        self._waiting = 0  # readings that are not written yet
        self._store_fault = ""
        self._stopping = threading.Event()
        self._swapping = asyncio.Lock()  # models in the store and in the engine change together
        self._newest: dt.datetime | None = None  # of the readings, for a clock that follows them
        self._threads: list[threading.Thread] = []

    # ---- its life ----

    async def start(self) -> None:
        """Take up all rooms where they were, and begin."""
        self._loop = asyncio.get_running_loop()
        await asyncio.to_thread(self._take_up, list(self.config.rooms))
        self._threads = [
            threading.Thread(target=work, name=name, daemon=True)
            for work, name in ((self._estimate_all, "estimating"), (self._write_all, "writing"))
        ]
        for thread in self._threads:
            thread.start()
        self._looking = asyncio.create_task(self._look())

    async def stop(self) -> None:
        """Finish what was begun, and write it if the store takes it."""
        self._looking.cancel()
        self._jobs.put(None)
        await asyncio.to_thread(self._threads[0].join)
        self._stopping.set()
        self._to_write.put(None)
        await asyncio.to_thread(self._threads[1].join)

    async def reload(self, config: ServiceConfig) -> None:
        """Go on with other rooms: those that are gone are forgotten, new ones and new models are taken up.

        Raises
        ------
        StoreError
            When the store cannot be asked; all then stays as it is.
        """
        before, setups = _setups(self.config), _setups(config)
        gone = set(before) - set(setups)
        begun = [
            room for room in setups if room not in before or before[room].timezone != setups[room].timezone
        ]
        models = await asyncio.to_thread(lambda: {room: self._model_of(room, config) for room in setups})
        # what was said may be of days in another zone
        loaded = await asyncio.to_thread(self._load, begun, setups, quickly=False)

        def work(engine: Engine) -> Step:
            step = Step()
            for room in gone:
                engine.remove(room)
            for room, setup in setups.items():
                engine.add(room, setup)
                model = models[room]
                if room in begun or (model is not None and model.version != engine.version(room)):
                    step.add(engine.use(room, model, self._now()).estimates.values())
                if room in loaded:
                    engine.restore(room, *loaded[room])
            step.states = engine.states(self._now())
            return step

        self.config = config
        await self._do(work)
        for room in gone:
            self._states.pop(room, None)

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
                f"{self._waiting} readings wait for the store: {self._store_fault or 'it is slow'}"
            )
        self._waiting += len(readings)
        step = await self._do(lambda engine: engine.take(readings, self._now(readings)), readings)
        return step.fates

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
            await asyncio.to_thread(self.store.forget, room)
            await self._use_active(room)

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
        alive = all(thread.is_alive() for thread in self._threads) and not self._looking.done()
        engine = "ok" if alive else "stopped"
        return {"store": self._store_fault or "ok", "mqtt": self.mqtt_status, "engine": engine}

    @property
    def waiting(self) -> int:
        """Readings that wait for the store."""
        return self._waiting

    # ---- estimating ----

    async def _do(self, work: Callable[[Engine], Step], readings: Sequence[Reading] = ()) -> Step:
        done: asyncio.Future[Step] = asyncio.get_running_loop().create_future()
        self._jobs.put(_Job(work, done, readings))
        return await done

    def _estimate_all(self) -> None:
        while (job := self._jobs.get()) is not None:
            try:
                step = job.work(self._engine)
            except Exception as error:  # one job must not stop all rooms
                log.exception("a job of the engine failed")
                self._loop.call_soon_threadsafe(self._fail, job, error)
                continue
            self._loop.call_soon_threadsafe(self._tell, step, job.readings)
            if job.readings or step.estimates or step.activated:
                to_write = Step(
                    kept=list(step.kept), estimates=dict(step.estimates), activated=step.activated
                )
                self._to_write.put(_Written(to_write, [(job, step)]))
            else:  # nothing of it has to be kept
                self._loop.call_soon_threadsafe(self._finish, [(job, step)])

    def _tell(self, step: Step, readings: Sequence[Reading]) -> None:
        """Give states to all who listen, before they are written."""
        now = dt.datetime.now(dt.UTC)
        for reading, fate in zip(readings, step.fates, strict=True):
            self.counters[reading.source, fate] += 1
            self.delays.append((now - reading.received).total_seconds())
        self.estimates_total += len(step.estimates)
        self._publish(step.states)

    def _publish(self, states: dict[str, RoomState]) -> None:
        changed = {room: state for room, state in states.items() if self._states.get(room) != state}
        self._states.update(changed)
        if changed:
            for listener in self._listeners:
                listener.put(changed)

    async def _look(self) -> None:
        """Say when rooms fall silent."""
        while True:
            await asyncio.sleep(LOOK_EVERY)
            try:
                await self._do(lambda engine: Step(states=engine.look(self._now())))
            except Exception:
                log.exception("looking for silent rooms failed")

    def _now(self, readings: Sequence[Reading] = ()) -> dt.datetime:
        """Tell the time, or that of the newest reading where the clock follows those."""
        if self.config.clock == "wall":
            return dt.datetime.now(dt.UTC)
        sound = [one.time for one in readings if one.room in self._engine and is_sound(one)]
        times = sound + ([self._newest] if self._newest else [])
        self._newest = max(times, default=None)
        return self._newest or dt.datetime.now(dt.UTC)

    # ---- writing ----

    def _write_all(self) -> None:
        for batch in self._batches():
            pause = PATIENCE[0]
            while not self._write(batch):
                if self._stopping.wait(pause):
                    return
                pause = min(2 * pause, PATIENCE[1])

    def _batches(self) -> Iterator[_Written]:
        """Join what is there to be written, in order."""
        ended = False
        while not ended:
            batch = self._to_write.get()
            if batch is None:
                return
            while _size(batch) < AT_ONCE:
                try:
                    more = self._to_write.get_nowait()
                except Empty:
                    break
                if more is None:
                    ended = True
                    break
                batch.step.kept += more.step.kept
                batch.step.estimates |= more.step.estimates
                batch.step.activated = batch.step.activated | more.step.activated
                batch.done += more.done
            yield batch

    def _write(self, batch: _Written) -> bool:
        try:
            if _size(batch):
                step = batch.step
                self.store.write(step.kept, list(step.estimates.values()), step.activated)
        except StoreError as error:
            return self._note(str(error))
        except Exception:
            log.exception("the store failed in a way it should not")
            return self._note("failed, see the log")
        if self._store_fault:
            log.warning("the store is back")
        self._store_fault = ""
        self._loop.call_soon_threadsafe(self._finish, batch.done)
        return True

    def _finish(self, done: list[tuple[_Job, Step]]) -> None:
        for job, step in done:
            self._waiting -= len(job.readings)
            if not job.done.done():
                job.done.set_result(step)

    def _fail(self, job: _Job, error: Exception) -> None:
        self._waiting -= len(job.readings)
        if not job.done.done():
            job.done.set_exception(error)

    def _note(self, fault: str) -> bool:
        if not self._store_fault:
            log.error("the store takes nothing: %s", fault)
        self._store_fault = fault
        return False

    # ---- rooms ----

    def _take_up(self, rooms: Sequence[str]) -> None:
        """Take up rooms where they were: with their models and today's readings."""
        started = time.monotonic()
        for room, loaded in self._load(rooms, _setups(self.config)).items():
            self._engine.use(room, self._model_of(room, self.config), self._now())
            self._engine.restore(room, *loaded)
        self._states |= self._engine.states(self._now())
        if rooms:
            log.info("took up %s in %.1f s", counted(len(rooms), "room"), time.monotonic() - started)

    def _load(
        self, rooms: Sequence[str], setups: Mapping[str, RoomSetup], *, quickly: bool = True
    ) -> dict[str, tuple[list[Reading], list[Estimated]]]:
        """Give what is kept of the last days of rooms: readings, and what was said last."""
        newest, loaded = self.store.newest_readings(), {}
        for room in rooms:
            readings: list[Reading] = []
            said: list[Estimated] = []
            if room in newest:
                last = newest[room].time
                self._now([newest[room]])
                window = Track(room, ZoneInfo(setups[room].timezone)).window(last)
                readings = self.store.readings(room, window, None)
                said = self.store.estimates(room, last - LAST_SAID, None, limit=10_000) if quickly else []
            loaded[room] = (readings, said)
        return loaded

    def _model_of(self, room: str, config: ServiceConfig) -> Model | None:
        """Give the model that a room begins with; where its file cannot be used, that of the last time."""
        try:
            return self.models.begin(room, config.rooms[room].model)
        except InputError as error:
            log.error("room %s: its model file cannot be used: %s", room, error)
        try:
            return self.models.active(room)
        except InputError as error:
            log.error("room %s: the model it had cannot be used either: %s", room, error)
            return None

    async def _swap(self, room: str, version: int | None) -> None:
        """Estimate with another model; that it is used and what it says of today are kept together."""
        model = await asyncio.to_thread(self.models.version, room, version)

        def work(engine: Engine) -> Step:
            step = engine.use(room, model, self._now())
            step.activated = {room: version}
            return step

        await self._do(work)

    async def _use_active(self, room: str) -> None:
        model = await asyncio.to_thread(self.models.active, room)
        await self._do(lambda engine: engine.use(room, model, self._now()))


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


def _setups(config: ServiceConfig) -> dict[str, RoomSetup]:
    return {id_: RoomSetup(room.timezone, room.stale_after) for id_, room in config.rooms.items()}


def _size(batch: _Written) -> int:
    return len(batch.step.kept) + len(batch.step.estimates) + len(batch.step.activated)
