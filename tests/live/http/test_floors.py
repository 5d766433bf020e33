"""Floor plans and places: roles, limits, and headers that make an uploaded image harmless."""

import pytest
from live.fake_pipeline import Client, FakePipeline, error_detail, make_config

from occupair.live.http.app import make_app
from occupair.live.http.floors import MAX_PLAN_BYTES

SVG = b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 30"><rect width="9" height="9"/></svg>'
PLAN = "/api/floors/plan?floor=1"
AS_SVG = {"Content-Type": "image/svg+xml"}


@pytest.fixture
def pipeline():
    return FakePipeline(make_config(tokens=True))


@pytest.fixture
def app(pipeline):
    return make_app(pipeline, pipeline.config)


@pytest.fixture
def admin(app):
    return Client(app, "admin")


def test_plan_is_uploaded_listed_replaced_and_deleted(admin):
    assert admin("GET", "/api/floors").json() == {"plans": [], "places": []}
    assert error_detail(admin("GET", PLAN)) == "floor '1' has no plan"
    entry = admin("PUT", PLAN, content=SVG, headers=AS_SVG).json()
    assert (entry["floor"], entry["media_type"], entry["width"], entry["height"], entry["size"]) == (
        "1",
        "image/svg+xml",
        40,
        30,
        len(SVG),
    )
    assert admin("GET", "/api/floors").json()["plans"] == [entry]
    assert admin("GET", PLAN).content == SVG
    wide = SVG.replace(b"40", b"80")
    assert admin("PUT", PLAN, content=wide, headers=AS_SVG).json()["width"] == 80
    assert admin("GET", PLAN).content == wide
    assert admin("DELETE", PLAN).status_code == 204
    assert admin("DELETE", PLAN).status_code == 404
    assert admin("GET", "/api/floors").json()["plans"] == []


def test_opened_plan_can_run_nothing(admin):
    admin("PUT", PLAN, content=SVG, headers=AS_SVG)
    headers = admin("GET", PLAN).headers
    assert headers["content-type"] == "image/svg+xml; charset=utf-8"
    assert headers["x-content-type-options"] == "nosniff"
    policy = headers["content-security-policy"].split("; ")
    assert "default-src 'none'" in policy
    assert "sandbox" in policy  # without allow-scripts and allow-same-origin
    assert not any("script-src" in rule or "unsafe-eval" in rule for rule in policy)


def test_unchanged_plan_is_not_sent_again(admin):
    admin("PUT", PLAN, content=SVG, headers=AS_SVG)
    first = admin("GET", PLAN)
    again = admin("GET", PLAN, headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    admin("PUT", PLAN, content=SVG.replace(b"9", b"8"), headers=AS_SVG)
    assert admin("GET", PLAN, headers={"If-None-Match": first.headers["etag"]}).status_code == 200


@pytest.mark.parametrize(
    ("content", "kind", "status", "detail"),
    [
        (SVG, "text/html", 415, "Content-Type must be image/svg+xml or image/png, got 'text/html'"),
        (SVG, "image/png", 422, "the image is not a PNG image"),
        (b"<html/>", "image/svg+xml", 422, "the image is not an SVG image"),
        (
            SVG.replace(b"<rect", b'<rect onclick="alert(1)"'),
            "image/svg+xml",
            422,
            "the image must not contain the script attribute onclick: export it as plain SVG",
        ),
        (
            SVG.replace(b"<rect", b"<script/><rect"),
            "image/svg+xml",
            422,
            "the image must not contain <script>: export it as plain SVG",
        ),
        (
            bytes(MAX_PLAN_BYTES + 1),
            "image/png",
            413,
            "the request body must be at most 5000000 bytes",
        ),
    ],
    ids=["type", "png", "html", "handler", "script", "size"],
)
def test_other_files_are_rejected(admin, pipeline, content, kind, status, detail):
    response = admin("PUT", PLAN, content=content, headers={"Content-Type": kind})
    assert (response.status_code, error_detail(response)) == (status, detail)
    assert pipeline.store.plans() == []


def test_floor_without_rooms_is_not_found(admin):
    for method in ("GET", "PUT", "DELETE"):
        response = admin(method, "/api/floors/plan?floor=attic", headers=AS_SVG)
        assert (response.status_code, error_detail(response)) == (404, "there is no floor 'attic'")
    assert admin("GET", "/api/floors/plan").status_code == 422


def test_rooms_are_placed_and_removed(admin, pipeline):
    assert admin("PUT", "/api/rooms/lab/place", json={"x": 0.25, "y": 1}).json() == {
        "room": "lab",
        "x": 0.25,
        "y": 1.0,
    }
    admin("PUT", "/api/rooms/lab/place", json={"x": 0.5, "y": 0})
    pipeline.store.set_place("removed-room", (0.1, 0.1))
    assert admin("GET", "/api/floors").json()["places"] == [{"room": "lab", "x": 0.5, "y": 0.0}]
    assert admin("DELETE", "/api/rooms/lab/place").status_code == 204
    assert error_detail(admin("DELETE", "/api/rooms/lab/place")) == "lab has no place"


@pytest.mark.parametrize(
    ("place", "detail"),
    [
        ({"x": 1.5, "y": 0}, "x must be at most 1.0, got 1.5"),
        ({"x": 0, "y": -0.5}, "y must be at least 0.0, got -0.5"),
        ({"x": 0}, "y is required"),
        ({"x": "0", "y": 0}, "x must be a valid number, got '0'"),
    ],
)
def test_invalid_place_is_rejected(admin, place, detail):
    response = admin("PUT", "/api/rooms/lab/place", json=place)
    assert (response.status_code, error_detail(response)) == (422, detail)


def test_place_survives_a_new_plan(admin):
    admin("PUT", PLAN, content=SVG, headers=AS_SVG)
    admin("PUT", "/api/rooms/lab/place", json={"x": 0.5, "y": 0.5})
    admin("DELETE", PLAN)
    admin("PUT", PLAN, content=SVG.replace(b"40", b"90"), headers=AS_SVG)
    assert admin("GET", "/api/floors").json()["places"] == [{"room": "lab", "x": 0.5, "y": 0.5}]


@pytest.mark.parametrize("role", ["read", "write"])
def test_changes_need_the_role_admin(app, pipeline, role):
    pipeline.store.set_plan("1", SVG, media_type="image/svg+xml", width=4, height=3)
    client = Client(app, role)
    assert client("GET", "/api/floors").status_code == 200
    assert client("GET", PLAN).status_code == 200
    for method, path in (
        ("PUT", PLAN),
        ("DELETE", PLAN),
        ("PUT", "/api/rooms/lab/place"),
        ("DELETE", "/api/rooms/lab/place"),
    ):
        response = client(method, path, content=SVG if method == "PUT" else None, headers=AS_SVG)
        assert response.status_code == 403
        assert error_detail(response) == f"role admin required, token '{role}' has role {role}"
    assert Client(app)("GET", PLAN).status_code == 401
