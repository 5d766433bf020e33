"""Whether numba compiles the paper's live estimator, and where the result is cached."""

from __future__ import annotations

import os
import time
import warnings
from dataclasses import dataclass

from occupair.errors import SlowFallbackWarning


@dataclass(frozen=True)
class CompiledCode:
    """The outcome of compiling, or of loading what was compiled before.

    Attributes
    ----------
    works : bool
        Whether compiled code runs.
    seconds : float
        Time to import numba and to compile or load [s].
    from_cache : bool
        Whether the code was loaded from the cache.
    cache : str or None
        The cache folder; None if there is no writable one.
    error : str
        Why it does not work.
    """

    works: bool
    seconds: float
    from_cache: bool = False
    cache: str | None = None
    error: str = ""


def try_compiled_code() -> CompiledCode:
    """Compile the paper's live estimator, or load it from the cache, as its first reading would."""
    began = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", SlowFallbackWarning)
            from occupair.compiler import njit
            from occupair.paper.live_kernel import revise
            from occupair.paper.revised_day import warm_up

            warm_up()
    except Exception as error:  # noqa: BLE001 - whatever numba and LLVM raise is the finding
        return CompiledCode(False, time.perf_counter() - began, error=_one_line(error))
    seconds = time.perf_counter() - began
    if njit is None:  # imported earlier in this process
        return CompiledCode(False, seconds, error="numba cannot be imported")
    statistics = revise.stats
    folder = statistics.cache_path
    usable = folder is not None and os.access(folder, os.W_OK)
    loaded = bool(statistics.cache_hits) and not statistics.cache_misses
    return CompiledCode(True, seconds, loaded, folder if usable else None)


def _one_line(error: Exception) -> str:
    text = str(error).partition(": live estimates")[0]
    return " ".join(text.split()) or type(error).__name__
