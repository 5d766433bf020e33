"""Console output, common options and helpers shared by the commands."""

from __future__ import annotations

import datetime as dt
import json
import math
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from occupair.atomic_files import check_writable
from occupair.errors import InputError
from occupair.output_names import Format, check_suffix

if TYPE_CHECKING:
    import pandas as pd
    from rich.progress import Progress, ProgressColumn

    from occupair.estimator import OccupancyEstimator

out, err = Console(highlight=False, markup=False), Console(stderr=True, highlight=False)

Timezone = Annotated[
    str | None, typer.Option(help="Time zone of the room, e.g. Europe/Copenhagen; handles clock changes.")
]
Seed = Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Random seed.")]
Mode = Annotated[
    str,
    typer.Option(
        help="live (past readings only), hindsight (all readings of the day) or drifting (live, but past "
        "estimates are not revised): for the paper's layers Eqs. (26), (22) and (24)."
    ),
]
Lag = Annotated[
    float, typer.Option(min=0, help="Refine each estimate with the readings of the following LAG minutes.")
]
Columns = Annotated[
    list[str] | None,
    typer.Option(
        "--column",
        metavar="NAME=COLUMN",
        help="Map a column that is not recognised, e.g. co2='Raum 7'; repeatable.",
    ),
]
Dayfirst = Annotated[
    bool | None,
    typer.Option("--dayfirst/--monthfirst", help="Whether 01/02/2024 is 1 February or 2 January."),
]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Replace an existing file, even a model of another room.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
MOST_NEURONS = 20_000  # more take hours and all memory; the paper uses 1000
READINGS_HELP = "CSV or Parquet with time, co2 [ppm], ventilation [0..1] and occupancy."
Readings = Annotated[Path, typer.Argument(metavar="READINGS", help=READINGS_HELP)]
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="Model file written by 'occupair fit'.")]


ROUNDING = "RMSE uses unrounded estimates; all other scores use estimates rounded to whole people."

Volume = Annotated[
    float | None, typer.Option(help="Air volume [m3]. With --capacity, head counts are optional.")
]
Capacity = Annotated[float | None, typer.Option(help="Number of seats or desks.")]
Area = Annotated[float | None, typer.Option(help="Floor area [m2], in place of --volume.")]
Height = Annotated[float | None, typer.Option(help="Height [m], with --area; 3 if not given.")]
Closed = Annotated[
    list[str] | None,
    typer.Option(
        metavar="HH:MM-HH:MM",
        help="Time of day at which the room is empty, used where head counts are missing;"
        " repeatable. Default: 00:00-05:00 unless people were counted then.",
    ),
]


def load_model(path: Path, timezone: str | None) -> OccupancyEstimator:
    """Load a model; one trained on local times gets the time zone of the room, if the user states it."""
    from occupair.estimator import OccupancyEstimator

    estimator = OccupancyEstimator.load(path)
    if estimator.timezone_ is None:
        estimator.timezone_ = timezone
    return estimator


def model_scale(estimator: OccupancyEstimator) -> dict[str, Any]:
    """Return the options that make `read` and `read_labelled` use the ventilation scale of a model."""
    return {
        "ventilation": estimator.uses_ventilation_,
        "ventilation_full": estimator.ventilation_full_,
        "ventilation_unit": estimator.ventilation_unit_,
    }


def read(
    path: Path, timezone: str | None, columns: list[str] | None, dayfirst: bool | None, **options: Any
) -> pd.DataFrame:
    """Read a file of readings with the options common to all commands."""
    from occupair.readings.files import read_readings

    return read_readings(path, timezone=timezone, columns=column_names(columns), dayfirst=dayfirst, **options)


def read_labelled(
    path: Path, timezone: str | None, columns: list[str] | None, dayfirst: bool | None, **options: Any
) -> pd.DataFrame:
    """Read a file of readings with sparse or complete head counts, with the same options."""
    from occupair.readings import files

    names = column_names(columns)
    return files.read_labelled(path, timezone=timezone, columns=names, dayfirst=dayfirst, **options)


def describe_columns(readings: pd.DataFrame) -> str:
    """Return which columns of a file were read, with their units, one per line; "" if not from a file."""
    return "\n".join(f"{role}: {taken}" for role, taken in readings.attrs.get("columns", {}).items())


def column_names(columns: list[str] | None, *, example: str = "co2='Raum 7'") -> dict[str, str]:
    """Parse the --column options into a mapping from our column names to those of the file."""
    pairs = [pair.partition("=") for pair in columns or []]
    if not all(theirs for _, _, theirs in pairs):
        raise InputError(f"--column must be ours=theirs, e.g. {example}, got {', '.join(columns or [])}")
    return {ours: theirs for ours, _, theirs in pairs}


def check_output(written: Path | None, form: Format, *read_from: Path) -> None:
    """Check before long work that a file to write is not an input, matches its format and is writable."""
    if written is None:
        return
    for path in read_from:
        if written.is_file() and path.exists() and written.samefile(path):
            raise InputError(f"--out {written} would overwrite the input file {path}: choose another name")
    check_suffix(written, form)
    check_writable(written)


def keep_model(path: Path, office: pd.DataFrame, *, overwrite: bool) -> None:
    """Refuse to overwrite a file other than a model that was trained on some of the same days."""
    from occupair.estimator import OccupancyEstimator
    from occupair.readings.day_fingerprints import count_known_days

    if overwrite or not path.is_file():
        return
    try:
        existing = OccupancyEstimator.load(path)
    except InputError:
        reason = "exists and is not a readable model"
    else:
        if existing.trained_days_ is None:
            reason = "is a model of an earlier version, perhaps of another room"
        elif count_known_days(office, existing.trained_days_, existing.timezone_)[0]:
            return
        else:
            reason = "is a model that was trained on none of these days, perhaps of another room"
    raise InputError(f"--out {path} {reason}: choose another name, or add --overwrite")


def parse_day(text: str | None, option: str) -> pd.Timestamp | None:
    """Parse the date of an option."""
    import pandas as pd

    if text is None:
        return None
    try:
        return pd.Timestamp(dt.date.fromisoformat(text))
    except ValueError:
        raise InputError(f"{option} must be a date such as 2026-09-01, got {text!r}") from None


def check_period(first: pd.Timestamp | None, last: pd.Timestamp | None) -> None:
    """Refuse a period that ends before it starts."""
    if first is not None and last is not None and last < first:
        raise InputError(f"--to must not be before --from, got {last:%Y-%m-%d} and {first:%Y-%m-%d}")


def note(words: str) -> None:
    """Print a one-line note to standard error."""
    err.print(f"occupair: {words}", markup=False, soft_wrap=True)


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Prefix errors about readings with the name of their file."""
    try:
        yield
    except InputError as error:
        if not str(error).startswith("readings"):
            raise  # about a setting, or already prefixed
        raise InputError(f"{path}: {error}") from None


@contextmanager
def bar() -> Iterator[None]:
    """Show a progress bar with the remaining time on standard error."""
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn

    from occupair.progress import progress_to

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with progress_display(*columns) as progress:
        task = progress.add_task("starting", total=None)
        with progress_to(
            lambda what, done, total: progress.update(task, description=what, completed=done, total=total)
        ):
            yield


@contextmanager
def progress_display(*columns: ProgressColumn) -> Iterator[Progress]:
    """Show progress on standard error, if that is a terminal; elsewhere rich may print an empty line."""
    from rich.progress import Progress

    display = Progress(*columns, console=err, transient=True, disable=not err.is_terminal)
    with display if err.is_terminal else nullcontext():
        yield display


def number(value: float | None) -> str:
    """Format a score with four decimals, or a dash if it is missing."""
    from occupair.report.number_format import four_decimals

    return four_decimals(value)


def print_json(document: dict[str, Any]) -> None:
    """Print a document as JSON; non-finite numbers become null."""
    print(json.dumps(_finite(document), indent=2))  # noqa: T201


def _finite(value: Any) -> Any:
    """Replace non-finite numbers, which JSON cannot represent, by None."""
    if isinstance(value, dict):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
