"""HTTP requests as bytes on a connection of the live service, with its real protocol, pipeline and store.

A response must have a status below 500. An error of the application has a body ``{"detail": "one line"}``.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import gzip
import json
import logging
from random import Random
from typing import Any
from urllib.parse import quote

from occupair.errors import InputError
from occupair.live.config import Limits, RoomConfig, ServiceConfig, TokenConfig
from occupair.live.http.app import make_app
from occupair.live.http.events import Streams
from occupair.live.pipeline import Pipeline
from occupair.live.store import Store
from occupair.web.server import ConnectionLimits, LimitedServer
from occupair.web.tokens import hash_token
from tools.fuzz.byte_mutations import mutate_bytes, random_bytes
from tools.fuzz.interesting import NUMBERS, TEXTS, TIMES
from tools.fuzz.json_mutations import any_value, json_bytes, mutate_json
from tools.fuzz.scratch import scratch_folder
from tools.fuzz.targets import floor_plan
from tools.fuzz.trial import broken_rule, check

_TOKEN = "occupair_admin-adminadminadminadminadmin"
_RENEWED = 2_000  # requests with one store, which would grow
_ANSWER = 300.0  # time to respond on a machine that is busy with other work [s]
_NOW = dt.datetime(2026, 3, 2, 8, tzinfo=dt.UTC)
_PATHS = (
    "/api/rooms", "/api/rooms/lab", "/api/rooms/lab/history", "/api/rooms/lab/hours",
    "/api/rooms/lab/hours.csv", "/api/today", "/api/today.csv", "/api/floors", "/api/floors/plan",
    "/api/rooms/lab/place", "/api/rooms/lab/readings", "/api/rooms/lab/labels", "/api/rooms/lab/air",
    "/api/rooms/lab/models", "/api/rooms/lab/models/1", "/api/login", "/api/rooms/lab/models/1/activate",
    "/api/rooms/lab/forget", "/api/rooms/lab/training", "/api/logout", "/healthz", "/api/events", "/metrics",
    "/api/openapi.json", "/", "/static/app.js", "/favicon.ico", "/api/rooms/attic", "/api",
)  # fmt: skip
_QUERIES = ("since", "until", "after", "limit", "floor", "day", "days", "date", "lang", "x", "from", "to")
_BODIES: dict[str, Any] = {
    "/api/rooms/lab/readings": [
        {"time": "2026-03-02T07:59:00Z", "co2": 612, "ventilation": 0.5, "humidity": 41}
    ],
    "/api/rooms/lab/labels": {"people": 7, "time": "2026-03-02T07:00:00Z", "until": "2026-03-02T07:30:00Z"},
    "/api/rooms/lab/place": {"x": 0.25, "y": 0.5},
    "/api/rooms/lab/air": {"people": 3},
    "/api/login": {"token": _TOKEN},
}
_NAMES = (
    "time",
    "co2",
    "ventilation",
    "people",
    "x",
    "y",
    "token",
    "readings",
    "start",
    "end",
    "until",
    "motion",
)
_HEADERS = (
    "Accept: */*", "Accept-Encoding: gzip", "Accept-Language: de;q=nan, en;q=1e999",
    "Accept-Language: fr, de-CH;q=0.9", "Origin: http://evil", "Origin: null", "Referer: http://localhost/",
    "Cookie: occupair=x", "Cookie: =;;", "Range: bytes=0-", "If-None-Match: \"x\"", "If-Modified-Since: x",
    "Transfer-Encoding: chunked", "Expect: 100-continue", "Connection: close", "Upgrade: websocket",
    "X-Forwarded-For: 1.2.3.4", "X-Forwarded-Proto: x", "Sec-Fetch-Site: cross-site", "Host: [::1",
    "X-Ingress-Path: /a", "Authorization: Bearer x", "Authorization: Basic OnA=", "Content-Encoding: gzip",
    "Content-Length: -1",
)  # fmt: skip
_TYPES = ("application/json",) * 6 + (
    "text/plain",
    "application/octet-stream",
    "image/svg+xml",
    "image/png",
    "",
    "a/b;charset=x",
)


def generate(random: Random) -> bytes:
    if random.random() < 0.02:
        return random_bytes(random)
    path = random.choice(_PATHS)
    method = random.choice(("GET", "GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH"))
    if path in _BODIES and random.random() < 0.7:
        method = "PUT" if path.endswith("place") else "POST"
    body, kind = _body(path, random) if method in ("POST", "PUT", "PATCH") else (b"", "")
    lines = [f"{method} {_target(path, random)} HTTP/1.1", "Host: localhost"]
    if random.random() < 0.95:
        lines.append(f"Authorization: Bearer {_TOKEN}")
    if kind:
        lines.append(f"Content-Type: {kind}")
    if body or method in ("POST", "PUT"):
        lines.append(f"Content-Length: {len(body)}")
    while random.random() < 0.25:
        lines.insert(random.randrange(1, len(lines) + 1), random.choice(_HEADERS))
    head = "\r\n".join(lines).encode("utf-8", "surrogatepass") + b"\r\n\r\n"
    return (mutate_bytes(head, random) if random.random() < 0.1 else head) + body


def _target(path: str, random: Random) -> str:
    if random.random() < 0.1:
        part = random.choice(
            (quote(random.choice((*TEXTS, *NUMBERS))[:300], safe=""), "%ff", "%00", "..", "%2e%2e", "LAB")
        )
        path = path.replace(random.choice(("lab", "1", "rooms")), part)
    values = []
    while random.random() < 0.5 and path.startswith("/api"):
        value = random.choice((*NUMBERS, *TIMES, *TEXTS, "1", "Ground"))[:300]
        values.append(f"{random.choice(_QUERIES)}={quote(value) if random.random() < 0.9 else '%zz+%ff'}")
    return path + ("?" + "&".join(values) if values else "")


def _body(path: str, random: Random) -> tuple[bytes, str]:
    kind = random.choice(_TYPES)
    if path.endswith("/plan"):
        return floor_plan.generate(random), random.choice(("image/svg+xml", "image/png"))
    if path.endswith("/models"):
        head = b'{"format":"occupair model","version":4,"checksum":"x","model":{}}'
        return mutate_bytes(head, random), "application/octet-stream"
    document = _BODIES.get(path, any_value(random))
    if random.random() < 0.1:
        return random_bytes(random), kind
    return json_bytes(mutate_json(document, random, _NAMES), random), kind


class _Transport(asyncio.Transport):
    """A connection whose client reads nothing back."""

    def __init__(self) -> None:
        super().__init__({"peername": ("127.0.0.1", 50_000), "sockname": ("127.0.0.1", 8099)})
        self.closed = False
        self.statuses: list[int] = []

    def write(self, data: Any) -> None:
        if data.startswith(b"HTTP/1.1 "):
            self.statuses.append(int(data[9:12]))

    def is_closing(self) -> bool:
        return self.closed

    def close(self) -> None:
        self.closed = True

    abort = close

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None: ...

    def get_write_buffer_size(self) -> int:
        return 0

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...


class _Service:
    """A service without a network."""

    def __init__(self) -> None:
        self.requests = 0
        self._path = scratch_folder() / "http.db"
        self._path.unlink(missing_ok=True)
        self.loop = asyncio.new_event_loop()
        self.loop.run_until_complete(self._start())

    async def _start(self) -> None:
        config = ServiceConfig(
            store=f"sqlite:///{self._path}",
            clock="readings",
            rooms={"lab": RoomConfig(id="lab", floor="Ground", capacity=8, area=30.0)},
            tokens=(TokenConfig(name="admin", role="admin", hash=hash_token(_TOKEN)),),
            limits=Limits(requests_per_minute=1_000_000),
        )
        self._store = Store(config.store)
        self._store.migrate()
        self._pipeline = Pipeline(config, self._store, clock=lambda: _NOW)
        await self._pipeline.start()
        self._app = make_app(self._pipeline, config, streams=Streams(heartbeat=0.01))

        async def recorded(scope: Any, receive: Any, send: Any) -> None:
            await self._record(scope, receive, send)

        self._server = LimitedServer(recorded, ConnectionLimits(), stop_seconds=1)
        self._server.config.load()
        self.responses: list[dict[str, Any]] = []
        self.failure: BaseException | None = None

    async def _record(self, scope: Any, receive: Any, send: Any) -> None:
        response: dict[str, Any] = {"path": scope["path"], "method": scope["method"], "body": b""}

        async def record(message: Any) -> None:
            response["body"] += message.get("body", b"")
            response.update({key: message[key] for key in ("status", "headers") if key in message})
            await send(message)

        async def observed() -> Any:
            message = await receive()
            if message["type"] == "http.disconnect":
                response["left"] = True
            return message

        self.responses.append(response)
        try:
            await self._app(scope, observed, record)
        except BaseException as error:
            self.failure = error
            raise

    def request(self, data: bytes) -> list[dict[str, Any]]:
        """Send bytes and return the responses of the application."""
        self.requests += 1
        self.responses, self.failure = [], None
        self.loop.run_until_complete(self._exchange(data))
        if self.failure is not None:
            raise self.failure
        return self.responses

    async def _exchange(self, data: bytes) -> None:
        state = self._server.server_state
        protocol: Any = self._server.config.http_protocol_class(  # type: ignore[call-arg]
            config=self._server.config, server_state=state, app_state={}
        )
        transport = _Transport()
        protocol.connection_made(transport)
        if data:  # asyncio calls it with at least one byte
            protocol.data_received(data)
        if state.tasks:
            is_stream = b"/events" in data or protocol.conn.their_state.__name__ == "SEND_BODY"
            await asyncio.wait(state.tasks, timeout=0.02 if is_stream else _ANSWER)
        protocol.connection_lost(None)
        if state.tasks:
            check(not (await asyncio.wait(state.tasks, timeout=_ANSWER))[1], "no response")
        sent = [one.get("status") for one in self.responses]
        check(all(one < 500 or one in sent for one in transport.statuses), f"status {transport.statuses}")

    def close(self) -> None:
        """Stop the service."""
        self.loop.run_until_complete(self._pipeline.stop())
        self._store.close()
        self.loop.close()
        self._path.unlink(missing_ok=True)


_services: list[_Service] = []


def run(data: bytes) -> None:
    if not _services or _services[0].requests >= _RENEWED:
        close_service()
        _services.append(_Service())
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)  # refused requests are logged
    try:
        responses = _services[0].request(data)
    finally:
        logging.disable(before)
    for response in responses:
        _check(response)
    if not any(response.get("status", 400) < 400 for response in responses):
        raise InputError("no request, or one that is refused")


def close_service() -> None:
    """Stop the service, if there is one."""
    while _services:
        _services.pop().close()


def _check(response: dict[str, Any]) -> None:
    status = response.get("status")
    if status is None or (status == 400 and "left" in response):  # nobody receives it
        return
    is_unavailable = status == 503 and response["path"].endswith(("/training", "/events", "/accept"))
    check(status < 500 or is_unavailable, f"status {status} of {response['path'][:60]!r}")
    headers = {name.lower(): value for name, value in response["headers"]}
    if status < 400 or response["method"] == "HEAD" or b"detail" not in response["body"][:20]:
        check(status < 400 or response["method"] == "HEAD", f"error {status} without a body")
        return
    body = (
        gzip.decompress(response["body"]) if headers.get(b"content-encoding") == b"gzip" else response["body"]
    )
    document = json.loads(body)
    check(list(document) == ["detail"], "an error must have a detail only")
    broken = broken_rule(document["detail"])
    check(broken is None, f"detail {broken}")
