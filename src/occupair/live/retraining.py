"""Training a room again from what people said, in a process of its own, one room at a time.

Some labelled days are kept aside, always the same ones. The new model never sees them; it and the one in use
are scored on them, and a person decides. What is taken is the very model that was scored. The process reads
the store itself and stands back behind estimating, so that the service does no more than wait for it.
"""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import os
import threading
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
from occupair.readings.schema import interval_of

if TYPE_CHECKING:
    from occupair.live.pipeline import Pipeline

log = logging.getLogger("occupair.live")

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
    """One training; ``watch`` runs in a thread, ``stop`` may be called from another."""

    order: Order
    status: Literal["running", "done", "failed"] = "running"
    progress: float = 0.0
    message: str = ""
    trained: Trained | None = None
    process: BaseProcess | None = None
    task: asyncio.Task[None] | None = None
    has_turn: bool = False
    taking: asyncio.Lock = field(default_factory=asyncio.Lock, repr=False)  # held while its model is taken
    _stopped: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def watch(self) -> None:
        """Run the process, and note what it tells until it ends."""
        context = multiprocessing.get_context("spawn")
        receiving, sending = context.Pipe(duplex=False)
        with self._lock, sending:
            if self._stopped:
                return
            self.process = context.Process(target=train_apart, args=(sending, self.order), daemon=True)
            self.process.start()
        with receiving:
            try:
                while self.status == "running":
                    self._note(receiving.recv())
            except (EOFError, OSError):  # it was killed, or is broken
                self.status, self.message = "failed", "training ended before it was done"
        self.process.join()

    def stop(self) -> None:
        """End the process, or see to it that it does not begin."""
        with self._lock:
            self._stopped = True
            if self.process is not None:
                self.process.kill()

    def _note(self, said: float | str | Trained) -> None:
        if isinstance(said, float):
            self.progress = max(self.progress, said)
        elif isinstance(said, Trained):
            self.trained, self.progress, self.status = said, 1.0, "done"
        else:
            self.message, self.status = said, "failed"


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
        self._check_idle(room)
        store, zone = self._pipeline.store, self._pipeline.config.rooms[room].timezone
        check_enough(_people_by_time(await asyncio.to_thread(store.labels, room), zone))
        self._check_idle(room)  # nobody else began meanwhile
        job = self._jobs[room] = _Job(Order(store.url.render_as_string(hide_password=False), room, zone))
        job.task = asyncio.create_task(self._train(job))

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
        job = self._with_new_model(room)
        async with job.taking:
            trained = self._with_new_model(room, job).trained  # nobody else took or dropped it meanwhile
            assert trained is not None
            note = f"{trained.new.rmse:.2f} people off on {trained.new.labels} labels kept aside"
            await self._pipeline.use_model(room, trained.model, origin="trained", note=note)
            if self._jobs.get(room) is job:
                del self._jobs[room]

    async def discard(self, room: str) -> None:
        """Drop the new model, or stop training it."""
        job = self._jobs.pop(room, None)
        if job is None:
            raise InputError(f"room {room} is not being trained and has no new model")
        await _end(job)

    async def forget(self, room: str) -> None:
        """Drop a room's new model, or stop training it, if there is any.

        A model that is being taken is in use when this returns, for whoever forgets the room's models next;
        so hold nothing meanwhile that ``Pipeline.use_model`` waits for.
        """
        job = self._jobs.pop(room, None)
        if job is not None:
            async with job.taking:
                await _end(job)

    async def stop(self) -> None:
        """Stop all trainings."""
        jobs = list(self._jobs.values())
        self._jobs.clear()
        await asyncio.gather(*(_end(job) for job in jobs))

    def _with_new_model(self, room: str, expected: _Job | None = None) -> _Job:
        job = self._jobs.get(room)
        if job is None or job.trained is None or job is not (expected or job):
            raise InputError(f"room {room} has no new model")
        return job

    def _check_idle(self, room: str) -> None:
        if room in self._jobs and self._jobs[room].status == "running":
            raise InputError(f"room {room} is being trained already")

    async def _train(self, job: _Job) -> None:
        if self._turn.locked():
            job.message = "waits until another room is trained"
        async with self._turn:
            job.has_turn, job.message = True, ""
            try:
                await asyncio.to_thread(job.watch)
            except Exception:  # such as no memory for another process
                log.exception("room %s cannot be trained", job.order.room)
                job.status, job.message = "failed", "training could not begin, see the log"


async def _end(job: _Job) -> None:
    await asyncio.to_thread(job.stop)
    assert job.task is not None
    if not job.has_turn:
        job.task.cancel()
    await asyncio.gather(job.task, return_exceptions=True)


def check_enough(labels: pd.Series[float]) -> None:
    """Refuse labels that are too few to learn from and to see whether it helped."""
    days = len(set(pd.DatetimeIndex(labels.index).date))
    if len(labels) < LEAST_LABELS or days < LEAST_DAYS:
        took = f"training takes {LEAST_LABELS} head counts on {LEAST_DAYS} days, with readings"
        raise InputError(f"{took}: there are {len(labels)} on {days}")


def kept_aside(dates: Sequence[Any]) -> list[Any]:
    """Choose the labelled days to keep aside: one of four, whatever others there are; at most half of them.

    Where none of them is one of these, it is the newest.

    Examples
    --------
    >>> import datetime as dt
    >>> [date.day for date in kept_aside([dt.date(2024, 1, day) for day in range(8, 18)])]
    [11, 15]
    """
    chosen = [date for date in sorted(dates) if date.toordinal() % ASIDE == 0]
    return chosen[: len(dates) // 2] or sorted(dates)[-1:]


def train_apart(sending: Connection, order: Order) -> None:
    """Train in a process of its own; tells how far it is [0..1], and in the end what came of it."""
    os.nice(NICE)
    warnings.simplefilter("ignore")  # that CO2 helps little is seen from the score
    sending.send(BEGUN)
    try:
        with threadpool_limits(1), progress_to(lambda _, done, total: sending.send(float(done / total))):
            sending.send(_train_from_store(order))
    except (InputError, StoreError) as error:
        sending.send(str(error))


def _train_from_store(order: Order) -> Trained:
    store = Store(order.store)
    used = store.active_model(order.room)
    old = None if used is None else parse_model(used[1])
    labelled = read_labelled_room(store, order.room, order.timezone, None if old is None else old.interval_)
    store.close()
    check_enough(labelled.labels)
    return train(labelled, old)


def read_labelled_room(store: Store, room: str, timezone: str, interval: float | None = None) -> Labelled:
    """Read what a room is trained on.

    Parameters
    ----------
    store : Store
    room, timezone : str
    interval : float, optional
        Time between readings [min]: that of the model in use, so that both can be compared; None takes the
        usual one of the readings.
    """
    readings = store.training_readings(room, timezone, hold=HOLD, interval=interval)
    step = interval_of(readings)
    if step > HOLD:
        readings = store.training_readings(room, timezone, hold=step, interval=interval)
    labels = _people_by_time(store.labels(room), timezone)
    return Labelled(readings, labels[_last_before(readings["co2"], labels).notna().to_numpy()])


def train(labelled: Labelled, old: OccupancyEstimator | None) -> Trained:
    """Train a model on all labelled days but those kept aside, and score it and the one in use on these.

    Parameters
    ----------
    labelled : Labelled
        Readings and labels.
    old : OccupancyEstimator, optional
        The model in use; one with the room layer is what training starts from.
    """
    readings, labels = labelled
    dates = pd.DatetimeIndex(labels.index).date
    aside = kept_aside(sorted(set(dates)))
    is_aside = np.isin(pd.DatetimeIndex(readings.index).date, aside)
    with stage("training", READ, FITTED):
        new = _untrained(old, "ventilation" in readings.columns).fit(readings[~is_aside])
    asked, told = labels[np.isin(dates, aside)], readings[is_aside].drop(columns="occupancy")
    with stage("scoring", FITTED, 1.0):
        return Trained(dump_model(new), _score_of_old(old, told, asked), score(new, told, asked))


def _untrained(old: OccupancyEstimator | None, has_ventilation: bool) -> OccupancyEstimator:
    settings: dict[str, Any] = {"random_state": 0, "verbose": False}
    if old is None or not hasattr(old, "room_") or old.uses_ventilation_ != has_ventilation:
        return OccupancyEstimator(**settings)
    return OccupancyEstimator.transfer([old], **settings)


def _score_of_old(
    old: OccupancyEstimator | None, readings: pd.DataFrame, labels: pd.Series[float]
) -> Score | None:
    """Score the model in use; None where there is none, or it cannot take these readings."""
    try:
        return None if old is None else score(old, readings, labels)
    except InputError:
        return None


def score(model: OccupancyEstimator, readings: pd.DataFrame, labels: pd.Series[float]) -> Score:
    """Compare what a model says live with labels."""
    said = _last_before(model.estimate(readings), labels)
    return Score(rmse(labels, said), len(labels))


def _last_before(column: pd.Series[float], labels: pd.Series[float]) -> pd.Series[float]:
    """Give the last value before each label, NaN if that is older than a label holds."""
    hold = max(HOLD, interval_of(column.to_frame()))
    return column.reindex(labels.index, method="ffill", tolerance=pd.Timedelta(minutes=hold))


def _people_by_time(labels: Sequence[Label], timezone: str) -> pd.Series[float]:
    """Give how many people said they were, by local time."""
    times = pd.to_datetime([label.time for label in labels], utc=True).tz_convert(timezone)
    people = pd.Series([float(label.people) for label in labels], index=pd.DatetimeIndex(times), dtype=float)
    return people.sort_index()
