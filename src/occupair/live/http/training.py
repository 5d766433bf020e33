"""Routes of training on labels. A person decides whether the new model is used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Request

from occupair.live.config import RoomConfig
from occupair.live.http.dependencies import get_own_room, get_pipeline
from occupair.live.http.schemas import Training
from occupair.live.http.state_json import to_plain
from occupair.web.access import require
from occupair.web.errors import conflict_on_input_error, error_responses

if TYPE_CHECKING:
    from occupair.live.retraining import Trainer

router = APIRouter(prefix="/api/rooms/{room}/training", tags=["training"])


@router.get(
    "",
    summary="Training status",
    dependencies=[Depends(require("read"))],
    responses=error_responses(404, 503),
)
async def status(request: Request, room: Annotated[RoomConfig, Depends(get_own_room)]) -> Training:
    """Return the progress of the training, and the scores on held-out days."""
    return await _status(_trainer(request), room)


@router.post(
    "",
    status_code=202,
    summary="Train on labels",
    dependencies=[Depends(require("admin"))],
    responses=error_responses(404, 409, 413, 503),
)
async def start(request: Request, room: Annotated[RoomConfig, Depends(get_own_room)]) -> Training:
    """Start training on the labels of a room, in another process; 409 if running or with too few labels."""
    trainer = _trainer(request)
    with conflict_on_input_error():
        await trainer.start(room.id)
    return await _status(trainer, room)


@router.post(
    "/accept",
    summary="Accept the new model",
    dependencies=[Depends(require("admin"))],
    responses=error_responses(404, 409, 413, 503),
)
async def accept(request: Request, room: Annotated[RoomConfig, Depends(get_own_room)]) -> Training:
    """Use the new model from now on."""
    trainer = _trainer(request)
    with conflict_on_input_error():
        await trainer.accept(room.id)
    return await _status(trainer, room)


@router.delete(
    "",
    status_code=204,
    response_model=None,
    summary="Discard the new model",
    dependencies=[Depends(require("admin"))],
    responses=error_responses(404, 409, 413, 503),
)
async def discard(request: Request, room: Annotated[RoomConfig, Depends(get_own_room)]) -> None:
    """Discard the new model, or stop the training."""
    with conflict_on_input_error():
        await _trainer(request).discard(room.id)


def _trainer(request: Request) -> Trainer:
    trainer: Trainer | None = getattr(get_pipeline(request), "trainer", None)
    if trainer is None:
        raise HTTPException(503, "training is not available in this service", {"Retry-After": "60"})
    return trainer


async def _status(trainer: Trainer, room: RoomConfig) -> Training:
    return Training.model_validate(_to_plain(await trainer.status(room.id)))


def _to_plain(values: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: _to_plain(value) if isinstance(value, Mapping) else to_plain(value)
        for name, value in values.items()
    }
