"""The command line, a thin layer over the library.

- `simulate_and_check`: simulated readings, data quality
- `fit`, `tune`, `estimate_and_evaluate`: train a model and apply it
- `report`: the use of rooms over weeks, from `report_sources`
- `service`: the live service
- `replay`: recorded readings sent to it
- `export_models`, `import_models`: rooms of the live service as building models, and the reverse
- `bacnet`: devices and points of a BACnet network
- `fleet`: thousands of rooms
- `groundtruth`: head counts from video and door counters
- `savings`, `savings_energyplus`: ventilation policies in a simulated office and in an EnergyPlus building
- `reproduce`, `benchmark_and_validate`, `datasets`: the paper's experiment and studies on public rooms
- `doctor`: checks of the installation
- `shared`: console output, common options and helpers

Commands import what they need inside their function, which keeps --help fast.
"""

from __future__ import annotations

import io
import os
import sys
import warnings
from typing import Annotated, TextIO

import typer

from occupair._version import __version__
from occupair.cli import (
    bacnet,
    benchmark_and_validate,
    datasets,
    doctor,
    estimate_and_evaluate,
    export_models,
    fit,
    fleet,
    groundtruth,
    import_models,
    replay,
    report,
    reproduce,
    savings,
    savings_energyplus,
    service,
    simulate_and_check,
    tune,
)
from occupair.cli.shared import note, out
from occupair.deprecations import OccupairDeprecationWarning
from occupair.errors import InputError, SlowFallbackWarning

app = typer.Typer(
    name="occupair",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="How many people are in the room? Ask the CO2 sensor it already has.\n\n"
    "'The paper' is Jiang, Masood, Soh and Li (2016), Indoor occupancy estimation from carbon dioxide "
    "concentration.",
)
for command in (
    simulate_and_check.simulate,
    simulate_and_check.check,
    fit.fit,
    tune.tune,
    estimate_and_evaluate.estimate,
    estimate_and_evaluate.evaluate,
    report.report,
    service.serve,
    replay.replay,
    service.token,
    service.backup,
    service.restore,
    savings.savings,
    savings_energyplus.savings_energyplus,
    reproduce.reproduce,
    benchmark_and_validate.benchmark,
    benchmark_and_validate.validate,
    doctor.doctor,
):
    app.command()(command)
app.command(hidden=True)(benchmark_and_validate.prove)
app.command(hidden=True)(service.home_assistant)
app.add_typer(export_models.export_app, name="export")
app.add_typer(import_models.import_app, name="import")
app.add_typer(fleet.fleet_app, name="fleet")
app.add_typer(groundtruth.groundtruth_app, name="groundtruth")
app.add_typer(bacnet.bacnet_app, name="bacnet")
app.add_typer(datasets.datasets_app, name="datasets")


def main() -> None:
    """Run the command line; a user error prints one line and exits with status 2."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal that cannot encode "±" prints "?"
    warnings.showwarning = _show_warning
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")  # pyarrow's own keeps freed memory
    try:
        app()
    except InputError as error:
        _fail(str(error))
    except OSError as error:
        _fail(f"{error.filename}: {error.strerror}" if error.filename else error.strerror or str(error))
    except MemoryError:
        _fail("out of memory: use fewer hidden neurons or fewer readings")


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Print warnings that concern users as one line, others as Python does."""
    if issubclass(category, OccupairDeprecationWarning | SlowFallbackWarning):
        note(str(message))
    else:
        (file or sys.stderr).write(warnings.formatwarning(message, category, filename, lineno, line))


def _fail(message: str) -> None:
    print(f"occupair: {message}", file=sys.stderr)  # noqa: T201
    sys.exit(2)


@app.callback(invoke_without_command=True)
def _options(
    show_version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if show_version:
        out.print(f"occupair {__version__}")
        raise typer.Exit
