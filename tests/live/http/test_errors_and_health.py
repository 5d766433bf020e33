"""Unknown paths, wrong methods, errors of the service, and its health."""

import pytest
from live.fake_pipeline import Client, FakePipeline, error_detail, make_config

from occupair.live.http.app import make_app
from occupair.live.store import StoreError


def test_unknown_path(ask):
    for path in ("/nothing", "/api", "/api/rooms/", "/docs", "/api/rooms/lab/nothing"):
        answer = ask("GET", path)
        assert (answer.status_code, error_detail(answer)) == (404, "path not found")


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("PUT", "/api/rooms/lab/labels", "DELETE, GET, POST"),
        ("DELETE", "/api/rooms", "GET"),
        ("OPTIONS", "/api/rooms/lab/models", "GET, POST"),
        ("POST", "/", "GET, HEAD"),
        ("PATCH", "/api/login", "GET, POST"),
    ],
)
def test_method_not_allowed(ask, method, path, allowed):
    answer = ask(method, path)
    assert (answer.status_code, error_detail(answer)) == (405, f"method not allowed, use {allowed}")
    assert answer.headers["allow"] == allowed


def test_store_error_responds_503(pipeline, ask):
    pipeline.store.error = StoreError("store postgresql://db: gone")
    for path in ("history", "labels", "models", "models/1"):
        answer = ask("GET", f"/api/rooms/lab/{path}")
        assert (answer.status_code, error_detail(answer)) == (
            503,
            "the database is not available, retry later",
        )
    assert ask("GET", "/api/rooms").status_code == 200, "states need no store"


def test_internal_error_reveals_nothing(pipeline, ask):
    pipeline.store.error = ZeroDivisionError("secret")
    answer = ask("GET", "/api/rooms/lab/labels")
    assert (answer.status_code, error_detail(answer)) == (
        500,
        "internal error; see the service log for details",
    )
    assert answer.headers["x-content-type-options"] == "nosniff"


# ---- health ----


@pytest.mark.parametrize(
    ("parts", "status", "word"),
    [
        ({"store": "ok", "mqtt": "connected", "engine": "ok"}, 200, "ok"),
        ({"store": "ok", "mqtt": "off", "engine": "ok"}, 200, "ok"),
        ({"store": "disk is full", "mqtt": "connected", "engine": "ok"}, 503, "failing"),
        ({"store": "ok", "mqtt": "connected", "engine": "stopped"}, 503, "failing"),
        ({"store": "ok", "mqtt": "connecting", "engine": "ok"}, 200, "degraded"),
        ({"store": "ok", "mqtt": "no link: Connection refused", "engine": "ok"}, 200, "degraded"),
        ({"store": "disk is full", "mqtt": "connecting", "engine": "ok"}, 503, "failing"),
        ({"store": "ok", "mqtt": "connecting", "bacnet": "no link"}, 200, "degraded"),
        ({"store": "ok", "mqtt": "off", "bacnet": "no link"}, 200, "degraded"),
    ],
)
def test_health(pipeline, ask, parts, status, word):
    pipeline.part_status = parts
    answer = ask("GET", "/healthz")
    assert (answer.status_code, answer.json()) == (status, {"status": word, "parts": parts})


def test_health_hides_parts_without_token():
    pipeline = FakePipeline(make_config(tokens=True))
    pipeline.part_status = {"store": "postgresql://db.intern is gone"}
    app = make_app(pipeline, pipeline.config)
    assert Client(app)("GET", "/healthz").json() == {"status": "failing"}
    assert Client(app, "read")("GET", "/healthz").json() == {
        "status": "failing",
        "parts": pipeline.part_status,
    }
