"""A figure for each room: the error of every method, and example days."""

from __future__ import annotations

from typing import Any

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from occupair.benchmark.methods import OURS
from occupair.benchmark.result import BenchmarkResult
from occupair.benchmark.score_tables import lag_words
from occupair.readings.schema import date_slices
from occupair.report import figure_style, plot_traces

LAG_COLOURS = (figure_style.PURPLE, figure_style.ORANGE, figure_style.GREEN, figure_style.SKY)
LINE_COLOURS = (figure_style.BLUE, figure_style.VERMILLION)
N_DAYS = 3
DOT_PX, PANEL_PX, SPACE_PX = 24, 150, 62


def room_figure(result: BenchmarkResult, room: str) -> go.Figure:
    """Plot the nRMSE of all methods in a room above example days with the true count [people]."""
    days = example_days(result.truth[room])
    heights = [DOT_PX * len(result.methods) + 30, *[PANEL_PX] * len(days)]
    total = sum(heights) + SPACE_PX * len(days)
    titles = ["nRMSE (lower is better)", *(f"{day.index[0]:%A}" for day in days)]
    figure = make_subplots(
        rows=len(heights),
        cols=1,
        row_heights=heights,
        subplot_titles=titles,
        vertical_spacing=SPACE_PX / total,
    )
    _add_dots(figure, result, room)
    for row, day in enumerate(days, start=2):
        _add_day(figure, result, room, day, row=row)
    figure.update_xaxes(title="hour of day", row=len(heights), col=1)
    figure.update_annotations(x=0, xanchor="left")
    return figure_style.styled(figure, height=total + 72).update_layout(hovermode="closest")


def compared(result: BenchmarkResult) -> list[str]:
    """Return the two methods to plot: the best baseline, and the default estimator or else the best other."""
    lag = result.lags[0]
    baseline = result.best_baselines.get(lag)
    others = [name for name in result.methods if name != baseline]
    ours = [OURS] if OURS in others else others[:1]
    return [name for name in (baseline, *ours) if name is not None]


def example_days(truth: pd.Series[float]) -> list[pd.Series[float]]:
    """Return the busiest, the median and the least busy day with people, by mean true count.

    Examples
    --------
    >>> times = pd.date_range("2024-01-08", periods=10, freq="12h")
    >>> truth = pd.Series([0.0, 0, 1, 1, 5, 5, 2, 2, 9, 9], index=times)
    >>> [f"{day.index[0]:%a}" for day in example_days(truth)]
    ['Fri', 'Wed', 'Tue']
    """
    days = [truth.iloc[day] for day in date_slices(truth.to_frame())]
    days = sorted((day for day in days if day.max() > 0), key=lambda day: -day.mean())
    numbers = {0, (len(days) - 1) // 2, len(days) - 1}
    return [days[number] for number in sorted(numbers)][:N_DAYS]


def _add_dots(figure: go.Figure, result: BenchmarkResult, room: str) -> None:
    scores = result.scores["nrmse"].xs(room, level="room")
    for number, lag in enumerate(result.lags):
        errors = [round(float(scores.loc[method, lag]), 4) for method in result.methods]
        name, colour = lag_words(lag), LAG_COLOURS[number % len(LAG_COLOURS)]
        dots = plot_traces.dots(errors, result.methods, name=name, color=colour, symbol="circle")
        figure.add_trace(dots.update(hovertemplate="%{y}: %{x:.3f}"), row=1, col=1)
    figure.update_xaxes(title="nRMSE", rangemode="tozero", row=1, col=1)
    figure.update_yaxes(autorange="reversed", automargin=True, showgrid=True, row=1, col=1)


def _add_day(
    figure: go.Figure, result: BenchmarkResult, room: str, day: pd.Series[float], *, row: int
) -> None:
    first = row == 2
    figure.add_trace(plot_traces.truth_line(day, first=first), row=row, col=1)
    for name, colour in zip(compared(result), LINE_COLOURS, strict=False):
        people = result.estimates[room].loc[day.index, (name, result.lags[0])]
        figure.add_trace(_line(people, name, colour, first=first), row=row, col=1)
    figure_style.clock_axis(figure, row=row, col=1)
    figure.update_yaxes(title="people", rangemode="tozero", row=row, col=1)


def _line(people: Any, name: str, colour: str, *, first: bool) -> go.Scatter:
    return go.Scatter(
        **figure_style.clock_start(people.index),
        y=figure_style.rounded(people, decimals=2),
        name=name,
        legendgroup=name,
        showlegend=first,
        mode="lines",
        line={"color": colour, "width": 1.8},
        hovertemplate="%{y:.1f}",
    )
