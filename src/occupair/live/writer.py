"""The thread that writes results to the store: in order, in batches, and again until it succeeds."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar

from occupair.live.messages import EngineResult
from occupair.live.store import Store, StoreError

log = logging.getLogger("occupair.live")

ROWS_AT_ONCE = 20_000
"""Approximate maximum number of rows in one transaction."""
RETRY_PAUSE = (0.2, 10.0)
"""The first and the longest pause between attempts to write [s]."""
MAX_AGE = 10.0
"""How long the oldest result may be unwritten before the store counts as unavailable [s]."""

T = TypeVar("T")


@dataclass
class _Batch(Generic[T]):
    result: EngineResult
    waiting: list[T]


class Writer(Generic[T]):
    """A thread that writes to the store.

    Parameters
    ----------
    store : Store
        The store.
    on_written : callable
        Called in the writing thread with the ``waiting`` objects of all results that are now in the store.

    Attributes
    ----------
    fault : str
        Why the store cannot be written to; empty if it can.
    """

    def __init__(self, store: Store, on_written: Callable[[list[T]], None]) -> None:
        self.fault = ""
        self._changing_fault = threading.Lock()
        self._writing_since: float | None = None  # when the oldest results came first in the queue [s]
        self._store = store
        self._on_written = on_written
        self._queue: SimpleQueue[_Batch[T] | None] = SimpleQueue()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="writing", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def put(self, result: EngineResult, waiting: list[T]) -> None:
        """Queue a result, to be written after all that were queued before it."""
        copied = EngineResult(
            readings=[*result.readings], cleared={**result.cleared}, activated={**result.activated}
        )
        copied.estimates = {room: {**estimates} for room, estimates in result.estimates.items()}
        self._queue.put(_Batch(copied, waiting))  # a copy, because later results are appended to it

    def stop(self) -> None:
        """Write what is queued, if the store is available, and end the thread."""
        self._stopping.set()
        self._queue.put(None)
        self._thread.join()

    def check_age(self) -> None:
        """Set ``fault`` if the oldest result is too old: a database that hangs raises no error.

        Time in the queue does not count: while results before it are written, the store is busy but works.
        """
        with self._changing_fault:
            since = self._writing_since
            if since is not None and not self.fault and time.monotonic() - since > MAX_AGE:
                self._set_fault(f"store {self._store}: nothing could be written for {MAX_AGE:g} s")

    @property
    def is_alive(self) -> bool:
        """Whether the thread is running."""
        return self._thread.is_alive()

    def _run(self) -> None:
        for batch in self._batches():
            pause = RETRY_PAUSE[0]
            self._writing_since = time.monotonic()
            while not self._write(batch):
                if self._stopping.wait(pause):
                    return
                pause = min(2 * pause, RETRY_PAUSE[1])

    def _batches(self) -> Iterator[_Batch[T]]:
        """Yield queued results, joined into batches."""
        ended = False
        while not ended:
            batch = self._queue.get()
            if batch is None:
                return
            while len(batch.result) < ROWS_AT_ONCE:
                try:
                    more = self._queue.get_nowait()
                except Empty:
                    break
                if more is None:
                    ended = True
                    break
                batch.result.append(more.result)
                batch.waiting += more.waiting
            yield batch

    def _write(self, batch: _Batch[T]) -> bool:
        result = batch.result
        try:
            if len(result):
                self._store.write(
                    result.readings,
                    result.estimate_records,
                    activate=result.activated,
                    cleared=result.cleared,
                )
        except StoreError as error:
            return self._fail(str(error))
        except Exception:
            log.exception("writing to the store failed unexpectedly")
            return self._fail("failed, see the log")
        with self._changing_fault:
            if self.fault:
                log.warning("the store is available again")
            self.fault, self._writing_since = "", None
        self._on_written(batch.waiting)
        return True

    def _fail(self, fault: str) -> bool:
        with self._changing_fault:
            self._set_fault(fault)
        return False

    def _set_fault(self, fault: str) -> None:
        if not self.fault:
            log.error("the store is unavailable: %s", fault)
        self.fault = fault
