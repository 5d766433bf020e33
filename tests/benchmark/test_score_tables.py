"""Tables of given benchmark results."""

import json
import math

import pandas as pd
import pytest

from occupair.benchmark.result import BenchmarkResult
from occupair.benchmark.score_tables import as_json, as_markdown, average_table, full_table
from occupair.benchmark.scores import TOLERANCES
from occupair.report.text_table import markdown

ROW = {"nrmse": 0.51234, "rmse": 7.6543, "mae": 3.21, "fdr": 0.1234, "fpr": math.nan, "fnr": 0.0}
ROW |= {f"within_{x}": 0.2 * x for x in TOLERANCES} | {"fit_seconds": 12.3, "estimate_seconds": 0.001}


@pytest.fixture
def given():
    """One room, one lag, a baseline and another method."""
    times = pd.date_range("2024-01-08", periods=4, freq="12h")
    pairs = pd.MultiIndex.from_tuples([("profile", 0.0), ("ours", 0.0)], names=["method", "lag"])
    scores = pd.DataFrame([ROW | {"nrmse": 0.7}, ROW], index=pairs)
    differences = pd.DataFrame(
        {"difference": [0, -0.18766], "low": [0, -0.25], "high": [0, 0.01]}, index=pairs
    )
    return BenchmarkResult(
        truth={"hall": pd.Series([0.0, 1, 2, 3], index=times)},
        estimates={"hall": pd.DataFrame({pair: [0.0, 1, 2, 2] for pair in pairs}, index=times)},
        scores=pd.concat({"hall": scores}, names=["room"]),
        averages=scores,
        best_baselines={0.0: "profile"},
        differences=pd.concat({"hall": differences}, names=["room"]),
        average_differences=differences,
    )


def test_average_table(given):
    assert average_table(given, 0.0).rows == [
        ["ours", "0.512", "-0.188 (-0.250 to +0.010)", "7.65", "3.21", "12.3", "40.0"],
        ["profile", "0.700", "best baseline", "7.65", "3.21", "12.3", "40.0"],
    ]


def test_full_table(given):
    assert full_table(given, given.averages).rows[0] == [
        *("ours", "0", "0.512", "7.65", "3.21", "12.3", "–", "0.0"),
        *("0.0", "20.0", "40.0", "60.0", "80.0", "12", "<0.01"),
    ]


def test_markdown_document(given):
    text = as_markdown(given)
    assert text.startswith("# Benchmark\n\nRooms: hall (2 days).\n")
    assert "The best baseline by mean nRMSE is profile at lag 0 min. Differences from it" in text
    assert "## hall, lag 0 min\n\n| method  | nRMSE | difference from best baseline |" in text
    assert "## hall, all scores\n" in text
    assert all(not line.endswith(" ") for line in text.splitlines())


def test_several_rooms_have_mean_tables(result):
    text = as_markdown(result)
    headings = [line for line in text.splitlines() if line.startswith("## ")]
    assert headings == [
        "## Mean over rooms, lag 0 min",
        "## Mean over rooms, lag 20 min",
        "## Mean over rooms, all scores",
        "## one, all scores",
        "## two, all scores",
    ]


def test_columns_are_aligned(given):
    assert len({len(line) for line in markdown(full_table(given, given.averages)).splitlines()}) == 1


def test_difference_without_baseline_is_a_dash(given):
    alone = BenchmarkResult(**{**vars(given), "best_baselines": {}})
    assert {row[2] for row in average_table(alone, 0.0).rows} == {"–"}
    assert "best baseline by" not in as_markdown(alone)


def test_json_document(given):
    document = json.loads(as_json(given))
    assert document["rooms"] == {"hall": {"days": 2}}
    assert document["best_baselines"] == [{"lag": 0.0, "method": "profile"}]
    ours = document["scores"][1]
    assert (ours["room"], ours["method"], ours["lag"], ours["nrmse"]) == ("hall", "ours", 0.0, 0.51234)
    assert ours["fpr"] is None
    assert ours["low"] == -0.25
    assert document["averages"][0]["within_4"] == 0.8
