"""Shared fixture: a function that writes CSV files."""

import pytest


@pytest.fixture
def csv(tmp_path):
    def write(text):
        path = tmp_path / "office.csv"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write
