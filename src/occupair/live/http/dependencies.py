"""How routes find the other parts of the service, and the room that they are asked about."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Annotated, cast

from fastapi import HTTPException, Path, Request

from occupair.live.config import RoomConfig

if TYPE_CHECKING:
    from occupair.live.http.events import Streams
    from occupair.live.http.room_states import StateTexts
    from occupair.live.pipeline import Pipeline


def pipeline_of(request: Request) -> Pipeline:
    """Find the pipeline of the application that a request came to."""
    return cast("Pipeline", request.app.state.pipeline)


def texts_of(request: Request) -> StateTexts:
    """Find the states as JSON of the application that a request came to."""
    return cast("StateTexts", request.app.state.texts)


def streams_of(request: Request) -> Streams:
    """Find the event streams of the application that a request came to."""
    return cast("Streams", request.app.state.streams)


_ROOM = Path(description="A room's id.", json_schema_extra={"pattern": "^[a-z0-9_-]{1,64}$"})


async def room_of(request: Request, room: Annotated[str, _ROOM]) -> RoomConfig:
    """Find the room that an address names, or answer 404."""
    found = pipeline_of(request).config.rooms.get(room)
    if found is None:
        raise HTTPException(404, f"there is no room {room[:64]!r}")
    return found


def now_of(pipeline: Pipeline) -> dt.datetime:
    """Tell what time it is to the service: by this machine, or by the newest state of all.

    ``clock = "readings"`` is for replays and the demo, whose day runs faster than ours.
    """
    if pipeline.config.clock == "readings":
        times = [state.time for state in pipeline.states().values() if state.time is not None]
        if times:
            return max(times)
    return dt.datetime.now(dt.UTC)
