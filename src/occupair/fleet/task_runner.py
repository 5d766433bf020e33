"""Tasks on any executor: a few more than there are workers at a time, lost workers replaced by others.

A task whose worker is killed is repeated; a task that loses its worker again and again is divided into single
rooms, so that a room that kills its worker, such as by using up the memory, fails alone. Dask repeats tasks
by itself and raises ``KilledWorker`` after that.
"""

from __future__ import annotations

import os
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from typing import Any, Generic, TypeVar

from occupair.errors import InputError
from occupair.fleet.room_sources import RoomSource
from occupair.fleet.worker_processes import WorkerProcesses

R = TypeVar("R")
Batch = tuple[RoomSource, ...]

FEWEST_ROOMS, MOST_ROOMS, TASKS = 10, 50, 1_000
"""Rooms in a task, as many as keep the tasks of a portfolio below some thousand; fewer if there are not
enough rooms for all workers."""
TASKS_PER_WORKER = 4
"""Tasks of a small portfolio, so that no worker is idle for long."""
IN_FLIGHT_PER_WORKER = 3
"""Tasks that wait at the executor or run, per worker."""
ATTEMPTS = 3
"""How often a task is started whose workers are lost."""
EXECUTOR_LOST = "the workers are gone: the rooms done so far are kept, run the same command again to continue"
LOST = "the worker process was lost {} times, perhaps for lack of memory"


class TaskRunner(Generic[R]):
    """Runs a function on batches of rooms.

    Parameters
    ----------
    executor : Executor
        Where to run it.
    work : callable
        Takes a batch; it must be picklable, as must its result.
    """

    def __init__(self, executor: Executor, work: Callable[[Batch], R]) -> None:
        self.executor = executor
        self.work = work
        self.workers = count_workers(executor)
        self._losses: Counter[tuple[str, ...]] = Counter()

    def run(self, batches: Sequence[Batch]) -> Iterator[tuple[Batch, R | None]]:
        """Yield batches with their results as they are done; None if a room loses every worker it is given.

        Raises
        ------
        InputError
            If the executor is lost as a whole. What is done is done, and the next run continues.
        """
        waiting, running = deque(batches), dict[Future[R], Batch]()
        limit = IN_FLIGHT_PER_WORKER * self.workers
        try:
            while waiting or running:
                while waiting and len(running) < limit:
                    batch = waiting.popleft()
                    running[self._submit(batch)] = batch
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    batch = running.pop(future)
                    try:
                        result = future.result()
                    except CancelledError:
                        raise InputError(EXECUTOR_LOST) from None
                    except Exception as error:
                        if not self._is_loss(error):
                            raise
                        if len(batch) == 1 and self._losses[_names(batch)] + 1 >= ATTEMPTS:
                            yield batch, None
                        else:
                            waiting.extend(self._again(batch))
                    else:
                        yield batch, result
        finally:
            for future in running:
                future.cancel()

    def _submit(self, batch: Batch) -> Future[R]:
        try:
            return self.executor.submit(self.work, batch)
        except (RuntimeError, BrokenExecutor):
            raise InputError(EXECUTOR_LOST) from None

    def _is_loss(self, error: Exception) -> bool:
        """Whether an error means that the worker was lost, and others are there."""
        if type(error).__name__ == "KilledWorker":  # of Dask, which may not be installed
            return True
        if isinstance(error, BrokenExecutor):
            if isinstance(self.executor, WorkerProcesses):
                return True
            raise InputError(EXECUTOR_LOST) from None
        return False

    def _again(self, batch: Batch) -> list[Batch]:
        """Return what to do instead of a batch that lost its worker."""
        self._losses[_names(batch)] += 1
        if len(batch) == 1 or self._losses[_names(batch)] < ATTEMPTS - 1:
            return [batch]
        return [(source,) for source in batch]


def _names(batch: Batch) -> tuple[str, ...]:
    return tuple(source.room for source in batch)


def split_rooms(sources: Sequence[RoomSource], workers: int) -> list[Batch]:
    """Divide rooms into batches of 10 to 50; fewer if there would not be enough batches for the workers.

    Examples
    --------
    >>> rooms = [RoomSource(str(number), ()) for number in range(30)]
    >>> [len(batch) for batch in split_rooms(rooms, workers=2)]
    [4, 4, 4, 4, 4, 4, 4, 2]
    >>> len(split_rooms(rooms * 1000, workers=2)[0])
    30
    """
    share = -(-len(sources) // (TASKS_PER_WORKER * workers))
    size = max(1, min(max(FEWEST_ROOMS, min(MOST_ROOMS, len(sources) // TASKS)), share))
    return [tuple(sources[k : k + size]) for k in range(0, len(sources), size)]


def count_workers(executor: Executor) -> int:
    """Return the number of workers of an executor, as far as it tells.

    Examples
    --------
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> count_workers(ThreadPoolExecutor(3))
    3
    """
    client: Any = getattr(executor, "_client", None)  # of the executor of a Dask client
    if client is not None:
        return max(1, int(sum(client.nthreads().values())))
    for name in ("workers", "_max_workers"):
        if isinstance(found := getattr(executor, name, None), int):
            return max(1, found)
    return os.cpu_count() or 1
