"""Rooms with their size and seats, and without a model: calibrated from the first reading on.

Such a room first gets a model from priors. After each night it is calibrated again on the readings and head
counts of the last four weeks, and whenever a head count is entered or deleted. A model that is uploaded, or
trained and accepted, or in the settings, takes precedence.

What a calibration was based on is the note of its model in the store, so a restart neither repeats nor omits
any.
"""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
import logging
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from occupair.errors import InputError
from occupair.live.calibration_process import CalibrationOrder, calibrate_room, prepare_process
from occupair.live.store import CALIBRATED, StoreError
from occupair.wording import plural

if TYPE_CHECKING:
    from occupair.live.config import RoomConfig
    from occupair.live.pipeline import Pipeline

log = logging.getLogger("occupair.live")

CHECK_EVERY = 10.0
"""How often rooms are checked for their first readings, and for a night that has passed [s]."""

NIGHT_ENDS = dt.timedelta(hours=5)
"""Local time after which the night counts as passed."""

RETRY_AFTER = 300.0
"""Time until a calibration that failed is tried again [s]."""


class Calibrator:
    """Calibrates rooms, one at a time, in another process.

    Parameters
    ----------
    pipeline : Pipeline
        The pipeline of the service.
    """

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline
        self._pool: ProcessPoolExecutor | None = None
        self._based_on: dict[str, str] = {}  # by room, what its newest calibration was based on
        self._retry_at: dict[str, float] = {}
        self._changed: set[str] = set()  # rooms whose labels changed since their last check began
        self._wanted = asyncio.Event()

    def labels_changed(self, room: str) -> None:
        """Calibrate a room again soon."""
        self._changed.add(room)
        self._based_on.pop(room, None)
        self._retry_at.pop(room, None)
        self._wanted.set()

    async def run(self) -> None:
        """Calibrate rooms as they need it, for ever."""
        try:
            while True:
                self._wanted.clear()
                await self._check_rooms()
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(CHECK_EVERY):
                        await self._wanted.wait()
        finally:
            self._end_process()

    async def _check_rooms(self) -> None:
        rooms = [one for one in self._pipeline.config.own_rooms.values() if self._may_need(one)]
        if not rooms:
            return
        try:
            readings = await asyncio.to_thread(self._pipeline.store.newest_readings)
        except StoreError as error:
            log.warning("rooms are not calibrated: %s", error)
            return
        newest = {room: reading.time for room, reading in readings.items()}
        for room in rooms:
            if room.id in newest and not self._is_based_on(room, newest[room.id]):
                await self._check(room, newest[room.id])

    def _may_need(self, room: RoomConfig) -> bool:
        if room.properties is None or room.model is not None:
            return False
        if asyncio.get_running_loop().time() < self._retry_at.get(room.id, 0.0):
            return False
        return not self._is_based_on(room, self._pipeline.now())

    def _is_based_on(self, room: RoomConfig, time: dt.datetime) -> bool:
        return self._based_on.get(room.id, "").startswith(night_before(time, room.timezone))

    async def _check(self, room: RoomConfig, newest: dt.datetime) -> None:
        """Calibrate a room unless its active model is up to date, or was not calibrated."""
        self._changed.discard(room.id)
        try:
            models = await asyncio.to_thread(self._pipeline.store.models, room.id)
            labels = await asyncio.to_thread(self._pipeline.store.training_labels, room.id)
            basis = f"{night_before(newest, room.timezone)}, {plural(len(labels), 'head count')}"
            active = next((one for one in models if one.active), None)
            is_due = active is None or (active.origin == CALIBRATED and active.note != basis)
            is_done = not is_due or await self._calibrate(room, basis)
            if is_done and room.id not in self._changed:
                self._based_on[room.id] = basis
        except (InputError, StoreError, BrokenProcessPool) as error:
            log.warning("room %s: calibration failed: %s", room.id, error)
            self._fail(room)
        except Exception:  # other rooms must not suffer
            log.exception("room %s: calibration failed", room.id)
            self._fail(room)

    async def _calibrate(self, room: RoomConfig, basis: str) -> bool:
        """Calibrate a room, use its model and return True, or return False without readings."""
        assert room.properties is not None
        url = self._pipeline.store.url.render_as_string(hide_password=False)
        order = CalibrationOrder(
            url,
            room.id,
            room.timezone,
            room.closed,
            room.properties,
        )
        loop = asyncio.get_running_loop()
        model = await loop.run_in_executor(self._process(url), calibrate_room, order)
        if model is None:
            return False
        await self._pipeline.use_model(room.id, model, origin=CALIBRATED, note=basis)
        await asyncio.to_thread(self._pipeline.store.prune_calibrated, room.id)
        log.info("room %s: calibrated, %s", room.id, basis)
        return True

    def _process(self, url: str) -> ProcessPoolExecutor:
        if self._pool is None:
            config = self._pipeline.config
            self._pool = ProcessPoolExecutor(
                1,
                multiprocessing.get_context("spawn"),
                initializer=prepare_process,
                initargs=(config.log, config.log_level, url),
            )
        return self._pool

    def _fail(self, room: RoomConfig) -> None:
        self._retry_at[room.id] = asyncio.get_running_loop().time() + RETRY_AFTER
        self._end_process()

    def _end_process(self) -> None:
        if self._pool is not None:
            for process in (self._pool._processes or {}).values():
                process.kill()
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None


def night_before(time: dt.datetime, timezone: str) -> str:
    """Return the date of the last night that has passed at a time.

    Examples
    --------
    >>> night_before(dt.datetime(2024, 1, 9, 4, tzinfo=dt.UTC), "Europe/Copenhagen")
    '2024-01-09'
    >>> night_before(dt.datetime(2024, 1, 9, 3, tzinfo=dt.UTC), "Europe/Copenhagen")
    '2024-01-08'
    """
    return (time.astimezone(ZoneInfo(timezone)) - NIGHT_ENDS).date().isoformat()
