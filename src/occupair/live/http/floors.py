"""Routes of floor plans, and of the places of rooms on them. An uploaded plan is data of a stranger."""

from __future__ import annotations

import re
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Depends, HTTPException, Query, Request, Response
from starlette.concurrency import run_in_threadpool

from occupair.errors import InputError
from occupair.live.config import RoomConfig
from occupair.live.http.dependencies import get_pipeline, get_room
from occupair.live.http.rfc3339 import format_time
from occupair.live.http.schemas import Floors, PlaceIn, PlaceOut, PlanEntry
from occupair.live.store import Place, Plan
from occupair.web.access import require
from occupair.web.errors import describe_value, error_responses
from occupair.web.images import IMAGE_POLICY, PNG, SVG, check_image
from occupair.web.request_bodies import json_body, media_type, read_model

router = APIRouter(prefix="/api", tags=["floors"])
MAX_PLAN_BYTES = 5_000_000
UPLOAD_PATH = re.compile(r"/api/floors/plan")
_MEDIA_TYPES = (SVG, PNG)
_IMAGE: dict[str, Any] = {one: {"schema": {"type": "string", "format": "binary"}} for one in _MEDIA_TYPES}
_FILE: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": f"An image, at most {MAX_PLAN_BYTES // 1_000_000} MB.",
        "content": _IMAGE,
    }
}


async def get_floor(
    request: Request, floor: Annotated[str, Query(description="Name of the floor, as in the settings.")]
) -> str:
    """Return the floor of a query, or respond 404 if it has no rooms."""
    if floor not in {room.floor for room in get_pipeline(request).config.rooms.values()}:
        raise HTTPException(404, f"there is no floor {floor[:64]!r}")
    return floor


Floor = Annotated[str, Depends(get_floor)]


@router.get(
    "/floors",
    summary="Floor plans and places",
    dependencies=[Depends(require("read"))],
    responses=error_responses(503),
)
async def floors(request: Request) -> Floors:
    """Return the plans of all floors that have one, and the places of rooms."""
    pipeline = get_pipeline(request)
    plans = await run_in_threadpool(pipeline.store.plans)
    places = await run_in_threadpool(pipeline.store.places)
    return Floors(
        plans=[_entry(plan) for plan in plans],
        places=[
            PlaceOut(room=room, x=place.x, y=place.y)
            for room, place in sorted(places.items())
            if room in pipeline.config.rooms
        ],
    )


@router.get(
    "/floors/plan",
    summary="Plan of a floor",
    response_class=Response,
    dependencies=[Depends(require("read"))],
    responses=error_responses(404, 422, 503) | {200: {"content": _IMAGE}, 304: {"description": "Unchanged."}},
)
async def plan(request: Request, floor: Floor) -> Response:
    """Return the image. Opened on its own, it can run no script and load nothing."""
    found = await run_in_threadpool(get_pipeline(request).store.plan, floor)
    if found is None:
        raise HTTPException(404, f"floor {floor[:64]!r} has no plan")
    about, data = found
    suffix = "png" if about.media_type == PNG else "svg"
    headers = {
        "Content-Security-Policy": IMAGE_POLICY,
        "X-Content-Type-Options": "nosniff",
        "Content-Disposition": f"inline; filename*=UTF-8''{quote(floor or 'plan', safe='')}.{suffix}",
        "ETag": f'"{about.sha256}"',
        "Cache-Control": "private, no-cache",
    }
    if about.sha256 in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    charset = "" if about.media_type == PNG else "; charset=utf-8"
    return Response(data, media_type=f"{about.media_type}{charset}", headers=headers)


@router.put(
    "/floors/plan",
    summary="Upload the plan of a floor",
    dependencies=[Depends(require("admin"))],
    openapi_extra=_FILE,
    responses=error_responses(404, 413, 415, 422, 503),
)
async def upload_plan(request: Request, floor: Floor) -> PlanEntry:
    """Store an SVG or PNG image as the plan of a floor, in place of an earlier one. Rooms keep their places.

    An SVG must contain drawings only: no scripts, no links, no other files, no DOCTYPE.
    """
    given = media_type(request)
    if given not in _MEDIA_TYPES:
        raise HTTPException(
            415, f"Content-Type must be {' or '.join(_MEDIA_TYPES)}, got {describe_value(given)}"
        )
    data, store = await request.body(), get_pipeline(request).store
    try:
        image = await run_in_threadpool(check_image, data, given)
    except InputError as error:
        raise HTTPException(422, f"the image {error}") from None
    stored = await run_in_threadpool(
        store.set_plan, floor, data, media_type=given, width=image.width, height=image.height
    )
    return _entry(stored)


@router.delete(
    "/floors/plan",
    status_code=204,
    response_model=None,
    summary="Delete the plan of a floor",
    dependencies=[Depends(require("admin"))],
    responses=error_responses(404, 413, 422, 503),
)
async def delete_plan(request: Request, floor: Floor) -> None:
    """Delete the plan of a floor. Rooms keep their places for the next one."""
    if not await run_in_threadpool(get_pipeline(request).store.remove_plan, floor):
        raise HTTPException(404, f"floor {floor[:64]!r} has no plan")


@router.put(
    "/rooms/{room}/place",
    summary="Place a room on its floor plan",
    dependencies=[Depends(require("admin"))],
    openapi_extra=json_body(PlaceIn),
    responses=error_responses(404, 413, 415, 422, 503),
)
async def set_place(request: Request, room: Annotated[RoomConfig, Depends(get_room)]) -> PlaceOut:
    """Store the place of a room, relative to the size of the plan."""
    place = await read_model(request, PlaceIn)
    await run_in_threadpool(get_pipeline(request).store.set_place, room.id, Place(place.x, place.y))
    return PlaceOut(room=room.id, x=place.x, y=place.y)


@router.delete(
    "/rooms/{room}/place",
    status_code=204,
    response_model=None,
    summary="Remove a room from its floor plan",
    dependencies=[Depends(require("admin"))],
    responses=error_responses(404, 413, 503),
)
async def remove_place(request: Request, room: Annotated[RoomConfig, Depends(get_room)]) -> None:
    """Remove the place of a room."""
    if not await run_in_threadpool(get_pipeline(request).store.remove_place, room.id):
        raise HTTPException(404, f"{room.id} has no place")


def _entry(plan: Plan) -> PlanEntry:
    return PlanEntry(
        floor=plan.floor,
        media_type="image/png" if plan.media_type == PNG else "image/svg+xml",
        width=plan.width,
        height=plan.height,
        size=plan.size,
        sha256=plan.sha256,
        created=format_time(plan.created),
    )
