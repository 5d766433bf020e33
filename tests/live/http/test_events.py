"""Server-sent events, over a real server and real sockets."""

import asyncio
import contextlib
import json
import socket
import threading
import time

import httpx
import pytest
from live.fake_pipeline import TOKENS, FakePipeline, make_config, make_state
from live.waiting import wait_for

from occupair.live.http.app import make_app
from occupair.live.http.events import Streams
from occupair.web.server import ConnectionLimits, LimitedServer


class Server:
    """Server of a fake pipeline on a free port, in a thread."""

    def __init__(self, pipeline, streams, limits=ConnectionLimits()):  # noqa: B008
        self.pipeline = pipeline
        self.streams = streams
        self.app = make_app(pipeline, pipeline.config, streams=streams)
        self.server = LimitedServer(self.app, limits, stop_seconds=5)
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.thread = threading.Thread(target=self._run)

    def _run(self):
        with asyncio.Runner() as runner:
            self.loop = runner.get_loop()
            runner.run(self.server.serve([self.socket]))

    def publish(self, *states):
        self.loop.call_soon_threadsafe(self.pipeline.publish, *states)

    def __enter__(self):
        self.thread.start()
        wait_for(lambda: self.server.started)
        return self

    def __exit__(self, *_):
        self.loop.call_soon_threadsafe(self.streams.stop)
        self.server.should_exit = True
        self.thread.join(90)
        self.socket.close()
        assert not self.thread.is_alive()


@contextlib.contextmanager
def serving(*rooms, tokens=False, response_seconds=600.0, **limits):
    pipeline = FakePipeline(make_config(*rooms, tokens=tokens))
    slow = ConnectionLimits(response_seconds=response_seconds, bytes_per_second=1e6)
    with Server(pipeline, Streams(**limits), slow) as server:
        yield server


@contextlib.contextmanager
def listening(server, **headers):
    """Open a stream, and yield its blocks of lines."""
    with httpx.stream(
        "GET", f"{server.url}/api/events", timeout=90, headers=headers, trust_env=False
    ) as answer:
        assert answer.status_code == 200
        assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"
        assert answer.headers["cache-control"] == "no-store"
        assert "content-encoding" not in answer.headers
        yield blocks(answer)


def blocks(answer):
    lines = []
    for line in answer.iter_lines():
        if line:
            lines.append(line)
        else:
            yield lines
            lines = []


def states_of(block):
    """Return the people by room of an event."""
    name, data = [line for line in block if not line.startswith("retry:")]
    assert name == "event: state"
    return {state["room"]: state["people"] for state in json.loads(data.removeprefix("data: "))}


def test_stream_starts_with_all_states_then_changes():
    with serving() as server, listening(server) as events:
        first = next(events)
        assert first[0] == "retry: 2000"
        assert states_of(first) == {"lab": 0, "kitchen": 1}
        server.publish(make_state("lab", 7))
        assert states_of(next(events)) == {"lab": 7}
        server.publish(make_state("lab", None), make_state("kitchen", 2))
        assert states_of(next(events)) == {"lab": None, "kitchen": 2}


def test_event_equals_room_state():
    with serving() as server, listening(server) as events:
        data = json.loads(next(events)[-1].removeprefix("data: "))
        assert data == [room["state"] for room in httpx.get(f"{server.url}/api/rooms").json()["rooms"]]


def test_heartbeats_without_changes():
    with serving(heartbeat=0.05) as server, listening(server) as events:
        next(events)
        assert [next(events) for _ in range(3)] == [[": heartbeat"]] * 3
        server.publish(make_state("lab", 5))
        while (block := next(events)) == [": heartbeat"]:
            pass
        assert states_of(block) == {"lab": 5}, "a heartbeat loses no change"


def test_default_heartbeat_is_15_seconds():
    assert Streams().heartbeat == 15.0


def test_disconnected_client_is_removed():
    with serving() as server:
        with listening(server) as events:
            next(events)
            assert (server.streams.open, len(server.pipeline.listeners)) == (1, 1)
        wait_for(lambda: (server.streams.open, len(server.pipeline.listeners)) == (0, 0))
        server.publish(make_state("lab", 5))
        with listening(server) as events:
            assert states_of(next(events))["lab"] == 5


@contextlib.contextmanager
def not_reading(server, buffer):
    """Open a stream that is not read, with a receive buffer of some bytes."""
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        client.connect(("127.0.0.1", server.port))
        client.sendall(b"GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        wait_for(lambda: server.streams.open == 1)
        yield client


def publish_much(server, rooms, events):
    """Publish about 5 MB, more than any buffer on the way, and read it."""
    next(events)
    for people in range(60):
        server.publish(*(make_state(room, people) for room in rooms))
        assert states_of(next(events)) == dict.fromkeys(rooms, people)


def test_unread_stream_does_not_delay_others():
    rooms = [f"room{place}" for place in range(300)]
    with serving(*rooms) as server, not_reading(server, 4096), listening(server) as events:
        publish_much(server, rooms, events)
        assert server.streams.open == 2, "the unread stream was still open"


def test_unread_stream_is_closed():
    rooms = [f"room{place}" for place in range(300)]
    with (
        serving(*rooms, response_seconds=1.0) as server,
        not_reading(server, 4096),
        listening(server) as events,
    ):
        publish_much(server, rooms, events)
        wait_for(lambda: server.streams.open == 1)
        assert len(server.pipeline.listeners) == 1


def test_slow_client_gets_the_newest_state():
    rooms = [f"room{place}" for place in range(300)]
    with serving(*rooms) as server, not_reading(server, 65_536) as slow:
        for people in range(200):
            server.publish(*(make_state(room, people) for room in rooms))
            time.sleep(0.005)
        slow.settimeout(90)
        received = b""
        while received.count(b'"people":199,') < len(rooms):
            piece = slow.recv(65_536)
            assert piece, "it was dropped"
            received += piece
        assert received.count(b"event: state") < 150, "most states in between were left out"


def test_number_of_streams_is_limited():
    with serving(limit=2) as server:
        with listening(server) as one, listening(server) as two:
            next(one), next(two)
            answer = httpx.get(f"{server.url}/api/events")
            assert answer.status_code == 503
            assert answer.json() == {
                "detail": "the limit of 2 viewers is reached: retry later, or poll /api/rooms"
            }
            assert answer.headers["retry-after"] == "30"
        wait_for(lambda: server.streams.open == 0)
        with listening(server) as events:
            next(events)


def test_stream_requires_token_or_cookie():
    with serving(tokens=True) as server:
        assert httpx.get(f"{server.url}/api/events").status_code == 401
        with listening(server, Authorization=f"Bearer {TOKENS['read']}") as events:
            next(events)
        with listening(server, Cookie=f"occupair={TOKENS['read']}") as events:
            next(events)


def test_stop_closes_streams():
    with serving() as server, listening(server) as events:
        next(events)
        server.loop.call_soon_threadsafe(server.streams.stop)
        assert list(events) == []
        wait_for(lambda: server.streams.open == 0)
        late = httpx.get(f"{server.url}/api/events")
        assert (late.status_code, late.json()) == (503, {"detail": "the service is stopping"})


def test_stream_ends_with_the_pipeline(monkeypatch):
    pipeline = FakePipeline(make_config())

    @contextlib.asynccontextmanager
    async def ends():
        async def changes():
            yield [make_state("lab", 9)]

        yield changes()

    monkeypatch.setattr(pipeline, "subscribe", ends)
    with Server(pipeline, Streams()) as server, listening(server) as events:
        assert [states_of(block) for block in events] == [{"lab": 0, "kitchen": 1}, {"lab": 9}]


def test_error_in_a_stream_is_raised():
    pipeline = FakePipeline(make_config())

    def broken():
        raise ZeroDivisionError("a fault")

    pipeline.states = broken

    async def ask():
        transport = httpx.ASGITransport(make_app(pipeline, pipeline.config))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            await client.get("/api/events")

    with pytest.raises(ZeroDivisionError, match="a fault"):
        asyncio.run(ask())
    assert not pipeline.listeners
