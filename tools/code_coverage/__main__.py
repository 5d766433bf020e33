"""Branch coverage of the core by its own tests, or of the whole package: `make coverage`.

Prints a table by package and the uncovered lines, and exits with 1 if fewer lines of the core than ``LEAST``
are covered. The tests of the paper's live estimator run again without numba, because compiled code cannot be
measured.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import coverage

ROOT = Path(__file__).parents[2]
CORE_PACKAGES = ("readings", "elm", "paper", "room", "physics", "checks")
CORE_MODULES = (
    *("errors", "deprecations", "wording", "compiler", "progress", "output_names", "atomic_files"),
    *("user_folders", "ventilation_rates"),
    *("smoothing", "folds", "metrics", "live_room", "live_rooms", "inferred_training"),
    *("estimator_arguments", "estimator", "model_file", "cross_validation", "tuning"),
)
CORE_FILES = [
    *(f"src/occupair/{name}/*" for name in CORE_PACKAGES),
    *(f"src/occupair/{name}.py" for name in CORE_MODULES),
]
OTHER_TESTS = ("test_other_sensors", "test_live_time_zones", "test_long_records")
WITHOUT_NUMBA = ("tests/paper",)
DATA = ROOT / "build/coverage"
LEAST = 0.99
"""Share of covered lines of the core below which the command fails."""


def main() -> None:
    """Run the tests and print the coverage."""
    parser = argparse.ArgumentParser(prog="python -m tools.code_coverage", description=__doc__)
    parser.add_argument("--all", action="store_true", help="also measure the applications, by all tests")
    parser.add_argument("tests", nargs="*", help="with --all: run these tests only")
    parser.add_argument("--workers", type=int, default=2, help="test processes")
    parser.add_argument("--nice", type=int, default=10, help="lower the priority of the run by this much")
    parser.add_argument("--report", action="store_true", help="only print the results of the last run")
    options = parser.parse_args()
    os.chdir(ROOT)
    passed = True
    if not options.report:
        os.nice(options.nice)
        DATA.mkdir(parents=True, exist_ok=True)
        _run_coverage("erase")
        tests = options.tests if options.all else core_tests()
        passed = _run_tests([*tests, "-n", str(options.workers), "--dist", "loadfile"])
        if not options.tests:
            passed &= _run_tests([*WITHOUT_NUMBA, "-p", "tools.code_coverage.without_numba"])
        _run_coverage("combine", "--quiet")
    files = measured_files(["src/occupair/*"] if options.all else CORE_FILES)
    print(table(files))
    print("\n" + ("\n".join(uncovered(files)) or "Every line and branch is covered."))
    if not passed:
        sys.exit("some tests failed")
    if not options.all and line_share(files) < LEAST:
        sys.exit(f"fewer than {100 * LEAST:g} % of the lines are covered")


def core_tests() -> list[str]:
    """Return the test folders and files of the core, and its modules with their examples."""
    tests = [f"tests/{name}" for name in CORE_PACKAGES]
    tests += [f"tests/test_{name}.py" for name in CORE_MODULES if Path(f"tests/test_{name}.py").exists()]
    tests += [f"tests/{name}.py" for name in OTHER_TESTS]
    return tests + [file.removesuffix("/*") for file in CORE_FILES]


def _run_tests(arguments: list[str]) -> bool:
    """Run tests and return whether they passed."""
    return _coverage("run", "-m", "pytest", "-q", *arguments) == 0


def _run_coverage(*arguments: str) -> None:
    if _coverage(*arguments):
        sys.exit(f"coverage {arguments[0]} failed")


def _coverage(*arguments: str) -> int:
    environ = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    return subprocess.run([sys.executable, "-m", "coverage", *arguments], env=environ).returncode


def measured_files(include: list[str]) -> dict[str, dict]:
    """Return the numbers of each file, by its path inside the package."""
    measured = coverage.Coverage()
    measured.load()
    report = DATA / "report.json"
    measured.json_report(outfile=str(report), include=include)
    files = json.loads(report.read_text())["files"]
    return {name.removeprefix("src/occupair/"): numbers for name, numbers in files.items()}


def line_share(files: dict[str, dict]) -> float:
    """Return the share of covered lines [0..1]."""
    covered, lines = (
        sum(numbers["summary"][key] for numbers in files.values())
        for key in ("covered_lines", "num_statements")
    )
    return covered / lines


def table(files: dict[str, dict]) -> str:
    """Return a Markdown table of statements and branches by package."""
    packages: dict[str, list[dict]] = defaultdict(list)
    for name, numbers in files.items():
        packages[name.split("/")[0].removesuffix(".py")].append(numbers["summary"])
    core = [*CORE_PACKAGES, *CORE_MODULES]
    order = [*core, *sorted(set(packages) - set(core))]
    rows = [_row(name, packages[name]) for name in sorted(packages, key=order.index)]
    rows.append(_row("total", [numbers["summary"] for numbers in files.values()]))
    head = ["| package | statements | covered | branches | covered |", "| --- | ---: | ---: | ---: | ---: |"]
    return "\n".join(head + rows)


def _row(name: str, summaries: list[dict]) -> str:
    keys = ("num_statements", "covered_lines", "num_branches", "covered_branches")
    statements, lines, branches, taken = (sum(one[key] for one in summaries) for key in keys)
    shares = [
        f"{100 * part / whole:.1f} %" if whole else "–"
        for part, whole in ((lines, statements), (taken, branches))
    ]
    return f"| {name} | {statements} | {shares[0]} | {branches} | {shares[1]} |"


def uncovered(files: dict[str, dict]) -> list[str]:
    """Return the uncovered lines and branches of each file, as text."""
    found = []
    for name, numbers in files.items():
        lines = numbers["missing_lines"]
        branches = [
            f"{start}->{end if end > 0 else 'exit'}"
            for start, end in numbers["missing_branches"]
            if end not in lines and start not in lines
        ]
        if lines or branches:
            found.append(f"{name}: {', '.join([*map(str, lines), *branches])}")
    return found


if __name__ == "__main__":
    main()
