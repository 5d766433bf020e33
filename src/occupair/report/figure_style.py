"""Common style of all figures: colours, axes and time of day, for light and dark pages."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

# Palette of Okabe and Ito, suitable for colour-blind readers and for light and dark backgrounds.
ORANGE, BLUE, GREEN, PURPLE, VERMILLION, SKY = (
    "#E69F00",
    "#0072B2",
    "#009E73",
    "#CC79A7",
    "#D55E00",
    "#56B4E9",
)
ESTIMATOR_COLOURS: dict[int, str] = {4: ORANGE, 21: BLUE, 22: GREEN, 24: PURPLE, 26: VERMILLION}

# Legible on both backgrounds; page.js replaces them by the text colour of the page.
GREY = "#808080"
FAINT = "rgba(128,128,128,0.25)"
SHADE = "rgba(128,128,128,0.10)"
INK = "ink"  # the `meta` of a trace drawn in the text colour of the page

DAY = "2000-01-01"  # arbitrary: all days are drawn over the same 24 hours
HOUR_MS = 3_600_000


def styled(figure: go.Figure, *, height: int) -> go.Figure:
    """Apply the common style to a figure, with ``height`` [px]."""
    figure.update_layout(
        template="none",
        height=height,
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"family": "system-ui, sans-serif", "size": 13, "color": GREY},
        margin={"l": 52, "r": 12, "t": 28, "b": 44},
        hovermode="x unified",
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom"},
    )
    axes = {
        "gridcolor": FAINT,
        "linecolor": FAINT,
        "zeroline": False,
        "title_font_size": 13,
        "title_standoff": 8,
    }
    figure.update_xaxes(**axes)
    figure.update_yaxes(**axes)
    figure.update_annotations(font={"size": 13, "color": GREY})
    return figure


def clock_axis(
    figure: go.Figure, *, span: tuple[str, str] = ("00:00", "24:00"), hours: float = 3, **where: Any
) -> None:
    """Format the x axes of a figure (or of one panel) as time of day, with a tick every ``hours`` [h]."""
    figure.update_xaxes(
        type="date",
        range=[clock(time) for time in span],
        dtick=hours * HOUR_MS,
        tick0=clock("00:00"),
        tickformat="%H" if hours >= 1 else "%H:%M",
        hoverformat="%H:%M",
        **where,
    )


def clock(time: str) -> str:
    """Return a time of day on the common date of all days.

    Examples
    --------
    >>> clock("07:30"), clock("24:00")
    ('2000-01-01 07:30', '2000-01-02 00:00')
    """
    return "2000-01-02 00:00" if time == "24:00" else f"{DAY} {time}"


def clock_start(index: pd.Index) -> dict[str, Any]:
    """Return the start [time] and the interval [ms] of a regular series, on the common date.

    Two numbers replace the whole index, which keeps the report small.

    Examples
    --------
    >>> clock_start(pd.date_range("2024-03-04 07:30", periods=3, freq="2min"))
    {'x0': '2000-01-01 07:30', 'dx': 120000.0}
    """
    times = pd.DatetimeIndex(index)
    steps = np.diff(times.as_unit("ns").asi8) / 1e6  # [ms]
    return {"x0": clock(f"{times[0]:%H:%M}"), "dx": float(np.median(steps)) if len(steps) else 60_000.0}


def rounded(values: pd.Series, *, decimals: int) -> list[float]:
    """Return rounded values without trailing missing values.

    Examples
    --------
    >>> rounded(pd.Series([1.234, 5.678, float("nan")]), decimals=1)
    [1.2, 5.7]
    """
    known = values.loc[: values.last_valid_index()] if values.notna().any() else values.iloc[:0]
    return [float(value) for value in np.round(known.to_numpy(dtype=float), decimals)]
