"""Retraining of rooms on their labels, one room at a time, in a child process.

A person compares the cross-validated score of the new model with that of the model in use, and accepts or
discards the new one.
"""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import threading
from dataclasses import dataclass, field
from multiprocessing.process import BaseProcess
from typing import TYPE_CHECKING, Any, Literal

from occupair.errors import InputError
from occupair.live.training_process import (
    TrainedModel,
    TrainingOrder,
    check_labels,
    run_training,
    tabulate_labels,
)
from occupair.live.training_scores import Scores
from occupair.wording import plural

if TYPE_CHECKING:
    from occupair.live.pipeline import Pipeline

log = logging.getLogger("occupair.live")


@dataclass
class _Job:
    """One training. ``watch`` blocks a thread; ``stop`` may be called from another."""

    order: TrainingOrder
    status: Literal["running", "done", "failed"] = "running"
    progress: float = 0.0
    message: str = ""
    trained: TrainedModel | None = None
    process: BaseProcess | None = None
    task: asyncio.Task[None] | None = None
    has_turn: bool = False
    accepting: asyncio.Lock = field(default_factory=asyncio.Lock, repr=False)  # held while it is accepted
    _stopped: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def watch(self) -> None:
        """Run the process and follow its messages until it ends."""
        context = multiprocessing.get_context("spawn")
        receiving, sending = context.Pipe(duplex=False)
        with self._lock, sending:
            if self._stopped:
                return
            self.process = context.Process(target=run_training, args=(sending, self.order), daemon=True)
            self.process.start()
        with receiving:
            try:
                while self.status == "running":
                    self._update(receiving.recv())
            except (EOFError, OSError):  # the process was killed or crashed
                self.status, self.message = "failed", "the training process ended unexpectedly"
        self.process.join()

    def stop(self) -> None:
        """Kill the process, or keep it from starting."""
        with self._lock:
            self._stopped = True
            if self.process is not None:
                self.process.kill()

    def _update(self, message: float | str | TrainedModel) -> None:
        if isinstance(message, float):
            self.progress = max(self.progress, message)
        elif isinstance(message, TrainedModel):
            self.trained, self.progress, self.status = message, 1.0, "done"
            self.message = str(message.scores)
        else:
            self.message, self.status = message, "failed"


class Trainer:
    """The trainings of all rooms.

    Parameters
    ----------
    pipeline : Pipeline
        The pipeline of the service.
    """

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline
        self._jobs: dict[str, _Job] = {}
        self._turn = asyncio.Lock()

    async def start(self, room: str) -> None:
        """Start the training of a room, after those started before it.

        Raises
        ------
        InputError
            If it is already being trained, or has too few labels. An earlier result then remains available.
        """
        self._check_not_running(room)
        store, zone = self._pipeline.store, self._pipeline.config.rooms[room].timezone
        labels = await asyncio.to_thread(store.training_labels, room)
        valid = tabulate_labels(labels, zone)
        if len(valid) < len(labels):
            n_ignored = plural(len(labels) - len(valid), "head count")
            log.warning("room %s: %s with an impossible time ignored in training", room, n_ignored)
        check_labels(valid["people"])
        self._check_not_running(room)  # another caller may have started it meanwhile
        url = store.url.render_as_string(hide_password=False)
        config = self._pipeline.config
        known = config.rooms[room]
        order = TrainingOrder(url, room, zone, config.log, config.log_level, known.closed, known.properties)
        job = self._jobs[room] = _Job(order)
        job.task = asyncio.create_task(self._train(job))

    async def status(self, room: str) -> dict[str, Any]:
        """Return the status of a room's training."""
        job = self._jobs.get(room)
        trained = None if job is None else job.trained
        scores = dict.fromkeys(Scores._fields) if trained is None else trained.scores.to_dict()
        return {
            "status": "idle" if job is None else job.status,
            "progress": 0.0 if job is None else job.progress,
            "message": "" if job is None else job.message,
            **scores,
        }

    async def accept(self, room: str) -> None:
        """Use the new model from now on."""
        job = self._job_with_model(room)
        async with job.accepting:
            trained = self._job_with_model(room, job).trained  # unless accepted or discarded meanwhile
            assert trained is not None
            note = str(trained.scores)
            await self._pipeline.use_model(room, trained.model, origin="trained", note=note)
            if self._jobs.get(room) is job:
                del self._jobs[room]

    async def discard(self, room: str) -> None:
        """Discard the new model, or stop its training."""
        job = self._jobs.pop(room, None)
        if job is None:
            raise InputError(f"room {room} is not being trained and has no new model")
        await _end(job)

    async def forget(self, room: str) -> None:
        """Discard a room's new model, or stop its training, if there is any.

        A model that is being accepted is in use when this returns, so that the caller can remove it. The
        caller must not hold any lock that ``Pipeline.use_model`` needs.
        """
        job = self._jobs.pop(room, None)
        if job is not None:
            async with job.accepting:
                await _end(job)

    async def stop(self) -> None:
        """Stop all trainings."""
        jobs = list(self._jobs.values())
        self._jobs.clear()
        await asyncio.gather(*(_end(job) for job in jobs))

    def _job_with_model(self, room: str, expected: _Job | None = None) -> _Job:
        job = self._jobs.get(room)
        if job is None or job.trained is None or job is not (expected or job):
            raise InputError(f"room {room} has no new model")
        return job

    def _check_not_running(self, room: str) -> None:
        if room in self._jobs and self._jobs[room].status == "running":
            raise InputError(f"room {room} is already being trained")

    async def _train(self, job: _Job) -> None:
        if self._turn.locked():
            job.message = "waiting for the training of another room"
        async with self._turn:
            job.has_turn, job.message = True, ""
            try:
                await asyncio.to_thread(job.watch)
                log.info("room %s: training %s: %s", job.order.room, job.status, job.message)
            except Exception:  # such as no memory for another process
                log.exception("room %s: training could not be started", job.order.room)
                job.status, job.message = "failed", "training could not be started, see the log"


async def _end(job: _Job) -> None:
    await asyncio.to_thread(job.stop)
    assert job.task is not None
    if not job.has_turn:
        job.task.cancel()
    await asyncio.gather(job.task, return_exceptions=True)
