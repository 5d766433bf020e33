"""Servers that tests need: missing ones are reported, and end the run in CI (``CI=true``)."""

import os

import pytest
from browser import why_no_chromium
from live.mosquitto import why_no_mosquitto
from live.postgres import why_no_postgres


def missing():
    """Return the reasons why servers are unavailable."""
    reasons = (why_no_mosquitto(), why_no_postgres(), why_no_chromium())
    return [why for why in reasons if why is not None]


def pytest_sessionstart(session):
    if os.environ.get("CI") == "true" and missing():
        pytest.exit(f"required in CI, but {'; '.join(missing())}", returncode=2)


def pytest_terminal_summary(terminalreporter):
    for why in missing():
        terminalreporter.write_line(f"tests skipped: {why}", yellow=True)
