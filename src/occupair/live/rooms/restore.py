"""Restoring rooms from the store when the service starts."""

from __future__ import annotations

import datetime as dt
import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from zoneinfo import ZoneInfo

from occupair.live.config import RoomConfig
from occupair.live.messages import Reading, to_microseconds, to_time
from occupair.live.rooms.engine import Engine, StoredRoom
from occupair.live.rooms.reading_grid import local_day
from occupair.live.rooms.room import READINGS_KEPT
from occupair.live.rooms.room_models import RoomModels
from occupair.live.store import Store
from occupair.room.baseline_drift import LOOKBACK
from occupair.room.lags import PUBLISHED_LAGS
from occupair.wording import plural

log = logging.getLogger("occupair.live")

RECENT_ESTIMATES = dt.timedelta(minutes=70 + max(PUBLISHED_LAGS))
"""Estimates up to this long before the newest reading are restored."""
ROOMS_AT_ONCE, LOG_EVERY = 64, 10.0
"""Rooms restored as one batch; and how often progress is logged [s]."""


def restore_rooms(
    engine: Engine,
    store: Store,
    models: RoomModels,
    rooms: Sequence[RoomConfig],
    now: Callable[[Sequence[Reading]], dt.datetime],
) -> None:
    """Restore rooms with their models and today's readings, and store what had to be estimated again.

    Parameters
    ----------
    engine : Engine
    store : Store
    models : RoomModels
    rooms : sequence of RoomConfig
        Rooms of the engine.
    now : callable
        Returns the current time, given the newest readings.
    """
    started = logged = time.monotonic()
    newest, zones, n_done = store.newest_readings(), store.zones(), 0
    for some in in_batches(rooms):
        current = now([newest[room.id] for room in some if room.id in newest])
        engine.use_models({room.id: models.initial_model(room) for room in some}, current)
        stored = read_stored_rooms(store, some, newest, zones, follows_clock=engine.follows_clock)
        result = engine.restore(stored)
        if len(result):
            store.write([], result.estimate_records, cleared=result.cleared)
        store.set_zones({room.id: room.timezone for room in some if zones.get(room.id) != room.timezone})
        n_done += len(some)
        if time.monotonic() > logged + LOG_EVERY:
            logged = time.monotonic()
            log.info("restored %d of %s", n_done, plural(len(rooms), "room"))
    if rooms:
        log.info("restored %s in %.1f s", plural(len(rooms), "room"), time.monotonic() - started)


def read_stored_rooms(
    store: Store,
    rooms: Iterable[RoomConfig],
    newest: Mapping[str, Reading],
    zones: Mapping[str, str],
    *,
    follows_clock: bool = True,
) -> dict[str, StoredRoom]:
    """Read what rooms need after a restart.

    Parameters
    ----------
    store : Store
    rooms : iterable of RoomConfig
    newest : mapping
        The newest reading of each room that has one.
    zones : mapping
        The time zone each room was last estimated in. Estimates made in another zone belong to other days.
    follows_clock : bool
        Whether readings arrive as they are measured.
    """
    known = {room.id: room for room in rooms if room.id in newest}
    zone = {id_: ZoneInfo(room.timezone) for id_, room in known.items()}
    same_zone = [id_ for id_, room in known.items() if zones.get(id_, room.timezone) == room.timezone]
    readings = store.readings_since({id_: restore_since(newest[id_].time, zone[id_]) for id_ in known})
    estimates = store.estimates_since({id_: newest[id_].time - RECENT_ESTIMATES for id_ in same_zone})
    means = store.co2_means({id_: _days_of_lows(newest[id_].time, zone[id_]) for id_ in known})
    labelled = {
        id_: store.labelled_intervals(id_, follows_clock=follows_clock)
        for id_ in store.labelled_rooms() & known.keys()
    }
    return {
        id_: StoredRoom(readings[id_], estimates.get(id_, []), labelled.get(id_, []), means[id_])
        for id_ in known
    }


def _days_of_lows(newest: dt.datetime, zone: ZoneInfo) -> tuple[dt.datetime, dt.datetime]:
    """Return the period whose lowest CO2 is needed; the day of the model may be a later or an earlier one."""
    midnight = to_time(local_day(zone, to_microseconds(newest))[0])
    return midnight - dt.timedelta(days=LOOKBACK + 2), midnight + dt.timedelta(days=1)


def in_batches(rooms: Sequence[RoomConfig]) -> Iterator[Sequence[RoomConfig]]:
    """Yield rooms in batches that are small enough to keep other work waiting only briefly."""
    return (rooms[first : first + ROOMS_AT_ONCE] for first in range(0, len(rooms), ROOMS_AT_ONCE))


def restore_since(newest: dt.datetime, zone: ZoneInfo) -> dt.datetime:
    """Return the time since when readings are needed to restore a room whose newest reading has this time.

    The newest reading may be one of ventilation, on a later day than the newest CO2.
    """
    midnight, _ = local_day(zone, to_microseconds(newest))
    return to_time(midnight) - dt.timedelta(days=1, minutes=READINGS_KEPT)
