"""JSON of room states and estimates. Each state is encoded once per language for all clients."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import fields
from typing import Any

from occupair.live.config import RoomConfig
from occupair.live.http.rfc3339 import format_time
from occupair.live.messages import EstimateRecord, Quality, RoomState, interface_values, unknown_state
from occupair.live.reasons import Cause, Reason

_STATE_ATTRIBUTES = [field.name for field in fields(RoomState) if "cause" not in field.name]
_ESTIMATE_ATTRIBUTES = [field.name for field in fields(EstimateRecord) if field.name != "room"]


class StateEncoder:
    """Encode states as JSON, with a cache of the newest state of each room for all event streams."""

    def __init__(self) -> None:
        self._cache: dict[tuple[str, str], tuple[RoomState, str]] = {}

    def encode(self, state: RoomState, language: str = "en") -> str:
        """Return the JSON of a state, with its reason in a language."""
        key = (state.room, language)
        cached = self._cache.get(key)
        if cached is None or cached[0] is not state:
            values = _plain_values(state, _STATE_ATTRIBUTES)
            if state.cause is not None:
                values["reason"] = state.cause.text(language)
            if state.note_cause is not None:
                values["note"] = state.note_cause.text(language)
            cached = self._cache[key] = (state, to_json(values))
        return cached[1]

    def encode_list(self, states: Iterable[RoomState], language: str = "en") -> str:
        """Return the JSON list of states."""
        return "[" + ",".join(self.encode(state, language) for state in states) + "]"

    def encode_room(self, room: RoomConfig, state: RoomState | None, language: str = "en") -> str:
        """Return the JSON of a room with its state."""
        if state is None:
            state = unknown_state(room.id, Quality.STALE, Cause(Reason.NO_READING))
        settings = {
            "room": room.id,
            "name": room.name or room.id,
            "floor": room.floor,
            "timezone": room.timezone,
            "capacity": room.capacity,
            "outdoor_air": _air_settings(room),
        }
        return f'{to_json(settings)[:-1]},"state":{self.encode(state, language)}}}'


def _air_settings(room: RoomConfig) -> dict[str, Any] | None:
    """Return the settings of the recommended outdoor air that readers need to understand it."""
    if (control := room.air_control) is None:
        return None
    demand, is_ashrae = control.demand, control.demand.standard == "ASHRAE 62.1"
    return {
        "standard": demand.standard,
        "space": demand.space if is_ashrae else None,
        "category": None if is_ashrae else demand.category,
        "confidence": control.confidence,
        "design_people": control.design_people,
        "design_flow": control.design_flow,
        "minimum": control.minimum,
        "maximum": control.highest,
    }


def estimates_json(estimates: Iterable[EstimateRecord]) -> str:
    """Return the JSON list of estimates."""
    return to_json([_plain_values(one, _ESTIMATE_ATTRIBUTES) for one in estimates])


def _plain_values(message: EstimateRecord | RoomState, attributes: Iterable[str]) -> dict[str, Any]:
    return {name: to_plain(value) for name, value in interface_values(message, attributes).items()}


def to_plain(value: Any) -> Any:
    """Convert a value for JSON: times to strings, NaN and infinity to null."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if hasattr(value, "astimezone"):
        return format_time(value)
    return value


def to_json(value: Any) -> str:
    """Return compact JSON."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False)
