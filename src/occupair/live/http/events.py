"""Server-sent events: all states first, then those that change."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Depends, Request
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from occupair.live.http.dependencies import pipeline_of, streams_of, texts_of
from occupair.live.http.room_states import StateTexts
from occupair.live.messages import RoomState
from occupair.web.access import require
from occupair.web.errors import error_response, error_responses

if TYPE_CHECKING:
    from occupair.live.pipeline import Pipeline

log = logging.getLogger(__name__)
router = APIRouter(prefix="/api", tags=["events"])
_HEARTBEAT = b": still here\n\n"
_EVENT = {
    "type": "object",
    "description": "One event.",
    "required": ["event", "data"],
    "properties": {
        "event": {"const": "state"},
        "data": {
            "type": "string",
            "contentMediaType": "application/json",
            "contentSchema": {"type": "array", "items": {"$ref": "#/components/schemas/State"}},
        },
        "retry": {"type": "integer", "description": "When to come back after a loss [ms]."},
    },
}


class Streams:
    """The event streams that are open.

    Parameters
    ----------
    most : int
        How many there may be at a time.
    heartbeat : float
        After how long without a change a comment is sent, so that both ends see that the other is there [s].
    patience : float
        How long a client may take to read what it was sent before it is dropped [s].
    """

    def __init__(self, *, most: int = 200, heartbeat: float = 15.0, patience: float = 60.0) -> None:
        self.most = most
        self.heartbeat = heartbeat
        self.patience = patience
        self.stopped = False
        self._stops: set[asyncio.Event] = set()

    @property
    def open(self) -> int:
        """How many are open."""
        return len(self._stops)

    def stop(self) -> None:
        """End all streams and begin no more, so that a server that stops need not wait for their clients."""
        self.stopped = True
        for stop in self._stops:
            stop.set()

    @contextlib.contextmanager
    def one_more(self) -> Iterator[asyncio.Event]:
        """Count a stream while it is open."""
        stop = asyncio.Event()
        self._stops.add(stop)
        try:
            yield stop
        finally:
            self._stops.discard(stop)


class EventStream(StreamingResponse):
    """One stream: as long as the client is there, it reads, and the service runs."""

    media_type = "text/event-stream"

    def __init__(self, pipeline: Pipeline, texts: StateTexts, streams: Streams) -> None:
        super().__init__((), headers={"X-Accel-Buffering": "no"})
        self.pipeline = pipeline
        self.texts = texts
        self.streams = streams

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send until somebody ends it."""
        if self.streams.stopped or self.streams.open >= self.streams.most:
            most = f"at most {self.streams.most} event streams at a time"
            line = "the service stops" if self.streams.stopped else most
            await error_response(503, line, {"Retry-After": "30"})(scope, receive, send)
            return
        with self.streams.one_more() as stop:
            pump = asyncio.create_task(self._pump(send))
            ended = asyncio.create_task(stop.wait())
            await _first_of(pump, ended, asyncio.create_task(_gone(receive)))
        if ended.done() and not ended.cancelled():
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        elif not pump.cancelled() and isinstance(pump.exception(), TimeoutError):
            log.info("event stream dropped: its client does not read")
        elif not pump.cancelled():
            pump.result()

    async def _pump(self, send: Send) -> None:
        async with self.pipeline.subscribe() as changes:
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            await self._say(send, b"retry: 2000\n" + self._event(list(self.pipeline.states().values())))
            while (changed := await self._next(changes, send)) is not None:
                if changed:
                    await self._say(send, self._event(changed))
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _next(
        self, changes: AsyncIterator[Sequence[RoomState]], send: Send
    ) -> Sequence[RoomState] | None:
        """Wait for changes, and let the client know meanwhile; None: there will be no more."""
        coming = asyncio.create_task(_next_or_none(changes))
        try:
            while not (await asyncio.wait({coming}, timeout=self.streams.heartbeat))[0]:
                await self._say(send, _HEARTBEAT)
            return coming.result()
        finally:
            coming.cancel()

    def _event(self, states: Sequence[RoomState]) -> bytes:
        return f"event: state\ndata: {self.texts.all_of(states)}\n\n".encode()

    async def _say(self, send: Send, body: bytes) -> None:
        async with asyncio.timeout(self.streams.patience):
            await send({"type": "http.response.body", "body": body, "more_body": True})


@router.get(
    "/events",
    summary="Changes as they come",
    status_code=200,
    response_class=EventStream,
    dependencies=[Depends(require("read"))],
    responses=error_responses(503)
    | {200: {"content": {"text/event-stream": {"schema": _EVENT}}, "description": "Events `state`."}},
)
async def events(request: Request) -> EventStream:
    """Send server-sent events ``state``, whose data are lists of states: at first of all rooms, then changes.

    A client that reads slowly misses states in between, never the newest. Every 15 s without a change there
    is a comment.
    """
    return EventStream(pipeline_of(request), texts_of(request), streams_of(request))


async def _next_or_none(changes: AsyncIterator[Sequence[RoomState]]) -> Sequence[RoomState] | None:
    return await anext(changes, None)


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _first_of(*tasks: asyncio.Task[Any]) -> None:
    """Wait for one task to end, then end the others."""
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
