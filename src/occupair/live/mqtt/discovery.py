"""Home Assistant discovery: topics and messages that announce rooms.

Each room is announced with one device discovery message (Home Assistant 2024.12 and later): a device with a
people sensor, an occupancy binary sensor and a CO2 sensor, and with settings for outdoor air two sensors of
the recommended flow and damper position. Unknown values are ``None`` in all of them, and never "off" or 0.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from occupair._version import __version__
from occupair.live.mqtt.topics import availability_topic, state_topic, status_topic

if TYPE_CHECKING:
    from occupair.live.config import MqttConfig, RoomConfig
    from occupair.live.room_shards import Shard

_VALUE_TEMPLATE = "{{{{ 'None' if value_json.{key} is none else value_json.{key} }}}}"
_OCCUPIED_TEMPLATE = "{{ 'None' if value_json.occupied is none else 'ON' if value_json.occupied else 'OFF' }}"
_PERCENT_TEMPLATE = "{{ 'None' if value_json.damper is none else 100 * value_json.damper }}"
_AIR_ATTRIBUTES_TEMPLATE = "{{ {'people': value_json.outdoor_air_people} | tojson }}"
_ATTRIBUTES_TEMPLATE = (
    "{{ {'low': value_json.low, 'high': value_json.high, 'quality': value_json.quality,"
    " 'reason': value_json.reason} | tojson }}"
)


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


def discovery_payload(mqtt: MqttConfig, room: RoomConfig, *, shard: Shard | None = None) -> str:
    """Return the Home Assistant discovery message of a room.

    An entity is available while the service, or the shard of the room, is online and the room is in its
    settings. ``expire_after`` is not set, because the service itself publishes when a sensor is offline.
    """
    name = device_id(mqtt, room.id)
    available = (status_topic(mqtt, shard), availability_topic(mqtt, room.id))
    content = {
        "device": {
            "identifiers": [name],
            "name": room.name or room.id,
            "manufacturer": "occupair",
            "model": "Head count by CO2",
            "sw_version": __version__,
        },
        "origin": {"name": "occupair", "sw_version": __version__},
        "components": _components(mqtt, room),
        "state_topic": state_topic(mqtt, room.id),
        "availability": [{"topic": topic} for topic in available],
        "availability_mode": "all",
        "qos": 1,
    }
    return json.dumps(content)


def _components(mqtt: MqttConfig, config: RoomConfig) -> dict[str, dict[str, object]]:
    room = config.id
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
    components = {"people": people, "occupied": occupied, "co2": co2}
    if config.outdoor_air is not None:
        components |= _air_components(mqtt, room)
    return {
        key: component | _entity_ids(mqtt, room, f"{component['platform']}", key)
        for key, component in components.items()
    }


def _air_components(mqtt: MqttConfig, room: str) -> dict[str, dict[str, object]]:
    """Return the sensors of the recommended flow and damper position."""
    flow: dict[str, object] = {
        "platform": "sensor",
        "name": "Outdoor air, recommended",
        "device_class": "volume_flow_rate",
        "state_class": "measurement",
        "unit_of_measurement": "L/s",
        "suggested_display_precision": 0,
        "value_template": _VALUE_TEMPLATE.format(key="outdoor_air"),
        "json_attributes_topic": state_topic(mqtt, room),
        "json_attributes_template": _AIR_ATTRIBUTES_TEMPLATE,
    }
    damper: dict[str, object] = {
        "platform": "sensor",
        "name": "Damper, recommended",
        "icon": "mdi:valve",
        "state_class": "measurement",
        "unit_of_measurement": "%",
        "suggested_display_precision": 0,
        "value_template": _PERCENT_TEMPLATE,
    }
    return {"outdoor_air": flow, "damper": damper}


def _entity_ids(mqtt: MqttConfig, room: str, platform: str, key: str) -> dict[str, object]:
    """Return the keys from which Home Assistant makes the entity id, such as ``sensor.lab_people``.

    Home Assistant before 2025.10 reads ``object_id`` and ignores ``default_entity_id``; from 2026.4 it is the
    other way round. In between, ``object_id`` without ``default_entity_id`` is a deprecation warning.
    """
    name = f"{room.replace('-', '_')}_{key}"
    return {
        "unique_id": f"{device_id(mqtt, room)}_{key}",
        "object_id": name,
        "default_entity_id": f"{platform}.{name}",
    }
