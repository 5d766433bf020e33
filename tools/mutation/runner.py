"""Run the tests of a target on its mutants, each in a process forked from one pytest session.

The session has imported and collected everything once. A process for a mutant transplants it, runs the tests
that run the mutated line and ends with the first failure: first those that noticed another mutant of the
function, then the fastest. No fixture is set up before the fork, so fixtures are made with the mutant, too.
"""

from __future__ import annotations

import dataclasses
import json
import resource
import signal
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest
from _pytest.runner import runtestprotocol

from tools.mutation.forks import in_forks
from tools.mutation.mutants import Mutant, mutants_of
from tools.mutation.results import KILLED, SURVIVED, TIMED_OUT, Results, hash_files
from tools.mutation.targets import Target
from tools.mutation.tests_by_line import MeasuredTest, TestsByLine, measure
from tools.mutation.transplant import transplant

MEMORY = 6 << 30
"""Address space of a mutant's process [bytes]; one that needs more fails."""
OPTIONS = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--capture=sys", "--no-header", "--no-summary"]


@dataclasses.dataclass(frozen=True)
class Progress:
    """Callbacks that report the progress of a target."""

    begin: Callable[[str, int], None]
    step: Callable[[], None]


def list_mutants(target: Target, part_of_path: str = "") -> list[Mutant]:
    """Return the mutants of all files of a target whose path contains ``part_of_path``."""
    files = {str(path.relative_to(target.root)): path for path in target.source_files()}
    wanted = {name: path for name, path in files.items() if part_of_path in name}
    return [mutant for name, path in wanted.items() for mutant in mutants_of(name, path.read_text())]


def run_target(
    target: Target, mutants: list[Mutant], folder: Path, *, workers: int, deadline: float, progress: Progress
) -> None:
    """Run the tests of a target on those of ``mutants`` that have no result yet, until the deadline."""
    results = Results(folder / f"{target.stem}.jsonl", target.root)
    tests_hash = hash_files(target.test_files())
    todo = [mutant for mutant in mutants if results.get(mutant, tests_hash) is None]
    if not todo:
        return
    plugin = _Plugin(target, todo, results, folder, workers, deadline, progress)
    names = [str(target.root / name) for name in (*target.tests, *target.sources)]  # sources: their doctests
    imported = [option for name in target.plugins for option in ("-p", name)]
    status = pytest.main([*OPTIONS, *imported, f"--rootdir={target.root}", *names], plugins=[plugin])
    if status != pytest.ExitCode.OK:
        raise SystemExit(f"{target.name}: the tests did not run, exit status {status}")


class _Plugin:
    def __init__(
        self,
        target: Target,
        mutants: list[Mutant],
        results: Results,
        folder: Path,
        workers: int,
        deadline: float,
        progress: Progress,
    ) -> None:
        self.target, self.mutants, self.results, self.folder = target, mutants, results, folder
        self.workers, self.deadline, self.progress = workers, deadline, progress
        self.items: dict[str, pytest.Item] = {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self) -> None:
        from hypothesis import Phase, settings  # pytest rewrites its assertions: not to be imported before

        phases = (Phase.explicit, Phase.generate)  # the first failure is enough, it need not be the smallest
        settings.register_profile("mutation", deadline=None, derandomize=True, database=None, phases=phases)
        settings.load_profile("mutation")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        if session.testsfailed:
            return False
        self.items = {item.nodeid: item for item in session.items}
        session.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]  # one for all processes
        self._run(self._tests_by_line())
        return True

    def _tests_by_line(self) -> TestsByLine:
        file = self.folder / f"{self.target.stem}-tests.json"
        key = hash_files([*self.target.test_files(), *self.target.source_files()])
        kept = TestsByLine.load(file, key)
        if kept is not None:
            return kept
        paths = [str(path) for path in self.target.source_files()]

        def work(test: str, write: Callable[[str], None]) -> None:
            for path in self.target.source_files():  # unchanged, to see that this alone fails no test
                transplant(_loaded_module(path), path.read_text())
            run = measure(test, lambda: self._passes(test), paths)
            write(json.dumps(dataclasses.asdict(run)))

        self.progress.begin(f"{self.target.name}: tests", len(self.items))
        runs = []
        for done in in_forks(self.items, work, self.workers):
            if not done.text:
                raise pytest.UsageError(f"{done.job}: ended without a result")
            runs.append(MeasuredTest(**json.loads(done.text)))
            self.progress.step()
        failed = [run.test for run in runs if not run.passed]
        if failed:
            raise pytest.UsageError(f"these tests fail without a mutant: {', '.join(failed)}")
        found = TestsByLine(runs)
        found.save(file, key)
        return found

    def _run(self, tests: TestsByLine) -> None:
        tests_hash = hash_files(self.target.test_files())
        self.progress.begin(f"{self.target.name}: mutants", len(self.mutants))
        noticed: dict[tuple[str, str], list[str]] = defaultdict(list)  # by function: tests, the latest first

        def jobs() -> Iterator[tuple[Mutant, list[MeasuredTest]]]:
            for mutant in self.mutants:
                if time.monotonic() > self.deadline:
                    return
                path = str(self.target.root / mutant.file)
                runs = tests.tests_for(mutant, path, self.target.slowest)
                likely = [self.results.last_test(mutant), *noticed[mutant.file, mutant.function]]
                rank = {test: n for n, test in reversed(list(enumerate(likely)))}
                yield mutant, sorted(runs, key=lambda run: rank.get(run.test, len(likely)))

        for done in in_forks(jobs(), self._try_mutant, self.workers):
            mutant, _ = done.job
            *tests_run, last = done.text.split("\n")
            if last not in (KILLED, SURVIVED):
                if not done.signal:
                    raise RuntimeError(f"the process of a mutant failed: {mutant.key}")
                last = TIMED_OUT if done.signal in (signal.SIGPROF, signal.SIGKILL) else KILLED
            test = "" if last == SURVIVED else tests_run[-1]
            self.results.add(mutant, last, test, tests_hash)
            noticed[mutant.file, mutant.function].insert(0, test)
            self.progress.step()

    def _try_mutant(self, job: tuple[Mutant, list[MeasuredTest]], write: Callable[[str], None]) -> None:
        """Write the name of each test before it runs, and the outcome at the end."""
        mutant, runs = job
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        signal.signal(signal.SIGPROF, signal.SIG_DFL)  # ends the process
        for n, run in enumerate(runs):
            write(run.test + "\n")
            _limit_cpu(run.seconds)
            following = runs[n + 1].test if n + 1 < len(runs) else None
            if (n == 0 and not self._transplanted(mutant)) or not self._passes(run.test, following):
                write(KILLED)
                return
        write(SURVIVED)

    def _transplanted(self, mutant: Mutant) -> bool:
        """Whether the mutated file can be imported; if so it takes effect."""
        module = _loaded_module(self.target.root / mutant.file)
        try:
            transplant(module, mutant.source)
        except Exception:  # noqa: BLE001 whatever the mutant raises
            return False
        return True

    def _passes(self, test: str, following: str | None = None) -> bool:
        next_item = self.items[following] if following else None
        reports = runtestprotocol(self.items[test], log=False, nextitem=next_item)
        return not any(report.failed for report in reports)


def _limit_cpu(normal: float) -> None:
    """End the process when a test takes much more CPU time [s] than without a mutant."""
    signal.setitimer(signal.ITIMER_PROF, 1.0 + 5.0 * normal)


def _loaded_module(path: Path) -> ModuleType:
    for module in list(sys.modules.values()):
        if getattr(module, "__file__", None) == str(path):
            return module
    raise LookupError(f"{path} is not imported by its tests")
