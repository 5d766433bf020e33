"""Command line: run a campaign, repeat one input, or keep an input as a seed."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from occupair.wording import duration
from tools.fuzz.campaign import plan_inputs, plan_time, run_campaign
from tools.fuzz.findings import FOLDER, FindingFiles
from tools.fuzz.shrinking import shrink
from tools.fuzz.summary import read_totals, table, write_totals
from tools.fuzz.target import Target, load_target, target_names
from tools.fuzz.trial import attempt

SEEDS = Path("tests/fuzz/seeds")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.fuzz", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="run a campaign; exit status 1 if there are findings")
    run.add_argument(
        "targets", nargs="*", metavar="TARGET", help=f"default: all ({', '.join(target_names())})"
    )
    run.add_argument("--minutes", type=float, default=10.0, help="budget [min]")
    run.add_argument("--inputs", type=int, help="number of inputs, instead of a time")
    run.add_argument("--processes", type=int, default=2)
    run.add_argument("--first", type=int, default=0, help="number of the first input of each target")
    run.add_argument("--out", type=Path, default=FOLDER, help="folder for findings")
    run.add_argument("--totals", type=Path, help="file for the totals, for the command table")
    merge = commands.add_parser("table", help="print one table of the totals of several campaigns")
    merge.add_argument("files", nargs="+", type=Path, metavar="FILE", help="written by run --totals")
    repeat = commands.add_parser("repeat", help="run one input again")
    repeat.add_argument("input", metavar="TARGET:NUMBER|FILE")
    keep = commands.add_parser("keep", help=f"shrink an input and keep it in {SEEDS}")
    keep.add_argument("input", metavar="TARGET:NUMBER|FILE")
    keep.add_argument("name", help="name of the file")
    for command in (run, repeat, keep):
        command.add_argument("--seed", type=int, default=0, help="random seed")
    arguments = parser.parse_args()
    return {"run": _run, "table": _table, "repeat": _repeat, "keep": _keep}[arguments.command](arguments)


def _run(arguments: argparse.Namespace) -> int:
    names = arguments.targets or target_names()
    if unknown := sorted(set(names) - set(target_names())):
        sys.exit(f"unknown target {unknown[0]!r}, known: {', '.join(target_names())}")
    began = time.monotonic()
    if arguments.inputs:
        plan = plan_inputs(names, arguments.inputs, arguments.first)
    else:
        plan = plan_time(names, arguments.minutes, arguments.processes, arguments.first)
    files = FindingFiles(arguments.out, arguments.seed)
    totals = run_campaign(plan, seed=arguments.seed, processes=arguments.processes, files=files)
    if arguments.totals:
        write_totals(totals, arguments.totals)
    print(table(totals))
    print(f"\n{duration(time.monotonic() - began)}, seed {arguments.seed}", end="")
    found = files.causes
    print(f"; {len(found)} different findings, see {arguments.out}:" if found else "; no findings")
    for target, cause in found:
        print(f"  {target}: {cause}")
    return 1 if found else 0


def _table(arguments: argparse.Namespace) -> int:
    print(table(read_totals(arguments.files)))
    return 0


def _repeat(arguments: argparse.Namespace) -> int:
    target, data = _input(arguments)
    print(f"{len(data)} bytes: {data[:2000]!r}")
    outcome = attempt(target, data)
    print(f"{outcome.kind}: {outcome.message}" if outcome.message else outcome.kind)
    return 1 if outcome.kind == "finding" else 0


def _keep(arguments: argparse.Namespace) -> int:
    target, data = _input(arguments)
    if attempt(target, data).kind == "finding":
        data = shrink(target, data)
    path = SEEDS / target.name / arguments.name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    print(f"{path}: {len(data)} bytes")
    return 0


def _input(arguments: argparse.Namespace) -> tuple[Target, bytes]:
    name, _, which = arguments.input.partition(":")
    target = load_target(name)
    return target, target.input(arguments.seed, int(which)) if which.isdigit() else Path(which).read_bytes()


if __name__ == "__main__":
    sys.exit(main())
