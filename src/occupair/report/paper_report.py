"""The report of the paper's experiment, one self-contained HTML file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from pathlib import Path

import plotly.graph_objects as go

from occupair.atomic_files import write_atomically
from occupair.report import paper_captions, paper_comparison, paper_figures
from occupair.report.html_page import figure_block, prose, render_page, section
from occupair.report.paper_experiment import Reproduction

TITLE = "occupair: occupancy from CO2, the paper's experiment on simulated data"
NOTICE = (
    "The recordings of the paper are not public, so its office was simulated: occupants, room air and "
    "sensor. The results are not expected to match those of the paper exactly; both are shown side by side."
)
FOOTER = (
    "Jiang, Masood, Soh, Li: “Indoor occupancy estimation from carbon dioxide concentration”. "
    "Numbers in parentheses are equations of the paper."
)
ROUNDING = (
    "RMSE uses unrounded estimates; FDR, FPR, FNR and the tolerances use estimates rounded to whole people."
)
TERMS = {
    "RMSE": "root mean square error [people]",
    "FDR": "false detection rate: fraction of all readings with empty and occupied confused",
    "FPR": "false positive rate: fraction of empty readings estimated as occupied",
    "FNR": "false negative rate: fraction of occupied readings estimated as empty",
    "within ±3, ±4": "fraction of readings with an error of at most 3 or 4 people",
}


@dataclass(frozen=True)
class Panel:
    """A figure of the report with its heading and caption."""

    name: str  # id in the page
    heading: str
    figure: Callable[[Reproduction], go.Figure]
    caption: Callable[[Reproduction], str]


DAYS = Panel("five-days", "Test days", paper_figures.five_test_days, paper_captions.days_caption)
RMSE = Panel(
    "rmse", "RMSE compared with the paper", paper_figures.rmse_beside_paper, paper_captions.rmse_caption
)
TOLERANCE = Panel(
    "tolerance",
    "Tolerance accuracy",
    paper_figures.tolerance_accuracy,
    paper_captions.tolerance_caption,
)
CO2 = Panel("co2-day", "Smoothing of CO2", paper_figures.co2_day, paper_captions.co2_caption)
SIGMOID = Panel(
    "saturation",
    "Saturation of the hidden neurons",
    paper_figures.sigmoid_saturation,
    paper_captions.saturation_caption,
)


def write_report(reproduction: Reproduction, path: Path) -> None:
    """Write the report to ``path`` atomically."""
    write_atomically(path, render_report(reproduction))


def render_report(reproduction: Reproduction) -> str:
    """Render the report as one self-contained HTML document."""
    header = f"""<p class="kicker">occupair: the paper's experiment</p>
<h1>{prose(paper_captions.headline(reproduction))}</h1>
<p class="lead">{prose(paper_captions.summary(reproduction))}</p>
<p class="notice"><strong>The data are simulated.</strong> {escape(NOTICE)}</p>"""
    return render_page(TITLE, header=header, sections=_sections(reproduction), footer=FOOTER)


def _sections(reproduction: Reproduction) -> list[str]:
    return [
        _figure_section(DAYS, reproduction),
        section("table-2", "Table II: scores", _score_section(reproduction)),
        _figure_section(RMSE, reproduction),
        _figure_section(TOLERANCE, reproduction),
        _figure_section(CO2, reproduction),
        _figure_section(SIGMOID, reproduction),
        section("table-1", "Table I: feature scales", _scale_section(reproduction)),
        section("settings", "Settings", paper_comparison.settings_list(reproduction)),
    ]


def _figure_section(panel: Panel, reproduction: Reproduction) -> str:
    figure, caption = panel.figure(reproduction), panel.caption(reproduction)
    block = figure_block(f"{panel.name}-plot", figure, label=panel.heading, caption=caption)
    return section(panel.name, panel.heading, block)


def _score_section(reproduction: Reproduction) -> str:
    terms = "".join(f"<dt>{escape(term)}</dt><dd>{escape(meaning)}</dd>" for term, meaning in TERMS.items())
    return (
        f"{paper_comparison.score_table(reproduction)}\n"
        f"<p>{prose(paper_captions.order_against_paper(reproduction))} "
        f"{prose(paper_captions.feedback(reproduction))}</p>\n"
        f'<p>{escape(ROUNDING)}</p>\n<dl class="terms">{terms}</dl>'
    )


def _scale_section(reproduction: Reproduction) -> str:
    words = (
        "Feature groups: P, CO2; I, its difference over the stride; D, its difference between consecutive "
        "readings; o, past occupancy; v, ventilation. The scale factor α of each group limits its influence "
        "on the hidden neurons."
    )
    return f"{paper_comparison.scale_table(reproduction)}\n<p>{escape(words)}</p>"
