"""Missing servers are reported, and end the run in CI."""

import browser
import missing_servers
import pytest
from live import mosquitto, postgres


def test_reason_for_missing_postgres(monkeypatch):
    monkeypatch.setattr(postgres, "_program", lambda name: "")
    assert "PostgreSQL is not installed" in str(postgres.why_no_postgres())
    monkeypatch.setattr(postgres, "_program", lambda name: "/bin/true")
    monkeypatch.setattr(postgres, "_other_user", lambda: None)
    monkeypatch.setattr(postgres.os, "geteuid", lambda: 0)
    assert "does not run as root" in str(postgres.why_no_postgres())
    monkeypatch.setattr(postgres.os, "geteuid", lambda: 1000)
    assert postgres.why_no_postgres() is None


def test_missing_servers_end_the_run_in_ci(monkeypatch):
    monkeypatch.setattr(postgres, "_program", lambda name: "")
    monkeypatch.setattr(mosquitto, "_program", lambda name: None)
    monkeypatch.setattr(browser, "find_chromium", lambda: None)
    monkeypatch.delenv("CI", raising=False)
    assert missing_servers.pytest_sessionstart(None) is None
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.exit.Exception) as caught:
        missing_servers.pytest_sessionstart(None)
    for name in ("mosquitto", "PostgreSQL", "Chromium"):
        assert f"{name} is not installed" in str(caught.value)
