"""Routes of hours: the use of a room by local hour, of all rooms today, and both as CSV."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any
from zoneinfo import ZoneInfo

from fastapi import APIRouter, Depends, HTTPException, Query, Request, Response
from starlette.concurrency import run_in_threadpool

from occupair.live.config import RoomConfig
from occupair.live.hours import QUARTER, Slot, SlotUse, local_slots, quarter_number, slot_use
from occupair.live.http import csv_export
from occupair.live.http.dependencies import get_pipeline, get_room, get_today
from occupair.live.http.rfc3339 import format_time, parse_query_time
from occupair.live.http.rooms import OptionalTime
from occupair.live.http.schemas import Hours, Today
from occupair.live.http.state_json import to_json
from occupair.live.http.today import ZoneDay, means
from occupair.live.messages import FIRST_YEAR, LAST_YEAR, is_valid_time, to_time
from occupair.web.access import require
from occupair.web.errors import error_responses

if TYPE_CHECKING:
    from occupair.live.pipeline import Pipeline
    from occupair.live.store import Store

router = APIRouter(prefix="/api", tags=["hours"])
MAX_DAYS, MAX_EXPORT_DAYS = 62, 400
"""Longest period of a response, and of an export [days]."""
TODAY_SLOT = 30
"""Length of the slots of all rooms today [min]."""
_DAY = 96  # [quarter hours]
_HOURS_AT_ONCE = 7 * 24

Since = Annotated[
    OptionalTime, Query(alias="from", description="Start, inclusive. Default: this Monday, 0:00.")
]
Until = Annotated[OptionalTime, Query(alias="to", description="End, exclusive. Default: 7 days later.")]
_CSV: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/csv": {"schema": {"type": "string"}}}, "description": "The file."}
}


@router.get(
    "/rooms/{room}/hours",
    response_model=Hours,
    summary="Hours of a room",
    dependencies=[Depends(require("read"))],
    responses=error_responses(404, 422, 503),
)
async def hours(
    request: Request,
    room: Annotated[RoomConfig, Depends(get_room)],
    since: Since = None,
    until: Until = None,
) -> Response:
    """Return the use of a room by hour of its local time, up to 62 days; by default this week.

    A day has 23 or 25 hours when the clocks change. Refined estimates count where there are any. Times
    without an offset are local times of the room, and both are rounded down to a quarter of an hour.
    """
    pipeline = get_pipeline(request)
    slots = _hours(pipeline, room, since, until, MAX_DAYS)
    found = await run_in_threadpool(_use, pipeline.store, room.id, slots)
    return _json({"hours": [_plain(one) for one in found]})


@router.get(
    "/rooms/{room}/hours.csv",
    summary="Hours of a room as CSV",
    response_class=Response,
    dependencies=[Depends(require("read"))],
    responses=error_responses(404, 422, 503) | _CSV,
)
async def hours_csv(
    request: Request,
    room: Annotated[RoomConfig, Depends(get_room)],
    since: Since = None,
    until: Until = None,
) -> Response:
    """Return the hours of a room as a CSV file, up to 400 days; by default this week."""
    pipeline = get_pipeline(request)
    slots = await run_in_threadpool(_hours, pipeline, room, since, until, MAX_EXPORT_DAYS)
    parts = _room_lines(pipeline.store, room, slots)
    begin = await run_in_threadpool(next, parts)  # an error of the database is a status, not half a file
    days = [f"{slot.start:%Y-%m-%d}" for slot in slots[:1]]
    return csv_export.download(chain([begin], parts), "-".join([room.id, *days]))


@router.get(
    "/today",
    response_model=Today,
    summary="All rooms today",
    dependencies=[Depends(require("read"))],
    responses=error_responses(503),
)
async def today(request: Request) -> Response:
    """Return the mean occupancy of all rooms by half hour since their local midnight, up to a minute old."""
    days = await _days(request)
    return Response(await run_in_threadpool(today_json, days), media_type="application/json")


@router.get(
    "/today.csv",
    summary="All rooms today as CSV",
    response_class=Response,
    dependencies=[Depends(require("read"))],
    responses=error_responses(503) | _CSV,
)
async def today_csv(request: Request) -> Response:
    """Return the hours of all rooms since their local midnight as a CSV file."""
    pipeline = get_pipeline(request)
    days = await _days(request)
    by_room = {room: day for day in days for room in day.rooms}
    rooms = [room for room in pipeline.config.rooms.values() if room.id in by_room]
    now = pipeline.now()
    return csv_export.download(today_lines(rooms, by_room, quarter_number(now)), f"rooms-{now:%Y-%m-%d}")


async def _days(request: Request) -> list[ZoneDay]:
    pipeline, cache = get_pipeline(request), get_today(request)
    return await cache.days(pipeline.store, pipeline.config.rooms.values(), pipeline.now())


def _hours(
    pipeline: Pipeline, room: RoomConfig, since: str | None, until: str | None, most: int
) -> list[Slot]:
    """Return the local hours of a period, or respond 422."""
    zone = ZoneInfo(room.timezone)
    if since is None:
        today = pipeline.now().astimezone(zone).date()
        begin = dt.datetime.combine(today - dt.timedelta(days=today.weekday()), dt.time(), zone)
    else:
        begin = _parse_time("from", since, zone)
    end = begin + dt.timedelta(days=7) if until is None else _parse_time("to", until, zone)  # local days
    first, last = quarter_number(begin), quarter_number(end)
    if last - first > most * _DAY + 4:  # a day may have 25 hours
        raise HTTPException(422, f"from and to must be at most {most} days apart")
    return local_slots(first, last, zone)


def _parse_time(name: str, text: str, zone: ZoneInfo) -> dt.datetime:
    time = parse_query_time(name, text, zone)
    if not is_valid_time(time):
        raise HTTPException(422, f"{name} must be in the years {FIRST_YEAR} to {LAST_YEAR}")
    return time.astimezone(zone)


def _use(store: Store, room: str, slots: list[Slot]) -> list[SlotUse]:
    if not slots:
        return []
    last = slots[-1]
    since, until = to_time(slots[0].first * QUARTER), to_time((last.first + last.quarters) * QUARTER)
    return slot_use(slots, store.quarter_hours([room], since, until))


def _room_lines(store: Store, room: RoomConfig, slots: list[Slot]) -> Iterator[str]:
    """Yield the lines of a room, a week at a time."""
    for start in range(0, max(len(slots), 1), _HOURS_AT_ONCE):
        lines = csv_export.rows(room, _use(store, room.id, slots[start : start + _HOURS_AT_ONCE]))
        yield lines if start else csv_export.header() + lines


def today_lines(rooms: list[RoomConfig], days: dict[str, ZoneDay], now: int) -> Iterator[str]:
    """Yield the lines of all rooms up to the current hour."""
    yield csv_export.header()
    slots = {id(day): [slot for slot in day.slots(60) if slot.first <= now] for day in days.values()}
    for room in rooms:
        day = days[room.id]
        quarters = day.quarters.get(room.id, {}).values()
        yield csv_export.rows(room, slot_use(slots[id(day)], quarters))


def today_json(days: list[ZoneDay]) -> str:
    """Return the JSON of all rooms; values after the last known one are left out."""
    return to_json({"minutes": TODAY_SLOT, "days": [_day(day) for day in days]})


def _day(day: ZoneDay) -> dict[str, object]:
    slots = day.slots(TODAY_SLOT)
    rooms = {}
    for room in sorted(day.rooms):
        values = list(means(slots, day.quarters.get(room, {})))
        while values and values[-1] is None:
            values.pop()
        rooms[room] = values
    return {
        "timezone": day.zone.key,
        "day": day.start.astimezone(day.zone).date().isoformat(),
        "start": format_time(day.start),
        "slots": len(slots),
        "rooms": rooms,
    }


def _plain(hour: SlotUse) -> dict[str, object]:
    values = {name: getattr(hour, name) for name in ("people", "peak", "low", "high")}
    return {
        "start": hour.start.isoformat(),
        "minutes": hour.minutes,
        **{name: None if value is None else round(value, 2) for name, value in values.items()},
        "known": round(hour.known, 3),
        "in_use": round(hour.in_use, 1),
    }


def _json(value: object) -> Response:
    return Response(to_json(value), media_type="application/json")
