"""One HTML file with the whole report, which opens offline: scripts, styles and data are inside it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from pathlib import Path

import plotly.graph_objects as go

from occupair.atomic_files import write_atomically
from occupair.report import paper_captions, paper_comparison, paper_figures
from occupair.report.html_page import figure_block, prose, section, whole_page
from occupair.report.paper_experiment import Reproduction

TITLE = "occupair: occupancy from CO2, the paper's experiment on simulated data"
NOTICE = (
    "The paper's recordings are not public, so its office was simulated: people coming and going, "
    "the room's air, the sensor. The paper's own digits cannot be expected; below, both stand side by side."
)
FOOTER = (
    "Jiang, Masood, Soh, Li: “Indoor occupancy estimation from carbon dioxide concentration”. "
    "Numbers in parentheses are the paper's equations."
)
ROUNDING = (
    "RMSE is worked out on unrounded estimates; "
    "FDR, FPR, FNR and the tolerances on estimates rounded to whole people."
)
TERMS = {
    "RMSE": "the size of a typical error, in people (large errors weigh more)",
    "FDR": "of all readings, the share where empty and occupied are mixed up",
    "FPR": "of the readings in an empty room, the share where somebody is seen",
    "FNR": "of the readings in an occupied room, the share where nobody is seen",
    "Within 3, 4": "the share of readings where the estimate is at most three, four people wrong",
}


@dataclass(frozen=True)
class Panel:
    """One figure of the report with its heading and the words beneath it."""

    name: str  # its id in the page
    heading: str
    figure: Callable[[Reproduction], go.Figure]
    caption: Callable[[Reproduction], str]


DAYS = Panel(
    "five-days", "The test days, minute by minute", paper_figures.five_test_days, paper_captions.days_caption
)
RMSE = Panel(
    "rmse", "Our error beside the paper's", paper_figures.rmse_beside_paper, paper_captions.rmse_caption
)
TOLERANCE = Panel(
    "tolerance",
    "How often is it close enough?",
    paper_figures.tolerance_accuracy,
    paper_captions.tolerance_caption,
)
CO2 = Panel(
    "co2-day", "What smoothing does to a day of CO2", paper_figures.co2_day, paper_captions.co2_caption
)
SIGMOID = Panel(
    "saturation",
    "Why FS-ELM: neurons that cannot respond",
    paper_figures.sigmoid_saturation,
    paper_captions.saturation_caption,
)


def write_report(reproduction: Reproduction, path: Path) -> None:
    """Write the report to ``path``, whole or not at all."""
    write_atomically(path, render_report(reproduction))


def render_report(reproduction: Reproduction) -> str:
    """Render the report as one HTML document that loads nothing from elsewhere."""
    header = f"""<p class="kicker">occupair: the paper's experiment, run again</p>
<h1>{prose(paper_captions.headline(reproduction))}</h1>
<p class="lead">{prose(paper_captions.summary(reproduction))}</p>
<p class="notice"><strong>The data are simulated.</strong> {escape(NOTICE)}</p>"""
    return whole_page(TITLE, header=header, sections=_sections(reproduction), footer=FOOTER)


def _sections(reproduction: Reproduction) -> list[str]:
    return [
        _figure_section(DAYS, reproduction),
        section("table-2", "The paper's Table II beside ours", _score_words(reproduction)),
        _figure_section(RMSE, reproduction),
        _figure_section(TOLERANCE, reproduction),
        _figure_section(CO2, reproduction),
        _figure_section(SIGMOID, reproduction),
        section("table-1", "The paper's Table I beside ours", _scale_words(reproduction)),
        section("settings", "How it was run", paper_comparison.settings_list(reproduction)),
    ]


def _figure_section(panel: Panel, reproduction: Reproduction) -> str:
    figure, caption = panel.figure(reproduction), panel.caption(reproduction)
    block = figure_block(f"{panel.name}-plot", figure, label=panel.heading, caption=caption)
    return section(panel.name, panel.heading, block)


def _score_words(reproduction: Reproduction) -> str:
    terms = "".join(f"<dt>{escape(term)}</dt><dd>{escape(meaning)}</dd>" for term, meaning in TERMS.items())
    return (
        f"{paper_comparison.score_table(reproduction)}\n"
        f"<p>{prose(paper_captions.order_against_paper(reproduction))} "
        f"{prose(paper_captions.feedback(reproduction))}</p>\n"
        f'<p>{escape(ROUNDING)}</p>\n<dl class="terms">{terms}</dl>'
    )


def _scale_words(reproduction: Reproduction) -> str:
    words = (
        "The features are P, the CO2 itself; I, its rise over the stride; D, its rise from one reading "
        "to the next; o, the people before; v, the ventilation. "
        "α shrinks each so that none drowns out the others."
    )
    return f"{paper_comparison.scale_table(reproduction)}\n<p>{escape(words)}</p>"
