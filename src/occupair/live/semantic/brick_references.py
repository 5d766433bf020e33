"""References of points in a Brick model: BACnet objects and MQTT topics, as sources of the settings."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError
from rdflib.term import Node

from occupair.live.config import BacnetPoint, Topic
from occupair.live.config.values import OBJECT_TYPES
from occupair.live.semantic.brick_model import BrickModel, ordered
from occupair.live.semantic.brick_terms import BACNET, BACNET_2024, MQTT, OCCUPAIR, REF
from occupair.live.semantic.points import DEFAULT_PORT

_TYPE_NAMES = {
    short: name for name, (code, number) in OBJECT_TYPES.items() for short in (code, str(number)) if short
}
"""Names of BACnet object types by their code and number, as in AI12 and ``bacnet://123/0,12``."""

_SCHEMES = {"": False, "mqtt": False, "tcp": False, "mqtts": True, "ssl": True, "tls": True}
"""Schemes of MQTT over TCP, and whether they mean TLS."""
_BROKER = re.compile(
    r"(?:(?P<scheme>[a-z]+)://)?(?:[^/@]*@)?(?P<host>[a-z0-9_.-]+|\[[0-9a-f:.]+\])(?::(?P<port>[0-9]{1,5}))?/?"
)
_MQTT_PORT, _MQTTS_PORT = 1883, 8883


@dataclass(frozen=True)
class Broker:
    """An MQTT broker of a model; two are the same if their host and port are.

    Parameters
    ----------
    host : str
        Host name or IP address; "" if unknown or not usable.
    port : int
    tls : bool
        Whether its scheme means TLS.
    text : str
        What the model has, if that is not usable.
    """

    host: str = ""
    port: int = _MQTT_PORT
    tls: bool = field(default=False, compare=False)
    text: str = ""

    def __str__(self) -> str:
        if not self.host:
            return self.text
        return self.host if self.port == _MQTT_PORT else f"{self.host} port {self.port}"


@dataclass(frozen=True)
class Reference:
    """A source of readings in a model.

    Parameters
    ----------
    settings : dict
        Keys of the source in the settings; empty if it cannot be used.
    problem : str
        Why it cannot be used, or "".
    broker : Broker
        Broker of an MQTT topic.
    """

    settings: dict[str, Any] = field(default_factory=dict)
    problem: str = ""
    broker: Broker = field(default_factory=Broker)

    @property
    def is_binary(self) -> bool:
        """Whether it is a BACnet object whose value is on or off."""
        return str(self.settings.get("object", "")).startswith("binary-")


def read_references(model: BrickModel, point: Node) -> list[Reference]:
    """Return the BACnet and MQTT references of a point, those that are preferred and usable first."""
    found: list[tuple[bool, bool, str, Reference]] = []
    for node in model.graph.objects(point, REF.hasExternalReference):
        preferred = "true" in model.texts(node, REF.preferred)
        if topics := model.texts(node, MQTT.mqttTopic):
            reference = _mqtt_reference(model, node, topics[0])
        elif model.texts(node, BACNET["object-identifier"], BACNET_2024["object-identifier"], REF.BACnetURI):
            reference = _bacnet_reference(model, node)
        else:
            continue  # a time series or an IFC file
        found.append((not preferred, not reference.settings, repr(reference.settings), reference))
    return [reference for *_, reference in sorted(found, key=lambda one: one[:3])]


def _mqtt_reference(model: BrickModel, node: Node, topic: str) -> Reference:
    settings: dict[str, Any] = {"topic": topic}
    terms = {"path": MQTT.mqttValueKey, "time_path": MQTT.mqttTimeKey, "shape": OCCUPAIR.shape}
    for key, term in terms.items():
        for text in model.texts(node, term)[:1]:
            settings[key] = text
    if "path" in settings:
        settings.pop("shape", None)
    elif settings.get("shape") == "number":
        settings.pop("time_path", None)
    problem = _mistake(Topic, {"shape": "json", **settings} if "path" in settings else settings)
    port = next((int(number) for number in model.numbers(node, MQTT.mqttPort)), None)
    broker = parse_broker(next(iter(model.texts(node, MQTT.mqttBroker)), ""), port)
    if problem:
        return Reference(problem=f"MQTT topic {topic} {problem}")
    return Reference(settings, broker=broker)


def _bacnet_reference(model: BrickModel, node: Node) -> Reference:
    uri = re.fullmatch(r"bacnet://([^/]*)/([^/]+)(?:/.*)?", next(iter(model.texts(node, REF.BACnetURI)), ""))
    identifiers = model.texts(node, BACNET["object-identifier"], BACNET_2024["object-identifier"])
    kinds = model.texts(node, BACNET["object-type"], BACNET_2024["object-type"])
    text = identifiers[0] if identifiers else uri[2] if uri else ""
    name = parse_object(text, kinds[0] if kinds else "")
    if name is None:
        return Reference(problem=f"BACnet object {text!r} is not a known type and an instance number")
    address, instance = _device_of(model, node)
    if not address:
        known = instance or (uri[1] if uri else "")
        device = f"device {known}" if known else "an unknown device"
        return Reference(problem=f"{name} of {device}, whose address is not in the model")
    settings: dict[str, Any] = {"bacnet": address, "object": name}
    problem = _mistake(BacnetPoint, settings)
    if "false" in model.texts(node, OCCUPAIR.cov):
        settings["cov"] = False
    if problem:
        return Reference(problem=f"{name} of device {address} {problem}")
    return Reference(settings)


def _device_of(model: BrickModel, reference: Node) -> tuple[str, str]:
    """Return the address and the instance number of the device of a reference, "" where unknown."""
    relations = (BACNET.objectOf, BACNET_2024.contains)
    devices = ordered({one for term in relations for one in model.graph.objects(reference, term)})
    if not devices:
        return "", ""
    device = devices[0]
    both = (BACNET, BACNET_2024)
    instances = model.texts(device, *(terms["device-instance"] for terms in both))
    addresses = model.texts(device, *(terms[name] for terms in both for name in ("hasAddress", "address")))
    ports = [port for one in model.graph.objects(device, BACNET.hasPort) for port in _port(model, one)]
    address = addresses[0] if addresses else ""
    if address and ":" not in address and ports and ports[0] != DEFAULT_PORT:
        address = f"{address}:{ports[0]}"
    return address, instances[0] if instances else ""


def _port(model: BrickModel, node: Node) -> list[int]:
    return [int(number) for number in model.numbers(node, BACNET.value) if 0 < number < 65_536]


def _mistake(kind: type[Topic] | type[BacnetPoint], settings: dict[str, Any]) -> str:
    """Return the rule of the settings that a source breaks, or ""."""
    try:
        kind.model_validate(settings)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        return str(first.get("ctx", {}).get("error") or first["msg"])
    return ""


def parse_broker(text: str, port: int | None = None) -> Broker:
    """Return a broker from a host name, with or without scheme and port, and the port stated besides.

    Examples
    --------
    >>> parse_broker("mqtt://Broker.example.org:1883") == parse_broker("broker.example.org")
    True
    >>> parse_broker("mqtts://broker").port, parse_broker("broker", 8883).port
    (8883, 8883)
    >>> parse_broker("wss://broker/mqtt")
    Broker(host='', port=1883, tls=False, text='wss://broker/mqtt')
    """
    stated = text.strip().lower()
    if _is_ip(stated):
        stated = f"[{stated}]" if ":" in stated else stated
    match = _BROKER.fullmatch(stated)
    scheme = (match["scheme"] or "") if match else ""
    host = match["host"] if match else ""
    if not match or scheme not in _SCHEMES or (host.startswith("[") and not _is_ip(host[1:-1])):
        return Broker(text=text.strip())
    tls = _SCHEMES[scheme]
    ports = [int(match["port"] or 0), port or 0, _MQTTS_PORT if tls else _MQTT_PORT]
    return Broker(host.strip("[]"), next(one for one in ports if 0 < one < 65_536), tls)


def _is_ip(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def parse_object(text: str, kind: str = "") -> str | None:
    """Return a BACnet object as the settings name it, or None if the text is not one.

    Examples
    --------
    >>> parse_object("analogInput:12"), parse_object("0,12"), parse_object("AI12")
    ('analog-input,12', 'analog-input,12', 'analog-input,12')
    >>> parse_object("12", kind="binary-value"), parse_object("CO2")
    ('binary-value,12', None)
    """
    match = re.fullmatch(r"\(?\s*([A-Za-z][A-Za-z _-]*?|\d+)[\s,:.]+(\d+)\s*\)?", text.strip())
    match = match or re.fullmatch(r"([A-Z]+)(\d+)", text.strip())
    if match is not None:
        kind, number = match.groups()
    elif text.strip().isdecimal():
        number = text.strip()
    else:
        return None
    name = _TYPE_NAMES.get(kind.upper()) or re.sub(r"(?<=[a-z])(?=[A-Z])|[\s_]+", "-", kind).lower()
    return f"{name},{int(number)}" if name in OBJECT_TYPES else None
