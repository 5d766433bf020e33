"""The report of the study, one self-contained HTML file."""

from __future__ import annotations

from pathlib import Path

from occupair.atomic_files import write_atomically
from occupair.report.html_page import figure_block, prose, render_page, section
from occupair.report.text_table import html_table
from occupair.savings import figures, tables
from occupair.savings.result import StudyResult


def write_page(result: StudyResult, path: str | Path) -> None:
    """Write the report atomically."""
    write_atomically(path, render_savings_page(result))


def render_savings_page(result: StudyResult) -> str:
    """Render the report as one self-contained HTML document."""
    first, *others = tables.conclusions(result)
    items = "".join(f"<li>{prose(one)}</li>" for one in others)
    header = f"""<p class="kicker">occupair savings: {prose(result.settings.standard)}</p>
<h1>{prose(first)}</h1>
<ul>{items}</ul>
<p class="notice">{prose(about(result))}</p>"""
    return render_page(
        "occupair savings", header=header, sections=_sections(result), footer="Made by occupair savings."
    )


def about(result: StudyResult) -> str:
    """Describe the study in a few sentences."""
    settings, n = result.settings, len(result.seeds)
    seeds = f"one seed ({result.seeds[0]})" if n == 1 else f"{n} seeds from {result.seeds[0]}"
    vacations = "with vacations" if settings.vacations else "without vacations"
    co2, heat = result.balance_errors
    return (
        f"A simulated office with 35 seats, in a closed loop with its ventilation: {settings.days} days "
        f"{vacations}, {seeds}. Estimators, schedule and CO2 control come from {settings.train_weeks} + "
        f"{settings.tuning_weeks} weeks before them. Decisions every {settings.interval} min. Largest "
        f"relative errors of the balances: CO2 {co2:.0e}, heat {heat:.0e}."
    )


def _sections(result: StudyResult) -> list[str]:
    trade_off = figure_block(
        "trade-off-plot",
        figures.trade_off(result),
        label="Outdoor air over person-hours below the required flow",
        caption="Down and left is better. Curves: the estimate and the upper bounds with confidences of 75, "
        "90, 95 and 99 %; CO2 control, tuned to different shares of person-hours below the flow; schedules "
        "for several quantiles of the counts. Points with bars: 95 % confidence intervals over seeds.",
    )
    co2 = figure_block(
        "co2-plot",
        figures.air_and_co2(result),
        label="Outdoor air over person-hours above 1,000 ppm",
        caption="The same policies, judged by CO2 instead of the flow of the standard. A count controls the "
        "flow per person, not the concentration: to stay below 1,000 ppm, control CO2.",
    )
    parts = [
        section("trade-off", "Outdoor air against under-ventilation", trade_off),
        section("co2", "Outdoor air against CO2", co2),
        section(
            "policies", "Policies", html_table("policies-table", tables.NOTES, tables.summary_table(result))
        ),
        section(
            "errors",
            "Counts in the loop",
            html_table(
                "errors-table",
                "Errors of each estimator at the flows that its own policy causes, in operating hours. Mean "
                "error: estimate minus true count. Trained at fixed flow, the estimator meets flows that it "
                "has never seen.",
                tables.error_table(result),
            ),
        ),
        section(
            "totals",
            f"Totals of {result.settings.days} days",
            html_table("totals-table", "Means over seeds.", tables.totals_table(result)),
        ),
        section(
            "curves",
            "Points of the curves",
            html_table("curves-table", "Percent as in the table of policies.", tables.curve_table(result)),
        ),
    ]
    if result.example is not None:
        day = figure_block(
            "example-plot",
            figures.example_day(result),
            label="People, outdoor air and CO2 of one day",
            caption=f"{result.example.people.index[0]:%A, %d %B %Y}, first seed. CO2 lags behind people; the "
            "estimate uses its changes, too, and lags less.",
        )
        parts.insert(2, section("example", "One day", day))
    return parts
