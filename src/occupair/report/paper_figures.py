"""The figures of the paper for our results, each a pure function of the reproduction."""

from __future__ import annotations

import math
import textwrap

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from occupair.report import figure_style, plot_traces
from occupair.report.number_format import estimator_name
from occupair.report.paper_experiment import Reproduction
from occupair.report.published_results import PAPER_SCORES

AROUND_ENDS = pd.Timedelta(minutes=40)  # margin of the detail panel
PANEL_PX = 170


def co2_day(reproduction: Reproduction) -> go.Figure:
    """Plot one day of CO2 [ppm], raw and smoothed, above a detail of the ends of the live lines."""
    day = reproduction.co2_day
    near = _around_the_ends(day)
    titles = ("Whole day", "Detail: ends of the live lines")
    figure = make_subplots(rows=2, cols=1, subplot_titles=titles, vertical_spacing=0.16)
    for row, part in enumerate((day, near), start=1):
        for column in plot_traces.CO2_LINES:
            figure.add_trace(plot_traces.co2_line(part, column, first=row == 1), row=row, col=1)
        _shade_ventilation(figure, part, row=row)
    figure_style.clock_axis(figure, row=1, col=1)
    figure_style.clock_axis(figure, row=2, col=1, hours=0.5, span=_span(near))
    figure.update_xaxes(title="time of day", row=2, col=1)
    figure.update_yaxes(title="CO2 [ppm]")
    return figure_style.styled(_titles_left(figure), height=620)


def five_test_days(reproduction: Reproduction) -> go.Figure:
    """Plot all estimators and the true count [people], one panel for each test day."""
    days = [day for _, day in reproduction.truth.groupby(pd.DatetimeIndex(reproduction.truth.index).date)]
    titles = [f"Test day {number}: {day.index[0]:%A}" for number, day in enumerate(days, start=1)]
    figure = make_subplots(
        rows=len(days),
        cols=1,
        shared_yaxes="all",
        subplot_titles=titles,
        vertical_spacing=0.28 / max(len(days), 2),
    )
    for row, day in enumerate(days, start=1):
        figure.add_trace(plot_traces.truth_line(day, first=row == 1), row=row, col=1)
        for equation in plot_traces.DAY_LINES:
            estimate = reproduction.estimates.loc[day.index, equation]
            figure.add_trace(plot_traces.day_line(estimate, equation, first=row == 1), row=row, col=1)
    figure_style.clock_axis(figure)
    top = max(reproduction.most_people, float(reproduction.truth.max()))
    figure.update_yaxes(title="people", range=[-0.03 * top, 1.06 * top])
    figure.update_xaxes(title="hour of day", row=len(days), col=1)
    return figure_style.styled(_titles_left(figure), height=72 + PANEL_PX * len(days))


def tolerance_accuracy(reproduction: Reproduction) -> go.Figure:
    """Plot the percentage of estimates within x people, Eq. (31), for x from 0 to 10."""
    figure = go.Figure()
    for equation in plot_traces.DAY_LINES:
        share = reproduction.tolerance_accuracy[equation]
        figure.add_trace(plot_traces.line_with_markers(share, equation))
    figure.add_trace(plot_traces.paper_best())
    figure.update_xaxes(title="tolerance x [people]", dtick=1, range=[-0.3, 10.3])
    figure.update_yaxes(title="within ±x people [%]", range=[0, 102], dtick=20)
    return figure_style.styled(figure, height=420)


def rmse_beside_paper(reproduction: Reproduction) -> go.Figure:
    """Plot the RMSE of every estimator [people], Eq. (27), next to that of the paper."""
    equations = sorted(reproduction.scores)
    names = [_wrapped(estimator_name(equation)) for equation in equations]
    ours = [round(reproduction.scores[equation].rmse, 4) for equation in equations]
    paper = [PAPER_SCORES[equation].rmse if equation in PAPER_SCORES else None for equation in equations]
    colours = [figure_style.ESTIMATOR_COLOURS[equation] for equation in equations]
    figure = go.Figure()
    figure.add_trace(
        plot_traces.dots(ours, names, name="ours, simulated office", color=colours, symbol="circle")
    )
    figure.add_trace(
        plot_traces.dots(
            paper, names, name="paper, measured office", color=figure_style.GREY, symbol="diamond-open"
        )
    )
    figure.update_xaxes(title="RMSE [people]", rangemode="tozero")
    figure.update_yaxes(autorange="reversed", automargin=True, showgrid=True)
    return figure_style.styled(figure, height=360).update_layout(hovermode="closest")


def sigmoid_saturation(reproduction: Reproduction) -> go.Figure:
    """Plot the sigmoid, the distribution of hidden inputs z of ELM and FS-ELM, and their saturation."""
    titles = ("Sigmoid h(z)", "Distribution of the hidden inputs z", "Saturation, |z| > 5")
    figure = make_subplots(rows=3, cols=1, subplot_titles=titles, vertical_spacing=0.13)
    figure.add_trace(plot_traces.sigmoid_line(reproduction), row=1, col=1)
    for equation in sorted(reproduction.saturation):
        figure.add_trace(plot_traces.density_line(reproduction, equation), row=2, col=1)
        figure.add_trace(plot_traces.share_bars(reproduction, equation), row=3, col=1)
    _mark_five(figure, reproduction)
    figure.update_yaxes(title="h(z)", range=[-0.05, 1.05], row=1, col=1)
    figure.update_yaxes(title="fraction [%]", type="log", range=_decades(reproduction), row=2, col=1)
    figure.update_yaxes(tickformat="~g", dtick=1, row=2, col=1)
    figure.update_xaxes(title="z", row=2, col=1)
    figure.update_xaxes(title="fraction [%]", range=[0, 118], tickvals=[0, 25, 50, 75, 100], row=3, col=1)
    figure.update_yaxes(autorange="reversed", automargin=True, row=3, col=1)
    return figure_style.styled(_titles_left(figure), height=700)


def _around_the_ends(day: pd.DataFrame) -> pd.DataFrame:
    locally = day[["locally_smoothed_680", "locally_smoothed_720"]].notna()
    ends = pd.DatetimeIndex([day.index[locally[column]][-1] for column in locally.columns])
    return day.loc[ends.min() - AROUND_ENDS : ends.max() + AROUND_ENDS]


def _span(part: pd.DataFrame) -> tuple[str, str]:
    return f"{part.index[0]:%H:%M}", f"{part.index[-1]:%H:%M}"


def _shade_ventilation(figure: go.Figure, day: pd.DataFrame, *, row: int) -> None:
    on = day["ventilation"].fillna(0).to_numpy(dtype=float) > 0
    turns = np.flatnonzero(np.diff(np.concatenate(([0], on, [0]))))
    for start, stop in zip(turns[::2], turns[1::2], strict=True):
        first, last = day.index[start], day.index[stop - 1]
        where = {"x0": figure_style.clock(f"{first:%H:%M}"), "x1": figure_style.clock(f"{last:%H:%M}")}
        figure.add_vrect(**where, fillcolor=figure_style.SHADE, line_width=0, layer="below", row=row, col=1)


def _decades(reproduction: Reproduction) -> list[float]:
    """Return an axis range from two decades below the lowest peak to the highest [log10 of %]."""
    peaks = [100 * float(found.density.max()) for found in reproduction.saturation.values()]
    peaks = [peak for peak in peaks if peak > 0] or [1.0]
    return [math.floor(math.log10(min(peaks))) - 1, math.ceil(math.log10(max(peaks)) + 0.05)]


def _mark_five(figure: go.Figure, reproduction: Reproduction) -> None:
    centres = next(iter(reproduction.saturation.values())).density.index.to_numpy(dtype=float)
    low, high = float(centres.min()), float(centres.max())
    for row in (1, 2):
        figure.update_xaxes(range=[low, high], row=row, col=1)
        for start, stop, edge in ((low, -5.0, -5.0), (5.0, high, 5.0)):
            figure.add_vrect(
                x0=start, x1=stop, fillcolor=figure_style.SHADE, line_width=0, layer="below", row=row, col=1
            )
            figure.add_vline(
                x=edge, line={"color": figure_style.GREY, "width": 1, "dash": "dash"}, row=row, col=1
            )


def _titles_left(figure: go.Figure) -> go.Figure:
    return figure.update_annotations(x=0, xref="paper", xanchor="left")


def _wrapped(name: str) -> str:
    return "<br>".join(textwrap.wrap(name, 18))
