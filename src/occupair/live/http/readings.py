"""Route of posted readings. Each reading of a list is checked on its own."""

from __future__ import annotations

import asyncio
import datetime as dt
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any
from zoneinfo import ZoneInfo

from fastapi import APIRouter, Depends, HTTPException, Request, Response

from occupair.errors import InputError
from occupair.live.config import RoomConfig
from occupair.live.http.dependencies import get_own_room, get_pipeline
from occupair.live.http.rfc3339 import format_time, parse_time
from occupair.live.http.schemas import Outcomes
from occupair.live.http.state_json import to_json
from occupair.live.messages import REJECTION_TEXTS, Reading, ReadingOutcome
from occupair.live.wall_clock import utc_now
from occupair.readings.other_sensors import SENSORS
from occupair.readings.ventilation_scale import without_noise
from occupair.web.access import require
from occupair.web.errors import describe_value, error_responses
from occupair.web.request_bodies import json_body, parse_json, read_json

if TYPE_CHECKING:
    from occupair.live.pipeline import Pipeline

router = APIRouter(prefix="/api/rooms", tags=["rooms"])
_WITHIN_WITHOUT_STORE = 0.5  # wait for a store that has failed, which estimates do without [s]
_PARSE_IN_THREAD = 65_536  # longer bodies are parsed in a thread, so estimates are not delayed [bytes]

_QUANTITIES = {"co2", "ventilation", *SENSORS}
_ONE = {"$ref": "#/components/schemas/ReadingIn"}
_INVALID = {"description": "Any other item has the outcome `nonsense` and does not affect the others."}
_LIST = {
    "type": "array",
    "items": {"anyOf": [_ONE, _INVALID]},
    "description": "Up to `readings_per_post` readings (default 10,000).",
}
_SCHEMA: dict[str, Any] = {
    "anyOf": [_ONE, _LIST, {"type": "object", "required": ["readings"], "properties": {"readings": _LIST}}]
}


@dataclass(frozen=True)
class InvalidReading:
    """A reading that cannot be parsed."""

    time: dt.datetime | None
    detail: str


@router.post(
    "/{room}/readings",
    response_model=Outcomes,
    response_model_exclude_none=False,
    summary="Post readings of a room",
    dependencies=[Depends(require("write"))],
    openapi_extra=json_body(_SCHEMA),
    responses=error_responses(404, 413, 415, 422, 503),
)
async def post_readings(request: Request, room: Annotated[RoomConfig, Depends(get_own_room)]) -> Response:
    """Accept one reading or many, and return the outcome of each.

    The response is sent when the accepted readings are safe on disk. Posting a reading again changes
    nothing: a reading is identified by its room and time. A single reading that cannot be parsed is an error
    (422); in a list it has the outcome ``nonsense`` and the others are accepted.
    """
    pipeline = get_pipeline(request)
    limit = pipeline.config.limits.readings_per_post
    data, now = await read_json(request), pipeline.now()
    if len(data) > _PARSE_IN_THREAD:
        parsed = await asyncio.to_thread(parse_readings, data, room, now, limit=limit)
    else:
        parsed = parse_readings(data, room, now, limit=limit)
    is_store_ok = pipeline.part_status["store"] == "ok"
    timeout = request.app.state.durable_within if is_store_ok else _WITHIN_WITHOUT_STORE
    outcomes = await _submit(pipeline, parsed, timeout=timeout)
    body = {"outcomes": [_describe(one, outcome) for one, outcome in zip(parsed, outcomes, strict=True)]}
    return Response(to_json(body), media_type="application/json")


def parse_readings(
    data: bytes, room: RoomConfig, now: dt.datetime, *, limit: int
) -> list[Reading | InvalidReading]:
    """Parse posted readings: one object, a list, or a list under the key ``readings``.

    Parameters
    ----------
    data : bytes
        JSON.
    room : RoomConfig
    now : datetime
        Time of readings without a time.
    limit : int
        Maximum number of readings.

    Raises
    ------
    HTTPException
        413 for more readings; 422 for invalid JSON, another structure, or a single reading that cannot be
        parsed. In a list such a reading is returned as `InvalidReading`.
    """
    posted = parse_json(data)
    if isinstance(posted, dict):
        listed = posted.get("readings")
        if isinstance(listed, list):
            posted = listed
        elif "readings" in posted and not _QUANTITIES & posted.keys():
            raise HTTPException(422, f"readings must be a list, got {describe_value(listed)}")
    if isinstance(posted, dict):
        reading = _parse_reading(posted, "", room, now)
        if isinstance(reading, InvalidReading):
            raise HTTPException(422, reading.detail)
        return [reading]
    if not isinstance(posted, list):
        raise HTTPException(
            422, f"the request body must be a reading or a list of readings, got {describe_value(posted)}"
        )
    if len(posted) > limit:
        raise HTTPException(413, f"a request must have at most {limit} readings, got {len(posted)}")
    return [_parse_reading(one, f"readings[{place}]", room, now) for place, one in enumerate(posted)]


def _parse_reading(given: Any, name: str, room: RoomConfig, now: dt.datetime) -> Reading | InvalidReading:
    time: dt.datetime | None = None
    prefix = f"{name}." if name else ""
    try:
        if not isinstance(given, dict):
            raise InputError(f"{name} must be an object, got {describe_value(given)}")
        time = _parse_reading_time(given.get("time"), f"{prefix}time", room, now)
        co2, ventilation = (_parse_number(given.get(key), f"{prefix}{key}") for key in ("co2", "ventilation"))
        numbers = {key: _parse_number(given.get(key), f"{prefix}{key}") for key in SENSORS}
        sensors = {
            key: value for key, value in numbers.items() if value is not None and SENSORS[key].allows(value)
        }
        if co2 is None and ventilation is None and not sensors:
            raise InputError(f"{name or 'the reading'} must have co2, ventilation or another sensor")
    except InputError as error:
        return InvalidReading(time, str(error))
    ventilation = None if ventilation is None else without_noise(ventilation)
    return Reading(room.id, time, co2, ventilation, "http", utc_now(), sensors)


def _parse_reading_time(value: Any, name: str, room: RoomConfig, now: dt.datetime) -> dt.datetime:
    if value is None:
        return now
    try:
        return parse_time(value, ZoneInfo(room.timezone), near=now)
    except InputError as error:
        raise InputError(f"{name} {error}") from None


def _parse_number(value: Any, name: str) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(f"{name} must be a number, got {describe_value(value)}")
    try:
        return float(value)
    except OverflowError:
        return math.inf


async def _submit(
    pipeline: Pipeline, parsed: list[Reading | InvalidReading], *, timeout: float
) -> list[ReadingOutcome]:
    """Submit the valid readings and wait until they are stored."""
    valid = [one for one in parsed if isinstance(one, Reading) and _is_finite(one)]
    pipeline.counters["http", ReadingOutcome.NONSENSE] += len(parsed) - len(valid)
    try:
        async with asyncio.timeout(timeout):
            outcomes = iter(await pipeline.submit(valid) if valid else ())
    except TimeoutError:
        detail = f"the readings were not stored within {timeout:g} s; it is safe to send them again"
        raise HTTPException(503, detail, {"Retry-After": "5"}) from None
    submitted = {id(one) for one in valid}
    return [next(outcomes) if id(one) in submitted else ReadingOutcome.NONSENSE for one in parsed]


def _is_finite(reading: Reading) -> bool:
    return all(value is None or math.isfinite(value) for value in (reading.co2, reading.ventilation))


def _describe(reading: Reading | InvalidReading, outcome: ReadingOutcome) -> dict[str, str | None]:
    described: dict[str, str | None] = {
        "time": format_time(reading.time) if reading.time else None,
        "outcome": outcome.value,
    }
    if isinstance(reading, InvalidReading):
        return described | {"detail": reading.detail}
    return described | {"detail": REJECTION_TEXTS[outcome]} if outcome in REJECTION_TEXTS else described
