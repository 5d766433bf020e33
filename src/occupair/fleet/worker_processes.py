"""A pool of worker processes on this machine in which the loss of one worker concerns its own task only.

``concurrent.futures.ProcessPoolExecutor`` fails all its tasks if one of its processes is killed, and does not
tell which task was to blame. Here every worker is a pool of one process, replaced when it is lost.
"""

from __future__ import annotations

import signal
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from multiprocessing import get_context
from typing import Any, NamedTuple

from occupair.errors import check_integer


class _Call(NamedTuple):
    future: Future[Any]
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    options: dict[str, Any]


class WorkerProcesses(Executor):
    """An executor of worker processes.

    Parameters
    ----------
    workers : int
        Number of processes.

    Examples
    --------
    >>> with WorkerProcesses(2) as pool:
    ...     list(pool.map(abs, [-1, -2, -3]))
    [1, 2, 3]
    """

    def __init__(self, workers: int) -> None:
        check_integer("workers", workers, least=1)
        self.workers = workers
        self._idle = [_new_worker() for _ in range(workers)]
        self._calls: deque[_Call] = deque()
        self._busy: dict[ProcessPoolExecutor, Future[Any]] = {}
        self._broken: list[ProcessPoolExecutor] = []  # lost their process, and are not released yet
        self._lock = threading.RLock()
        self._closed = False
        self._all_done = threading.Condition(self._lock)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Run a function in a worker process.

        The future raises ``BrokenProcessPool`` if the process ends meanwhile; other tasks continue.
        """
        call = _Call(Future(), fn, args, kwargs)
        with self._lock:
            if self._closed:
                raise RuntimeError("cannot submit to a pool that is shut down")
            self._calls.append(call)
            self._assign()
            broken, self._broken = self._broken, []
        for worker in broken:
            worker.shutdown(wait=False)
        return call.future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the workers after their tasks; with ``cancel_futures``, at once."""
        with self._lock:
            self._closed = True
            if cancel_futures:
                while self._calls:
                    self._calls.popleft().future.cancel()
                for worker in list(self._busy):
                    for process in list((worker._processes or {}).values()):
                        process.terminate()
            while wait and (self._busy or self._calls):
                self._all_done.wait()
            ended, self._idle, self._broken = self._idle + self._broken, [], []
        for worker in ended:
            worker.shutdown(wait=wait)

    def _assign(self) -> None:
        """Give calls to idle workers."""
        while self._calls and self._idle:
            call = self._calls.popleft()
            if not call.future.set_running_or_notify_cancel():
                continue
            self._start(self._idle.pop(), call)
        if not self._busy and not self._calls:
            self._all_done.notify_all()

    def _start(self, worker: ProcessPoolExecutor, call: _Call) -> None:
        try:
            inner = worker.submit(call.function, *call.arguments, **call.options)
        except BrokenProcessPool:  # its process ended while it was idle
            self._broken.append(worker)
            worker = _new_worker()
            inner = worker.submit(call.function, *call.arguments, **call.options)
        self._busy[worker] = call.future
        inner.add_done_callback(partial(self._finish, worker, call.future))

    def _finish(self, worker: ProcessPoolExecutor, outer: Future[Any], inner: Future[Any]) -> None:
        """Pass on a result, in the thread of the worker.

        A broken worker is kept: its thread holds its lock, which both its shutdown and its deletion need.
        """
        error = inner.exception()
        if error is None:
            outer.set_result(inner.result())
        else:
            outer.set_exception(error)
        with self._lock:
            del self._busy[worker]
            if isinstance(error, BrokenProcessPool):
                self._broken.append(worker)
                worker = _new_worker()  # starts its process with its first task
            elif self._closed and not self._calls:
                worker.shutdown(wait=False)
                worker = _new_worker()
            self._idle.append(worker)
            self._assign()


def _new_worker() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=_ignore_interrupts)


def _ignore_interrupts() -> None:
    """Leave Ctrl-C, which a terminal sends to all processes, to the main process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
