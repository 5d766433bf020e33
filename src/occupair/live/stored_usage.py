"""The use of a room from the store: hindsight estimates from its readings and its active model.

The store is only read, also while the service is running.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from sqlalchemy import func, select
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from occupair.errors import InputError
from occupair.estimator import OccupancyEstimator
from occupair.live.messages import Quality
from occupair.live.store import DamagedModel, Store, schema
from occupair.live.store.database import check_revision, newest_revision, rows_between, snapshot
from occupair.live.store.room_readings import local_index, put_values_on_grid, read_values
from occupair.model_file import parse_model
from occupair.readings.source import Source
from occupair.readings.time_zones import time_zone_of
from occupair.room.baseline_drift import LOOKBACK
from occupair.room.lags import PUBLISHED_FIELDS
from occupair.utilisation.bad_days import SensorFaults, sensor_faults
from occupair.utilisation.room_order import RoomOrder, count_limit, hindsight_counts
from occupair.utilisation.room_usage import RoomUsage
from occupair.wording import quoted_list

NO_MODEL = "the room has no model: calibrate it, or train it with head counts"
STORED = "No model can be used now, so these are the estimates of the live service, refined after 20 min."
FAULTY = "faulty sensor"
"""Reason for days with estimates that the live service flagged."""


@dataclass(frozen=True)
class StoredRoom:
    """A room in a store.

    Parameters
    ----------
    store : str
        URL of the store.
    timezone : str
        Time zone of the room.
    order : RoomOrder
        What to report.
    quick : bool
        Whether to use the refined estimates in the store instead of new hindsight estimates.
    """

    store: str
    timezone: str
    order: RoomOrder
    quick: bool = False


def check_readable(store: Store) -> None:
    """Raise an error if a store does not exist, or is of another version."""
    if store.url.get_backend_name() == "sqlite" and not Path(str(store.url.database)).is_file():
        raise InputError(f"store {store}: file not found")
    with snapshot(store.engine) as connection:
        revision = check_revision(connection)
    if revision is None:
        raise InputError(f"store {store}: has no rooms yet")
    if revision != newest_revision():
        raise InputError(
            f"store {store}: is of an earlier version: start 'occupair serve' once to upgrade it"
        )


class StoredPeriod(NamedTuple):
    """Times of the oldest and the newest reading of some rooms, in UTC."""

    oldest: pd.Timestamp
    newest: pd.Timestamp


def choose_rooms(store: Store, wanted: list[str]) -> tuple[dict[str, str], StoredPeriod]:
    """Return the time zone of rooms in a store, and the period of their readings.

    With no wanted rooms, all rooms with readings are chosen.
    """
    stored = store.newest_readings()
    unknown = [room for room in wanted if room not in stored]
    if unknown and len(unknown) == len(wanted):
        found = f"only of {quoted_list(sorted(stored))}" if stored else "nor of any other room"
        raise InputError(f"store {store}: has no readings of room {quoted_list(unknown)}, {found}")
    if not stored:
        raise InputError(f"store {store}: has no readings yet")
    zones, columns = store.zones(), schema.readings.c
    chosen = [room for room in wanted or sorted(stored) if room in stored]
    with snapshot(store.engine) as connection:
        times = [
            connection.execute(select(func.min(columns.time)).where(columns.room == room)).scalar_one()
            for room in chosen
        ]
    newest = pd.Timestamp(max(stored[room].time for room in chosen))
    period = StoredPeriod(pd.Timestamp(min(times), unit="us", tz="UTC"), newest)
    return {room: zones.get(room, "UTC") for room in wanted or chosen}, period


def stored_room_usage(room: StoredRoom) -> RoomUsage:
    """Return the use of a room in a store, in a worker process or in this one.

    Raises
    ------
    InputError
        If the room cannot be estimated.
    StoreError
        If the database fails.
    """
    with threadpool_limits(1), closing(Store(room.store)) as store:
        return _usage(store, room)


def _usage(store: Store, room: StoredRoom) -> RoomUsage:
    id_ = room.order.room.id
    if room.quick:
        return _from_estimates(store, room)
    try:
        found = store.active_model(id_)
        estimator = None if found is None else parse_model(found[1])
    except DamagedModel as error:
        raise InputError(str(error)) from None
    if estimator is None:
        usage = _from_estimates(store, room, notes=(STORED,))
        return RoomUsage(room.order.room, problem=NO_MODEL) if usage.problem else usage
    return _from_readings(store, room, estimator)


def _from_readings(store: Store, room: StoredRoom, estimator: OccupancyEstimator) -> RoomUsage:
    order, zone = room.order, time_zone_of(room.timezone)
    begin, end = order.period(zone, before=LOOKBACK)  # from which the drift of the sensor is followed
    names = ["co2", *(["ventilation"] if estimator.uses_ventilation_ else []), *estimator.sensor_names]
    times, values = read_values(store, order.room.id, names, since=begin, until=end)
    has_co2 = ~np.isnan(values["co2"])
    sent = pd.DataFrame({"co2": values["co2"][has_co2]}, index=local_index(times[has_co2], zone))
    faults = sensor_faults(sent)
    values["co2"][np.flatnonzero(has_co2)[faults.is_faulty]] = np.nan
    source = Source(f"room {order.room.id!r} in the store")
    readings = put_values_on_grid(times, values, zone=zone, interval=estimator.interval_, source=source)
    if estimator.timezone_ is None:
        estimator.timezone_ = room.timezone
    counts = hindsight_counts(estimator, readings)
    return order.usage(counts, faults=faults, limit=count_limit(estimator))


def _from_estimates(store: Store, room: StoredRoom, *, notes: tuple[str, ...] = ()) -> RoomUsage:
    """Return the use of a room by its stored estimates, without times that the service flagged."""
    order, zone, columns = room.order, time_zone_of(room.timezone), schema.estimates.c
    begin, end = order.period(zone)
    refined = columns[PUBLISHED_FIELDS[-1]]
    chosen = select(columns.time, columns.people, refined, columns.low, columns.high, columns.quality)
    chosen = rows_between(chosen, schema.estimates, order.room.id, begin, end)
    with snapshot(store.engine) as connection:
        rows = connection.execute(chosen.order_by(columns.time)).all()
    index = local_index(np.array([row[0] for row in rows], dtype=np.int64), zone)
    quality = np.array([row[5] for row in rows], dtype=object)
    table = pd.DataFrame(
        [row[1:5] for row in rows], index=index, columns=["live", "people", "low", "high"], dtype=float
    )
    people = table["people"].fillna(table["live"])
    counts = pd.DataFrame(
        {"people": people, "low": table["low"].clip(upper=people), "high": table["high"].clip(lower=people)}
    )
    usable = np.isin(quality, [Quality.OK.value, Quality.STARTING.value])
    counts[~usable] = np.nan
    return order.usage(counts, faults=_flagged(index, quality == Quality.SUSPECT.value), notes=notes)


def _flagged(index: pd.DatetimeIndex, is_suspect: np.ndarray) -> SensorFaults:
    """Return the time with implausible readings by day, by the flags of the live service."""
    days = index.tz_localize(None).normalize()
    step = float(np.median(np.diff(index) / pd.Timedelta(hours=1))) if len(index) > 1 else 0.0
    hours = pd.Series(is_suspect * step, dtype=float).groupby(days).sum()
    return SensorFaults(pd.DataFrame({FAULTY: hours[hours > 0]}), np.asarray(is_suspect, dtype=bool))
