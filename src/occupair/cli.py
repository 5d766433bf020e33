"""The command line: a thin skin over the library."""

from __future__ import annotations

import io
import json
import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Table

from occupair.errors import InputError

# Everything else is imported where it is used, so that --help answers at once.
if TYPE_CHECKING:
    import pandas as pd

    from occupair.estimator import OccupancyEstimator
    from occupair.reproduction import Reproduction

app = typer.Typer(
    name="occupair",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="How many people are in the room? Ask the CO2 sensor it already has.",
)
out, err = Console(highlight=False, markup=False), Console(stderr=True, highlight=False)

Timezone = Annotated[
    str | None, typer.Option(help="The room's time zone, e.g. Europe/Copenhagen, where the clock changes.")
]
Seed = Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Whole number that all chance comes from.")]
Mode = Annotated[str, typer.Option(help="live (26), hindsight (22) or drifting (24).")]
Lag = Annotated[float, typer.Option(min=0, help="Minutes an estimate may wait for later readings.")]
Readings = Annotated[
    Path, typer.Argument(help="CSV or Parquet with time, co2 [ppm], ventilation [0..1] and occupancy.")
]
Model = Annotated[Path, typer.Argument(help="Model file written by 'occupair fit'.")]


def main() -> None:
    """Run the command line; a mistake of the user is one line and exit status 2."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal without "≤" shows "?", and the table stays
    try:
        app()
    except InputError as error:
        _fail(str(error))
    except OSError as error:
        _fail(f"{error.filename}: {error.strerror}" if error.filename else error.strerror or str(error))
    except MemoryError:
        _fail("not enough memory: take fewer hidden neurons or fewer readings")


def _fail(message: str) -> None:
    print(f"occupair: {message}", file=sys.stderr)  # noqa: T201
    sys.exit(2)


@app.callback(invoke_without_command=True)
def _options(
    show_version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if show_version:
        out.print(f"occupair {version('occupair')}")
        raise typer.Exit


@app.command()
def simulate(
    path: Annotated[Path, typer.Argument(metavar="READINGS", help="File to write, .csv or .parquet.")],
    days: Annotated[int, typer.Option(min=1, help="Weekdays to simulate.")] = 30,
    seed: Seed = 0,
) -> None:
    """Write readings of the paper's office, simulated.

    Example: occupair simulate office.csv --days 30 --seed 1
    """
    from occupair.reading_files import write_readings
    from occupair.simulation import simulate_office

    office = simulate_office(days, seed=seed)
    write_readings(office, path)
    most = office["occupancy"].max()
    out.print(
        f"{path}: {len(office)} readings, {days} weekdays, up to {most} people. The data are simulated."
    )


@app.command()
def fit(
    readings: Readings,
    model: Annotated[Path, typer.Option("--out", help="Model file to write.")] = Path("room.occupair"),
    draws: Annotated[int, typer.Option(min=1, help="Random layers to choose from.")] = 1,
    hidden: Annotated[int, typer.Option(min=1, help="Hidden neurons.")] = 1000,
    horizon: Annotated[float, typer.Option(help="How far back to look [min].")] = 30,
    stride: Annotated[float, typer.Option(help="Distance of the readings compared in feature I [min].")] = 10,
    smoothing: Annotated[float, typer.Option(help="CO2 smoothing [min squared]; 0 is none.")] = 50,
    ridge: Annotated[float, typer.Option(help="Regularisation of the read-out.")] = 1e-3,
    layer: Annotated[str, typer.Option(help="fs-elm, or elm for the standard machine.")] = "fs-elm",
    seed: Seed = 0,
    timezone: Timezone = None,
) -> None:
    """Train an estimator on readings with head counts.

    Example: occupair fit office.csv --out office.occupair --draws 5
    """
    from occupair.estimator import OccupancyEstimator
    from occupair.files import check_writable
    from occupair.reading_files import read_readings

    check_writable(model)
    office = read_readings(readings, timezone=timezone, occupancy=True)
    estimator = OccupancyEstimator(
        layer=layer,
        horizon=horizon,
        stride=stride,
        smoothing=smoothing,
        n_hidden=hidden,
        ridge=ridge,
        n_draws=draws,
        random_state=seed,
    )
    with _bar():
        estimator.fit(office)
    estimator.save(model)
    out.print(
        f"{model}: trained on {_extent(office, estimator)}, up to {estimator.most_people_:g} people. "
        f"Training error {estimator.training_error_:.2f} people, one step ahead of the true past; "
        "how good it is on its own, 'occupair evaluate' tells on other days."
    )


@app.command()
def estimate(
    model: Model,
    readings: Readings,
    path: Annotated[
        Path | None, typer.Option("--out", help="CSV or Parquet to write; else to the screen.")
    ] = None,
    mode: Mode = "live",
    lag: Lag = 0,
    timezone: Timezone = None,
) -> None:
    """Estimate the people in the room at every reading.

    Example: occupair estimate office.occupair today.csv --out people.csv
    """
    from occupair.metrics import whole_people
    from occupair.reading_files import write_readings

    _, people = _estimate(model, readings, mode, lag, timezone)
    table = people.to_frame().assign(people_whole=whole_people(people).astype(int))
    if path is None:
        table.rename_axis("time").to_csv(sys.stdout)
        return
    write_readings(table, path)
    out.print(f"{path}: {len(table)} estimates, {people.min():.1f} to {people.max():.1f} people.")


@app.command()
def evaluate(
    model: Model,
    readings: Readings,
    mode: Mode = "live",
    lag: Lag = 0,
    timezone: Timezone = None,
    as_json: Annotated[bool, typer.Option("--json", help="JSON for programs.")] = False,
) -> None:
    """Score a model on readings with head counts that it was not trained on.

    Example: occupair evaluate office.occupair next-week.csv
    """
    from occupair import metrics

    office, people = _estimate(model, readings, mode, lag, timezone, occupancy=True)
    truth, whole = office["occupancy"], metrics.whole_people(people)
    scores: dict[str, Any] = metrics.scores(truth, people)
    scores |= {f"within_{x}": metrics.tolerance_accuracy(truth, whole, tolerance=x) for x in range(5)}
    if as_json:
        _print_json({"readings": len(office), "mode": mode, "lag": lag} | scores)
        return
    table = Table("score", "value", "what it is", box=None, padding=(0, 2))
    for name, words in _SCORE_WORDS.items():
        table.add_row(name, _number(scores[name]), words)
    out.print(table)
    out.print(_ROUNDING)


@app.command()
def reproduce(
    draws: Annotated[int, typer.Option(min=1, help="Random layers to choose from; the paper has 100.")] = 100,
    seed: Seed = 0,
    path: Annotated[Path, typer.Option("--out", help="HTML report to write.")] = Path("occupair-report.html"),
    as_json: Annotated[bool, typer.Option("--json", help="JSON for programs instead of tables.")] = False,
) -> None:
    """Run the paper's experiment on its office, simulated: tables here, figures in a report.

    Example: occupair reproduce --draws 5 --out report.html
    """
    from occupair.files import check_writable
    from occupair.report.html import write_report
    from occupair.reproduction import reproduce as run

    check_writable(path)
    with _bar():
        result = run(draws=draws, seed=seed)
    write_report(result, path)
    if as_json:
        _print_json(_reproduction_as_json(result) | {"report": str(path)})
        return
    _print_reproduction(result)
    out.print(f"\nThe report with the paper's figures: {path.resolve().as_uri()}", soft_wrap=True)
    out.print(
        "Next, with your own room: occupair fit READINGS.csv, then occupair evaluate. All: occupair --help"
    )


datasets_app = typer.Typer(rich_markup_mode=None)
app.add_typer(datasets_app, name="datasets")


@datasets_app.callback(invoke_without_command=True)
def datasets(context: typer.Context) -> None:
    """List the public data sets, their licences and where to download them.

    Example: occupair datasets
    """
    from occupair.datasets import DATASETS, find_folder

    if context.invoked_subcommand:
        return
    for name, data_set in DATASETS.items():
        here = find_folder(name)
        out.print(f"{name}: {data_set.title}", soft_wrap=True)
        out.print(f"    {data_set.licence}; {data_set.page}", soft_wrap=True)
        out.print(f"    {f'here: {here}' if here else f'occupair datasets fetch {name}'}", soft_wrap=True)


@datasets_app.command()
def fetch(
    name: Annotated[str, typer.Argument(help="A name that 'occupair datasets' lists.")],
    folder: Annotated[
        Path, typer.Option("--into", help="Where to put its folder; set OCCUPAIR_DATA to it.")
    ] = Path("occupair-data"),
) -> None:
    """Download a data set from its publisher and check that it is whole.

    Example: occupair datasets fetch sdu2018 --into occupair-data
    """
    from occupair.datasets import fetch as download

    with _bar():
        files = download(name, folder / name)
    out.print(
        f"{folder / name}: {len(files)} files. Next: export OCCUPAIR_DATA={folder.resolve()}", soft_wrap=True
    )


_ROUNDING = "RMSE is on unrounded estimates, all others on estimates rounded to whole people."
_SCORE_WORDS = {
    "rmse": "root mean squared error [people]",
    "fdr": "share of readings where empty and occupied are mixed up",
    "fpr": "of the empty readings, share called occupied",
    "fnr": "of the occupied readings, share called empty",
} | {f"within_{x}": f"share of readings at most {x} people off" for x in range(5)}


def _print_reproduction(result: Reproduction) -> None:
    from occupair.report import captions

    out.print("The paper's data are not public: these are of its office, simulated.\n")
    out.print(_score_table(result))
    out.print(_ROUNDING)
    out.print()
    out.print(_scale_table(result))
    out.print()
    out.print(f"{captions.order_against_paper(result)} {captions.feedback(result)}")


def _score_table(result: Reproduction) -> Table:
    from occupair.report.paper_tables import PAPER_BEST_WITHIN, PAPER_SCORES
    from occupair.report.words import estimator_name

    draws = f"{result.draws} draw{'s' if result.draws > 1 else ''}"
    title = f"Table II: {result.days - result.train_days} test days, {draws}, seed {result.seed}"
    table = _table(title, "estimator", "", "RMSE", "FDR", "FPR", "FNR", "≤3 off", "≤4 off")
    for equation, ours in result.scores.items():
        paper = PAPER_SCORES.get(equation)
        theirs = [paper.rmse, paper.fdr, paper.fpr, paper.fnr] if paper else [None] * 4
        table.add_row(estimator_name(equation), "paper", *map(_number, [*theirs, None, None]))
        table.add_row("", "ours", *map(_number, asdict(ours).values()), style="bold", end_section=True)
    best = [_number(PAPER_BEST_WITHIN[x]) for x in (3, 4)]
    table.add_row("the best of them, up to", "paper", "", "", "", "", *best)
    return table


def _scale_table(result: Reproduction) -> Table:
    from occupair.report.paper_tables import PAPER_SCALES
    from occupair.report.words import two_digits

    table = _table("Table I: scales α", "estimator", "", "P", "I", "D", "o", "v")
    for equation, ours in result.scales.items():
        words = {16: "(16) raw CO2", 20: "(20) smoothed CO2"}[equation]
        table.add_row(words, "paper", *map(two_digits, PAPER_SCALES[equation].values()))
        table.add_row("", "ours", *map(two_digits, ours.values()), style="bold")
    return table


def _table(title: str, *columns: str) -> Table:
    table = Table(
        title=title, title_justify="left", title_style="bold", box=None, padding=(0, 1, 0, 0), pad_edge=False
    )
    for number, column in enumerate(columns):
        table.add_column(column, justify="left" if number < 2 else "right", no_wrap=True)
    return table


def _reproduction_as_json(result: Reproduction) -> dict[str, Any]:
    from occupair.report.paper_tables import PAPER_SCALES, PAPER_SCORES

    keys = ("days", "train_days", "draws", "seed", "most_people", "seconds", "scales", "error_growth")
    return {
        "simulated": True,
        **{key: getattr(result, key) for key in keys},
        "scores": {equation: asdict(scores) for equation, scores in result.scores.items()},
        "tolerance_accuracy": {name: list(curve) for name, curve in result.tolerance_accuracy.items()},
        "saturation": {name: part.share_beyond_5 for name, part in result.saturation.items()},
        "paper": {
            "scores": {equation: asdict(scores) for equation, scores in PAPER_SCORES.items()},
            "scales": PAPER_SCALES,
        },
    }


def _estimate(
    model: Path, readings: Path, mode: str, lag: float, timezone: str | None, *, occupancy: bool = False
) -> tuple[pd.DataFrame, pd.Series[float]]:
    from occupair.estimator import OccupancyEstimator
    from occupair.reading_files import read_readings

    estimator = OccupancyEstimator.load(model)
    office = read_readings(
        readings, timezone=timezone, ventilation=estimator.uses_ventilation_, occupancy=occupancy
    )
    with _naming(readings), _bar():
        return office, estimator.estimate(office, mode=mode, lag=lag)  # type: ignore[arg-type]


def _extent(office: pd.DataFrame, estimator: OccupancyEstimator) -> str:
    from occupair.readings import day_slices

    return f"{len(day_slices(office))} days ({len(office)} readings, one every {estimator.interval_:g} min)"


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Put the name of the file before errors about its readings that do not know it."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


@contextmanager
def _bar() -> Iterator[None]:
    """Show the progress of long work on standard error, with the time left."""
    from occupair.progress import progress_to

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as progress:
        task = progress.add_task("starting", total=None)
        with progress_to(
            lambda what, done, total: progress.update(task, description=what, completed=done, total=total)
        ):
            yield


def _number(value: float | None) -> str:
    from occupair.report.words import four_decimals

    return four_decimals(value)


def _print_json(document: dict[str, Any]) -> None:
    print(json.dumps(_finite(document), indent=2))  # noqa: T201


def _finite(value: Any) -> Any:
    """Replace what JSON has no word for by null."""
    if isinstance(value, dict):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
