"""Parallel work on threads, one per core, each with a single-threaded BLAS and OpenMP."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from threadpoolctl import threadpool_info, threadpool_limits  # type: ignore[import-untyped]

S = TypeVar("S")
T = TypeVar("T")


def each_on_a_core(work: Callable[[S], T], items: Sequence[S]) -> list[T]:
    """Run ``work`` on every item, one core per item, on as many cores as the BLAS may use."""
    cores = min(usable_cores(), len(items)) if len(items) > 1 else 1
    if cores < 2:
        return [work(item) for item in items]
    with threadpool_limits(1), ThreadPoolExecutor(cores, initializer=_limit_openmp) as pool:
        return list(pool.map(work, items))


def _limit_openmp() -> None:
    """Limit OpenMP to one thread in this thread: its limit, unlike that of a BLAS, holds for one thread."""
    threadpool_limits(1, user_api="openmp")


def usable_cores() -> int:
    """Return the number of threads that the BLAS may use."""
    return max((int(pool["num_threads"]) for pool in threadpool_info()), default=1)
