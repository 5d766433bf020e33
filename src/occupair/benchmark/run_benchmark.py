"""The benchmark on any rooms: reads cached runs, computes missing ones and scores all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context

import pandas as pd
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from occupair.benchmark.fold_run import Run, run_fold
from occupair.benchmark.lookahead import check_look_ahead
from occupair.benchmark.methods import Method
from occupair.benchmark.result import BenchmarkResult, Fold, RoomRuns, summarise
from occupair.benchmark.run_cache import Cache, cache_key, readings_digest
from occupair.errors import InputError
from occupair.folds import split_days
from occupair.progress import quietly, track
from occupair.readings.schema import check_readings
from occupair.room.lags import LAGS


@dataclass(frozen=True, order=True)
class RunId:
    """Room, method, fold and lag [min] of a run."""

    room: str
    method: str
    fold: int
    lag: float


@dataclass(frozen=True)
class Task:
    """Runs that share one training, or one run if the method is trained for each lag."""

    name: str
    method: Method
    fold: Fold
    run_ids: list[RunId]


def run_benchmark(
    rooms: Mapping[str, pd.DataFrame],
    methods: Mapping[str, Method],
    lags: Sequence[float] = LAGS,
    *,
    cache: Cache | None = None,
    jobs: int = 1,
) -> BenchmarkResult:
    """Run every method in every room, on the same day-wise folds.

    Parameters
    ----------
    rooms : mapping
        Labelled readings by room name.
    methods : mapping
        Methods by name; a method that looks ahead is refused.
    lags : sequence of float
        Lags of the estimates: how long each may wait for later readings [min].
    cache : Cache, optional
        Cache of runs; default: none.
    jobs : int
        Number of parallel processes.

    Examples
    --------
    >>> import occupair as oc
    >>> from occupair.baselines import MeanBaseline, ProfileBaseline
    >>> methods = {"mean": Method(MeanBaseline, is_baseline=True), "profile": Method(ProfileBaseline)}
    >>> result = run_benchmark({"office": oc.simulate_office(days=3).iloc[::5]}, methods, [0])
    >>> result.methods, float(result.averages.loc[("mean", 0), "nrmse"])
    (['profile', 'mean'], 1.0)
    """
    if not rooms or not methods or not lags:
        raise InputError("rooms, methods and lags must not be empty")
    if jobs < 1:
        raise InputError(f"jobs must be 1 or more, got {jobs}")
    cache = cache or Cache(None)
    rooms = {name: _checked(name, readings) for name, readings in rooms.items()}
    lags = list(dict.fromkeys(float(lag) for lag in lags))
    folds = {name: split_days(readings) for name, readings in rooms.items()}
    own = {(room, name): method.for_room(room) for room in rooms for name, method in methods.items()}
    keys = _keys(rooms, folds, own, lags)
    runs = _cached(cache, keys, folds)
    tasks = _tasks([run_id for run_id in keys if run_id not in runs], own, folds)
    _refuse_look_ahead(tasks, methods, lags)
    for run_id, run in _computed(tasks, jobs):
        cache.put(keys[run_id], run)
        runs[run_id] = run
    collected = {name: RoomRuns(rooms[name], folds[name], _by_pair(runs, keys, name)) for name in rooms}
    return summarise(collected, [name for name, method in methods.items() if method.is_baseline])


def _checked(name: str, readings: pd.DataFrame) -> pd.DataFrame:
    readings = check_readings(readings, needed=("co2", "occupancy"), source=name)
    if readings["occupancy"].nunique() < 2:
        raise InputError(f"{name}: all head counts are equal, there is nothing to estimate")
    return readings


def _keys(
    rooms: Mapping[str, pd.DataFrame],
    folds: Mapping[str, list[Fold]],
    methods: Mapping[tuple[str, str], Method],
    lags: Sequence[float],
) -> dict[RunId, str | None]:
    """Return the cache keys of all runs, in the order of execution and output."""
    digests = {room: readings_digest(readings) for room, readings in rooms.items()}
    return {
        RunId(room, name, fold, lag): cache_key(
            digests[room], name, method, fold=(fold, len(folds[room])), lag=lag
        )
        for (room, name), method in methods.items()
        for fold in range(len(folds[room]))
        for lag in lags
    }


def _cached(
    cache: Cache, keys: Mapping[RunId, str | None], folds: Mapping[str, list[Fold]]
) -> dict[RunId, Run]:
    """Read the cached runs; a run of the wrong length counts as damaged."""
    found = {run_id: cache.get(key) for run_id, key in keys.items()}
    return {
        run_id: run
        for run_id, run in found.items()
        if run is not None and run.people.size == len(folds[run_id.room][run_id.fold][1])
    }


def _tasks(
    missing: Sequence[RunId], methods: Mapping[tuple[str, str], Method], folds: Mapping[str, list[Fold]]
) -> list[Task]:
    groups: dict[tuple[object, ...], list[RunId]] = {}
    for run_id in missing:
        alone = () if methods[run_id.room, run_id.method].one_fit else (run_id.lag,)
        groups.setdefault((run_id.room, run_id.method, run_id.fold, *alone), []).append(run_id)
    return [
        Task(
            f"{first.method} in {first.room}",
            methods[first.room, first.method],
            folds[first.room][first.fold],
            run_ids,
        )
        for run_ids in groups.values()
        for first in run_ids[:1]
    ]


def _refuse_look_ahead(tasks: Sequence[Task], methods: Mapping[str, Method], lags: Sequence[float]) -> None:
    """Check the methods about to run for look-ahead; cached methods were checked before."""
    names = dict.fromkeys(task.run_ids[0].method for task in tasks)
    check_look_ahead({name: methods[name] for name in names}, lags)


def _computed(tasks: Sequence[Task], jobs: int) -> Iterator[tuple[RunId, Run]]:
    with _starting(tasks, jobs) as results:
        for result in track(results, "benchmarking", show=None):
            yield from result().items()


@contextmanager
def _starting(tasks: Sequence[Task], jobs: int) -> Iterator[list[Callable[[], dict[RunId, Run]]]]:
    """Return functions that wait for the result of each task."""
    if jobs == 1 or len(tasks) < 2:
        yield [lambda task=task: _do(task) for task in tasks]  # type: ignore[misc]
        return
    pool = ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), initializer=_one_thread)
    try:
        yield [pool.submit(_do, task).result for task in tasks]
    finally:
        pool.shutdown(cancel_futures=True)


def _one_thread() -> None:
    """Limit a worker process to one thread, so that workers do not compete for cores."""
    threadpool_limits(1)


def _do(task: Task) -> dict[RunId, Run]:
    train, test = task.fold
    try:
        with quietly():
            runs = run_fold(task.method, train, test, [run_id.lag for run_id in task.run_ids])
    except InputError as error:
        raise InputError(f"{task.name}: {error}") from None
    return {run_id: runs[run_id.lag] for run_id in task.run_ids}


def _by_pair(
    runs: Mapping[RunId, Run], run_ids: Mapping[RunId, str | None], room: str
) -> dict[tuple[str, float], list[Run]]:
    """Return the runs of a room by method and lag, in the order of the folds."""
    found: dict[tuple[str, float], list[Run]] = {}
    for run_id in run_ids:
        if run_id.room == room:
            found.setdefault((run_id.method, run_id.lag), []).append(runs[run_id])
    return found
