"""The fleet commands: thousands of rooms on worker processes or a Dask cluster."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from occupair.cli.shared import (
    Closed,
    Columns,
    Dayfirst,
    Lag,
    Mode,
    Seed,
    Timezone,
    check_output,
    column_names,
    note,
    out,
    progress_display,
)
from occupair.errors import InputError
from occupair.wording import duration, plural

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from occupair.fleet.fleet_run import FleetRun, OnProgress
    from occupair.fleet.room_options import RoomOptions

SOME_FAILED, ALL_FAILED = 3, 4
"""Exit status if some rooms failed, and if all did."""
LISTED = 5
"""Failed rooms that are listed by name."""

fleet_app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@fleet_app.callback()
def fleet() -> None:
    """Train and estimate thousands of rooms.

    The work is done on this machine or on a Dask cluster.

    Exit status: 0 if all rooms succeed, 3 if some fail, 4 if all fail, 2 for a mistake in the command.
    """


Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="Readings: a folder with a CSV or Parquet file per room or with room=NAME folders, or Parquet "
        "with a column room; also a URL such as s3://bucket/readings.",
    ),
]
Models = Annotated[str, typer.Argument(metavar="MODELS", help="Folder or URL written by 'fleet fit'.")]
Scheduler = Annotated[
    str | None, typer.Option(help="Dask scheduler to run on, e.g. tcp://scheduler:8786; default: here.")
]
Workers = Annotated[
    int | None, typer.Option(min=1, help="Worker processes on this machine; default: one per core.")
]
Rooms = Annotated[
    str | None,
    typer.Option(
        "--rooms",
        metavar="FILE",
        help="CSV or TOML with the options of each room: capacity, volume, timezone, columns, ...; default: "
        "rooms.csv or rooms.toml in DATA.",
    ),
]


@fleet_app.command()
def fit(
    data: Data,
    models: Annotated[str, typer.Option("--out", metavar="MODELS", help="Folder or URL for the models.")],
    scheduler: Scheduler = None,
    workers: Workers = None,
    rooms: Rooms = None,
    only_failed: Annotated[
        bool, typer.Option("--only-failed", help="Train only rooms that failed in the last run.")
    ] = False,
    share: Annotated[
        bool,
        typer.Option(
            "--share/--no-share", help="Let rooms with few head counts start from other rooms of DATA."
        ),
    ] = True,
    renew_start: Annotated[
        bool, typer.Option("--renew-start", help="Compute that start again, and train all rooms again.")
    ] = False,
    seed: Seed = 0,
    closed: Closed = None,
    timezone: Timezone = None,
    column: Columns = None,
    dayfirst: Dayfirst = None,
) -> None:
    """Train a model for every room.

    Writes the models and a table of results, rooms.parquet. The command can be interrupted and run again at
    any time: it continues, and trains only rooms whose data or options have changed. A room that cannot be
    trained is a row with its reason.

    Example: occupair fleet fit readings --out models

    Example: occupair fleet fit s3://bucket/readings --out s3://bucket/models --scheduler tcp://10.0.0.5:8786
    """
    _need_fleet()
    from occupair.fleet.training_run import fit_fleet

    with _executor(scheduler, workers) as executor, _progress() as on_progress:
        run = fit_fleet(
            data,
            models,
            executor=executor,
            workers=workers,
            options_file=rooms,
            defaults=_defaults(timezone, column, dayfirst, closed),
            seed=seed,
            share=share,
            renew_start=renew_start,
            only_failed=only_failed,
            on_progress=on_progress,
        )
    _summary(run, "trained")
    trust = Counter(result.trust for result in run.results)
    sensors = Counter(result.sensor for result in run.results)
    fallbacks = sum(result.status == "fallback" for result in run.results)
    counts = ", ".join(f"{trust[name]} {name}" for name in ("good", "limited", "poor", "none"))
    out.print(f"Trust in the estimates: {counts}. Fallbacks: {fallbacks}.", soft_wrap=True)
    out.print(f"CO2 sensors: {sensors['faulty']} faulty, {sensors['check']} to check.", soft_wrap=True)
    out.print(
        f"{models}/rooms.parquet: one row per room; page: occupair fleet report {models}", soft_wrap=True
    )
    _exit(run)


@fleet_app.command()
def estimate(
    data: Data,
    models: Models,
    folder: Annotated[
        str, typer.Option("--out", metavar="ESTIMATES", help="Folder or URL for room=NAME/estimates.parquet.")
    ],
    mode: Mode = "live",
    lag: Lag = 0,
    interval: Annotated[
        float | None, typer.Option(help="Add a prediction interval with this confidence, e.g. 0.9.")
    ] = None,
    scheduler: Scheduler = None,
    workers: Workers = None,
    rooms: Rooms = None,
    timezone: Timezone = None,
    column: Columns = None,
    dayfirst: Dayfirst = None,
) -> None:
    """Estimate the people in every room at every reading.

    Rooms that were estimated before from the same readings with the same model are not estimated again.

    Example: occupair fleet estimate readings models --out estimates --lag 20 --interval 0.9
    """
    _need_fleet()
    from occupair.fleet.model_runs import estimate_fleet

    with _executor(scheduler, workers) as executor, _progress() as on_progress:
        run = estimate_fleet(
            data,
            models,
            folder,
            lag=lag,
            interval=interval,
            mode=mode,  # type: ignore[arg-type]  # checked there
            executor=executor,
            workers=workers,
            options_file=rooms,
            defaults=_defaults(timezone, column, dayfirst),
            on_progress=on_progress,
        )
    _summary(run, "estimated")
    total = sum(result.estimates for result in run.results)
    out.print(f"{folder}: {total:,} estimates.", soft_wrap=True)
    _exit(run)


@fleet_app.command()
def evaluate(
    data: Data,
    models: Models,
    table: Annotated[
        Path | None, typer.Option("--out", help="CSV or Parquet file with the scores of each room.")
    ] = None,
    lag: Lag = 0,
    scheduler: Scheduler = None,
    workers: Workers = None,
    rooms: Rooms = None,
    timezone: Timezone = None,
    column: Columns = None,
    dayfirst: Dayfirst = None,
) -> None:
    """Score the models of all rooms on readings with head counts.

    Use days that the models were not trained on.

    Example: occupair fleet evaluate next-month models --out scores.csv
    """
    _need_fleet()
    check_output(table, "table")
    from dataclasses import asdict

    import pandas as pd

    from occupair.fleet.model_runs import evaluate_fleet
    from occupair.readings.files import write_table

    with _executor(scheduler, workers) as executor, _progress() as on_progress:
        run = evaluate_fleet(
            data,
            models,
            lag=lag,
            executor=executor,
            workers=workers,
            options_file=rooms,
            defaults=_defaults(timezone, column, dayfirst),
            on_progress=on_progress,
        )
    scores = pd.DataFrame([asdict(result) for result in run.results]).set_index("room")
    _summary(run, "evaluated")
    good = scores[scores["status"] == "evaluated"]
    if len(good):
        median = good[["rmse", "nrmse", "bias", "coverage", "fdr", "within_2"]].median()
        out.print(
            f"Median of the rooms: RMSE {median['rmse']:.2f} people, nRMSE {median['nrmse']:.3f}, bias "
            f"{median['bias']:+.2f} people, coverage {100 * median['coverage']:.0f} %, within ±2 people "
            f"{100 * median['within_2']:.0f} %.",
            soft_wrap=True,
        )
        seen = int((good["days_trained_on"] > 0).sum())
        if seen:
            note(f"{plural(seen, 'room')} scored on days of their training: evaluate on other days")
    if table is not None:
        write_table(scores, table)
    _exit(run)


@fleet_app.command()
def report(
    models: Models,
    page: Annotated[Path, typer.Option("--out", help="HTML file to write.")] = Path("rooms.html"),
) -> None:
    """Write one HTML page of all rooms.

    It shows which rooms can be trusted, and which sensors need a technician.

    Example: occupair fleet report models --out rooms.html
    """
    _need_fleet()
    check_output(page, "report")
    from occupair.fleet.rooms_page import write_rooms_page
    from occupair.fleet.training_run import read_fleet

    results = read_fleet(models)
    write_rooms_page(results, page)
    out.print(f"{page}: {plural(len(results), 'room')}, {page.stat().st_size / 1e6:.1f} MB", soft_wrap=True)


@fleet_app.command()
def split(
    data: Annotated[str, typer.Argument(metavar="DATA", help="Parquet file or files with a column room.")],
    folder: Annotated[str, typer.Option("--out", help="New folder or URL for room=NAME folders.")],
) -> None:
    """Split Parquet files into one folder per room.

    For files in which rooms are mixed; files sorted by room need not be split.

    Example: occupair fleet split readings.parquet --out readings
    """
    _need_fleet()
    from occupair.fleet.split_table import split_table

    out.print(f"{folder}: {split_table(data, folder):,} rows", soft_wrap=True)


def _need_fleet() -> None:
    if any(find_spec(module) is None for module in ("fsspec", "pyarrow")):
        raise InputError("fleet needs packages that are not installed: pip install 'occupair[fleet]'")


def _defaults(
    timezone: str | None, columns: list[str] | None, dayfirst: bool | None, closed: list[str] | None = None
) -> RoomOptions:
    """Return the options of all rooms."""
    from occupair.fleet.room_options import RoomOptions
    from occupair.readings.time_zones import parse_time_zone
    from occupair.room.closed_hours import parse_closed

    parse_time_zone(timezone)  # raises if it is unknown
    parse_closed(closed)
    pairs = tuple(column_names(columns).items())
    return RoomOptions(timezone=timezone, dayfirst=dayfirst, columns=pairs, closed=tuple(closed or ()))


@contextmanager
def _executor(scheduler: str | None, workers: int | None) -> Iterator[Executor | None]:
    """Yield the executor of a cluster; None for worker processes on this machine."""
    if scheduler is None:
        yield None
        return
    if workers is not None:
        raise InputError("--workers is for this machine: drop it with --scheduler")
    from occupair.fleet.executors import dask_cluster

    with dask_cluster(scheduler) as executor:
        yield executor


@contextmanager
def _progress() -> Iterator[OnProgress]:
    """Show rooms done and failed, and the time left, on standard error."""
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("rooms, {task.fields[failed]} failed,"),
        TimeRemainingColumn(),
        TextColumn("left"),
    )
    with (
        warnings.catch_warnings(record=True, category=UserWarning) as caught,
        progress_display(*columns) as bar,
    ):
        warnings.simplefilter("always", UserWarning)
        task = bar.add_task("starting", total=None, failed=0)

        def show(what: str, done: int, failed: int, total: int) -> None:
            bar.update(task, description=what, completed=done, total=total, failed=failed)

        yield show
    for text in dict.fromkeys(str(one.message) for one in caught):
        note(text)


def _summary(run: FleetRun[Any], done: str) -> None:
    """Print how many rooms were done, how fast, and why some failed."""
    n, failed = len(run.results), run.n_failed
    unchanged = f", {run.n_unchanged} of all unchanged" if run.n_unchanged else ""
    rate = f"{n / run.seconds:.2f} rooms/s" if run.seconds else ""
    memory = f", at most {max(run.megabytes.values()):.0f} MB per worker" if run.megabytes else ""
    counts = f"{plural(n - failed, 'room')} {done}, {failed} failed{unchanged}"
    out.print(f"{counts}, in {duration(run.seconds)} ({rate}{memory}).", soft_wrap=True)
    _list_failed([result for result in run.results if result.status == "failed"])


def _list_failed(failed: Sequence[Any]) -> None:
    for result in failed[:LISTED]:
        note(f"{result.room}: {result.reason}")
    if len(failed) > LISTED:
        note(f"{len(failed) - LISTED} more rooms failed, see the column reason")


def _exit(run: FleetRun[Any]) -> None:
    """End with the status that tells whether all, some or none of the rooms succeeded."""
    if run.n_failed:
        raise typer.Exit(ALL_FAILED if run.n_failed == len(run.results) else SOME_FAILED)
