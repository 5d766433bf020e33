"""Commands for research: the paper's experiment, public data sets, the benchmark, the proofs."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from occupair.cli.shared import ROUNDING, Seed, bar, number, out, print_json
from occupair.errors import InputError

if TYPE_CHECKING:
    from occupair.report.paper_experiment import Reproduction


def reproduce(
    draws: Annotated[int, typer.Option(min=1, help="Random layers to choose from; the paper has 100.")] = 100,
    seed: Seed = 0,
    path: Annotated[Path, typer.Option("--out", help="HTML report to write.")] = Path("occupair-report.html"),
    as_json: Annotated[bool, typer.Option("--json", help="JSON for programs instead of tables.")] = False,
) -> None:
    """Run the paper's experiment on its office, simulated: tables here, figures in a report.

    Example: occupair reproduce --draws 5 --out report.html
    """
    from occupair.atomic_files import check_writable
    from occupair.report.html import write_report
    from occupair.report.paper_experiment import reproduce as run

    check_writable(path)
    with bar():
        result = run(draws=draws, seed=seed)
    write_report(result, path)
    if as_json:
        print_json(_reproduction_as_json(result) | {"report": str(path)})
        return
    _print_reproduction(result)
    out.print(f"\nThe report with the paper's figures: {path.resolve().as_uri()}", soft_wrap=True)
    out.print(
        "Next, with your own room: occupair fit READINGS.csv, then occupair evaluate. All: occupair --help"
    )


def benchmark(
    rooms: Annotated[
        list[str] | None, typer.Argument(metavar="[ROOM]...", help="Rooms; all if none.")
    ] = None,
    methods: Annotated[str, typer.Option(help="Methods, separated by commas; all if none.")] = "",
    lags: Annotated[str, typer.Option(help="Minutes estimates may wait, separated by commas.")] = "0,10,20",
    path: Annotated[Path | None, typer.Option("--out", help="HTML page with a figure per room.")] = None,
    cache: Annotated[Path | None, typer.Option(help="Folder that keeps results.")] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Processes to work in.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="JSON for programs.")] = False,
) -> None:
    """Score every method on every public room: the same days, the same scores, nobody looks ahead.

    Example: occupair benchmark sdu2018-1 robod-3 --methods occupair,mass-balance,svr
    """
    from occupair.benchmark.command import benchmark as run

    with bar():
        text = run(
            rooms=rooms or [],
            methods=_listed(methods),
            lags=_minutes(lags),
            out=path,
            as_json=as_json,
            cache=cache,
            jobs=jobs,
        )
    typer.echo(text)


def prove(
    rooms: Annotated[
        list[str] | None,
        typer.Argument(metavar="[ROOM]...", help="Rooms; the seven with ventilation if none."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="JSON for programs.")] = False,
) -> None:
    """Measure on public rooms how often the ranges hold, and how few labelled days are enough.

    Example: occupair prove robod-1 robod-3
    """
    from occupair.benchmark.validation import prove as run

    with bar():
        text = run(rooms or [], as_json=as_json)
    typer.echo(text)


def _listed(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _minutes(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(minutes) for minutes in _listed(text))
    except ValueError:
        raise InputError(f"lags must be minutes separated by commas, got {text!r}") from None


datasets_app = typer.Typer(rich_markup_mode=None)


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

    with bar():
        files = download(name, folder / name)
    out.print(
        f"{folder / name}: {len(files)} files. Next: export OCCUPAIR_DATA={folder.resolve()}", soft_wrap=True
    )


def _print_reproduction(result: Reproduction) -> None:
    from occupair.report import captions

    out.print("The paper's data are not public: these are of its office, simulated.\n")
    out.print(_score_table(result))
    out.print(ROUNDING)
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
        table.add_row(estimator_name(equation), "paper", *map(number, [*theirs, None, None]))
        table.add_row("", "ours", *map(number, asdict(ours).values()), style="bold", end_section=True)
    best = [number(PAPER_BEST_WITHIN[x]) for x in (3, 4)]
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
    for place, column in enumerate(columns):
        table.add_column(column, justify="left" if place < 2 else "right", no_wrap=True)
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
