"""Figures of the check report: readings with marked faults, and details of clock offsets."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray
from plotly.subplots import make_subplots

from occupair.checks import Fault, Severity
from occupair.report import figure_style

MOST_BINS = 1500  # over all days: more than the pixels of a screen, and small for a year of minutes
COLOURS: dict[Severity, str] = {
    "wrong": figure_style.VERMILLION,
    "doubtful": figure_style.ORANGE,
    "note": figure_style.SKY,
}
SHADES: dict[Severity, str] = {
    "wrong": "rgba(213,94,0,0.16)",
    "doubtful": "rgba(230,159,0,0.14)",
    "note": "rgba(0,0,0,0)",
}
NARROWEST = 0.002  # fraction of the width, to make single readings visible
TICKS = 6
KIND_NAMES = {
    "clock": "clock offset",
    "failed_reads": "failed reads",
    "stuck": "CO2 stuck",
    "jumps": "CO2 jumps",
    "coarse": "coarse CO2 resolution",
    "reset": "CO2 reset",
    "drift": "CO2 drift",
    "negative_counts": "negative counts",
    "broken_counts": "non-integer counts",
    "no_number": "non-numeric values",
    "no_time": "rows without time",
    "times": "times out of order",
    "counter_drift": "counter drift",
    "people_at_night": "people at night",
    "midnight_reset": "reset to 0 at midnight",
    "co2_without_people": "CO2 without people",
}

Array = NDArray[np.float64]


def kind_name(kind: str) -> str:
    """Return the display name of a kind of fault.

    Examples
    --------
    >>> kind_name("stuck"), kind_name("few_days")
    ('CO2 stuck', 'few days')
    """
    return KIND_NAMES.get(kind, kind.replace("_", " "))


class DayAxis:
    """Axis with days side by side, without days that have no readings; one day has length 1.

    Parameters
    ----------
    times : DatetimeIndex
        Local times of the readings.
    """

    def __init__(self, times: pd.DatetimeIndex) -> None:
        self.days = times.normalize().unique()

    def __call__(self, times: pd.DatetimeIndex) -> Array:
        """Return the positions of times; times on missing days are moved to the next edge."""
        days = times.normalize()
        place = self.days.searchsorted(days).astype(float)
        there = days.isin(self.days)
        return np.asarray(place + np.where(there, (times - days) / pd.Timedelta(days=1), 0.0))

    def ticks(self) -> dict[str, list[int] | list[str]]:
        """Return a few evenly spaced ticks with dates."""
        places = list(range(0, len(self.days), max(1, -(-len(self.days) // TICKS))))
        return {"tickvals": places, "ticktext": [f"{self.days[k]:%d %b<br>%Y}" for k in places]}


def readings_and_faults(readings: pd.DataFrame, faults: Sequence[Fault]) -> go.Figure:
    """Plot CO2 [ppm] and head counts [people] over all days, with faults shaded."""
    axis = DayAxis(pd.DatetimeIndex(readings.index))
    marked = [fault for fault in faults if fault.spans and fault.severity != "note"]
    rows = [row for row in ("co2", "occupancy") if row in readings] + (["faults"] if marked else [])
    heights = [{"co2": 200.0, "occupancy": 130.0, "faults": 26.0 * len(marked) + 14}[row] for row in rows]
    figure = make_subplots(
        rows=len(rows), cols=1, shared_xaxes=True, vertical_spacing=0.05, row_heights=heights
    )
    for number, row in enumerate(rows, start=1):
        if row == "faults":
            _draw_strip(figure, axis, marked, row=number)
        else:
            _draw_readings(figure, axis, readings[row], row=number)
    _shade(figure, axis, marked)
    figure.update_xaxes(range=[0, len(axis.days)], showgrid=False, **axis.ticks())
    styled = figure_style.styled(figure, height=int(sum(heights)) + 110)
    return styled.update_layout(hovermode="closest")


def clock_example(readings: pd.DataFrame, fault: Fault) -> go.Figure:
    """Plot head counts [people] and CO2 [ppm] of one day, as recorded and shifted."""
    offset = pd.Timedelta(minutes=fault.details["offset"])
    moved = readings["co2"].set_axis(pd.DatetimeIndex(readings.index) - offset)
    day = _example_day(readings, moved, pd.DatetimeIndex(fault.days))
    figure = make_subplots(specs=[[{"secondary_y": True}]])
    counts = _thin_day(readings["occupancy"], day, "max")
    figure.add_trace(_area(counts, "head count"), secondary_y=True)
    for co2, name, line in (
        (readings["co2"], "CO2 as recorded", {"color": figure_style.VERMILLION, "width": 2.5, "dash": "dot"}),
        (moved, "CO2 shifted", {"color": figure_style.BLUE, "width": 2.5}),
    ):
        figure.add_trace(_day_line(_thin_day(co2, day, "mean"), name, line), secondary_y=False)
    figure_style.clock_axis(figure)
    figure.update_xaxes(title=f"hour of day, {day:%d %B %Y}")
    figure.update_yaxes(title="CO2 [ppm]", secondary_y=False)
    figure.update_yaxes(title="people", secondary_y=True, rangemode="tozero", showgrid=False, tickmode="auto")
    return figure_style.styled(figure, height=340).update_layout(margin={"r": 52})


def clock_curve(fault: Fault) -> go.Figure:
    """Plot the variance of the counts explained by CO2 [%] over the clock offset [h]."""
    hours = np.round(np.array(fault.details["offsets"]) / 60, 4)
    percent = np.round(100 * np.array(fault.details["explained"]), 2)
    figure = go.Figure()
    figure.add_trace(
        go.Scatter(
            x=hours.tolist(),
            y=percent.tolist(),
            name="explained by CO2",
            mode="lines",
            meta=figure_style.INK,
            line={"color": figure_style.GREY, "width": 2},
            hovertemplate="%{x:.2f} h late: %{y:.0f} %<extra></extra>",
        )
    )
    top = 1.25 * float(percent.max())
    for place, name, colour in (
        (0.0, "as recorded", figure_style.VERMILLION),
        (fault.details["offset"] / 60, "best fit", figure_style.BLUE),
    ):
        figure.add_vline(x=place, line={"color": colour, "width": 2, "dash": "dash"})
        figure.add_annotation(
            x=place, y=top, text=name, showarrow=False, yanchor="top", **_beside(place, fault)
        )
    figure.update_xaxes(title="CO2 clock offset [h], early (−) or late (+)", dtick=4, range=[-12, 12])
    figure.update_yaxes(title="explained variance [%]", range=[0, top])
    return figure_style.styled(figure, height=300).update_layout(hovermode="closest")


def _beside(place: float, fault: Fault) -> dict[str, object]:
    """Place a label on the side of its line away from the other line."""
    left = (place == 0) == (fault.details["offset"] > 0)
    return {"xanchor": "right" if left else "left", "xshift": -5 if left else 5}


def _draw_readings(figure: go.Figure, axis: DayAxis, column: pd.Series[float], *, row: int) -> None:
    thin = _thinned(column, len(axis.days))
    times = pd.DatetimeIndex(thin.index)
    is_co2 = column.name == "co2"
    figure.add_trace(
        go.Scatter(
            x=np.round(axis(times), 4).tolist(),
            y=np.round(thin.to_numpy(), 1).tolist(),
            text=[f"{time:%a %d %b %Y %H:%M}" for time in times],
            name="CO2" if is_co2 else "head count",
            mode="lines",
            connectgaps=False,
            fill=None if is_co2 else "tozeroy",
            fillcolor="rgba(128,128,128,0.22)",
            meta=None if is_co2 else figure_style.INK,
            line={
                "color": figure_style.BLUE if is_co2 else figure_style.GREY,
                "width": 1.2,
                "simplify": False,
            },
            hovertemplate=f"%{{text}}<br>%{{y:.0f}} {'ppm' if is_co2 else 'people'}<extra></extra>",
        ),
        row=row,
        col=1,
    )
    figure.update_yaxes(title="CO2 [ppm]" if is_co2 else "people", row=row, col=1)


def _thinned(column: pd.Series[float], n_days: int) -> pd.Series[float]:
    """Return the minimum and maximum of each of ``MOST_BINS`` bins, in order of time.

    Gaps are preserved by a missing value.
    """
    times = pd.DatetimeIndex(column.index)
    minutes = max(1, -(-n_days * 1440 // MOST_BINS))
    parts = times.floor(f"{minutes}min")
    known = column.dropna()
    by_part = known.groupby(pd.DatetimeIndex(known.index).floor(f"{minutes}min"))
    extremes = pd.DatetimeIndex(by_part.idxmin()).union(pd.DatetimeIndex(by_part.idxmax()))
    steps = np.diff(parts.unique()) > np.timedelta64(2 * max(minutes, 30), "m")
    gaps = parts.unique()[1:][steps] - pd.Timedelta(seconds=1)
    return known.reindex(extremes.union(gaps))


def _draw_strip(figure: go.Figure, axis: DayAxis, faults: Sequence[Fault], *, row: int) -> None:
    """Plot a bar for each fault with its name above."""
    for level, fault in enumerate(faults):
        spans = _placed(axis, fault)
        x = [place for start, end in spans for place in (start, end, None)]
        colour = COLOURS[fault.severity]
        bar = go.Scatter(
            x=x,
            y=[level] * len(x),
            mode="lines",
            line={"color": colour, "width": 7},
            hovertemplate=f"{kind_name(fault.kind)}<extra></extra>",
        )
        label = go.Scatter(
            x=[0], y=[level - 0.45], mode="text", text=[kind_name(fault.kind)], textposition="middle right"
        )
        figure.add_trace(bar, row=row, col=1)
        figure.add_trace(label.update(hoverinfo="skip"), row=row, col=1)
    figure.update_yaxes(range=[len(faults) - 0.5, -0.9], visible=False, row=row, col=1)


def _shade(figure: go.Figure, axis: DayAxis, faults: Sequence[Fault]) -> None:
    for fault in faults:
        for start, end in _placed(axis, fault):
            figure.add_vrect(
                x0=start, x1=end, fillcolor=SHADES[fault.severity], line_width=0, layer="below", col=1
            )


def _placed(axis: DayAxis, fault: Fault) -> list[tuple[float, float]]:
    """Return the spans of a fault on the axis, at least of visible width and merged if adjacent."""
    least = NARROWEST * len(axis.days)
    joined: list[tuple[float, float]] = []
    for start, end in fault.spans:
        left, right = map(float, axis(pd.DatetimeIndex([start, end])))
        right = max(right, left + least)
        if joined and left <= joined[-1][1] + least:
            joined[-1] = (joined[-1][0], max(right, joined[-1][1]))
        else:
            joined.append((left, right))
    return [(round(left, 4), round(right, 4)) for left, right in joined]


def _example_day(readings: pd.DataFrame, moved: pd.Series[float], days: pd.DatetimeIndex) -> pd.Timestamp:
    """Return the day with the clearest offset: high occupancy variation, followed by shifted CO2."""
    both = pd.DataFrame({"co2": moved, "n": readings["occupancy"]}).dropna()
    dates = pd.DatetimeIndex(both.index).normalize()
    chosen = both[dates.isin(days)]
    if chosen.empty:
        return days[0]
    by_day = chosen.groupby(pd.DatetimeIndex(chosen.index).normalize())
    spread = by_day.std().fillna(0.0)
    product = chosen["co2"] * chosen["n"]
    covariance = product.groupby(pd.DatetimeIndex(chosen.index).normalize()).mean()
    covariance = covariance - by_day["co2"].mean() * by_day["n"].mean()
    score = covariance / (spread["co2"] + 1) * by_day["n"].count() ** 2  # prefer complete days
    return pd.Timestamp(str(score.idxmax()))


def _thin_day(column: pd.Series[float], day: pd.Timestamp, how: str) -> pd.Series[float]:
    part = column[(column.index >= day) & (column.index < day + pd.Timedelta(days=1))].dropna()
    if part.empty:
        return part
    return part.resample("5min").agg(how)


def _day_line(co2: pd.Series[float], name: str, line: dict[str, object]) -> go.Scatter:
    return go.Scatter(
        x=[figure_style.clock(f"{time:%H:%M}") for time in pd.DatetimeIndex(co2.index)],
        y=np.round(co2.to_numpy(), 1).tolist(),
        name=name,
        legendgroup=name,
        mode="lines",
        line=line,
        hovertemplate="%{y:.0f} ppm",
    )


def _area(counts: pd.Series[float], name: str) -> go.Scatter:
    return go.Scatter(
        x=[figure_style.clock(f"{time:%H:%M}") for time in pd.DatetimeIndex(counts.index)],
        y=np.round(counts.to_numpy(), 1).tolist(),
        name=name,
        legendgroup=name,
        mode="lines",
        fill="tozeroy",
        fillcolor="rgba(128,128,128,0.22)",
        meta=figure_style.INK,
        line={"color": figure_style.GREY, "width": 1.2, "shape": "hv"},
        hovertemplate="%{y:.0f} people",
    )
