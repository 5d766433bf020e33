"""Calibration of a room without head counts, or with few, in a process of its own."""

from __future__ import annotations

import multiprocessing
import os
import threading
import warnings
from typing import Any, NamedTuple

import pandas as pd
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from occupair.errors import InputError
from occupair.estimator import OccupancyEstimator
from occupair.inferred_training import fit_before_readings
from occupair.live.logs import secrets_in_url, start_logging
from occupair.live.store import Store
from occupair.live.training_process import NICENESS
from occupair.live.training_scores import LABEL_HOLD
from occupair.model_file import dump_model
from occupair.progress import quietly
from occupair.readings.schema import interval_of

MIN_HOURS = 12.0
"""Hours of readings without which a room is estimated from priors alone: a night and a morning."""

MIN_READINGS = 3
"""Readings without which nothing is known of the room, not even the time between readings."""


class CalibrationOrder(NamedTuple):
    """Which room to calibrate."""

    store: str  # URL
    room: str
    timezone: str
    closed: tuple[str, ...] | None
    properties: dict[str, Any]


def prepare_process(log: Any, level: str, url: str) -> None:
    """Prepare a process for calibrations: at low priority, with the log of the service.

    It ends with the service, also if that is killed.
    """
    threading.Thread(target=_exit_with_parent, daemon=True).start()
    os.nice(NICENESS)
    start_logging(log, level, secrets=secrets_in_url(url))
    warnings.simplefilter("ignore", UserWarning)


def _exit_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def calibrate_room(order: CalibrationOrder) -> bytes | None:
    """Return the model file of a room, calibrated on its readings and head counts, or on priors alone.

    None if there are hardly any readings yet.
    """
    readings = _readings(order)
    if readings is None or len(readings) < MIN_READINGS:
        return None
    interval = interval_of(readings)
    estimator = OccupancyEstimator(random_state=0, verbose=False, closed=order.closed, **order.properties)
    with threadpool_limits(1), quietly():
        if len(readings) * interval < MIN_HOURS * 60:
            has_signal = "ventilation" in readings.columns
            fit_before_readings(estimator, interval=interval, uses_ventilation=has_signal)
            estimator.timezone_ = order.timezone
        else:
            estimator.fit(readings)
    return dump_model(estimator)


def _readings(order: CalibrationOrder) -> pd.DataFrame | None:
    """Return the readings and head counts in the store; None without any."""
    store = Store(order.store)
    try:
        return store.training_readings(order.room, order.timezone, hold=LABEL_HOLD)
    except InputError:  # no reading yet
        return None
    finally:
        store.close()
