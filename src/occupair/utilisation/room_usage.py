"""The use of one room over a period: everything that the report states about it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pandas as pd

from occupair.utilisation.bad_days import SensorFaults
from occupair.utilisation.calendar_events import CalendarEvent
from occupair.utilisation.counts import check_counts, is_in_use, local_days, local_times
from occupair.utilisation.days import GOOD, room_days
from occupair.utilisation.meetings import FREED, Meeting, UnbookedUse, judge_meetings, unbooked_use
from occupair.utilisation.opening_hours import OpeningHours
from occupair.utilisation.seats import UnusedSeats, unused_seats
from occupair.utilisation.week_grid import week_grid
from occupair.utilisation.weeks import Change, last_week_change, room_weeks

NO_COUNTS = "no counts in this period"


@dataclass(frozen=True)
class RoomInfo:
    """What is known of a room besides its counts.

    Parameters
    ----------
    id : str
        Identifier.
    name : str
        Display name; the id if it is empty.
    floor : str
        Floor or building part.
    capacity : int, optional
        Number of seats.
    """

    id: str
    name: str = ""
    floor: str = ""
    capacity: int | None = None

    @property
    def label(self) -> str:
        """Name to show."""
        return self.name or self.id


@dataclass(frozen=True)
class RoomUsage:
    """The use of one room.

    Parameters
    ----------
    room : RoomInfo
        The room.
    problem : str
        Why there are no figures; empty if there are.
    days, grid, weeks : DataFrame
        See ``room_days``, ``week_grid`` and ``room_weeks``.
    change : Change, optional
        How the last week compares with those before.
    seats : UnusedSeats, optional
        Seats that are never used.
    people_in_use : float
        Mean count while the room was in use within the opening hours [people].
    meetings : sequence of Meeting, optional
        Meetings; None if no calendar was given.
    unbooked : sequence of UnbookedUse
        Use without a meeting.
    notes : sequence of str
        What else to know about the data of the room.
    limit : float, optional
        Largest count that the model of the room can state [people].
    """

    room: RoomInfo
    problem: str = ""
    days: pd.DataFrame = field(default_factory=pd.DataFrame)
    grid: pd.DataFrame = field(default_factory=pd.DataFrame)
    weeks: pd.DataFrame = field(default_factory=pd.DataFrame)
    change: Change | None = None
    seats: UnusedSeats | None = None
    people_in_use: float = math.nan
    meetings: Sequence[Meeting] | None = None
    unbooked: Sequence[UnbookedUse] = ()
    notes: Sequence[str] = ()
    limit: float | None = None

    @cached_property
    def good(self) -> pd.DataFrame:
        """The good days."""
        return self.days[self.days["status"] == GOOD]

    @cached_property
    def left_out(self) -> dict[str, int]:
        """Number of days left out by reason, the most frequent first."""
        return dict(Counter(status for status in self.days["status"] if status != GOOD).most_common())

    @property
    def open_days(self) -> int:
        """Number of good days with opening hours."""
        return int((self.good["open"] > 0).sum())

    def mean(self, name: str = "people") -> float:
        """Return the mean count over the opening hours [people], or that of ``"low"`` or ``"high"``."""
        return _mean(self.good[name], self.good["open"])

    def share_in_use(self, name: str = "in_use") -> float:
        """Return the share of the opening hours in use [0..1]; see ``room_days`` for other names."""
        hours = float(self.good["open"].sum())
        return float(self.good[name].sum(min_count=1)) / hours if hours else math.nan

    def capacity_used(self, name: str = "people") -> float:
        """Return the mean count over the opening hours as a share of the seats [0..1]."""
        return self.mean(name) / self.room.capacity if self.room.capacity else math.nan

    def peak(self, name: str = "peak") -> float:
        """Return the highest daily peak [people], or the highest lower or upper end of one."""
        return float(self.good[name].max()) if len(self.good) else math.nan

    @property
    def hours_per_day(self) -> float:
        """Time in use per day with opening hours [h]."""
        return float(self.good["in_use"].sum()) / self.open_days if self.open_days else math.nan

    @property
    def outside_per_day(self) -> float:
        """Time in use outside the opening hours per good day [h]."""
        return float(self.good["outside"].mean()) if len(self.good) else math.nan

    @property
    def is_at_limit(self) -> bool:
        """Whether the highest peak is the largest count the model can state, so that it may be higher."""
        return self._reaches_limit(self.peak())

    @property
    def is_interval_at_limit(self) -> bool:
        """Whether the upper end of the highest peak is the largest count the model can state."""
        return self._reaches_limit(self.peak("peak_high")) or self.is_at_limit

    def _reaches_limit(self, people: float) -> bool:
        return self.limit is not None and people >= self.limit - 0.5

    @cached_property
    def judged(self) -> list[Meeting]:
        """Meetings for which counts are known."""
        return [one for one in self.meetings or () if one.outcome != "unknown"]

    @cached_property
    def empty(self) -> list[Meeting]:
        """Meetings without people."""
        return [one for one in self.judged if one.outcome == "empty"]

    @property
    def freed_hours(self) -> float:
        """Booked time after the people of a meeting had left, at least 15 min before its end [h]."""
        freed = [one.freed for one in self.judged if one.outcome == "used" and one.freed >= FREED]
        return sum(freed) / 60

    @property
    def unbooked_hours(self) -> float:
        """Time in use without a meeting [h]."""
        return sum(one.hours for one in self.unbooked)


def room_usage(
    room: RoomInfo,
    counts: pd.DataFrame,
    opening: OpeningHours,
    *,
    faults: SensorFaults | None = None,
    events: Sequence[CalendarEvent] | None = None,
    first: pd.Timestamp | None = None,
    last: pd.Timestamp | None = None,
    notes: Sequence[str] = (),
    limit: float | None = None,
) -> RoomUsage:
    """Return the use of a room.

    Parameters
    ----------
    room : RoomInfo
        The room.
    counts : DataFrame
        Counts, see ``check_counts``; NaN where the sensor was faulty.
    opening : OpeningHours
        Opening hours.
    faults : SensorFaults, optional
        Faults of the sensor.
    events : sequence of CalendarEvent, optional
        Meetings of the room; None if no calendar was given.
    first, last : Timestamp, optional
        First and last day; by default those of the counts.
    notes : sequence of str
        What else to know about the data of the room.
    limit : float, optional
        Largest count that the model can state [people].
    """
    table = check_counts(counts)
    if table["people"].notna().sum() < 2:
        return RoomUsage(room, problem=NO_COUNTS)
    days = room_days(table, opening, faults=None if faults is None else faults.hours, first=first, last=last)
    good = table[np.isin(local_days(table), days.index[days["status"] == GOOD])]
    used = good["people"][is_in_use(good["people"]) & opening.contain(local_times(good))]
    return RoomUsage(
        room,
        days=days,
        grid=week_grid(good),
        weeks=room_weeks(days),
        change=last_week_change(days),
        seats=None if room.capacity is None else unused_seats(days, room.capacity),
        people_in_use=float(used.mean()) if len(used) else math.nan,
        meetings=None if events is None else judge_meetings(table, events),
        unbooked=() if events is None else unbooked_use(table, events),
        notes=(*notes, *(() if faults is None else faults.notes)),
        limit=limit,
    )


def _mean(values: pd.Series[float], weights: pd.Series[float]) -> float:
    known = values.notna() & (weights > 0)
    total = float(weights[known].sum())
    return float((values[known] * weights[known]).sum()) / total if total else math.nan
