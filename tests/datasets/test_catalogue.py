"""The known data sets, their location and their checksums."""

import gzip
import hashlib
import re

import pytest

from occupair.datasets import DATASETS, find_folder
from occupair.datasets.catalogue import data_set_called
from occupair.errors import InputError


def test_data_sets_are_described():
    assert list(DATASETS) == ["sdu2018", "sdu2019", "robod", "uci864", "uci357"]
    for name, data_set in DATASETS.items():
        assert data_set.name == name
        assert data_set.licence in {"CC-BY-4.0", "CC0-1.0"}
        assert "doi:" in data_set.citation
        assert data_set.page.startswith("https://")
        assert len({file.name for file in data_set.files}) == len(data_set.files) > 0
        for file in data_set.files:
            assert file.url.startswith("https://")
            assert re.fullmatch("[0-9a-f]{64}", file.sha256)


@pytest.mark.parametrize("name", DATASETS)
def test_checksums_of_the_published_files(published, name):
    for file in DATASETS[name].files:
        path = published(name) / file.name
        wrapped = path.with_name(f"{file.name}.gz")
        content = path.read_bytes() if path.exists() else gzip.decompress(wrapped.read_bytes())
        assert hashlib.sha256(content).hexdigest() == file.sha256, file.name


def test_unknown_data_set_is_refused():
    with pytest.raises(
        InputError, match=r"unknown data set 'sdu', choose from sdu2018, sdu2019, robod, uci864"
    ):
        data_set_called("sdu")
    with pytest.raises(InputError, match=r"unknown data set 'sdu'"):
        find_folder("sdu")


@pytest.fixture
def no_data(tmp_path, monkeypatch):
    """A machine without any data set; the folder that contains its empty cache."""
    for name in ("OCCUPAIR_DATA", "OCCUPAIR_CACHE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


def test_missing_data_set_has_no_folder(no_data):
    assert find_folder("robod") is None


def test_data_set_is_found_in_the_user_cache(no_data, monkeypatch):
    folder = no_data / "cache/occupair/data/robod"
    folder.mkdir(parents=True)
    assert find_folder("robod") == folder
    monkeypatch.setenv("OCCUPAIR_CACHE", str(no_data / "elsewhere"))
    assert find_folder("robod") is None


def test_occupair_data_precedes_the_user_cache(no_data, monkeypatch):
    for folder in ("given/robod", "cache/occupair/data/robod", "cache/occupair/data/uci357"):
        (no_data / folder).mkdir(parents=True)
    monkeypatch.setenv("OCCUPAIR_DATA", str(no_data / "given"))
    assert find_folder("robod") == no_data / "given/robod"
    assert find_folder("uci357") == no_data / "cache/occupair/data/uci357"
