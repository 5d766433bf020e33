"""Pieces that every page of ours is put together from: sections, legends, figures as data."""

from __future__ import annotations

from html import escape
from importlib.resources import files

import plotly.graph_objects as go

from occupair.report import look


def section(name: str, heading: str, body: str) -> str:
    """Put a heading over a part of a page."""
    return f"""<section id="{name}" aria-labelledby="{name}-heading">
<h2 id="{name}-heading">{escape(heading)}</h2>
{body}
</section>"""


def prose(words: str) -> str:
    """Escape a sentence and keep numbers and their percent signs on one line."""
    return escape(words).replace(" %", "&nbsp;%")


def legend(figure: go.Figure) -> str:
    """Make a legend of buttons, which work by keyboard, for the traces of a figure."""
    entries = [trace for trace in figure.data if trace.legendgroup and trace.showlegend is not False]
    entries.sort(
        key=lambda trace: 1000 if trace.legendrank is None else trace.legendrank
    )  # 1000: plotly's own
    items = "".join(f"<li>{_legend_button(trace)}</li>" for trace in entries)
    return f'<ul class="legend" aria-label="Show or hide">{items}</ul>'


def _legend_button(trace: go.Scatter) -> str:
    colour = trace.line.color or trace.marker.color
    inked = trace.meta == look.INK or not isinstance(colour, str)
    style = "" if inked else f' style="background:{escape(colour)}"'
    group = escape(trace.legendgroup)
    return (
        f'<button type="button" aria-pressed="true" data-group="{group}">'
        f'<span class="swatch {_shape(trace)}"{style}></span>{escape(trace.name)}</button>'
    )


def _shape(trace: go.Scatter) -> str:
    return "line" if "lines" in trace.mode else str(trace.marker.symbol).removesuffix("-open")


def figure_json(figure: go.Figure) -> str:
    """Write a figure as JSON that cannot end the script element it stands in."""
    return str(figure.to_json()).replace("&", r"\u0026").replace("<", r"\u003c").replace(">", r"\u003e")


def page_file(name: str) -> str:
    """Read a style, script or frame that lies beside this module."""
    return files("occupair.report").joinpath(name).read_text(encoding="utf-8")
