"""Routes of rooms: current states, and the history of estimates."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Annotated
from zoneinfo import ZoneInfo

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic.json_schema import SkipJsonSchema
from starlette.concurrency import run_in_threadpool

from occupair.live.config import RoomConfig
from occupair.live.http.dependencies import (
    get_all_rooms,
    get_encoder,
    get_language,
    get_pipeline,
    get_room,
)
from occupair.live.http.rfc3339 import format_time, parse_query_time
from occupair.live.http.schemas import MAX_ESTIMATES, History, Room, Rooms, Time
from occupair.live.http.state_json import estimates_json, to_json
from occupair.web.access import require
from occupair.web.errors import error_responses

if TYPE_CHECKING:
    from occupair.live.store import Store

router = APIRouter(prefix="/api/rooms", tags=["rooms"])
OptionalTime = Time | SkipJsonSchema[None]


@router.get(
    "",
    response_model=Rooms,
    summary="All rooms",
    dependencies=[Depends(require("read"))],
    responses=error_responses(),
)
async def all_rooms(request: Request) -> Response:
    """Return all rooms with their current states."""
    pipeline, encoder, language = get_pipeline(request), get_encoder(request), get_language(request)
    states = get_all_rooms(request).states()
    rooms = ",".join(
        encoder.encode_room(room, states.get(room.id), language) for room in pipeline.config.rooms.values()
    )
    return _json_response(f'{{"rooms":[{rooms}]}}')


@router.get(
    "/{room}",
    response_model=Room,
    summary="One room",
    dependencies=[Depends(require("read"))],
    responses=error_responses(404),
)
async def one_room(request: Request, room: Annotated[RoomConfig, Depends(get_room)]) -> Response:
    """Return a room with its current state."""
    state = get_all_rooms(request).state(room.id)
    return _json_response(get_encoder(request).encode_room(room, state, get_language(request)))


@router.get(
    "/{room}/history",
    response_model=History,
    summary="Estimates of a room",
    dependencies=[Depends(require("read"))],
    responses=error_responses(404, 422, 503),
)
async def history(
    request: Request,
    room: Annotated[RoomConfig, Depends(get_room)],
    since: Annotated[OptionalTime, Query(alias="from", description="Start of the period, inclusive.")] = None,
    until: Annotated[OptionalTime, Query(alias="to", description="End of the period, exclusive.")] = None,
    after: Annotated[OptionalTime, Query(description="`next` of the previous page.")] = None,
    limit: Annotated[int, Query(ge=1, le=MAX_ESTIMATES, description="Maximum number of estimates.")] = 2_000,
) -> Response:
    """Return estimates in order of time, page by page: repeat with ``after`` until ``next`` is null.

    Times without an offset are local times of the room.
    """
    begin, end, last = _parse_times(room, since, until, after)
    store = get_pipeline(request).store
    return _json_response(await run_in_threadpool(_history_page, store, room.id, begin, end, last, limit))


def _parse_times(room: RoomConfig, *texts: str | None) -> list[dt.datetime | None]:
    zone = ZoneInfo(room.timezone)
    named = zip(("from", "to", "after"), texts, strict=True)
    return [None if text is None else parse_query_time(name, text, zone) for name, text in named]


def _history_page(
    store: Store,
    room: str,
    since: dt.datetime | None,
    until: dt.datetime | None,
    after: dt.datetime | None,
    limit: int,
) -> str:
    """Return one page as JSON. One estimate more is read, to know whether another page follows."""
    found = store.estimates(room, since, until, limit=limit + 1, after=after)
    following = format_time(found[limit - 1].time) if len(found) > limit else None
    return f'{{"estimates":{estimates_json(found[:limit])},"next":{to_json(following)}}}'


def _json_response(text: str) -> Response:
    return Response(text, media_type="application/json")
