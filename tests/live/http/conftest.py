"""Shared fixtures: a fake pipeline of two rooms, and a client of its server."""

import pytest
from live.fake_pipeline import Client, FakePipeline, make_config

from occupair.live.http.app import make_app


@pytest.fixture
def pipeline():
    return FakePipeline(make_config())


@pytest.fixture
def ask(pipeline):
    return Client(make_app(pipeline, pipeline.config, durable_within=0.2))
