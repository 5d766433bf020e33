"""Readings of a room from the store: as they were sent, and on the grid of the live service."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sqlalchemy import select

from occupair.checks.sensor_limits import is_plausible
from occupair.live.store import schema
from occupair.live.store.database import rows_between, snapshot
from occupair.readings.gaps import default_gap
from occupair.readings.grid import hold_last, put_on_grid, usual_interval
from occupair.readings.other_sensors import SENSOR_HOLD, SENSORS
from occupair.readings.source import Source
from occupair.readings.time_zones import time_zone_of

if TYPE_CHECKING:
    from occupair.live.store.store import Store

Times = NDArray[np.int64]  # [us] since 1970
Numbers = NDArray[np.float64]
VALUES = ("co2", "ventilation", *SENSORS)


def read_values(
    store: Store,
    room: str,
    names: Sequence[str] = VALUES,
    *,
    since: dt.datetime | None = None,
    until: dt.datetime | None = None,
) -> tuple[Times, dict[str, Numbers]]:
    """Read the times [us] and the values of the readings of a room in [since, until); NaN if unknown."""
    table = schema.readings
    chosen = select(table.c.time, *(table.c[name] for name in names))
    chosen = rows_between(chosen, table, room, since, until)
    with snapshot(store.engine) as connection:
        rows = connection.execute(chosen.order_by(table.c.time)).all()
    times, values = to_columns(rows, len(names))
    return times, dict(zip(names, values, strict=True))


def to_columns(rows: Sequence[Sequence[Any]], n_values: int) -> tuple[Times, list[Numbers]]:
    """Return times [us] and ``n_values`` columns of values."""
    times = np.array([row[0] for row in rows], dtype=np.int64)
    return times, [np.array([row[k] for row in rows], dtype=np.float64) for k in range(1, n_values + 1)]


def local_index(times: Times, zone: dt.tzinfo | str | None) -> pd.DatetimeIndex:
    """Return times [us] as local times."""
    zone = time_zone_of(zone) if isinstance(zone, str) else zone
    return pd.DatetimeIndex(times.view("datetime64[us]")).tz_localize("UTC").tz_convert(zone)


def grid_times(readings: pd.DataFrame) -> Times:
    """Return the times of readings [us]."""
    return np.asarray(pd.DatetimeIndex(readings.index).as_unit("us").asi8)


def put_values_on_grid(
    times: Times,
    values: Mapping[str, Numbers],
    *,
    zone: dt.tzinfo | None,
    interval: float | None,
    source: Source,
) -> pd.DataFrame:
    """Put the values of readings on a grid, as the live service does.

    Parameters
    ----------
    times : array
        Times [us].
    values : mapping
        ``co2`` [ppm] and, if read, ``ventilation`` [0..1] and optional sensors; NaN where missing.
    zone : tzinfo
        Time zone of the room.
    interval : float, optional
        Interval of the grid [min]; None takes the most common one of the readings. Gaps are bridged as for
        the longer of both.
    source : Source
        Name of the readings in error messages.

    Returns
    -------
    DataFrame
        The values that are known at any time. Implausible CO2 is missing, ventilation is held for up to a
        day and optional sensors for an hour, and rows with unknown ventilation are dropped.
    """
    co2 = values["co2"]
    plausible = is_plausible(co2)
    if not plausible.any():
        raise source.error("has no CO2 reading")
    index = local_index(times[plausible], zone)
    usual = usual_interval(index, source)
    interval = usual if interval is None else interval
    readings = put_on_grid(
        pd.DataFrame({"co2": co2[plausible]}, index=index),
        interval=interval,
        longest_gap=default_gap(max(interval, usual)),
        source=source,
    )
    for name in values:
        known = ~np.isnan(values[name])
        if name == "co2" or not known.any():
            continue
        hold = () if name == "ventilation" else (SENSOR_HOLD,)
        readings[name] = hold_last(grid_times(readings), times[known], values[name][known], *hold)
        if name == "ventilation":
            readings = readings.dropna()
    return readings.rename_axis("time")
