"""The whole benchmark: what is kept is read, what is missing is run, and all of it is scored."""

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
from occupair.benchmark.run_cache import Cache, key_of, readings_digest
from occupair.errors import InputError
from occupair.folds import split_days
from occupair.progress import quietly, track
from occupair.readings.schema import check_readings
from occupair.room.lags import LAGS


@dataclass(frozen=True, order=True)
class Place:
    """Where a run belongs."""

    room: str
    method: str
    fold: int
    lag: float


@dataclass(frozen=True)
class Task:
    """Runs that are done together: one training, or several where each lag needs its own."""

    name: str
    method: Method
    fold: Fold
    places: list[Place]


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
        Readings with head counts, by the name of the room.
    methods : mapping
        What to compare, by name; one that looks ahead is refused.
    lags : sequence of float
        Minutes that an estimate may wait for later readings [min].
    cache : Cache, optional
        Where runs are kept.
    jobs : int
        Processes to run in.

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
        raise InputError("rooms, methods and lags must hold at least one each")
    if jobs < 1:
        raise InputError(f"jobs must be 1 or more, got {jobs}")
    cache = cache or Cache(None)
    rooms = {name: _checked(name, readings) for name, readings in rooms.items()}
    lags = list(dict.fromkeys(float(lag) for lag in lags))
    folds = {name: split_days(readings) for name, readings in rooms.items()}
    keys = _keys(rooms, folds, methods, lags)
    runs = _kept(cache, keys, folds)
    tasks = _tasks([place for place in keys if place not in runs], methods, folds)
    _refuse_look_ahead(tasks, methods, lags)
    for place, run in _done(tasks, jobs):
        cache.put(keys[place], run)
        runs[place] = run
    collected = {name: RoomRuns(rooms[name], folds[name], _by_pair(runs, keys, name)) for name in rooms}
    return summarise(collected, [name for name, method in methods.items() if method.is_baseline])


def _checked(name: str, readings: pd.DataFrame) -> pd.DataFrame:
    readings = check_readings(readings, needed=("co2", "occupancy"), source=name)
    if readings["occupancy"].nunique() < 2:
        raise InputError(f"{name}: the head count never changes, there is nothing to estimate")
    return readings


def _keys(
    rooms: Mapping[str, pd.DataFrame],
    folds: Mapping[str, list[Fold]],
    methods: Mapping[str, Method],
    lags: Sequence[float],
) -> dict[Place, str | None]:
    """Keys of all runs, in the order they are run and shown."""
    digests = {room: readings_digest(readings) for room, readings in rooms.items()}
    return {
        Place(room, name, fold, lag): key_of(
            digests[room], name, method, fold=(fold, len(folds[room])), lag=lag
        )
        for room in rooms
        for name, method in methods.items()
        for fold in range(len(folds[room]))
        for lag in lags
    }


def _kept(
    cache: Cache, keys: Mapping[Place, str | None], folds: Mapping[str, list[Fold]]
) -> dict[Place, Run]:
    """Read the runs that are kept; one that does not fit its fold counts as broken."""
    found = {place: cache.get(key) for place, key in keys.items()}
    return {
        place: run
        for place, run in found.items()
        if run is not None and run.people.size == len(folds[place.room][place.fold][1])
    }


def _tasks(
    missing: Sequence[Place], methods: Mapping[str, Method], folds: Mapping[str, list[Fold]]
) -> list[Task]:
    groups: dict[tuple[object, ...], list[Place]] = {}
    for place in missing:
        alone = () if methods[place.method].one_fit else (place.lag,)
        groups.setdefault((place.room, place.method, place.fold, *alone), []).append(place)
    return [
        Task(f"{first.method} in {first.room}", methods[first.method], folds[first.room][first.fold], places)
        for places in groups.values()
        for first in places[:1]
    ]


def _refuse_look_ahead(tasks: Sequence[Task], methods: Mapping[str, Method], lags: Sequence[float]) -> None:
    """Examine the methods that are about to run; what is kept has been examined before."""
    names = dict.fromkeys(task.places[0].method for task in tasks)
    check_look_ahead({name: methods[name] for name in names}, lags)


def _done(tasks: Sequence[Task], jobs: int) -> Iterator[tuple[Place, Run]]:
    with _starting(tasks, jobs) as results:
        for result in track(results, "benchmarking", show=None):
            yield from result().items()


@contextmanager
def _starting(tasks: Sequence[Task], jobs: int) -> Iterator[list[Callable[[], dict[Place, Run]]]]:
    """Give functions that wait for the result of each task."""
    if jobs == 1 or len(tasks) < 2:
        yield [lambda task=task: _do(task) for task in tasks]  # type: ignore[misc]
        return
    pool = ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), initializer=_one_thread)
    try:
        yield [pool.submit(_do, task).result for task in tasks]
    finally:
        pool.shutdown(cancel_futures=True)


def _one_thread() -> None:
    """Keep the processes from fighting for the cores: each computes on one."""
    threadpool_limits(1)


def _do(task: Task) -> dict[Place, Run]:
    train, test = task.fold
    try:
        with quietly():
            runs = run_fold(task.method, train, test, [place.lag for place in task.places])
    except InputError as error:
        raise InputError(f"{task.name}: {error}") from None
    return {place: runs[place.lag] for place in task.places}


def _by_pair(
    runs: Mapping[Place, Run], places: Mapping[Place, str | None], room: str
) -> dict[tuple[str, float], list[Run]]:
    """Pick the runs of a room by method and lag, each in the order of the folds."""
    found: dict[tuple[str, float], list[Run]] = {}
    for place in places:
        if place.room == room:
            found.setdefault((place.method, place.lag), []).append(runs[place])
    return found
