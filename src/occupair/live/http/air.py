"""Route of what CO2 tells about the air of a room, and of what would improve its estimates most."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from fastapi import APIRouter, Depends, Request
from starlette.concurrency import run_in_threadpool

from occupair.errors import InputError
from occupair.estimator import OccupancyEstimator
from occupair.live.config import RoomConfig
from occupair.live.http.dependencies import get_pipeline, get_room
from occupair.live.http.schemas import AirChange, RoomAirOut
from occupair.live.store import DamagedModel, Store
from occupair.model_file import parse_model
from occupair.web.access import require
from occupair.web.errors import error_responses

router = APIRouter(prefix="/api/rooms/{room}/air", tags=["models"])

BUSY_HOURS = 2
"""Length of the time of day at which a head count helps most [h]."""


@router.get(
    "",
    summary="Air of a room",
    dependencies=[Depends(require("read"))],
    responses=error_responses(404, 503),
)
async def air(request: Request, room: Annotated[RoomConfig, Depends(get_room)]) -> RoomAirOut | None:
    """Return what was identified in a room with size and seats; null if its model was not calibrated."""
    return await run_in_threadpool(_air, get_pipeline(request).store, room.id)


def _air(store: Store, room: str) -> RoomAirOut | None:
    try:
        active = store.active_model(room)
        estimator = None if active is None else parse_model(active[1])
    except (InputError, DamagedModel):  # the state of the room says so
        return None
    found = None if estimator is None else getattr(estimator, "air_", None)
    if estimator is None or found is None:
        return None
    return RoomAirOut(
        rates=[
            AirChange(ventilation=one.ventilation, rate=one.rate, low=one.low, high=one.high)
            for one in found.rates
        ],
        base_level=found.base_level,
        volume=found.volume,
        capacity=found.capacity,
        outdoor_air_per_person=found.outdoor_air_per_person,
        days=found.n_days,
        is_calibrated=found.is_calibrated,
        doubts=list(found.doubts),
        busy_hour=_busy_hour(estimator) if found.n_days else None,
    )


def _busy_hour(estimator: OccupancyEstimator) -> int | None:
    """Return the hour at which the busiest part of a weekday begins; None if nobody was ever in."""
    profile = estimator.room_.profile
    if profile is None or not profile.people[0].any():
        return None
    hourly = profile.people[0].reshape(24, -1).mean(axis=1)
    busy = np.convolve(hourly, np.ones(BUSY_HOURS), "valid")
    return int(np.argmax(busy))
