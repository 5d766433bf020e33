"""Occupancy of all rooms since midnight, read once for all clients from the store that shards share."""

from __future__ import annotations

import asyncio
import datetime as dt
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from typing import NamedTuple
from zoneinfo import ZoneInfo

from starlette.concurrency import run_in_threadpool

from occupair.live.config import RoomConfig
from occupair.live.hours import QUARTER, QuarterHour, Slot, local_slots, quarter_number
from occupair.live.messages import to_time
from occupair.live.store import Store

SHORTEST_AGE, LONGEST_AGE = 5.0, 60.0
"""Sums younger than this are not read again; older ones always are [s]..."""
READ_EVERY = dt.timedelta(minutes=1)
"""...and in between once the clock of the service has moved this far."""
CHANGING = dt.timedelta(minutes=45)
"""Estimates of this period may still be refined: they are read every time..."""
READ_ALL_EVERY = 900.0
"""...and all of the day this often, since late readings correct earlier estimates [s]."""


@dataclass
class ZoneDay:
    """The current day in a time zone, and the quarter hours of its rooms so far."""

    zone: ZoneInfo
    start: dt.datetime
    end: dt.datetime
    rooms: frozenset[str]
    read_all: float  # when all of it was read, by the monotonic clock [s]
    quarters: dict[str, dict[int, QuarterHour]] = field(default_factory=dict)

    def slots(self, minutes: int) -> list[Slot]:
        """Return the slots of the day."""
        return local_slots(quarter_number(self.start), quarter_number(self.end), self.zone, minutes=minutes)


def day_of(now: dt.datetime, zone: ZoneInfo) -> tuple[dt.datetime, dt.datetime]:
    """Return the start and the end of the local day that a time is in."""
    today = now.astimezone(zone).date()
    midnights = (today, today + dt.timedelta(days=1))
    start, end = (dt.datetime.combine(day, dt.time(), zone).astimezone(dt.UTC) for day in midnights)
    return start, end


class _Known(NamedTuple):
    """Days that were read, at a time of the monotonic clock [s] and of the service."""

    days: dict[str, ZoneDay]
    read_at: float
    now: dt.datetime


class TodayUse:
    """Quarter hours of all rooms since their midnight, kept for a minute.

    One request reads them from the store at a time. Meanwhile the others get what was read before, without
    waiting: with thousands of rooms it may take seconds.
    """

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._known: _Known | None = None

    async def days(self, store: Store, rooms: Iterable[RoomConfig], now: dt.datetime) -> list[ZoneDay]:
        """Return the day of each time zone that has rooms, as of ``now`` or up to a minute before."""
        wanted = {
            zone: frozenset(room.id for room in some)
            for zone, some in groupby(sorted(rooms, key=_by_zone), key=_by_zone)
        }
        if self._known is None or not (self._lock.locked() or _is_fresh(self._known, wanted, now)):
            async with self._lock:
                if self._known is None or not _is_fresh(self._known, wanted, now):
                    self._known = await run_in_threadpool(_read, self._known, store, wanted, now)
        return list(self._known.days.values())


def _is_fresh(known: _Known, wanted: dict[str, frozenset[str]], now: dt.datetime) -> bool:
    if {zone: day.rooms for zone, day in known.days.items()} != wanted:
        return False
    age = time.monotonic() - known.read_at
    return age < SHORTEST_AGE or (age < LONGEST_AGE and abs(now - known.now) < READ_EVERY)


def _read(known: _Known | None, store: Store, wanted: dict[str, frozenset[str]], now: dt.datetime) -> _Known:
    clock = time.monotonic()
    days = {zone: _read_day(known, store, zone, rooms, now, clock) for zone, rooms in wanted.items()}
    return _Known(days, clock, now)


def _read_day(
    known: _Known | None, store: Store, zone: str, rooms: frozenset[str], now: dt.datetime, clock: float
) -> ZoneDay:
    """Read a day, or only what may have changed since it was read."""
    start, end = day_of(now, ZoneInfo(zone))
    day, since = ZoneDay(ZoneInfo(zone), start, end, rooms, clock), start
    before = None if known is None else known.days.get(zone)
    if (
        known is not None
        and before is not None
        and (before.start, before.rooms) == (start, rooms)
        and clock - before.read_all < READ_ALL_EVERY
    ):
        first = quarter_number(max(start, known.now - CHANGING))
        since = to_time(first * QUARTER)
        day.read_all = before.read_all
        day.quarters = {
            room: {number: one for number, one in some.items() if number < first}
            for room, some in before.quarters.items()
        }
    for one in store.quarter_hours(sorted(rooms), since, end):
        day.quarters.setdefault(one.room, {})[one.number] = one
    return day


def _by_zone(room: RoomConfig) -> str:
    return room.timezone


def means(slots: Iterable[Slot], quarters: dict[int, QuarterHour]) -> Iterator[float | None]:
    """Yield the mean of each slot, rounded to a tenth [people]; None if unknown."""
    for slot in slots:
        some = [quarters[n] for n in range(slot.first, slot.first + slot.quarters) if n in quarters]
        known = sum(quarter.known for quarter in some)
        yield round(sum(quarter.people or 0.0 for quarter in some) / known, 1) if known else None
