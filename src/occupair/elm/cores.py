"""Parallel work on threads, one per core, each with a single-threaded BLAS and OpenMP."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar

from threadpoolctl import ThreadpoolController, threadpool_info  # type: ignore[import-untyped]

S = TypeVar("S")
T = TypeVar("T")


def each_on_a_core(work: Callable[[S], T], items: Sequence[S]) -> list[T]:
    """Run ``work`` on every item, one core per item, on as many cores as the BLAS may use.

    ``work`` must not be the first to import compiled modules: a thread that loads a library and a thread that
    searches the loaded ones for their limits would wait for each other for ever.
    """
    cores = min(usable_cores(), len(items)) if len(items) > 1 else 1
    if cores < 2:
        return [work(item) for item in items]
    libraries = ThreadpoolController()
    # The limit of OpenMP, unlike that of a BLAS, holds for one thread, so each thread sets its own.
    limit_openmp = partial(libraries.limit, limits=1, user_api="openmp")
    with libraries.limit(limits=1), ThreadPoolExecutor(cores, initializer=limit_openmp) as pool:
        return list(pool.map(work, items))


def usable_cores() -> int:
    """Return the number of threads that the BLAS may use."""
    return max((int(pool["num_threads"]) for pool in threadpool_info()), default=1)
