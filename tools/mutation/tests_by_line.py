"""Which tests run which lines of the mutated files, and how much CPU time they take."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

import coverage

from tools.mutation.mutants import Mutant


@dataclass(frozen=True)
class MeasuredTest:
    """One test: its time [s of CPU], whether it passed, and the lines it ran by file."""

    test: str
    seconds: float
    passed: bool
    lines: dict[str, list[int]]


def measure(test: str, run: object, files: list[str]) -> MeasuredTest:
    """Run a test in this process and record the lines of ``files`` that it runs."""
    measured = coverage.Coverage(data_file=None, include=files, config_file=False)
    measured.set_option("run:disable_warnings", ["no-data-collected"])
    measured.start()
    started = time.process_time()
    passed = run()  # type: ignore[operator]
    seconds = time.process_time() - started
    measured.stop()
    data = measured.get_data()
    lines = {file: sorted(data.lines(file) or []) for file in files}
    return MeasuredTest(test, seconds, passed, {file: found for file, found in lines.items() if found})


class TestsByLine:
    """The tests of a target by the lines that they run, fastest first."""

    def __init__(self, runs: Iterable[MeasuredTest]) -> None:
        self.runs = sorted(runs, key=lambda run: run.seconds)

    def tests_for(self, mutant: Mutant, path: str, slowest: float) -> list[MeasuredTest]:
        """Return the tests that can notice a mutant of the file ``path`` and take at most ``slowest`` [s]."""
        runs = [run for run in self.runs if run.seconds <= slowest]
        if mutant.first == 0:
            return [run for run in runs if path in run.lines]
        wanted = set(range(mutant.first, mutant.last + 1))
        return [run for run in runs if not wanted.isdisjoint(run.lines.get(path, ()))]

    def save(self, file: Path, key: str) -> None:
        """Write the map to a file."""
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps({"key": key, "runs": [asdict(run) for run in self.runs]}))

    @staticmethod
    def load(file: Path, key: str) -> TestsByLine | None:
        """Read a map, unless sources or tests have changed since."""
        if not file.exists():
            return None
        kept = json.loads(file.read_text())
        return TestsByLine(MeasuredTest(**run) for run in kept["runs"]) if kept["key"] == key else None
