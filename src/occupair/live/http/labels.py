"""Routes of labels: head counts entered by people."""

from __future__ import annotations

import datetime as dt
from typing import Annotated
from zoneinfo import ZoneInfo

from fastapi import APIRouter, Depends, HTTPException, Query, Request
from starlette.concurrency import run_in_threadpool

from occupair.live.config import RoomConfig
from occupair.live.http.dependencies import get_own_room, get_pipeline, get_room
from occupair.live.http.rfc3339 import format_time, parse_query_time
from occupair.live.http.schemas import LabelIn, LabelOut, Labels, Time
from occupair.live.messages import FIRST_YEAR, LAST_YEAR, MAX_CLOCK_AHEAD, Label, is_valid_time
from occupair.live.wall_clock import utc_now
from occupair.web.access import require
from occupair.web.errors import error_responses
from occupair.web.request_bodies import json_body, read_model

router = APIRouter(prefix="/api/rooms/{room}/labels", tags=["labels"])


@router.get(
    "",
    summary="Labels of a room",
    dependencies=[Depends(require("read"))],
    responses=error_responses(404, 503),
)
async def labels(request: Request, room: Annotated[RoomConfig, Depends(get_room)]) -> Labels:
    """Return the labels of a room in order of time."""
    found = await run_in_threadpool(get_pipeline(request).store.labels, room.id)
    return Labels(labels=[_to_schema(label) for label in found])


@router.post(
    "",
    status_code=201,
    summary="Add a label",
    dependencies=[Depends(require("write"))],
    openapi_extra=json_body(LabelIn),
    responses=error_responses(404, 409, 413, 415, 422, 503),
)
async def add_label(request: Request, room: Annotated[RoomConfig, Depends(get_own_room)]) -> LabelOut:
    """Store a head count. It replaces a label of the same time, and corrects the next prediction intervals.

    Its time follows the rule of readings: the years 2000 to 2100 (otherwise 422), not in the future (409).
    """
    pipeline = get_pipeline(request)
    given = await read_model(request, LabelIn)
    now = pipeline.now()
    time = now if given.time is None else _parse_time(given.time, room, now)
    limit = pipeline.config.limits.people_per_label
    if given.people > limit:
        raise HTTPException(422, f"people must be at most {limit}, got {given.people}")
    if not is_valid_time(time):
        years = f"the years {FIRST_YEAR} to {LAST_YEAR}"
        raise HTTPException(422, f"time must be in {years}, got {format_time(time)}")
    if time > now + MAX_CLOCK_AHEAD:
        raise HTTPException(409, f"time must not be in the future, got {format_time(time)}")
    state = pipeline.state(room.id) if given.time is None else None
    estimate = given.estimate if given.estimate is not None or state is None else state.people
    label = Label(room.id, time, given.people, utc_now(), given.source, estimate)
    await run_in_threadpool(pipeline.store.add_label, label)
    await pipeline.labels_changed(room.id)
    return _to_schema(label)


@router.delete(
    "",
    status_code=204,
    response_model=None,
    summary="Delete a label",
    dependencies=[Depends(require("write"))],
    responses=error_responses(404, 413, 422, 503),
)
async def remove_label(
    request: Request,
    room: Annotated[RoomConfig, Depends(get_own_room)],
    time: Annotated[Time, Query(description="Time of the label.")],
) -> None:
    """Delete the label of a time."""
    pipeline = get_pipeline(request)
    when = _parse_time(time, room, pipeline.now())
    if not await run_in_threadpool(pipeline.store.remove_label, room.id, when):
        raise HTTPException(404, f"{room.id} has no label at {time[:40]}")
    await pipeline.labels_changed(room.id)


def _parse_time(text: str, room: RoomConfig, now: dt.datetime) -> dt.datetime:
    return parse_query_time("time", text, ZoneInfo(room.timezone), near=now)


def _to_schema(label: Label) -> LabelOut:
    return LabelOut(
        time=format_time(label.time),
        people=label.people,
        entered=format_time(label.entered),
        source=label.source,
        estimate=label.estimate,
    )
