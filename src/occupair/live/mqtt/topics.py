"""Topics that the service publishes, and the payload of a room's state."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

from occupair.live.messages import RoomState, interface_values

if TYPE_CHECKING:
    from occupair.live.config import MqttConfig
    from occupair.live.room_shards import Shard

ONLINE, OFFLINE = "online", "offline"
"""Payloads of the availability topics and of the Home Assistant status."""
_AIR_ATTRIBUTES = ("outdoor_air", "damper", "outdoor_air_people")
_ATTRIBUTES = ("people", "people_exact", "low", "high", "occupied", "co2", "co2_smoothed", "people_refined")


def status_topic(mqtt: MqttConfig, shard: Shard | None = None) -> str:
    """Return the topic of the status of the service or shard; the broker publishes "offline" as a will."""
    return f"{mqtt.prefix}/status" if shard is None else f"{mqtt.prefix}/status/{shard.suffix}"


def state_topic(mqtt: MqttConfig, room: str) -> str:
    """Return the topic of the state of a room."""
    return f"{mqtt.prefix}/{room}/state"


def availability_topic(mqtt: MqttConfig, room: str) -> str:
    """Return the availability topic of a room: ``"online"`` while it is in the settings, else empty."""
    return f"{mqtt.prefix}/{room}/availability"


def state_payload(state: RoomState) -> str:
    """Return the state of a room as JSON; unknown values are null.

    Only rooms with settings for outdoor air have it in their state.

    Examples
    --------
    >>> from occupair.live.messages import Quality, unknown_state
    >>> from occupair.live.reasons import Cause, Reason
    >>> state_payload(unknown_state("lab", Quality.UNTRAINED, Cause(Reason.NO_MODEL)))[:50]
    '{"people": null, "people_exact": null, "low": null'
    """
    attributes = _ATTRIBUTES if state.outdoor_air is None else (*_ATTRIBUTES, *_AIR_ATTRIBUTES)
    content: dict[str, object] = {
        name: _finite(value) for name, value in interface_values(state, attributes).items()
    }
    time = None if state.time is None else state.time.isoformat().replace("+00:00", "Z")
    content |= {"quality": str(state.quality), "reason": state.reason, "note": state.note, "time": time}
    return json.dumps(content, allow_nan=False)


def _finite(value: object) -> object:
    return None if isinstance(value, float) and not math.isfinite(value) else value
