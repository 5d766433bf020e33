"""States and estimates as JSON, each state written once for all who ask."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import fields
from typing import Any

from occupair.live.config import RoomConfig
from occupair.live.http.times import write_time
from occupair.live.messages import INTERFACE_NAMES, EstimateRecord, Quality, RoomState, unknown_state
from occupair.live.reasons import Cause, Reason

_STATE = {field.name: INTERFACE_NAMES.get(field.name, field.name) for field in fields(RoomState)}
_ESTIMATE = {field.name: INTERFACE_NAMES.get(field.name, field.name) for field in fields(EstimateRecord)}
del _STATE["cause"], _ESTIMATE["room"]


class StateTexts:
    """JSON of states; a room's newest is kept, so that many streams cost little more than one."""

    def __init__(self) -> None:
        self._newest: dict[str, tuple[RoomState, str]] = {}

    def of(self, state: RoomState) -> str:
        """Give a state as JSON."""
        known = self._newest.get(state.room)
        if known is None or known[0] is not state:
            known = (state, to_json({key: plain(getattr(state, name)) for name, key in _STATE.items()}))
            self._newest[state.room] = known
        return known[1]

    def all_of(self, states: Iterable[RoomState]) -> str:
        """Give states as a JSON list."""
        return "[" + ",".join(map(self.of, states)) + "]"

    def room(self, room: RoomConfig, state: RoomState | None) -> str:
        """Give a room with its state as JSON."""
        about = {
            "room": room.id,
            "name": room.name or room.id,
            "floor": room.floor,
            "timezone": room.timezone,
            "capacity": room.capacity,
        }
        return f'{to_json(about)[:-1]},"state":{self.of(state or nothing_yet(room.id))}}}'


def estimates_json(estimates: Iterable[EstimateRecord]) -> str:
    """Give estimates as a JSON list."""
    return to_json([{key: plain(getattr(one, name)) for name, key in _ESTIMATE.items()} for one in estimates])


def nothing_yet(room: str) -> RoomState:
    """Return the state of a room without any reading."""
    return unknown_state(room, Quality.STALE, Cause(Reason.NO_READING))


def plain(value: Any) -> Any:
    """Give a value as JSON can hold it: times as text, numbers that are none as null."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if hasattr(value, "astimezone"):
        return write_time(value)
    return value


def to_json(value: Any) -> str:
    """Write JSON without spaces."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False)
