"""Training a room again from its labels; a person decides whether the new model is taken."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Request

from occupair.live.config import RoomConfig
from occupair.live.http.dependencies import pipeline_of, room_of
from occupair.live.http.room_states import plain
from occupair.live.http.schemas import Training
from occupair.web.access import require
from occupair.web.errors import conflict_on_input_error, error_responses

if TYPE_CHECKING:
    from occupair.live.retraining import Trainer

router = APIRouter(prefix="/api/rooms/{room}/training", tags=["training"])


@router.get(
    "", summary="How far is it?", dependencies=[Depends(require("read"))], responses=error_responses(404, 503)
)
async def status(request: Request, room: Annotated[RoomConfig, Depends(room_of)]) -> Training:
    """Tell how far a room's training is, and how the new model does on labels kept aside."""
    return await _status(_trainer(request), room)


@router.post(
    "",
    status_code=202,
    summary="Train a room again",
    dependencies=[Depends(require("admin"))],
    responses=error_responses(404, 409, 413, 503),
)
async def start(request: Request, room: Annotated[RoomConfig, Depends(room_of)]) -> Training:
    """Begin to train a room from its labels, in another process; 409 if it runs or there are too few."""
    trainer = _trainer(request)
    with conflict_on_input_error():
        await trainer.start(room.id)
    return await _status(trainer, room)


@router.post(
    "/accept",
    summary="Take the new model",
    dependencies=[Depends(require("admin"))],
    responses=error_responses(404, 409, 413, 503),
)
async def accept(request: Request, room: Annotated[RoomConfig, Depends(room_of)]) -> Training:
    """Count by the new model from now on."""
    trainer = _trainer(request)
    with conflict_on_input_error():
        await trainer.accept(room.id)
    return await _status(trainer, room)


@router.delete(
    "",
    status_code=204,
    summary="Leave the new model",
    dependencies=[Depends(require("admin"))],
    responses=error_responses(404, 409, 413, 503),
)
async def discard(request: Request, room: Annotated[RoomConfig, Depends(room_of)]) -> None:
    """Drop the new model, or stop training it."""
    with conflict_on_input_error():
        await _trainer(request).discard(room.id)


def _trainer(request: Request) -> Trainer:
    trainer: Trainer | None = getattr(pipeline_of(request), "trainer", None)
    if trainer is None:
        raise HTTPException(503, "training is not set up in this service", {"Retry-After": "60"})
    return trainer


async def _status(trainer: Trainer, room: RoomConfig) -> Training:
    return Training.model_validate(_plain(await trainer.status(room.id)))


def _plain(values: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: _plain(value) if isinstance(value, Mapping) else plain(value) for name, value in values.items()
    }
