"""Occupancy by local hour: quarter hours of UTC, as the store sums them up, combined into hours of a room.

The offset of every time zone is a multiple of 15 minutes, so each local hour consists of whole quarter hours,
also on days of 23 or 25 hours. The refined estimate counts where there is one.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

QUARTER = 900_000_000
"""A quarter of an hour [us]."""
EMPTY = 0.5
"""Largest estimate of an empty room, which rounds to 0 [people]; as in `utilisation.counts.is_in_use`."""
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_QUARTER = dt.timedelta(minutes=15)


class QuarterHour(NamedTuple):
    """Sums over the estimates of a room in a quarter of an hour.

    Parameters
    ----------
    room : str
        Room id.
    number : int
        Quarter hours since 1970, in UTC.
    n, known, used : int
        Number of estimates, of those with a known occupancy, and of those with a room in use.
    first, last : int
        Time of the first and the last estimate [us].
    people, low, high : float or None
        Sum of the estimates and of the limits of their prediction intervals [people].
    with_interval : int
        Number of estimates with a prediction interval.
    peak : float or None
        Largest estimate [people].
    """

    room: str
    number: int
    n: int
    known: int
    used: int
    first: int
    last: int
    people: float | None
    peak: float | None
    low: float | None
    high: float | None
    with_interval: int


class Slot(NamedTuple):
    """A local hour, or another period of the local day."""

    start: dt.datetime  # in the time zone of the room
    first: int  # its first quarter hour
    quarters: int  # their number: 4 in an hour, 2 if the clocks change within it


@dataclass(frozen=True)
class SlotUse:
    """Use of a room in a slot.

    Parameters
    ----------
    start : datetime
        Start, in the time zone of the room.
    minutes : int
        Length [min].
    people, peak : float, optional
        Mean and largest estimate [people]; None if unknown.
    low, high : float, optional
        Mean limits of the prediction intervals [people], which include the mean.
    known : float
        Fraction of the slot with a known occupancy [0..1].
    in_use : float
        Time in use, of the known part [min].
    """

    start: dt.datetime
    minutes: int
    people: float | None
    peak: float | None
    low: float | None
    high: float | None
    known: float
    in_use: float


def quarter_number(time: dt.datetime) -> int:
    """Return the number of the quarter hour that a time is in, since 1970 in UTC."""
    return (time - _EPOCH) // _QUARTER


def local_slots(first: int, end: int, zone: dt.tzinfo, *, minutes: int = 60) -> list[Slot]:
    """Return the local slots that the quarter hours from ``first`` up to ``end`` belong to.

    Parameters
    ----------
    first, end : int
        Numbers of quarter hours, see `quarter_number`.
    zone : tzinfo
        Time zone of the room.
    minutes : int
        Length of a slot: 15, 30 or 60 [min].

    Examples
    --------
    A day of 23 hours:

    >>> from zoneinfo import ZoneInfo
    >>> zone = ZoneInfo("Europe/Copenhagen")
    >>> days = [dt.datetime(2026, 3, day, tzinfo=zone) for day in (29, 30)]
    >>> slots = local_slots(*map(quarter_number, days), zone)
    >>> len(slots), [slot.start.hour for slot in slots[:4]]
    (23, [0, 1, 3, 4])
    """
    slots: list[Slot] = []
    last: tuple[object, ...] | None = None
    for number in range(first, end):
        local = (_EPOCH + number * _QUARTER).astimezone(zone)
        key = (local.date(), local.hour, local.minute // minutes, local.utcoffset())
        if key == last:
            slots[-1] = slots[-1]._replace(quarters=slots[-1].quarters + 1)
        else:
            slots.append(Slot(local, number, 1))
        last = key
    return slots


def slot_use(slots: Sequence[Slot], quarters: Iterable[QuarterHour]) -> list[SlotUse]:
    """Return the use of a room in each slot.

    Parameters
    ----------
    slots : sequence of Slot
    quarters : iterable of QuarterHour
        Of one room. A quarter hour without estimates may be missing.

    Examples
    --------
    >>> slots = local_slots(0, 8, dt.UTC)
    >>> quarter = QuarterHour("lab", 0, 15, 15, 6, 0, 840_000_000, 30.0, 5.0, 15.0, 45.0, 15)
    >>> first, second = slot_use(slots, [quarter])
    >>> first.people, first.peak, first.known, first.in_use, second.people
    (2.0, 5.0, 0.25, 6.0, None)
    """
    by_number = {quarter.number: quarter for quarter in quarters}
    found = [
        [by_number[n] for n in range(slot.first, slot.first + slot.quarters) if n in by_number]
        for slot in slots
    ]
    steps = _steps(slots, found)
    return [_combine(slot, some, steps[slot.start.date()]) for slot, some in zip(slots, found, strict=True)]


def _steps(slots: Sequence[Slot], found: Sequence[Sequence[QuarterHour]]) -> Mapping[dt.date, float]:
    """Return the time between two estimates on each day [min]: the shortest mean of any slot."""
    steps: dict[dt.date, float] = {}
    for slot, some in zip(slots, found, strict=True):
        n = sum(quarter.n for quarter in some)
        step = 15.0 * slot.quarters
        if n > 1:
            step = (some[-1].last - some[0].first) / (n - 1) / 60_000_000
        day = slot.start.date()
        steps[day] = min(steps.get(day, step), step)
    return steps


def _combine(slot: Slot, quarters: Sequence[QuarterHour], step: float) -> SlotUse:
    minutes = 15 * slot.quarters
    known = sum(quarter.known for quarter in quarters)
    if not known:
        return SlotUse(slot.start, minutes, None, None, None, None, 0.0, 0.0)
    mean = sum(quarter.people or 0.0 for quarter in quarters) / known
    peak = max(quarter.peak for quarter in quarters if quarter.peak is not None)
    with_interval = sum(quarter.with_interval for quarter in quarters)
    low = high = None
    if with_interval:
        low = min(mean, sum(quarter.low or 0.0 for quarter in quarters) / with_interval)
        high = max(mean, sum(quarter.high or 0.0 for quarter in quarters) / with_interval)
    used = sum(quarter.used for quarter in quarters)
    covered = min(1.0, known * step / minutes)
    return SlotUse(slot.start, minutes, mean, peak, low, high, covered, covered * minutes * used / known)
