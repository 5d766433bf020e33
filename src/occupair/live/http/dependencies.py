"""What routes need from a request: the pipeline, the room of the path and the client's language."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Annotated, cast

from fastapi import Depends, HTTPException, Path, Request

from occupair.live.config import RoomConfig
from occupair.live.config.values import ID_PATTERN
from occupair.live.reasons import TEXTS

if TYPE_CHECKING:
    from occupair.live.http.events import Streams
    from occupair.live.http.state_json import StateEncoder
    from occupair.live.http.today import TodayUse
    from occupair.live.pipeline import Pipeline
    from occupair.live.sharding.exchange import ShardExchange


def get_pipeline(request: Request) -> Pipeline:
    """Return the pipeline of the application."""
    return cast("Pipeline", request.app.state.pipeline)


def get_all_rooms(request: Request) -> Pipeline | ShardExchange:
    """Return the source of the states of all rooms, which may be served by several shards."""
    return get_exchange(request) or get_pipeline(request)


def get_exchange(request: Request) -> ShardExchange | None:
    """Return the exchange with other shards, if there are any."""
    return cast("ShardExchange | None", request.app.state.exchange)


def get_encoder(request: Request) -> StateEncoder:
    """Return the state encoder of the application."""
    return cast("StateEncoder", request.app.state.encoder)


def get_streams(request: Request) -> Streams:
    """Return the event streams of the application."""
    return cast("Streams", request.app.state.streams)


def get_today(request: Request) -> TodayUse:
    """Return the sums of all rooms since midnight."""
    return cast("TodayUse", request.app.state.today)


_ROOM = Path(description="Room id.", json_schema_extra={"pattern": f"^{ID_PATTERN}$"})


async def get_room(request: Request, room: Annotated[str, _ROOM]) -> RoomConfig:
    """Return the room of the path, or respond 404."""
    found = get_pipeline(request).config.rooms.get(room)
    if found is None:
        raise HTTPException(404, f"there is no room {room[:64]!r}")
    return found


class RoomElsewhere(Exception):
    """The request is about a room of another shard, and only that can respond."""

    def __init__(self, room: str) -> None:
        super().__init__(room)
        self.room = room


async def get_own_room(request: Request, found: Annotated[RoomConfig, Depends(get_room)]) -> RoomConfig:
    """Return the room of the path; the request is forwarded if it is one of another shard."""
    exchange = get_exchange(request)
    if exchange is not None and not exchange.shard.owns(found.id):
        raise RoomElsewhere(found.id)
    return found


def get_language(request: Request) -> str:
    """Return the language of texts for this client, from ``Accept-Language``."""
    return preferred_language(request.headers.get("accept-language", ""), TEXTS)


def preferred_language(header: str, available: Collection[str], default: str = "en") -> str:
    """Return the available language that an ``Accept-Language`` header prefers.

    Examples
    --------
    >>> preferred_language("fr, de-CH;q=0.9, en;q=0.8", ["en", "de"])
    'de'
    >>> preferred_language("fr", ["en", "de"])
    'en'
    """
    best, best_weight = default, 0.0
    for entry in header.split(","):
        tag, _, parameter = entry.partition(";")
        language = tag.strip().lower().partition("-")[0]
        try:
            weight = float(parameter.strip().removeprefix("q=") or 1)
        except ValueError:
            continue
        if language in available and weight > best_weight:
            best, best_weight = language, weight
    return best
