"""Models: which a room has, which it counts by, upload and download. A model file is data, never code."""

from __future__ import annotations

import re
from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Path, Query, Request, Response
from starlette.concurrency import run_in_threadpool

from occupair.errors import InputError
from occupair.live.config import RoomConfig
from occupair.live.http.dependencies import pipeline_of, room_of
from occupair.live.http.schemas import MOST_VERSION, ModelEntry, Models, Version
from occupair.live.http.times import write_time
from occupair.web.access import require
from occupair.web.errors import conflict_on_input_error, describe_value, error_responses
from occupair.web.request_bodies import media_type

router = APIRouter(prefix="/api/rooms/{room}", tags=["models"])
MAX_MODEL_BYTES = 20_000_000
UPLOAD_PATH = re.compile(r"/api/rooms/[^/]+/models")
_KINDS = ("application/octet-stream", "application/json")
_FILE: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": f"A file of `occupair fit`, at most {MAX_MODEL_BYTES // 1_000_000} MB.",
        "content": {_KINDS[0]: {"schema": {"type": "string", "format": "binary"}}},
    }
}

Number = Annotated[int, Path(ge=1, le=MOST_VERSION, description="A model's number.")]


@router.get(
    "/models",
    summary="Models of a room",
    dependencies=[Depends(require("read"))],
    responses=error_responses(404, 503),
)
async def models(request: Request, room: Annotated[RoomConfig, Depends(room_of)]) -> Models:
    """List a room's models."""
    found = await run_in_threadpool(pipeline_of(request).store.models, room.id)
    return Models(
        models=[
            ModelEntry(
                version=one.id,
                origin=one.origin,
                note=one.note,
                sha256=one.sha256,
                size=one.size,
                created=write_time(one.created),
                active=one.active,
            )
            for one in found
        ]
    )


@router.post(
    "/models",
    status_code=201,
    summary="Upload a model",
    dependencies=[Depends(require("admin"))],
    openapi_extra=_FILE,
    responses=error_responses(404, 409, 413, 415, 422, 503),
)
async def upload(
    request: Request,
    room: Annotated[RoomConfig, Depends(room_of)],
    note: Annotated[
        str, Query(max_length=200, pattern=r"^[^\x00-\x1f\x7f]*$", description="For people.")
    ] = "",
) -> Version:
    """Keep a model file and count by it from now on."""
    kind = media_type(request)
    if kind not in _KINDS:
        raise HTTPException(415, f"Content-Type must be {' or '.join(_KINDS)}, got {describe_value(kind)}")
    data = await request.body()
    try:
        version = await pipeline_of(request).use_model(room.id, data, origin="upload", note=note)
    except InputError as problem:
        raise HTTPException(409, f"the file {problem}") from None
    return Version(version=version)


@router.get(
    "/models/{version}",
    summary="Download a model",
    response_class=Response,
    dependencies=[Depends(require("read"))],
    responses=error_responses(404, 422, 503)
    | {200: {"content": {_KINDS[0]: {"schema": {"type": "string", "format": "binary"}}}}},
)
async def download(
    request: Request, room: Annotated[RoomConfig, Depends(room_of)], version: Number
) -> Response:
    """Give a model's file as it came."""
    data = await run_in_threadpool(pipeline_of(request).store.model, room.id, version)
    if data is None:
        raise HTTPException(404, _none_such(room, version))
    name = f'attachment; filename="{room.id}-{version}.json"'
    return Response(data, media_type=_KINDS[0], headers={"Content-Disposition": name})


@router.post(
    "/models/{version}/activate",
    summary="Count by another model",
    dependencies=[Depends(require("admin"))],
    responses=error_responses(404, 409, 413, 422, 503),
)
async def activate(
    request: Request, room: Annotated[RoomConfig, Depends(room_of)], version: Number
) -> Version:
    """Count by a model that is kept, from now on."""
    pipeline = pipeline_of(request)
    found = await run_in_threadpool(pipeline.store.models, room.id)
    if version not in {one.id for one in found}:
        raise HTTPException(404, _none_such(room, version))
    with conflict_on_input_error():
        await pipeline.activate(room.id, version)
    return Version(version=version)


@router.post(
    "/forget",
    status_code=204,
    summary="Forget what was learned",
    dependencies=[Depends(require("admin"))],
    responses=error_responses(404, 409, 413, 503),
)
async def forget(request: Request, room: Annotated[RoomConfig, Depends(room_of)]) -> None:
    """Drop a room's labels and what was uploaded or trained; it counts by the model of its settings again."""
    with conflict_on_input_error():
        await pipeline_of(request).forget(room.id)


def _none_such(room: RoomConfig, version: int) -> str:
    return f"{room.id} has no model {version}"
