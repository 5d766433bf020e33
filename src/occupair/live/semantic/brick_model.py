"""Reading of a Brick model in Turtle: rooms, zones, points and equipment, and how they relate.

Names of earlier versions of Brick are replaced by today's, and those of RealEstateCore relationships by
their Brick equivalents. Files that a model imports are not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from urllib.parse import unquote

from rdflib import RDF, RDFS, Graph, Literal, URIRef
from rdflib.plugins.parsers.notation3 import BadSyntax
from rdflib.term import Node

from occupair.errors import InputError
from occupair.live.semantic.brick_terms import (
    ANY_SPACE,
    BRICK,
    FLOORS,
    OCCUPAIR,
    REC,
    ROOMS,
    WIDE_LOCATIONS,
    ZONES,
)

_BRICK = re.compile(r"https?://brickschema\.org/schema/(?:[\d.]+/)?Brick(?:Frame)?#(.*)")
_VOCABULARIES = (str(BRICK), str(REC), str(OCCUPAIR))
_SAME_IN_REC = ("hasPoint", "isPointOf", "hasPart", "isPartOf", "feeds", "isFedBy", "isLocationOf")
_RELATIONS: dict[Node, Node] = {
    REC.locatedIn: BRICK.hasLocation,
    BRICK.isLocatedIn: BRICK.hasLocation,
    **{REC[name]: BRICK[name] for name in _SAME_IN_REC},
}


def read_model(path: Path) -> BrickModel:
    """Read a Brick model from a Turtle file."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{path}: must be Turtle in UTF-8") from None
    try:
        graph = Graph().parse(data=text, format="turtle")
    except BadSyntax as error:
        raise InputError(f"{path}, line {error.lines + 1}: must be Turtle: {error._why}") from None
    except Exception as error:  # noqa: BLE001 rdflib raises many kinds of errors for text that is not Turtle
        raise InputError(f"{path}: must be Turtle: {' '.join(str(error).split())}") from None
    return BrickModel(graph)


class BrickModel:
    """The graph of a model, with the questions that an import has.

    Parameters
    ----------
    graph : rdflib.Graph
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = Graph()
        for one, relation, other in graph:
            named = _today(relation)
            self.graph.add((_today(one), _RELATIONS.get(named, named), _today(other)))
        self.classes = cache(self._classes)

    def instances(self, names: Iterable[str]) -> list[Node]:
        """Return everything of a class among ``names``, or of a subclass that the model defines, by IRI."""
        wanted = frozenset(names)
        return ordered(
            node
            for node in set(self.graph.subjects(RDF.type, None))
            if self.classes(node) & wanted and self._is_entity(node)
        )

    def _is_entity(self, node: Node) -> bool:
        return isinstance(node, URIRef) and (node, RDFS.subClassOf, None) not in self.graph

    def _classes(self, node: Node) -> frozenset[str]:
        """Return the names of the Brick, REC and own classes of an entity.

        Classes of the model are replaced by the nearest of these that they are subclasses of.
        """
        found: set[str] = set()
        seen: set[Node] = set()
        waiting = list(self.graph.objects(node, RDF.type))
        while waiting:
            one = waiting.pop()
            namespace, _, name = str(one).rpartition("#")
            if f"{namespace}#" in _VOCABULARIES:
                found.add(name)
            elif one not in seen:
                seen.add(one)
                waiting += self.graph.objects(one, RDFS.subClassOf)
        return frozenset(found)

    def types(self, node: Node) -> list[Node]:
        """Return the classes that an entity is stated to be of."""
        return ordered(self.graph.objects(node, RDF.type))

    def is_wide(self, node: Node) -> bool:
        """Whether an entity is a floor, a building or outdoors, not a room."""
        return bool(self.classes(node) & WIDE_LOCATIONS)

    def is_zone(self, node: Node) -> bool:
        """Whether an entity is a zone of one or more rooms."""
        classes = self.classes(node)
        return bool(classes & ZONES) and not classes & (ROOMS | WIDE_LOCATIONS)

    def is_room(self, node: Node) -> bool:
        """Whether an entity is a room or another single space."""
        classes = self.classes(node)
        is_space = bool(classes & ANY_SPACE) and not classes & ZONES
        return (is_space or bool(classes & ROOMS)) and not classes & WIDE_LOCATIONS

    def is_place(self, node: Node) -> bool:
        """Whether an entity is a room or a zone."""
        return self.is_room(node) or self.is_zone(node)

    def related(self, node: Node, forward: str, backward: str) -> list[Node]:
        """Return what an entity relates to, by a relationship or its inverse."""
        found = {*self.graph.objects(node, BRICK[forward]), *self.graph.subjects(BRICK[backward], node)}
        return ordered(found)

    def points_of(self, node: Node) -> list[Node]:
        """Return the points of a place or of equipment, and the points located there."""
        return ordered({*self.related(node, "hasPoint", "isPointOf"), *self._located(node)})

    def holders_of(self, point: Node) -> list[Node]:
        """Return the places and the equipment that a point belongs to."""
        return ordered(
            {
                *self.related(point, "isPointOf", "hasPoint"),
                *self.related(point, "hasLocation", "isLocationOf"),
            }
        )

    def _located(self, node: Node) -> list[Node]:
        return self.related(node, "isLocationOf", "hasLocation")

    def parts_of(self, node: Node) -> list[Node]:
        """Return the parts of an entity."""
        return self.related(node, "hasPart", "isPartOf")

    def wholes_of(self, node: Node) -> list[Node]:
        """Return what an entity is a part of."""
        return self.related(node, "isPartOf", "hasPart")

    def fed_by(self, equipment: Node) -> list[Node]:
        """Return the rooms and zones that equipment, or what it is a part of, supplies directly."""
        for one in (equipment, *self.wholes_of(equipment)):
            found = [place for place in self.related(one, "feeds", "isFedBy") if self.is_place(place)]
            if found:
                return found
        return []

    def feeders_of(self, place: Node) -> list[Node]:
        """Return the equipment that supplies a room or zone directly, and its parts."""
        units = self.related(place, "isFedBy", "feeds")
        return ordered({*units, *(part for unit in units for part in self.parts_of(unit))})

    def equipment_in(self, place: Node) -> list[Node]:
        """Return the equipment located in a room or zone that does not supply other places."""
        found = [one for one in self._located(place) if self.related(one, "hasPoint", "isPointOf")]
        return [one for one in found if not self.is_place(one) and not self.fed_by(one)]

    def floor_of(self, place: Node) -> str:
        """Return the name of the floor of a place, or ""."""
        seen, waiting = {place}, [place]
        while waiting:
            node = waiting.pop(0)
            for whole in self.wholes_of(node) + self.related(node, "hasLocation", "isLocationOf"):
                if self.classes(whole) & FLOORS:
                    return self.label(whole)
                if whole not in seen:
                    seen.add(whole)
                    waiting.append(whole)
        return ""

    def label(self, node: Node) -> str:
        """Return the label of an entity, English or without a language first, else the end of its IRI."""
        labels = sorted(
            (one for one in self.graph.objects(node, RDFS.label) if isinstance(one, Literal)),
            key=lambda one: ((one.language or "en")[:2] != "en", one.language or "", str(one)),
        )
        texts = [text for text in (" ".join(str(one).split()) for one in labels) if text]
        return texts[0] if texts else local_name(node)

    def texts(self, node: Node, *terms: URIRef) -> list[str]:
        """Return the values of properties of a node as text, in the order of the properties."""
        return [str(one) for term in terms for one in ordered(self.graph.objects(node, term))]

    def numbers(self, node: Node, *terms: URIRef) -> Iterator[float]:
        """Yield the finite numbers among the values of properties of a node."""
        for text in self.texts(node, *terms):
            try:
                number = float(text)
            except ValueError:
                continue
            if abs(number) < float("inf"):
                yield number

    def unit_of(self, node: Node) -> str:
        """Return the name of the QUDT unit of a point or property, such as ``PPM``, its text, or ""."""
        unit = next(iter(ordered(self.graph.objects(node, BRICK.hasUnit))), None)
        return "" if unit is None else str(unit).strip() if isinstance(unit, Literal) else local_name(unit)


def ordered(nodes: Iterable[Node]) -> list[Node]:
    """Return nodes by IRI."""
    return sorted(nodes, key=str)


def local_name(node: Node) -> str:
    """Return the last part of an IRI.

    Examples
    --------
    >>> local_name(URIRef("https://example.org/building#Room%20101")), local_name(URIRef("urn:site:hall/3/"))
    ('Room 101', '3')
    """
    return re.split(r"[#/:]", unquote(str(node)).rstrip("#/:"))[-1]


def _today(term: Node) -> Node:
    """Return a term of an earlier version of Brick as it is named today."""
    if isinstance(term, URIRef) and (match := _BRICK.fullmatch(term)):
        return BRICK[match[1]]
    return term
