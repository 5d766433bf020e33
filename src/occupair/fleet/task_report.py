"""What a task returns: a result per room, and which worker did it with how much memory."""

from __future__ import annotations

import ctypes
import math
import os
import platform
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

R = TypeVar("R")

MMAP_THRESHOLD = 32 << 20
"""Size from which on arrays are mapped, not allocated from the heap [bytes]."""
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3  # of malloc.h


@dataclass(frozen=True)
class TaskReport(Generic[R]):
    """The results of a task.

    Parameters
    ----------
    results : tuple
        One per room.
    n_unchanged : int
        Number of results of an earlier run among them.
    worker : str
        Machine and process.
    megabytes : float
        Peak memory of the process so far [MB].
    """

    results: tuple[R, ...]
    n_unchanged: int
    worker: str
    megabytes: float


def report(results: Iterable[tuple[R, bool]]) -> TaskReport[R]:
    """Do the work of a task, pairs of a result and whether it is new, with one thread, and return its report.

    With one thread for linear algebra, processes do not compete for cores, and models are the same bit for
    bit whatever the number of cores.
    """
    threadpool_limits(1)
    _reuse_freed_memory()
    done = list(results)
    n_unchanged = sum(not is_new for _, is_new in done)
    return TaskReport(
        tuple(result for result, _ in done), n_unchanged, f"{platform.node()}:{os.getpid()}", peak_memory()
    )


def _reuse_freed_memory() -> None:
    """Let glibc reuse the memory of freed arrays, as it does unless ``MALLOC_TRIM_THRESHOLD_`` is set.

    Dask sets this variable for its workers. Every array of 128 kB or more is then mapped anew, which makes
    training up to 1.7 times slower. The thresholds are those up to which glibc would adapt by itself.
    """
    if sys.platform == "linux" and "MALLOC_TRIM_THRESHOLD_" in os.environ:
        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # other C libraries do not have it
        if mallopt is not None:
            mallopt(_M_MMAP_THRESHOLD, MMAP_THRESHOLD)
            mallopt(_M_TRIM_THRESHOLD, 2 * MMAP_THRESHOLD)


def peak_memory() -> float:
    """Return the peak memory of this process [MB]; NaN on Windows."""
    if sys.platform == "win32":
        return math.nan
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1e6 if sys.platform == "darwin" else peak * 1024 / 1e6
