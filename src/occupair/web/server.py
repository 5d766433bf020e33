"""The HTTP server of all our web applications: uvicorn, with limits on the connections of its clients.

uvicorn waits for ever for a client that sends half a request or does not read its response, and accepts
connections until there are no file descriptors left. Here a client has a time limit for each of these, and
when too many connections are open, a new one replaces the one that waits longest for its client. A flood of
half-open connections therefore delays no other request.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from occupair.web.log_throttle import LogThrottle

log = logging.getLogger(__name__)

RESERVED_FILES = 256
"""File descriptors kept for the database, the broker and files; 64 of them for connections being closed."""
MAX_CONNECTIONS = 2_000
"""Most connections, however many file descriptors there are."""
ACCEPTED_AT_ONCE = 32
"""Connections accepted before others that are to be closed give back their file descriptor."""
QUEUE_LENGTH = 2_048
"""Connections that the operating system queues until they are accepted."""
_TIMEOUT_RESPONSE = b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
_FULL_RESPONSE = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nRetry-After: 10\r\nConnection: close\r\n\r\n"
)


def max_connections(files: int) -> int:
    """Return how many connections to allow with a limit on open files.

    Examples
    --------
    >>> [max_connections(files) for files in (128, 1024, 65536)]
    [32, 768, 2000]
    """
    return min(MAX_CONNECTIONS, max(files - RESERVED_FILES, files // 4))


@dataclass(frozen=True)
class ConnectionLimits:
    """Limits on the connections of a server.

    Parameters
    ----------
    connections : int
        Most open connections.
    header_seconds : float
        Time to send the header of a request, from connecting or from the end of the response before [s].
    body_seconds : float
        Time to send the body of a request [s], and 1 s more for every ``bytes_per_second`` received.
    response_seconds : float
        Time to read a response, or a part of a streamed one [s], and 1 s more for every ``bytes_per_second``
        of it.
    bytes_per_second : float
        Speed of the slowest connection that can transfer any amount of data.
    """

    connections: int = MAX_CONNECTIONS
    header_seconds: float = 10.0
    body_seconds: float = 20.0
    response_seconds: float = 30.0
    bytes_per_second: float = 10_000.0

    @classmethod
    def of_this_process(cls) -> ConnectionLimits:
        """Return the default limits, with as many connections as the limit on open files allows."""
        if sys.platform == "win32":
            return cls()
        import resource

        files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        return cls() if files == resource.RLIM_INFINITY else cls(max_connections(files))


class LimitedServer(uvicorn.Server):
    """An HTTP server with limits on its connections. It logs by ``logging`` and has no WebSockets.

    Parameters
    ----------
    app : ASGI application
    limits : ConnectionLimits
    stop_seconds : int
        How long open requests may take to finish when the server stops [s].
    on_ready : callable, optional
        Called when the server accepts connections.
    proxy_headers : bool
        Whether a proxy on this machine may name the address of its client (``X-Forwarded-For``).
    """

    def __init__(
        self,
        app: ASGIApp,
        limits: ConnectionLimits,
        *,
        stop_seconds: int,
        on_ready: Callable[[], None] = lambda: None,
        proxy_headers: bool = True,
    ) -> None:
        protocol = partial(_LimitedProtocol, limits, _Admission(limits.connections))
        super().__init__(
            uvicorn.Config(
                app,
                http=cast("type[asyncio.Protocol]", protocol),
                ws="none",
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=proxy_headers,
                backlog=ACCEPTED_AT_ONCE,
                timeout_graceful_shutdown=stop_seconds,
            )
        )
        self._on_ready = on_ready
        for name in (__name__, "uvicorn.error", "asyncio"):
            LogThrottle.install(name)  # clients can cause any number of these messages

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to accept connections."""
        await super().startup(sockets)
        for listening in sockets or ():
            listening.listen(QUEUE_LENGTH)  # asyncio has set it to the number accepted at once

    async def main_loop(self) -> None:
        """Serve until a signal stops the server; uvicorn does not shut down properly on one before."""
        self._on_ready()
        await super().main_loop()


class _Admission:
    """Limit on the number of open connections.

    ``waiting`` has the connections that wait for their client, longest first: it has not sent a complete
    request, or not read the response.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.waiting: dict[_LimitedProtocol, None] = {}

    def admit(self, connection: _LimitedProtocol) -> None:
        """Close a connection if there are too many: the one that waits longest, else the new one."""
        if len(connection.connections) <= self.limit:
            return
        oldest = next(iter(self.waiting), None)
        what = "refusing new ones" if oldest is None else "closing those that wait longest for their client"
        log.warning("more than %d open HTTP connections: %s", self.limit, what)
        if oldest is None:
            connection.transport.write(_FULL_RESPONSE)
            connection.transport.close()
        else:
            del self.waiting[oldest]
            oldest.transport.abort()


class _LimitedProtocol(H11Protocol):
    """One connection."""

    def __init__(self, limits: ConnectionLimits, admission: _Admission, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._limits = limits
        self._admission = admission
        self._waits_for: object = None  # h11 state in which the client has to send more, else None
        self._since = 0.0  # time of the last change of that state [s]
        self._received = 0  # bytes since then
        self._request_timer: asyncio.TimerHandle | None = None
        self._response_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        transport.set_write_buffer_limits(0)  # writing pauses as soon as the client does not read
        self._admission.admit(self)
        self._update()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._admission.waiting.pop(self, None)
        for timer in (self._request_timer, self._response_timer):
            if timer is not None:
                timer.cancel()

    def data_received(self, data: bytes) -> None:
        self._received += len(data)
        super().data_received(data)
        self._update()

    def send_400_response(self, msg: str) -> None:
        """Respond to a client that violates HTTP, and end its request as if the client had disconnected."""
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            super().send_400_response(msg)
        else:  # amid a response
            self.transport.close()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._update()

    def pause_writing(self) -> None:
        super().pause_writing()
        size = self.transport.get_write_buffer_size()
        limit = self._limits.response_seconds + size / self._limits.bytes_per_second
        self._response_timer = self.loop.call_later(limit, self.transport.abort)
        self._update_admission()

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._response_timer is not None:
            self._response_timer.cancel()
        self._update_admission()

    def _update(self) -> None:
        """Start the time limit of a header or a body if the client has to send one now."""
        if self.transport.is_closing():
            return
        state = self.conn.their_state
        waits_for = state if state in (h11.IDLE, h11.SEND_BODY) else None
        if waits_for is self._waits_for and self._request_timer is not None:
            return
        self._waits_for, self._since, self._received = waits_for, self.loop.time(), 0
        self._update_admission()
        if self._request_timer is not None:
            self._request_timer.cancel()
            self._request_timer = None
        if waits_for is not None:
            self._check_time()

    def _update_admission(self) -> None:
        if self._waits_for is not None or self.flow.write_paused:
            self._admission.waiting.setdefault(self)
        else:
            self._admission.waiting.pop(self, None)

    def _check_time(self) -> None:
        """Close the connection if its time is over, else check again then."""
        limits = self._limits
        limit = limits.header_seconds
        if self._waits_for is h11.SEND_BODY:
            limit = limits.body_seconds + self._received / limits.bytes_per_second
        left = self._since + limit - self.loop.time()
        if left > 0:
            self._request_timer = self.loop.call_later(left, self._check_time)
            return
        has_begun_to_send = self._received > 0 or self._waits_for is h11.SEND_BODY
        if has_begun_to_send and self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.write(_TIMEOUT_RESPONSE)
        self.transport.close()
