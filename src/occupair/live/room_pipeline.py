"""The interface of the pipeline to links, which submit readings and publish states."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from occupair.live.messages import Reading, ReadingOutcome, RoomState


class BacklogFull(Exception):
    """Too many readings are waiting for the store; no more are accepted."""


class RoomPipeline(Protocol):
    """The part of the pipeline that links use."""

    counters: Counter[tuple[str, ReadingOutcome]]
    mqtt_status: str
    bacnet_status: str

    async def submit(self, readings: Sequence[Reading]) -> list[ReadingOutcome]:
        """Submit readings, and return once those accepted are stored."""

    def interval(self, room: str) -> float:
        """Return the time between two readings that a room needs [min]."""

    def now(self) -> dt.datetime:
        """Return the current time."""

    def states(self) -> dict[str, RoomState]:
        """Return the states of all rooms."""

    def subscribe(self) -> AbstractAsyncContextManager[AsyncIterator[list[RoomState]]]:
        """Return an iterator over changed states."""

    @property
    def part_status(self) -> dict[str, str]:
        """Status of each part of the service, ``"ok"`` or the problem."""
