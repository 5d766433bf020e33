"""Building blocks of the HTML reports: page, sections, legends and figures."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from importlib.resources import files
from string import Template

import plotly.graph_objects as go
from plotly.offline import get_plotlyjs

from occupair.report import figure_style


def render_page(title: str, *, header: str, sections: Iterable[str], footer: str = "", css: str = "") -> str:
    """Render one self-contained HTML document with scripts, styles and data."""
    return Template(page_file("page.html")).substitute(
        title=escape(title),
        css=page_file("page.css") + css,
        header=header,
        sections="\n".join(sections),
        footer=f"{footer} " if footer else "",
        plotly=get_plotlyjs(),
        script=page_file("page.js"),
    )


def figure_block(plot: str, figure: go.Figure, *, label: str, caption: str) -> str:
    """Render a figure with legend and caption; the script of the page draws it from its data."""
    height = figure.layout.height
    return f"""<figure>
{legend(figure)}
<div class="plot" id="{plot}" role="img" aria-label="{escape(label)}" style="height:{height}px"></div>
<figcaption>{prose(caption)}</figcaption>
<script type="application/json" id="{plot}-data">{figure_json(figure)}</script>
</figure>"""


def section(name: str, heading: str, body: str) -> str:
    """Render a section with a heading."""
    return f"""<section id="{name}" aria-labelledby="{name}-heading">
<h2 id="{name}-heading">{escape(heading)}</h2>
{body}
</section>"""


def prose(text: str) -> str:
    """Escape text, with no-break spaces before percent signs."""
    return escape(text).replace(" %", "&nbsp;%")


def legend(figure: go.Figure) -> str:
    """Render a legend of buttons, usable by keyboard, for the traces of a figure."""
    entries = [trace for trace in figure.data if trace.legendgroup and trace.showlegend is not False]
    entries.sort(
        key=lambda trace: 1000 if trace.legendrank is None else trace.legendrank
    )  # 1000: plotly's default
    items = "".join(f"<li>{_legend_button(trace)}</li>" for trace in entries)
    return f'<ul class="legend" aria-label="Show or hide">{items}</ul>' if items else ""


def _legend_button(trace: go.Scatter) -> str:
    colour = trace.line.color or trace.marker.color
    inked = trace.meta == figure_style.INK or not isinstance(colour, str)
    style = "" if inked else f' style="background:{escape(colour)}"'
    group = escape(trace.legendgroup)
    return (
        f'<button type="button" aria-pressed="true" data-group="{group}">'
        f'<span class="swatch {_shape(trace)}"{style}></span>{escape(trace.name)}</button>'
    )


def _shape(trace: go.Scatter) -> str:
    return "line" if "lines" in trace.mode else str(trace.marker.symbol).removesuffix("-open")


def figure_json(figure: go.Figure) -> str:
    """Return a figure as JSON that is safe inside a script element."""
    return str(figure.to_json()).replace("&", r"\u0026").replace("<", r"\u003c").replace(">", r"\u003e")


def page_file(name: str) -> str:
    """Read a file next to this module."""
    return files("occupair.report").joinpath(name).read_text(encoding="utf-8")
