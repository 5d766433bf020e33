"""Figure of the benchmark: bars of training time and of live-day time on logarithmic axes."""

from __future__ import annotations

import math
from pathlib import Path

import plotly.graph_objects as go
from plotly.offline import get_plotlyjs

from occupair.report.figure_style import BLUE, GREY, ORANGE, SKY, styled
from tools.readme_picture import WIDTH, render_png
from tools.speed.contenders import BLAS, OURS, REFERENCE
from tools.speed.formatting import digits, time
from tools.speed.live_day import LiveDay
from tools.speed.training import Training

INK = "#222"
PAGE = """<!doctype html><meta charset="utf-8"><style>
body {{ margin: 0; padding: 18px 24px; background: white; color: #222; font-family: system-ui, sans-serif; }}
h2 {{ font-size: 19px; margin: 6px 0 0; }} p {{ font-size: 14px; margin: 3px 0 0; color: #555; }}
</style><script>{plotly}</script>{parts}"""
PART = """<h2>{heading}</h2><p>{text}</p><div id="{name}"></div>
<script>Plotly.newPlot("{name}", {figure}.data, {figure}.layout, {{staticPlot: true}})</script>"""


def draw(training: Training, live: LiveDay, picture: Path) -> str | None:
    """Draw the figure as PNG; return a description of the problem if that fails."""
    bars = [training_bars(training), live_bars(live)]
    headings = [
        (
            "Training one network",
            f"{training.rows:,} readings, {training.n_hidden:,} neurons; shorter is faster",
        ),
        ("One live day by Eq. (26)", "one room, 1,440 readings, each revising the day; shorter is faster"),
    ]
    parts = [
        PART.format(heading=heading, text=text, name=f"part{k}", figure=figure.to_json())
        for k, ((heading, text), figure) in enumerate(zip(headings, bars, strict=True))
    ]
    height = 36 + sum(int(figure.layout.height) + 54 for figure in bars)
    page = PAGE.format(plotly=get_plotlyjs(), parts="".join(parts))
    return render_png(page, picture, height=height)


def training_bars(training: Training) -> go.Figure:
    """Training time relative to bare BLAS, fastest first."""
    ordered = sorted(training.trained, key=lambda name: training.trained[name].seconds)
    colours = {OURS: BLUE, BLAS: GREY, REFERENCE: ORANGE}
    labels = {
        BLAS: "bare matrix products (BLAS)",
        REFERENCE: "reference implementation",
    }
    return _bars(
        [labels.get(name, name) for name in ordered],
        [training.over_blas(name) for name in ordered],
        [time(training.trained[name].seconds) for name in ordered],
        [colours.get(name, SKY) for name in ordered],
        "time relative to the bare matrix products",
    )


def live_bars(live: LiveDay) -> go.Figure:
    """Time of a live day relative to the reference implementation, fastest first."""
    names = [f"occupair, within {_plain(x)} people" for x in live.by_tolerance][::-1]
    days = [one.day for one in live.by_tolerance.values()][::-1]
    return _bars(
        [*names, "reference implementation"],
        [day / live.reference.day for day in [*days, live.reference.day]],
        [time(day) for day in [*days, live.reference.day]],
        [*[BLUE] * len(days), ORANGE],
        "time relative to the reference implementation",
    )


def _bars(
    names: list[str], ratios: list[float], times: list[str], colours: list[str], title: str
) -> go.Figure:
    """Return horizontal bars on a logarithmic axis, annotated with ratio and time."""
    texts = [f" <b>{_ratio(one)}</b>  {spent}" for one, spent in zip(ratios, times, strict=True)]
    bars = go.Bar(
        x=ratios, y=names, orientation="h", marker_color=colours, text=texts, textposition="outside"
    )
    figure = styled(go.Figure(bars), height=96 + 30 * len(names))
    first, last = math.floor(math.log10(min(ratios) / 2) * 2) / 2, math.log10(max(ratios)) + 0.75
    ticks = [10.0**power for power in range(math.ceil(first), math.floor(last) + 1)]
    figure.update_xaxes(
        type="log", range=[first, last], tickvals=ticks, ticktext=[_tick(one) for one in ticks]
    )
    figure.update_xaxes(title={"text": title, "font": {"size": 14}})
    figure.update_yaxes(autorange="reversed", ticksuffix="  ", showgrid=False)
    figure.update_traces(cliponaxis=False, textfont={"size": 14, "color": INK}, width=0.66)
    figure.update_layout(
        width=WIDTH - 48,
        margin={"l": 250, "r": 20, "t": 8, "b": 52},
        font={"size": 14, "color": INK},
        showlegend=False,
    )
    return figure


def _tick(value: float) -> str:
    return f"{value:,.0f} x" if value >= 1 else f"1/{1 / value:,.0f}"


def _plain(value: float) -> str:
    return f"{value:.9f}".rstrip("0")


def _ratio(value: float) -> str:
    return f"{digits(value)} x" if value > 0.5 else f"1/{1 / value:,.0f}"
