"""From readings to stored and published estimates: one thread estimates, another writes to the store.

Estimates are published as soon as they are made. A reading is acknowledged only once it and all estimates
that follow from it are in the store, in one transaction: after a crash, the sender still has every reading
that the store does not have. While the store is unavailable, estimation continues and nothing is
acknowledged.
"""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
import logging
import threading
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from itertools import groupby, islice
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, NamedTuple

from occupair.live.config import RoomConfig, ServiceConfig
from occupair.live.delays import DelayCounts
from occupair.live.messages import MAX_CLOCK_AHEAD, EngineResult, Reading, ReadingOutcome, RoomState
from occupair.live.room_pipeline import BacklogFull
from occupair.live.rooms.engine import Engine, RoomSetup, StoredRoom, is_valid_reading
from occupair.live.rooms.interval_correction import IntervalCorrection
from occupair.live.rooms.restore import in_batches, read_stored_rooms, restore_rooms
from occupair.live.rooms.room import Model
from occupair.live.rooms.room_models import RoomModels
from occupair.live.store import Store, StoreError
from occupair.live.subscriptions import Subscriber, Subscribers
from occupair.live.wall_clock import LatestTime, utc_now
from occupair.live.writer import Writer

if TYPE_CHECKING:
    from occupair.live.calibration import Calibrator
    from occupair.live.retraining import Trainer

log = logging.getLogger("occupair.live")

STATE_CHECK_EVERY, STATES_AT_ONCE = 5.0, 200
"""How often room states are checked for sensors that went offline [s]; and how many rooms at a time."""
STORE_CHECK_EVERY = 1.0
"""How often to check whether the store hangs [s]."""
READINGS_AT_ONCE = 4_000
"""Approximate maximum number of readings estimated as one batch."""
MAX_BACKLOG = 200_000
"""Readings that may wait for the store; more are refused."""


@dataclass
class _Job:
    """Work for the engine: add readings, or run a function. It is done once its result is stored."""

    done: asyncio.Future[EngineResult]
    readings: Sequence[Reading] = ()
    work: Callable[[Engine], EngineResult] | None = None


class _Finished(NamedTuple):
    job: _Job
    result: EngineResult


class Pipeline:
    """The service without its network interfaces.

    Parameters
    ----------
    config : ServiceConfig
        Settings.
    store : Store
        The store.
    clock : callable
        Returns the current time in UTC.

    Attributes
    ----------
    counters : Counter
        Readings by source and outcome.
    links : frozenset of str
        Parts that connect to other systems. Without them the service is only degraded.
    delays : DelayCounts
        Times from the arrival of readings to their estimates.
    """

    trainer: Trainer
    calibrator: Calibrator
    links = frozenset({"mqtt", "bacnet", "shards"})

    def __init__(
        self,
        config: ServiceConfig,
        store: Store,
        *,
        clock: Callable[[], dt.datetime] = utc_now,
    ) -> None:
        self.config = config
        self.store = store
        self.counters: Counter[tuple[str, ReadingOutcome]] = Counter()
        self.delays = DelayCounts()
        self.estimates_total = 0
        self.mqtt_status = "off"
        self.bacnet_status = "off"
        self.shards_status = "off"
        self.subscribers = Subscribers()
        self.models = RoomModels(store, tolerance=config.tolerance)
        self._clock, self._latest = clock, LatestTime(clock)
        self._engine = Engine(_setups(config), follows_clock=config.clock == "wall")
        self._states: dict[str, RoomState] = {}
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._backlog = 0  # readings not stored yet
        self._writer = Writer[_Finished](store, self._on_written)
        self._estimating = threading.Thread(target=self._run_jobs, name="estimating", daemon=True)
        self._changing_models = asyncio.Lock()  # the active models in the store and the engine are the same
        self._newest: dt.datetime | None = None  # newest time of a reading, for a clock that follows readings

    # ---- start, stop and changes of the settings ----

    async def start(self) -> None:
        """Restore all rooms from the store and start the threads."""
        self._loop = asyncio.get_running_loop()
        await asyncio.to_thread(self._restore, list(self.config.own_rooms.values()))
        self._estimating.start()
        self._writer.start()
        self._checks = [asyncio.create_task(self._check_states()), asyncio.create_task(self._check_store())]

    async def stop(self) -> None:
        """Finish all jobs and, if the store is available, write their results."""
        for check in self._checks:
            check.cancel()
        self._jobs.put(None)
        await asyncio.to_thread(self._estimating.join)
        await asyncio.to_thread(self._writer.stop)

    async def reload(self, config: ServiceConfig) -> None:
        """Apply new settings: remove rooms, start new ones, and use model files that have changed.

        Raises
        ------
        StoreError
            If the store is unavailable. Rooms and settings then stay as they are, except that model files
            read before the failure are in use.
        """
        before, setups = _setups(self.config), _setups(config)
        removed = set(before) - set(setups)
        started = {
            room for room in setups if room not in before or not before[room].is_same_grid(setups[room])
        }
        new = [config.own_rooms[room] for room in setups if room in started]
        async with self._changing_models:
            newest = await asyncio.to_thread(self.store.newest_readings)
            for some in in_batches([room for room in config.own_rooms.values() if room.id in before]):
                await self._use_model_files(some)
            models, failure = await asyncio.to_thread(self.models.initial_models, new)
            if failure is not None:
                raise failure
            zones = await asyncio.to_thread(self.store.zones)
            read = partial(read_stored_rooms, follows_clock=self._engine.follows_clock)
            stored = await asyncio.to_thread(read, self.store, new, newest, zones)
            self.config = config
            others = {room: setup for room, setup in setups.items() if room not in started}
            await self._run(lambda engine: engine.change_rooms(removed, others, self.now()))
            for some in in_batches(new):
                ids = [room.id for room in some]
                start = partial(
                    self._start_rooms,
                    {room: setups[room] for room in ids},
                    {room: models[room] for room in ids},
                    {room: stored[room] for room in ids if room in stored},
                )
                await self._run(start)
                with contextlib.suppress(StoreError):  # the next start then estimates these rooms again
                    await asyncio.to_thread(self.store.set_zones, {r.id: r.timezone for r in some})
        for room in removed:
            self._states.pop(room, None)

    async def _use_model_files(self, rooms: Sequence[RoomConfig]) -> None:
        """Use model files that have changed. If the store fails, each room has its old or its new model."""
        models, failure = await asyncio.to_thread(self.models.initial_models, rooms)
        await self._run(lambda engine: engine.use_changed_models(models, self.now()))
        if failure is not None:
            raise failure

    def _start_rooms(
        self,
        setups: dict[str, RoomSetup],
        models: dict[str, Model | None],
        stored: dict[str, StoredRoom],
        engine: Engine,
    ) -> EngineResult:
        return engine.start_rooms(setups, models, stored, self.now())

    def _restore(self, rooms: Sequence[RoomConfig]) -> None:
        restore_rooms(self._engine, self.store, self.models, rooms, self._now_after_restart)
        self._states |= self._engine.states(self.now())

    # ---- interface of the service ----

    async def submit(self, readings: Sequence[Reading]) -> list[ReadingOutcome]:
        """Add readings and return their outcomes once all results are in the store.

        Raises
        ------
        BacklogFull
            If too many readings are waiting for the store.
        """
        if self._backlog + len(readings) > MAX_BACKLOG:
            cause = self._writer.fault or "it is slow"
            raise BacklogFull(f"{self._backlog} readings are waiting for the store: {cause}")
        self._backlog += len(readings)
        return (await self._run(readings=readings)).outcomes

    async def use_model(self, room: str, data: bytes, *, origin: str, note: str = "") -> int:
        """Store a model for a room, use it from now on, and return its version."""
        await asyncio.to_thread(self.models.check, data)
        async with self._changing_models:
            version = await asyncio.to_thread(self.store.add_model, room, data, origin=origin, note=note)
            await self._activate(room, version)
        return version

    async def activate(self, room: str, version: int | None) -> None:
        """Use another stored model of a room, or none."""
        async with self._changing_models:
            await self._activate(room, version)

    async def forget(self, room: str) -> None:
        """Delete a room's labels and trained or uploaded models, and return to the model of its file."""
        if hasattr(self, "trainer"):
            await self.trainer.forget(room)
        async with self._changing_models:
            await self._activate(room, await asyncio.to_thread(self.models.newest_file_version, room))
            await asyncio.to_thread(self.store.forget, room)
        await self.labels_changed(room)

    async def labels_changed(self, room: str) -> None:
        """Correct the prediction intervals of a room, and calibrate it again if it is calibrated at all."""
        await self.track_labels(room)
        if hasattr(self, "calibrator"):
            self.calibrator.labels_changed(room)

    async def track_labels(self, room: str) -> None:
        """Correct the prediction intervals of a room from now on, after its labels or its model changed."""
        read = partial(self.store.labelled_intervals, follows_clock=self._engine.follows_clock)
        try:
            labelled = await asyncio.to_thread(read, room)
        except StoreError as error:  # the next label corrects them
            log.warning("room %s: the prediction intervals are not corrected: %s", room, error)
        else:
            await self._run(lambda engine: engine.track_labels(room, labelled))

    def correction(self, room: str) -> IntervalCorrection:
        """Return the correction of a room's prediction intervals by labels."""
        return self._engine.correction(room)

    def interval(self, room: str) -> float:
        """Return the interval of a room's model, or that of a room without one [min]."""
        return self._engine.interval(room)

    def now(self) -> dt.datetime:
        """Return the current time: that of the system clock, or of the newest reading.

        ``clock = "readings"`` is for replays and the demo, which run faster than real time.
        """
        newest = None if self.config.clock == "wall" else self._newest
        return newest or self._clock()

    def states(self) -> dict[str, RoomState]:
        """Return the states of all rooms of this service."""
        return dict(self._states)

    def state(self, room: str) -> RoomState | None:
        """Return the state of a room of this service."""
        return self._states.get(room)

    @asynccontextmanager
    async def subscribe(self) -> AsyncIterator[AsyncIterator[list[RoomState]]]:
        """Yield states as they change. A slow subscriber misses intermediate states, never the newest."""
        subscriber = Subscriber()
        with self.subscribers.including(subscriber):
            yield subscriber.changes()

    @property
    def part_status(self) -> dict[str, str]:
        """Status of each part of the service, ``"ok"`` or the problem."""
        alive = self._estimating.is_alive() and self._writer.is_alive
        engine = "ok" if alive and not any(check.done() for check in self._checks) else "stopped"
        links = {"mqtt": self.mqtt_status, "bacnet": self.bacnet_status}
        if self.config.shard is not None:
            links["shards"] = self.shards_status
        return {"store": self._writer.fault or "ok", **links, "engine": engine}

    @property
    def waiting(self) -> int:
        """Number of readings waiting for the store."""
        return self._backlog

    async def _activate(self, room: str, version: int | None) -> None:
        """Switch a room's model; the switch and the new estimates of today are stored in one transaction."""
        model = await asyncio.to_thread(self.models.version, room, version)

        def switch(engine: Engine) -> EngineResult:
            result = engine.use_models({room: model}, self.now())
            result.activated = {room: version}
            return result

        await self._run(switch)
        await self.track_labels(room)

    # ---- estimation ----

    async def _run(
        self, work: Callable[[Engine], EngineResult] | None = None, *, readings: Sequence[Reading] = ()
    ) -> EngineResult:
        """Run a job in the estimating thread and wait until its result is stored."""
        done: asyncio.Future[EngineResult] = asyncio.get_running_loop().create_future()
        self._jobs.put(_Job(done, readings, work))
        return await done

    def _run_jobs(self) -> None:
        for jobs in self._job_batches():
            try:
                self._run_batch(jobs)
            except Exception as error:  # one failing job must not stop all rooms
                log.exception("a job of the engine failed")
                self._loop.call_soon_threadsafe(self._fail, jobs, error)

    def _job_batches(self) -> Iterator[list[_Job]]:
        """Yield jobs in order: successive readings as one batch, any other job alone."""
        while True:
            queued = list(self._queued_jobs())
            for is_reading, jobs in groupby(queued, lambda job: job is not None and job.work is None):
                if is_reading:
                    yield [job for job in jobs if job is not None]
                    continue
                for job in jobs:
                    if job is None:
                        return
                    yield [job]

    def _queued_jobs(self) -> Iterator[_Job | None]:
        """Wait for a job, and yield it and those queued behind it."""
        job, n_readings = self._jobs.get(), 0
        with contextlib.suppress(Empty):
            while True:
                yield job
                n_readings += 0 if job is None else len(job.readings)
                if n_readings >= READINGS_AT_ONCE:
                    return
                job = self._jobs.get_nowait()

    def _run_batch(self, jobs: list[_Job]) -> None:
        readings = [reading for job in jobs for reading in job.readings]
        work = jobs[0].work
        if work:
            result = work(self._engine)
        else:
            now, latest = self._now_with(readings), self._latest.now()
            result = self._engine.add_readings(readings, now, latest=latest)
        self._loop.call_soon_threadsafe(self._publish_result, result, readings)
        if work:
            finished = [_Finished(jobs[0], result)]
        else:
            outcomes = iter(result.outcomes)
            finished = [
                _Finished(job, EngineResult(outcomes=list(islice(outcomes, len(job.readings)))))
                for job in jobs
            ]
        if readings or len(result):
            self._writer.put(result, finished)
        else:  # nothing to store
            self._on_written(finished)

    def _now_with(self, readings: Sequence[Reading]) -> dt.datetime:
        """Return the current time once readings have arrived."""
        if self.config.clock == "readings":
            valid = [one.time for one in readings if one.room in self._engine and is_valid_reading(one)]
            self._newest = max(valid + ([self._newest] if self._newest else []), default=None)
        return self.now()

    def _now_after_restart(self, newest: Sequence[Reading]) -> dt.datetime:
        """Return the current time, given the newest stored readings."""
        for reading in newest:
            self._latest.add_stored(max(reading.received, reading.time - MAX_CLOCK_AHEAD))
        return self._now_with(newest)

    # ---- results ----

    def _publish_result(self, result: EngineResult, readings: Sequence[Reading]) -> None:
        """Publish states to subscribers, before they are stored."""
        now = self._clock()
        for reading, outcome in zip(readings, result.outcomes, strict=True):
            self.counters[reading.source, outcome] += 1
        self.delays.add((now - reading.received).total_seconds() for reading in readings)
        self.estimates_total += len(result.estimate_records)
        changed = {room: state for room, state in result.states.items() if self._states.get(room) != state}
        self._states.update(changed)
        if changed:
            self.subscribers.put(changed)

    def _on_written(self, finished: list[_Finished]) -> None:
        self._loop.call_soon_threadsafe(self._finish, finished)

    def _finish(self, finished: list[_Finished]) -> None:
        for job, result in finished:
            self._backlog -= len(job.readings)
            if not job.done.done():
                job.done.set_result(result)

    def _fail(self, jobs: list[_Job], error: Exception) -> None:
        for job in jobs:
            self._backlog -= len(job.readings)
            if not job.done.done():
                job.done.set_exception(error)

    async def _check_states(self) -> None:
        """Publish sensors that went offline; a few rooms at a time, to delay estimates only briefly."""
        while True:
            rooms = list(self.config.own_rooms)
            batches = [rooms[k : k + STATES_AT_ONCE] for k in range(0, len(rooms), STATES_AT_ONCE)] or [[]]
            for batch in batches:
                await asyncio.sleep(STATE_CHECK_EVERY / len(batches))
                try:
                    await self._run(partial(self._states_of, batch))
                except Exception:
                    log.exception("checking the room states failed")

    async def _check_store(self) -> None:
        while True:
            await asyncio.sleep(STORE_CHECK_EVERY)
            self._writer.check_age()

    def _states_of(self, rooms: list[str], engine: Engine) -> EngineResult:
        return EngineResult(states=engine.states(self.now(), rooms))


def _setups(config: ServiceConfig) -> dict[str, RoomSetup]:
    return {
        id_: RoomSetup(room.timezone, room.given_stale_after, room.interval, room.air_control)
        for id_, room in config.own_rooms.items()
    }
