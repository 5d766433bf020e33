"""The use of a room from files: estimates, or readings and a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from occupair.checks.prepared_readings import Span
from occupair.estimator import OccupancyEstimator
from occupair.readings.files import read_readings
from occupair.utilisation.bad_days import sensor_faults
from occupair.utilisation.counts import Mask
from occupair.utilisation.estimate_files import read_estimates
from occupair.utilisation.room_order import RoomOrder, count_limit, hindsight_counts
from occupair.utilisation.room_usage import RoomUsage


@dataclass(frozen=True)
class RoomFiles:
    """The files of a room.

    Parameters
    ----------
    data : Path
        File with estimates, or with readings if there is a model.
    order : RoomOrder
        What to report.
    model : Path, optional
        Model file.
    timezone : str, optional
        Time zone of the room.
    columns, dayfirst : optional
        How to read the file with readings, as for ``read_readings``.
    """

    data: Path
    order: RoomOrder
    model: Path | None = None
    timezone: str | None = None
    columns: Mapping[str, str] | None = None
    dayfirst: bool | None = None


def file_room_usage(room: RoomFiles) -> RoomUsage:
    """Return the use of a room from its files.

    Raises
    ------
    InputError
        If they cannot be used.
    """
    if room.model is None:
        return room.order.usage(read_estimates(room.data, timezone=room.timezone))
    return _from_readings(room, room.model)


def _from_readings(room: RoomFiles, model: Path) -> RoomUsage:
    estimator = OccupancyEstimator.load(model)
    if estimator.timezone_ is None:
        estimator.timezone_ = room.timezone
    read = partial(
        read_readings,
        room.data,
        timezone=room.timezone,
        columns=room.columns,
        dayfirst=room.dayfirst,
        occupancy=False,
    )
    faults = sensor_faults(read(ventilation=False, lenient=True))
    readings = read(
        ventilation=estimator.uses_ventilation_,
        ventilation_full=estimator.ventilation_full_,
        ventilation_unit=estimator.ventilation_unit_,
        interval=estimator.interval_,
    )
    faulty = _is_within(pd.DatetimeIndex(readings.index), faults.spans)
    counts = hindsight_counts(estimator, readings[~faulty])
    return room.order.usage(counts, faults=faults, limit=count_limit(estimator))


def _is_within(times: pd.DatetimeIndex, spans: Sequence[Span]) -> Mask:
    local = times.tz_localize(None)
    found = np.zeros(len(times), dtype=bool)
    for start, end in spans:
        found |= np.asarray((local >= start) & (local <= end))
    return found
