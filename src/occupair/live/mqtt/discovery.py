"""Topics and payloads of published messages: room states and Home Assistant discovery.

Each room is announced with one device discovery message (Home Assistant 2024.12 and later): a device with a
people sensor, an occupancy binary sensor and a CO2 sensor. Unknown values are ``None`` in all three, and
never "off" or 0.
"""

from __future__ import annotations

import json
import math
import re
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING

from occupair.live.messages import RoomState, interface_values

if TYPE_CHECKING:
    from occupair.live.config import MqttConfig, RoomConfig

ONLINE, OFFLINE = "online", "offline"
"""Payloads of the availability topics and of the Home Assistant status."""
_ATTRIBUTES = ("people", "people_exact", "low", "high", "occupied", "co2", "co2_smoothed", "people_refined")
_VALUE_TEMPLATE = "{{{{ 'None' if value_json.{key} is none else value_json.{key} }}}}"
_OCCUPIED_TEMPLATE = "{{ 'None' if value_json.occupied is none else 'ON' if value_json.occupied else 'OFF' }}"
_ATTRIBUTES_TEMPLATE = (
    "{{ {'low': value_json.low, 'high': value_json.high, 'quality': value_json.quality,"
    " 'reason': value_json.reason} | tojson }}"
)


def status_topic(mqtt: MqttConfig) -> str:
    """Return the topic of the service status; the broker publishes the offline status as a will."""
    return f"{mqtt.prefix}/status"


def state_topic(mqtt: MqttConfig, room: str) -> str:
    """Return the topic of the state of a room."""
    return f"{mqtt.prefix}/{room}/state"


def availability_topic(mqtt: MqttConfig, room: str) -> str:
    """Return the availability topic of a room: ``"online"`` while it is in the settings, else empty."""
    return f"{mqtt.prefix}/{room}/availability"


def home_assistant_topic(mqtt: MqttConfig) -> str:
    """Return the topic of the Home Assistant status."""
    return f"{mqtt.discovery_prefix}/status"


def discovery_topic(mqtt: MqttConfig, room: str) -> str:
    """Return the topic of the discovery message of a room."""
    return f"{mqtt.discovery_prefix}/device/{device_id(mqtt, room)}/config"


def device_id(mqtt: MqttConfig, room: str) -> str:
    """Return a device identifier that is unique across services on the same broker.

    Examples
    --------
    >>> from occupair.live.config import MqttConfig
    >>> device_id(MqttConfig(host="broker", prefix="site/north"), "lab")
    'site_north_lab'
    """
    return re.sub(r"[^a-zA-Z0-9_-]", "_", f"{mqtt.prefix}_{room}")


def state_payload(state: RoomState) -> str:
    """Return the state of a room as JSON; unknown values are null.

    Examples
    --------
    >>> from occupair.live.messages import Quality, unknown_state
    >>> from occupair.live.reasons import Cause, Reason
    >>> state_payload(unknown_state("lab", Quality.UNTRAINED, Cause(Reason.NO_MODEL)))[:50]
    '{"people": null, "people_exact": null, "low": null'
    """
    content: dict[str, object] = {
        name: _finite(value) for name, value in interface_values(state, _ATTRIBUTES).items()
    }
    time = None if state.time is None else state.time.isoformat().replace("+00:00", "Z")
    content |= {"quality": str(state.quality), "reason": state.reason, "time": time}
    return json.dumps(content, allow_nan=False)


def _finite(value: object) -> object:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def discovery_payload(mqtt: MqttConfig, room: RoomConfig) -> str:
    """Return the Home Assistant discovery message of a room.

    An entity is available while the service is online and the room is in its settings. ``expire_after`` is
    not set, because the service itself publishes when a sensor is offline.
    """
    name = device_id(mqtt, room.id)
    available = (status_topic(mqtt), availability_topic(mqtt, room.id))
    content = {
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
    return json.dumps(content)


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
        "value_template": _VALUE_TEMPLATE.format(key="people"),
        "json_attributes_topic": state_topic(mqtt, room),
        "json_attributes_template": _ATTRIBUTES_TEMPLATE,
    }
    occupied: dict[str, object] = {
        "platform": "binary_sensor",
        "name": "Occupied",
        "device_class": "occupancy",
        "value_template": _OCCUPIED_TEMPLATE,
    }
    co2: dict[str, object] = {
        "platform": "sensor",
        "name": "CO2",
        "device_class": "carbon_dioxide",
        "state_class": "measurement",
        "unit_of_measurement": "ppm",
        "suggested_display_precision": 0,
        "entity_category": "diagnostic",
        "value_template": _VALUE_TEMPLATE.format(key="co2"),
    }
    return {
        key: component
        | {
            "unique_id": f"{device_id(mqtt, room)}_{key}",
            "default_entity_id": f"{component['platform']}.{room.replace('-', '_')}_{key}",
        }
        for key, component in (("people", people), ("occupied", occupied), ("co2", co2))
    }
