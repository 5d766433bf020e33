"""What a room is trained on: its readings on the grid, as the service makes rows of them, and its labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sqlalchemy import select

from occupair.checks.sensor_limits import HIGHEST_CO2, LOWEST_CO2
from occupair.errors import InputError
from occupair.live.rooms.reading_grid import VENTILATION_HOLD
from occupair.live.store import schema
from occupair.live.store.engine import reading
from occupair.live.store.values import check_texts
from occupair.readings.grid import MINUTE, check_grid_options, put_on_grid
from occupair.readings.source import Source
from occupair.readings.time_zones import parse_time_zone

if TYPE_CHECKING:
    from occupair.live.store.store import Store

Times = NDArray[np.int64]  # [us] since 1970
Numbers = NDArray[np.float64]


def training_readings(
    store: Store, room: str, timezone: str, *, hold: float, interval: float | None
) -> pd.DataFrame:
    """Give the readings of a room on a grid, with head counts where there is a label.

    Parameters
    ----------
    store : Store
    room : str
    timezone : str
        The room's time zone; its days begin at midnight there.
    hold : float
        A label counts for readings so much before and after it [min].
    interval : float, optional
        Interval of the grid [min]; None takes the usual one of the readings.

    Returns
    -------
    DataFrame
        ``co2`` [ppm], ``ventilation`` [0..1] if any was ever told, and ``occupancy`` [people], which is that
        of the nearest label, the earlier one of two as near, and NaN where none is near enough. As in the
        service, CO2 that no room can have is missing, ventilation holds until it is told again, for a day at
        most, and rows in which it is not known are left out.
    """
    zone = parse_time_zone(timezone)
    check_grid_options(interval, 10.0)
    check_texts("room", [room])
    if not 0 <= hold < float("inf"):
        raise InputError(f"hold must be 0 min or more, got {hold}")
    time, co2, ventilation, labelled, people = _fetched(store, room)
    source = Source(f"room {room!r} in the store")
    plausible = (co2 >= LOWEST_CO2) & (co2 <= HIGHEST_CO2)
    if not plausible.any():
        raise source.error("has no CO2 reading")
    index = pd.DatetimeIndex(time[plausible].view("datetime64[us]")).tz_localize("UTC").tz_convert(zone)
    rows = put_on_grid(pd.DataFrame({"co2": co2[plausible]}, index=index), interval=interval, source=source)
    ticks = np.asarray(pd.DatetimeIndex(rows.index).as_unit("us").asi8)
    known = ~np.isnan(ventilation)
    if known.any():
        rows["ventilation"] = _held(ticks, time[known], ventilation[known])
    rows["occupancy"] = _nearest(ticks, labelled, people, hold)
    return rows.dropna(subset=[name for name in rows.columns if name != "occupancy"]).rename_axis("time")


def _fetched(store: Store, room: str) -> tuple[Times, Numbers, Numbers, Times, Numbers]:
    """Fetch time [us], CO2 and ventilation of readings, time [us] and people of labels; NaN is not known."""
    told, labels = schema.readings.c, schema.labels.c
    readings = select(told.time, told.co2, told.ventilation).where(told.room == room).order_by(told.time)
    counted = select(labels.time, labels.people).where(labels.room == room).order_by(labels.time)
    with reading(store.engine) as connection:
        rows, counts = connection.execute(readings).all(), connection.execute(counted).all()
    return (*_columns(rows, 2), *_columns(counts, 1))


def _columns(rows: Sequence[Sequence[Any]], n_values: int) -> tuple[Any, ...]:
    """Give times [us] and so many columns of values."""
    times = np.array([row[0] for row in rows], dtype=np.int64)
    values = (np.array([row[k] for row in rows], dtype=np.float64) for k in range(1, n_values + 1))
    return (times, *values)


def _held(ticks: Times, times: Times, values: Numbers) -> Numbers:
    """Give the last value at or before each tick, NaN if that is older than ventilation holds."""
    place = np.searchsorted(times, ticks, side="right") - 1
    fresh = (place >= 0) & (ticks - times[place] <= VENTILATION_HOLD * MINUTE)
    return np.where(fresh, values[place], np.nan)


def _nearest(ticks: Times, times: Times, values: Numbers, hold: float) -> Numbers:
    """Give the value nearest to each tick, NaN if that is further than ``hold`` [min]."""
    if times.size == 0:
        return np.full(ticks.size, np.nan)
    after = np.minimum(np.searchsorted(times, ticks), times.size - 1)
    before = np.maximum(after - 1, 0)
    place = np.where(np.abs(times[after] - ticks) < np.abs(ticks - times[before]), after, before)
    return np.where(np.abs(times[place] - ticks) <= hold * MINUTE, values[place], np.nan)
