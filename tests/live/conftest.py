"""What several tests of the service share: settings, a broker, an empty store, services that end."""

from contextlib import closing

import pytest
from live.mosquitto import mosquitto_server
from live.postgres import empty_database

from occupair.live.config import read_config
from occupair.live.store import Store


@pytest.fixture
def write(tmp_path):
    """Write settings; give their path."""

    def write(text, name="rooms.toml"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.fixture
def read(write):
    """Read settings of a text, in an environment that has nothing but what is given."""
    return lambda text, environ=None, **options: read_config(write(text), environ or {}, **options)


@pytest.fixture
def server():
    """A broker."""
    with mosquitto_server() as server:
        yield server


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request, tmp_path):
    """Of an empty database, without tables."""
    return empty_database(request.param, tmp_path)


@pytest.fixture
def store(url):
    with closing(Store(url)) as store:
        store.migrate()
        yield store


@pytest.fixture
def start():
    """Start services that are ended with the test."""
    services = []

    def begin(service):
        services.append(service)
        service.start()
        return service

    yield begin
    for service in services:
        service.kill()
