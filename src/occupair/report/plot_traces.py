"""Traces of the figures: lines, dots and bars."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from occupair.report import figure_style
from occupair.report.number_format import estimator_name, percent
from occupair.report.paper_experiment import Reproduction
from occupair.report.published_results import PAPER_BEST_WITHIN

# Five overlapping lines: the less accurate estimators thin and below, the live one widest and on top.
DAY_LINES: dict[int, dict[str, Any]] = {
    4: {"width": 1, "opacity": 0.65},
    24: {"width": 1.2, "opacity": 0.85},
    21: {"width": 1.2, "opacity": 0.8},
    22: {"width": 1.6, "opacity": 1.0},
    26: {"width": 2, "opacity": 1.0},
}
MARKERS = {4: "square", 21: "triangle-up", 22: "circle", 24: "x", 26: "star"}
CO2_LINES: dict[str, tuple[str, dict[str, Any]]] = {
    "raw": ("raw readings", {"color": figure_style.GREY, "width": 1.2}),
    "globally_smoothed": ("smoothed, whole day (hindsight)", {"color": figure_style.GREEN, "width": 3}),
    "locally_smoothed_720": ("smoothed live, first 720 min", {"color": figure_style.SKY, "width": 2}),
    "locally_smoothed_680": ("smoothed live, first 680 min", {"color": figure_style.VERMILLION, "width": 2}),
}


def co2_line(day: pd.DataFrame, column: str, *, first: bool) -> go.Scatter:
    """Return a line of CO2 on one day [ppm]; in the detail panel, live lines end with a dot."""
    name, line = CO2_LINES[column]
    values = figure_style.rounded(day[column], decimals=1)
    ended = column.startswith("locally") and not first
    return go.Scatter(
        **figure_style.clock_start(day.index),
        y=values,
        name=name,
        legendgroup=column,
        showlegend=first,
        mode="lines+markers" if ended else "lines",
        marker={"size": [0] * (len(values) - 1) + [9], "opacity": 1, "line": {"width": 0}} if ended else None,
        line={**line, "simplify": False},
        hovertemplate="%{y:.0f} ppm",
    )


def truth_line(day: pd.Series, *, first: bool) -> go.Scatter:
    """Return the true count of one day [people], an area with an outline."""
    return go.Scatter(
        **figure_style.clock_start(day.index),
        y=figure_style.rounded(day, decimals=0),
        name="true count",
        legendgroup="truth",
        legendrank=0,
        showlegend=first,
        meta=figure_style.INK,
        mode="lines",
        fill="tozeroy",
        fillcolor="rgba(128,128,128,0.22)",
        line={"color": figure_style.GREY, "width": 1.5, "shape": "hv"},
        hovertemplate="%{y:.0f}",
    )


def day_line(estimate: pd.Series, equation: int, *, first: bool) -> go.Scatter:
    """Return the estimates of one day [people, unrounded]."""
    return go.Scatter(
        **figure_style.clock_start(estimate.index),
        y=figure_style.rounded(estimate, decimals=2),
        name=estimator_name(equation),
        legendgroup=str(equation),
        legendrank=equation,
        showlegend=first,
        mode="lines",
        opacity=DAY_LINES[equation]["opacity"],
        line={"color": figure_style.ESTIMATOR_COLOURS[equation], "width": DAY_LINES[equation]["width"]},
        hovertemplate="%{y:.1f}",
    )


def line_with_markers(share: pd.Series, equation: int) -> go.Scatter:
    """Return the accuracy of an estimator [%] over the tolerance [people], Eq. (31)."""
    return go.Scatter(
        x=[int(x) for x in share.index],
        y=figure_style.rounded(100 * share, decimals=2),
        name=estimator_name(equation),
        legendgroup=str(equation),
        legendrank=equation,
        mode="lines+markers",
        line={"color": figure_style.ESTIMATOR_COLOURS[equation], "width": 2},
        marker={"symbol": MARKERS[equation], "size": 8},
        hovertemplate="%{y:.1f} %",
    )


def paper_best() -> go.Scatter:
    """Return the accuracies of the best estimator in the paper's text [%]."""
    return go.Scatter(
        x=list(PAPER_BEST_WITHIN),
        y=[100 * share for share in PAPER_BEST_WITHIN.values()],
        name="best in the paper",
        legendgroup="paper",
        meta=figure_style.INK,
        mode="markers",
        marker={"symbol": "diamond-open", "size": 12, "color": figure_style.GREY, "line": {"width": 2}},
        hovertemplate="%{y:.0f} %",
    )


def dots(
    errors: list[float | None] | list[float], names: list[str], *, name: str, color: Any, symbol: str
) -> go.Scatter:
    """Return one dot for the error of each estimator [people], none if it is missing."""
    return go.Scatter(
        x=errors,
        y=names,
        name=name,
        legendgroup=name,
        mode="markers",
        marker={
            "symbol": symbol,
            "size": 13,
            "color": color,
            "line": {"width": 2 if "open" in symbol else 0},
        },
        meta=figure_style.INK if color == figure_style.GREY else None,
        hovertemplate="%{x:.4f} people",
    )


def sigmoid_line(reproduction: Reproduction) -> go.Scatter:
    """Return the activation h(z) of a hidden neuron over the range of the densities."""
    centres = next(iter(reproduction.saturation.values())).density.index.to_numpy(dtype=float)
    z = np.linspace(centres.min(), centres.max(), 161)
    return go.Scatter(
        x=np.round(z, 3).tolist(),
        y=np.round(1 / (1 + np.exp(-z)), 4).tolist(),
        name="sigmoid h(z)",
        showlegend=False,
        meta=figure_style.INK,
        mode="lines",
        line={"color": figure_style.GREY, "width": 2.5, "simplify": False},
        hovertemplate="h = %{y:.3f}",
    )


def density_line(reproduction: Reproduction, equation: int) -> go.Scatter:
    """Return the distribution of the hidden inputs z of an estimator [% of all z per bin]."""
    density = reproduction.saturation[equation].density
    density = density.where(density > 0)  # zeros cannot be shown on a log axis
    return go.Scatter(
        x=np.round(density.index.to_numpy(dtype=float), 3).tolist(),
        y=[float(f"{100 * share:.4g}") for share in density],
        name=estimator_name(equation),
        legendgroup=str(equation),
        legendrank=equation,
        mode="lines",
        line={"color": figure_style.ESTIMATOR_COLOURS[equation], "width": 2.5, "shape": "hvh"},
        hovertemplate="%{y:.2g} %",
    )


def share_bars(reproduction: Reproduction, equation: int) -> go.Bar:
    """Return bars of the fraction of all z, and of neurons at all readings, with |z| > 5 [%]."""
    found = reproduction.saturation[equation]
    shares = [100 * found.share_beyond_5, 100 * found.share_always_beyond_5]
    return go.Bar(
        x=[round(share, 3) for share in shares],
        y=["inputs z", "neurons,<br>always"],
        orientation="h",
        name=estimator_name(equation),
        legendgroup=str(equation),
        legendrank=equation,
        showlegend=False,
        marker={"color": figure_style.ESTIMATOR_COLOURS[equation]},
        text=[percent(share / 100) for share in shares],
        textposition="outside",
        cliponaxis=False,
        hovertemplate="%{x:.1f} %",
    )
