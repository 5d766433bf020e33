"""Training and estimating a portfolio of simulated offices: run by ``make fleet``.

    python -m tools.fleet [--rooms 2000] [--days 5] [--interval 15] [--workers 2] [--years 8]

Rooms are offices with 4 to 35 seats, each with people and habits of its own. They are trained on worker
processes and on a local Dask cluster, and the models are compared byte by byte. The bare time is that of
``OccupancyEstimator.fit`` alone for a tenth of the rooms, on as many processes at once, before and after. The
overhead compares the time of all workers with the bare time of all rooms: reading, hashing, checking and
writing, the start of the portfolio, start-up and idle workers. Then offices with a year of readings every
minute are estimated.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from rich.progress import Progress
from threadpoolctl import threadpool_limits

import occupair as oc
from occupair.benchmark.score_tables import Table, markdown
from occupair.elm.cores import usable_cores
from occupair.fleet.apply_fleet import estimate_fleet
from occupair.fleet.executors import dask_cluster, local_workers
from occupair.fleet.fit_fleet import fit_fleet
from occupair.fleet.fleet_run import FleetRun
from occupair.progress import quietly
from occupair.readings.files import write_readings

MOST_SEATS = 35
WEEKDAYS_A_YEAR = 261


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rooms", type=int, default=2000)
    parser.add_argument("--days", type=int, default=5)
    parser.add_argument("--interval", type=int, default=15, help="[min]")
    parser.add_argument("--workers", type=int, default=usable_cores())
    parser.add_argument("--years", type=int, default=8, help="rooms with a year of readings to estimate")
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="occupair-fleet-"))
    try:
        run(given, folder)
    finally:
        shutil.rmtree(folder)


def run(given: argparse.Namespace, folder: Path) -> None:
    data = folder / "data"
    simulate = partial(write_room, data, days=given.days, interval=given.interval)
    for _ in each(simulate, range(given.rooms), given.workers, "simulating"):
        pass
    sample = sorted(data.glob("*/*.parquet"))[:: 10 if given.rooms >= 100 else 1]
    before = list(each(bare_fit, sample, given.workers, "bare fits"))
    rows = []
    with local_workers(given.workers) as pool:
        processes = timed_fit(data, folder / "processes", pool, "worker processes")
    with local_dask(folder, given.workers) as pool:
        dask = timed_fit(data, folder / "dask", pool, "Dask cluster")
    after = list(each(bare_fit, sample, given.workers, "bare fits"))
    bare = float(np.mean(before + after))
    for name, one in (("worker processes", processes), ("Dask cluster", dask)):
        spent = one.seconds * given.workers / given.rooms
        rows.append(
            [
                name,
                f"{given.rooms:,}",
                f"{60 * given.rooms / one.seconds:.0f}",
                f"{spent:.2f} s",
                f"{bare:.2f} s",
                f"{100 * (spent / bare - 1):.0f} %",
                f"{max(one.megabytes.values()):.0f} MB",
                f"{one.n_failed}",
            ]
        )
    columns = [
        "executor",
        "rooms",
        "rooms/min",
        "worker time per room",
        "bare fit",
        "overhead",
        "memory",
        "failed",
    ]
    print(f"{given.workers} workers; rooms of {given.days} days with a reading every {given.interval} min\n")
    print(markdown(Table(columns, rows)))
    same = sum(
        content == models(folder / "dask")[name] for name, content in models(folder / "processes").items()
    )
    print(f"\nModels that are the same byte for byte: {same:,} of {len(models(folder / 'processes')):,}.")
    again = timed_fit(data, folder / "processes", None, "second run")
    print(f"Second run, nothing changed: {again.seconds:.0f} s, {again.n_unchanged:,} rooms unchanged.")
    if given.years:
        estimate_years(given, folder)


def estimate_years(given: argparse.Namespace, folder: Path) -> None:
    data, fitted = folder / "years", folder / "processes/rooms"
    days = partial(write_room, data, days=WEEKDAYS_A_YEAR, interval=1)
    for _ in each(days, range(given.years), given.workers, "simulating years"):
        pass
    fit_data = folder / "minutes"
    for _ in each(
        partial(write_room, fit_data, days=5, interval=1), range(given.years), given.workers, "weeks"
    ):
        pass
    fit_fleet(fit_data, folder / "minute-models", workers=given.workers)
    assert fitted.exists()
    run = estimate_fleet(
        data, folder / "minute-models", folder / "people", interval=0.9, workers=given.workers
    )
    n = sum(result.estimates for result in run.results)
    size = sum(path.stat().st_size for path in (folder / "people").glob("*/*.parquet")) / given.years / 1e6
    print(
        f"\nA year of minutes ({n // given.years:,} readings), {given.years} rooms with intervals: "
        f"{given.years / run.seconds:.2f} rooms/s, {n / run.seconds:,.0f} estimates/s, "
        f"{max(run.megabytes.values()):.0f} MB per worker, {size:.1f} MB of Parquet per room."
    )


def write_room(folder: Path, number: int, *, days: int, interval: int) -> None:
    """Write an office with seats and habits of its own."""
    seats = int(np.random.default_rng([17, number]).integers(4, MOST_SEATS + 1))
    path = folder / f"room=office {number:05d}" / "readings.parquet"
    path.parent.mkdir(parents=True)
    write_readings(oc.simulate_office(days=days, seed=number, seats=seats).iloc[::interval], path)


def bare_fit(path: Path) -> float:
    """Return the time of training alone [s]."""
    readings = oc.read_readings(path)
    with quietly(), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        began = time.perf_counter()
        oc.OccupancyEstimator(random_state=0).fit(readings)
    return time.perf_counter() - began


def each(work, items, workers: int, what: str) -> Iterator:
    """Yield results of single-threaded processes, with a progress bar."""
    with (
        ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_one_thread) as pool,
        Progress(transient=True) as bar,
    ):
        yield from bar.track(pool.map(work, items, chunksize=4), total=len(items), description=what)


def _one_thread() -> None:
    threadpool_limits(1)


def timed_fit(data: Path, out: Path, executor: Executor | None, what: str) -> FleetRun:
    with Progress(transient=True) as bar:
        task = bar.add_task(what, total=None)
        return fit_fleet(
            data,
            out,
            executor=executor,
            on_progress=lambda _, n, failed, all_: bar.update(task, completed=n, total=all_),
        )


@contextmanager
def local_dask(folder: Path, workers: int) -> Iterator[Executor]:
    from distributed import LocalCluster

    options = {"dashboard_address": None, "local_directory": str(folder), "host": "127.0.0.1"}
    with (
        LocalCluster(n_workers=workers, threads_per_worker=1, processes=True, **options) as cluster,
        dask_cluster(cluster.scheduler_address) as executor,
    ):
        yield executor


def models(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (folder / "rooms").glob("*.occupair")}


if __name__ == "__main__":
    main()
