"""Which servers and browser the tests could not have: said at the end, a failure where all are asked for."""

import os

import pytest
from browser import why_no_chromium
from live.mosquitto import why_no_mosquitto
from live.postgres import why_no_postgres

ALL_OF_THEM = "ALL_SERVERS"


def missing():
    """Say which of them cannot be had, and why."""
    reasons = (why_no_mosquitto(), why_no_postgres(), why_no_chromium())
    return [why for why in reasons if why is not None]


def pytest_sessionstart(session):
    if os.environ.get(ALL_OF_THEM) and missing():
        pytest.exit(f"{ALL_OF_THEM} is set, but: {'; '.join(missing())}", returncode=2)


def pytest_terminal_summary(terminalreporter):
    for why in missing():
        terminalreporter.write_line(f"tests were left out: {why}", yellow=True)
