"""Shared fixtures: settings, a broker, empty stores, service processes."""

from contextlib import closing

import pytest
from live.mosquitto import mosquitto_server
from live.postgres import empty_database

from occupair.live.config import read_config
from occupair.live.store import Store


@pytest.fixture
def write(tmp_path):
    """Return a function that writes settings and returns their path."""

    def write(text, name="rooms.toml"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.fixture
def read(write):
    """Return a function that reads settings from text, in an environment with nothing but what is given."""
    return lambda text, environ=None, **options: read_config(write(text), environ or {}, **options)


@pytest.fixture
def server():
    """A running MQTT broker."""
    with mosquitto_server() as server:
        yield server


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request, tmp_path):
    """URL of an empty database, without tables."""
    return empty_database(request.param, tmp_path)


@pytest.fixture
def store(url):
    with closing(Store(url)) as store:
        store.migrate()
        yield store


@pytest.fixture
def start():
    """Return a function that starts a service; it is killed at the end of the test."""
    services = []

    def start_service(service, *, wait=True):
        services.append(service)
        service.start(wait=wait)
        return service

    yield start_service
    for service in services:
        service.kill()
