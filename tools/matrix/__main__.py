"""Run the tests on the built wheel with several interpreters and versions; print a table and failed tests.

python -m tools.matrix            whole suite, all interpreters, newest and lowest versions
python -m tools.matrix --quick    core suite, newest interpreter and versions, oldest with lowest versions
python -m tools.matrix --python 3.12 --versions lowest    one combination
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import get_args
from xml.etree import ElementTree

from tools.matrix.environments import ROOT, Environment, InstallError, Versions, build_wheel, install
from tools.matrix.interpreters import SUPPORTED, find_interpreters
from tools.matrix.suites import CORE, WHOLE, Suite

WARM_UP = "from occupair.paper.revised_day import warm_up; warm_up()"
TOLERATED = ("DeprecationWarning", "PendingDeprecationWarning", "FutureWarning")
"""Warnings of old packages with each other; with the newest versions every warning is an error."""


@dataclass(frozen=True)
class Result:
    """The outcome of one combination."""

    interpreter: str
    versions: Versions
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    seconds: float = 0.0
    error: str = ""
    failures: tuple[str, ...] = ()  # ids of the failed tests

    @property
    def good(self) -> bool:
        """Whether tests ran and none failed."""
        return self.passed > 0 and not self.failed and not self.error


def main() -> int:
    """Run the combinations; the exit status is 1 if any of them fails."""
    options = _options()
    suite: Suite = CORE if options.quick or options.core else WHOLE
    found = find_interpreters()
    chosen = [
        (one, kind)
        for one, kind in combinations(list(found), quick=options.quick)
        if options.python in (None, one) and options.versions in (None, kind)
    ]
    if not chosen:
        print(f"nothing to test, interpreters found: {', '.join(found) or 'none'}")
        return 1
    results = []
    with tempfile.TemporaryDirectory(prefix="occupair-matrix-") as scratch:
        wheel = build_wheel(Path(scratch))
        for one, kind in chosen:
            print(f"Python {one}, {kind} versions: {wheel.name}", flush=True)
            folder = Path(scratch) / f"{one}-{kind}"
            began = time.monotonic()
            try:
                environment = install(wheel, found[one], kind, suite, folder)
                outcome = run_suite(environment, suite, kind, options.workers, folder / "result.xml")
            except InstallError as error:
                print(error, flush=True)
                outcome = {"error": "not installed"}
            results.append(Result(one, kind, seconds=time.monotonic() - began, **outcome))
    print("\n".join([table(results), *failures(results)]))
    missing = [one for one in SUPPORTED if one not in found]
    if missing:
        print(f"\nNot found, not tested: Python {', '.join(missing)}")
    return 0 if all(one.good for one in results) else 1


def combinations(interpreters: list[str], *, quick: bool) -> list[tuple[str, Versions]]:
    """Return interpreters, from the oldest to the newest, with versions of the packages."""
    if quick and interpreters:
        return [(interpreters[-1], "newest"), (interpreters[0], "lowest")]
    return [(one, kind) for one in interpreters for kind in get_args(Versions)]


def run_suite(environment: Environment, suite: Suite, kind: Versions, workers: int, report: Path) -> dict:
    """Run the tests and return the counts and failures of a Result."""
    subprocess.run([environment.python, "-c", WARM_UP], env=environment.variables(), cwd=ROOT, check=False)
    lenient = [word for name in TOLERATED for word in ("-W", f"default::{name}")] if kind == "lowest" else []
    command = [
        environment.python, "-m", "pytest", *suite.paths, "-q", "--durations=5", "-n", str(workers),
        "--dist", "loadfile", "-p", "no:cacheprovider", f"--junitxml={report}", "--disable-warnings",
        *lenient,
        *(word for path in suite.deselected for word in ("--ignore", path)),
    ]  # fmt: skip
    status = subprocess.run(
        command, env=environment.variables(), cwd=ROOT, stdin=subprocess.DEVNULL, check=False
    ).returncode
    outcome = read_report(report) if report.exists() else {"error": "no tests ran"}
    if status and not outcome.get("failed"):
        outcome["error"] = f"pytest exited with status {status}"
    return outcome


def read_report(report: Path) -> dict:
    """Return the counts of passed, failed and skipped tests in a JUnit report, and the ids of failed ones."""
    (suite,) = ElementTree.parse(report).getroot().iter("testsuite")
    total, skipped = int(suite.get("tests", 0)), int(suite.get("skipped", 0))
    failed = int(suite.get("failures", 0)) + int(suite.get("errors", 0))
    bad = [case for case in suite.iter("testcase") if {"failure", "error"} & {part.tag for part in case}]
    return {
        "passed": total - failed - skipped,
        "failed": failed,
        "skipped": skipped,
        "failures": tuple(dict.fromkeys(map(_test_id, bad))),  # once if the clean-up fails, too
    }


def _test_id(case: ElementTree.Element) -> str:
    """Return the id as pytest takes it; for a file that cannot be imported, its module."""
    module, name = case.get("classname"), case.get("name", "")
    return f"{module.replace('.', '/')}.py::{name}" if module else name


def table(results: list[Result]) -> str:
    """Return the results as a Markdown table."""
    lines = [
        "| Python | versions | passed | failed | skipped | time | result |",
        "| --- | --- | ---: | ---: | ---: | ---: | --- |",
    ]
    for one in results:
        verdict = "passed" if one.good else one.error or "failed"
        counts = f"{one.passed:,} | {one.failed} | {one.skipped}"
        lines.append(f"| {one.interpreter} | {one.versions} | {counts} | {one.seconds:.0f} s | {verdict} |")
    return "\n".join(lines)


def failures(results: list[Result]) -> list[str]:
    """Return lines with the ids of the failed tests of each combination."""
    lines: list[str] = []
    for one in results:
        if one.failures:
            lines += ["", f"Failed with Python {one.interpreter}, {one.versions} versions:"]
            lines += [f"  {test}" for test in one.failures]
    return lines


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tools.matrix", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="two combinations, the core suite")
    parser.add_argument("--core", action="store_true", help="all combinations, the core suite")
    parser.add_argument("--python", choices=SUPPORTED, help="this interpreter only")
    parser.add_argument("--versions", choices=get_args(Versions), help="these versions only")
    parser.add_argument("--workers", type=int, default=2, help="test processes")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
