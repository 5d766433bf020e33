"""Training a room again from what people said, in a process of its own, one room at a time.

Some labelled days are kept aside, always the same ones. The new model never sees them; it and the one in use
are scored on them, and a person decides. What is taken is the very model that was scored. The process reads
the store itself and stands back behind estimating, so that the service does no more than wait for it.
"""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from occupair.errors import InputError
from occupair.estimator import OccupancyEstimator
from occupair.live.messages import Label
from occupair.live.store import Store, StoreError
from occupair.metrics import rmse
from occupair.model_file import dump_model, parse_model
from occupair.progress import progress_to, stage

if TYPE_CHECKING:
    from occupair.live.pipeline import Pipeline

LEAST_LABELS, LEAST_DAYS = 20, 4
"""Labels, and days with some, that it takes to train a room and to see whether that helped."""
ASIDE = 4
"""One labelled day of so many is kept aside."""
HOLD = 5.0
"""A label counts for readings so much before and after it, or one interval if that is longer [min]."""
NICE = 10
"""How far training stands back behind estimating."""
BEGUN, READ, FITTED = 0.1, 0.2, 0.9
"""How far a training is when its process runs, when it has read the store, and when the model is fitted."""


class Order(NamedTuple):
    """What to train."""

    store: str  # its URL
    room: str
    timezone: str


class Labelled(NamedTuple):
    """A room's readings with what people said."""

    readings: pd.DataFrame  # with occupancy near labels, NaN elsewhere
    labels: pd.Series[float]  # people by local time; those that have a reading near


class Score(NamedTuple):
    """How well a model does on labels kept aside."""

    rmse: float  # [people]
    labels: int


class Trained(NamedTuple):
    """What came of a training."""

    model: bytes
    old: Score | None
    new: Score


@dataclass
class _Job:
    """One training."""

    status: Literal["running", "done", "failed"] = "running"
    progress: float = 0.0
    message: str = ""
    trained: Trained | None = None
    process: BaseProcess | None = None
    task: asyncio.Task[None] | None = field(default=None, repr=False)


class Trainer:
    """The trainings of all rooms.

    Parameters
    ----------
    pipeline : Pipeline
        Whose rooms they are.
    """

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline
        self._jobs: dict[str, _Job] = {}
        self._turn = asyncio.Lock()

    async def start(self, room: str) -> None:
        """Begin to train a room; it waits until those before it are done.

        Raises
        ------
        InputError
            When it is being trained, or has too few labels. What was trained before then stays.
        """
        if self._is_running(room):
            raise InputError(_ALREADY.format(room=room))
        store, zone = self._pipeline.store, self._pipeline.config.rooms[room].timezone
        check_enough(_people_by_time(await asyncio.to_thread(store.labels, room), zone))
        if self._is_running(room):  # begun by somebody else meanwhile
            raise InputError(_ALREADY.format(room=room))
        order = Order(store.url.render_as_string(hide_password=False), room, zone)
        job = self._jobs[room] = _Job()
        job.task = asyncio.create_task(self._train(job, order))

    async def status(self, room: str) -> dict[str, Any]:
        """Tell how far a room's training is."""
        job = self._jobs.get(room)
        if job is None:
            return {"status": "idle", "progress": 0.0, "old": None, "new": None, "message": ""}
        old, new = (None, None) if job.trained is None else (job.trained.old, job.trained.new)
        return {
            "status": job.status,
            "progress": job.progress,
            "old": None if old is None else old._asdict(),
            "new": None if new is None else new._asdict(),
            "message": job.message,
        }

    async def accept(self, room: str) -> None:
        """Estimate the room with the new model from now on."""
        job = self._jobs.get(room)
        if job is None or job.trained is None:
            raise InputError(f"room {room} has no new model")
        score = job.trained.new
        note = f"{score.rmse:.2f} people off on {score.labels} labels kept aside"
        await self._pipeline.use_model(room, job.trained.model, origin="trained", note=note)
        if self._jobs.get(room) is job:
            del self._jobs[room]

    async def discard(self, room: str) -> None:
        """Drop the new model, or stop training it."""
        job = self._jobs.pop(room, None)
        if job is None:
            raise InputError(f"room {room} is not being trained and has no new model")
        await _end(job)

    async def stop(self) -> None:
        """Stop all trainings."""
        jobs = list(self._jobs.values())
        self._jobs.clear()
        await asyncio.gather(*(_end(job) for job in jobs))

    def _is_running(self, room: str) -> bool:
        return room in self._jobs and self._jobs[room].status == "running"

    async def _train(self, job: _Job, order: Order) -> None:
        job.message = "waiting for another room to be trained" if self._turn.locked() else ""
        async with self._turn:
            job.message = ""
            context = multiprocessing.get_context("spawn")
            receiving, sending = context.Pipe(duplex=False)
            job.process = context.Process(target=train_apart, args=(sending, order), daemon=True)
            try:
                await _in_thread(job.process.start)
                sending.close()
                while job.status == "running":
                    _note(job, await _in_thread(receiving.recv))
            except EOFError:
                job.status, job.message = "failed", "training ended before it was done"
            except OSError as error:
                job.status, job.message = "failed", f"training could not begin: {error.strerror}"
            finally:
                sending.close()
                if job.process.pid is not None:
                    job.process.kill()  # it has nothing left to do, or is to stop
                    await _in_thread(job.process.join)
                receiving.close()


_ALREADY = "room {room} is being trained already"


async def _in_thread(work: Any) -> Any:
    """Wait for what blocks, to its end even when this is cancelled: nothing is begun that nobody ends."""
    running = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        if getattr(work, "__name__", "") != "recv":
            with contextlib.suppress(Exception):
                await running
        raise


def _note(job: _Job, said: float | str | Trained) -> None:
    if isinstance(said, float):
        job.progress = max(job.progress, said)
    elif isinstance(said, Trained):
        job.status, job.progress, job.trained = "done", 1.0, said
    else:
        job.status, job.message = "failed", said


async def _end(job: _Job) -> None:
    if job.task is not None:
        job.task.cancel()
        await asyncio.gather(job.task, return_exceptions=True)
