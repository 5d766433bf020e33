"""What a task returns: a result per room, and which worker did it with how much memory."""

from __future__ import annotations

import math
import os
import platform
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

R = TypeVar("R")


@dataclass(frozen=True)
class TaskReport(Generic[R]):
    """The results of a task.

    Parameters
    ----------
    results : tuple
        One per room.
    worker : str
        Machine and process.
    megabytes : float
        Peak memory of the process so far [MB].
    """

    results: tuple[R, ...]
    worker: str
    megabytes: float


def report(results: Iterable[R]) -> TaskReport[R]:
    """Do the work of a task with one thread, and return its report.

    With one thread for linear algebra, processes do not compete for cores, and models are the same bit for
    bit whatever the number of cores.
    """
    threadpool_limits(1)
    done = tuple(results)
    return TaskReport(done, f"{platform.node()}:{os.getpid()}", peak_memory())


def peak_memory() -> float:
    """Return the peak memory of this process [MB]; NaN on Windows."""
    if sys.platform == "win32":
        return math.nan
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1e6 if sys.platform == "darwin" else peak * 1024 / 1e6
