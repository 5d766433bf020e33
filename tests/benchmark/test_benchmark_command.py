"""The benchmark command on simulated rooms, and on public rooms if available."""

import json

import pytest

import occupair as oc
from occupair.benchmark.public_rooms import benchmark
from occupair.datasets import BENCHMARK_ROOMS, benchmark_rooms


@pytest.fixture
def simulated(monkeypatch, slow_office):
    """Replace every room by the slow office."""
    monkeypatch.setattr(benchmark_rooms, "read_room", lambda name: slow_office)


def test_benchmark_writes_markdown_json_and_report(simulated, tmp_path):
    given = {"rooms": ["robod-1", "robod-3"], "methods": ["mean", "profile"], "lags": [0], "cache": tmp_path}
    text = benchmark(**given, out=tmp_path / "page.html")
    assert "Rooms: robod-1 (4 days) and robod-3 (4 days)." in text
    assert "robod-3" in (tmp_path / "page.html").read_text()
    document = json.loads(benchmark(**given, as_json=True))
    assert [row["method"] for row in document["averages"]] == ["mean", "profile"]


def test_default_is_all_benchmark_rooms(simulated, tmp_path):
    document = json.loads(benchmark(methods=["mean"], lags=[0], cache=tmp_path, as_json=True))
    assert list(document["rooms"]) == list(BENCHMARK_ROOMS)


def test_cache_folder_is_set_by_the_environment(simulated, tmp_path, monkeypatch):
    monkeypatch.setenv("OCCUPAIR_CACHE", str(tmp_path))
    benchmark(["robod-1"], ["mean"], [0])
    assert len(list((tmp_path / "benchmark").rglob("*.run"))) == 3


def test_invalid_arguments_are_refused(tmp_path):
    with pytest.raises(oc.InputError, match=r"unknown room 'attic', choose from sdu2018-1, .*, uci864"):
        benchmark(["attic"], cache=tmp_path)
    with pytest.raises(oc.InputError, match="unknown method 'magic', choose from mean, "):
        benchmark(["robod-1"], ["magic"], cache=tmp_path)
    with pytest.raises(oc.InputError, match="lag must be from 0 to less than 1440 min, got -5"):
        benchmark(["robod-1"], ["mean"], [-5], cache=tmp_path)
    with pytest.raises(IsADirectoryError):
        benchmark(["robod-1"], ["mean"], out=tmp_path, cache=tmp_path)


def test_room_without_data_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("occupair.datasets.benchmark_rooms.find_folder", lambda name: None)
    with pytest.raises(oc.InputError, match=r"'occupair datasets fetch robod' or set OCCUPAIR_DATA"):
        benchmark(["robod-1"], ["mean"], cache=tmp_path)


def test_public_room(published, tmp_path):
    published("robod")
    document = json.loads(benchmark(["robod-3"], ["mean", "mass-balance"], [0], cache=tmp_path, as_json=True))
    mean, balance = document["averages"]
    assert mean["nrmse"] == 1.0
    assert balance["nrmse"] < 1.0
