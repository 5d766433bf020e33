"""The savings-energyplus command: ventilation policies in an EnergyPlus model of a small office."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from occupair.cli.savings import STANDARDS, StandardName
from occupair.cli.shared import Seed, bar, check_output, out


def savings_energyplus(
    climate: Annotated[
        str, typer.Option(help="Weather: chicago, denver, miami, phoenix or san-francisco.")
    ] = "chicago",
    standard: Annotated[
        StandardName,
        typer.Option(help="Standard of the outdoor air: ASHRAE 62.1, or EN 16798-1 category II."),
    ] = StandardName.ashrae,
    days: Annotated[int, typer.Option(min=1, help="Evaluated days from 1 January on, up to 365.")] = 365,
    seed: Seed = 0,
    jobs: Annotated[int, typer.Option(min=1, help="Number of parallel processes.")] = 1,
    csv: Annotated[Path | None, typer.Option(help="Table of all totals to write.")] = None,
) -> None:
    """Compare ventilation policies with EnergyPlus.

    The default period is a year. The building is the DOE reference small office, in which every zone has its
    own CO2 sensor, estimator and outdoor air. Needs EnergyPlus: pip install "occupair[energyplus]".

    Example: occupair savings-energyplus --days 7 --jobs 2
    """
    from occupair.readings.files import write_table
    from occupair.report.text_table import markdown
    from occupair.savings.energyplus import building_tables
    from occupair.savings.energyplus.building_period import BuildingStudy
    from occupair.savings.energyplus.building_study import run_building_study

    check_output(csv, "table")
    study = BuildingStudy(climate, STANDARDS[standard], seed, days)
    with bar():
        outcomes = run_building_study(study, jobs=jobs)
    out.print(
        f"EnergyPlus reference small office, {climate}, {study.standard}, {days} days from 1 January on, "
        f"seed {seed}.\n",
        soft_wrap=True,
    )
    for table in (building_tables.energy_table(outcomes), building_tables.air_table(outcomes)):
        out.print(markdown(table), soft_wrap=True)
        out.print()
    out.print(f"{building_tables.NOTES}\n", soft_wrap=True)
    for sentence in building_tables.conclusions(outcomes):
        out.print(f"- {sentence}", soft_wrap=True)
    if csv is not None:
        write_table(building_tables.totals(outcomes).set_index("policy"), csv)
