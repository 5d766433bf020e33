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

    def source_files(self) -> list[Path]:
        """Return the mutated files, those of a folder in alphabetical order."""
        return _python_files(self.root, self.sources)

    def test_files(self) -> list[Path]:
        """Return the test files and the helper modules beside them."""
        return _python_files(self.root, self.tests)


def _python_files(root: Path, names: tuple[str, ...]) -> list[Path]:
    paths = [root / name for name in names]
    return [file for path in paths for file in (sorted(path.glob("*.py")) if path.is_dir() else [path])]


LEDGER = ("balancing", "corrections", "directions", "door_balance", "overnight", "passage_grid")

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
    Target(
        "groundtruth/ledger",
        tuple(f"src/occupair/groundtruth/ledger/{name}.py" for name in LEDGER),
        tuple(f"tests/groundtruth/ledger/test_{name}.py" for name in LEDGER),
        slowest=0.5,
    ),
    # Without numba: the numpy kernel is the reference that tests compare the compiled one with.
    Target(
        "paper",
        tuple(f"src/occupair/paper/{name}.py" for name in ("features", "numpy_kernel", "stability")),
        tuple(f"tests/paper/test_{name}.py" for name in ("features", "kernel_loops", "stability")),
        plugins=("tools.coverage.without_numba",),
    ),
]
