"""Training of all rooms of a portfolio."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from functools import partial
from pathlib import Path

from occupair.errors import InputError
from occupair.fleet.fit_tasks import FOLDER, RESULT, FitSettings, failed, fit_rooms, result_name
from occupair.fleet.fleet_run import FleetRun, OnProgress, open_executor, run_rooms, write_table
from occupair.fleet.portfolio_start import FILE as START
from occupair.fleet.portfolio_start import digest_of, portfolio_start, sum_rooms
from occupair.fleet.room_options import RoomOptions
from occupair.fleet.room_result import RoomResult, result_from_json, result_to_json, results_table
from occupair.fleet.room_sources import RoomSource, find_rooms
from occupair.fleet.storage import Storage, check_outside
from occupair.fleet.task_runner import TaskRunner

TABLE = "rooms.parquet"
"""Table with one row per room."""


def fit_fleet(
    data: str | Path,
    out: str | Path,
    *,
    executor: Executor | None = None,
    workers: int | None = None,
    options_file: str | Path | None = None,
    defaults: RoomOptions | None = None,
    seed: int = 0,
    share: bool = True,
    renew_start: bool = False,
    only_failed: bool = False,
    on_progress: OnProgress | None = None,
) -> FleetRun[RoomResult]:
    """Train all rooms of a portfolio and write their models and ``rooms.parquet``.

    A room that cannot be trained is a row with its reason. A second run trains only rooms whose data, options
    or version have changed, and rooms whose readings could not be fetched.

    Parameters
    ----------
    data, out : str or path
        Folder, file or URL with the readings, see ``occupair.fleet.room_sources``; and folder or URL for the
        models. Workers on other machines must be able to open both.
    executor : Executor, optional
        Where to train, such as that of a Dask client; default: worker processes on this machine.
    workers : int, optional
        Number of these processes; default: one per core.
    options_file : str or path, optional
        Options of the rooms, see ``occupair.fleet.room_options``; default: ``rooms.toml`` or ``rooms.csv`` in
        ``data``.
    defaults : RoomOptions, optional
        Options of all rooms that the file does not state.
    seed : int
        Random seed.
    share : bool
        Whether rooms start from other rooms of the portfolio, if enough of them have head counts; see
        ``occupair.fleet.portfolio_start``.
    renew_start : bool
        Whether to compute that start again; all rooms are then trained again.
    only_failed : bool
        Whether to train only rooms that failed in the last run.
    on_progress : callable, optional
        Called after every task.

    Raises
    ------
    InputError
        If there are no readings, ``out`` cannot be written to, or all workers are gone.
    """
    began, storage = time.monotonic(), Storage(str(out))
    check_outside(str(out), str(data))
    storage.check_writable()
    storage.delete_abandoned(FOLDER)
    options = None if options_file is None else str(options_file)
    sources = find_rooms(str(data), options_file=options, defaults=defaults)
    earlier = read_results(storage, [result_name(one.room) for one in sources]) if only_failed else {}
    chosen = [one for one in sources if not only_failed or _is_failed(earlier.get(one.room))]
    with open_executor(executor, workers) as pool:
        start = _prepare_start(storage, sources, pool, renew=renew_start) if share else ""
        settings = FitSettings(storage.url, seed, start, retry=only_failed)
        run = run_rooms(
            pool,
            partial(fit_rooms, settings=settings),
            chosen,
            what="training",
            on_lost=partial(_lost, storage),
            on_progress=on_progress,
        )
    results = earlier | {result.room: result for result in run.results}
    run = replace(run, results=[results[room] for room in sorted(results)], seconds=time.monotonic() - began)
    write_table(storage, TABLE, results_table(run.results))
    return run


def read_fleet(out: str | Path) -> list[RoomResult]:
    """Return the results of all rooms in a folder of models, by name."""
    storage = Storage(str(out))
    found = read_results(storage, [name for name in storage.names(FOLDER) if name.endswith(RESULT)])
    if not found:
        raise InputError(f"{out}: has no trained rooms: run 'occupair fleet fit' first")
    return [found[room] for room in sorted(found)]


def read_results(storage: Storage, names: Sequence[str]) -> dict[str, RoomResult]:
    """Return results by room; files that are damaged are ignored, since the next run replaces them."""
    return {result.room: result for result in _parsed(storage.read_all(names).values())}


def _parsed(contents: Iterable[bytes]) -> Iterable[RoomResult]:
    for content in contents:
        try:
            yield result_from_json(content)
        except InputError:
            continue


def _is_failed(result: RoomResult | None) -> bool:
    return result is not None and result.status == "failed"


def _lost(storage: Storage, room: str, reason: str) -> RoomResult:
    """Return and write the result of a room that lost its workers; the next run tries again."""
    result = failed(room, reason)
    storage.write(result_name(room), result_to_json(result))
    return result


def _prepare_start(
    storage: Storage, sources: Sequence[RoomSource], executor: Executor, *, renew: bool
) -> str:
    """Return the digest of the start of the portfolio, computed unless it is there; "" if there is none."""
    content = None if renew else storage.read(START)
    if content is None:
        content = portfolio_start(sources, TaskRunner(executor, sum_rooms).run)
        if content is None:
            return ""
        storage.write(START, content)
    return digest_of(content)
