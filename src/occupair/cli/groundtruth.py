"""Commands for ground truth: groundtruth scan, count, occupancy and plan."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from occupair.cli.shared import (
    AsJson,
    Columns,
    Dayfirst,
    Readings,
    Seed,
    Timezone,
    bar,
    check_output,
    column_names,
    load_model,
    naming,
    note,
    out,
    print_json,
    read,
    read_labelled,
)
from occupair.errors import InputError
from occupair.wording import plural

if TYPE_CHECKING:
    import pandas as pd

    from occupair.estimator import OccupancyEstimator
    from occupair.groundtruth.ledger.ledger import Ledger
    from occupair.groundtruth.planning.learning_curve import LearningCurve
    from occupair.groundtruth.planning.plan import DayToLabel, Plan

_READINGS_COLUMNS = ("co2", "ventilation")

groundtruth_app = typer.Typer(rich_markup_mode=None, no_args_is_help=True)


@groundtruth_app.callback()
def groundtruth() -> None:
    """Get head counts from door videos or door counters.

    Example: occupair groundtruth scan videos/ --out events/
    """


@groundtruth_app.command()
def scan(
    videos: Annotated[list[Path], typer.Argument(metavar="VIDEO", help="Door videos, or folders of them.")],
    folder: Annotated[Path, typer.Option("--out", help="Events folder to write.")] = Path("events"),
    door: Annotated[
        list[str] | None,
        typer.Option(
            metavar="DOOR",
            help="Door of the videos: NAME, or NAME=PATTERN with a folder, the beginning of file names or a "
            "pattern such as '*ch1*'; repeatable. Default: from file and folder names.",
        ),
    ] = None,
    start: Annotated[
        str | None,
        typer.Option(
            help="Start of the first video of each door, e.g. '2024-01-08 08:00'; the others follow on."
        ),
    ] = None,
    sensitivity: Annotated[
        float, typer.Option(help="0.5: minutes with a detected person; 1: minutes with any motion.")
    ] = 0.9,
    margin: Annotated[
        float, typer.Option(help="A passage this close to a minute boundary is shown in both minutes [s].")
    ] = 2.0,
    rate: Annotated[float, typer.Option(help="Frames to analyse per second.")] = 5.0,
    detector: Annotated[
        Path | None,
        typer.Option(
            help="Network for person detection: YOLO or FastestDet as .onnx, or Darknet .weights with "
            "the .cfg beside it. Default: HOG."
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Discard earlier results and scan again.")] = False,
    timezone: Timezone = None,
    dayfirst: Dayfirst = None,
) -> None:
    """Find the minutes in which somebody may have passed a door. An interrupted scan can be resumed.

    Example: occupair groundtruth scan north/ south/ --out events/
    """
    from occupair.groundtruth.video.scan import scan_videos

    with bar():
        summary = scan_videos(
            videos,
            folder,
            doors=_parse_doors(door),
            start=_parse_start(start),
            sensitivity=sensitivity,
            margin=margin,
            rate=rate,
            timezone=timezone,
            dayfirst=dayfirst,
            detector=detector,
            resume=not force,
        )
    for line in summary.lines():
        out.print(line, soft_wrap=True)
    if summary.events.minutes:
        out.print(f"Next: occupair groundtruth count {folder}", soft_wrap=True)


@groundtruth_app.command()
def count(
    events: Annotated[
        Path, typer.Argument(metavar="EVENTS", help="Events folder written by 'occupair groundtruth scan'.")
    ],
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port to listen on; 0 for any free port.")
    ] = 8097,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Do not open a browser.")] = False,
    delete_pictures: Annotated[
        bool, typer.Option("--delete-pictures", help="Delete each contact sheet once its minute is counted.")
    ] = False,
) -> None:
    """Count entries and exits by keyboard on a local web page. Counting can be resumed at any time.

    Example: occupair groundtruth count events/ --delete-pictures
    """
    from occupair.cli.service import need_live

    need_live("groundtruth count")
    from occupair.groundtruth.counting.counts import lock_counts
    from occupair.groundtruth.counting.server import serve_counting
    from occupair.groundtruth.counting.session import CountingSession
    from occupair.groundtruth.video.scan_store import delete_leftovers

    if unfinished := delete_leftovers(events):
        note(
            f"{events}: deleted the pictures of an interrupted scan of {plural(unfinished, 'video')}; scan "
            "again to include them"
        )
    if delete_pictures:
        with lock_counts(events):
            CountingSession(events).set_deletes(True)
    serve_counting(events, port=port, open_browser=not no_browser, started=_print_address)
    out.print(
        f"Next: occupair groundtruth occupancy {events} --readings READINGS --out LABELLED.csv",
        soft_wrap=True,
    )


@groundtruth_app.command()
def occupancy(
    inputs: Annotated[
        list[Path],
        typer.Argument(
            metavar="INPUT", help="Events folders, exports of door counters (CSV, Parquet) or MQTT logs."
        ),
    ],
    path: Annotated[Path, typer.Option("--out", help="CSV or Parquet to write.")],
    readings: Annotated[
        Path | None, typer.Option(help="Readings of the room (CO2, ventilation) to label.")
    ] = None,
    capacity: Annotated[int | None, typer.Option(min=1, help="Maximum occupancy of the room.")] = None,
    reset: Annotated[str, typer.Option(help="Time of day at which the room is empty.")] = "00:00",
    quiet_after: Annotated[str, typer.Option(help="Time of day from which nobody is expected.")] = "23:30",
    apply: Annotated[bool, typer.Option("--apply", help="Apply the proposed corrections.")] = False,
    partial: Annotated[
        bool, typer.Option("--partial", help="Accept minutes that are not counted yet, with low weight.")
    ] = False,
    cumulative: Annotated[
        bool | None,
        typer.Option("--cumulative/--per-row", help="Whether counts are running totals. Default: detect."),
    ] = None,
    timezone: Timezone = None,
    column: Columns = None,
    dayfirst: Dayfirst = None,
) -> None:
    """Sum entries and exits to occupancy, and report inconsistencies.

    Prints the findings, one per line, and then the smallest corrections that make every day consistent. They
    are applied only with --apply.

    Example: occupair groundtruth occupancy events/ --readings room.csv --out labelled.csv --apply
    """
    from occupair.groundtruth.counters.read_passages import read_passages
    from occupair.groundtruth.ledger.ledger import build_ledger, label_readings
    from occupair.readings.files import write_readings

    check_output(path, "table", *inputs, *([readings] if readings else []))
    readings_columns, counter_columns = _split_columns(column)
    passages = read_passages(
        *inputs,
        timezone=timezone,
        dayfirst=dayfirst,
        columns=counter_columns,
        cumulative=cumulative,
        partial=partial,
    )
    air = None if readings is None else read(readings, timezone, readings_columns, dayfirst, occupancy=False)
    with bar(), naming(readings or path):
        ledger = build_ledger(
            passages,
            capacity=capacity,
            reset=reset,
            quiet_after=quiet_after,
            timezone=timezone,
            readings=air,
        )
        result = ledger.apply() if apply else ledger
        labelled = label_readings(result, air)
    _print_ledger(ledger, applied=apply)
    negative = labelled["occupancy"] < 0  # not valid as head counts
    write_readings(labelled.assign(occupancy=labelled["occupancy"].mask(negative)), path)
    out.print(_describe_output(path, labelled, result), soft_wrap=True)
    if negative.any():
        note(f"{path}: {int(negative.sum())} negative head counts are left empty with weight 0: see --apply")
    if readings is None:
        note("training also needs CO2: set --readings to label the readings of the room")


@groundtruth_app.command()
def plan(
    readings: Readings,
    model: Annotated[
        Path | None, typer.Option(help="Model of the room. Default: train one on the labelled days.")
    ] = None,
    days: Annotated[int | None, typer.Option(min=1, help="Number of days to recommend.")] = None,
    seed: Seed = 0,
    timezone: Timezone = None,
    column: Columns = None,
    dayfirst: Dayfirst = None,
    as_json: AsJson = False,
) -> None:
    """Recommend how many more days to label in a room, and which.

    Head counts may be missing on some or all days of READINGS.

    Example: occupair groundtruth plan room.csv --days 3
    """
    from occupair.groundtruth.planning.plan import plan_labels

    trained = None if model is None else load_model(model, timezone)
    room_readings = _read_partly_labelled(readings, timezone, column, dayfirst, trained)
    with naming(readings), bar():
        found = plan_labels(room_readings, model=trained, days=days, seed=seed)
    if as_json:
        print_json(_plan_as_json(found))
    else:
        _print_plan(found)


def _parse_doors(given: Sequence[str] | None) -> dict[str, str] | None:
    """Parse NAME=PATTERN; a name alone matches all videos."""
    if not given:
        return None
    pairs = [text.partition("=") for text in given]
    wrong = [
        text
        for text, (name, sign, pattern) in zip(given, pairs, strict=True)
        if not name or (sign and not pattern)
    ]
    if wrong or (len(pairs) > 1 and not all(sign for _, sign, _ in pairs)):
        raise InputError(f"--door must be NAME, or NAME=PATTERN if repeated, got {', '.join(given)}")
    return {name: pattern or "*" for name, _, pattern in pairs}


def _parse_start(text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise InputError(f"--start must be a time such as '2024-01-08 08:00', got {text!r}") from None


def _print_address(address: str) -> None:
    out.print(f"Counting page at {address}. Every key press is saved; stop with Ctrl-C.", soft_wrap=True)


def _split_columns(given: list[str] | None) -> tuple[list[str], dict[str, str]]:
    """Split column names into those of readings and those of door counters."""
    names = column_names(given, example="entered='In'")
    of_readings = [f"{role}={name}" for role, name in names.items() if role in _READINGS_COLUMNS]
    return of_readings, {role: name for role, name in names.items() if role not in _READINGS_COLUMNS}


def _print_ledger(ledger: Ledger, *, applied: bool) -> None:
    for issue in ledger.issues:
        out.print(f"{issue.kind}: {issue.message}", soft_wrap=True)
    proposals = ledger.proposals()
    if not ledger.issues and not proposals:
        out.print("Every day is balanced; no issues found.")
    out.print("Balance by door:")
    for balance in ledger.door_balances():
        out.print(f"  {balance}", soft_wrap=True)
    if proposals:
        what = "Corrections applied" if applied else "Proposed corrections (apply with --apply)"
        out.print(f"{what}: the smallest change that balances every day.", soft_wrap=True)
    for line in proposals:
        out.print(f"  {line}", soft_wrap=True)


def _describe_output(path: Path, labelled: pd.DataFrame, ledger: Ledger) -> str:
    from occupair.readings.head_counts import WEIGHT
    from occupair.readings.schema import date_slices
    from occupair.wording import plural

    known = labelled[labelled["occupancy"].notna()]
    weight = known[WEIGHT]
    days = plural(len(date_slices(known)), "day")
    doors = plural(ledger.passages["door"].nunique(), "door")
    return (
        f"{path}: {days}, {doors}, up to {known['occupancy'].max():g} people; "
        f"{100 * float((weight < 0.99).mean()):.1f} % of the head counts are uncertain (weight below 1)."
    )


def _read_partly_labelled(
    path: Path,
    timezone: str | None,
    columns: list[str] | None,
    dayfirst: bool | None,
    model: OccupancyEstimator | None,
) -> pd.DataFrame:
    """Read readings with head counts on some days or none."""
    scale: dict[str, Any] = {}
    if model is not None:
        scale = {
            "ventilation": model.uses_ventilation_,
            "ventilation_full": model.ventilation_full_,
            "ventilation_unit": model.ventilation_unit_,
        }
    peek = read(path, timezone, columns, dayfirst, lenient=True, **scale)
    if "occupancy" in peek.columns and peek["occupancy"].notna().any():
        return read_labelled(path, timezone, columns, dayfirst, **scale)
    return read(path, timezone, columns, dayfirst, occupancy=False, **scale)


def _print_plan(found: Plan) -> None:
    out.print(found.advice, soft_wrap=True)
    for line in found.notes():
        out.print(line, soft_wrap=True)
    if found.curve is not None:
        out.print()
        out.print(_curve_table(found.curve))
    if found.days:
        out.print()
        out.print(_days_table(found.days))


def _curve_table(curve: LearningCurve) -> Table:
    from occupair.groundtruth.planning.plan import STEPS

    table = _table("labelled days", "RMSE [people]", "80 % prediction interval")
    for size, error in curve.measured.items():
        table.add_row(str(size), f"{error:.2f}", "measured on held-out days")
    for more in (0, *STEPS):
        then, gain = curve.error(curve.n_days + more), curve.gain(more)
        reduction = f", {100 * gain.value:.0f} % lower ({100 * gain.low:.0f} to {100 * gain.high:.0f})"
        expected = f"predicted, {then.low:.2f} to {then.high:.2f}{reduction if more else ''}"
        table.add_row(str(curve.n_days + more), f"{then.value:.2f}", expected)
    return table


def _days_table(days: Sequence[DayToLabel]) -> Table:
    table = _table("label next", "reason")
    for day in days:
        width = "" if math.isnan(day.width) else f"; 90 % interval {day.width:.1f} people wide"
        table.add_row(f"{day.date:%a %Y-%m-%d}", f"{day.reason}{width}")
    return table


def _table(*columns: str) -> Table:
    return Table(*columns, box=None, padding=(0, 2, 0, 0), pad_edge=False)


def _plan_as_json(found: Plan) -> dict[str, Any]:
    from occupair.groundtruth.planning.plan import STEPS

    curve = found.curve
    return {
        "advice": found.advice,
        "notes": found.notes(),
        "labelled": [f"{date:%Y-%m-%d}" for date in found.labelled],
        "unlabelled_days": found.unlabelled,
        "alike": found.alike,
        "unlike": found.unlike,
        "curve": None
        if curve is None
        else {
            "measured": curve.measured,
            "enough": asdict(curve.enough()),
            "error": {curve.n_days + more: asdict(curve.error(curve.n_days + more)) for more in (0, *STEPS)},
            "gain": {more: asdict(curve.gain(more)) for more in STEPS},
        },
        "days": [
            {"date": f"{day.date:%Y-%m-%d}", "reason": day.reason, "unlike": day.unlike, "width": day.width}
            for day in found.days
        ],
    }
