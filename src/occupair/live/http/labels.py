"""Labels: how many are in, as people see it."""

from __future__ import annotations

import datetime as dt
from typing import Annotated
from zoneinfo import ZoneInfo

from fastapi import APIRouter, Depends, HTTPException, Query, Request
from starlette.concurrency import run_in_threadpool

from occupair.live.config import RoomConfig
from occupair.live.http.dependencies import now_of, pipeline_of, room_of
from occupair.live.http.schemas import LabelIn, LabelOut, Labels, Time
from occupair.live.http.times import parse_query_time, write_time
from occupair.live.messages import Label
from occupair.web.access import require
from occupair.web.errors import error_responses
from occupair.web.request_bodies import json_body, read_model

router = APIRouter(prefix="/api/rooms/{room}/labels", tags=["labels"])
_CLOCKS_DIFFER = dt.timedelta(minutes=5)


@router.get(
    "",
    summary="Labels of a room",
    dependencies=[Depends(require("read"))],
    responses=error_responses(404, 503),
)
async def labels(request: Request, room: Annotated[RoomConfig, Depends(room_of)]) -> Labels:
    """List a room's labels by time."""
    found = await run_in_threadpool(pipeline_of(request).store.labels, room.id)
    return Labels(labels=[_out(label) for label in found])


@router.post(
    "",
    status_code=201,
    summary="How many are you?",
    dependencies=[Depends(require("write"))],
    openapi_extra=json_body(LabelIn),
    responses=error_responses(404, 409, 413, 415, 422, 503),
)
async def add_label(request: Request, room: Annotated[RoomConfig, Depends(room_of)]) -> LabelOut:
    """Keep how many were in at a time; a label of the same time is replaced. The future has none (409)."""
    pipeline = pipeline_of(request)
    given = await read_model(request, LabelIn)
    now = now_of(pipeline)
    time = now if given.time is None else _time(given.time, room, now)
    most = pipeline.config.limits.people_per_label
    if given.people > most:
        raise HTTPException(422, f"people must be at most {most}, got {given.people}")
    if time > now + _CLOCKS_DIFFER:
        raise HTTPException(409, f"time must not be in the future, got {write_time(time)}")
    label = Label(room.id, time, given.people, dt.datetime.now(dt.UTC))
    await run_in_threadpool(pipeline.store.add_label, label)
    return _out(label)


@router.delete(
    "",
    status_code=204,
    summary="Remove a label",
    dependencies=[Depends(require("write"))],
    responses=error_responses(404, 413, 422, 503),
)
async def remove_label(
    request: Request,
    room: Annotated[RoomConfig, Depends(room_of)],
    time: Annotated[Time, Query(description="Of the label.")],
) -> None:
    """Remove the label of a time."""
    pipeline = pipeline_of(request)
    when = _time(time, room, now_of(pipeline))
    if not await run_in_threadpool(pipeline.store.remove_label, room.id, when):
        raise HTTPException(404, f"{room.id} has no label of {time[:40]}")


def _time(text: str, room: RoomConfig, now: dt.datetime) -> dt.datetime:
    return parse_query_time("time", text, ZoneInfo(room.timezone), near=now)


def _out(label: Label) -> LabelOut:
    return LabelOut(time=write_time(label.time), people=label.people, entered=write_time(label.entered))
