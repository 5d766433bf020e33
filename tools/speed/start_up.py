"""Start-up times in fresh processes."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from occupair import OccupancyEstimator, simulate_office
from tools.speed.formatting import Headline, Section, Table, time
from tools.speed.measuring import seconds
from tools.speed.sizes import Sizes

TIMES = 5
TIMED = "import time, numpy, pandas; start = time.perf_counter(); {work}; print(time.perf_counter() - start)"
COMMAND = "import sys; sys.argv = ['occupair', '--help']; from occupair.cli import main; main()"
FIRST = (
    "import sys, pandas; from occupair import OccupancyEstimator; "
    "OccupancyEstimator.load(sys.argv[1]).live().update(pandas.Timestamp('2024-01-08'), 420.0, 0.0)"
)


@dataclass(frozen=True)
class StartUp:
    """Start-up times [s]."""

    imported: float
    estimator: float
    help: float
    first_default: float
    first_paper: float


def measure(sizes: Sizes) -> StartUp:
    """Return the shortest of several start-up times."""
    times = min(TIMES, sizes.rounds)
    office = simulate_office(days=min(5, sizes.days))
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for name, estimator in {
            "default": OccupancyEstimator(random_state=0, **sizes.default),
            "paper": OccupancyEstimator.paper(n_draws=1, n_hidden=sizes.n_hidden, random_state=0),
        }.items():
            files.append(str(Path(folder, f"{name}.occupair")))
            estimator.fit(office).save(files[-1])
        return StartUp(
            _best(times, lambda: _reported_seconds("import occupair")),
            _best(times, lambda: _reported_seconds("from occupair import OccupancyEstimator")),
            _best(times, lambda: seconds(lambda: _run(COMMAND))),
            _best(times, lambda: seconds(lambda: _run(FIRST, files[0]))),
            _best(times, lambda: seconds(lambda: _run(FIRST, files[1]))),
        )


def _best(times: int, run: Callable[[], float]) -> float:
    return min(run() for _ in range(times))


def _reported_seconds(work: str) -> float:
    return float(_run(TIMED.format(work=work)))


def _run(code: str, *arguments: str) -> str:
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{code} failed:\n{done.stderr}")
    return done.stdout


def start_up_section(found: StartUp) -> Section:
    """Return the section."""
    rows = [
        ["`import occupair`, beyond numpy and pandas", time(found.imported)],
        ["`from occupair import OccupancyEstimator`, beyond numpy and pandas", time(found.estimator)],
        ["`occupair --help`, whole process", time(found.help)],
        ["load a default model and estimate one reading, whole process", time(found.first_default)],
        ["load a model of Eq. (26) and estimate one reading, whole process", time(found.first_paper)],
    ]
    text = [
        f"Each in a fresh process, best of {TIMES}. Numba caches compiled code on disk; the first run after "
        "installation takes some seconds more for Eq. (26)."
    ]
    return Section("Start-up", text, [Table(["", "time"], rows)])


def start_up_headlines(found: StartUp) -> list[Headline]:
    """Return the key figures."""
    return [
        Headline("import of the estimator, beyond numpy and pandas", "", time(found.estimator), ""),
        Headline("`occupair --help`", "", time(found.help), ""),
    ]
