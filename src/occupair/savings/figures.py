"""Figures of the study: the trade-off of air and air quality, and one day of some policies."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from occupair.report import figure_style
from occupair.report.figure_style import BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILLION
from occupair.savings.policy_list import CURVES
from occupair.savings.result import StudyResult

CURVE_COLOURS = dict(zip(CURVES, (VERMILLION, BLUE, GREEN), strict=True))
POINTS: dict[str, tuple[str, str, str]] = {
    "fixed": ("Fixed design flow", figure_style.GREY, "square"),
    "true": ("True count, every minute", figure_style.GREY, "star"),
    "true-at-readings": ("True count, at readings", figure_style.GREY, "star-open"),
    "co2-manual": ("CO2, 62.1 manual", BLUE, "diamond"),
    "co2-proportional": ("CO2, proportional, tuned", BLUE, "circle"),
    "co2-pi": ("CO2, PI, tuned", BLUE, "x"),
    "paper-fixed": ("Paper's estimate, fixed flow", PURPLE, "circle-open"),
    "paper-stepped": ("Paper's estimate, stepped flow", PURPLE, "circle"),
    "default-fixed": ("Default estimate, fixed flow", ORANGE, "circle-open"),
    "upper-fixed": ("Upper bound, fixed flow", VERMILLION, "circle-open"),
    "upper-stepped": ("Upper bound 95 %, stepped flow", VERMILLION, "circle"),
    "physics-stepped": ("Estimate without labels", SKY, "triangle-up-open"),
    "physics-upper-stepped": ("Upper bound without labels", SKY, "triangle-up"),
}
EXAMPLE_LINES: dict[str, tuple[str, dict[str, Any]]] = {
    "fixed": ("Fixed design flow", {"color": figure_style.GREY, "width": 1.5, "dash": "dot"}),
    "true": ("True count", {"color": GREEN, "width": 1.5}),
    "co2-proportional": ("CO2, proportional, tuned", {"color": BLUE, "width": 2}),
    "upper-stepped": ("Upper bound 95 %", {"color": VERMILLION, "width": 2}),
}


def trade_off(result: StudyResult) -> go.Figure:
    """Plot outdoor air over under-ventilated person-hours, with the 95 % intervals of the points."""
    figure = go.Figure()
    for curve, keys in CURVES.items():
        points = sorted((_x(result, key), _y(result, key)) for key in keys)
        figure.add_trace(
            go.Scatter(
                x=[x for x, _ in points],
                y=[y for _, y in points],
                name=curve,
                legendgroup=curve,
                mode="lines+markers",
                line={"color": CURVE_COLOURS[curve], "width": 2},
                marker={"size": 5},
                hovertemplate="%{x:.1f} % below flow, %{y:.1f} % of the air",
            )
        )
    for key, (name, colour, symbol) in POINTS.items():
        x, y = result.share(key, "below_flow"), result.relative(key, "outdoor_air")
        figure.add_trace(
            go.Scatter(
                x=[100 * x.value],
                y=[100 * y.value],
                error_x={"array": [100 * x.half_width], "thickness": 1, "width": 3, "color": colour},
                error_y={"array": [100 * y.half_width], "thickness": 1, "width": 3, "color": colour},
                name=name,
                legendgroup=key,
                mode="markers",
                meta=figure_style.INK if colour == figure_style.GREY else None,
                marker={
                    "color": colour,
                    "symbol": symbol,
                    "size": 11,
                    "line": {"color": colour, "width": 1.5},
                },
                hovertemplate="%{x:.1f} % below flow, %{y:.1f} % of the air",
            )
        )
    figure.update_xaxes(title="person-hours below the required flow [%]", rangemode="tozero")
    figure.update_yaxes(title="outdoor air [% of fixed design flow]")
    figure.update_layout(hovermode="closest")
    return figure_style.styled(figure, height=520).update_layout(hovermode="closest")


def example_day(result: StudyResult) -> go.Figure:
    """Plot people, outdoor air and CO2 of one day under several policies."""
    day = result.example
    if day is None:
        raise ValueError("the study has no example day")
    titles = ("People", "Outdoor air [L/s]", "CO2 at the sensor [ppm]")
    figure = make_subplots(rows=3, cols=1, subplot_titles=titles, vertical_spacing=0.09)
    start = figure_style.clock_start(day.people.index)
    figure.add_trace(
        go.Scatter(
            **start,
            y=figure_style.rounded(day.people, decimals=0),
            name="True count (people)",
            legendgroup="people",
            legendrank=0,
            meta=figure_style.INK,
            mode="lines",
            fill="tozeroy",
            fillcolor="rgba(128,128,128,0.22)",
            line={"color": figure_style.GREY, "width": 1.5, "shape": "hv"},
            hovertemplate="%{y:.0f}",
        ),
        row=1,
        col=1,
    )
    high = day.high["upper-stepped"]
    _, line = EXAMPLE_LINES["upper-stepped"]
    figure.add_trace(
        go.Scatter(
            x=[f"{figure_style.DAY} {time:%H:%M}" for time in high.index],
            y=[None if value != value else round(value, 2) for value in high],
            name="Upper bound 95 %",
            legendgroup="upper-stepped",
            showlegend=False,
            mode="lines",
            line=line,
            hovertemplate="%{y:.1f}",
        ),
        row=1,
        col=1,
    )
    for row, table in ((2, day.flow), (3, day.co2)):
        for key, (name, line) in EXAMPLE_LINES.items():
            figure.add_trace(
                go.Scatter(
                    **start,
                    y=figure_style.rounded(table[key], decimals=1),
                    name=name,
                    legendgroup=key,
                    showlegend=row == 2,
                    mode="lines",
                    line=line | ({"shape": "hv"} if row == 2 else {}),
                    hovertemplate="%{y:.0f}",
                ),
                row=row,
                col=1,
            )
    figure_style.clock_axis(figure, span=("06:00", "24:00"), hours=2)
    figure.update_xaxes(title="hour of day", row=3, col=1)
    figure.update_yaxes(rangemode="tozero", row=1, col=1)
    figure.update_yaxes(rangemode="tozero", row=2, col=1)
    for title in figure.layout.annotations:
        title.update(x=0, xanchor="left")
    return figure_style.styled(figure, height=680)


def _x(result: StudyResult, key: str) -> float:
    return 100 * result.share(key, "below_flow").value


def _y(result: StudyResult, key: str) -> float:
    return 100 * result.relative(key, "outdoor_air").value
