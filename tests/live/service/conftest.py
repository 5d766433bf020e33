"""Settings of a service in the process of a test, and a stand-in for its link to the broker."""

import pytest
from live.service_in_process import CountedLinks

from occupair.live import service as live_service


@pytest.fixture
def links(monkeypatch):
    links = CountedLinks()
    monkeypatch.setattr(live_service, "MqttBridge", links)
    monkeypatch.setattr(live_service, "start_logging", lambda *_, **__: None)
    return links


@pytest.fixture
def settings(tmp_path):
    """Return a function that writes settings."""
    path = tmp_path / "rooms.toml"

    def write(*rooms, more="", broker='[mqtt]\nhost = "127.0.0.1"\n'):
        sections = "".join(f"[rooms.{room}]\n" for room in rooms)
        path.write_text(f'[service]\nstore = "sqlite:///{tmp_path}/rooms.db"\n{more}\n{broker}{sections}')
        return path

    return write
