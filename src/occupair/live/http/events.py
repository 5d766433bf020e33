"""Server-sent events: the states of all rooms, then every change."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Depends, Request
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from occupair.live.http.dependencies import get_all_rooms, get_encoder, get_language, get_streams
from occupair.live.http.state_json import StateEncoder
from occupair.live.messages import RoomState
from occupair.web.access import require
from occupair.web.errors import error_response, error_responses

if TYPE_CHECKING:
    from occupair.live.pipeline import Pipeline
    from occupair.live.sharding.exchange import ShardExchange

router = APIRouter(prefix="/api", tags=["events"])
MAX_STREAMS = 200
"""Most open event streams."""
_HEARTBEAT = b": heartbeat\n\n"
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
        "retry": {"type": "integer", "description": "Delay before reconnecting [ms]."},
    },
}


class Streams:
    """Open event streams and their limits.

    Parameters
    ----------
    limit : int
        Maximum number of open streams.
    heartbeat : float
        Time without a change after which a comment is sent, so both ends notice a lost connection [s].
    """

    def __init__(self, *, limit: int = MAX_STREAMS, heartbeat: float = 15.0) -> None:
        self.limit = limit
        self.heartbeat = heartbeat
        self.stopped = False
        self._stops: set[asyncio.Event] = set()

    @property
    def open(self) -> int:
        """Number of open streams."""
        return len(self._stops)

    def stop(self) -> None:
        """Close all streams and reject new ones, so a server that stops does not wait for their clients."""
        self.stopped = True
        for stop in self._stops:
            stop.set()

    @contextlib.contextmanager
    def register(self) -> Iterator[asyncio.Event]:
        """Register a stream while it is open."""
        stop = asyncio.Event()
        self._stops.add(stop)
        try:
            yield stop
        finally:
            self._stops.discard(stop)


class EventStream(StreamingResponse):
    """One stream, open as long as the client is connected and the service runs.

    The server (`occupair.web.server`) closes the connection of a client that does not read.
    """

    media_type = "text/event-stream"

    def __init__(
        self, rooms: Pipeline | ShardExchange, encoder: StateEncoder, streams: Streams, language: str
    ) -> None:
        super().__init__((), headers={"X-Accel-Buffering": "no"})
        self.rooms = rooms
        self.encoder = encoder
        self.streams = streams
        self.language = language

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send events until the stream is closed."""
        if self.streams.stopped or self.streams.open >= self.streams.limit:
            limit = f"the limit of {self.streams.limit} viewers is reached: retry later, or poll /api/rooms"
            detail = "the service is stopping" if self.streams.stopped else limit
            await error_response(503, detail, {"Retry-After": "30"})(scope, receive, send)
            return
        with self.streams.register() as stop:
            pump = asyncio.create_task(self._pump(send))
            ended = asyncio.create_task(stop.wait())
            await _wait_for_first(pump, ended, asyncio.create_task(_wait_for_disconnect(receive)))
        if ended.done() and not ended.cancelled():
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        elif not pump.cancelled():
            pump.result()

    async def _pump(self, send: Send) -> None:
        async with self.rooms.subscribe() as changes:
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            await _send(send, b"retry: 2000\n" + self._event(list(self.rooms.states().values())))
            while (changed := await self._next(changes, send)) is not None:
                if changed:
                    await _send(send, self._event(changed))
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _next(
        self, changes: AsyncIterator[Sequence[RoomState]], send: Send
    ) -> Sequence[RoomState] | None:
        """Wait for changes, sending heartbeats meanwhile; None when the pipeline has ended."""
        coming = asyncio.create_task(_next_or_none(changes))
        try:
            while not (await asyncio.wait({coming}, timeout=self.streams.heartbeat))[0]:
                await _send(send, _HEARTBEAT)
            return coming.result()
        finally:
            coming.cancel()

    def _event(self, states: Sequence[RoomState]) -> bytes:
        return f"event: state\ndata: {self.encoder.encode_list(states, self.language)}\n\n".encode()


@router.get(
    "/events",
    summary="Event stream",
    status_code=200,
    response_class=EventStream,
    dependencies=[Depends(require("read"))],
    responses=error_responses(503)
    | {200: {"content": {"text/event-stream": {"schema": _EVENT}}, "description": "Events `state`."}},
)
async def events(request: Request) -> EventStream:
    """Stream server-sent events ``state`` with lists of states: first all rooms, then those that change.

    A slow client misses intermediate states, but never the newest. A comment is sent after every 15 s without
    a change.
    """
    return EventStream(
        get_all_rooms(request), get_encoder(request), get_streams(request), get_language(request)
    )


async def _send(send: Send, body: bytes) -> None:
    await send({"type": "http.response.body", "body": body, "more_body": True})


async def _next_or_none(changes: AsyncIterator[Sequence[RoomState]]) -> Sequence[RoomState] | None:
    return await anext(changes, None)


async def _wait_for_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _wait_for_first(*tasks: asyncio.Task[Any]) -> None:
    """Wait until one task ends, then cancel the others."""
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
