"""Mutation testing of the core: `make mutation`, or `python -m tools.mutation --file metrics`."""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: processes are forked, and run side by side

import argparse
import math
import sys
import time
import traceback

from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from tools.mutation import runner, survivors
from tools.mutation.mutants import Mutant
from tools.mutation.report import Tried, problems, table
from tools.mutation.results import NOT_RUN, Results, hash_files
from tools.mutation.targets import ROOT, TARGETS, Target

FOLDER = ROOT / "build/mutation"


def main() -> None:
    """Run the mutants without a result and print the table; exit with 1 if a survivor has no reason."""
    parser = argparse.ArgumentParser(prog="python -m tools.mutation", description=__doc__)
    parser.add_argument(
        "--budget", type=float, default=math.inf, metavar="MINUTES", help="stop after MINUTES"
    )
    parser.add_argument("--file", default="", help="only files whose path contains this, such as elm/cores")
    parser.add_argument("--workers", type=int, default=2, help="processes at a time")
    parser.add_argument("--nice", type=int, default=10, help="lower the priority of the run by this much")
    parser.add_argument("--fresh", action="store_true", help="forget the results of earlier runs")
    options = parser.parse_args()
    os.nice(options.nice)
    if options.fresh:
        for file in FOLDER.glob("*.json*"):
            file.unlink()
    reasons = survivors.read_reasons()
    deadline = time.monotonic() + 60 * options.budget
    tried: list[Tried] = []
    for target in TARGETS:
        mutants = runner.list_mutants(target, options.file)
        if mutants and time.monotonic() < deadline:
            _run_in_a_process(target, mutants, options.workers, deadline)
        tried += _outcomes(target, mutants)
    if not tried:
        sys.exit(f"no mutated file has {options.file!r} in its path")
    found = problems(tried, reasons)
    print("\n\n".join([*found, table(tried, reasons)]))
    sys.exit(len(found) > 0)


def _run_in_a_process(target: Target, mutants: list[Mutant], workers: int, deadline: float) -> None:
    """Run a target in a process of its own, because tests of another need other imports."""
    process = os.fork()
    if process == 0:
        status = 1
        try:
            _run(target, mutants, workers, deadline)
            status = 0
        except Exception:  # noqa: BLE001 printed, because a forked process must not return
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)
    if os.waitpid(process, 0)[1] != 0:
        sys.exit(f"{target.name}: not finished")


def _run(target: Target, mutants: list[Mutant], workers: int, deadline: float) -> None:
    columns = (TextColumn("{task.description}"), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(file=sys.__stderr__), auto_refresh=False) as bar:
        tasks: list[int] = []
        progress = runner.Progress(
            begin=lambda name, total: tasks.append(bar.add_task(name, total=total)),
            step=lambda: (bar.advance(tasks[-1]), bar.refresh()),  # type: ignore[arg-type]
        )
        runner.run_target(target, mutants, FOLDER, workers=workers, deadline=deadline, progress=progress)


def _outcomes(target: Target, mutants: list[Mutant]) -> list[Tried]:
    results = Results(FOLDER / f"{target.stem}.jsonl", target.root)
    tests_hash = hash_files(target.test_files())
    found = [(mutant, results.get(mutant, tests_hash)) for mutant in mutants]
    return [Tried(target.name, mutant, result.outcome if result else NOT_RUN) for mutant, result in found]


if __name__ == "__main__":
    main()
