"""The report of ``occupair check``, one self-contained HTML file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from pathlib import Path

import pandas as pd

from occupair.atomic_files import write_atomically
from occupair.checks import SEVERITIES, Fault, Severity, is_trainable, verdict
from occupair.checks.prepared_readings import prepare_readings
from occupair.report.check_figures import clock_curve, clock_example, kind_name, readings_and_faults
from occupair.report.html_page import figure_block, page_file, prose, render_page, section
from occupair.wording import listed

MOST_CLOCKS = 3  # clock faults shown in detail
MARKS: dict[Severity, str] = {"wrong": "#d55e00", "doubtful": "#e69f00", "note": "#56b4e9"}
HEADINGS: dict[Severity, str] = {
    "wrong": "Errors: fix before training",
    "doubtful": "Warnings: please review",
    "note": "Notes",
}


def write_check_page(
    readings: pd.DataFrame, faults: Sequence[Fault], path: str | Path, *, name: str = "readings"
) -> None:
    """Write a report with readings and the faults found by `occupair.checks.find_faults`.

    Parameters
    ----------
    readings : DataFrame
        Readings, as passed to `find_faults`.
    faults : sequence of Fault
        Faults found.
    path : path
        HTML file, written atomically.
    name : str
        Name of the readings, such as that of their file.
    """
    write_atomically(path, render_check_page(readings, faults, name=name))


def render_check_page(readings: pd.DataFrame, faults: Sequence[Fault], *, name: str = "readings") -> str:
    """Render the report as one self-contained HTML document."""
    table = prepare_readings(readings)
    fit = is_trainable(faults)
    doubtful = any(fault.severity == "doubtful" for fault in faults)
    mark = MARKS["wrong"] if not fit else MARKS["doubtful"] if doubtful else "#009e73"
    header = f"""<p class="kicker">occupair check: {escape(name)}</p>
<p class="verdict" style="--mark:{mark}">{"Fit to train on" if fit else "Not fit to train on"}</p>
<h1>{prose(headline(faults))}</h1>
<p class="lead">{prose(_summary(table))}</p>"""
    return render_page(
        f"occupair check: {name}",
        header=header,
        sections=_sections(table, faults),
        footer="Made by occupair check.",
        css=page_file("check_page.css"),
    )


def headline(faults: Sequence[Fault]) -> str:
    """State in one line whether the readings are fit for training, and why not.

    Examples
    --------
    >>> headline([Fault("stuck", "wrong", "..."), Fault("clock", "wrong", "...")])
    'Fix before training: CO2 stuck and clock offset.'
    """
    wrong = list(dict.fromkeys(kind_name(fault.kind) for fault in faults if fault.severity == "wrong"))
    return f"Fix before training: {listed(wrong)}." if wrong else verdict(faults)


def _summary(table: pd.DataFrame) -> str:
    days = pd.DatetimeIndex(table.index).normalize().unique()
    people = table["occupancy"].max() if "occupancy" in table else float("nan")
    counted = f", up to {people:.0f} people" if people == people else ", no head counts"
    span = f"{len(days)} days between {days[0]:%d %B %Y} and {days[-1]:%d %B %Y}"
    return f"{len(table):,} readings on {span}{counted}.".replace(",", " ", 1)


def _sections(table: pd.DataFrame, faults: Sequence[Fault]) -> list[str]:
    clocks = [fault for fault in faults if fault.kind == "clock"][:MOST_CLOCKS]
    return [
        section("findings", "Findings", _findings(faults)),
        section("readings", "Readings", _overview(table, faults)),
        *(_clock_section(table, fault, k) for k, fault in enumerate(clocks, start=1)),
    ]


def _findings(faults: Sequence[Fault]) -> str:
    if not faults:
        return "<p>No faults found in CO2, head counts and ventilation.</p>"
    parts = []
    for severity in SEVERITIES:
        items = "".join(_item(fault) for fault in faults if fault.severity == severity)
        if items:
            style = f"--mark:{MARKS[severity]}"
            parts.append(f"<h3>{escape(HEADINGS[severity])}</h3>")
            parts.append(f'<ul class="faults" style="{style}">{items}</ul>')
    return "\n".join(parts)


def _item(fault: Fault) -> str:
    text = re.sub(r"\d{4}-\d\d-\d\d", r"<time>\g<0></time>", prose(fault.message))  # not broken at a hyphen
    return f"<li><strong>{escape(kind_name(fault.kind))}</strong><span>{text}</span></li>"


def _overview(table: pd.DataFrame, faults: Sequence[Fault]) -> str:
    caption = (
        "All days with readings, side by side. Shading marks errors (red) and warnings (yellow), named by "
        "the bars below. Drag to zoom, double-click to reset."
    )
    figure = readings_and_faults(table, faults)
    return figure_block("readings-plot", figure, label="CO2 and head counts over time", caption=caption)


def _clock_section(table: pd.DataFrame, fault: Fault, number: int) -> str:
    before, after = fault.details["explained_as_it_is"], fault.details["explained_when_moved"]
    example = figure_block(
        f"clock-{number}-day-plot",
        clock_example(table, fault),
        label="One day, CO2 as recorded and shifted",
        caption="Example day. The grey area is the head count: "
        "CO2 should rise while the room is occupied and fall afterwards.",
    )
    curve = figure_block(
        f"clock-{number}-curve-plot",
        clock_curve(fault),
        label="Agreement of head counts and CO2 at each offset",
        caption=f"CO2 explains {before:.0%} of the variance of the counts as recorded, {after:.0%} when "
        f"shifted. Without a clock offset, the peak is at 0 to 0.4 h, because of the mixing time of the air.",
    )
    return section(f"clock-{number}", "Clock offset", f"{example}\n{curve}")
