"""OpenAPI schema: completeness, and conformance of the service (schemathesis)."""

import json
import re
from collections import Counter

import pytest
import schemathesis
from hypothesis import strategies as st
from live.fake_pipeline import MODEL, TOKENS, Client, FakePipeline, make_config, make_estimates
from schemathesis import engine
from schemathesis.engine import events
from web.test_images import png

from occupair.live.http.app import make_app
from occupair.live.http.events import Streams

SEED, MOST = 16, 20
CHECKS = {
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "negative_data_rejection",
    "positive_data_acceptance",
    "missing_required_header",
    "unsupported_method",
    "allow_header_conformance",
    "use_after_free",
    "ensure_resource_availability",
    "ignored_auth",
}
DRAWINGS = {
    "image/svg+xml": [b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 4 3"/>'],
    "image/png": [png(4, 3), png(40, 30)],
}
ERRORS = {"401", "403", "404", "409", "413", "415", "422", "429", "503"}


def make():
    pipeline = FakePipeline(make_config(tokens=True))
    pipeline.store.kept["lab"] = make_estimates("lab", 50)
    pipeline.store.add_model("lab", MODEL, origin="file")
    pipeline.store.set_plan("1", png(4, 3), media_type="image/png", width=4, height=3)
    return make_app(pipeline, pipeline.config, streams=Streams(heartbeat=0.01))


@pytest.fixture(scope="module")
def app():
    return make()


@pytest.fixture(scope="module")
def described(app):
    return json.loads(json.dumps(app.openapi()))


def operations(described):
    return {(m.upper(), path): one for path, ways in described["paths"].items() for m, one in ways.items()}


def test_errors_are_documented_as_problem(described):
    problem = described["components"]["schemas"]["Problem"]
    assert (list(problem["properties"]), problem["required"]) == (["detail"], ["detail"])
    for (method, path), one in operations(described).items():
        found = {status: answer for status, answer in one["responses"].items() if status in ERRORS}
        assert {"403", "429"} <= set(found), (method, path)
        for status, answer in found.items():
            (kind,) = answer["content"].items()
            expected = "Health" if (path, status) == ("/healthz", "503") else "Problem"
            assert kind == ("application/json", {"schema": {"$ref": f"#/components/schemas/{expected}"}})


def test_errors_are_documented_where_possible(described):
    for (method, path), one in operations(described).items():
        found = set(one["responses"])
        assert ("404" in found) == ("{room}" in path or path == "/api/floors/plan")
        assert ("401" in found) == ("security" in one) or path == "/api/login"
        assert ("415" in found) == ("requestBody" in one)
        assert ("413" in found) == (method != "GET")
        if (
            "requestBody" in one
            or "{version}" in path
            or any(p["in"] == "query" for p in one.get("parameters", ()))
        ):
            assert "422" in found
        if "{room}/" in path:
            assert "503" in found


def test_every_operation_is_documented(described):
    names = [one["operationId"] for one in operations(described).values()]
    assert len(set(names)) == len(names)
    for one in operations(described).values():
        assert one["summary"]
        assert one["description"]
        assert all(parameter.get("description") for parameter in one.get("parameters", ()))


def test_references_resolve(described):
    named = set(re.findall(r'"#/components/schemas/(\w+)"', json.dumps(described)))
    assert named == set(described["components"]["schemas"])


def test_security_schemes_are_documented(described):
    schemes = described["components"]["securitySchemes"]
    assert (schemes["token"]["type"], schemes["token"]["scheme"]) == ("http", "bearer")
    assert (schemes["cookie"]["in"], schemes["cookie"]["name"]) == ("cookie", "occupair")
    without = {key for key, one in operations(described).items() if "security" not in one}
    assert without == {("POST", "/api/login"), ("POST", "/api/logout"), ("GET", "/healthz")}


def test_schema_is_public_and_names_no_room(app):
    text = Client(app)("GET", "/api/openapi.json").text
    assert "kitchen" not in text
    assert not re.search(r"https?://", text)


@pytest.mark.slow
def test_schemathesis():
    """All its checks, on every operation: examples, edge cases and random ones, right and wrong."""
    app = make()
    # Which words are rooms and floors, which bytes are a model or a drawing, which years a label may have and
    # how long a period may be, no schema can say: without these most questions would be about rooms that are
    # not there.
    for (_, path), one in operations(app.openapi()).items():
        for parameter in one.get("parameters", ()):
            if parameter["name"] == "room":
                parameter["schema"]["enum"] = ["lab", "kitchen"]
            elif parameter["name"] == "floor":
                parameter["schema"]["enum"] = ["1"]
            elif "/hours" in path:
                parameter["schema"]["enum"] = ["2026-03-02T09:00:00Z", "2026-03-02T09:00:00.5+14:00"]
    label_time = app.openapi()["components"]["schemas"]["LabelIn"]["properties"]["time"]
    label_time["anyOf"][0]["enum"] = ["2026-03-02T09:00:00Z", "2026-03-02T09:00:00.5+14:00"]
    schemathesis.openapi.media_type(
        "application/octet-stream", st.binary(max_size=50).map(lambda more: MODEL + more)
    )
    for kind in ("image/svg+xml", "image/png"):
        schemathesis.openapi.media_type(kind, st.sampled_from(DRAWINGS[kind]))
    config = schemathesis.Config.from_dict(
        {
            "seed": SEED,
            "headers": {"Authorization": f"Bearer {TOKENS['admin']}"},
            "generation": {"max-examples": MOST, "no-shrink": True},
            "phases": {"stateful": {"enabled": False}},
            "max-stream-events": 1,
        }
    )
    schema = schemathesis.openapi.from_asgi("/api/openapi.json", app, config=config)
    faults, asked, answered, checked = [], Counter(), {}, set()
    for event in engine.from_schema(schema).execute():
        if isinstance(event, events.NonFatalError | events.FatalError):
            faults.append(str(getattr(event, "info", None) or event.exception))
        if isinstance(event, events.ScenarioFinished):
            asked[event.recorder.label] += len(event.recorder.interactions)
            for interaction in event.recorder.interactions.values():
                answered.setdefault(event.recorder.label, set()).add(interaction.response.status_code)
            for one in (one for checks in event.recorder.checks.values() for one in checks):
                checked.add(one.name)
                if one.failure_info is not None:
                    faults.append(f"{event.recorder.label}: {one.failure_info.failure}")
    assert not faults, "\n".join(faults)
    assert set(asked) == {f"{method} {path}" for method, path in operations(app.openapi())}
    assert sum(asked.values()) > 800
    assert checked >= CHECKS
    asked_rightly = {label for label, statuses in answered.items() if min(statuses) < 300}
    assert set(asked) - asked_rightly <= {
        "POST /api/login",  # whose token nobody guesses
        "DELETE /api/rooms/{room}/training",  # right only after a training
        "POST /api/rooms/{room}/training/accept",
    }
