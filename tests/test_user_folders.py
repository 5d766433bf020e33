"""Folders for downloads and cached results."""

from pathlib import Path

import pytest

from occupair.user_folders import benchmark_folder, cache_folder, data_folders


@pytest.fixture(autouse=True)
def home(monkeypatch):
    for name in ("OCCUPAIR_CACHE", "OCCUPAIR_DATA", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", "/home/ada")


def test_cache_is_in_the_home_folder_by_default():
    assert cache_folder() == Path("/home/ada/.cache/occupair")
    assert benchmark_folder() == Path("/home/ada/.cache/occupair/benchmark")
    assert data_folders() == [Path("/home/ada/.cache/occupair/data")]


def test_cache_folder_of_the_desktop_is_used(monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", "/var/cache/ada")
    assert cache_folder() == Path("/var/cache/ada/occupair")


def test_given_folders_come_first(monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", "/var/cache/ada")
    monkeypatch.setenv("OCCUPAIR_CACHE", "/srv/occupair")
    monkeypatch.setenv("OCCUPAIR_DATA", "/srv/data")
    assert cache_folder() == Path("/srv/occupair")
    assert data_folders() == [Path("/srv/data"), Path("/srv/occupair/data")]
