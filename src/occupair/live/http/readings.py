"""Readings as they are posted: one, a list, or a list under ``readings``; each is judged by itself."""

from __future__ import annotations

import datetime as dt
import math
from dataclasses import dataclass
from typing import Any
from zoneinfo import ZoneInfo

from fastapi import HTTPException

from occupair.errors import InputError
from occupair.live.config import RoomConfig
from occupair.live.http.times import parse_rfc3339
from occupair.live.messages import Reading
from occupair.web.errors import describe_value
from occupair.web.request_bodies import parse_json

_ONE = {"$ref": "#/components/schemas/ReadingIn"}
_ANY = {"description": "Anything else has the outcome `nonsense`, and its neighbours do not suffer."}


_MANY = {
    "type": "array",
    "items": {"anyOf": [_ONE, _ANY]},
    "description": "As many as the settings allow, 10,000 if they do not say.",
}
SCHEMA: dict[str, Any] = {
    "anyOf": [_ONE, _MANY, {"type": "object", "required": ["readings"], "properties": {"readings": _MANY}}]
}
"""What a post of readings may be, for OpenAPI."""


@dataclass(frozen=True)
class Refused:
    """A reading that cannot be read."""

    time: dt.datetime | None
    detail: str


def parse_readings(data: bytes, room: RoomConfig, now: dt.datetime, *, most: int) -> list[Reading | Refused]:
    """Read what was posted.

    Parameters
    ----------
    data : bytes
        JSON.
    room : RoomConfig
    now : datetime
        Of readings without a time.
    most : int
        How many there may be.

    Raises
    ------
    HTTPException
        413 if there are more; 422 if it is no JSON, neither of the three shapes, or a single reading that
        cannot be read. In a list such a one is `Refused`, and its neighbours are taken.
    """
    posted = parse_json(data)
    if isinstance(posted, dict):
        many = posted.get("readings")
        if isinstance(many, list):
            posted = many
        elif "readings" in posted and not {"co2", "ventilation"} & posted.keys():
            raise HTTPException(422, f"readings must be a list, got {describe_value(many)}")
    if isinstance(posted, dict):
        one = _parse_one(posted, "", room, now)
        if isinstance(one, Refused):
            raise HTTPException(422, one.detail)
        return [one]
    if not isinstance(posted, list):
        raise HTTPException(
            422, f"the request body must be a reading or a list of readings, got {describe_value(posted)}"
        )
    if len(posted) > most:
        raise HTTPException(413, f"a post must have at most {most} readings, got {len(posted)}")
    return [_parse_one(one, f"readings[{place}]", room, now) for place, one in enumerate(posted)]


def refuse_endless(reading: Reading) -> bool:
    """Tell whether a number is larger than any number that is kept."""
    return not all(value is None or math.isfinite(value) for value in (reading.co2, reading.ventilation))


def _parse_one(given: Any, name: str, room: RoomConfig, now: dt.datetime) -> Reading | Refused:
    time: dt.datetime | None = None
    dot = f"{name}." if name else ""
    try:
        if not isinstance(given, dict):
            raise InputError(f"{name} must be an object, got {describe_value(given)}")
        time = _time(given.get("time"), f"{dot}time", room, now)
        co2, ventilation = (_number(given.get(key), f"{dot}{key}") for key in ("co2", "ventilation"))
        if co2 is None and ventilation is None:
            raise InputError(f"{name or 'the reading'} must have co2 or ventilation")
    except InputError as problem:
        return Refused(time, str(problem))
    return Reading(room.id, time, co2, ventilation, "http", dt.datetime.now(dt.UTC))


def _time(value: Any, name: str, room: RoomConfig, now: dt.datetime) -> dt.datetime:
    if value is None:
        return now
    try:
        return parse_rfc3339(value, ZoneInfo(room.timezone), near=now)
    except InputError as problem:
        raise InputError(f"{name} {problem}") from None


def _number(value: Any, name: str) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(f"{name} must be a number, got {describe_value(value)}")
    try:
        return float(value)
    except OverflowError:
        return math.inf
