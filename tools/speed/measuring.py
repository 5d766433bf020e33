"""Time and peak memory: the best of several alternating runs, to reduce the effect of other load."""

from __future__ import annotations

import multiprocessing
import resource
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any, TypeVar

T = TypeVar("T")

PATIENCE = 6.0
"""Total run time after which a contender is not run again [s]."""

PAGE_SIZE = resource.getpagesize() / 1e6
"""Resolution of memory measurements [MB]."""

_STATUS, _CLEAR_REFS = Path("/proc/self/status"), Path("/proc/self/clear_refs")


@contextmanager
def own_process() -> Iterator[Callable[..., Any]]:
    """Provide a function that calls others in a fresh process that has only imported modules."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["occupair.estimator", "occupair.simulation", "tools.speed.training"])
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        yield lambda function, *arguments: pool.submit(function, *arguments).result()


def in_own_process(function: Callable[..., T], *arguments: Any) -> T:
    """Call a function in a fresh process."""
    with own_process() as call:
        result: T = call(function, *arguments)
        return result


def seconds(work: Callable[[], object]) -> float:
    """Return the time of one run [s]."""
    start = perf_counter()
    work()
    return perf_counter() - start


def best_of(times: int, work: Callable[[], object]) -> float:
    """Return the shortest time of several runs [s]."""
    return min(seconds(work) for _ in range(times))


def best_in_turns(
    runs: Mapping[str, Callable[[], float]], first: Mapping[str, float], rounds: int
) -> dict[str, float]:
    """Return the shortest time of each, run alternately, so that other load affects all of them [s]."""
    times = {name: [first[name]] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            if sum(times[name]) < PATIENCE:
                times[name].append(run())
    return {name: min(found) for name, found in times.items()}


def with_peak_memory(work: Callable[[], T]) -> tuple[T, float]:
    """Run the work and return its result and its peak memory above that of the process before [MB].

    The peak is VmHWM of the Linux kernel, reset before the run, minus VmRSS before the run. It includes
    memory of BLAS and other C code. At least one page; NaN on other systems.
    """
    if not _CLEAR_REFS.exists():
        return work(), float("nan")
    _CLEAR_REFS.write_text("5")
    before = _held("VmRSS")
    result = work()
    return result, max(_held("VmHWM") - before, PAGE_SIZE)


def _held(which: str) -> float:
    (line,) = [line for line in _STATUS.read_text().splitlines() if line.startswith(which)]
    return float(line.split()[1]) * 1024 / 1e6
