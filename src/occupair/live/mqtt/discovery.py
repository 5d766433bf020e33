"""What we say by MQTT, and where: topics, a room's state, and how Home Assistant finds the room.

Home Assistant takes one message per room, by device discovery (its version 2024.12 and later): a device with
a sensor of people, a binary sensor of occupancy and a sensor of CO2. What is not known is ``None`` to all
three, and never "off" or 0.
"""

from __future__ import annotations

import json
import math
import re
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING

from occupair.live.messages import INTERFACE_NAMES, RoomState

if TYPE_CHECKING:
    from occupair.live.config import MqttConfig, RoomConfig

ONLINE, OFFLINE = "online", "offline"
"""What availability topics say, and Home Assistant's own status."""
_KEYS = ("people", "people_exact", "low", "high", "occupied", "co2", "co2_smoothed", "people_refined")
_UNKNOWN = "{{{{ 'None' if value_json.{key} is none else value_json.{key} }}}}"
_OCCUPIED = "{{ 'None' if value_json.occupied is none else 'ON' if value_json.occupied else 'OFF' }}"
_ATTRIBUTES = (
    "{{ {'low': value_json.low, 'high': value_json.high, 'quality': value_json.quality,"
    " 'reason': value_json.reason} | tojson }}"
)


def status_topic(mqtt: MqttConfig) -> str:
    """Where the service says that it is up; the broker says for it that it is not."""
    return f"{mqtt.prefix}/status"


def state_topic(mqtt: MqttConfig, room: str) -> str:
    """Where a room's state is."""
    return f"{mqtt.prefix}/{room}/state"


def availability_topic(mqtt: MqttConfig, room: str) -> str:
    """Where the service says that it looks after a room: ``"online"``, or nothing."""
    return f"{mqtt.prefix}/{room}/availability"


def home_assistant_topic(mqtt: MqttConfig) -> str:
    """Where Home Assistant says that it has started."""
    return f"{mqtt.discovery_prefix}/status"


def discovery_topic(mqtt: MqttConfig, room: str) -> str:
    """Where Home Assistant looks for a room."""
    return f"{mqtt.discovery_prefix}/device/{device_id(mqtt, room)}/config"


def device_id(mqtt: MqttConfig, room: str) -> str:
    """Name a room so that no other service's room has the same name.

    Examples
    --------
    >>> from occupair.live.config import MqttConfig
    >>> device_id(MqttConfig(host="broker", prefix="site/north"), "lab")
    'site_north_lab'
    """
    return re.sub(r"[^a-zA-Z0-9_-]", "_", f"{mqtt.prefix}_{room}")


def state_payload(state: RoomState) -> str:
    """Write a room's state as JSON; what is not known is null.

    Examples
    --------
    >>> from occupair.live.messages import Quality
    >>> state_payload(RoomState("lab", None, *[None] * 9, Quality.UNTRAINED, "no model yet"))[:50]
    '{"people": null, "people_exact": null, "low": null'
    """
    told: dict[str, object] = {INTERFACE_NAMES.get(key, key): _finite(getattr(state, key)) for key in _KEYS}
    time = None if state.time is None else state.time.isoformat().replace("+00:00", "Z")
    told |= {"quality": str(state.quality), "reason": state.reason, "time": time}
    return json.dumps(told, allow_nan=False)


def _finite(value: object) -> object:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def discovery_payload(mqtt: MqttConfig, room: RoomConfig) -> str:
    """Write what Home Assistant has to know of a room.

    An entity is available while both the service is up and it looks after the room. There is no
    ``expire_after``: the service itself says when a sensor is silent.
    """
    name = device_id(mqtt, room.id)
    available = (status_topic(mqtt), availability_topic(mqtt, room.id))
    told = {
        "device": {
            "identifiers": [name],
            "name": room.name or room.id,
            "manufacturer": "occupair",
            "model": "Head count by CO2",
            "sw_version": _version(),
        },
        "origin": {"name": "occupair", "sw_version": _version()},
        "components": _components(mqtt, room.id),
        "state_topic": state_topic(mqtt, room.id),
        "availability": [{"topic": topic} for topic in available],
        "availability_mode": "all",
        "qos": 1,
    }
    return json.dumps(told)


@cache
def _version() -> str:
    return version("occupair")


def _components(mqtt: MqttConfig, room: str) -> dict[str, dict[str, object]]:
    people: dict[str, object] = {
        "platform": "sensor",
        "name": "People",
        "icon": "mdi:account-group",
        "state_class": "measurement",
        "unit_of_measurement": "people",
        "suggested_display_precision": 0,
        "value_template": _UNKNOWN.format(key="people"),
        "json_attributes_topic": state_topic(mqtt, room),
        "json_attributes_template": _ATTRIBUTES,
    }
    occupied: dict[str, object] = {
        "platform": "binary_sensor",
        "name": "Occupied",
        "device_class": "occupancy",
        "value_template": _OCCUPIED,
    }
    co2: dict[str, object] = {
        "platform": "sensor",
        "name": "CO2",
        "device_class": "carbon_dioxide",
        "state_class": "measurement",
        "unit_of_measurement": "ppm",
        "suggested_display_precision": 0,
        "entity_category": "diagnostic",
        "value_template": _UNKNOWN.format(key="co2"),
    }
    return {
        key: component
        | {
            "unique_id": f"{device_id(mqtt, room)}_{key}",
            "default_entity_id": f"{component['platform']}.{room.replace('-', '_')}_{key}",
        }
        for key, component in (("people", people), ("occupied", occupied), ("co2", co2))
    }
