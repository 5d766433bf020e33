from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from occupair.report import figure_style, paper_figures
from occupair.report.number_format import estimator_name
from occupair.report.published_results import ESTIMATOR_NAMES

ALL = [
    paper_figures.co2_day,
    paper_figures.five_test_days,
    paper_figures.tolerance_accuracy,
    paper_figures.rmse_beside_paper,
]
ALL += [paper_figures.sigmoid_saturation]


def named(figure, name, axis="x"):
    return next(trace for trace in figure.data if trace.name == name and (trace.xaxis or "x") == axis)


@pytest.mark.parametrize("draw", ALL, ids=lambda draw: draw.__name__)
def test_figure_is_valid_json_without_nan(draw, reproduction):
    text = draw(reproduction).to_json()
    assert "NaN" not in text
    assert "Infinity" not in text


@pytest.mark.parametrize("draw", ALL, ids=lambda draw: draw.__name__)
def test_figure_does_not_modify_its_input(draw, reproduction):
    before = reproduction.estimates.copy(), reproduction.co2_day.copy()
    draw(reproduction)
    pd.testing.assert_frame_equal(reproduction.estimates, before[0])
    pd.testing.assert_frame_equal(reproduction.co2_day, before[1])


def test_co2_day_shows_the_raw_readings(reproduction):
    raw = named(paper_figures.co2_day(reproduction), "raw readings")
    assert (raw.x0, raw.dx) == ("2000-01-01 00:00", 60_000.0)
    np.testing.assert_allclose(raw.y, reproduction.co2_day["raw"], atol=0.05)


@pytest.mark.parametrize("minutes", [680, 720])
def test_live_line_ends_with_its_last_minute(reproduction, minutes):
    line = named(paper_figures.co2_day(reproduction), f"smoothed live, first {minutes} min")
    assert len(line.y) == minutes
    last = reproduction.co2_day[f"locally_smoothed_{minutes}"].iloc[minutes - 1]
    assert line.y[-1] == pytest.approx(last, abs=0.05)


def test_detail_panel_has_a_margin_of_40_minutes(reproduction):
    close_up = named(paper_figures.co2_day(reproduction), "raw readings", axis="x2")
    assert close_up.x0 == "2000-01-01 10:39"  # the first 680 minutes end with the reading of 11:19
    assert len(close_up.y) == 40 + 40 + 40 + 1  # ... to 12:39, 40 minutes after 11:59


def test_shading_marks_ventilation_on(reproduction):
    shades = [shape for shape in paper_figures.co2_day(reproduction).layout.shapes if shape.xref == "x"]
    assert [(shape.x0, shape.x1) for shape in shades] == [("2000-01-01 07:30", "2000-01-01 21:59")]


def test_day_without_ventilation_has_no_shading(reproduction):
    day = reproduction.co2_day.assign(ventilation=np.nan)
    assert not paper_figures.co2_day(replace(reproduction, co2_day=day)).layout.shapes


def test_test_days_show_truth_and_all_estimators(reproduction):
    figure = paper_figures.five_test_days(reproduction)
    assert len(figure.data) == 5 * (1 + 5)
    for number in range(5):
        part = slice(1440 * number, 1440 * (number + 1))
        axis = "x" if number == 0 else f"x{number + 1}"
        assert list(named(figure, "true count", axis).y) == reproduction.truth.iloc[part].tolist()
        for equation in ESTIMATOR_NAMES:
            drawn = named(figure, estimator_name(equation), axis)
            np.testing.assert_allclose(drawn.y, reproduction.estimates[equation].iloc[part], atol=0.005)


def test_test_days_have_common_axes(reproduction):
    figure = paper_figures.five_test_days(reproduction)
    assert len({tuple(axis.range) for axis in figure.select_yaxes()}) == 1
    assert {tuple(axis.range) for axis in figure.select_xaxes()} == {("2000-01-01 00:00", "2000-01-02 00:00")}


def test_estimators_are_visible_and_once_in_the_legend(reproduction):
    figure = paper_figures.five_test_days(reproduction)
    assert all(trace.visible is None for trace in figure.data)
    listed = [trace.name for trace in figure.data if trace.showlegend]
    assert sorted(listed) == sorted(["true count", *map(estimator_name, ESTIMATOR_NAMES)])


def test_one_panel_per_test_day(reproduction):
    two = replace(
        reproduction, truth=reproduction.truth.iloc[:2880], estimates=reproduction.estimates.iloc[:2880]
    )
    assert len(list(paper_figures.five_test_days(two).select_xaxes())) == 2


def test_tolerance_figure(reproduction):
    figure = paper_figures.tolerance_accuracy(reproduction)
    for equation in ESTIMATOR_NAMES:
        line = named(figure, estimator_name(equation))
        assert list(line.x) == list(range(11))
        np.testing.assert_allclose(line.y, 100 * reproduction.tolerance_accuracy[equation], atol=0.005)
    paper = named(figure, "best in the paper")
    assert list(zip(paper.x, paper.y, strict=True)) == [(3, 89.0), (4, 94.0)]


def test_rmse_figure_has_no_dot_for_a_missing_row(reproduction):
    figure = paper_figures.rmse_beside_paper(reproduction)
    ours, paper = named(figure, "ours, simulated office"), named(figure, "paper, measured office")
    np.testing.assert_allclose(
        ours.x, [reproduction.scores[equation].rmse for equation in ESTIMATOR_NAMES], atol=5e-5
    )
    assert list(paper.x) == [5.9575, 3.2307, 1.7726, None, 2.1345]


def test_saturation_figure(reproduction):
    figure = paper_figures.sigmoid_saturation(reproduction)
    assert {shape.x0 for shape in figure.layout.shapes if shape.type == "line"} == {-5, 5}
    for equation in (4, 21):
        bars = named(figure, estimator_name(equation), axis="x3")
        found = reproduction.saturation[equation]
        shares = [100 * found.share_beyond_5, 100 * found.share_always_beyond_5]
        np.testing.assert_allclose(bars.x, shares, atol=5e-4)


def test_sigmoid_curve(reproduction):
    line = paper_figures.sigmoid_saturation(reproduction).data[0]
    heights = dict(zip(line.x, line.y, strict=True))
    assert heights[0.0] == 0.5
    assert max(height for z, height in heights.items() if z < -5) < 0.007  # 1 / (1 + e^5) = 0.0067


def test_empty_bins_are_gaps_on_the_log_axis(reproduction):
    density = reproduction.saturation[21].density.copy()
    density.iloc[:10] = 0.0
    bare = replace(reproduction.saturation[21], density=density)
    gappy = replace(reproduction, saturation={**reproduction.saturation, 21: bare})
    figure = paper_figures.sigmoid_saturation(gappy)
    assert "NaN" not in figure.to_json()
    assert np.isnan(named(figure, estimator_name(21), axis="x2").y[:10]).all()


def test_estimator_has_the_same_colour_in_all_figures(reproduction):
    for draw in (
        paper_figures.five_test_days,
        paper_figures.tolerance_accuracy,
        paper_figures.sigmoid_saturation,
    ):
        for trace in draw(reproduction).data:
            if trace.legendgroup in map(str, ESTIMATOR_NAMES):
                colour = trace.marker.color if trace.type == "bar" else trace.line.color
                assert colour == figure_style.ESTIMATOR_COLOURS[int(trace.legendgroup)]
