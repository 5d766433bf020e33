"""Estimates and scores of all rooms of a portfolio with their trained models."""

from __future__ import annotations

import time
from concurrent.futures import Executor
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

import pandas as pd

from occupair.errors import InputError
from occupair.estimator_arguments import Mode, check_confidence, check_request
from occupair.fleet.estimate_tasks import EstimateResult, EstimateSettings, estimate_rooms
from occupair.fleet.evaluate_tasks import EvaluateResult, EvaluateSettings, evaluate_rooms
from occupair.fleet.fit_tasks import FOLDER
from occupair.fleet.fleet_run import FleetRun, OnProgress, open_executor, run_rooms, write_table
from occupair.fleet.room_options import RoomOptions
from occupair.fleet.room_sources import find_rooms
from occupair.fleet.storage import Storage, check_outside

TABLE = "_rooms.parquet"
"""Table with one row per room; because of its name, readers of the folder as one data set leave it out."""


def estimate_fleet(
    data: str | Path,
    models: str | Path,
    out: str | Path,
    *,
    lag: float = 0.0,
    interval: float | None = None,
    mode: Mode = "live",
    executor: Executor | None = None,
    workers: int | None = None,
    options_file: str | Path | None = None,
    defaults: RoomOptions | None = None,
    on_progress: OnProgress | None = None,
) -> FleetRun[EstimateResult]:
    """Estimate all rooms of a portfolio and write ``room=NAME/estimates.parquet`` for each.

    Each worker holds the readings of one room at a time. A second run estimates only rooms whose readings or
    model have changed.

    Parameters
    ----------
    data, models, out : str or path
        Folders or URLs of the readings, of the models of ``fit_fleet``, and to write to.
    lag, interval, mode
        See ``OccupancyEstimator.estimate``.
    executor, workers, options_file, defaults, on_progress
        See ``fit_fleet``.
    """
    check_request(mode, lag)
    if interval is not None:
        check_confidence(interval)
    _check_models(models)
    began, storage = time.monotonic(), Storage(str(out))
    check_outside(str(out), str(data))
    storage.check_writable()
    sources = find_rooms(str(data), options_file=_text(options_file), defaults=defaults)
    settings = EstimateSettings(str(models), storage.url, lag, interval, mode)
    with open_executor(executor, workers) as pool:
        run = run_rooms(
            pool,
            partial(estimate_rooms, settings=settings),
            sources,
            what="estimating",
            on_lost=lambda room, reason: EstimateResult(room, "failed", reason),
            on_progress=on_progress,
        )
    write_table(storage, TABLE, pd.DataFrame([asdict(result) for result in run.results]))
    return replace(run, seconds=time.monotonic() - began)


def evaluate_fleet(
    data: str | Path,
    models: str | Path,
    *,
    lag: float = 0.0,
    executor: Executor | None = None,
    workers: int | None = None,
    options_file: str | Path | None = None,
    defaults: RoomOptions | None = None,
    on_progress: OnProgress | None = None,
) -> FleetRun[EvaluateResult]:
    """Score the models of all rooms of a portfolio on readings with head counts.

    Parameters
    ----------
    data, models : str or path
        Folders or URLs of the readings, best of days that the models were not trained on, and of the models.
    lag : float
        Lag of the estimates [min].
    executor, workers, options_file, defaults, on_progress
        See ``fit_fleet``.
    """
    check_request("live", lag)
    _check_models(models)
    sources = find_rooms(str(data), options_file=_text(options_file), defaults=defaults)
    with open_executor(executor, workers) as pool:
        return run_rooms(
            pool,
            partial(evaluate_rooms, settings=EvaluateSettings(str(models), lag)),
            sources,
            what="evaluating",
            on_lost=lambda room, reason: EvaluateResult(room, "failed", reason),
            on_progress=on_progress,
        )


def _check_models(models: str | Path) -> None:
    if not Storage(str(models)).names(FOLDER):
        raise InputError(f"{models}: has no trained rooms: run 'occupair fleet fit' first")


def _text(path: str | Path | None) -> str | None:
    return None if path is None else str(path)
