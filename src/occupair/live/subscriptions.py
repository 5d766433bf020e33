"""Subscriptions to states of rooms as they change."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager

from occupair.live.messages import RoomState


class Subscriber:
    """Holds the newest state of every room that changed since the subscriber last looked."""

    def __init__(self) -> None:
        self._changed: dict[str, RoomState] = {}
        self._has_changes = asyncio.Event()

    def put(self, states: Mapping[str, RoomState]) -> None:
        """Add changed states."""
        self._changed |= states
        self._has_changes.set()

    async def changes(self) -> AsyncIterator[list[RoomState]]:
        """Yield the changed states; intermediate states of a slow subscriber are skipped."""
        while True:
            await self._has_changes.wait()
            self._has_changes.clear()
            changed, self._changed = self._changed, {}
            yield list(changed.values())


class Subscribers:
    """The subscribers of one source of states."""

    def __init__(self) -> None:
        self._members: set[Subscriber] = set()

    def __bool__(self) -> bool:
        return bool(self._members)

    def put(self, states: Mapping[str, RoomState]) -> None:
        """Publish changed states to all subscribers."""
        for member in self._members:
            member.put(states)

    @contextmanager
    def including(self, subscriber: Subscriber) -> Iterator[None]:
        """Publish to a subscriber as well, for as long as the context is open."""
        self._members.add(subscriber)
        try:
            yield
        finally:
            self._members.discard(subscriber)
