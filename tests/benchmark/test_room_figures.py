"""Figures of the rooms and the self-contained benchmark report."""

import json
import re

import pandas as pd
import pytest

from occupair.benchmark.benchmark_page import headline, render_page, write_page
from occupair.benchmark.room_figures import compared, example_days, room_figure


def test_figure_has_a_dot_for_each_method_and_lag(result):
    figure = room_figure(result, "one")
    dots = [trace for trace in figure.data if trace.mode == "markers"]
    assert [trace.name for trace in dots] == ["lag 0 min", "lag 20 min"]
    assert list(dots[1].y) == result.methods
    expected = [round(result.scores["nrmse"].loc["one", name, 20.0], 4) for name in result.methods]
    assert list(dots[1].x) == expected


def test_days_show_the_true_count_and_two_methods(result):
    figure = room_figure(result, "two")
    names = [trace.name for trace in figure.data if trace.mode != "markers"]
    assert names == ["true count", *compared(result)] * 3
    assert compared(result)[0] == result.best_baselines[0.0]
    shown = [trace.name for trace in figure.data if trace.showlegend is not False]
    assert len(shown) == len(set(shown)) == 5


def test_example_days_have_people():
    times = pd.date_range("2024-01-08", periods=6, freq="12h")
    truth = pd.Series([0.0, 0, 3, 3, 0, 1], index=times)
    assert [day.index[0].day for day in example_days(truth)] == [9, 10]


def test_report_is_self_contained(result, tmp_path):
    page = render_page(result)
    assert not re.search(r'(src|href)="(?!#)', page.split('<script id="plotly-js">')[0])
    assert page.count('class="plot"') == 2
    for data in re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', page):
        assert json.loads(data)["data"]
    write_page(result, tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text() == page


def test_headline_names_the_method_with_the_lowest_error(result):
    best = result.methods[0]
    error = result.averages["nrmse"].loc[best, 0.0]
    assert headline(result) == (
        f"Of 3 methods in 2 rooms, {best} has the lowest error: nRMSE {error:.2f} at lag 0 min."
    )


@pytest.mark.parametrize("room", ["one", "two"])
def test_report_has_all_scores(result, room):
    page = render_page(result)
    assert f"All scores in {room}." in page
    assert f"{result.scores['nrmse'].loc[room, 'ours', 20.0]:.3f}" in page
