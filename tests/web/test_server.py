"""Limits on HTTP connections, over real sockets."""

import asyncio
import contextlib
import logging
import socket
import threading
import time

import pytest
from live.waiting import HANG_GUARD, wait_for
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from occupair.web.errors import ignore_disconnects
from occupair.web.log_throttle import LogThrottle
from occupair.web.server import ConnectionLimits, LimitedServer

PATIENT = {"header_seconds": 600.0, "body_seconds": 600.0, "response_seconds": 600.0}
HEADER = b"POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 8\r\nConnection: close\r\n\r\n"
LARGE = 20_000_000  # more than any buffer on the way


async def echo(request):
    return Response(await request.body())


async def early(request):
    """Respond while the body is still being received."""

    async def parts():
        yield b"first"
        with contextlib.suppress(ClientDisconnect):
            async for _ in request.stream():
                pass

    return StreamingResponse(parts())


async def large(request):
    return Response(b"x" * LARGE)


@pytest.fixture(autouse=True)
def new_log_throttle():
    """Let no message be dropped because of earlier tests."""
    logger = logging.getLogger("uvicorn.error")
    for one in [one for one in logger.filters if isinstance(one, LogThrottle)]:
        logger.removeFilter(one)


class Running:
    """A server in a thread."""

    def __init__(self, **limits):
        posts = [Route(f"/{one.__name__}", one, methods=["POST"]) for one in (echo, early)]
        app = Starlette(routes=[*posts, Route("/large", large)])
        ignore_disconnects(app)
        self.server = LimitedServer(app, ConnectionLimits(**PATIENT | limits), stop_seconds=1)
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.thread = threading.Thread(target=asyncio.run, args=[self.server.serve([self.socket])])

    @property
    def open(self):
        return len(self.server.server_state.connections)

    def connect(self, sent=b"", **options):
        client = socket.socket()
        for name, value in options.items():
            client.setsockopt(socket.SOL_SOCKET, getattr(socket, name), value)
        client.settimeout(HANG_GUARD)
        client.connect(self.socket.getsockname())
        client.sendall(sent)
        return client


@contextlib.contextmanager
def running(*sent, **limits):
    """Run a server; clients that have sent something before it accepts connections are in ``early``."""
    server = Running(**limits)
    server.early = [server.connect(data) for data in sent]
    server.thread.start()
    try:
        wait_for(lambda: server.server.started)
        yield server
    finally:
        server.server.should_exit = True
        server.thread.join(HANG_GUARD)
        server.socket.close()


def receive_all(client):
    """Receive until the server closes the connection."""
    with client:
        received = b""
        with contextlib.suppress(ConnectionResetError):
            while piece := client.recv(65_536):
                received += piece
        return received


def send_slowly(client):
    """Send single bytes until the server closes the connection."""
    with client, contextlib.suppress(OSError):
        while True:
            client.sendall(b"x")
            time.sleep(0.02)


@pytest.mark.parametrize(
    ("sent", "response"),
    [
        (b"", b""),
        (b"POST /echo HTTP/1.1\r\nHost: local", b"HTTP/1.1 408 Request Timeout"),
    ],
    ids=["nothing sent", "half a header"],
)
def test_header_time_is_limited(sent, response):
    with running(sent, header_seconds=0.5) as server:
        assert receive_all(*server.early).partition(b"\r\n")[0] == response


def test_header_sent_byte_by_byte_is_limited_in_total():
    with running(header_seconds=0.5) as server:
        send_slowly(server.connect(b"GET / HTTP/1.1\r\nX: "))


def test_body_time_is_limited_without_a_log_message(caplog):
    with running(body_seconds=0.5) as server:
        assert receive_all(server.connect(HEADER + b"half")).startswith(b"HTTP/1.1 408 Request Timeout")
        wait_for(lambda: not server.server.server_state.tasks)
    assert caplog.records == []


def test_time_of_a_body_grows_with_what_was_received():
    with running(body_seconds=2.0, bytes_per_second=4 / HANG_GUARD) as server:
        client = server.connect(HEADER)
        wait_for(lambda: server.server.server_state.tasks)  # the header has been received
        client.sendall(b"half")
        (connection,) = server.server.server_state.connections
        first = connection._request_timer
        wait_for(lambda: connection._request_timer is not first)  # the time without the growth is over
        client.sendall(b"half")
        assert receive_all(client).endswith(b"halfhalf")


def test_connection_of_a_client_that_leaves_during_a_body_is_not_logged(caplog):
    with running() as server:
        with server.connect(HEADER + b"half"):
            wait_for(lambda: server.server.server_state.tasks)
        wait_for(lambda: not server.server.server_state.tasks)
    assert caplog.records == []


CHUNKED = b"POST %s HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    ("path", "status"),
    [(b"/echo", b"400"), (b"/early", b"200")],
    ids=["before the response", "amid the response"],
)
def test_client_that_breaks_http_in_a_body_is_disconnected_without_a_traceback(caplog, path, status):
    with caplog.at_level(logging.WARNING), running() as server:
        client = server.connect(CHUNKED % path + b"3\r\nabc\r\n")
        if path == b"/early":
            head = client.recv(65_536)
        client.sendall(b"no length\r\n")
        received = (head if path == b"/early" else b"") + receive_all(client)
    assert received.startswith(b"HTTP/1.1 " + status)
    assert [record.getMessage() for record in caplog.records] == ["Invalid HTTP request received."]


def test_rest_of_a_rejected_body_is_limited():
    request = b"POST /missing HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n"
    with running(body_seconds=0.5) as server, server.connect(request) as client:
        assert client.recv(4096).startswith(b"HTTP/1.1 404")
        send_slowly(client)


def test_time_to_read_a_response_is_limited():
    request = b"GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with (
        running(response_seconds=0.5, bytes_per_second=1e9) as server,
        server.connect(request, SO_RCVBUF=4096),
    ):
        wait_for(lambda: server.server.server_state.total_requests == 1)
        wait_for(lambda: server.open == 0)


def test_slow_reader_receives_all_in_proportion_to_the_size():
    with running(response_seconds=0.01, bytes_per_second=LARGE / HANG_GUARD) as server:
        client = server.connect(b"GET /large HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        time.sleep(0.2)
        assert receive_all(client).count(b"x") == LARGE


@pytest.mark.parametrize(
    "sent",
    [b"", b"GET /la", HEADER, b"GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n"],
    ids=["idle", "half a header", "half a body", "response not read"],
)
def test_new_connection_replaces_the_one_that_waits_longest(sent):
    with running(connections=4) as server, contextlib.ExitStack() as clients:
        waiting = []
        for count in range(1, 5):
            waiting.append(clients.enter_context(server.connect(sent, SO_RCVBUF=4096)))
            wait_for(lambda count=count: server.open == count)
        if b"large" in sent:  # they wait for their client once the response was sent
            wait_for(lambda: all(one.flow.write_paused for one in server.server.server_state.connections))
        answer = receive_all(server.connect(HEADER + b"together"))
        assert answer.endswith(b"together")
        wait_for(lambda: server.open == 3)
        receive_all(waiting[0])  # ends


def test_connections_that_wait_for_a_response_are_not_replaced():
    started, finish = threading.Semaphore(0), asyncio.Event()

    async def slow(request):
        started.release()
        await finish.wait()
        return Response(b"done")

    with running(connections=2) as server:
        server.server.config.loaded_app.app.router.routes.append(Route("/slow", slow))
        busy = [
            server.connect(b"GET /slow HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            for _ in "ab"
        ]
        started.acquire(), started.acquire()
        refused = receive_all(server.connect())
        assert refused.startswith(b"HTTP/1.1 503 Service Unavailable\r\n")
        assert b"Retry-After: 10\r\n" in refused
        finish._loop.call_soon_threadsafe(finish.set)
        assert [receive_all(one).endswith(b"done") for one in busy] == [True, True]


def test_invalid_requests_do_not_fill_the_log(caplog):
    with running() as server, caplog.at_level(logging.WARNING):
        for _ in range(50):
            assert receive_all(server.connect(b"\x16\x03\x01\r\n\r\n")).startswith(b"HTTP/1.1 400")
    assert [record.getMessage() for record in caplog.records] == ["Invalid HTTP request received."] * 5
