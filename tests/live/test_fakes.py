"""Fakes used in tests have the interface of the classes they stand for."""

import inspect

import pytest
from live import fake_pipeline, mqtt_helpers, page_server, pipeline_helpers, service_in_process

from occupair.live.mqtt.bridge import MqttBridge
from occupair.live.pipeline import Pipeline
from occupair.live.retraining import Trainer
from occupair.live.store import Store

FAKES = [
    (fake_pipeline.FakeStore, Store),
    (fake_pipeline.FakeTrainer, Trainer),
    (fake_pipeline.FakePipeline, Pipeline),
    (mqtt_helpers.FakePipeline, Pipeline),
    (page_server.SimulatedStore, Store),
    (page_server.SlowTrainer, Trainer),
    (page_server.Building, Pipeline),
    (pipeline_helpers.BlockingStore, Store),
    (service_in_process.CountedLinks, MqttBridge),
]


def parameters(function):
    """Return name, kind and default of each parameter."""
    found = list(inspect.signature(function).parameters.values())
    return [(one.name, one.kind, one.default) for one in found if one.name != "self"]


@pytest.mark.parametrize(("fake", "real"), FAKES, ids=lambda one: f"{one.__module__}.{one.__name__}")
def test_fake_methods_have_the_real_signature(fake, real):
    shared = [
        name
        for name, _ in inspect.getmembers(fake, inspect.isfunction)
        if not name.startswith("_") and inspect.isfunction(getattr(real, name, None))
    ]
    assert shared
    assert {name: parameters(getattr(fake, name)) for name in shared} == {
        name: parameters(getattr(real, name)) for name in shared
    }
