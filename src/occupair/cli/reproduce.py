"""The reproduce command: the paper's experiment on a simulated office."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from occupair.cli.shared import ROUNDING, AsJson, Seed, bar, check_output, number, out, print_json

if TYPE_CHECKING:
    from occupair.report.paper_experiment import Reproduction


def reproduce(
    draws: Annotated[int, typer.Option(min=1, help="Random hidden layers to select from; paper: 100.")] = 100,
    seed: Seed = 0,
    path: Annotated[Path, typer.Option("--out", help="HTML report to write.")] = Path("occupair-report.html"),
    as_json: AsJson = False,
) -> None:
    """Run the paper's experiment on simulated data.

    Prints the results next to those of the paper and writes a report with its figures.

    Example: occupair reproduce --draws 5 --out report.html
    """
    from occupair.report.paper_experiment import reproduce as run
    from occupair.report.paper_report import write_report

    check_output(path, "report")
    with bar():
        result = run(draws=draws, seed=seed)
    write_report(result, path)
    if as_json:
        print_json(_as_json(result) | {"report": str(path)})
        return
    _print(result)
    out.print(f"\nReport with the paper's figures: {path.resolve().as_uri()}", soft_wrap=True)
    out.print(
        "Next, with your own room: occupair fit READINGS.csv, then occupair evaluate. Help: occupair --help"
    )


def _print(result: Reproduction) -> None:
    from occupair.report import paper_captions

    out.print("The paper's data are not public. These results are for a simulation of its office.\n")
    out.print(_score_table(result))
    out.print("±3, ±4: fraction of estimates within 3 and 4 people of the true count.")
    out.print(ROUNDING)
    out.print()
    out.print(_scale_table(result))
    out.print()
    out.print(f"{paper_captions.order_against_paper(result)} {paper_captions.feedback(result)}")


def _score_table(result: Reproduction) -> Table:
    from occupair.report.number_format import estimator_name
    from occupair.report.published_results import PAPER_BEST_WITHIN, PAPER_SCORES

    draws = f"{result.draws} draw{'s' if result.draws > 1 else ''}"
    title = f"Table II: {result.days - result.train_days} test days, {draws}, seed {result.seed}"
    table = _table(title, "estimator", "", "RMSE", "FDR", "FPR", "FNR", "±3", "±4")
    for equation, ours in result.scores.items():
        paper = PAPER_SCORES.get(equation)
        theirs = [paper.rmse, paper.fdr, paper.fpr, paper.fnr] if paper else [None] * 4
        table.add_row(estimator_name(equation), "paper", *map(number, [*theirs, None, None]))
        table.add_row("", "ours", *map(number, asdict(ours).values()), style="bold", end_section=True)
    best = [number(PAPER_BEST_WITHIN[x]) for x in (3, 4)]
    table.add_row("best reported", "paper", "", "", "", "", *best)
    return table


def _scale_table(result: Reproduction) -> Table:
    from occupair.report.number_format import two_digits
    from occupair.report.published_results import PAPER_SCALES

    table = _table("Table I: scales α", "estimator", "", "P", "I", "D", "o", "v")
    for equation, ours in result.scales.items():
        name = {16: "(16) raw CO2", 20: "(20) smoothed CO2"}[equation]
        table.add_row(name, "paper", *map(two_digits, PAPER_SCALES[equation].values()))
        table.add_row("", "ours", *map(two_digits, ours.values()), style="bold")
    return table


def _table(title: str, *columns: str) -> Table:
    table = Table(
        title=title, title_justify="left", title_style="bold", box=None, padding=(0, 1, 0, 0), pad_edge=False
    )
    for place, column in enumerate(columns):
        table.add_column(column, justify="left" if place < 2 else "right", no_wrap=True)
    return table


def _as_json(result: Reproduction) -> dict[str, Any]:
    from occupair.report.published_results import PAPER_SCALES, PAPER_SCORES

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
