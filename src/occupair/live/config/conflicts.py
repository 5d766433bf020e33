"""Conflicts between settings that are valid one by one, found in the values of a file.

The checks use the values as they are in the file, so they also run if other values are invalid.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, get_args

from occupair.live.config.mistakes import Key
from occupair.live.config.room_settings import FormatName
from occupair.readings.other_sensors import SENSORS
from occupair.web.hosts import is_loopback

Table = dict[str, Any]


def find_conflicts(values: Table) -> Iterator[tuple[Any, ...]]:
    """Yield (key, rule, value if it is to be shown) of values that do not go together."""
    yield from _find_mqtt_conflicts(_table(values.get("mqtt")))
    yield from _find_topic_conflicts(values)
    yield from _find_size_conflicts(_table(values.get("rooms")))
    yield from _find_air_conflicts(_table(values.get("rooms")))
    hashes: dict[str, str] = {}
    for name, token in _table(values.get("tokens")).items():
        given = str(_table(token).get("hash", name))
        if given in hashes:
            yield ("tokens", name, "hash"), f"must differ from the hash of tokens.{hashes[given]}"
        hashes.setdefault(given, name)
    service = _table(values.get("service"))
    host = service.get("host", "127.0.0.1")
    if isinstance(host, str) and is_unprotected(host, values.get("tokens"), service.get("ingress")):
        yield ("service", "host"), "must be a loopback address such as 127.0.0.1 without [tokens]", host
    if "shard" in service:
        yield from _find_shard_conflicts(values, service)
    elif "advertise" in service:
        yield ("service", "advertise"), "requires service.shard"


def is_unprotected(host: str, tokens: Any, ingress: Any) -> bool:
    """Whether anybody in the network could use a service that listens on ``host``."""
    return not (is_loopback(host) or tokens or ingress)


def _find_shard_conflicts(values: Table, service: Table) -> Iterator[tuple[Key, str]]:
    key: Key = ("service", "shard")
    if str(service.get("store", "sqlite:")).startswith("sqlite:"):
        yield key, 'requires a PostgreSQL database, service.store = "postgresql://..."'
    if "bacnet" in values:
        yield key, "must not be set together with [bacnet], whose device has the objects of all rooms"
    if "ingress" in service:
        yield key, "must not be set together with service.ingress"


def _find_mqtt_conflicts(mqtt: Table) -> Iterator[tuple[Key, str]]:
    for key, other in (("cert_file", "key_file"), ("key_file", "cert_file")):
        if key in mqtt and other not in mqtt:
            yield ("mqtt", key), f"requires mqtt.{other}"
    for key in ("ca_file", "cert_file"):
        if key in mqtt and not mqtt.get("tls"):
            yield ("mqtt", key), "requires mqtt.tls = true"
    if "password" in mqtt and "password_file" in mqtt:
        yield ("mqtt", "password_file"), "must not be set together with mqtt.password"
    if mqtt.get("version") == "3.1.1" and "user" not in mqtt and mqtt.keys() & {"password", "password_file"}:
        yield ("mqtt", "user"), "is required with a password in MQTT 3.1.1"


def _find_size_conflicts(rooms: Table) -> Iterator[tuple[Key, str]]:
    for name, room in rooms.items():
        given = _table(room)
        for key in ("volume", "area"):
            if key in given and "capacity" not in given:
                yield ("rooms", name, key), f"requires rooms.{name}.capacity, the number of seats"
        if "height" in given and "area" not in given:
            yield ("rooms", name, "height"), f"requires rooms.{name}.area"


def _find_air_conflicts(rooms: Table) -> Iterator[tuple[Any, ...]]:
    for name, room in rooms.items():
        given, air = _table(room), _table(_table(room).get("outdoor_air"))
        if not air:
            continue
        key: Key = ("rooms", name, "outdoor_air")
        if not given.keys() & {"area", "volume"} and "area" not in air:
            yield (*key, "area"), f"is required, here or as rooms.{name}.area [m2]"
        if "capacity" not in given and "design_people" not in air:
            yield (*key, "design_people"), f"is required, here or as rooms.{name}.capacity"
        standard = air.get("standard")
        is_ashrae = standard == "ASHRAE 62.1"
        for other in ("category", "building") if is_ashrae else ("space",):
            if other in air:
                yield (*key, other), f"must not be set with standard {standard!r}"
        if is_ashrae and "space" not in air:
            yield (*key, "space"), "is required with standard 'ASHRAE 62.1', for example 'conference'"
        minimum, maximum = air.get("minimum", 0), air.get("maximum", math.inf)
        if isinstance(minimum, int | float) and isinstance(maximum, int | float) and maximum < minimum:
            yield (*key, "maximum"), f"must not be below minimum, {minimum:g} L/s", maximum


def _find_topic_conflicts(values: Table) -> Iterator[tuple[Any, ...]]:
    rooms = _table(values.get("rooms"))
    prefix = _table(values.get("mqtt")).get("prefix", "occupair") if "mqtt" in values else None
    for name, room in rooms.items():
        for quantity in ("co2", "ventilation", *SENSORS):
            key: Key = ("rooms", name, quantity)
            topic = _table(room).get(quantity)
            if isinstance(topic, dict) and "bacnet" in topic:
                if "bacnet" not in values:
                    yield key, "requires a table [bacnet]"
                elif _is_routed(topic["bacnet"]) and not _can_broadcast(_table(values["bacnet"])):
                    yield (*key, "bacnet"), "requires bacnet.address with its network, to find the router"
            elif isinstance(topic, dict):
                yield from _find_path_conflicts(key, topic)
                key, topic = (*key, "topic"), topic.get("topic")
            if isinstance(topic, str) and _is_published(topic, rooms, prefix):
                yield key, "must not be a topic that this service publishes", topic


def _is_routed(address: object) -> bool:
    """Whether a BACnet address is ``NETWORK:STATION``."""
    return isinstance(address, str) and address.partition(":")[0].isdecimal()


def _can_broadcast(bacnet: Table) -> bool:
    address = str(bacnet.get("address"))
    return "bbmd" in bacnet or ("/" in address and not address.endswith("/32"))


def _find_path_conflicts(key: Key, topic: Table) -> Iterator[tuple[Key, str]]:
    shape = topic.get("shape", "json" if "path" in topic else "auto")
    if shape == "json" and "path" not in topic:
        yield (*key, "path"), "is required with shape 'json'"
    if shape in get_args(FormatName) and shape != "json" and "path" in topic:
        yield (*key, "path"), f"must not be set with shape {shape!r}, only with 'json'"
    if shape == "number" and "time_path" in topic:
        yield (*key, "time_path"), "must not be set with shape 'number'"


def _is_published(topic: str, rooms: Table, prefix: object) -> bool:
    """Whether this service publishes a topic, in which case it would receive its own messages as readings."""
    room, _, end = topic.removeprefix(f"{prefix}/").partition("/")
    of_room = topic.startswith(f"{prefix}/") and room in rooms and end in ("state", "availability")
    return of_room or topic == f"{prefix}/status" or topic.startswith(f"{prefix}/status/")


def _table(value: object) -> Table:
    return value if isinstance(value, dict) else {}
