"""The mutated files and the tests that have to notice the mutants."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Target:
    """Source files that the same tests check.

    ``plugins`` are modules that pytest imports before anything else. Tests that take more than ``slowest`` of
    CPU time [s] are not run on mutants.
    """

    name: str
    sources: tuple[str, ...]
    tests: tuple[str, ...]
    plugins: tuple[str, ...] = ()
    slowest: float = 3.0
    root: Path = ROOT

    @property
    def stem(self) -> str:
        """Return the start of the names of its files in the build folder."""
        return self.name.replace("/", "-")

    def source_files(self) -> list[Path]:
        """Return the mutated files, those of a folder in alphabetical order."""
        return _python_files(self.root, self.sources)

    def test_files(self) -> list[Path]:
        """Return the test files and the helper modules beside them."""
        return _python_files(self.root, self.tests)


def _python_files(root: Path, names: tuple[str, ...]) -> list[Path]:
    paths = [root / name for name in names]
    return [file for path in paths for file in (sorted(path.glob("*.py")) if path.is_dir() else [path])]


LEDGER = {  # tests of each file
    "balancing": ("balancing", "corrections"),
    "clock_offsets": ("clock_offsets", "clock_scores"),
    "corrections": ("corrections",),
    "coverage": ("log_gaps",),
    "directions": ("directions",),
    "door_balance": ("door_balance",),
    "issues": ("issues",),
    "overnight": ("overnight",),
    "passage_grid": ("passage_grid",),
    "ledger": ("ledger_cases", "ledger"),
}

TARGETS = [
    Target("metrics", ("src/occupair/metrics.py",), ("tests/test_metrics.py",)),
    Target("smoothing", ("src/occupair/smoothing.py",), ("tests/test_smoothing.py",)),
    Target(
        "readings/grid",
        ("src/occupair/readings/grid.py",),
        tuple(
            f"tests/readings/test_{name}.py" for name in ("grid", "other_sensors", "ventilation_failed_reads")
        ),
    ),
    Target("elm", ("src/occupair/elm",), ("tests/elm",)),
    *(
        Target(
            f"groundtruth/ledger/{name}",
            (f"src/occupair/groundtruth/ledger/{name}.py",),
            tuple(f"tests/groundtruth/ledger/test_{test}.py" for test in tests),
            slowest=1.0,
        )
        for name, tests in LEDGER.items()
    ),
    # Without numba, which would compile every mutant. The tests of whole days in test_live_kernel are slow.
    Target(
        "paper",
        ("src/occupair/paper",),
        tuple(
            f"tests/paper/{name}.py"
            for name in (
                "small_rooms",
                "test_features",
                "test_training",
                "test_network",
                "test_stability",
                "test_estimation",
                "test_live_day",
                "test_revised_day",
                "test_live_weights",
                "test_live_kernel_steps",
                "test_kernel_loops",
            )
        ),
        plugins=("tools.code_coverage.without_numba",),
    ),
]
