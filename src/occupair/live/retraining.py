"""Training a room again from what people said, in a process of its own, one room at a time.

Some labelled days are kept aside, always the same ones. The new model never sees them; it and the one in use
are scored on them, and a person decides. What is taken is the very model that was scored.
"""

from __future__ import annotations

import asyncio
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
from occupair.metrics import rmse
from occupair.model_file import dump_model, parse_model
from occupair.progress import progress_to

if TYPE_CHECKING:
    from occupair.live.pipeline import Pipeline

LEAST_LABELS, LEAST_DAYS = 20, 4
"""Labels, and days with some, that it takes to train a room and to see whether that helped."""
ASIDE = 4
"""One labelled day of so many is kept aside."""
HOLD = 5.0
"""A label counts for readings so much before and after it [min]."""
NICE = 10
"""How far training stands back behind estimating."""


class Labelled(NamedTuple):
    """A room's readings with what people said."""

    readings: pd.DataFrame  # with occupancy near labels, NaN elsewhere
    labels: pd.Series[float]  # people by local time


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
        """Begin to train a room.

        Raises
        ------
        InputError
            When it is being trained, or has too few labels.
        """
        if room in self._jobs and self._jobs[room].status == "running":
            raise InputError(f"room {room} is being trained already")
        job = self._jobs[room] = _Job()
        try:
            labelled = await asyncio.to_thread(self._labelled, room)
            check_enough(labelled.labels)
        except InputError:
            del self._jobs[room]
            raise
        job.task = asyncio.create_task(self._train(room, job, labelled))

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
        del self._jobs[room]

    async def discard(self, room: str) -> None:
        """Drop the new model, or stop training it."""
        job = self._jobs.pop(room, None)
        if job is None:
            raise InputError(f"room {room} is not being trained and has no new model")
        await _end(job)

    async def stop(self) -> None:
        """Stop all trainings."""
        for job in self._jobs.values():
            await _end(job)
        self._jobs.clear()

    def _labelled(self, room: str) -> Labelled:
        store, zone = self._pipeline.store, self._pipeline.config.rooms[room].timezone
        labels = store.labels(room)
        if not labels:
            raise InputError(too_few(0, 0))
        times = pd.DatetimeIndex([label.time for label in labels]).tz_convert(zone)
        said = pd.Series([float(label.people) for label in labels], index=times).sort_index()
        return Labelled(store.training_readings(room, zone, hold=HOLD), said)

    async def _train(self, room: str, job: _Job, labelled: Labelled) -> None:
        async with self._turn:
            used = await asyncio.to_thread(self._pipeline.store.active_model, room)
            context = multiprocessing.get_context("spawn")
            receiving, sending = context.Pipe(duplex=False)
            given = (sending, labelled, None if used is None else used[1])
            job.process = context.Process(target=train_apart, args=given, daemon=True)
            await asyncio.to_thread(job.process.start)
            sending.close()
            try:
                while job.status == "running":
                    _note(job, await asyncio.to_thread(receiving.recv))
            except EOFError:
                job.status, job.message = "failed", "training ended before it was done"
            finally:
                receiving.close()


def _note(job: _Job, said: float | str | Trained) -> None:
    if isinstance(said, float):
        job.progress = max(job.progress, said)
    elif isinstance(said, Trained):
        job.status, job.progress, job.trained = "done", 1.0, said
    else:
        job.status, job.message = "failed", said


async def _end(job: _Job) -> None:
    if job.process is not None and job.process.is_alive():
        job.process.terminate()
    if job.task is not None:
        await asyncio.gather(job.task, return_exceptions=True)


def check_enough(labels: pd.Series[float]) -> None:
    """Refuse labels that are too few to learn from and to see whether it helped."""
    days = len(set(pd.DatetimeIndex(labels.index).date))
    if len(labels) < LEAST_LABELS or days < LEAST_DAYS:
        raise InputError(too_few(len(labels), days))


def too_few(labels: int, days: int) -> str:
    """Say how many labels are missing."""
    return f"training takes {LEAST_LABELS} head counts on {LEAST_DAYS} days, there are {labels} on {days}"


def kept_aside(dates: Sequence[Any]) -> list[Any]:
    """Choose the labelled days to keep aside: the same whenever asked, at least the newest.

    Examples
    --------
    >>> import datetime as dt
    >>> [date.day for date in kept_aside([dt.date(2024, 1, day) for day in range(8, 18)])]
    [11, 15]
    """
    chosen = [date for date in sorted(dates) if date.toordinal() % ASIDE == 0]
    return chosen or sorted(dates)[-1:]


def train_apart(sending: Connection, labelled: Labelled, used: bytes | None) -> None:
    """Train in a process of its own; tells how far it is [0..1], and in the end what came of it."""
    os.nice(NICE)
    warnings.simplefilter("ignore")  # that CO2 helps little is seen from the score
    try:
        with threadpool_limits(1), progress_to(lambda _, done, total: sending.send(0.9 * done / total)):
            sending.send(train(labelled, used))
    except InputError as error:
        sending.send(str(error))


def train(labelled: Labelled, used: bytes | None) -> Trained:
    """Train a model on all labelled days but those kept aside, and score it and the one in use on these.

    Parameters
    ----------
    labelled : Labelled
        Readings and labels.
    used : bytes, optional
        The model in use; one with the room layer is what training starts from.
    """
    readings, labels = labelled
    dates = pd.DatetimeIndex(labels.index).date
    aside = kept_aside(sorted(set(dates)))
    is_aside = np.isin(pd.DatetimeIndex(readings.index).date, aside)
    kept = readings.assign(occupancy=readings["occupancy"].where(~is_aside))
    old = None if used is None else parse_model(used)
    new = _untrained(old, "ventilation" in readings.columns).fit(kept)
    asked = labels[np.isin(dates, aside)]
    told = readings.drop(columns="occupancy")[is_aside]
    return Trained(dump_model(new), None if old is None else score(old, told, asked), score(new, told, asked))


def _untrained(old: OccupancyEstimator | None, has_ventilation: bool) -> OccupancyEstimator:
    settings: dict[str, Any] = {"random_state": 0, "verbose": False}
    if old is None or not hasattr(old, "room_") or old.uses_ventilation_ != has_ventilation:
        return OccupancyEstimator(**settings)
    return OccupancyEstimator.transfer([old], **settings)


def score(model: OccupancyEstimator, readings: pd.DataFrame, labels: pd.Series[float]) -> Score:
    """Compare what a model says live with labels; those without a reading near do not count."""
    said = model.estimate(readings)
    near = said.reindex(labels.index, method="ffill", tolerance=pd.Timedelta(minutes=HOLD)).dropna()
    if near.empty:
        raise InputError("no head count that was kept aside has a reading near it")
    return Score(rmse(labels[near.index], near), len(near))
