"""Missing test servers are reported, or fail the run if all are required."""

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


def test_missing_server_fails_the_run_if_all_are_required(monkeypatch):
    monkeypatch.setattr(postgres, "_program", lambda name: "")
    monkeypatch.setattr(mosquitto, "_program", lambda name: None)
    monkeypatch.setattr(browser.shutil, "which", lambda name: None)
    monkeypatch.delenv(missing_servers.REQUIRE_ALL, raising=False)
    assert missing_servers.pytest_sessionstart(None) is None
    monkeypatch.setenv(missing_servers.REQUIRE_ALL, "1")
    with pytest.raises(pytest.exit.Exception) as caught:
        missing_servers.pytest_sessionstart(None)
    for name in ("mosquitto is not installed", "PostgreSQL is not installed", "Chromium is not installed"):
        assert name in str(caught.value)
