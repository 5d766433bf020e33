"""One room of the service: readings in whatever order, estimates of its local day.

What is estimated of a day is a function of the readings that are kept of it, and of those some hours before
midnight: not of the order in which they came, and not of restarts in between.
"""

from __future__ import annotations

import datetime as dt
import math
from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple
from zoneinfo import ZoneInfo

import numpy as np

from occupair.live.instants import to_microseconds, to_time
from occupair.live.messages import Estimated, Fate, Quality, Reading, RoomState, unknown_state
from occupair.live.rooms.batching import Work, alone
from occupair.live.rooms.reading_grid import VENTILATION_HOLDS, Column, Row, Rows, Slots
from occupair.live.rooms.sensor_clock import SensorClock
from occupair.live.rooms.sensor_faults import LOOKS_BACK, Watch, is_plausible
from occupair.live_room import Estimate, LiveRoom
from occupair.live_rooms import Due
from occupair.readings.grid import MINUTE
from occupair.room.lags import PUBLISHED_LAG, lag_in_readings

AT_MIDNIGHT = 30.0
"""A day whose first reading comes this long after midnight still begins with an empty room [min]."""
AHEAD = dt.timedelta(minutes=2)
"""How far a sensor's clock may be ahead of ours."""
TREND = 10.0
"""How far back a count is compared with for its trend [min]."""
UNTRAINED_INTERVAL = 1.0
"""Grid of a room that has no model yet [min]."""
NO_VENTILATION = "ventilation is not known, and the model needs it"


class Model(NamedTuple):
    """What a room is estimated with."""

    version: int  # in the store
    room: LiveRoom  # before its first reading


class Track:
    """One room.

    Parameters
    ----------
    room : str
        Its id.
    zone : ZoneInfo
        Where midnight is.
    model : Model, optional
        What it is estimated with.
    """

    def __init__(self, room: str, zone: ZoneInfo, model: Model | None = None) -> None:
        self.room = room
        self.zone = zone
        self.clock = SensorClock()
        self.broken = False  # whether estimating failed, which it never should; readings are still taken
        self._failed = Column()  # CO2 that no room can have [ppm]
        self._slots = Slots(UNTRAINED_INTERVAL)
        self._day: tuple[int, int] | None = None  # midnight before and after the newest row [us]
        self._restless = False  # whether newest rows have been changed after they were estimated
        self._live: LiveRoom | None = None
        self._before: LiveRoom | None = None  # of a restless room, as it was before its newest row
        alone(self.use(model))

    def use(self, model: Model | None) -> Work[list[Estimated]]:
        """Estimate with a model from now on; what it says of today."""
        self.model, self.broken = model, False
        old = self._slots
        self._slots = Slots(UNTRAINED_INTERVAL if model is None else model.room.interval)
        self._slots.co2, self._slots.ventilation = old.co2, old.ventilation
        self._watch = Watch(self._slots.co2)
        self._wait = lag_in_readings(PUBLISHED_LAG, self._slots.step / MINUTE)
        self._forget_rows()
        if not len(self._slots.co2):
            return []
        self._begin_last_day()
        return (yield from self._replay())

    def inherit(self, other: Track) -> None:
        """Take over all that another track of the same room has read, before a model is used."""
        self.clock, self._failed = other.clock, other._failed
        self._slots.co2, self._slots.ventilation = other._slots.co2, other._slots.ventilation

    def has(self, reading: Reading) -> bool:
        """Tell whether all that a reading says of its time is known."""
        time = to_microseconds(reading.time)
        known_co2 = reading.co2 is None or self._slots.co2.has(time) or self._failed.has(time)
        return known_co2 and (reading.ventilation is None or self._slots.ventilation.has(time))

    def take(self, readings: Sequence[Reading]) -> Work[tuple[list[Fate], list[Estimated]]]:
        """Take readings, in whatever order.

        Returns
        -------
        fates, estimates
            What became of each; and the estimates that are new or not what they were.
        """
        fates, ticks, changes = [], [], []
        for reading in readings:
            if self.has(reading):
                fates.append(Fate.DUPLICATE)
                continue
            time = to_microseconds(reading.time)
            ticks.append(self._tick(time))
            fates.append(self._fate(ticks[-1]))
            self._put(time, reading)
            before = self._slots.co2.before(time - 1)  # it is held until this one, if that is near
            changes.append(ticks[-1] if before < 0 else self._tick(self._slots.co2.times[before]))
        if self._day is not None and ticks and max(ticks) >= self._day[1]:
            self.broken = False  # another day, another try
        estimates = (yield from self._revise(min(ticks + changes))) if ticks and not self.broken else []
        return fates, estimates

    def restore(self, readings: Iterable[Reading], said: Iterable[Estimated] = ()) -> Work[list[Estimated]]:
        """Become the room that took these readings; what had to be estimated anew for that.

        Parameters
        ----------
        readings : iterable of Reading
            All that are kept since ``window``.
        said : iterable of Estimated
            What was said of the last times; without it the whole day is estimated anew, which takes longer.
        """
        for reading in readings:
            if not self.has(reading):
                self._put(to_microseconds(reading.time), reading)
        if not len(self._slots.co2):
            return []
        self._begin_last_day()
        if self._resume({one.time: one for one in said}):
            return []
        return (yield from self._replay())

    @property
    def midnight(self) -> dt.datetime | None:
        """When the day of the newest reading began."""
        return None if self._day is None else to_time(self._day[0])

    def state(self, now: dt.datetime, stale_after: float) -> RoomState:
        """Say what the room says; silence of more than ``stale_after`` [min] counts as not knowing."""
        newest = self._said[-1] if self._said else None
        quality, reason = self._quality(newest, now, stale_after)
        if newest is None:
            return unknown_state(self.room, quality, reason)
        known = newest.people is not None and not reason
        exact = newest.people if known else None
        return RoomState(
            room=self.room,
            time=newest.time,
            people=None if exact is None else round(exact),
            people_exact=exact,
            low=newest.low if known else None,
            high=newest.high if known else None,
            occupied=None if exact is None else round(exact) > 0,
            co2=newest.co2,
            co2_smoothed=newest.co2_smoothed,
            ventilation=newest.ventilation,
            people_refined=self._thought_of(self._wait) if known else None,
            quality=quality,
            reason=reason,
            trend=0 if exact is None else self._trend(exact),
        )

    # ---- readings ----

    def _put(self, time: int, reading: Reading) -> None:
        if self._day is not None and time < self._day[0] - _kept_before_midnight():
            return  # of no matter to this day
        known = self._slots.co2.has(time) or self._failed.has(time)
        if reading.co2 is not None and not known:
            column = self._slots.co2 if is_plausible(reading.co2) else self._failed
            place = column.put(time, reading.co2)
            if place < len(column) - 1:
                self._watch.begin()
        if reading.ventilation is not None and not self._slots.ventilation.has(time):
            self._slots.ventilation.put(time, reading.ventilation)
        if reading.co2 is not None:
            self.clock.see(reading)

    def _fate(self, tick: int) -> Fate:
        if self._day is not None and tick < self._day[0]:
            return Fate.TOO_LATE
        return Fate.LATE if len(self._rows) and tick < self._rows.ticks[-1] else Fate.ACCEPTED

    # ---- rows ----

    def _revise(self, since: int) -> Work[list[Estimated]]:
        """Estimate anew from a grid time on, as far as that changes anything."""
        if self._day is None:
            if not len(self._slots.co2):
                return []
            self._begin_day(self._tick(self._slots.co2.times[0]))
        assert self._day is not None
        known = self._rows.ticks
        begin = max(min(since, known[-1] + self._slots.step if known else since), self._day[0])
        place = bisect_left(known, begin)
        rows = self._rows_since(begin)
        if place < len(known) - 1:
            self._watch.begin()
        same = 0
        while place < len(known) and same < len(rows) and self._is_same(place, rows[same]):
            place, same = place + 1, same + 1
        rows = rows[same:]
        if not rows:
            return []
        if place == len(known) - 1 and (self._live is None or self._before is not None):
            self._live = None if self._before is None else self._before.copy()
            self._rows.pop()
            self._said.pop()
        elif place < len(known):
            self._restless |= place == len(known) - 1
            return (yield from self._replay(min(rows[0].tick, known[max(place - self._wait, 0)])))
        return (yield from self._add(rows))

    def _is_same(self, place: int, row: Row) -> bool:
        return self._rows.is_at(place, row, suspect=bool(self._watch.at(row.tick)))

    def _rows_since(self, since: int) -> list[Row]:
        """Give the rows from a time on; every midnight is a grid time, also where the clock changes."""
        rows: list[Row] = []
        stop, newest = since, self._slots.co2.times[-1] + self._slots.step
        while stop <= newest or stop == since:
            start, stop = day_of(self.zone, stop)
            rows += self._slots.rows(max(since, start), stop, midnight=start)
        return rows

    def _add(self, rows: list[Row]) -> Work[list[Estimated]]:
        estimates: dict[dt.datetime, Estimated] = {}
        for number, row in enumerate(rows):
            if self._restless and number == len(rows) - 1 and self._live is not None:
                self._before = self._live.copy()
            for one in (yield from self._step(row)):
                estimates[one.time] = one
        return list(estimates.values())

    def _replay(self, since: int = 0) -> Work[list[Estimated]]:
        """Estimate the day anew, or what of it may change from a grid time on; the estimates from then on."""
        assert self._day is not None
        self._begin_day(self._day[0])
        rows = self._rows_since(self._day[0])
        changed = bisect_left([row.tick for row in rows], since)
        begin = max(changed - self._wait - 1, 0)  # what was said of the rows between gets a second thought
        self._pass_over(rows[:begin])
        estimates = yield from self._add(rows[begin:])
        return [one for one in estimates if to_microseconds(one.time) >= since]

    def _resume(self, said: dict[dt.datetime, Estimated]) -> bool:
        """Go on from what was said of the last rows, if that is known."""
        assert self._day is not None
        rows = self._rows_since(self._day[0])
        last = [said.get(to_time(row.tick)) for row in rows[-self._wait - 2 :]]
        known = [one for one in last if one is not None]
        if len(known) < len(last):
            return False
        self._pass_over(rows)
        self._said.extend(known)
        self.fault = self._watch.at(rows[-1].tick) if self._is_usable(rows[-1]) else NO_VENTILATION
        return True

    def _pass_over(self, rows: list[Row]) -> None:
        """Become the day that has estimated these rows, in less time than that would take."""
        for row in rows:
            self._rows.append(row, suspect=bool(self._watch.at(row.tick)))
        first = len(rows)  # of those without a gap until now
        while first > 0 and self._is_usable(rows[first - 1]) and self._is_next(rows, first):
            first -= 1
        rows = rows[first:]
        if rows and self._live is not None:
            flow = np.array([row.ventilation or 0.0 for row in rows])
            times = [to_time(row.tick).astimezone(self.zone) for row in rows]
            self._live.resume(times, np.array([row.co2 for row in rows]), flow)

    def _is_next(self, rows: list[Row], place: int) -> bool:
        """Tell whether nothing is missing between the row before a place and that at it."""
        return place == len(rows) or rows[place].tick - rows[place - 1].tick == self._slots.step

    def _is_usable(self, row: Row) -> bool:
        needs_flow = self.model is not None and self.model.room.uses_ventilation
        return row.ventilation is not None or not needs_flow

    def _step(self, row: Row) -> Work[list[Estimated]]:
        """Estimate the next row; also what is now thought of twenty minutes before."""
        if self._day is None or row.tick >= self._day[1]:
            self._begin_day(row.tick)
        self.fault = self._watch.at(row.tick)
        self._rows.append(row, suspect=bool(self.fault))
        self._said.append((yield from self._estimate(row)))
        newest = self._said[-1]
        if self._live is None or not self._is_usable(row):
            return [newest]
        if not 0 < self._wait < min(len(self._said), len(self._live)):
            return [newest]
        earlier = self._said[-1 - self._wait]
        before = to_time(row.tick - self._wait * self._slots.step)
        if earlier.time != before or earlier.people is None:
            return [newest]
        earlier = replace(earlier, people_refined=self._live.thought_of(self._wait))
        self._said[-1 - self._wait] = earlier
        return [earlier, newest]

    def _estimate(self, row: Row) -> Work[Estimated]:
        if self._live is None:
            return self._said_of(row, Quality.UNTRAINED)
        if not self._is_usable(row):
            self.fault = NO_VENTILATION
            return self._said_of(row, Quality.SUSPECT)
        local = to_time(row.tick).astimezone(self.zone)
        found = yield Due(self._live, local, row.co2, row.ventilation)
        if not math.isfinite(found.people):
            self.fault = "the model gives no number"
        if self.fault:
            return self._said_of(row, Quality.SUSPECT, self._live.co2_now)
        quality = Quality.OK if found.quality == "ok" else Quality.STARTING
        is_known = quality is Quality.OK or self._began_empty(row.tick)
        return self._said_of(row, quality, self._live.co2_now, found if is_known else None)

    def _said_of(
        self, row: Row, quality: Quality, co2_smoothed: float | None = None, found: Estimate | None = None
    ) -> Estimated:
        return Estimated(
            room=self.room,
            time=to_time(row.tick),
            people=found and found.people,
            low=found and found.low,
            high=found and found.high,
            people_refined=found.people if found and self._wait == 0 else None,
            co2=row.co2,
            co2_smoothed=row.co2 if co2_smoothed is None else co2_smoothed,
            ventilation=row.ventilation,
            quality=quality,
        )

    def _began_empty(self, tick: int) -> bool:
        """Tell whether the readings until now, without a gap, began at midnight, with nobody in."""
        assert self._live is not None
        assert self._day is not None
        return tick - (len(self._live) - 1) * self._slots.step - self._day[0] <= AT_MIDNIGHT * MINUTE

    # ---- days ----

    def _begin_last_day(self) -> None:
        """Start the day of the last row."""
        self._begin_day(self._slots.co2.times[-1])
        assert self._day is not None
        rows = self._rows_since(self._day[0])
        if rows and rows[-1].tick >= self._day[1]:
            self._begin_day(rows[-1].tick)

    def _begin_day(self, time: int) -> None:
        """Start the local day of a time; what is older than matters for it is forgotten."""
        self._day = day_of(self.zone, time)
        for column in (self._slots.co2, self._slots.ventilation, self._failed):
            column.forget_before(self._day[0] - _kept_before_midnight())
        self._forget_rows()
        self._live = None if self.model is None else self.model.room.anew()

    def _forget_rows(self) -> None:
        self._rows = Rows()
        self._said: deque[Estimated] = deque(maxlen=self._wait + 2)
        self._watch.begin()
        self.fault = ""
        self._live = self._before = None

    def _tick(self, time: int) -> int:
        """Give the first grid time at or after a time."""
        start, stop = (
            self._day if self._day and self._day[0] <= time < self._day[1] else day_of(self.zone, time)
        )
        return min(time + (start - time) % self._slots.step, stop)

    # ---- what it says ----

    def _quality(self, newest: Estimated | None, now: dt.datetime, stale_after: float) -> tuple[Quality, str]:
        if self.model is None:
            return Quality.UNTRAINED, "the room has no model yet"
        if self.clock.received is None:
            return Quality.STALE, "no reading yet"
        if (now - self.clock.received).total_seconds() > 60 * stale_after:
            return Quality.STALE, self._silent_since(self.clock.received, now)
        if fault := self._fault_now(newest, now):
            return Quality.SUSPECT, fault
        if newest is None:
            return Quality.STALE, "no CO2 reading yet"
        if (now - newest.time).total_seconds() > 60 * stale_after and not self.clock.catches_up(now):
            return Quality.STALE, self._silent_since(newest.time, now)
        if newest.people is None:
            return newest.quality, "little was seen since readings began"
        return newest.quality, ""

    def _fault_now(self, newest: Estimated | None, now: dt.datetime) -> str:
        """Say what is wrong with the sensor, its clock or ours."""
        if self.broken:
            return "estimating failed: see the log"
        if self.clock.fault:
            return self.clock.fault
        ahead = AHEAD + dt.timedelta(microseconds=self._slots.step)
        if newest is not None and newest.time > now + ahead:
            return "the newest reading is of a time to come: a clock was wrong"
        if len(self._failed) and self._failed.times[-1] > (self._slots.co2.times or [-1])[-1]:
            return f"the sensor reads {self._failed.values[-1]:g} ppm"
        return self.fault if newest is not None and newest.quality is Quality.SUSPECT else ""

    def _silent_since(self, last: dt.datetime, now: dt.datetime) -> str:
        """Say since when nothing came, in words that stay the same while nothing comes."""
        last, now = last.astimezone(self.zone), now.astimezone(self.zone)
        when = f"{last:%H:%M}" if last.date() == now.date() else f"{last:%d %B}"
        return f"no reading since {when}"

    def _thought_of(self, back: int) -> float | None:
        if self._live is None or len(self._live) <= back:
            return None
        return self._live.thought_of(back)

    def _trend(self, people: float) -> int:
        before = self._thought_of(round(TREND * MINUTE / self._slots.step))
        if before is None or abs(people - before) < 0.75:
            return 0
        return 1 if people > before else -1


def day_of(zone: ZoneInfo, time: int) -> tuple[int, int]:
    """Give the local midnight before and after a time [us]."""
    return _midnights(zone, to_time(time).astimezone(zone).date())


@lru_cache(maxsize=1024)
def _midnights(zone: ZoneInfo, date: dt.date) -> tuple[int, int]:
    days = (date, date + dt.timedelta(days=1))
    start, stop = (to_microseconds(dt.datetime(d.year, d.month, d.day, tzinfo=zone)) for d in days)
    return start, stop


def midnight_before(time: dt.datetime, zone: ZoneInfo) -> dt.datetime:
    """Give the local midnight before a time, in UTC."""
    return to_time(day_of(zone, to_microseconds(time))[0])


def window(newest: dt.datetime, zone: ZoneInfo) -> dt.datetime:
    """Give a time since when readings matter to a room, when one of this time is the newest, CO2 or not."""
    before = dt.timedelta(days=1, microseconds=_kept_before_midnight())
    return midnight_before(newest, zone) - before


def _kept_before_midnight() -> int:
    return round(max(LOOKS_BACK, VENTILATION_HOLDS) * MINUTE)
