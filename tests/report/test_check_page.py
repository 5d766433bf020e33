"""The check report: self-contained, with small figures."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from plotly.offline import get_plotlyjs

import occupair as oc
from occupair.checks import Fault, find_faults
from occupair.report.check_figures import DayAxis, readings_and_faults
from occupair.report.check_page import headline, render_check_page, write_check_page


@pytest.fixture(scope="module")
def spoiled():
    """Eight days with CO2 eight hours early, failed reads of 0 ppm, and people at night."""
    readings = oc.simulate_office(days=8, seed=1).astype(float)
    early = readings["co2"].set_axis(readings.index - pd.Timedelta(hours=8)).reindex(readings.index)
    readings["co2"] = early
    readings.iloc[700:705, 0] = 0.0
    return readings


@pytest.fixture(scope="module")
def html(spoiled):
    return render_check_page(spoiled, find_faults(spoiled), name="<room> & co.csv")


@pytest.fixture(scope="module")
def own_part(html):
    return html.replace(get_plotlyjs(), "")


def figures(html):
    found = re.findall(r'<script type="application/json" id="(.*?)-data">(.*?)</script>', html, re.DOTALL)
    return {name: json.loads(text) for name, text in found}


def test_report_starts_with_the_verdict(own_part):
    assert "Not fit to train on" in own_part
    assert "<h1>Fix before training: clock offset and failed reads.</h1>" in own_part


def test_report_has_every_fault(own_part, spoiled):
    text = re.sub("</?time>", "", own_part)
    for fault in find_faults(spoiled):
        assert fault.message.split(":")[0].replace(" %", "&nbsp;%") in text
        assert all(f"<time>{day}</time>" in own_part for day in re.findall(r"\d{4}-\d\d-\d\d", fault.message))


def test_name_is_escaped(own_part):
    assert "&lt;room&gt; &amp; co.csv" in own_part
    assert "<room>" not in own_part


def test_report_is_self_contained(own_part):
    assert not re.search(r"""(src|href)\s*=\s*["']?(https?:)?//""", own_part)
    assert "default-src 'none'" in own_part


def test_clock_offset_has_two_figures(own_part):
    drawn = figures(own_part)
    assert list(drawn) == ["readings-plot", "clock-1-day-plot", "clock-1-curve-plot"]
    curve = drawn["clock-1-curve-plot"]["data"][0]
    assert curve["x"][int(np.argmax(curve["y"]))] == pytest.approx(-8, abs=0.3)


def test_report_of_readings_without_faults():
    readings = oc.simulate_office(days=8, seed=0)
    page = render_check_page(readings, [])
    assert "Fit to train on: no faults found." in page
    assert list(figures(page)) == ["readings-plot"]


def test_readings_without_head_counts():
    readings = oc.simulate_office(days=1, seed=0)[["co2"]]
    assert "no head counts" in render_check_page(readings, find_faults(readings))


def test_figure_of_a_year_of_minutes_is_small():
    times = pd.date_range("2024-01-01", periods=365 * 1440, freq="min")
    wave = 500 + 80 * np.sin(np.arange(len(times)) / 200)
    wave[1000] = 0.0
    readings = pd.DataFrame({"co2": wave, "occupancy": 3.0}, index=times)
    figure = readings_and_faults(readings, [])
    assert len(figure.to_json()) < 400_000
    assert min(value for value in figure.data[0].y if value == value) == 0  # the spike is visible


def test_faults_are_shaded():
    readings = oc.simulate_office(days=2, seed=0)
    noon = pd.Timestamp("2015-08-04 12:00")
    fault = Fault("stuck", "wrong", "Frozen.", noon, noon + pd.Timedelta(hours=6))
    shapes = readings_and_faults(readings, [fault]).layout.shapes
    assert {(shape.x0, shape.x1) for shape in shapes} == {(1.5, 1.75)}


def test_day_axis_skips_missing_days():
    times = pd.DatetimeIndex(["2024-01-01 12:00", "2024-03-01 06:00"])
    assert DayAxis(times)(times).tolist() == [0.5, 1.25]
    assert DayAxis(times)(pd.DatetimeIndex(["2024-02-01 12:00", "2024-03-02"])).tolist() == [1, 2]


def test_report_is_written_to_a_file(tmp_path, spoiled):
    write_check_page(spoiled, [], tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text().endswith("</html>\n")


def test_headline():
    assert headline([]) == "Fit to train on: no faults found."
    assert headline([Fault("few_days", "wrong", "...")]) == "Fix before training: few days."
