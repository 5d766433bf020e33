"""One run over the rooms of a portfolio, on any executor, with progress."""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

import pandas as pd
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from occupair.fleet.executors import local_workers
from occupair.fleet.room_sources import RoomSource
from occupair.fleet.storage import Storage
from occupair.fleet.task_report import TaskReport
from occupair.fleet.task_runner import ATTEMPTS, LOST, Batch, TaskRunner, split_rooms


class Result(Protocol):
    """The result of a room."""

    @property
    def room(self) -> str:
        """Name of the room."""

    @property
    def status(self) -> str:
        """``"failed"``, or another state."""


R = TypeVar("R", bound=Result)
OnProgress = Callable[[str, int, int, int], None]
"""Called with a description of the work, rooms done, rooms failed among them, and all rooms."""


@dataclass(frozen=True)
class FleetRun(Generic[R]):
    """What a run did.

    Parameters
    ----------
    results : list
        One per room, by name.
    n_unchanged : int
        Number of rooms that an earlier run had done.
    seconds : float
        Duration of the run [s].
    megabytes : dict
        By worker, its peak memory [MB].
    """

    results: list[R]
    n_unchanged: int = 0
    seconds: float = 0.0
    megabytes: dict[str, float] = field(default_factory=dict, repr=False)

    @property
    def n_failed(self) -> int:
        """Number of rooms that failed."""
        return sum(result.status == "failed" for result in self.results)


@contextmanager
def open_executor(executor: Executor | None, workers: int | None = None) -> Iterator[Executor]:
    """Yield the executor, or worker processes on this machine, which end with the block.

    Linear algebra has one thread meanwhile, also for executors with threads of this process.
    """
    with threadpool_limits(1):
        if executor is not None:
            yield executor
            return
        with local_workers(workers) as pool:
            yield pool


def run_rooms(
    executor: Executor,
    work: Callable[[Batch], TaskReport[R]],
    sources: Sequence[RoomSource],
    *,
    what: str,
    on_lost: Callable[[str, str], R],
    on_progress: OnProgress | None = None,
) -> FleetRun[R]:
    """Run a function on all rooms.

    Parameters
    ----------
    executor : Executor
        Where to run it.
    work : callable
        Takes a batch of rooms and returns their results.
    sources : sequence of RoomSource
        The rooms.
    what : str
        Description of the work.
    on_lost : callable
        Returns the result of a room, given its name and the reason, if it loses every worker.
    on_progress : callable, optional
        Called at the start and after every task.
    """
    began, results, megabytes, n_failed, n_unchanged = time.monotonic(), list[R](), dict[str, float](), 0, 0
    runner = TaskRunner(executor, work)
    tell = on_progress or _ignore
    tell(what, 0, 0, len(sources))
    for batch, done in runner.run(split_rooms(sources, runner.workers)):
        if done is None:
            found: Sequence[R] = [on_lost(source.room, LOST.format(ATTEMPTS)) for source in batch]
        else:
            found, n_unchanged = done.results, n_unchanged + done.n_unchanged
            megabytes[done.worker] = max(done.megabytes, megabytes.get(done.worker, 0.0))
        results += found
        n_failed += sum(result.status == "failed" for result in found)
        tell(what, len(results), n_failed, len(sources))
    results.sort(key=lambda result: result.room)
    return FleetRun(results, n_unchanged, time.monotonic() - began, megabytes)


def _ignore(what: str, done: int, failed: int, total: int) -> None:
    """Discard progress."""


def write_table(storage: Storage, name: str, table: pd.DataFrame) -> None:
    """Write the Parquet table with one row per room."""
    content = io.BytesIO()
    table.to_parquet(content, index=False)
    storage.write(name, content.getvalue())
