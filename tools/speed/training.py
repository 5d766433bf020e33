"""Speed of training one random layer, and how its cost scales."""

from __future__ import annotations

import contextlib
import io
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from occupair import OccupancyEstimator, simulate_office
from occupair.metrics import rmse
from occupair.paper.training import training_features
from occupair.smoothing import smoothing_in_readings
from tools.speed.contenders import BLAS, CONTENDERS, MLP, OURS, REFERENCE, Predict, Train, Work, is_here
from tools.speed.formatting import DASH, Headline, Section, Table, digits, memory_of, ratio, time
from tools.speed.measuring import best_in_turns, best_of, own_process, seconds, with_peak_memory
from tools.speed.sizes import Sizes

DAY = 1440

Processes = Mapping[str, Callable[..., Any]]


@dataclass(frozen=True)
class Trained:
    """Cost and error of one contender.

    Parameters
    ----------
    seconds : float
        Training time, best of several runs [s].
    memory : float
        Peak memory above that of the training rows [MB].
    error : float
        RMSE on the training rows [people].
    one, day : float
        Time to estimate one row and a day of rows [s].
    """

    seconds: float
    memory: float
    error: float
    one: float
    day: float


@dataclass(frozen=True)
class Training:
    """All contenders on the same problem, and reasons why others could not run."""

    rows: int
    columns: int
    n_hidden: int
    trained: dict[str, Trained]
    failed: dict[str, str]

    def over_blas(self, name: str) -> float:
        """Return the time relative to the bare matrix products."""
        return self.trained[name].seconds / self.trained[BLAS].seconds

    @property
    def operations(self) -> float:
        """Floating-point operations of the bare matrix products."""
        return self.n_hidden * (self.rows * (2 * self.columns + self.n_hidden) + self.n_hidden**2 / 3)


# ---- in the process of one contender ----


def work_of(file: str, days: int, n_hidden: int, epochs: int) -> Work:
    """Read the training rows of the first days."""
    with np.load(file) as saved:
        n = len(saved["y"]) * days // int(saved["days"])
        return Work(saved["X"][:n], saved["y"][:n], tuple(saved["groups"].tolist()), n_hidden, epochs)


@lru_cache(1)
def _work(name: str, *work: Any) -> Work:
    return work_of(*work) if name in (OURS, REFERENCE) else work_of(*work).standardised()


@lru_cache(1)
def _ready(name: str, *work: Any) -> Train:
    return CONTENDERS[name](_work(name, *work))


def train(name: str, *work: Any) -> float:
    """Train once and return the time [s]."""
    with _quiet():
        return seconds(_ready(name, *work))


def profile(name: str, *work: Any) -> Trained:
    """Train for the first time and measure time, memory and error."""
    whole = _work(name, *work)
    small = whole._replace(X=whole.X[:2000].copy(), y=whole.y[:2000], n_hidden=min(64, whole.n_hidden))
    with _quiet():
        CONTENDERS[name](small)()  # imports everything, so that its memory is not counted
        start = perf_counter()
        predict, memory = with_peak_memory(lambda: _ready(name, *work)())
        spent = perf_counter() - start
        error = rmse(whole.y, predict(whole.X)) if name != BLAS else float("nan")
        return Trained(spent, memory, error, *(_predicting(predict, whole.X[:n]) for n in (1, DAY)))


def _predicting(predict: Predict, rows: Any) -> float:
    return best_of(20 if len(rows) == 1 else 5, lambda: predict(rows))


@contextmanager
def _quiet() -> Iterator[None]:
    """Suppress output and warnings of other packages."""
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        yield


# ---- in the main process ----


@contextmanager
def saved_rows(days: int) -> Iterator[str]:
    """Write the paper's training rows of a simulated office to a temporary file."""
    paper = OccupancyEstimator.paper()
    layer = paper.layer_at(1.0)
    X, y = training_features(simulate_office(days=days), layer, smoothing_in_readings(paper.smoothing, 1.0))
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder, "rows.npz"))
        np.savez(file, X=X, y=y, groups=list(layer.sizes().values()), days=days)
        yield file


@contextmanager
def processes_of(names: Iterable[str]) -> Iterator[Processes]:
    """Start a process for each available contender."""
    with ExitStack() as stack:
        yield {name: stack.enter_context(own_process()) for name in names if is_here(name)}


def compare(processes: Processes, rounds: int, *work: Any) -> Training:
    """Train all contenders alternately on the same problem; ``work`` are the arguments of ``work_of``."""
    trained, failed = {}, {}
    for name, process in processes.items():
        try:
            trained[name] = process(profile, name, *work)
        except Exception as error:  # noqa: BLE001  # other packages may fail in any way
            failed[name] = f"fails: {type(error).__name__}: {str(error).splitlines()[0][:90]}"
    runs = {name: partial(processes[name], train, name, *work) for name in trained}
    times = best_in_turns(runs, {name: one.seconds for name, one in trained.items()}, rounds)
    best = {name: replace(one, seconds=times[name]) for name, one in trained.items()}
    rows, columns, n_hidden = processes[BLAS](_shape, BLAS, *work)
    return Training(rows, columns, n_hidden, best, failed)


def _shape(name: str, *work: Any) -> tuple[int, int, int]:
    one = _work(name, *work)
    return *one.X.shape, one.n_hidden


def one_layer(file: str, sizes: Sizes) -> Training:
    """Train all contenders on the training days of the paper."""
    with processes_of(CONTENDERS) as processes:
        found = compare(processes, sizes.rounds, file, sizes.days, sizes.n_hidden, sizes.epochs)
    not_here = {name: "not installed" for name in CONTENDERS if not is_here(name)}
    return replace(found, failed=not_here | found.failed)


def one_layer_section(found: Training, sizes: Sizes) -> Section:
    """Return the section."""
    heads = ["method", "relative to BLAS", "time", "peak memory", "error", "one row", "one day of rows"]
    ordered = sorted(found.trained.items(), key=lambda item: item[1].seconds)
    rows = [
        [
            _known_as(name, sizes),
            ratio(found.over_blas(name)),
            time(one.seconds),
            memory_of(one.memory),
            digits(one.error),
            *((time(one.one), time(one.day)) if name != BLAS else (DASH, DASH)),
        ]
        for name, one in ordered
    ]
    missing = [f"{name} ({why})" for name, why in found.failed.items()]
    speed = found.operations / found.trained[BLAS].seconds / 1e9
    size = f"{found.rows:,} rows of {found.columns} columns, {found.n_hidden:,} neurons"
    text = [
        f"{size}: the paper's training data, {sizes.days} days of a simulated office.",
        "Bare BLAS is the matrix operations alone: projection (dgemm), H'H (dsyrk) and its Cholesky factor, "
        f"{speed:,.0f} GFlop/s here. It is a lower bound on the cost of the equations and does not train "
        "a network.",
        "The reference implementation is Eqs. (9) to (15) in numpy with all of H in memory. Like occupair, "
        "it also computes the scale factors.",
        "Each method runs in its own process; they alternate, and the best of up to "
        f"{sizes.rounds} runs is reported. Peak memory (VmHWM) is the increase over the memory of the "
        "process before training, when the training rows are loaded.",
        "Error is the training RMSE [people]; the last two columns are the times to predict one row "
        "and one day.",
        "The other packages are trained on standardised columns.",
        *([f"Not measured: {', '.join(missing)}."] if missing else []),
    ]
    return Section("Training: one random layer", text, [Table(heads, rows)])


def _known_as(name: str, sizes: Sizes) -> str:
    return f"{name}, {sizes.epochs} epochs" if name == MLP else name


def one_layer_headlines(found: Training) -> list[Headline]:
    """Return the key figures."""
    ours, blas, reference = (found.trained[name] for name in (OURS, BLAS, REFERENCE))
    others = [
        name
        for name in found.trained
        if name not in (OURS, BLAS, REFERENCE) and not name.startswith("scikit-learn")
    ]
    lines = [
        Headline(
            "train one network, relative to bare BLAS",
            ratio(found.over_blas(OURS)),
            time(ours.seconds),
            time(blas.seconds),
        ),
        Headline(
            "train one network, relative to the reference",
            ratio(ours.seconds / reference.seconds),
            time(ours.seconds),
            time(reference.seconds),
        ),
        Headline(
            "peak memory of training, relative to the reference",
            ratio(ours.memory / reference.memory),
            memory_of(ours.memory),
            memory_of(reference.memory),
        ),
    ]
    if others:
        best = min(others, key=lambda name: found.trained[name].seconds)
        other = found.trained[best].seconds
        lines.append(
            Headline(
                f"train one network, relative to the fastest other ELM package, {best}",
                ratio(ours.seconds / other),
                time(ours.seconds),
                time(other),
            )
        )
    return lines


# ---- scaling ----


@dataclass(frozen=True)
class TrainingGrowth:
    """Training by number of rows and of neurons."""

    by_rows: list[Training]
    by_neurons: list[Training]


def training_growth(file: str, sizes: Sizes) -> TrainingGrowth:
    """Train on fewer days, and with fewer or more neurons."""

    def of_size(days: int, n_hidden: int) -> Training:
        with processes_of([BLAS, OURS]) as processes:  # fresh ones: freed memory would not be requested again
            return compare(processes, min(sizes.rounds, 5), file, days, n_hidden, 0)

    return TrainingGrowth(
        [of_size(days, sizes.n_hidden) for days in sizes.growth_days],
        [of_size(sizes.days, n_hidden) for n_hidden in sizes.growth_hidden],
    )


def training_growth_tables(found: TrainingGrowth) -> list[Table]:
    """Return the scaling tables."""
    return [
        _growth_table("rows N", [(one.rows, one) for one in found.by_rows]),
        _growth_table("neurons L", [(one.n_hidden, one) for one in found.by_neurons]),
    ]


def _growth_table(head: str, runs: list[tuple[int, Training]]) -> Table:
    first = runs[0][1].trained[OURS].seconds
    rows = [
        [
            f"{size:,}",
            ratio(one.trained[OURS].seconds / first),
            time(one.trained[OURS].seconds),
            ratio(one.over_blas(OURS)),
            memory_of(one.trained[OURS].memory),
        ]
        for size, one in runs
    ]
    return Table([head, "relative to first", "time", "relative to BLAS", "peak memory"], rows)
