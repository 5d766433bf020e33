"""Requests about a room of another shard that only that shard can handle, such as posted readings.

The caller has been authenticated and has the role that the route requires; the other shard checks both again,
with the caller's own token. A request is forwarded once: a shard never forwards what was forwarded to it.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import h11
from fastapi import Request
from fastapi.responses import Response

from occupair.web.access import COOKIE
from occupair.web.errors import error_response

if TYPE_CHECKING:
    from occupair.live.sharding.exchange import ShardExchange

log = logging.getLogger(__name__)

FORWARDED_BY = "x-occupair-forwarded-by"
"""Header with the shard that has forwarded a request."""
CONNECT_TIMEOUT, RESPONSE_TIMEOUT = 3.0, 30.0
"""How long connecting to another shard, and its response, may take [s]."""
RETRY_AFTER = "5"
"""When a client may try again [s]."""
_REQUEST_HEADERS = ("content-type", "accept-language")
_RESPONSE_HEADERS = (b"content-type", b"retry-after", b"allow", b"www-authenticate")


async def forward(request: Request, room: str, exchange: ShardExchange) -> Response:
    """Forward a request to the shard of a room and return its response, or 503 if it is not running."""
    owner, address = exchange.owner_of(room), exchange.address_of(room)
    if FORWARDED_BY in request.headers:
        sender = request.headers[FORWARDED_BY][:20]
        log.warning(
            "shard %s has forwarded a request about room %s, which belongs to %s", sender, room, owner
        )
        return _unavailable(f"the shards do not agree on the shard of room {room}")
    if address is None:
        return _unavailable(f"room {room} is not served right now: shard {owner} is not running")
    body, target = await request.body(), urlsplit(f"//{address}")
    try:
        async with asyncio.timeout(CONNECT_TIMEOUT):
            reader, writer = await asyncio.open_connection(target.hostname, target.port)
    except (OSError, TimeoutError) as error:
        log.warning("shard %s at %s cannot be reached: %s", owner, address, _describe(error))
        return _unavailable(f"room {room} is not served right now: shard {owner} cannot be reached")
    try:
        async with asyncio.timeout(RESPONSE_TIMEOUT), contextlib.AsyncExitStack() as opened:
            opened.push_async_callback(_close, writer)
            headers = _headers(request, address, body, str(exchange.shard))
            start = h11.Request(method=request.method, target=_target(request), headers=headers)
            return await _send(reader, writer, start, body)
    except (OSError, TimeoutError, h11.RemoteProtocolError) as error:
        log.warning("shard %s at %s did not respond: %s", owner, address, _describe(error))
        return _unavailable(f"shard {owner} did not respond: the request may or may not have taken effect")


def _describe(error: Exception) -> str:
    return str(error) or type(error).__name__


def _unavailable(detail: str) -> Response:
    return error_response(503, detail, {"Retry-After": RETRY_AFTER})


async def _send(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, start: h11.Request, body: bytes
) -> Response:
    """Send a request and return the response."""
    connection = h11.Connection(h11.CLIENT)
    for event in (start, h11.Data(data=body), h11.EndOfMessage()):
        writer.write(connection.send(event) or b"")
    await writer.drain()
    return await _read_response(connection, reader)


async def _close(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()


def _target(request: Request) -> str:
    """Return path and query as the client has sent them."""
    query = request.scope["query_string"].decode("ascii")
    path = request.scope["raw_path"].decode("ascii")
    return f"{path}?{query}" if query else str(path)


def _headers(request: Request, address: str, body: bytes, sender: str) -> list[tuple[str, str]]:
    """Return the headers to send. A token in the page's cookie, whose origin was checked, is sent as such."""
    given = [(name, request.headers[name]) for name in _REQUEST_HEADERS if name in request.headers]
    authorization = request.headers.get("authorization")
    if authorization is None and COOKIE in request.cookies:
        authorization = f"Bearer {request.cookies[COOKIE]}"
    if authorization is not None:
        given.append(("authorization", authorization))
    if request.client is not None:
        given.append(("x-forwarded-for", request.client.host))  # for the rate limit on the same machine
    ours = [("host", address), ("content-length", str(len(body))), ("connection", "close")]
    return [*ours, (FORWARDED_BY, sender), *given]


async def _read_response(connection: h11.Connection, reader: asyncio.StreamReader) -> Response:
    status, headers, parts = 502, {}, list[bytes]()
    while True:
        event = connection.next_event()
        if event is h11.NEED_DATA:
            connection.receive_data(await reader.read(65_536))
        elif isinstance(event, h11.Response):
            status = event.status_code
            headers = {
                name.decode("latin-1"): value.decode("latin-1")
                for name, value in event.headers
                if name in _RESPONSE_HEADERS
            }
        elif isinstance(event, h11.Data):
            parts.append(bytes(event.data))
        elif isinstance(event, h11.EndOfMessage):
            return Response(b"".join(parts), status, headers=headers)
        elif isinstance(event, h11.ConnectionClosed):
            raise h11.RemoteProtocolError("the connection was closed")
