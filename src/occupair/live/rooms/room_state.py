"""The state a room reports: its occupancy, or the reason why that is unknown or unusual."""

from __future__ import annotations

import datetime as dt
from itertools import pairwise

from occupair.checks.lowest_co2 import MIN_DRIFT
from occupair.live.messages import (
    MAX_CLOCK_AHEAD,
    NOT_REFINED,
    STALE_AFTER,
    EstimateRecord,
    Quality,
    RoomState,
    unknown_state,
)
from occupair.live.reasons import Cause, Reason
from occupair.live.rooms.room import Room
from occupair.readings.grid import MINUTE

TREND_LAG = 10.0
"""The trend compares the occupancy with that of this long ago [min]."""
TREND_CHANGE = 0.75
"""A smaller change is not a trend [people]."""
SPARSE_READINGS = 4
"""Readings in a row, each after a gap, from which the sensor counts as too slow for the room's settings."""


def room_state(room: Room, now: dt.datetime, stale_after: float | None = None) -> RoomState:
    """Return the state of a room.

    Parameters
    ----------
    room : Room
        The room.
    now : datetime
        Current time, in UTC.
    stale_after : float, optional
        Time without readings after which the occupancy is unknown [min]. Default: ``STALE_AFTER``, or as long
        as gaps are bridged, so that a sensor that sends rarely is not offline after every lost reading.
    """
    newest = room.today.newest
    if stale_after is None:
        stale_after = max(STALE_AFTER, room.grid.bridged / MINUTE)
    quality, cause = _quality(room, newest, now, stale_after)
    if newest is None:
        assert cause is not None
        return unknown_state(room.id, quality, cause)
    exact = newest.people if cause is None else None
    known = exact is not None
    if known and (missing := room.today.missing_sensors):
        cause = Cause(Reason.SENSORS_MISSING, {"sensors": missing})
        if stuck := room.today.stuck_sensors:
            cause = Cause(Reason.SENSORS_STUCK, {"sensors": missing, "stuck": stuck})
    if exact is not None and round(exact) > 0 and not room.today.is_usual_time(newest.time):
        cause = Cause(Reason.UNUSUAL_TIME)
    shift = room.today.baseline_shift
    note = None if shift is None else _note(shift)
    return RoomState(
        room=room.id,
        time=newest.time,
        people=None if exact is None else round(exact),
        people_exact=exact,
        low=newest.low if known else None,
        high=newest.high if known else None,
        occupied=None if exact is None else round(exact) > 0,
        co2=newest.co2,
        co2_smoothed=newest.co2_smoothed,
        ventilation=newest.ventilation,
        people_refined=room.today.refined_estimates() if known else NOT_REFINED,
        quality=quality,
        reason="" if cause is None else cause.text(),
        trend=0 if exact is None else _trend(room, exact),
        cause=cause,
        baseline_shift=shift,
        note="" if note is None else note.text(),
        note_cause=note,
    )


def _quality(
    room: Room, newest: EstimateRecord | None, now: dt.datetime, stale_after: float
) -> tuple[Quality, Cause | None]:
    """Return the quality flag, and why the occupancy is unknown, if it is."""
    if room.model is None:
        return Quality.UNTRAINED, Cause(Reason.NO_MODEL)
    received = room.clock.received
    if received is None:
        return Quality.STALE, Cause(Reason.NO_READING)
    if (now - received).total_seconds() > 60 * stale_after:
        return Quality.STALE, _offline_since(room, received, now)
    if fault := _fault(room, newest, now):
        return Quality.SUSPECT, fault
    if newest is None:
        return Quality.STALE, Cause(Reason.NO_CO2_READING)
    if (now - newest.time).total_seconds() > 60 * stale_after and not room.clock.is_catching_up(now):
        return Quality.STALE, _offline_since(room, newest.time, now)
    if newest.people is None:
        return newest.quality, _too_few(room)
    return newest.quality, None


def _fault(room: Room, newest: EstimateRecord | None, now: dt.datetime) -> Cause | None:
    """Return what is wrong with the sensor, its clock, ours or the model."""
    if room.broken:
        return Cause(Reason.ESTIMATION_FAILED)
    if room.clock.fault:
        return room.clock.fault
    ahead = MAX_CLOCK_AHEAD + dt.timedelta(microseconds=room.grid.step)
    if newest is not None and newest.time > now + ahead:
        return Cause(Reason.FUTURE_READING)
    out_of_range = room.out_of_range
    if len(out_of_range) and out_of_range.times[-1] > (room.grid.co2.times or [-1])[-1]:
        return Cause(Reason.OUT_OF_RANGE, {"co2": out_of_range.values[-1]})
    return room.today.fault if newest is not None and newest.quality is Quality.SUSPECT else None


def _too_few(room: Room) -> Cause:
    """Return why there are too few readings to estimate: a gap, or a sensor that sends too rarely."""
    times = room.grid.co2.times[-SPARSE_READINGS:]
    steps = sorted(later - earlier for earlier, later in pairwise(times))
    if len(times) < SPARSE_READINGS or steps[0] <= room.grid.bridged:
        return Cause(Reason.TOO_FEW_READINGS)
    return Cause(Reason.TOO_SPARSE, {"minutes": round(steps[len(steps) // 2] / MINUTE)})


def _note(shift: float) -> Cause | None:
    """Return what a shift of the baseline [ppm] means, in whole ppm so that the text rarely changes."""
    if abs(shift) < MIN_DRIFT:
        return None
    reason = Reason.SENSOR_READS_HIGH if shift > 0 else Reason.SENSOR_READS_LOW
    return Cause(reason, {"ppm": abs(round(shift))})


def _offline_since(room: Room, last: dt.datetime, now: dt.datetime) -> Cause:
    """Return since when there has been no reading, in values that do not change while there is none."""
    last, now = last.astimezone(room.zone), now.astimezone(room.zone)
    if last.date() == now.date():
        return Cause(Reason.OFFLINE_SINCE_TIME, {"since": last.replace(second=0, microsecond=0)})
    return Cause(Reason.OFFLINE_SINCE_DATE, {"since": last.date()})


def _trend(room: Room, people: float) -> int:
    before = room.today.refined_estimate(round(TREND_LAG * MINUTE / room.grid.step))
    if before is None or abs(people - before) < TREND_CHANGE:
        return 0
    return 1 if people > before else -1
