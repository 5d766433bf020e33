"""Python, platform, cores, BLAS libraries and time zones of this machine."""

from __future__ import annotations

import os
import platform
import sys
import zoneinfo
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

SAMPLE_ZONE = "Europe/Copenhagen"


def describe_python() -> dict[str, str]:
    """Return the version of Python, its location, and the platform."""
    return {
        "version": platform.python_version(),
        "implementation": platform.python_implementation(),
        "executable": sys.executable,
        "platform": platform.platform(),
    }


def count_cores() -> dict[str, int]:
    """Return the cores that this process may use, and those of the machine."""
    total = os.cpu_count() or 1
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else total
    return {"usable": usable, "total": total}


def blas_libraries() -> list[dict[str, Any]]:
    """Return the libraries for linear algebra that numpy and scipy load, with their threads.

    Raises
    ------
    ImportError
        If numpy, scipy or threadpoolctl cannot be imported.
    """
    for name in ("numpy", "scipy.linalg"):
        import_module(name)
    from threadpoolctl import threadpool_info  # type: ignore[import-untyped]

    return [
        {
            "library": str(pool["internal_api"]),
            "version": str(pool.get("version") or "unknown"),
            "threads": int(pool["num_threads"]),
            "path": str(pool["filepath"]),
        }
        for pool in threadpool_info()
        if pool["user_api"] == "blas"
    ]


def time_zone_source() -> str | None:
    """Return where time zones come from: a folder of the system or the package tzdata; None if nowhere."""
    for folder in zoneinfo.TZPATH:
        if (Path(folder) / SAMPLE_ZONE).is_file():
            return folder
    try:
        zoneinfo.ZoneInfo.no_cache(SAMPLE_ZONE)
        return f"package tzdata {metadata.version('tzdata')}"
    except (zoneinfo.ZoneInfoNotFoundError, metadata.PackageNotFoundError):
        return None
