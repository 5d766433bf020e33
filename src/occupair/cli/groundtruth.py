"""Commands for head counts to train on: groundtruth scan, count, occupancy, plan."""

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
    Columns,
    Dayfirst,
    Readings,
    Seed,
    Timezone,
    bar,
    column_names,
    keep_inputs,
    naming,
    note,
    out,
    print_json,
    read,
    read_labelled,
)
from occupair.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from occupair.estimator import OccupancyEstimator
    from occupair.groundtruth.ledger.ledger import Ledger
    from occupair.groundtruth.planning.learning_curve import LearningCurve
    from occupair.groundtruth.planning.plan import DayToLabel, Plan

_OF_READINGS = ("co2", "ventilation")

groundtruth_app = typer.Typer(rich_markup_mode=None, no_args_is_help=True)


@groundtruth_app.callback()
def groundtruth() -> None:
    """Get head counts to train on, from videos of doors or from door counters.

    Example: occupair groundtruth scan videos/ --out events/
    """


@groundtruth_app.command()
def scan(
    videos: Annotated[
        list[Path], typer.Argument(metavar="VIDEO...", help="Videos of doors, and folders of them.")
    ],
    folder: Annotated[Path, typer.Option("--out", help="Folder for the minutes and their pictures.")] = Path(
        "events"
    ),
    door: Annotated[
        list[str] | None,
        typer.Option(
            help="Whose videos they are: NAME, or NAME=PATTERN with a folder, the beginning of file names "
            "or '*ch1*'; may be repeated. Else names and folders tell."
        ),
    ] = None,
    start: Annotated[
        str | None,
        typer.Option(
            help="When the first video of each door starts, e.g. '2024-01-08 08:00'; the rest follow."
        ),
    ] = None,
    sensitivity: Annotated[
        float, typer.Option(help="0.5: minutes in which a person is found; 1: all in which anything moves.")
    ] = 0.9,
    margin: Annotated[
        float, typer.Option(help="A passage so close to the turn of a minute is in both [s].")
    ] = 2.0,
    rate: Annotated[float, typer.Option(help="Frames to look at [1/s].")] = 5.0,
    anew: Annotated[bool, typer.Option("--anew", help="Scan again what was scanned before.")] = False,
    timezone: Timezone = None,
) -> None:
    """Find the minutes in which somebody may have passed a door; stopped, it goes on where it was.

    Example: occupair groundtruth scan north/ south/ --out events/
    """
    from occupair.groundtruth.video.scan import scan_videos

    with bar():
        summary = scan_videos(
            videos,
            folder,
            doors=_doors(door),
            start=_time(start),
            sensitivity=sensitivity,
            margin=margin,
            rate=rate,
            timezone=timezone,
            resume=not anew,
        )
    for line in summary.lines():
        out.print(line, soft_wrap=True)
    if summary.events.minutes:
        out.print(f"Next: occupair groundtruth count {folder}", soft_wrap=True)


@groundtruth_app.command()
def count(
    events: Annotated[Path, typer.Argument(help="Folder that 'occupair groundtruth scan' wrote.")],
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port to listen on; 0: any that is free.")
    ] = 8097,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Do not open the page.")] = False,
    delete_pictures: Annotated[
        bool, typer.Option("--delete-pictures", help="Delete the picture of each minute once it is counted.")
    ] = False,
) -> None:
    """Count who came and went, on a page of this machine, by keyboard; it goes on where it was left.

    Example: occupair groundtruth count events/ --delete-pictures
    """
    from occupair.cli.service import need_live

    need_live("groundtruth count")
    from occupair.groundtruth.counting.lock import alone
    from occupair.groundtruth.counting.server import serve_counting
    from occupair.groundtruth.counting.walk import Walk

    if delete_pictures:
        with alone(events):
            Walk(events).set_deletes(True)
    serve_counting(events, port=port, open_browser=not no_browser, started=_started)
    out.print(
        f"Next: occupair groundtruth occupancy {events} --readings READINGS --out LABELLED.csv",
        soft_wrap=True,
    )


@groundtruth_app.command()
def occupancy(
    inputs: Annotated[
        list[Path],
        typer.Argument(metavar="INPUT...", help="Counted folders, CSV of door counters, logs of MQTT."),
    ],
    path: Annotated[Path, typer.Option("--out", help="CSV or Parquet to write.")],
    readings: Annotated[
        Path | None, typer.Option(help="CO2 and ventilation of the room, to put the head counts beside.")
    ] = None,
    capacity: Annotated[int | None, typer.Option(min=1, help="The most people the room holds.")] = None,
    reset: Annotated[str, typer.Option(help="Time of day at which the room is empty.")] = "00:00",
    quiet_after: Annotated[str, typer.Option(help="Time of day after which nobody should pass.")] = "23:30",
    apply: Annotated[bool, typer.Option("--apply", help="Make the corrections that are proposed.")] = False,
    partial: Annotated[
        bool, typer.Option("--partial", help="Take minutes that are not counted yet as doubtful.")
    ] = False,
    cumulative: Annotated[
        bool | None,
        typer.Option("--cumulative/--per-row", help="Whether counters go on counting, as meters do."),
    ] = None,
    timezone: Timezone = None,
    column: Columns = None,
    dayfirst: Dayfirst = None,
) -> None:
    """Add entrances and exits up to head counts, and say what does not add up.

    What is wrong is printed, one line each, then the smallest corrections that would put it right; they are
    made with --apply only.

    Example: occupair groundtruth occupancy events/ --readings room.csv --out labelled.csv --apply
    """
    from occupair.atomic_files import check_writable
    from occupair.groundtruth.counters.read import read_passages
    from occupair.groundtruth.ledger.ledger import build_ledger, label_readings
    from occupair.readings.files import write_readings

    keep_inputs(path, *inputs, *([readings] if readings else []))
    check_writable(path)
    ours, theirs = _columns(column)
    passages = read_passages(
        *inputs, timezone=timezone, dayfirst=dayfirst, columns=theirs, cumulative=cumulative, partial=partial
    )
    air = None if readings is None else read(readings, timezone, ours, dayfirst, occupancy=False)
    with bar(), naming(readings or path):
        ledger = build_ledger(
            passages,
            capacity=capacity,
            reset=reset,
            quiet_after=quiet_after,
            timezone=timezone,
            readings=air,
        )
        made = ledger.apply() if apply else ledger
        labelled = label_readings(made, air)
    _print_ledger(ledger, applied=apply)
    below = labelled["occupancy"] < 0  # no program takes that for a head count
    write_readings(labelled.assign(occupancy=labelled["occupancy"].mask(below)), path)
    out.print(_written(path, labelled, made), soft_wrap=True)
    if below.any():
        note(f"{path}: {int(below.sum())} head counts below 0 are left empty, with the weight 0: see --apply")
    if readings is None:
        note("for fit, CO2 is needed beside the head counts: give the room's --readings")


@groundtruth_app.command()
def plan(
    readings: Readings,
    model: Annotated[
        Path | None, typer.Option(help="Model of the room; else one is trained on the labelled days.")
    ] = None,
    days: Annotated[int | None, typer.Option(min=1, help="How many days to name.")] = None,
    seed: Seed = 0,
    timezone: Timezone = None,
    column: Columns = None,
    dayfirst: Dayfirst = None,
    as_json: Annotated[bool, typer.Option("--json", help="JSON for programs.")] = False,
) -> None:
    """Say how many more days are worth counting in a room, and which.

    READINGS has the counted days and those that are not: without head counts there, or none at all.

    Example: occupair groundtruth plan room.csv --days 3
    """
    from occupair.estimator import OccupancyEstimator
    from occupair.groundtruth.planning.plan import plan_labels

    trained = None if model is None else OccupancyEstimator.load(model)
    office = _read_some(readings, timezone, column, dayfirst, trained)
    with naming(readings), bar():
        found = plan_labels(office, model=trained, days=days, seed=seed)
    if as_json:
        print_json(_plan_as_json(found))
    else:
        _print_plan(found)


def _doors(given: Sequence[str] | None) -> dict[str, str] | None:
    """Read NAME=PATTERN; a name alone has all videos."""
    if not given:
        return None
    pairs = [text.partition("=") for text in given]
    wrong = [
        text
        for text, (name, sign, pattern) in zip(given, pairs, strict=True)
        if not name or (sign and not pattern)
    ]
    if wrong or (len(pairs) > 1 and not all(sign for _, sign, _ in pairs)):
        raise InputError(f"--door must be NAME, or NAME=PATTERN for each of several, got {', '.join(given)}")
    return {name: pattern or "*" for name, _, pattern in pairs}


def _time(text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise InputError(f"--start must be a time such as '2024-01-08 08:00', got {text!r}") from None


def _started(address: str) -> None:
    out.print(f"Counting at {address}: every key is kept, Ctrl-C ends.", soft_wrap=True)


def _columns(given: list[str] | None) -> tuple[list[str], dict[str, str]]:
    """Tell names of columns of readings from those of door counters."""
    names = column_names(given, example="entered='In'")
    ours = [f"{role}={name}" for role, name in names.items() if role in _OF_READINGS]
    return ours, {role: name for role, name in names.items() if role not in _OF_READINGS}


def _print_ledger(ledger: Ledger, *, applied: bool) -> None:
    for issue in ledger.issues:
        out.print(f"{issue.kind}: {issue.message}", soft_wrap=True)
    proposals = ledger.proposals()
    if not ledger.issues and not proposals:
        out.print("Every day closes, and nothing looks wrong.")
    if proposals:
        what = "Corrected" if applied else "Proposed, and made with --apply"
        out.print(f"{what}: the smallest change with which every day closes.", soft_wrap=True)
    for line in proposals:
        out.print(f"  {line}", soft_wrap=True)


def _written(path: Path, labelled: pd.DataFrame, ledger: Ledger) -> str:
    from occupair.readings.head_counts import WEIGHT
    from occupair.readings.schema import date_slices
    from occupair.wording import plural

    known = labelled[labelled["occupancy"].notna()]
    weight = known[WEIGHT]
    days = plural(len(date_slices(known)), "day")
    doors = plural(ledger.passages["door"].nunique(), "door")
    return (
        f"{path}: {days}, {doors}, up to {known['occupancy'].max():g} people; "
        f"{100 * float((weight < 0.99).mean()):.1f} % of the head counts doubtful (occupancy_weight below 1)."
    )


def _read_some(
    path: Path,
    timezone: str | None,
    columns: list[str] | None,
    dayfirst: bool | None,
    model: OccupancyEstimator | None,
) -> pd.DataFrame:
    """Read readings that have head counts somewhere, or nowhere."""
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

    table = _table("labelled days", "error [people]", "ranges should hold four times in five")
    for size, error in curve.measured.items():
        table.add_row(str(size), f"{error:.2f}", "measured on days left out")
    for more in (0, *STEPS):
        then, gain = curve.error(curve.n_days + more), curve.gain(more)
        less = f", {100 * gain.value:.0f} % less ({100 * gain.low:.0f} to {100 * gain.high:.0f})"
        expected = f"expected, {then.low:.2f} to {then.high:.2f}{less if more else ''}"
        table.add_row(str(curve.n_days + more), f"{then.value:.2f}", expected)
    return table


def _days_table(days: Sequence[DayToLabel]) -> Table:
    table = _table("label next", "why")
    for day in days:
        width = "" if math.isnan(day.width) else f"; range {day.width:.1f} people wide"
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
