"""Import of a Brick model: settings for the rooms and zones that have a CO2 sensor.

Wherever the model leaves a choice or lacks something, a comment in the settings says so.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from zoneinfo import available_timezones

from rdflib import URIRef
from rdflib.term import Node

from occupair.errors import InputError
from occupair.live.config.conflicts import find_conflicts
from occupair.live.config.room_ids import make_room_id
from occupair.live.semantic.brick_model import BrickModel, local_name
from occupair.live.semantic.brick_places import Place, count_others, find_places, quoted_labels
from occupair.live.semantic.brick_references import Broker, Reference, read_references
from occupair.live.semantic.brick_terms import BRICK, CO2_CLASSES, OCCUPAIR, REC
from occupair.live.semantic.rooms_toml import Draft, RoomDraft, comment
from occupair.readings.gaps import LONGEST_HOLD
from occupair.wording import listed, plural

VENTILATION_CLASSES = (
    "Ventilation_Signal",
    "Supply_Air_Flow_Sensor",
    "Discharge_Air_Flow_Sensor",
    "Air_Flow_Sensor",
    "Damper_Position_Sensor",
    "Damper_Position_Command",
    "Damper_Command",
    "Fan_Speed_Command",
    "Fan_On_Off_Status",
    "Fan_Status",
    "Fan_Command",
)
"""Points that measure ventilation, the best first."""
_FULL_OF_UNIT = {"PERCENT": 100.0, "FRACTION": 1.0}

SENSOR_CLASSES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "temperature": (("Zone_Air_Temperature_Sensor", "Room_Air_Temperature_Sensor"), ("DEG_C",)),
    "humidity": (
        ("Zone_Air_Humidity_Sensor", "Relative_Humidity_Sensor", "Humidity_Sensor"),
        ("PERCENT_RH", "PERCENT"),
    ),
    "sound": (("Sound_Level_Sensor",), ("DeciB",)),
    "light": (("Illuminance_Sensor",), ("LUX",)),
    "wifi": (("WiFi_Client_Count_Sensor",), ()),
    "power": (("Electric_Power_Sensor", "Active_Power_Sensor"), ("W",)),
    "motion": (("PIR_Sensor", "Motion_Sensor"), ()),
}
"""Classes of each optional sensor, the best first, and its units; none for quantities without one."""

_DUCTS = ("Outside_", "Return_", "Supply_", "Discharge_", "Exhaust_", "Mixed_", "Intake_")
_SIZES = {
    "area": ({"M2": 1.0, "FT2": 0.09290304}, (BRICK.area, BRICK.netArea, BRICK.grossArea)),
    "volume": ({"M3": 1.0, "FT3": 0.028316846592, "L": 1e-3}, (BRICK.volume,)),
    "height": ({"M": 1.0, "FT": 0.3048}, (OCCUPAIR.height,)),
}
"""Factors to SI of the units of each size, and its properties."""
_UNITS = {
    name.casefold(): name
    for names in (
        ("PPM", "MIN"),
        _FULL_OF_UNIT,
        *(units for _, units in SENSOR_CLASSES.values()),
        *(factors for factors, _ in _SIZES.values()),
    )
    for name in names
}
"""Units that matter here, by their name without case: a model may have "ppm" instead of ``unit:PPM``."""
_LARGEST_SIZE, _LARGEST_CAPACITY = 1e9, 1_000_000
_PLACEHOLDER = {"address": "192.0.2.1/24", "device": 4_194_000}  # an address that no machine has
_UUID = re.compile(r"[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}", re.IGNORECASE)


def import_brick(model: BrickModel, *, timezone: str | None = None) -> Draft:
    """Return settings for the rooms and zones of a model that have a CO2 sensor.

    Parameters
    ----------
    model : BrickModel
    timezone : str, optional
        Time zone of the rooms. Default: that of a model that occupair exported, else unknown.

    Raises
    ------
    InputError
        If no room or zone has a CO2 sensor.
    """
    places, left_out = find_places(model)
    if not places:
        reasons = f" ({left_out[0]})" if left_out else ""
        raise InputError(
            "must have a CO2 sensor (brick:CO2_Sensor or a subclass) that is a point of a room or zone"
            + reasons
        )
    return _Import(model, timezone).draft_places(places, left_out)


@dataclass(frozen=True)
class _Candidate:
    """A point that may be the source of a quantity, with the first usable of its references."""

    name: str
    kind: str
    unit: str
    reference: Reference
    full: float | None

    @property
    def settings(self) -> dict[str, Any]:
        return self.reference.settings

    def __str__(self) -> str:
        return f"{self.name} ({self.kind}{', ' if self.unit else ''}{self.unit})"


class _Import:
    """The settings being made, and the brokers of their topics."""

    def __init__(self, model: BrickModel, timezone: str | None) -> None:
        self._model = model
        self._draft = Draft(tables={"service": {}}, checks={"": [], "service": []})
        self._brokers: dict[tuple[str, str], Broker] = {}
        self._without_unit = 0
        self._known_timezones = available_timezones()
        building = next(iter(model.instances(("Building",))), URIRef("urn:none"))
        for text in [timezone] if timezone else self._timezones(building):
            self._draft.tables["service"]["timezone"] = text
        if not self._draft.tables["service"]:
            self._draft.checks["service"].append(
                'the time zone is not in the model: add timezone = "Europe/Copenhagen" or yours'
            )

    def draft_places(self, places: Sequence[Place], left_out: list[str]) -> Draft:
        taken: set[str] = set()
        self._draft.rooms = [self._draft_room(place, taken) for place in places]
        if self._without_unit:
            sensors = plural(self._without_unit, "CO2 sensor")
            self._draft.checks[""].append(f"the unit of {sensors} is not in the model: ppm is assumed")
        self._draft.checks[""] += left_out
        if others := count_others(self._model, places):
            without = plural(others, "room or zone", "rooms and zones")
            self._draft.notes.append(f"{without} without a CO2 sensor left out")
        self._add_mqtt()
        self._add_bacnet()
        _drop_conflicts(self._draft)
        return self._draft

    def _draft_room(self, place: Place, taken: set[str]) -> RoomDraft:
        model = self._model
        name, end = comment(model.label(place.node)), local_name(place.node)
        room = RoomDraft(make_room_id(name if _UUID.fullmatch(end) else end, taken))
        taken.add(room.id)
        if name and name != room.id:
            room.settings["name"] = name
        floors = {comment(model.floor_of(one)) for one in place.members} - {""}
        floors = floors or {comment(model.floor_of(one)) for one in place.rooms} - {""}
        if len(floors) == 1:
            room.settings["floor"] = floors.pop()
        for text in self._timezones(place.node):
            room.settings["timezone"] = text
        if place.rooms:
            rooms = f"{plural(len(place.rooms), 'room')}, {quoted_labels(model, place.rooms)}"
            room.checks.append(f"this is a zone of {rooms}, estimated as one")
        own = _unique(point for one in place.members for point in self._points_in(one))
        fed = _unique(point for one in place.members for point in self._points_of_feeders(one))
        self._add_co2(room, place.co2)
        self._add_ventilation(room, [*own, *fed])
        for quantity in SENSOR_CLASSES:
            self._add_sensor(room, quantity, own)
        self._add_sizes(room, place)
        for minutes in self._intervals(place):
            room.settings["interval"] = minutes
        return room

    def _timezones(self, node: Node) -> list[str]:
        stated = self._model.texts(node, OCCUPAIR.timezone)
        return [text for text in stated if text in self._known_timezones][:1]

    def _intervals(self, place: Place) -> list[float]:
        stated = [one for node in place.members for one in self._model.graph.objects(node, OCCUPAIR.interval)]
        minutes = [
            number
            for one in stated
            if self._unit_of(one) == "MIN"
            for number in self._model.numbers(one, BRICK.value)
        ]
        return [number for number in minutes if 0 < number <= LONGEST_HOLD][:1]

    def _points_in(self, place: Node) -> Iterator[Node]:
        yield from self._model.points_of(place)
        for equipment in self._model.equipment_in(place):
            yield from self._model.points_of(equipment)

    def _points_of_feeders(self, place: Node) -> Iterator[Node]:
        for equipment in self._model.feeders_of(place):
            yield from self._model.points_of(equipment)

    def _candidates(self, points: Iterable[Node], kinds: Sequence[str]) -> list[_Candidate]:
        """Return the points of certain classes, those with a usable reference and the best class first."""
        found = []
        for order, point in enumerate(points):
            classes = self._model.classes(point)
            kind = next((kind for kind in kinds if kind in classes), None)
            if kind is None or any(one.startswith(_DUCTS) and one not in kinds for one in classes):
                continue
            references = read_references(self._model, point)
            usable = [one for one in references if one.settings]
            reference = [*usable, *references, Reference(problem="no BACnet or MQTT reference")][0]
            unit = self._unit_of(point)
            candidate = _Candidate(
                quoted_labels(self._model, [point]),
                next((local_name(one) for one in self._model.types(point)), kind),
                unit,
                reference,
                self._full(point, unit, reference),
            )
            found.append(((not usable, kinds.index(kind), order), candidate))
        return [candidate for _, candidate in sorted(found, key=lambda one: one[0])]

    def _unit_of(self, node: Node) -> str:
        unit = self._model.unit_of(node)
        return _UNITS.get(unit.casefold(), unit)

    def _full(self, point: Node, unit: str, reference: Reference) -> float | None:
        """Return the value of a ventilation point at full ventilation, or None if that is unknown."""
        stated = [number for number in self._model.numbers(point, OCCUPAIR.full) if 0 < number <= 1e9]
        if stated:
            return stated[0]
        is_on_off = reference.is_binary or "Fan_On_Off_Status" in self._model.classes(point)
        return 1.0 if is_on_off else _FULL_OF_UNIT.get(unit)

    def _use(self, room: RoomDraft, quantity: str, source: _Candidate, **more: Any) -> None:
        room.settings[quantity] = source.settings | more
        if "topic" in source.settings:
            self._brokers[room.id, quantity] = source.reference.broker

    def _add_co2(self, room: RoomDraft, points: Sequence[Node]) -> None:
        found = self._candidates(points, CO2_CLASSES)
        usable = [one for one in found if one.settings and one.unit in ("PPM", "")]
        end = "" if usable else "; readings have to be posted over HTTP"
        for one in found:
            if not one.settings:
                room.checks.append(f"{one} is not used: {one.reference.problem}{end}")
            elif one not in usable:
                room.proposals.append(("co2", one.settings, f"{one} is not in ppm"))
            elif one is usable[0]:
                self._use(room, "co2", one)
                self._without_unit += not one.unit
            else:
                room.proposals.append(("co2", one.settings, f"another CO2 sensor, {one}, is not used"))

    def _add_ventilation(self, room: RoomDraft, points: Sequence[Node]) -> None:
        found = self._candidates(points, VENTILATION_CLASSES)
        used = next((one for one in found if one.settings and one.full is not None), None)
        if used is not None:
            self._use(room, "ventilation", used, full=used.full)
            others = [str(one) for one in found if one is not used]
            if others:
                room.checks.append(f"ventilation is {used}; the model also has {listed(others)}")
            return
        for one in found:
            if one.settings:
                why = f"{one} needs full, its value at full ventilation, which is not in the model"
                room.proposals.append(("ventilation", one.settings, why))
            else:
                room.checks.append(f"{one} is not used: {one.reference.problem}")

    def _add_sensor(self, room: RoomDraft, quantity: str, points: Sequence[Node]) -> None:
        kinds, units = SENSOR_CLASSES[quantity]
        for one in self._candidates(points, kinds):
            if not one.settings:
                continue  # optional
            if units and one.unit not in units:
                unit = f"has the unit {one.unit}" if one.unit else "has no unit"
                room.proposals.append((quantity, one.settings, f"{one.name} {unit}, not {units[0]}"))
            elif quantity not in room.settings:
                self._use(room, quantity, one)
            else:
                room.proposals.append((quantity, one.settings, f"another sensor, {one}, is not used"))

    def _add_sizes(self, room: RoomDraft, place: Place) -> None:
        for name in ("capacity", *_SIZES):
            read = self._capacity if name == "capacity" else self._size
            value = next(filter(None, (read(room, name, one) for one in place.members)), None)
            if value is None and place.rooms and name != "height":
                parts = [read(room, name, one) for one in place.rooms]
                if all(parts):
                    value = sum(one for one in parts if one)
                    room.checks.append(f"{name} is the sum of its rooms")
            if value is not None:
                room.settings[name] = value

    def _size(self, room: RoomDraft, name: str, node: Node) -> float | None:
        factors, terms = _SIZES[name]
        for size in (one for term in terms for one in self._model.graph.objects(node, term)):
            unit = self._unit_of(size)
            for number in self._model.numbers(size, BRICK.value):
                factor = factors.get(unit, 1.0)
                value = number if factor == 1 else float(f"{number * factor:.6g}")
                if unit in factors and 0 < value <= _LARGEST_SIZE:
                    return value
                problem = f"unit {unit}" if unit else "no unit"
                room.checks.append(f"{name} {number:g} with {problem} is not used")
        return None

    def _capacity(self, room: RoomDraft, name: str, node: Node) -> int | None:
        terms = (REC.seatingCapacity, REC.maxOccupancy)
        for holder in (node, *self._model.graph.objects(node, REC.capacity)):
            for number in self._model.numbers(holder, *terms):
                if number == int(number) and 1 <= number <= _LARGEST_CAPACITY:
                    return int(number)
        return None

    def _add_mqtt(self) -> None:
        """Add the broker of most topics; topics of other brokers become comments."""
        if not self._brokers:
            return
        known = Counter(broker for broker in self._brokers.values() if str(broker))
        used = min(known, key=lambda one: (not one.host, -known[one], str(one)), default=Broker())
        self._draft.tables["mqtt"] = {"host": used.host or "localhost"}
        if not used.host:
            stated = f"{str(used)!r}, which is not a host name: set it" if str(used) else "not in the model"
            self._draft.checks["mqtt"] = [f"the broker of the topics is {stated}"]
        tls = any(broker.tls for broker in self._brokers.values() if broker == used)
        if used.port != (8883 if tls else 1883):
            self._draft.tables["mqtt"]["port"] = used.port
        if tls:
            self._draft.tables["mqtt"]["tls"] = True
        elif used.port == 8883:
            self._draft.checks["mqtt"] = ["port 8883 is that of TLS: add tls = true"]
        rooms = {room.id: room for room in self._draft.rooms}
        for (room, quantity), broker in self._brokers.items():
            if str(broker) and broker != used:
                settings = rooms[room].settings.pop(quantity)
                why = f"on another broker, {broker}, but the service has one"
                rooms[room].proposals.append((quantity, settings, why))

    def _add_bacnet(self) -> None:
        if any("bacnet" in one for room in self._draft.rooms for one in _sources(room)):
            self._draft.tables["bacnet"] = dict(_PLACEHOLDER)
            self._draft.checks["bacnet"] = [
                "set the address of this machine, and a device number that is free in your network"
            ]


def _sources(room: RoomDraft) -> list[Mapping[str, Any]]:
    return [value for value in room.settings.values() if isinstance(value, Mapping)]


def _unique(points: Iterable[Node]) -> list[Node]:
    return list(dict.fromkeys(points))


def _drop_conflicts(draft: Draft) -> None:
    """Turn settings that do not go together, such as an area without seats, into comments."""
    rooms = {room.id: room for room in draft.rooms}
    while True:
        values = {**draft.tables, "rooms": {room.id: room.settings for room in draft.rooms}}
        conflicts = [(key[1], key[2], rule) for key, rule, *_ in find_conflicts(values) if key[0] == "rooms"]
        if not conflicts:
            return
        for room, name, rule in conflicts:
            if name in rooms[room].settings:
                rooms[room].proposals.append((name, rooms[room].settings.pop(name), f"{name} {rule}"))
