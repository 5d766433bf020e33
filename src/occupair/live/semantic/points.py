"""Points of a room: readings that the service uses, and estimates that it publishes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from occupair.live.config import MqttConfig, RoomConfig, ServiceConfig, Topic
from occupair.live.config.room_settings import BacnetPoint
from occupair.live.mqtt.topics import state_topic


@dataclass(frozen=True)
class PointKind:
    """A quantity in the terms of both standards.

    Parameters
    ----------
    label : str
        Appended to the name of the room.
    brick : str
        Brick class, or a name in ``EXTENSION_CLASSES`` where Brick has none.
    qudt : str
        QUDT unit; "" for quantities without one.
    tags : str
        Haystack markers, separated by spaces.
    unit : str
        Haystack unit, or "".
    kind : {"Number", "Bool"}
        Haystack kind.
    """

    label: str
    brick: str
    qudt: str
    tags: str
    unit: str = ""
    kind: Literal["Number", "Bool"] = "Number"


DEFAULT_PORT = 47808
"""UDP port of BACnet/IP."""

READINGS = {
    "co2": PointKind("CO2", "Zone_CO2_Level_Sensor", "PPM", "zone air co2 concentration sensor point", "ppm"),
    "ventilation": PointKind("ventilation", "Ventilation_Signal", "", "ventilation sensor point"),
    "temperature": PointKind(
        "temperature", "Zone_Air_Temperature_Sensor", "DEG_C", "zone air temp sensor point", "°C"
    ),
    "humidity": PointKind(
        "humidity", "Zone_Air_Humidity_Sensor", "PERCENT_RH", "zone air humidity sensor point", "%RH"
    ),
    "sound": PointKind("sound level", "Sound_Level_Sensor", "DeciB", "sound sensor point", "dB"),
    "light": PointKind("illuminance", "Illuminance_Sensor", "LUX", "light illuminance sensor point", "lx"),
    "wifi": PointKind("Wi-Fi clients", "WiFi_Client_Count_Sensor", "", "wifi sensor point"),
    "power": PointKind("power", "Electric_Power_Sensor", "W", "ac elec active power sensor point", "W"),
    "motion": PointKind("motion", "Motion_Sensor", "", "motion occupied sensor point", kind="Bool"),
}
"""Quantities that the service reads, by their key in the settings."""

ESTIMATES = {
    "people": PointKind("people", "Occupancy_Count_Sensor", "", "occupancy sensor point"),
    "occupied": PointKind("occupied", "Occupancy_Status", "", "occupied sensor point", kind="Bool"),
}
"""Quantities that the service publishes, by their key in the MQTT payload."""

EXTENSION_CLASSES = {
    "Ventilation_Signal": ("Point", "Damper position, fan speed or air flow, as a measure of ventilation."),
    "Sound_Level_Sensor": ("Sensor", "Measures the sound pressure level."),
    "WiFi_Client_Count_Sensor": ("Sensor", "Counts the devices connected to the access points of a room."),
}
"""Own classes where Brick has none, with their Brick superclass and definition."""

EXTENSION_TAGS = frozenset({"sound", "wifi", "motion"})
"""Own markers where Haystack has none."""


@dataclass(frozen=True)
class RoomPoint:
    """A point of a room with its references."""

    key: str
    kind: PointKind
    sources: tuple[Topic | BacnetPoint, ...]
    is_published: bool = False


def room_points(
    config: ServiceConfig, room: RoomConfig, objects: dict[str, str] | None = None
) -> Iterator[RoomPoint]:
    """Yield the points of a room: CO2, further sources of its settings, and the published estimates.

    ``objects`` are the BACnet objects of the estimates in the device of the service, such as
    ``{"people": "analog-value,1"}``.
    """
    for key, kind in READINGS.items():
        source = room.sources.get(key)
        if source is not None or key == "co2":  # without a source, CO2 arrives over HTTP
            yield RoomPoint(key, kind, () if source is None else (source,))
    for key, kind in ESTIMATES.items():
        sources: list[Topic | BacnetPoint] = []
        if config.mqtt is not None:
            sources.append(_published_topic(config.mqtt, room.id, key))
        if config.bacnet is not None and key in (objects or {}):
            sources.append(BacnetPoint(bacnet=own_address(config), object=(objects or {})[key]))
        yield RoomPoint(key, kind, tuple(sources), is_published=True)


def own_address(config: ServiceConfig) -> str:
    """Return the BACnet address of the service, with its port unless that is the default."""
    assert config.bacnet is not None
    host = config.bacnet.address.partition("/")[0]
    return host if config.bacnet.port == DEFAULT_PORT else f"{host}:{config.bacnet.port}"


def _published_topic(mqtt: MqttConfig, room: str, key: str) -> Topic:
    return Topic(topic=state_topic(mqtt, room), shape="json", path=key, time_path="time")
