"""Progress of long loops: reported to a listener, or shown as a bar on the terminal."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from typing import TypeVar

T = TypeVar("T")

Listener = Callable[[str, float, float], None]
"""Called with a description of the work, the amount done and the total."""

BAR_DELAY = 2.0
"""Time after which a loop shows a bar on a terminal [s]."""

_listener: ContextVar[Listener | None] = ContextVar("occupair_progress", default=None)


@contextmanager
def progress_to(listener: Listener) -> Iterator[None]:
    """Report the progress of all loops in this block to ``listener``.

    Examples
    --------
    >>> with progress_to(lambda what, done, total: print(what, done, "of", total)):
    ...     letters = list(track("ab", "spelling"))
    spelling 0 of 2
    spelling 1 of 2
    spelling 2 of 2
    """
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def quietly() -> Iterator[None]:
    """Suppress progress and the warning that CO2 adds little in a room, for studies of many trainings.

    A study shows its own progress and measures how much CO2 adds. Other warnings still appear.

    Examples
    --------
    >>> with quietly():
    ...     warnings.warn("CO2 adds nothing in this room", UserWarning)
    """
    with progress_to(_ignore_progress), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "CO2 adds ", UserWarning)
        yield


def _ignore_progress(what: str, done: float, total: float) -> None:
    """Discard a progress report."""


@contextmanager
def stage(what: str, begin: float, end: float) -> Iterator[None]:
    """Report loops in this block as the fraction from ``begin`` to ``end`` [0..1] of a larger task.

    Examples
    --------
    >>> with progress_to(lambda what, done, total: print(what, done, "of", total)):
    ...     with stage("second half", 0.5, 1.0):
    ...         letters = list(track("ab", "spelling"))
    second half 0.5 of 1.0
    second half 0.75 of 1.0
    second half 1.0 of 1.0
    """
    outer = _listener.get()
    if outer is None:
        yield
        return
    with progress_to(lambda _, done, total: outer(what, begin + (end - begin) * done / total, 1.0)):
        yield


def track(items: Sequence[T], what: str, *, show: bool | None = False) -> Iterator[T]:
    """Yield ``items`` and report progress.

    Without a listener, ``show=True`` draws a bar. With ``show=None``, a bar appears only on a terminal and
    after ``BAR_DELAY``.
    """
    listener = _listener.get()
    if listener is not None:
        yield from _report(items, what, listener)
    elif show or (show is None and sys.stderr.isatty()):
        yield from _draw(items, what, after=0.0 if show else BAR_DELAY)
    else:
        yield from items


def _report(items: Sequence[T], what: str, listener: Listener) -> Iterator[T]:
    listener(what, 0, len(items))
    for done, item in enumerate(items, start=1):
        yield item
        listener(what, done, len(items))


def _draw(items: Sequence[T], what: str, *, after: float) -> Iterator[T]:
    """Show a bar on standard error after ``after`` seconds."""
    from rich.console import Console  # imported on demand, as most loops show no bar
    from rich.progress import Progress

    began = time.monotonic()
    with ExitStack() as stack:
        progress, task = Progress(console=Console(stderr=True)), None
        for done, item in enumerate(items, start=1):
            yield item
            if task is None and time.monotonic() - began >= after:
                stack.enter_context(progress)
                task = progress.add_task(what, total=len(items))
            if task is not None:
                progress.update(task, completed=done)
