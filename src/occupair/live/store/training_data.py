"""Training data of a room: its readings on the grid, as in the live service, with labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from sqlalchemy import select

from occupair.errors import InputError
from occupair.live.messages import UNTRAINED_SOURCE
from occupair.live.store import schema
from occupair.live.store.database import check_texts, snapshot
from occupair.live.store.room_readings import (
    Numbers,
    Times,
    grid_times,
    put_values_on_grid,
    read_values,
    to_columns,
)
from occupair.readings.grid import MINUTE, check_grid_options
from occupair.readings.source import Source
from occupair.readings.time_zones import parse_time_zone

if TYPE_CHECKING:
    from occupair.live.store.store import Store


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
    times, values = read_values(store, room)
    source = Source(f"room {room!r} in the store")
    readings = put_values_on_grid(times, values, zone=zone, interval=interval, source=source)
    occupancy = _nearest(grid_times(readings), *_read_labels(store, room), hold)
    after = 1 + readings.columns.isin(["ventilation"]).any()
    readings.insert(int(after), "occupancy", occupancy)
    return readings


def _read_labels(store: Store, room: str) -> tuple[Times, Numbers]:
    """Read time [us] and people of the labels to train on."""
    labels = schema.labels.c
    is_evidence = labels.source != UNTRAINED_SOURCE
    chosen = select(labels.time, labels.people).where(labels.room == room, is_evidence)
    with snapshot(store.engine) as connection:
        times, (people,) = to_columns(connection.execute(chosen.order_by(labels.time)).all(), 1)
    return times, people


def _nearest(at: Times, times: Times, values: Numbers, hold: float) -> Numbers:
    """Return the value nearest to each grid time, NaN if it is more than ``hold`` [min] away."""
    if times.size == 0:
        return np.full(at.size, np.nan)
    after = np.minimum(np.searchsorted(times, at), times.size - 1)
    before = np.maximum(after - 1, 0)
    index = np.where(np.abs(times[after] - at) < np.abs(at - times[before]), after, before)
    return np.where(np.abs(times[index] - at) <= hold * MINUTE, values[index], np.nan)
