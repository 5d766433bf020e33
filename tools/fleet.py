"""Training and estimating a portfolio of simulated offices: run by ``make fleet``.

    python -m tools.fleet [--rooms 2000] [--days 5] [--interval 15] [--workers 2] [--years 8]

Rooms are offices with 4 to 35 seats, each with people and habits of its own. They are trained on worker
processes and on a local Dask cluster, and the models are compared byte by byte. The bare fit is
``OccupancyEstimator.fit`` alone for a tenth of the rooms, on as many processes at once, before and after. The
overhead compares the CPU time of all processes, which other programs on the machine hardly affect, with that
of bare fits of all rooms: start-up, reading, hashing, checking and writing, and the start of the portfolio.
Then offices with a year of readings every minute are estimated, and what portfolios of 100 to 1,000,000 rooms
need is calculated from that.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.progress import Progress
from threadpoolctl import threadpool_limits

import occupair as oc
from occupair.elm.cores import usable_cores
from occupair.fleet.executors import dask_cluster, local_workers
from occupair.fleet.fleet_run import FleetRun
from occupair.fleet.model_runs import estimate_fleet
from occupair.fleet.training_run import fit_fleet
from occupair.progress import quietly
from occupair.readings.files import write_readings
from occupair.report.text_table import Table, markdown

MOST_SEATS = 35
WEEKDAYS_A_YEAR, MINUTES_A_YEAR = 261, 525_600


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
    write_rooms(data, given.rooms, given, days=given.days, interval=given.interval)
    sample = sorted(data.glob("*/*.parquet"))[:: 10 if given.rooms >= 100 else 1]
    before = each(bare_fit, sample, given.workers, "bare fits")
    processes = timed_fit(data, folder / "processes", local_workers(given.workers), "worker processes")
    dask = timed_fit(data, folder / "dask", local_dask(folder, given.workers), "Dask cluster")
    bare = float(np.mean(before + each(bare_fit, sample, given.workers, "bare fits")))
    rows = [row(name, one, bare, given) for name, one in (("processes", processes), ("Dask", dask))]
    print(f"{given.workers} workers; rooms of {given.days} days with a reading every {given.interval} min\n")
    print(markdown(Table(list(HEADS), rows)))
    ours, theirs = models(folder / "processes"), models(folder / "dask")
    same = sum(content == theirs.get(name) for name, content in ours.items())
    print(f"\nModels that are the same byte for byte: {same:,} of {len(ours):,}.")
    again = timed_fit(data, folder / "processes", local_workers(given.workers), "second run").run
    print(f"Second run, nothing changed: {again.seconds:.0f} s, {again.n_unchanged:,} rooms unchanged.")
    if given.years:
        print_sizes(given, folder)


HEADS = ("executor", "rooms", "rooms/min", "CPU per room", "bare fit", "overhead", "memory", "failed")


def row(name: str, one: TimedRun, bare: float, given: argparse.Namespace) -> list[str]:
    spent = one.cpu / given.rooms
    return [
        name,
        f"{given.rooms:,}",
        f"{60 * given.rooms / one.run.seconds:.0f}",
        f"{spent:.2f} s",
        f"{bare:.2f} s",
        f"{100 * (spent / bare - 1):.0f} %",
        f"{max(one.run.megabytes.values()):.0f} MB",
        f"{one.run.n_failed}",
    ]


def print_sizes(given: argparse.Namespace, folder: Path) -> None:
    """Train rooms on four weeks of minutes, estimate a year of them, and print what portfolios need."""
    write_rooms(folder / "weeks", given.years, given, days=20, interval=1)
    write_rooms(folder / "years", given.years, given, days=WEEKDAYS_A_YEAR, interval=1)
    fitted = fit_fleet(folder / "weeks", folder / "minute-models", workers=given.workers)
    run = estimate_fleet(
        folder / "years", folder / "minute-models", folder / "people", interval=0.9, workers=given.workers
    )
    n = sum(result.estimates for result in run.results)
    print(
        f"\nFour weeks of minutes: {fitted.seconds * given.workers / given.years:.1f} s of a core per room, "
        f"{max(fitted.megabytes.values()):.0f} MB per worker. A year of minutes with prediction intervals: "
        f"{given.years / run.seconds:.2f} rooms/s, {n / run.seconds:,.0f} estimates/s, "
        f"{max(run.megabytes.values()):.0f} MB per worker.\n"
    )
    training = np.mean([result.seconds for result in fitted.results]) / 3600
    estimating = np.mean([result.seconds for result in run.results]) / n * given.years * MINUTES_A_YEAR / 3600
    scale = MINUTES_A_YEAR / (n / given.years)
    read, written = (total_size(folder / name) / given.years * scale for name in ("years", "people"))
    model = total_size(folder / "minute-models/rooms", ".occupair") / given.years
    heads = ["rooms", "training", "year of estimates", "year of readings", "models", "estimates"]
    sizes = [
        [
            f"{rooms:,}",
            f"{rooms * training:,.1f} core-hours",
            f"{rooms * estimating:,.1f} core-hours",
            f"{rooms * read / 1e9:,.1f} GB",
            f"{rooms * model / 1e9:,.2f} GB",
            f"{rooms * written / 1e9:,.1f} GB",
        ]
        for rooms in (100, 10_000, 1_000_000)
    ]
    print(markdown(Table(heads, sizes)))


def total_size(folder: Path, suffix: str = "") -> int:
    return sum(path.stat().st_size for path in folder.rglob(f"*{suffix}") if path.is_file())


def write_rooms(folder: Path, n_rooms: int, given: argparse.Namespace, *, days: int, interval: int) -> None:
    write = partial(write_room, folder, days=days, interval=interval)
    each(write, range(n_rooms), given.workers, "simulating")


def write_room(folder: Path, number: int, *, days: int, interval: int) -> None:
    """Write an office with seats and habits of its own."""
    seats = int(np.random.default_rng([17, number]).integers(4, MOST_SEATS + 1))
    path = folder / f"room=office {number:05d}" / "readings.parquet"
    path.parent.mkdir(parents=True)
    write_readings(oc.simulate_office(days=days, seed=number, seats=seats).iloc[::interval], path)


def bare_fit(path: Path) -> float:
    """Return the CPU time of training alone [s]."""
    readings = oc.read_readings(path)
    with quietly(), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        began = time.process_time()
        oc.OccupancyEstimator(random_state=0).fit(readings)
    return time.process_time() - began


def each(work: Callable[[Any], Any], items: Sequence[Any], workers: int, what: str) -> list[Any]:
    """Return the results of single-threaded processes, with a progress bar."""
    with (
        ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_one_thread) as pool,
        Progress(transient=True) as bar,
    ):
        return list(bar.track(pool.map(work, items, chunksize=4), total=len(items), description=what))


def _one_thread() -> None:
    """Limit a process to one thread, and train once, since the first training also loads modules."""
    threadpool_limits(1)
    with quietly():
        oc.OccupancyEstimator(n_hidden=9, random_state=0).fit(oc.simulate_office(days=2).iloc[::30])


class TimedRun(NamedTuple):
    """A run, and the CPU time of all its processes [s]."""

    run: FleetRun
    cpu: float


def timed_fit(data: Path, out: Path, workers: AbstractContextManager[Executor], what: str) -> TimedRun:
    before = cpu_time()
    with workers as executor, Progress(transient=True) as bar:
        task = bar.add_task(what, total=None)

        def show(_: str, done: int, failed: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        run = fit_fleet(data, out, executor=executor, on_progress=show)
    return TimedRun(run, cpu_time() - before)


def cpu_time() -> float:
    """Return the CPU time of this process and of those that it has started and that have ended [s]."""
    of_each = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in of_each)


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
