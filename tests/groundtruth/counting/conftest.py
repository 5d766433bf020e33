"""Shared fixture: an events folder with five minutes of two doors."""

import pytest
from groundtruth.counting_folder import MINUTES, make_folder


@pytest.fixture
def folder(tmp_path):
    return make_folder(tmp_path / "events", MINUTES)
