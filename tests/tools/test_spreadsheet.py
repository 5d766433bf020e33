"""Rules of a spreadsheet on rooms made by hand, and the scores in docs/comparison.md."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from occupair.benchmark.run_benchmark import run_benchmark
from occupair.datasets import BENCHMARK_ROOMS, ROOMS, read_rooms
from tools import spreadsheet

DOCS = Path(__file__).parents[2] / "docs"
BASELINES = {
    "occupair": "occupair",
    "gradient boosting": "gradient-boosting",
    "grey-box Kalman filter": "kalman",
    "dynamic mass balance": "mass-balance",
    "hidden Markov model": "hmm",
    "the paper's live estimator, Eq. (26)": "paper",
    "time-of-day profile, no CO2": "profile",
}
RULES = {
    "spreadsheet: steady state, CO2 and ventilation": "steady state, CO2 and ventilation",
    "spreadsheet: steady state, CO2 only": "steady state, CO2",
    "CO2 threshold": "CO2 threshold",
}


def room(co2, ventilation, people):
    times = pd.date_range("2024-01-08", periods=len(co2), freq="5min")
    return pd.DataFrame({"co2": co2, "ventilation": ventilation, "occupancy": people}, index=times)


def test_steady_state_recovers_the_flow_of_a_room_in_steady_state():
    people = np.repeat([0.0, 4.0, 10.0, 2.0], 72)
    ventilation = np.tile(np.repeat([0.0, 1.0], 36), 4)
    flow = 0.01 + 0.03 * ventilation  # [people/ppm]
    readings = room(410 + people / flow, ventilation, people)
    rule = spreadsheet.SteadyState().fit(readings)
    assert rule.coef_ == pytest.approx([0.01, 0.03])
    assert rule.estimate(readings).to_numpy() == pytest.approx(people, abs=1e-9)


def test_steady_state_without_flow_is_one_factor():
    readings = room([400.0, 500.0, 600.0, 400.0], [0.0, 1.0, 0.0, 1.0], [0, 2, 4, 0])
    rule = spreadsheet.SteadyState(uses_flow=False).fit(readings)
    assert rule.coef_ == pytest.approx([0.02])


def test_threshold_separates_occupied_and_empty_readings():
    readings = room([400.0, 440.0, 480.0, 700.0, 900.0, 455.0], [1.0] * 6, [0, 0, 3, 5, 7, 0])
    rule = spreadsheet.Threshold().fit(readings)
    assert 455 <= rule.threshold_ < 480
    assert rule.estimate(readings).tolist() == [0, 0, 5, 5, 5, 0]


def rows(text):
    """Return the rows of Markdown tables by their first cell, each a list of the other cells."""
    cells = [[cell.strip(" *") for cell in line.strip("|").split("|")] for line in text.splitlines()]
    return {first: others for first, *others in cells if others}


def page_rows():
    page = (DOCS / "comparison.md").read_text()
    return rows(page.split("## Measured comparison")[1].split("\n## ")[0])


def test_page_has_the_scores_of_the_benchmark():
    benchmark = (DOCS / "benchmark.md").read_text()
    (table,) = re.findall(r"^## Mean over rooms, lag 0 min\n\n((?:\|.*\n)+)", benchmark, re.MULTILINE)
    expected = {name: [score for score in scores if "(" not in score] for name, scores in rows(table).items()}
    stated = page_rows()
    for name, method in BASELINES.items():
        nrmse, *others = expected[method]
        assert stated[name] == [nrmse, *(score for score in others if score != "best baseline")]
    assert set(stated) == {"method", "---", *BASELINES, *RULES}
    scores = [float(row[0]) for row in list(stated.values())[2:]]
    assert scores == sorted(scores)


def test_page_has_the_scores_of_the_rules(published):
    for name in BENCHMARK_ROOMS:
        published(ROOMS[name].dataset)
    result = run_benchmark(read_rooms(()), spreadsheet.RULES, [0])
    printed = {rule: scores for rule, *scores in spreadsheet.table(result).rows}
    assert {name: page_rows()[name] for name in RULES} == {
        name: printed[rule] for name, rule in RULES.items()
    }


def test_page_states_differences_and_day_one_scores_correctly():
    page = re.sub(r"\s+", " ", (DOCS / "comparison.md").read_text())
    stated = page_rows()
    steady = float(stated["spreadsheet: steady state, CO2 and ventilation"][0])
    assert re.findall(r"(\S+) behind occupair", page) == [f"{steady - float(stated['occupair'][0]):.3f}"]
    day_one = rows((DOCS / "day-one.md").read_text())["none"]
    (live,) = re.findall(r"occupair has a live nRMSE of (\S+)", page)
    assert any(cell.startswith(f"{live} /") for cell in day_one)
