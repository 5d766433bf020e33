"""OpenAPI says all there is to say, and schemathesis finds nothing that is otherwise."""

import json
import re
from collections import Counter

import pytest
import schemathesis
from hypothesis import strategies as st
from live.fake_pipeline import MODEL, TOKENS, Client, FakePipeline, make_config, make_estimates
from schemathesis import engine
from schemathesis.engine import events

from occupair.live.http.app import make_app
from occupair.live.http.events import Streams

SEED, MOST = 16, 60
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
ERRORS = {"401", "403", "404", "409", "413", "415", "422", "429", "503"}


@pytest.fixture(scope="module")
def app():
    pipeline = FakePipeline(make_config(tokens=True))
    pipeline.store.kept["lab"] = make_estimates("lab", 50)
    pipeline.store.add_model("lab", MODEL, origin="file")
    return make_app(pipeline, pipeline.config, streams=Streams(heartbeat=0.01))


@pytest.fixture(scope="module")
def described(app):
    return json.loads(json.dumps(app.openapi()))


def operations(described):
    return {(m.upper(), path): one for path, ways in described["paths"].items() for m, one in ways.items()}


def test_schemathesis_finds_nothing(app):
    """All its checks, on every operation: examples, edge cases and random ones, right and wrong."""
    # Which words are rooms, and which bytes are a model, no schema can say: without these most questions
    # would be about rooms that are not there.
    for one in operations(app.openapi()).values():
        for parameter in one.get("parameters", ()):
            if parameter["name"] == "room":
                parameter["schema"]["enum"] = ["lab", "kitchen"]
    schemathesis.openapi.media_type(
        "application/octet-stream", st.binary(max_size=50).map(lambda more: MODEL + more)
    )
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
    assert sum(asked.values()) > 1_500
    assert checked >= CHECKS
    for label, statuses in answered.items():
        assert min(statuses) < 300, f"{label} was never asked rightly: {statuses}"
