"""The savings command: ventilation policies in a simulated office."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from occupair.cli.shared import bar, check_output, out

if TYPE_CHECKING:
    from occupair.savings.building import Standard


class StandardName(StrEnum):
    """Choices of --standard; an enumeration, because older versions of typer do not know Literal."""

    ashrae = "ashrae"
    en = "en"


STANDARDS: dict[StandardName, Standard] = {StandardName.ashrae: "ASHRAE 62.1", StandardName.en: "EN 16798-1"}


def savings(
    standard: Annotated[
        StandardName,
        typer.Option(help="Standard of the outdoor air: ASHRAE 62.1, or EN 16798-1 category II."),
    ] = StandardName.ashrae,
    days: Annotated[int, typer.Option(min=1, help="Evaluated calendar days.")] = 365,
    seeds: Annotated[int, typer.Option(min=1, help="Number of random seeds.")] = 10,
    seed: Annotated[int, typer.Option(min=0, help="First random seed.")] = 0,
    interval: Annotated[int, typer.Option(min=1, help="Time between decisions [min].")] = 5,
    vacations: Annotated[bool, typer.Option(help="Whether people take vacations.")] = True,
    heat_recovery: Annotated[float, typer.Option(help="Efficiency of heat recovery, 0 to 1.")] = 0.0,
    jobs: Annotated[int, typer.Option(min=1, help="Number of parallel processes.")] = 1,
    path: Annotated[Path | None, typer.Option("--out", help="HTML report to write.")] = None,
    csv: Annotated[Path | None, typer.Option(help="Table of all totals to write.")] = None,
) -> None:
    """Compare ventilation policies in a simulated office.

    The default period is a year. The outdoor air that a policy chooses changes the CO2 that its sensor and
    its estimator see.

    Example: occupair savings --days 20 --seeds 2 --out savings.html
    """
    from occupair.readings.files import write_table
    from occupair.report.text_table import markdown
    from occupair.savings import tables
    from occupair.savings.energy import EnergyModel
    from occupair.savings.run_study import run_study
    from occupair.savings.savings_page import about, write_page
    from occupair.savings.study_settings import StudySettings

    check_output(path, "report")
    check_output(csv, "table")
    settings = StudySettings(
        STANDARDS[standard],
        days=days,
        interval=interval,
        vacations=vacations,
        energy=EnergyModel(heat_recovery=heat_recovery),
    )
    with bar():
        result = run_study(settings, range(seed, seed + seeds), jobs=jobs)
    out.print(f"{settings.standard}. {about(result)}\n", soft_wrap=True)
    out.print(markdown(tables.summary_table(result)), soft_wrap=True)
    out.print(f"\n{tables.NOTES}\n", soft_wrap=True)
    out.print(markdown(tables.error_table(result)), soft_wrap=True)
    out.print()
    out.print(markdown(tables.totals_table(result)), soft_wrap=True)
    out.print()
    out.print(markdown(tables.curve_table(result)), soft_wrap=True)
    out.print()
    for sentence in tables.conclusions(result):
        out.print(f"- {sentence}", soft_wrap=True)
    if csv is not None:
        write_table(result.table().set_index(["policy", "seed"]), csv)
    if path is not None:
        write_page(result, path)
        out.print(f"\nReport with figures: {path.resolve().as_uri()}", soft_wrap=True)
