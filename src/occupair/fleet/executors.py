"""Where a portfolio runs: worker processes on this machine, or an existing Dask cluster."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

from occupair._version import __version__
from occupair.elm.cores import usable_cores
from occupair.errors import InputError
from occupair.fleet.worker_processes import WorkerProcesses

CONNECT_TIMEOUT = 15
"""How long to wait for the scheduler [s]."""
WORKERS_TIMEOUT = 60
"""How long to wait for the first worker of a cluster [s]."""


@contextmanager
def local_workers(workers: int | None = None) -> Iterator[Executor]:
    """Yield an executor with worker processes on this machine, one per core by default."""
    pool = WorkerProcesses(workers or usable_cores())
    try:
        yield pool
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    pool.shutdown()


@contextmanager
def dask_cluster(address: str) -> Iterator[Executor]:
    """Yield an executor on a Dask cluster.

    Parameters
    ----------
    address : str
        Address of its scheduler, such as ``tcp://scheduler:8786``.

    Raises
    ------
    InputError
        If there is no scheduler or no worker, or the workers have another version of occupair or none.
    """
    if find_spec("distributed") is None:
        raise InputError("--scheduler needs packages that are not installed: pip install 'occupair[fleet]'")
    import distributed

    _silence_dask()
    connect: Any = distributed.Client  # untyped
    try:
        client = connect(address, timeout=CONNECT_TIMEOUT, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise InputError(f"--scheduler {address}: no Dask scheduler there: {error}") from None
    with client:
        try:
            client.wait_for_workers(1, timeout=WORKERS_TIMEOUT)
        except TimeoutError:
            raise InputError(f"--scheduler {address}: the cluster has no workers") from None
        _check_versions(client.run(installed_version, on_error="return"), address)
        executor = client.get_executor(pure=False)
        yield executor
        executor.shutdown(wait=False)


def _silence_dask() -> None:
    """Turn off the log of Dask in this process: a lost cluster is reported in one line, not in tracebacks."""
    for name in list(logging.root.manager.loggerDict):
        if name.split(".")[0] in ("distributed", "tornado"):
            logging.getLogger(name).setLevel(logging.CRITICAL)


def installed_version() -> str:
    """Return the version of occupair on a worker."""
    return __version__


def _check_versions(found: dict[str, object], address: str) -> None:
    ours = installed_version()
    for worker, theirs in found.items():
        if theirs != ours:
            has = f"occupair {theirs}" if isinstance(theirs, str) else "no occupair"
            raise InputError(
                f"--scheduler {address}: worker {worker} has {has}, this machine has occupair {ours}:"
                " install the same version everywhere"
            )
