"""What the rooms say and took, to the store: in order, in batches, and again until it is there."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar

from occupair.live.messages import Step
from occupair.live.store import Store, StoreError

log = logging.getLogger("occupair.live")

AT_ONCE = 20_000
"""Rows that are written in one transaction, about."""
PATIENCE = (0.2, 10.0)
"""The first and the longest pause between attempts to write [s]."""

T = TypeVar("T")


@dataclass
class _Batch(Generic[T]):
    step: Step
    waiting: list[T]  # who waits for it


class Writer(Generic[T]):
    """A thread that writes.

    Parameters
    ----------
    store : Store
        Where to.
    written : callable
        Told, in that thread, who waited for what is now in the store.
    """

    def __init__(self, store: Store, written: Callable[[list[T]], None]) -> None:
        self.fault = ""  # why the store takes nothing
        self._store = store
        self._written = written
        self._queue: SimpleQueue[_Batch[T] | None] = SimpleQueue()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._write_all, name="writing", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def put(self, step: Step, who: list[T]) -> None:
        """Have something written, after all that was put before it."""
        copied = Step(kept=[*step.kept], cleared={**step.cleared}, activated={**step.activated})
        copied.estimates = {room: {**said} for room, said in step.estimates.items()}
        self._queue.put(_Batch(copied, who))  # this one grows with what comes next

    def stop(self) -> None:
        """Write what is there, if the store takes it, and end."""
        self._stopping.set()
        self._queue.put(None)
        self._thread.join()

    @property
    def is_alive(self) -> bool:
        """Whether it works."""
        return self._thread.is_alive()

    def _write_all(self) -> None:
        for batch in self._batches():
            pause = PATIENCE[0]
            while not self._write(batch):
                if self._stopping.wait(pause):
                    return
                pause = min(2 * pause, PATIENCE[1])

    def _batches(self) -> Iterator[_Batch[T]]:
        """Join what is there to be written."""
        ended = False
        while not ended:
            batch = self._queue.get()
            if batch is None:
                return
            while len(batch.step) < AT_ONCE:
                try:
                    more = self._queue.get_nowait()
                except Empty:
                    break
                if more is None:
                    ended = True
                    break
                batch.step.follow(more.step)
                batch.waiting += more.waiting
            yield batch

    def _write(self, batch: _Batch[T]) -> bool:
        try:
            if len(step := batch.step):
                self._store.write(step.kept, step.said, activate=step.activated, cleared=step.cleared)
        except StoreError as error:
            return self._note(str(error))
        except Exception:
            log.exception("the store failed in a way it should not")
            return self._note("failed, see the log")
        if self.fault:
            log.warning("the store is back")
        self.fault = ""
        self._written(batch.waiting)
        return True

    def _note(self, fault: str) -> bool:
        if not self.fault:
            log.error("the store takes nothing: %s", fault)
        self.fault = fault
        return False
