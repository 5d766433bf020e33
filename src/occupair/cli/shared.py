"""What all commands share: consoles, common options, the progress bar, numbers and JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from occupair.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

out, err = Console(highlight=False, markup=False), Console(stderr=True, highlight=False)

Timezone = Annotated[
    str | None, typer.Option(help="The room's time zone, e.g. Europe/Copenhagen, where the clock changes.")
]
Seed = Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Whole number that all chance comes from.")]
Mode = Annotated[str, typer.Option(help="live (26), hindsight (22) or drifting (24).")]
Lag = Annotated[float, typer.Option(min=0, help="Minutes an estimate may wait for later readings.")]
Columns = Annotated[
    list[str] | None,
    typer.Option("--column", help="A column whose name is not guessed, e.g. co2='Raum 7'; may be repeated."),
]
Dayfirst = Annotated[
    bool | None, typer.Option("--dayfirst/--monthfirst", help="Whether 01/02/2024 is in February.")
]
Readings = Annotated[
    Path, typer.Argument(help="CSV or Parquet with time, co2 [ppm], ventilation [0..1] and occupancy.")
]
Model = Annotated[Path, typer.Argument(help="Model file written by 'occupair fit'.")]


ROUNDING = "RMSE is on unrounded estimates, all others on estimates rounded to whole people."


def read(
    path: Path, timezone: str | None, columns: list[str] | None, dayfirst: bool | None, **options: Any
) -> pd.DataFrame:
    """Read readings with the options that all commands have for it."""
    from occupair.readings.files import read_readings

    return read_readings(path, timezone=timezone, columns=column_names(columns), dayfirst=dayfirst, **options)


def read_labelled(
    path: Path, timezone: str | None, columns: list[str] | None, dayfirst: bool | None, **options: Any
) -> pd.DataFrame:
    """Read readings whose head counts may be known here and there, with the same options."""
    from occupair.readings import files

    names = column_names(columns)
    return files.read_labelled(path, timezone=timezone, columns=names, dayfirst=dayfirst, **options)


def column_names(columns: list[str] | None, *, example: str = "co2='Raum 7'") -> dict[str, str]:
    """Read what --column says: ours to theirs."""
    pairs = [pair.partition("=") for pair in columns or []]
    if not all(theirs for _, _, theirs in pairs):
        raise InputError(f"--column must be ours=theirs, e.g. {example}, got {', '.join(columns or [])}")
    return {ours: theirs for ours, _, theirs in pairs}


def keep_inputs(written: Path | None, *read_from: Path) -> None:
    """Refuse to write over a file that is read."""
    for path in read_from:
        if written is not None and written.is_file() and path.exists() and written.samefile(path):
            raise InputError(f"--out {written} would overwrite {path}, which is read: give another name")


def note(words: str) -> None:
    """Say one line on standard error that is no error."""
    err.print(f"occupair: {words}", markup=False, soft_wrap=True)


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Put the name of the file before errors about its readings that do not know it."""
    try:
        yield
    except InputError as error:
        if not str(error).startswith("readings"):
            raise  # about a setting, or it names its file
        raise InputError(f"{path}: {error}") from None


@contextmanager
def bar() -> Iterator[None]:
    """Show the progress of long work on standard error, with the time left."""
    from occupair.progress import progress_to

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as progress:
        task = progress.add_task("starting", total=None)
        with progress_to(
            lambda what, done, total: progress.update(task, description=what, completed=done, total=total)
        ):
            yield


def number(value: float | None) -> str:
    """Write a score with four decimals, a dash where there is none."""
    from occupair.report.words import four_decimals

    return four_decimals(value)


def print_json(document: dict[str, Any]) -> None:
    """Print JSON for programs; what is not a finite number is null."""
    print(json.dumps(_finite(document), indent=2))  # noqa: T201


def _finite(value: Any) -> Any:
    """Replace what JSON has no word for by null."""
    if isinstance(value, dict):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
