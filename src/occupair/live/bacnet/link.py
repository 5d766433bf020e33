"""The link to BACnet/IP: reads the points of all rooms, and offers their counts as objects.

bacpypes3 is imported when the link starts: a service without ``[bacnet]`` does not need it.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from occupair.errors import InputError
from occupair.live.bacnet.port_check import need_bacpypes3
from occupair.live.messages import Reading, ReadingOutcome
from occupair.live.room_pipeline import RoomPipeline
from occupair.live.submission import Submitter
from occupair.live.wall_clock import utc_now
from occupair.wording import plural

if TYPE_CHECKING:
    from occupair.live.bacnet.application import BacnetApplication
    from occupair.live.bacnet.device_poller import DevicePoller
    from occupair.live.bacnet.room_objects import RoomNumbers
    from occupair.live.config import BacnetConfig, RoomConfig

log = logging.getLogger(__name__)

OPEN_AGAIN = 10.0
"""Pause before the port is tried again, if it became unavailable while the service runs [s]."""
STATUS_EVERY = 1.0
"""How often the status is updated [s]."""
GOODBYE_TIMEOUT = 2.0
"""Time limit for ending subscriptions at shutdown [s]."""
MAX_PENDING = 100_000
"""Readings that may wait here for the store, besides those in the pipeline; more are dropped."""
_NAMED = 5  # devices or points named in the status


class LinkPipeline(RoomPipeline, Protocol):
    """The part of the pipeline that the link uses."""

    @property
    def store(self) -> RoomNumbers:
        """Keeps the number of each room."""


class BacnetLink:
    """Reads the points of rooms, and offers their counts as objects.

    Parameters
    ----------
    bacnet : BacnetConfig
        Own device.
    rooms : mapping of RoomConfig
        The rooms by id.
    """

    def __init__(self, bacnet: BacnetConfig, rooms: Mapping[str, RoomConfig]) -> None:
        self._bacnet, self._rooms = bacnet, rooms
        self._rooms_changed = asyncio.Event()
        self._pending: set[asyncio.Task[None]] = set()
        self._n_pending = 0  # readings

    def use_rooms(self, rooms: Mapping[str, RoomConfig]) -> None:
        """Read the points of these rooms from now on; others stay subscribed to objects that stay."""
        self._rooms = rooms
        self._rooms_changed.set()

    async def run(self, pipeline: LinkPipeline) -> None:
        """Read the points until cancelled."""
        pipeline.bacnet_status = "connecting"
        while True:
            try:
                await self._run(pipeline)
            except InputError as error:
                log.error("no BACnet link: %s; trying again in %.0f s", error, OPEN_AGAIN)
                pipeline.bacnet_status = f"no link: {error}"
            except Exception as error:
                log.exception("unexpected error of the BACnet link")
                pipeline.bacnet_status = f"no link: {error}"
            await asyncio.sleep(OPEN_AGAIN)

    async def _run(self, pipeline: LinkPipeline) -> None:
        """Run the BACnet device until a part of it fails."""
        need_bacpypes3()
        from occupair.live.bacnet.application import close_application, open_application
        from occupair.live.bacnet.room_objects import RoomObjects

        application = open_application(self._bacnet)
        objects = RoomObjects(application, pipeline.store, self._rooms)
        publishing = asyncio.create_task(objects.run(pipeline))
        try:
            while not publishing.done():
                self._rooms_changed.clear()
                objects.use_rooms(self._rooms)
                await self._read_until_changed(application, pipeline, publishing)
            publishing.result()
        finally:
            await _cancel([publishing, *self._pending])
            await close_application(application)

    async def _read_until_changed(
        self, application: BacnetApplication, pipeline: LinkPipeline, publishing: asyncio.Task[None]
    ) -> None:
        """Read the points of the present rooms until these change."""
        pollers = self._pollers(application, pipeline)
        tasks = [asyncio.create_task(_run_poller(poller)) for poller in pollers]
        tasks.append(asyncio.create_task(self._update_status(pollers, pipeline)))
        changed = asyncio.create_task(self._rooms_changed.wait())
        try:
            done, _ = await asyncio.wait([*tasks, changed, publishing], return_when=asyncio.FIRST_COMPLETED)
            for task in done - {changed, publishing}:
                task.result()
        finally:
            await _cancel([*tasks, changed])
            await self._unsubscribe(pollers)

    def _pollers(self, application: BacnetApplication, pipeline: RoomPipeline) -> list[DevicePoller]:
        from occupair.live.bacnet.device_poller import DevicePoller
        from occupair.live.bacnet.points import points_by_device

        submitter = Submitter(pipeline, log)

        def refuse() -> None:
            pipeline.counters["bacnet", ReadingOutcome.NONSENSE] += 1

        return [
            DevicePoller(
                application,
                address,
                points,
                interval=lambda room: 60.0 * pipeline.interval(room),
                submit=lambda readings: self._submit(submitter, readings),
                refuse=refuse,
                clock=utc_now,
            )
            for address, points in points_by_device(self._rooms).items()
        ]

    def _submit(self, submitter: Submitter, readings: list[Reading]) -> None:
        """Submit readings without waiting until they are stored."""
        if self._n_pending + len(readings) > MAX_PENDING:
            log.error("dropped %s: the store is not available", plural(len(readings), "reading"))
            return
        self._n_pending += len(readings)
        task = asyncio.create_task(submitter.store(readings))
        self._pending.add(task)
        task.add_done_callback(lambda done: self._finish(done, len(readings)))

    def _finish(self, task: asyncio.Task[None], n_readings: int) -> None:
        self._pending.discard(task)
        self._n_pending -= n_readings
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("submitting BACnet readings failed", exc_info=error)

    @staticmethod
    async def _update_status(pollers: list[DevicePoller], pipeline: RoomPipeline) -> None:
        while True:
            pipeline.bacnet_status = describe_status(
                {str(poller.address): poller.problem for poller in pollers},
                [point for poller in pollers for point in poller.points_without_reading()],
                sum(poller.n_points for poller in pollers),
            )
            await asyncio.sleep(STATUS_EVERY)

    @staticmethod
    async def _unsubscribe(pollers: list[DevicePoller]) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(GOODBYE_TIMEOUT):
                await asyncio.gather(*(poller.unsubscribe() for poller in pollers if poller.problem == ""))


async def _run_poller(poller: DevicePoller) -> None:
    """Read the points of one device until cancelled. A bug in one poller must not stop the others."""
    while True:
        try:
            await poller.run()
        except Exception:
            log.exception(
                "reading BACnet device %s failed; trying again in %.0f s", poller.address, OPEN_AGAIN
            )
            poller.problem = "unexpected error"
        await asyncio.sleep(OPEN_AGAIN)


async def _cancel(tasks: Sequence[asyncio.Task[Any]]) -> None:
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks)


def describe_status(problems: Mapping[str, str | None], points: Sequence[str] = (), n_points: int = 0) -> str:
    """Return the status of the link.

    Parameters
    ----------
    problems : mapping
        The problem of each device, empty if it answers, None before the first attempt.
    points : sequence of str
        Points that give no reading.
    n_points : int
        Number of all points.

    Examples
    --------
    >>> describe_status({"10.0.2.7": "", "10.0.2.8": "no answer"})
    'no answer from 1 of 2 devices: 10.0.2.8'
    >>> describe_status({"10.0.2.7": ""}, ["10.0.2.7 analog-input,3"], 5)
    'no reading from 1 of 5 points: 10.0.2.7 analog-input,3'
    >>> describe_status({"10.0.2.7": ""}), describe_status({"10.0.2.7": None})
    ('connected', 'connecting')
    """
    silent = [address for address, problem in problems.items() if problem]
    if silent:
        return f"no answer from {len(silent)} of {plural(len(problems), 'device')}: {_some(silent)}"
    if None in problems.values():
        return "connecting"
    if points:
        return f"no reading from {len(points)} of {plural(n_points, 'point')}: {_some(points)}"
    return "connected"


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{more}"
