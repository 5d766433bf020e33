"""Export of the rooms as a Project Haystack 4 grid in JSON (Hayson).

Tags are those of the Haystack 4 definitions, ``bacnetAddr`` is that of its library ``ph.protocols``. Where
these have none, the tags are our own: `EXTENSION_TAGS`, and ``mqttTopic``, ``mqttPath``, ``mqttTimePath``,
``mqttShape``, ``ventilationFull``, ``airVolume``, ``seats``, ``bacnetObject`` and ``bacnetDevice``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from occupair.live.config import MqttConfig, RoomConfig, ServiceConfig, Topic, VentilationPoint
from occupair.live.config.room_settings import BacnetPoint, VentilationTopic
from occupair.live.config.values import OBJECT_TYPES
from occupair.live.semantic.points import RoomPoint, own_address, room_points

_MARKER = {"_kind": "marker"}
_BROKER = "device.mqtt"
Row = dict[str, Any]


def export_haystack(
    config: ServiceConfig,
    *,
    building: str = "Building",
    objects: Mapping[str, dict[str, str]] | None = None,
) -> str:
    """Return the rooms, floors and points of the settings as a Haystack 4 grid in JSON.

    Parameters
    ----------
    config : ServiceConfig
    building : str
        Name of the site.
    objects : mapping, optional
        BACnet objects of the estimates by room, such as ``{"lab": {"people": "analog-value,1"}}``.

    Notes
    -----
    Ids of rooms are the room ids; all others contain a dot, which a room id never does. ``deviceRef`` is the
    device of ``bacnetAddr``, or the broker if the point has no BACnet object; ``mqttBrokerRef`` is always the
    broker of ``mqttTopic``.
    """
    site = _ref("site.building", building)
    rows: list[Row] = [_entity(site, "site", tz=_city(config.timezone))]
    floors = {name: _ref(f"floor.{number}", name) for number, name in enumerate(_floor_names(config), 1)}
    rows += [_entity(floor, "floor space", siteRef=site) for floor in floors.values()]
    devices: dict[str, Row] = {}
    if config.mqtt is not None:
        devices[_BROKER] = _broker(config.mqtt)
    if config.bacnet is not None:
        own = _bacnet_device(config, own_address(config))
        devices[own["id"]["val"]] = own
    for room in config.rooms.values():
        of_room = _ref(room.id, room.name or room.id)
        rows.append(_room_row(room, of_room, site, floors))
        for point in room_points(config, room, (objects or {}).get(room.id)):
            rows.append(_point_row(config, room, point, {"siteRef": site, "spaceRef": of_room}, devices))
    rows += [_entity(row.pop("id"), **row, siteRef=site) for row in devices.values()]
    columns = list(dict.fromkeys(name for row in rows for name in row))
    grid = {
        "_kind": "grid",
        "meta": {"ver": "3.0"},
        "cols": [{"name": name} for name in columns],
        "rows": rows,
    }
    return json.dumps(grid, ensure_ascii=False, allow_nan=False, indent=2) + "\n"


def _floor_names(config: ServiceConfig) -> list[str]:
    return list(dict.fromkeys(room.floor for room in config.rooms.values() if room.floor))


def _ref(name: str, dis: str) -> Row:
    return {"_kind": "ref", "val": name, "dis": dis}


def _number(value: float, unit: str) -> Row:
    return {"_kind": "number", "val": value, "unit": unit}


def _entity(ref: Row, markers: str = "", **tags: Any) -> Row:
    return {"id": ref, "dis": ref["dis"], **dict.fromkeys(markers.split(), _MARKER), **tags}


def _city(timezone: str) -> str:
    """Return the name of a time zone in Haystack: that of its city.

    Examples
    --------
    >>> _city("America/Argentina/Buenos_Aires"), _city("UTC")
    ('Buenos_Aires', 'UTC')
    """
    return timezone.rpartition("/")[2]


def _room_row(room: RoomConfig, ref: Row, site: Row, floors: dict[str, Row]) -> Row:
    row = _entity(ref, "room space", siteRef=site)
    if room.floor:
        row["spaceRef"] = floors[room.floor]
    if room.area is not None:
        row["area"] = _number(room.area, "m²")
    if room.volume is not None:
        row["airVolume"] = _number(room.volume, "m³")
    if room.capacity is not None:
        row["seats"] = room.capacity
    return row


def _point_row(
    config: ServiceConfig, room: RoomConfig, point: RoomPoint, refs: Row, devices: dict[str, Row]
) -> Row:
    ref = _ref(f"{room.id}.{point.key}", f"{room.name or room.id} {point.kind.label}")
    row = _entity(ref, point.kind.tags, kind=point.kind.kind, tz=_city(room.timezone), **refs)
    if point.kind.unit:
        row["unit"] = point.kind.unit
    for source in point.sources:
        if isinstance(source, VentilationTopic | VentilationPoint):
            row["ventilationFull"] = source.full
        if isinstance(source, Topic):
            row |= _mqtt_tags(source)
            if _BROKER in devices:
                row["mqttBrokerRef"] = devices[_BROKER]["id"]
                row.setdefault("deviceRef", row["mqttBrokerRef"])
        else:
            device = _bacnet_device(config, source.bacnet)
            row |= _bacnet_tags(source)
            row["deviceRef"] = devices.setdefault(device["id"]["val"], device)["id"]
    return row


def _mqtt_tags(topic: Topic) -> Row:
    tags = {"mqttTopic": topic.topic, "mqttPath": topic.path, "mqttTimePath": topic.time_path}
    shape = {} if topic.shape in ("auto", "json") else {"mqttShape": topic.shape}
    return {"mqtt": _MARKER, **{name: value for name, value in tags.items() if value is not None}, **shape}


def _bacnet_tags(point: BacnetPoint) -> Row:
    kind, _, number = point.object.partition(",")
    code, _ = OBJECT_TYPES.get(kind, ("", None))
    address = {"bacnetAddr": {"addr": f"{code}{number}"}} if code else {"bacnetObject": point.object}
    return {"bacnet": _MARKER, **address}


def _broker(mqtt: MqttConfig) -> Row:
    host = f"[{mqtt.host}]" if ":" in mqtt.host else mqtt.host
    uri = f"{'mqtts' if mqtt.tls else 'mqtt'}://{host}:{mqtt.port}"
    return _device_row(_BROKER, f"MQTT broker {mqtt.host}", "mqtt", uri)


def _bacnet_device(config: ServiceConfig, address: str) -> Row:
    row = _device_row(
        f"device.{address.replace(':', '_')}", f"BACnet device {address}", "bacnet", f"bacnet://{address}"
    )
    if config.bacnet is not None and address == own_address(config):
        row["bacnetDevice"] = config.bacnet.device
    return row


def _device_row(name: str, dis: str, protocol: str, uri: str) -> Row:
    markers = dict.fromkeys(("device", protocol), _MARKER)
    return {"id": _ref(name, dis), **markers, "uri": {"_kind": "uri", "val": uri}}
