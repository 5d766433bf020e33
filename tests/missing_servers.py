"""Servers and browser that tests need: missing ones are reported, or fail the run if ALL_SERVERS is set."""

import os

import pytest
from browser import why_no_chromium
from live.mosquitto import why_no_mosquitto
from live.postgres import why_no_postgres

REQUIRE_ALL = "ALL_SERVERS"


def missing():
    """Return the reasons why servers or the browser are unavailable."""
    reasons = (why_no_mosquitto(), why_no_postgres(), why_no_chromium())
    return [why for why in reasons if why is not None]


def pytest_sessionstart(session):
    if os.environ.get(REQUIRE_ALL) and missing():
        pytest.exit(f"{REQUIRE_ALL} is set, but: {'; '.join(missing())}", returncode=2)


def pytest_terminal_summary(terminalreporter):
    for why in missing():
        terminalreporter.write_line(f"tests skipped: {why}", yellow=True)
