"""The commands simulate, datasets, benchmark and reproduce."""

import functools
import json
import os

import numpy as np
import pytest
from command import occupair

import occupair as oc
from occupair.report import paper_experiment


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_simulate_writes_simulated_readings(tmp_path, suffix):
    done = occupair("simulate", "--out", tmp_path / f"office.{suffix}", "--days", "2", "--seed", "3")
    assert done.returncode == 0, done.stderr
    assert "2880 simulated readings, 2 weekdays" in done.stdout
    written = oc.read_readings(tmp_path / f"office.{suffix}")
    np.testing.assert_array_equal(written.to_numpy(), oc.simulate_office(2, seed=3).to_numpy())
    assert os.listdir(tmp_path) == [f"office.{suffix}"]


def test_datasets_lists_licence_and_location(monkeypatch, tmp_path):
    (tmp_path / "robod").mkdir()
    monkeypatch.setenv("OCCUPAIR_DATA", str(tmp_path))
    listed = occupair("datasets").stdout
    assert "sdu2018: Room-level Occupant Counts" in listed
    assert "CC-BY-4.0; https://github.com/ideas-lab-nus/robod" in listed
    assert f"in {tmp_path / 'robod'}" in listed


def test_benchmark_prints_tables_and_refuses_unknown_names(tmp_path, monkeypatch, slow_office):
    monkeypatch.setattr("occupair.datasets.benchmark_rooms.read_room", lambda name: slow_office)
    arguments = [
        "benchmark",
        "robod-3",
        "--methods",
        "mean,profile",
        "--lags",
        "0",
        "--cache",
        tmp_path / "cache",
    ]
    done = occupair(*arguments, "--out", tmp_path / "page.html")
    assert done.returncode == 0, done.stderr
    assert "| mean " in done.stdout
    assert json.loads(occupair(*arguments, "--json").stdout)
    assert (tmp_path / "page.html").exists()
    for wrong, message in (
        (["benchmark", "attic"], "unknown room 'attic', choose from sdu2018-1"),
        (["benchmark", "--methods", "oracle"], "'oracle'"),
        (["benchmark", "--lags", "soon"], "lags must be minutes separated by commas, got 'soon'"),
    ):
        done = occupair(*wrong)
        assert done.returncode == 2
        assert message in done.stderr
        assert done.stderr.count("\n") == 1


def test_reproduce_prints_both_tables_and_writes_the_report(tmp_path, monkeypatch):
    """The command with a small experiment: two training days, one test day, 20 neurons."""
    paper = oc.OccupancyEstimator.paper
    small = classmethod(lambda cls, **changes: paper(n_hidden=20, **changes))
    monkeypatch.setattr(oc.OccupancyEstimator, "paper", small)
    monkeypatch.setattr(paper_experiment, "DAYS", 3)
    monkeypatch.setattr(paper_experiment, "TRAIN_DAYS", 2)
    monkeypatch.setattr(paper_experiment, "reproduce", functools.cache(paper_experiment.reproduce))
    options = ["reproduce", "--draws", 2, "--out", "report.html"]
    done = occupair(*options, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "report.html").read_text().startswith("<!DOCTYPE html>")
    assert "The paper's data are not public. These results are for a simulation" in done.stdout
    lines = [line for line in done.stdout.splitlines() if " paper " in line and line[0] == "("]
    assert [line.split()[0] for line in lines] == ["(4)", "(21)", "(22)", "(24)", "(26)", "(16)", "(20)"]
    assert max(map(len, lines)) <= 80
    assert "5.9575" in lines[0]  # the paper's RMSE of the standard ELM
    assert "0.0012" in done.stdout
    assert "report.html" in done.stdout
    printed = json.loads(occupair(*options, "--json", cwd=tmp_path).stdout)
    assert set(printed["scores"]) == {"4", "21", "22", "24", "26"}
    assert printed["simulated"] is True
    assert printed["draws"] == 2
