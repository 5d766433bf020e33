"""Occupancy of all rooms since midnight, read once for all clients from the store that shards share."""

from __future__ import annotations

import datetime as dt
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from zoneinfo import ZoneInfo

from occupair.live.config import RoomConfig
from occupair.live.hours import QuarterHour, Slot, local_slots, quarter_number
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


class TodayUse:
    """Quarter hours of all rooms since their midnight, kept for a minute. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._days: dict[str, ZoneDay] = {}
        self._read_at = float("-inf")  # monotonic [s]
        self._now: dt.datetime | None = None  # clock of the service at that time

    def days(self, store: Store, rooms: Iterable[RoomConfig], now: dt.datetime) -> list[ZoneDay]:
        """Return the day of each time zone that has rooms, as of ``now`` or up to a minute before."""
        wanted = {
            zone: frozenset(room.id for room in some)
            for zone, some in groupby(sorted(rooms, key=_by_zone), key=_by_zone)
        }
        with self._lock:
            if not self._is_fresh(wanted, now):
                clock = time.monotonic()
                self._days = {
                    zone: self._read(store, zone, some, now, clock) for zone, some in wanted.items()
                }
                self._read_at, self._now = clock, now
            return list(self._days.values())

    def _is_fresh(self, wanted: dict[str, frozenset[str]], now: dt.datetime) -> bool:
        age = time.monotonic() - self._read_at
        if self._now is None or {zone: day.rooms for zone, day in self._days.items()} != wanted:
            return False
        return age < SHORTEST_AGE or (age < LONGEST_AGE and abs(now - self._now) < READ_EVERY)

    def _read(
        self, store: Store, zone: str, rooms: frozenset[str], now: dt.datetime, clock: float
    ) -> ZoneDay:
        known, (start, end) = self._days.get(zone), day_of(now, ZoneInfo(zone))
        day, since = ZoneDay(ZoneInfo(zone), start, end, rooms, clock), start
        if (
            known is not None
            and self._now is not None
            and (known.start, known.rooms) == (start, rooms)
            and clock - known.read_all < READ_ALL_EVERY
        ):
            since = max(start, self._now - CHANGING)
            first = quarter_number(since)
            since = dt.datetime.fromtimestamp(first * 900, dt.UTC)
            day.read_all = known.read_all
            day.quarters = {
                room: {number: one for number, one in some.items() if number < first}
                for room, some in known.quarters.items()
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
