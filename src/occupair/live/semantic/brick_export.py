"""Export of the rooms as a Brick model in Turtle, valid in Brick 1.3, 1.4 and 1.5.

BACnet references are written with the terms of Brick up to 1.4 and with those of 1.5. MQTT references are
those of the ref-schema of Brick. Rooms and floors have their Brick class and, as Brick 1.4 recommends, that
of RealEstateCore.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal

from rdflib import OWL, RDF, RDFS, SKOS, XSD, BNode, Graph, Literal, Namespace, URIRef

from occupair.errors import InputError
from occupair.live.config import MqttConfig, RoomConfig, ServiceConfig, Topic, VentilationPoint
from occupair.live.config.room_settings import BacnetPoint, VentilationTopic
from occupair.live.semantic.brick_terms import (
    BACNET,
    BACNET_2024,
    BRICK,
    MQTT,
    OCCUPAIR,
    QUDT,
    REC,
    REF,
    UNIT,
)
from occupair.live.semantic.points import EXTENSION_CLASSES, RoomPoint, own_address, room_points
from occupair.wording import quoted

DEFAULT_NAMESPACE = "urn:building#"
_PREFIXES = {
    "rdfs": Namespace(str(RDFS)),
    "owl": Namespace(str(OWL)),
    "skos": Namespace(str(SKOS)),
    "xsd": Namespace(str(XSD)),
    "brick": BRICK,
    "rec": REC,
    "ref": REF,
    "mqtt": MQTT,
    "bacnet": BACNET,
    "bacnet2024": BACNET_2024,
    "qudt": QUDT,
    "unit": UNIT,
    "occupair": OCCUPAIR,
}
_SIZES = {"area": "M2", "volume": "M3"}


def export_brick(
    config: ServiceConfig,
    *,
    namespace: str = DEFAULT_NAMESPACE,
    building: str = "Building",
    objects: Mapping[str, dict[str, str]] | None = None,
) -> str:
    """Return the rooms, floors and points of the settings as a Brick model in Turtle.

    Parameters
    ----------
    config : ServiceConfig
    namespace : str
        Start of the IRIs of rooms and points; ends in ``#`` or ``/``.
    building : str
        Name of the building.
    objects : mapping, optional
        BACnet objects of the estimates by room, such as ``{"lab": {"people": "analog-value,1"}}``.

    Notes
    -----
    IRIs of rooms end in the room id, those of everything else contain a dot, which a room id never does.
    """
    return _Export(config, _check_namespace(namespace), building, objects or {}).turtle()


def _check_namespace(namespace: str) -> Namespace:
    is_iri = re.fullmatch(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s<>\"{}|\\^`]*[#/]", namespace)
    if not is_iri:
        raise InputError(
            "--namespace must be an IRI that ends in # or /, as in https://example.org/town-hall#, "
            f"got {quoted(namespace)}"
        )
    return Namespace(namespace)


def _number(value: float) -> Literal:
    return Literal(f"{Decimal(repr(value)):f}", datatype=XSD.decimal)


class _Export:
    """The graph that is written, and the devices and floors that are in it."""

    def __init__(
        self,
        config: ServiceConfig,
        namespace: Namespace,
        building: str,
        objects: Mapping[str, dict[str, str]],
    ) -> None:
        self._config, self._namespace, self._objects = config, namespace, objects
        self._graph = Graph(bind_namespaces="none")
        for prefix, terms in {**_PREFIXES, "bldg": namespace}.items():
            self._graph.bind(prefix, terms)
        self._building = self._add("site.building", BRICK.Building, REC.Building, label=building)
        self._graph.add((self._building, OCCUPAIR.timezone, Literal(config.timezone)))
        self._floors: dict[str, URIRef] = {}
        self._devices: dict[str, URIRef] = {}

    def turtle(self) -> str:
        for room in self._config.rooms.values():
            self._add_room(room)
        return self._graph.serialize(format="turtle")

    def _add(self, name: str, *classes: URIRef, label: str = "") -> URIRef:
        node = self._namespace[name]
        for one in classes:
            self._graph.add((node, RDF.type, one))
        if label:
            self._graph.add((node, RDFS.label, Literal(label)))
        return node

    def _add_room(self, room: RoomConfig) -> None:
        node = self._add(room.id, BRICK.Room, REC.Room, label=room.name or room.id)
        self._graph.add((self._floor(room.floor) if room.floor else self._building, BRICK.hasPart, node))
        if room.timezone != self._config.timezone:
            self._graph.add((node, OCCUPAIR.timezone, Literal(room.timezone)))
        for name, unit in _SIZES.items():
            if (size := getattr(room, name)) is not None:
                self._graph.add((node, BRICK[name], self._measure(size, unit)))
        if room.height is not None:
            self._graph.add((node, OCCUPAIR.height, self._measure(room.height, "M")))
        if room.interval is not None:
            self._graph.add((node, OCCUPAIR.interval, self._measure(room.interval, "MIN")))
        if room.capacity is not None:
            capacity = self._add(f"{room.id}.capacity", REC.ArchitectureCapacity)
            self._graph.add((capacity, REC.seatingCapacity, Literal(room.capacity)))
            self._graph.add((node, REC.capacity, capacity))
        for point in room_points(self._config, room, self._objects.get(room.id)):
            self._graph.add((node, BRICK.hasPoint, self._add_point(room, point)))

    def _floor(self, name: str) -> URIRef:
        if name not in self._floors:
            number = len(self._floors) + 1
            self._floors[name] = self._add(f"floor.{number}", BRICK.Floor, REC.Level, label=name)
            self._graph.add((self._building, BRICK.hasPart, self._floors[name]))
        return self._floors[name]

    def _measure(self, value: float, unit: str) -> BNode:
        node = BNode()
        self._graph.add((node, BRICK.value, _number(value)))
        self._add_unit(node, unit)
        return node

    def _add_unit(self, node: URIRef | BNode, unit: str) -> None:
        self._graph.add((node, BRICK.hasUnit, UNIT[unit]))
        self._graph.add((UNIT[unit], RDF.type, QUDT.Unit))  # validators often do not load QUDT

    def _add_point(self, room: RoomConfig, point: RoomPoint) -> URIRef:
        kind = point.kind
        label = f"{room.name or room.id} {kind.label}"
        node = self._add(f"{room.id}.{point.key}", self._class(kind.brick), label=label)
        if kind.qudt:
            self._add_unit(node, kind.qudt)
        for source in point.sources:
            if isinstance(source, VentilationTopic | VentilationPoint):
                self._graph.add((node, OCCUPAIR.full, _number(source.full)))
            reference = (
                self._mqtt_reference(source, self._config.mqtt)
                if isinstance(source, Topic)
                else self._bacnet_reference(source)
            )
            self._graph.add((node, REF.hasExternalReference, reference))
        return node

    def _class(self, name: str) -> URIRef:
        if name not in EXTENSION_CLASSES:
            return BRICK[name]
        parent, definition = EXTENSION_CLASSES[name]
        self._graph.add((OCCUPAIR[name], RDF.type, OWL.Class))
        self._graph.add((OCCUPAIR[name], RDFS.subClassOf, BRICK[parent]))
        self._graph.add((OCCUPAIR[name], RDFS.label, Literal(name.replace("_", " "))))
        self._graph.add((OCCUPAIR[name], SKOS.definition, Literal(definition)))
        return OCCUPAIR[name]

    def _mqtt_reference(self, topic: Topic, mqtt: MqttConfig | None) -> BNode:
        node = BNode()
        self._graph.add((node, RDF.type, MQTT.MQTTReference))
        self._graph.add((node, MQTT.mqttTopic, Literal(topic.topic)))
        if mqtt is not None:
            self._graph.add((node, MQTT.mqttBroker, Literal(mqtt.host)))
            self._graph.add((node, MQTT.mqttPort, Literal(mqtt.port)))
        if topic.path is not None:
            self._graph.add((node, MQTT.mqttValueKey, Literal(topic.path)))
        if topic.time_path is not None:
            self._graph.add((node, MQTT.mqttTimeKey, Literal(topic.time_path)))
        if topic.shape not in ("auto", "json"):  # a path implies JSON
            self._graph.add((node, OCCUPAIR.shape, Literal(topic.shape)))
        return node

    def _bacnet_reference(self, point: BacnetPoint) -> BNode:
        node, device = BNode(), self._device(point.bacnet)
        self._graph.add((node, RDF.type, REF.BACnetReference))
        for terms, of_device in ((BACNET, "objectOf"), (BACNET_2024, "contains")):
            self._graph.add((node, terms["object-identifier"], Literal(point.object)))
            self._graph.add((node, terms[of_device], device))
        if not point.cov:
            self._graph.add((node, OCCUPAIR.cov, Literal(False)))
        return node

    def _device(self, address: str) -> URIRef:
        if address not in self._devices:
            name = f"device.{address.replace(':', '_')}"
            node = self._add(name, BACNET.BACnetDevice, BACNET_2024.device, label=f"BACnet device {address}")
            self._graph.add((node, BACNET.hasAddress, Literal(address)))
            bacnet = self._config.bacnet
            if bacnet is not None and address == own_address(self._config):
                self._graph.add((node, BACNET["device-instance"], Literal(bacnet.device)))
            self._devices[address] = node
        return self._devices[address]
