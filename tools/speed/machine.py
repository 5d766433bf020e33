"""What the figures were measured on: kind of machine and versions, nothing that tells whose it is."""

from __future__ import annotations

import os
import platform
import tomllib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
import scipy.linalg  # noqa: F401  # so that its BLAS is loaded and can be asked
from threadpoolctl import threadpool_info  # type: ignore[import-untyped]

from tools.speed.contenders import PEERS
from tools.speed.words import Table

PACKAGES = ("numpy", "scipy", "scikit-learn", "pandas", "numba")
NOT_HERE = "not installed"


def machine_table(busy: float) -> Table:
    """Say what it ran on, and how busy that was before."""
    cores = len(os.sched_getaffinity(0))
    rows = [
        ["processor", processor()],
        ["cores", str(cores)],
        ["memory", f"{memory():.0f} GB"],
        ["system", f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"],
        ["BLAS", "; ".join(blas())],
        ["load before this run", f"{busy:.1f} of {cores} cores"],
    ]
    rows += [["occupair", ours()], *([name, version_of(name)] for name in (*PACKAGES, *PEERS))]
    return Table(["", "what it ran on"], rows)


def processor() -> str:
    """Name the processor, as well as the system tells it."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    family = [line.split(":", 1)[1].strip() for line in lines if line.split(":")[0].strip() == "model"]
    return f"{names[0]} (model {family[0]})" if names and family else platform.machine()


def memory() -> float:
    """Memory of the machine [GB]."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9


def blas() -> list[str]:
    """Name the BLAS libraries of numpy and scipy."""
    np.ones((2, 2)) @ np.ones((2, 2))
    pools = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
    return sorted(
        {
            f"{pool['internal_api']} {pool['version']}, {pool['architecture']}, {pool['num_threads']} threads"
            for pool in pools
        }
    )


def ours() -> str:
    """Version of this checkout, which need not be installed to be measured."""
    project = Path(__file__).parents[2] / "pyproject.toml"
    return str(tomllib.loads(project.read_text())["project"]["version"])


def version_of(package: str) -> str:
    """Version of an installed package."""
    try:
        return version(package)
    except PackageNotFoundError:
        return NOT_HERE
