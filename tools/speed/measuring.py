"""Time and memory. The machine may be busy: the best of several runs counts, taken in turns."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any, TypeVar

T = TypeVar("T")

PATIENCE = 6.0
"""After so many seconds of runs a contender is not asked again."""

_STATUS, _FORGET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


@contextmanager
def own_process() -> Iterator[Callable[..., Any]]:
    """Give a way to call functions, one after the other, in a process that has done nothing but import."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["occupair.estimator", "occupair.simulation", "tools.speed.training"])
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        yield lambda function, *arguments: pool.submit(function, *arguments).result()


def in_own_process(function: Callable[..., T], *arguments: Any) -> T:
    """Call one function in a process of its own."""
    with own_process() as call:
        result: T = call(function, *arguments)
        return result


def seconds(work: Callable[[], object]) -> float:
    """Time one run."""
    start = perf_counter()
    work()
    return perf_counter() - start


def best_of(times: int, work: Callable[[], object]) -> float:
    """Time some runs and give the best."""
    return min(seconds(work) for _ in range(times))


def best_in_turns(
    runs: Mapping[str, Callable[[], float]], first: Mapping[str, float], rounds: int
) -> dict[str, float]:
    """Give the best time of each, asked in turns, so that a busy spell of the machine meets them all."""
    times = {name: [first[name]] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            if sum(times[name]) < PATIENCE:
                times[name].append(run())
    return {name: min(found) for name, found in times.items()}


def with_peak_memory(work: Callable[[], T]) -> tuple[T, float]:
    """Do the work, and give the most memory that it took above what the process held before [MB].

    The kernel counts: VmHWM, after it was told to forget the peak so far, less VmRSS before. It counts all
    of a process, what BLAS and C code take as well. NaN where there is no Linux to ask.
    """
    if not _FORGET.exists():
        return work(), float("nan")
    _FORGET.write_text("5")
    before = _held("VmRSS")
    result = work()
    return result, _held("VmHWM") - before


def _held(which: str) -> float:
    (line,) = [line for line in _STATUS.read_text().splitlines() if line.startswith(which)]
    return float(line.split()[1]) * 1024 / 1e6
