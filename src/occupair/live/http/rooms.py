"""Rooms: what they say now, what they said before, and readings for them."""

from __future__ import annotations

import asyncio
import datetime as dt
from typing import TYPE_CHECKING, Annotated
from zoneinfo import ZoneInfo

from fastapi import APIRouter, Depends, HTTPException, Query, Request, Response
from pydantic.json_schema import SkipJsonSchema
from starlette.concurrency import run_in_threadpool

from occupair.live.config import RoomConfig
from occupair.live.http.dependencies import now_of, pipeline_of, room_of, texts_of
from occupair.live.http.readings import SCHEMA, Refused, parse_readings, refuse_endless
from occupair.live.http.room_states import estimates_json, to_json
from occupair.live.http.schemas import MOST_ESTIMATES, History, Outcomes, Room, Rooms, Time
from occupair.live.http.times import parse_query_time, write_time
from occupair.live.messages import REJECTION_TEXTS, Reading, ReadingOutcome
from occupair.web.access import require
from occupair.web.errors import error_responses
from occupair.web.request_bodies import json_body, read_json

if TYPE_CHECKING:
    from occupair.live.pipeline import Pipeline
    from occupair.live.store import Store

router = APIRouter(prefix="/api/rooms", tags=["rooms"])
_LONG = 65_536  # bytes of readings that are parsed in a thread, so that estimates do not wait

Moment = Time | SkipJsonSchema[None]


@router.get(
    "",
    response_model=Rooms,
    summary="All rooms",
    dependencies=[Depends(require("read"))],
    responses=error_responses(),
)
async def all_rooms(request: Request) -> Response:
    """List all rooms with what they say now."""
    pipeline, texts = pipeline_of(request), texts_of(request)
    states = pipeline.states()
    rooms = ",".join(texts.room(room, states.get(room.id)) for room in pipeline.config.rooms.values())
    return _json(f'{{"rooms":[{rooms}]}}')


@router.get(
    "/{room}",
    response_model=Room,
    summary="One room",
    dependencies=[Depends(require("read"))],
    responses=error_responses(404),
)
async def one_room(request: Request, room: Annotated[RoomConfig, Depends(room_of)]) -> Response:
    """Tell what a room says now."""
    return _json(texts_of(request).room(room, pipeline_of(request).state(room.id)))


@router.get(
    "/{room}/history",
    response_model=History,
    summary="Estimates of a room",
    dependencies=[Depends(require("read"))],
    responses=error_responses(404, 422, 503),
)
async def history(
    request: Request,
    room: Annotated[RoomConfig, Depends(room_of)],
    since: Annotated[Moment, Query(alias="from", description="The first time that counts.")] = None,
    until: Annotated[Moment, Query(alias="to", description="The first time that no longer counts.")] = None,
    after: Annotated[Moment, Query(description="`next` of the page before.")] = None,
    limit: Annotated[int, Query(ge=1, le=MOST_ESTIMATES, description="How many at most.")] = 2_000,
) -> Response:
    """Give estimates by time, page by page: ask again with ``after`` until ``next`` is null.

    Times without a zone are the room's local time.
    """
    begin, end, last = _times(room, since, until, after)
    store = pipeline_of(request).store
    return _json(await run_in_threadpool(_page, store, room.id, begin, end, last, limit))


@router.post(
    "/{room}/readings",
    response_model=Outcomes,
    response_model_exclude_none=False,
    summary="Readings for a room",
    dependencies=[Depends(require("write"))],
    openapi_extra=json_body(SCHEMA),
    responses=error_responses(404, 413, 415, 422, 503),
)
async def post_readings(request: Request, room: Annotated[RoomConfig, Depends(room_of)]) -> Response:
    """Take one reading or many, and say what became of each.

    The answer comes when what was kept is safe on disk. Sending a reading again changes nothing: the room
    and the time tell it. A single reading that cannot be read is an error (422); one in a list has the
    outcome ``nonsense`` and the others are taken.
    """
    pipeline = pipeline_of(request)
    most = pipeline.config.limits.readings_per_post
    data, now = await read_json(request), now_of(pipeline)
    if len(data) > _LONG:
        parsed = await asyncio.to_thread(parse_readings, data, room, now, most=most)
    else:
        parsed = parse_readings(data, room, now, most=most)
    fates = await _submit(pipeline, parsed, within=request.app.state.durable_within)
    return _json(
        to_json({"outcomes": [_outcome(one, fate) for one, fate in zip(parsed, fates, strict=True)]})
    )


async def _submit(
    pipeline: Pipeline, parsed: list[Reading | Refused], *, within: float
) -> list[ReadingOutcome]:
    """Hand on what can be read, and wait until it is safe."""
    good = [one for one in parsed if isinstance(one, Reading) and not refuse_endless(one)]
    pipeline.counters["http", ReadingOutcome.NONSENSE] += len(parsed) - len(good)
    try:
        async with asyncio.timeout(within):
            fates = iter(await pipeline.submit(good) if good else ())
    except TimeoutError:
        line = f"the readings were not safe on disk within {within:g} s; sending them again does no harm"
        raise HTTPException(503, line, {"Retry-After": "5"}) from None
    taken = {id(one) for one in good}
    return [next(fates) if id(one) in taken else ReadingOutcome.NONSENSE for one in parsed]


def _outcome(one: Reading | Refused, fate: ReadingOutcome) -> dict[str, str | None]:
    outcome: dict[str, str | None] = {
        "time": write_time(one.time) if one.time else None,
        "outcome": fate.value,
    }
    if isinstance(one, Refused):
        return outcome | {"detail": one.detail}
    return outcome | {"detail": REJECTION_TEXTS[fate]} if fate in REJECTION_TEXTS else outcome


def _times(room: RoomConfig, *texts: str | None) -> list[dt.datetime | None]:
    zone = ZoneInfo(room.timezone)
    named = zip(("from", "to", "after"), texts, strict=True)
    return [None if text is None else parse_query_time(name, text, zone) for name, text in named]


def _page(
    store: Store,
    room: str,
    since: dt.datetime | None,
    until: dt.datetime | None,
    after: dt.datetime | None,
    limit: int,
) -> str:
    """Give one page as JSON; one estimate more than asked for tells whether there is another page."""
    found = store.estimates(room, since, until, limit=limit + 1, after=after)
    following = write_time(found[limit - 1].time) if len(found) > limit else None
    return f'{{"estimates":{estimates_json(found[:limit])},"next":{to_json(following)}}}'


def _json(text: str) -> Response:
    return Response(text, media_type="application/json")
