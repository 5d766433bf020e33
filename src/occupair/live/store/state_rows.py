"""States of rooms as text, for the shards that share a store."""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import fields
from typing import Any

from occupair.live.messages import Quality, RoomState
from occupair.live.reasons import Cause, Reason

_FIELDS = {field.name for field in fields(RoomState)}
_DATE_LENGTH = len("2024-01-08")


def to_text(state: RoomState) -> str:
    """Return a state as JSON in one line. It may have NaN, which the database stores as text."""
    return json.dumps(vars(state), default=_to_plain, separators=(",", ":"))


def from_text(text: str) -> RoomState:
    """Return the state in a JSON text, without fields that this version does not know.

    Raises
    ------
    ValueError
        If it is not a state, or one that this version cannot represent.
    """
    try:
        return _parse(text)
    except (AttributeError, KeyError, TypeError, IndexError) as error:
        raise ValueError(f"is not the state of a room: {type(error).__name__} {error}") from None


def _parse(text: str) -> RoomState:
    values = {name: value for name, value in json.loads(text).items() if name in _FIELDS}
    values["time"] = None if values["time"] is None else dt.datetime.fromisoformat(values["time"])
    values["people_refined"] = tuple(values["people_refined"])
    values["quality"] = Quality(values["quality"])
    for name in ("cause", "note_cause"):
        values[name] = _to_cause(values.get(name))
    return RoomState(**values)


def _to_plain(value: Any) -> str:
    if isinstance(value, dt.date):  # or a datetime
        return value.isoformat()
    raise TypeError(f"a state must not have a {type(value).__name__}")


def _to_cause(value: Any) -> Cause | None:
    """Return a cause; one of a newer version is only known as the English text of the state."""
    if value is None or value[0] not in list(Reason):
        return None
    code, given = value
    values: dict[str, Any] = {
        name: tuple(one) if isinstance(one, list) else one for name, one in given.items()
    }
    if since := values.get("since"):
        is_date = len(since) == _DATE_LENGTH
        values["since"] = (dt.date if is_date else dt.datetime).fromisoformat(since)
    return Cause(Reason(code), values)
