"""How far long work has come: told to whoever listens, shown as a bar when asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

T = TypeVar("T")

Listener = Callable[[str, int, int], None]
"""Called with what is being done, how many steps are done, and how many there are."""

_listener: ContextVar[Listener | None] = ContextVar("occupair_progress", default=None)


@contextmanager
def progress_to(listener: Listener) -> Iterator[None]:
    """Tell ``listener`` about every long loop that runs inside this block.

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


def track(items: Sequence[T], what: str, *, show: bool = False) -> Iterator[T]:
    """Yield ``items`` and report progress; ``show`` draws a bar when nobody else listens."""
    listener = _listener.get()
    if listener is not None:
        yield from _tell(items, what, listener)
    elif show:
        yield from _draw(items, what)
    else:
        yield from items


def _tell(items: Sequence[T], what: str, listener: Listener) -> Iterator[T]:
    listener(what, 0, len(items))
    for done, item in enumerate(items, start=1):
        yield item
        listener(what, done, len(items))


def _draw(items: Sequence[T], what: str) -> Iterator[T]:
    from rich.console import Console  # on demand: a silent fit does not pay for it
    from rich.progress import track as rich_track

    yield from rich_track(items, description=what, console=Console(stderr=True))
