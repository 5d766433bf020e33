"""What there is, where it is, and that the checksums are those of the files we read."""

import gzip
import hashlib
import re

import pytest

from occupair.datasets import DATASETS, find_folder
from occupair.datasets.catalogue import data_set_called
from occupair.errors import InputError


def test_every_data_set_has_what_a_reader_needs_to_know():
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
def test_checksums_are_those_of_the_files_here(published, name):
    for file in DATASETS[name].files:
        path = published(name) / file.name
        wrapped = path.with_name(f"{file.name}.gz")
        content = path.read_bytes() if path.exists() else gzip.decompress(wrapped.read_bytes())
        assert hashlib.sha256(content).hexdigest() == file.sha256, file.name


def test_no_such_data_set():
    with pytest.raises(InputError, match=r"there is no data set 'sdu', only sdu2018, sdu2019, robod, uci864"):
        data_set_called("sdu")
    with pytest.raises(InputError, match=r"there is no data set 'sdu'"):
        find_folder("sdu")


def test_the_folder_that_is_given_comes_first(tmp_path, monkeypatch):
    (tmp_path / "robod").mkdir()
    monkeypatch.setenv("OCCUPAIR_DATA", str(tmp_path))
    assert find_folder("robod") == tmp_path / "robod"
    assert find_folder("uci357") != tmp_path / "uci357"


def test_no_folder_outside_a_checkout(tmp_path, monkeypatch):
    monkeypatch.delenv("OCCUPAIR_DATA", raising=False)
    installed = tmp_path / "site-packages/occupair/datasets/catalogue.py"
    monkeypatch.setattr("occupair.datasets.catalogue.__file__", str(installed))
    assert find_folder("robod") is None


def test_beside_a_checkout(tmp_path, monkeypatch):
    monkeypatch.delenv("OCCUPAIR_DATA", raising=False)
    checkout = tmp_path / "main"
    monkeypatch.setattr(
        "occupair.datasets.catalogue.__file__", str(checkout / "src/occupair/datasets/catalogue.py")
    )
    (tmp_path / "shared/data/robod").mkdir(parents=True)
    checkout.mkdir()
    (checkout / "pyproject.toml").touch()
    assert find_folder("robod") == tmp_path / "shared/data/robod"
