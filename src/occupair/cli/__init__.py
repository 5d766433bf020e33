"""The command line: a thin skin over the library.

- `rooms`: what a building engineer runs on readings of a room
- `tuning`: settings of its own for a room
- `service`: the live service
- `groundtruth`: head counts to train on
- `studies`: the paper's experiment, public data sets, the benchmark
- `shared`: what the commands share

Commands import what they use inside their function, so that --help answers at once.
"""

from __future__ import annotations

import io
import sys
from importlib.metadata import version
from typing import Annotated

import typer

from occupair.cli import groundtruth, rooms, service, studies, tuning
from occupair.cli.shared import out
from occupair.errors import InputError

app = typer.Typer(
    name="occupair",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="How many people are in the room? Ask the CO2 sensor it already has.",
)
for command in (
    rooms.simulate,
    rooms.check,
    rooms.fit,
    tuning.tune,
    rooms.estimate,
    rooms.evaluate,
    service.serve,
    service.token,
    service.backup,
    service.restore,
    studies.reproduce,
    studies.benchmark,
    studies.prove,
):
    app.command()(command)
app.add_typer(groundtruth.groundtruth_app, name="groundtruth")
app.add_typer(studies.datasets_app, name="datasets")


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
