"""Requests about rooms of another shard: forwarded to it, once, with the caller's token."""

import asyncio
import contextlib
import socket
import threading
from types import SimpleNamespace

import pytest
from live.fake_pipeline import (
    MODEL,
    START,
    TOKENS,
    Client,
    FakePipeline,
    error_detail,
    make_config,
    make_estimates,
)
from live.ports import free_port
from live.waiting import wait_for

from occupair.live.http import forwarding
from occupair.live.http.app import make_app
from occupair.live.messages import Label
from occupair.live.room_shards import Shard
from occupair.web.access import COOKIE
from occupair.web.server import ConnectionLimits, LimitedServer

DRAWING = b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 4 3"/>'
READING = {"time": "2026-03-02T09:00:00Z", "co2": 700}
JSON = {"Content-Type": "application/json"}


class _Server(LimitedServer):
    @contextlib.contextmanager
    def capture_signals(self):
        yield


@contextlib.contextmanager
def served(app):
    """Run an application on loopback and yield its address."""
    listening = socket.create_server(("127.0.0.1", 0))
    server = _Server(app, ConnectionLimits(), stop_seconds=1)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve([listening])), daemon=True)
    thread.start()
    try:
        wait_for(lambda: server.started)
        yield f"127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


def exchange(number, pipeline, address):
    """The exchange of a shard of two that knows one address."""
    shard = Shard(number, 2)
    return SimpleNamespace(
        shard=shard,
        owner_of=lambda room: Shard(3 - number, 2),
        address_of=lambda room: address,
        states=pipeline.states,
        state=pipeline.state,
        subscribe=pipeline.subscribe,
    )


@pytest.fixture
def shards():
    """Two shards with tokens: the application of the first, the pipeline of the second, which has hall."""
    config = make_config("lab", "hall", tokens=True)
    first, second = FakePipeline(config), FakePipeline(config)
    with served(make_app(second, config, exchange=exchange(2, second, None))) as address:
        yield make_app(first, config, exchange=exchange(1, first, address)), second


def test_posted_readings_reach_the_owner(shards):
    app, owner = shards
    response = Client(app, "write")("POST", "/api/rooms/hall/readings", json=READING)
    assert response.json()["outcomes"][0]["outcome"] == "accepted"
    assert [room for room, _ in owner.taken] == ["hall"]
    again = Client(app, "write")("POST", "/api/rooms/hall/readings", json=READING)
    assert again.json()["outcomes"][0]["outcome"] == "duplicate"


def test_own_room_is_not_forwarded(shards):
    app, owner = shards
    assert Client(app, "write")("POST", "/api/rooms/lab/readings", json=READING).status_code == 200
    assert owner.taken == {}


def test_shared_store_is_used_by_the_shard_that_is_asked(shards):
    """Hours, floor plans and places of all rooms: every shard reads and writes them itself."""
    app, owner = shards
    store, admin = app.state.pipeline.store, Client(app, "admin")
    store.kept["hall"] = make_estimates("hall", 60)
    assert admin("PUT", "/api/rooms/hall/place", json={"x": 0.5, "y": 0.25}).status_code == 200
    image = {"content": DRAWING, "headers": {"Content-Type": "image/svg+xml"}}
    assert admin("PUT", "/api/floors/plan?floor=1", **image).status_code == 200
    assert (list(store.places()), len(store.plans())) == (["hall"], 1)
    assert (owner.store.places(), owner.store.plans()) == ({}, [])
    hours = admin("GET", "/api/rooms/hall/hours?from=2026-03-02T09:00&to=2026-03-02T10:00").json()["hours"]
    assert [hour["people"] for hour in hours] == [29.5]
    (day,) = admin("GET", "/api/today").json()["days"]
    assert set(day["rooms"]) == {"lab", "hall"}


def test_labels_reach_the_owner(shards):
    app, owner = shards
    given = {"people": 4, "time": "2026-03-02T08:00:00+00:00", "source": "typed"}
    response = Client(app, "write")("POST", "/api/rooms/hall/labels", json=given)
    assert (response.status_code, response.json()["people"]) == (201, 4)
    assert owner.tracked == ["hall"]
    time = {"time": "2026-03-02T08:00:00Z"}
    assert Client(app, "write")("DELETE", "/api/rooms/hall/labels", params=time).status_code == 204
    assert owner.store.labels("hall") == []
    missing = Client(app, "write")("DELETE", "/api/rooms/hall/labels", params=time)
    assert (missing.status_code, error_detail(missing)) == (404, "hall has no label at 2026-03-02T08:00:00Z")


def test_models_reach_the_owner(shards):
    app, owner = shards
    admin = Client(app, "admin")
    kind = {"Content-Type": "application/octet-stream"}
    uploaded = admin("POST", "/api/rooms/hall/models?note=a%20b", content=MODEL, headers=kind)
    assert (uploaded.status_code, uploaded.json()) == (201, {"version": 1})
    assert [(one.room, one.note) for one in owner.store.models("hall")] == [("hall", "a b")]
    owner.store.activate("hall", None)
    assert admin("POST", "/api/rooms/hall/models/1/activate").json() == {"version": 1}
    assert [one.active for one in owner.store.models("hall")] == [True]
    owner.store.add_label(Label("hall", START, 3, START))
    assert admin("POST", "/api/rooms/hall/forget").status_code == 204
    assert owner.store.labels("hall") == []


def test_training_reaches_the_owner(shards):
    app, owner = shards
    admin = Client(app, "admin")
    conflict = admin("POST", "/api/rooms/hall/training")
    assert (conflict.status_code, error_detail(conflict)) == (409, "hall has no labels to train from")
    owner.store.add_label(Label("hall", START, 3, START))
    assert admin("POST", "/api/rooms/hall/training").status_code == 202
    assert Client(app, "read")("GET", "/api/rooms/hall/training").json()["status"] == "done"
    assert admin("POST", "/api/rooms/hall/training/accept").status_code == 200
    assert admin("DELETE", "/api/rooms/hall/training").status_code == 409


def test_caller_without_the_role_is_refused_before_forwarding(shards):
    app, owner = shards
    response = Client(app, "read")("POST", "/api/rooms/hall/readings", json=READING)
    assert response.status_code == 403
    assert Client(app)("POST", "/api/rooms/hall/readings", json=READING).status_code == 401
    assert owner.taken == {}


def test_owner_checks_the_token_again(shards):
    app, owner = shards
    tokens = tuple(token for token in owner.config.tokens if token.role != "write")
    owner.config = owner.config.model_copy(update={"tokens": tokens})
    response = Client(app, "write")("POST", "/api/rooms/hall/readings", json=READING)
    assert (response.status_code, error_detail(response)) == (401, "invalid token")
    assert "bearer" in response.headers["www-authenticate"].lower()


def test_cookie_of_the_page_is_the_same_token(shards):
    app, owner = shards
    page = {"Cookie": f"{COOKIE}={TOKENS['write']}", "Sec-Fetch-Site": "same-origin"}
    response = Client(app)("POST", "/api/rooms/hall/readings", json=READING, headers=page)
    assert response.status_code == 200
    foreign = page | {"Sec-Fetch-Site": "cross-site"}
    refused = Client(app)("POST", "/api/rooms/hall/readings", json=READING, headers=foreign)
    assert refused.status_code == 403
    assert len(owner.taken) == 1


def test_unknown_room_is_not_forwarded(shards):
    app, _ = shards
    response = Client(app, "write")("POST", "/api/rooms/attic/readings", json=READING)
    assert (response.status_code, error_detail(response)) == (404, "there is no room 'attic'")


def test_forwarded_request_is_not_forwarded_again(shards, caplog):
    app, owner = shards
    headers = {forwarding.FORWARDED_BY: "2/2"}
    response = Client(app, "write")("POST", "/api/rooms/hall/readings", json=READING, headers=headers)
    assert (response.status_code, error_detail(response)) == (
        503,
        "the shards do not agree on the shard of room hall",
    )
    assert owner.taken == {}
    assert "shard 2/2 has forwarded a request about room hall" in caplog.text


def _app(address):
    config = make_config("lab", "hall")
    pipeline = FakePipeline(config)
    return make_app(pipeline, config, exchange=exchange(1, pipeline, address))


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/readings"),
        ("POST", "/labels"),
        ("DELETE", "/labels?time=2026-03-02T08:00:00Z"),
        ("POST", "/models"),
        ("POST", "/models/1/activate"),
        ("POST", "/forget"),
        ("GET", "/training"),
        ("POST", "/training"),
        ("POST", "/training/accept"),
        ("DELETE", "/training"),
    ],
)
def test_request_is_unavailable_without_the_owner(method, path):
    response = Client(_app(None))(method, f"/api/rooms/hall{path}", headers=JSON)
    assert (response.status_code, error_detail(response)) == (
        503,
        "room hall is not served right now: shard 2/2 is not running",
    )
    assert response.headers["retry-after"] == "5"


@pytest.mark.parametrize("path", ["", "/history", "/labels", "/models", "/air"])
def test_store_answers_without_the_owner(path):
    assert Client(_app(None))("GET", f"/api/rooms/hall{path}").status_code == 200


NO_RESPONSE = "shard 2/2 did not respond: the request may or may not have taken effect"


def test_owner_that_cannot_be_reached_is_unavailable():
    response = Client(_app(f"127.0.0.1:{free_port()}"))("POST", "/api/rooms/hall/readings", json=READING)
    assert (response.status_code, error_detail(response)) == (
        503,
        "room hall is not served right now: shard 2/2 cannot be reached",
    )


def test_owner_that_does_not_respond_is_unavailable(monkeypatch):
    monkeypatch.setattr(forwarding, "RESPONSE_TIMEOUT", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        app = _app(f"127.0.0.1:{silent.getsockname()[1]}")
        response = Client(app)("POST", "/api/rooms/hall/readings", json=READING)
    assert (response.status_code, error_detail(response)) == (503, NO_RESPONSE)


@pytest.mark.parametrize(
    "answer", [b"", b"SSH-2.0-x\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"]
)
def test_broken_response_is_not_passed_on(answer):
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def respond():
            connection, _ = listening.accept()
            connection.recv(65_536)
            connection.sendall(answer)
            connection.close()

        thread = threading.Thread(target=respond, daemon=True)
        thread.start()
        app = _app(f"127.0.0.1:{listening.getsockname()[1]}")
        response = Client(app)("POST", "/api/rooms/hall/readings", json=READING)
        thread.join()
    assert (response.status_code, error_detail(response)) == (503, NO_RESPONSE)
