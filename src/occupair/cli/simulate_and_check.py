"""Commands that need no model: simulate and check."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from occupair.cli.shared import (
    Area,
    AsJson,
    Capacity,
    Closed,
    Columns,
    Dayfirst,
    Height,
    Readings,
    Seed,
    Timezone,
    Volume,
    check_output,
    describe_columns,
    naming,
    out,
    print_json,
    read,
)


def simulate(
    path: Annotated[Path, typer.Option("--out", help="CSV or Parquet file to write.")],
    days: Annotated[int, typer.Option(min=1, help="Number of weekdays to simulate.")] = 30,
    seed: Seed = 0,
) -> None:
    """Simulate readings of the paper's office.

    Example: occupair simulate --days 30 --seed 1 --out office.csv
    """
    from occupair.readings.files import write_readings
    from occupair.simulation import simulate_office
    from occupair.wording import plural

    check_output(path, "table")
    office = simulate_office(days, seed=seed)
    write_readings(office, path)
    most = office["occupancy"].max()
    out.print(f"{path}: {len(office)} simulated readings, {plural(days, 'weekday')}, up to {most} people.")


def check(
    readings: Readings,
    path: Annotated[Path | None, typer.Option("--out", help="HTML report to write.")] = None,
    volume: Volume = None,
    capacity: Capacity = None,
    area: Area = None,
    height: Height = None,
    closed: Closed = None,
    timezone: Timezone = None,
    column: Columns = None,
    dayfirst: Dayfirst = None,
    as_json: AsJson = False,
) -> None:
    """Check the quality of readings before training.

    With --volume and --capacity, also report what CO2 shows about the air of the room: air change rates,
    base level, and outdoor air per person. Exits with status 1 if the readings are not fit for training.

    Example: occupair check office.csv --out office-check.html

    Example: occupair check office.csv --volume 180 --capacity 24
    """
    from occupair.checks import faults_document, find_faults, format_faults, is_trainable
    from occupair.inferred_training import identify_air
    from occupair.physics.room_air import room_air_to_json
    from occupair.physics.room_properties import room_properties

    check_output(path, "report", readings)
    room = room_properties(volume=volume, capacity=capacity, area=area, height=height)
    office = read(readings, timezone, column, dayfirst, lenient=True)
    with naming(readings):
        faults = find_faults(office)
        air = None if room is None else identify_air(office, room, tuple(closed) if closed else None)
    if room is not None:
        faults = [fault for fault in faults if fault.kind != "no_counts"]  # it can be trained without
    if timezone is not None:
        faults = [fault for fault in faults if fault.kind != "utc_times"]  # the user chose the time zone
    if path is not None:
        from occupair.report.check_page import write_check_page

        write_check_page(office, faults, path, name=readings.name)
    if as_json:
        report = None if path is None else str(path)
        origin = {"file": str(readings), "report": report, "columns": office.attrs["columns"]}
        document = {} if air is None else {"air": room_air_to_json(air)}
        print_json(origin | faults_document(office, faults) | document)
    else:
        out.print(f"{format_faults(faults)}\n\n{describe_columns(office)}", soft_wrap=True)
        if air is not None:
            out.print(f"\n{air}", soft_wrap=True)
        if path is not None:
            out.print(f"\nReport: {path.resolve().as_uri()}", soft_wrap=True)
    raise typer.Exit(0 if is_trainable(faults) else 1)
