"""Training data of a room: its readings on the grid, as in the live service, with labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sqlalchemy import select

from occupair.checks.sensor_limits import is_plausible
from occupair.errors import InputError
from occupair.live.messages import UNTRAINED_SOURCE
from occupair.live.store import schema
from occupair.live.store.database import check_texts, snapshot
from occupair.readings.gaps import default_gap
from occupair.readings.grid import MINUTE, check_grid_options, hold_last, put_on_grid, usual_interval
from occupair.readings.other_sensors import SENSOR_HOLD, SENSORS
from occupair.readings.source import Source
from occupair.readings.time_zones import parse_time_zone

if TYPE_CHECKING:
    from occupair.live.store.store import Store

Times = NDArray[np.int64]  # [us] since 1970
Numbers = NDArray[np.float64]


def training_readings(
    store: Store, room: str, timezone: str, *, hold: float, interval: float | None
) -> pd.DataFrame:
    """Return the readings of a room on a grid, with the occupancy near labels.

    Parameters
    ----------
    store : Store
        The store.
    room : str
        Room id.
    timezone : str
        The room's time zone; days start at local midnight.
    hold : float
        A label applies to readings up to this long before and after it [min].
    interval : float, optional
        Interval of the grid [min]; None takes the most common one of the readings. Gaps are bridged as for
        the longer of both.

    Returns
    -------
    DataFrame
        ``co2`` [ppm], ``ventilation`` [0..1] and optional sensors, if there are any (NaN where missing), and
        ``occupancy`` [people]: that of the nearest label, the earlier one of two equally near, NaN if none is
        near enough. As in the live service, implausible CO2 is missing, ventilation is held for up to a day
        and optional sensors for an hour, and rows with unknown ventilation are dropped.
    """
    zone = parse_time_zone(timezone)
    check_grid_options(interval, None)
    check_texts("room", [room])
    if not 0 <= hold < float("inf"):
        raise InputError(f"hold must be 0 min or more, got {hold}")
    time, values, label_times, people = _read(store, room)
    co2, ventilation, *of_sensors = values
    source = Source(f"room {room!r} in the store")
    plausible = is_plausible(co2)
    if not plausible.any():
        raise source.error("has no CO2 reading")
    times = pd.DatetimeIndex(time[plausible].view("datetime64[us]")).tz_localize("UTC").tz_convert(zone)
    usual = usual_interval(times, source)
    interval = usual if interval is None else interval
    readings = put_on_grid(
        pd.DataFrame({"co2": co2[plausible]}, index=times),
        interval=interval,
        longest_gap=default_gap(max(interval, usual)),
        source=source,
    )
    grid_times = np.asarray(pd.DatetimeIndex(readings.index).as_unit("us").asi8)
    known = ~np.isnan(ventilation)
    if known.any():
        readings["ventilation"] = hold_last(grid_times, time[known], ventilation[known])
    readings["occupancy"] = _nearest(grid_times, label_times, people, hold)
    readings = readings.dropna(subset=[name for name in readings.columns if name != "occupancy"])
    grid_times = np.asarray(pd.DatetimeIndex(readings.index).as_unit("us").asi8)
    for name, sensor in zip(SENSORS, of_sensors, strict=True):
        known = ~np.isnan(sensor)
        if known.any():
            readings[name] = hold_last(grid_times, time[known], sensor[known], SENSOR_HOLD)
    return readings.rename_axis("time")


def _read(store: Store, room: str) -> tuple[Times, list[Numbers], Times, Numbers]:
    """Read time [us] and values of readings, time [us] and people of labels; NaN if unknown.

    The values are CO2, ventilation and those of ``SENSORS``.
    """
    columns, labels = schema.readings.c, schema.labels.c
    names = ("co2", "ventilation", *SENSORS)
    chosen = select(columns.time, *(columns[name] for name in names)).where(columns.room == room)
    is_evidence = labels.source != UNTRAINED_SOURCE
    head_counts = select(labels.time, labels.people).where(labels.room == room, is_evidence)
    with snapshot(store.engine) as connection:
        readings = connection.execute(chosen.order_by(columns.time)).all()
        counts = connection.execute(head_counts.order_by(labels.time)).all()
    (times, values), (label_times, (people,)) = _columns(readings, len(names)), _columns(counts, 1)
    return times, values, label_times, people


def _columns(rows: Sequence[Sequence[Any]], n_values: int) -> tuple[Times, list[Numbers]]:
    """Return times [us] and ``n_values`` columns of values."""
    times = np.array([row[0] for row in rows], dtype=np.int64)
    return times, [np.array([row[k] for row in rows], dtype=np.float64) for k in range(1, n_values + 1)]


def _nearest(grid_times: Times, times: Times, values: Numbers, hold: float) -> Numbers:
    """Return the value nearest to each grid time, NaN if it is more than ``hold`` [min] away."""
    if times.size == 0:
        return np.full(grid_times.size, np.nan)
    after = np.minimum(np.searchsorted(times, grid_times), times.size - 1)
    before = np.maximum(after - 1, 0)
    index = np.where(np.abs(times[after] - grid_times) < np.abs(grid_times - times[before]), after, before)
    return np.where(np.abs(times[index] - grid_times) <= hold * MINUTE, values[index], np.nan)
