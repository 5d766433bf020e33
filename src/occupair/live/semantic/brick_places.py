"""Rooms and zones of a Brick model with their CO2 sensors.

A CO2 sensor belongs to the room or zone that it is a point of or located in, or else to the one that its
equipment, such as a VAV box, feeds or is located in. A zone of one room is that room; a zone of several
rooms is one place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from rdflib.term import Node

from occupair.live.semantic.brick_model import BrickModel, ordered
from occupair.live.semantic.brick_terms import ANY_SPACE, CO2_CLASSES, OTHER_CO2_CLASSES, ROOMS, ZONES
from occupair.live.semantic.rooms_toml import comment
from occupair.wording import listed


@dataclass
class Place:
    """A room or zone with its CO2 sensors.

    Parameters
    ----------
    node : Node
    members : list of Node
        The entity itself, and zones that consist of this room only.
    rooms : list of Node
        The rooms of a zone of several.
    co2 : list of Node
        CO2 sensors.
    """

    node: Node
    members: list[Node]
    rooms: list[Node]
    co2: list[Node] = field(default_factory=list)


def find_places(model: BrickModel) -> tuple[list[Place], list[str]]:
    """Return the rooms and zones with CO2 sensors, by IRI, and why other CO2 sensors are left out."""
    found: dict[Node, Place] = {}
    left_out = []
    for point in model.instances(CO2_CLASSES):
        if model.classes(point) & {*OTHER_CO2_CLASSES}:
            continue
        nodes, reason = _places_of_point(model, point)
        if len(nodes) == 1:
            place = found.setdefault(nodes[0], _make_place(model, nodes[0]))
            place.co2.append(point)
            continue
        if nodes:
            reason = f"belongs to {quoted_labels(model, nodes)}"
        left_out.append(f"CO2 sensor {quoted_labels(model, [point])} is left out: it {reason}")
    return [found[node] for node in ordered(found)], left_out


def count_others(model: BrickModel, places: Sequence[Place]) -> int:
    """Return the number of rooms and HVAC zones of a model that are not among ``places``."""
    covered = {node for place in places for node in (*place.members, *place.rooms)}
    found = [one for one in model.instances(ROOMS | ZONES | ANY_SPACE) if model.is_place(one)]
    return len({_canonical(model, one) for one in found if one not in covered} - covered)


def quoted_labels(model: BrickModel, nodes: Sequence[Node]) -> str:
    """Return the labels of entities in quotes, for a message."""
    return listed([f"'{comment(model.label(one))}'" for one in nodes])


def _places_of_point(model: BrickModel, point: Node) -> tuple[list[Node], str]:
    """Return the rooms and zones that a point belongs to, and why if there are none."""
    holders = model.holders_of(point)
    found = {_canonical(model, one) for one in holders if model.is_place(one)}
    if found:  # a point of both a room and its zone is one of the room
        inner = {part for one in found for part in model.parts_of(one)}
        return ordered(found & inner or found), ""
    reason = "is a point of nothing"
    for holder in holders:
        where = quoted_labels(model, [holder])
        reason = f"belongs to {where}, which is not a room or zone and feeds none directly"
        if not model.is_wide(holder):
            fed = model.fed_by(holder) or _places_of_equipment(model, holder)
            found |= {_canonical(model, one) for one in fed}
    return ordered(found), reason


def _places_of_equipment(model: BrickModel, equipment: Node) -> list[Node]:
    return [
        place
        for one in (equipment, *model.wholes_of(equipment))
        for place in model.related(one, "hasLocation", "isLocationOf")
        if model.is_place(place)
    ]


def _canonical(model: BrickModel, place: Node) -> Node:
    """Return the only room of a zone, or the place itself."""
    rooms = _rooms_of(model, place)
    return rooms[0] if model.is_zone(place) and len(rooms) == 1 else place


def _rooms_of(model: BrickModel, zone: Node) -> list[Node]:
    return [part for part in model.parts_of(zone) if model.is_room(part)]


def _make_place(model: BrickModel, node: Node) -> Place:
    zones = [one for one in model.wholes_of(node) if model.is_zone(one) and _rooms_of(model, one) == [node]]
    return Place(node, [node, *zones], _rooms_of(model, node) if model.is_zone(node) else [])
