"""Figures of the study: the trade-off of air and air quality, and one day of some policies."""

from __future__ import annotations

from typing import Any, NamedTuple

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from occupair.report import figure_style, plot_traces
from occupair.report.figure_style import BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILLION
from occupair.savings.policy_list import CURVES
from occupair.savings.result import StudyResult

BROWN = "#8C6D46"  # beside the palette of Okabe and Ito, which is used up
CURVE_COLOURS = dict(zip(CURVES, (VERMILLION, BLUE, GREEN), strict=True))
MARKED = {"upper-stepped": "95 %", "schedule": "95 %"}
"""Points of the curves that are in the table, larger than the others."""


class Point(NamedTuple):
    """A policy that is not a point of a curve: group in the legend, label, symbol and place of the label."""

    group: str
    label: str
    symbol: str
    place: str = "top right"


FULL, OTHER_CO2, PAPER = "Fixed flow, true count", "CO2 control, other settings", "Paper's estimate"
AT_FIXED, NO_LABELS = "Default, trained at fixed flow", "Without labels"
GROUP_COLOURS = {
    FULL: figure_style.GREY,
    OTHER_CO2: SKY,
    PAPER: PURPLE,
    AT_FIXED: ORANGE,
    NO_LABELS: BROWN,
}
POINTS = {
    "fixed": Point(FULL, "fixed", "square"),
    "true": Point(FULL, "true count", "star", "bottom right"),
    "true-at-readings": Point(FULL, "true count, at readings", "star-open", "bottom center"),
    "co2-proportional": Point(OTHER_CO2, "as the upper bound", "circle"),
    "co2-manual": Point(OTHER_CO2, "by manual", "diamond"),
    "co2-pi": Point(OTHER_CO2, "PI", "x"),
    "paper-fixed": Point(PAPER, "fixed flow", "circle-open"),
    "paper-stepped": Point(PAPER, "stepped flow", "circle", "top center"),
    "default-fixed": Point(AT_FIXED, "estimate", "circle", "bottom center"),
    "upper-fixed": Point(AT_FIXED, "95 %", "circle"),
    "physics-stepped": Point(NO_LABELS, "estimate", "triangle-up"),
    "physics-upper-stepped": Point(NO_LABELS, "95 %", "triangle-up"),
}
DETAIL = 6.0  # [%] right end of the detail panel
MANY_SEEDS = 5  # from which on the intervals are drawn
EXAMPLE_LINES: dict[str, tuple[str, dict[str, Any]]] = {
    "fixed": ("Fixed design flow", {"color": figure_style.GREY, "width": 1.5, "dash": "dot"}),
    "true": ("Flow for the true count", {"color": GREEN, "width": 1.5}),
    "co2-proportional": ("CO2, proportional, tuned", {"color": BLUE, "width": 2}),
    "upper-stepped": ("Upper bound 95 %", {"color": VERMILLION, "width": 2}),
}


def trade_off(result: StudyResult) -> go.Figure:
    """Plot outdoor air over under-ventilated person-hours, the whole range and a detail."""
    titles = ("All policies", f"Detail: up to {DETAIL:g} % below the required flow")
    figure = make_subplots(rows=2, cols=1, subplot_titles=titles, vertical_spacing=0.13)
    x, y = _places(result, "below_flow")
    for trace in _traces(result, "below_flow"):
        figure.add_trace(trace, row=1, col=1)
    for trace in _traces(result, "below_flow", detail=True):
        figure.add_trace(trace, row=2, col=1)
    figure.update_xaxes(range=[-1, 1.05 * max(x.values())], row=1, col=1)
    figure.update_xaxes(range=[-0.3, DETAIL + 0.2], row=2, col=1)
    near = [y[key] for key in x if x[key] <= DETAIL and key != "fixed"]
    figure.update_yaxes(range=[min(near) - 3, max(near) + 3], row=2, col=1)
    figure.update_xaxes(title="person-hours below the required flow [%]")
    figure.update_yaxes(title="outdoor air [% of fixed flow]")
    for title in figure.layout.annotations:
        title.update(x=0, xanchor="left")
    return figure_style.styled(figure, height=900).update_layout(hovermode="closest")


def air_and_co2(result: StudyResult) -> go.Figure:
    """Plot outdoor air over person-hours above 1,000 ppm."""
    figure = go.Figure(_traces(result, "above_limit"))
    figure.update_xaxes(title="person-hours above 1,000 ppm [%]", rangemode="tozero")
    figure.update_yaxes(title="outdoor air [% of fixed flow]")
    return figure_style.styled(figure, height=480).update_layout(hovermode="closest")


def _places(result: StudyResult, measure: str) -> tuple[dict[str, float], dict[str, float]]:
    """Return the share of person-hours and the air of each policy in the figure [%]."""
    keys = {*POINTS, *(key for keys in CURVES.values() for key in keys)}
    x = {key: 100 * result.share(key, measure).value for key in keys}
    return x, {key: 100 * result.relative(key, "outdoor_air").value for key in keys}


def _traces(result: StudyResult, measure: str, *, detail: bool = False) -> list[go.Scatter]:
    """Return the curves and points; in a detail, points of curves have names and far points are left out."""
    x, y = _places(result, measure)
    curves = [_curve(curve, x, y, detail=detail) for curve in CURVES]
    shown = [key for key in POINTS if not detail or x[key] <= DETAIL]
    return [*curves, *(_point(result, key, measure, first=not detail) for key in shown)]


def _curve(curve: str, x: dict[str, float], y: dict[str, float], *, detail: bool) -> go.Scatter:
    keys = sorted(CURVES[curve], key=lambda key: y[key])
    return go.Scatter(
        x=[x[key] for key in keys],
        y=[y[key] for key in keys],
        text=[_name_on_curve(key) if detail else MARKED.get(key, "") for key in keys],
        textposition="bottom left" if curve.startswith("Upper") else "top right",
        textfont={"size": 11, "color": CURVE_COLOURS[curve]},
        name=curve,
        legendgroup=curve,
        showlegend=not detail,
        mode="lines+markers+text",
        line={"color": CURVE_COLOURS[curve], "width": 2},
        marker={"size": [11 if key in MARKED else 5 for key in keys], "opacity": 1},
        hovertemplate="%{x:.1f} % of person-hours, %{y:.1f} % of the air",
    )


def _name_on_curve(key: str) -> str:
    """Return the setting of a point: its confidence, quantile or target.

    Examples
    --------
    >>> _name_on_curve("upper-stepped-75"), _name_on_curve("schedule"), _name_on_curve("co2-0.5")
    ('75 %', '95 %', '0.5 %')
    """
    level = key.rpartition("-")[2]
    return f"{level} %" if level[0].isdigit() else MARKED.get(key, "")


def _point(result: StudyResult, key: str, measure: str, *, first: bool) -> go.Scatter:
    group, label, symbol, place = POINTS[key]
    colour = GROUP_COLOURS[group]
    x, y = result.share(key, measure), result.relative(key, "outdoor_air")
    bars = {"thickness": 1, "width": 3, "color": colour, "visible": len(result.seeds) >= MANY_SEEDS}
    is_leading = key == next(one for one, point in POINTS.items() if point.group == group)
    return go.Scatter(
        x=[100 * x.value],
        y=[100 * y.value],
        error_x=bars | {"array": [100 * x.half_width]},
        error_y=bars | {"array": [100 * y.half_width]},
        text=[label],
        textposition=place,
        textfont={"size": 11, "color": colour},
        name=group,
        legendgroup=group,
        showlegend=first and is_leading,
        mode="markers+text",
        meta=figure_style.INK if group == FULL else None,
        marker={"color": colour, "symbol": symbol, "size": 11},
        hovertemplate=f"{group}, {label}: %{{x:.1f}} %, %{{y:.1f}} % of the air<extra></extra>",
    )


def example_day(result: StudyResult) -> go.Figure:
    """Plot people, outdoor air and CO2 of one day under several policies."""
    day = result.example
    if day is None:
        raise ValueError("the study has no example day")
    titles = ("People", "Outdoor air [L/s]", "CO2 at the sensor [ppm]")
    figure = make_subplots(rows=3, cols=1, subplot_titles=titles, vertical_spacing=0.09)
    start = figure_style.clock_start(day.people.index)
    figure.add_trace(plot_traces.truth_line(day.people, first=True), row=1, col=1)
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
