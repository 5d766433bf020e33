"""The command report: the use of rooms over weeks, as a page and tables."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from occupair.cli.report_sources import Request, Task, find_tasks
from occupair.cli.shared import (
    Columns,
    Dayfirst,
    Timezone,
    bar,
    check_output,
    check_period,
    column_names,
    note,
    out,
    parse_day,
)
from occupair.wording import plural

if TYPE_CHECKING:
    from occupair.utilisation.room_usage import RoomUsage

LISTED = 5  # rooms without figures that are listed in the terminal


def report(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE",
            help="rooms.toml of the live service, a database (file or URL), files or folders with estimates, "
            "or a model and the readings of its room.",
        ),
    ],
    path: Annotated[Path, typer.Option("--out", help="HTML file to write.")] = Path("utilisation.html"),
    csv: Annotated[bool, typer.Option("--csv/--no-csv", help="Write tables as CSV beside the page.")] = True,
    first: Annotated[
        str | None, typer.Option("--from", metavar="YYYY-MM-DD", help="First day; default: first with data.")
    ] = None,
    last: Annotated[
        str | None,
        typer.Option("--to", metavar="YYYY-MM-DD", help="Last day; default: the last day that is over."),
    ] = None,
    hours: Annotated[str, typer.Option(metavar="HH:MM-HH:MM", help="Opening hours.")] = "08:00-18:00",
    weekdays: Annotated[
        str, typer.Option(help="Days with opening hours, e.g. mon-fri or mon,wed.")
    ] = "mon-fri",
    rooms: Annotated[
        Path | None,
        typer.Option(help="Names, floors and seats: rooms.toml, or CSV with room, name, floor and capacity."),
    ] = None,
    room: Annotated[
        list[str] | None, typer.Option(metavar="ROOM", help="Only this room, by id; repeatable.")
    ] = None,
    capacity: Annotated[int | None, typer.Option(min=1, help="Seats of rooms without a capacity.")] = None,
    calendar: Annotated[
        Path | None, typer.Option(help="Calendar file (.ics), or a folder with one named like each room.")
    ] = None,
    titles: Annotated[bool, typer.Option("--titles", help="Show the subjects of meetings.")] = False,
    title: Annotated[str, typer.Option(help="Title of the page.")] = "Room utilisation",
    quick: Annotated[
        bool, typer.Option("--quick", help="Use the refined estimates in the database, not new ones.")
    ] = False,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Worker processes; default: one per core.")
    ] = None,
    timezone: Timezone = None,
    column: Columns = None,
    dayfirst: Dayfirst = None,
) -> None:
    """Report when rooms are used, and by how many people.

    Also reports which seats are never used.

    Example: occupair report rooms.toml --from 2026-09-01 --calendar rooms.ics --out report.html

    Example: occupair report office.occupair readings.csv --capacity 15 --out report.html
    """
    check_output(path, "report")
    from occupair.utilisation.opening_hours import OpeningHours
    from occupair.utilisation.report_page import write_report
    from occupair.utilisation.room_list import read_room_list
    from occupair.utilisation.tables import table_paths, write_tables

    if csv:
        for table in table_paths(path).values():
            check_output(table, "table")
    opening = OpeningHours(hours, weekdays)
    request = Request(
        opening=opening,
        first=parse_day(first, "--from"),
        last=parse_day(last, "--to"),
        listed=read_room_list(rooms) if rooms is not None else {},
        wanted=tuple(room or ()),
        capacity=capacity,
        timezone=timezone,
        quick=quick,
        calendar=calendar,
        outputs=frozenset(table_paths(path).values()),
        columns=column_names(column),
        dayfirst=dayfirst,
    )
    check_period(request.first, request.last)
    method, tasks = find_tasks(sources, request)
    usage = _run(tasks, workers)
    write_report(usage, path, opening=opening, method=method, title=title, show_titles=titles)
    written = write_tables(usage if titles else [_without_titles(one) for one in usage], path) if csv else []
    _summarise(usage, path, written)


def _run(tasks: Sequence[Task], workers: int | None) -> list[RoomUsage]:
    """Return the use of all rooms, computed in worker processes if there are several."""
    from occupair.progress import track
    from occupair.utilisation.room_order import usage_or_problem

    workers = min(workers or os.cpu_count() or 1, len(tasks))
    with bar():
        if workers <= 1:
            return [usage_or_problem(*task) for task in track(tasks, "estimating rooms")]
        from occupair.fleet.worker_processes import WorkerProcesses

        pool = WorkerProcesses(workers)
        try:
            futures: list[Future[RoomUsage]] = [pool.submit(usage_or_problem, *task) for task in tasks]
            return [future.result() for future in track(futures, "estimating rooms")]
        finally:
            pool.shutdown(cancel_futures=True)


def _without_titles(usage: RoomUsage) -> RoomUsage:
    if usage.meetings is None:
        return usage
    return replace(usage, meetings=[one._replace(title="") for one in usage.meetings])


def _summarise(usage: Sequence[RoomUsage], path: Path, written: Sequence[Path]) -> None:
    from occupair.utilisation.findings import data_quality, summary

    failed = [one for one in usage if one.problem]
    out.print(f"{path}: {plural(len(usage), 'room')}, {path.stat().st_size / 1e6:.1f} MB", soft_wrap=True)
    for table in written:
        out.print(str(table), soft_wrap=True)
    out.print(f"{summary(usage)} {data_quality(usage)}".lstrip(), soft_wrap=True)
    for one in failed[:LISTED]:
        note(f"{one.room.label}: {one.problem}")
    if len(failed) > LISTED:
        note(f"{len(failed) - LISTED} more rooms have no figures; the page says why")
    if failed and len(failed) == len(usage):
        raise typer.Exit(1)
