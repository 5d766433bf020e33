"""Hardware and software versions of the benchmark machine, without anything that identifies it."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
import scipy.linalg  # noqa: F401  # loads its BLAS, so that threadpoolctl finds it
from threadpoolctl import threadpool_info  # type: ignore[import-untyped]

from occupair import __version__
from tools.speed.contenders import PEERS
from tools.speed.formatting import Table

PACKAGES = ("numpy", "scipy", "scikit-learn", "pandas", "numba")
NOT_HERE = "not installed"


def system_table(load: float) -> Table:
    """Return hardware, versions and the load before the run as a table."""
    cores = len(os.sched_getaffinity(0))
    rows = [
        ["processor", processor()],
        ["cores", str(cores)],
        ["memory", f"{memory():.0f} GB"],
        ["system", f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"],
        ["BLAS", "; ".join(blas())],
        ["load average before the run", f"{load:.1f} on {cores} cores"],
    ]
    rows += [["occupair", __version__], *([name, version_of(name)] for name in (*PACKAGES, *PEERS))]
    return Table(["", "value"], rows)


def processor() -> str:
    """Return the name of the processor."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    family = [line.split(":", 1)[1].strip() for line in lines if line.split(":")[0].strip() == "model"]
    return f"{names[0]} (model {family[0]})" if names and family else platform.machine()


def memory() -> float:
    """Return the installed memory [GB]."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9


def blas() -> list[str]:
    """Return the BLAS libraries of numpy and scipy."""
    np.ones((2, 2)) @ np.ones((2, 2))
    pools = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
    return sorted(
        {
            f"{pool['internal_api']} {pool['version']}, {pool['architecture']}, {pool['num_threads']} threads"
            for pool in pools
        }
    )


def version_of(package: str) -> str:
    """Return the version of an installed package."""
    try:
        return version(package)
    except PackageNotFoundError:
        return NOT_HERE
