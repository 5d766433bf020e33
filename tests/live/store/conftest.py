"""Shared fixtures: a store with rows in every table, an empty one, and a backup."""

import pytest
from live.postgres import empty_database
from live.store_helpers import fill

from occupair.live.store import backup

KINDS = ["sqlite", "postgresql"]


@pytest.fixture(params=KINDS)
def source(request, tmp_path):
    """URL of a store with rows in every table."""
    (tmp_path / "source").mkdir()
    url = empty_database(request.param, tmp_path / "source")
    fill(url)
    return url


@pytest.fixture(params=KINDS)
def target(request, tmp_path):
    """URL of an empty store, without tables."""
    (tmp_path / "target").mkdir()
    return empty_database(request.param, tmp_path / "target")


@pytest.fixture
def file(tmp_path):
    """A backup of a store with rows in every table."""
    (tmp_path / "first").mkdir()
    url = f"sqlite:///{tmp_path / 'first/rooms.db'}"
    fill(url)
    backup(url, tmp_path / "rooms.zip")
    return tmp_path / "rooms.zip"
