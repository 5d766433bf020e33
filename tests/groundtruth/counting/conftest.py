"""Shared fixtures: an events folder with five minutes of two doors, and its page in a browser."""

import pytest
from groundtruth.counting_folder import MINUTES, FolderServer, make_folder


@pytest.fixture
def folder(tmp_path):
    return make_folder(tmp_path / "events", MINUTES)


@pytest.fixture(scope="module")
def server():
    """One server for all tests of the module."""
    with FolderServer() as server:
        yield server


@pytest.fixture
def run(server):
    """Serve a folder, and return its address."""
    return server.serve


@pytest.fixture
def open_counting(open_page):
    """Open pages, and wait until they show the day."""
    from playwright.sync_api import expect

    def open_counting(url, **settings):
        page = open_page(url, **settings)
        expect(page.locator("#day")).to_be_visible()
        return page

    return open_counting
