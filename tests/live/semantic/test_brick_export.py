"""Export of the settings as a Brick model, checked with the Brick ontology and its SHACL shapes."""

import brickschema
import pytest
from live.semantic.models import OFFICE, read_settings, validate
from rdflib import RDF, RDFS, Graph, Literal, Namespace, URIRef

from occupair.errors import InputError
from occupair.live.semantic.brick_export import export_brick
from occupair.live.semantic.brick_terms import (
    BACNET,
    BACNET_2024,
    BRICK,
    CO2_CLASSES,
    FLOORS,
    MQTT,
    OCCUPAIR,
    OTHER_CO2_CLASSES,
    REC,
    REF,
    ROOMS,
    UNIT,
    WIDE_LOCATIONS,
    ZONES,
)
from occupair.live.semantic.points import ESTIMATES, EXTENSION_CLASSES, READINGS

BUILDING = Namespace("urn:building#")
VERSIONS = ("1.3", "1.4", "1.5")
OBJECTS = {"101": {"people": "analog-value,1", "occupied": "binary-value,1"}}


@pytest.fixture
def turtle(tmp_path):
    return export_brick(read_settings(tmp_path), objects=OBJECTS)


@pytest.fixture
def graph(turtle):
    return Graph().parse(data=turtle, format="turtle")


@pytest.fixture(scope="module", params=VERSIONS)
def ontology(request):
    return brickschema.Graph(load_brick=True, brick_version=request.param)


@pytest.mark.slow
@pytest.mark.parametrize("version", VERSIONS)
def test_export_conforms_to_brick(turtle, version):
    conforms, report = validate(turtle, version)
    assert conforms, report


@pytest.mark.slow
@pytest.mark.parametrize(("version", "terms"), [("1.4", BACNET.objectOf), ("1.5", BACNET_2024.contains)])
def test_validation_finds_a_reference_without_device(graph, version, terms):
    graph.remove((None, terms, None))
    conforms, report = validate(graph.serialize(format="turtle"), version)
    assert not conforms
    assert str(terms) in report or terms.rpartition("#")[2].rpartition("/")[2] in report


@pytest.mark.slow
def test_office_of_the_import_tests_conforms_to_brick():
    conforms, report = validate(OFFICE.read_text(), "1.4")
    assert conforms, report


def test_exported_classes_are_points_of_the_ontology(ontology):
    for kind in (*READINGS.values(), *ESTIMATES.values()):
        name = EXTENSION_CLASSES[kind.brick][0] if kind.brick in EXTENSION_CLASSES else kind.brick
        assert BRICK.Point in ontology.transitive_objects(BRICK[name], RDFS.subClassOf)


def test_class_names_are_those_of_the_ontology(ontology):
    """Every location class is known as a room, a zone or wider, and every CO2 sensor is in one list."""

    def names(root):
        found = ontology.transitive_subjects(RDFS.subClassOf, root)
        return {str(one).rpartition("#")[2] for one in found if isinstance(one, URIRef)}

    locations = names(BRICK.Location) | names(REC.Space)
    assert locations - {"Space", "Location", "Architecture"} <= ROOMS | ZONES | WIDE_LOCATIONS
    assert names(BRICK.Floor) | names(REC.Level) <= FLOORS
    assert names(BRICK.Zone) <= ZONES
    assert not ROOMS & (ZONES | WIDE_LOCATIONS)
    assert names(BRICK.CO2_Sensor) == {*CO2_CLASSES, *OTHER_CO2_CLASSES}


def test_rooms_have_points_of_the_expected_classes(graph):
    found = {
        str(point).removeprefix(BUILDING): kind
        for room in graph.subjects(RDF.type, BRICK.Room)
        for point in graph.objects(room, BRICK.hasPoint)
        for kind in graph.objects(point, RDF.type)
    }
    assert found["meeting-1.co2"] == BRICK.Zone_CO2_Level_Sensor
    assert found["meeting-1.people"] == BRICK.Occupancy_Count_Sensor
    assert found["meeting-1.occupied"] == BRICK.Occupancy_Status
    assert found["meeting-1.ventilation"] == OCCUPAIR.Ventilation_Signal
    assert found["http.co2"] == BRICK.Zone_CO2_Level_Sensor  # readings arrive over HTTP
    assert len(found) == 11 + 4 + 3 + 3


def test_sizes_are_entity_properties(graph):
    def measured(room, term):
        node = graph.value(BUILDING[room], term)
        return float(graph.value(node, BRICK.value)), graph.value(node, BRICK.hasUnit)

    assert measured("meeting-1", BRICK.area) == (30.517578125, UNIT.M2)
    assert measured("101", BRICK.volume) == (180, UNIT.M3)
    capacity = graph.value(BUILDING["101"], REC.capacity)
    assert graph.value(capacity, REC.seatingCapacity).value == 24


def test_rooms_are_parts_of_their_floors(graph):
    query = """
        SELECT ?building ?floor ?room WHERE {
            ?b a brick:Building ; rdfs:label ?building ; brick:hasPart ?f .
            ?f a brick:Floor ; rdfs:label ?floor ; brick:hasPart ?r . ?r rdfs:label ?room }"""
    assert {tuple(map(str, row)) for row in graph.query(query)} == {
        ("Building", "Ground floor", "Meeting room 1"),
        ("Building", "1st floor", 'Lab "A"'),
        ("Building", "1st floor", "library"),
    }


def test_bacnet_reference_names_object_and_device(graph):
    reference = graph.value(BUILDING["meeting-1.co2"], REF.hasExternalReference)
    device = graph.value(reference, BACNET.objectOf)
    assert graph.value(reference, RDF.type) == REF.BACnetReference
    assert graph.value(reference, BACNET["object-identifier"]) == Literal("analog-input,12")
    assert graph.value(device, BACNET.hasAddress) == Literal("10.0.2.7")
    assert graph.value(reference, BACNET_2024.contains) == device


def test_published_count_has_both_references(graph):
    references = list(graph.objects(BUILDING["101.people"], REF.hasExternalReference))
    (topic,) = (one for one in references if (one, RDF.type, MQTT.MQTTReference) in graph)
    (point,) = (one for one in references if (one, RDF.type, REF.BACnetReference) in graph)
    assert graph.value(topic, MQTT.mqttTopic) == Literal("occupair/101/state")
    assert graph.value(topic, MQTT.mqttValueKey) == Literal("people")
    device = graph.value(point, BACNET.objectOf)
    assert graph.value(device, BACNET.hasAddress) == Literal("10.0.2.5:47809")
    assert graph.value(device, BACNET["device-instance"]).value == 1234


def test_mqtt_references_have_one_broker_and_topic_each(graph):
    """As the shape of MQTT references in the ref-schema of Brick requires."""
    references = list(graph.subjects(RDF.type, MQTT.MQTTReference))
    assert len(references) == 4 * 2 + 8
    for one in references:
        for term in (MQTT.mqttBroker, MQTT.mqttTopic):
            (value,) = graph.objects(one, term)
            assert isinstance(value.value, str)
        (port,) = graph.objects(one, MQTT.mqttPort)
        assert port.value == 1883


def test_export_has_no_password(tmp_path):
    text = '[mqtt]\nhost = "b"\nuser = "someone"\npassword = "hunter2"\n[rooms.lab]\nco2 = "lab/co2"\n'
    turtle = export_brick(read_settings(tmp_path, text))
    assert "lab/co2" in turtle
    assert "hunter2" not in turtle
    assert "someone" not in turtle


@pytest.mark.parametrize("namespace", ["https://example.org/hall", "hall#", "urn:a b#", "urn:<x>#", ""])
def test_invalid_namespace_is_refused(tmp_path, namespace):
    with pytest.raises(InputError, match="--namespace must be an IRI that ends in # or /"):
        export_brick(read_settings(tmp_path), namespace=namespace)


@pytest.mark.parametrize("namespace", ["https://example.org/hall#", "http://a.example/b/", "urn:hall#"])
def test_namespace_and_name_of_the_building(tmp_path, namespace):
    turtle = export_brick(read_settings(tmp_path), namespace=namespace, building="Town hall")
    graph = Graph().parse(data=turtle, format="turtle")
    assert (URIRef(f"{namespace}meeting-1"), RDF.type, BRICK.Room) in graph
    assert (URIRef(f"{namespace}site.building"), RDFS.label, Literal("Town hall")) in graph
