"""Routes of models: list, upload, download, activate and reset. A model file is data, never code."""

from __future__ import annotations

import re
from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Path, Query, Request, Response
from starlette.concurrency import run_in_threadpool

from occupair.errors import InputError
from occupair.live.config import RoomConfig
from occupair.live.http.dependencies import get_own_room, get_pipeline, get_room
from occupair.live.http.rfc3339 import format_time
from occupair.live.http.schemas import MAX_VERSION, ModelEntry, Models, Version
from occupair.web.access import require
from occupair.web.errors import conflict_on_input_error, describe_value, error_responses
from occupair.web.request_bodies import media_type

router = APIRouter(prefix="/api/rooms/{room}", tags=["models"])
MAX_MODEL_BYTES = 20_000_000
UPLOAD_PATH = re.compile(r"/api/rooms/[^/]+/models")
_MEDIA_TYPES = ("application/octet-stream", "application/json")
_FILE: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": f"A model file of `occupair fit`, at most {MAX_MODEL_BYTES // 1_000_000} MB.",
        "content": {_MEDIA_TYPES[0]: {"schema": {"type": "string", "format": "binary"}}},
    }
}

ModelVersion = Annotated[int, Path(ge=1, le=MAX_VERSION, description="Version of the model.")]


@router.get(
    "/models",
    summary="Models of a room",
    dependencies=[Depends(require("read"))],
    responses=error_responses(404, 503),
)
async def models(request: Request, room: Annotated[RoomConfig, Depends(get_room)]) -> Models:
    """Return the models of a room."""
    found = await run_in_threadpool(get_pipeline(request).store.models, room.id)
    return Models(
        models=[
            ModelEntry(
                version=one.id,
                origin=one.origin,
                note=one.note,
                sha256=one.sha256,
                size=one.size,
                created=format_time(one.created),
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
    room: Annotated[RoomConfig, Depends(get_own_room)],
    note: Annotated[
        str, Query(max_length=200, pattern=r"^[^\x00-\x1f\x7f]*$", description="Note about the model.")
    ] = "",
) -> Version:
    """Store a model file and use it from now on."""
    given = media_type(request)
    if given not in _MEDIA_TYPES:
        raise HTTPException(
            415, f"Content-Type must be {' or '.join(_MEDIA_TYPES)}, got {describe_value(given)}"
        )
    data = await request.body()
    try:
        version = await get_pipeline(request).use_model(room.id, data, origin="upload", note=note)
    except InputError as error:
        raise HTTPException(409, f"the file {error}") from None
    return Version(version=version)


@router.get(
    "/models/{version}",
    summary="Download a model",
    response_class=Response,
    dependencies=[Depends(require("read"))],
    responses=error_responses(404, 422, 503)
    | {200: {"content": {_MEDIA_TYPES[0]: {"schema": {"type": "string", "format": "binary"}}}}},
)
async def download(
    request: Request, room: Annotated[RoomConfig, Depends(get_room)], version: ModelVersion
) -> Response:
    """Return the model file."""
    data = await run_in_threadpool(get_pipeline(request).store.model, room.id, version)
    if data is None:
        raise HTTPException(404, _not_found(room, version))
    name = f'attachment; filename="{room.id}-{version}.json"'
    return Response(data, media_type=_MEDIA_TYPES[0], headers={"Content-Disposition": name})


@router.post(
    "/models/{version}/activate",
    summary="Activate a model",
    dependencies=[Depends(require("admin"))],
    responses=error_responses(404, 409, 413, 422, 503),
)
async def activate(
    request: Request, room: Annotated[RoomConfig, Depends(get_own_room)], version: ModelVersion
) -> Version:
    """Use another stored model from now on."""
    pipeline = get_pipeline(request)
    found = await run_in_threadpool(pipeline.store.models, room.id)
    if version not in {one.id for one in found}:
        raise HTTPException(404, _not_found(room, version))
    with conflict_on_input_error():
        await pipeline.activate(room.id, version)
    return Version(version=version)


@router.post(
    "/forget",
    status_code=204,
    response_model=None,
    summary="Delete labels and models",
    dependencies=[Depends(require("admin"))],
    responses=error_responses(404, 409, 413, 503),
)
async def forget(request: Request, room: Annotated[RoomConfig, Depends(get_own_room)]) -> None:
    """Delete labels and uploaded or trained models of a room; it uses the model of the settings again."""
    with conflict_on_input_error():
        await get_pipeline(request).forget(room.id)


def _not_found(room: RoomConfig, version: int) -> str:
    return f"{room.id} has no model {version}"
