"""Import of Brick models: which rooms and sources are found, and what is left to the user."""

import re
import tomllib
from pathlib import Path

import brickschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from live.semantic.models import OFFICE, SETTINGS, imported, imported_office, read_settings
from rdflib import RDF, RDFS, Graph, Literal, Namespace

from occupair.errors import InputError
from occupair.live.config import BacnetPoint, Topic, VentilationPoint
from occupair.live.config.room_settings import RoomTable
from occupair.live.semantic.brick_export import export_brick
from occupair.live.semantic.brick_import import import_brick
from occupair.live.semantic.brick_model import BrickModel, read_model
from occupair.live.semantic.rooms_toml import format_draft

PREFIXES = """
@prefix : <https://example.org/b#> .
@prefix bacnet: <http://data.ashrae.org/bacnet/2020#> .
@prefix bacnet2024: <http://data.ashrae.org/bacnet/> .
@prefix brick: <https://brickschema.org/schema/Brick#> .
@prefix mqtt: <https://brickschema.org/schema/Brick/ref/mqtt#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix rec: <https://w3id.org/rec#> .
@prefix ref: <https://brickschema.org/schema/Brick/ref#> .
@prefix unit: <http://qudt.org/vocab/unit/> .
:device a bacnet:BACnetDevice ; bacnet:hasAddress "10.0.0.9" .
"""
ROOM = ":lab a brick:Room ; brick:hasPoint :co2 ."
REFERENCE = '[ bacnet:object-identifier "analog-input,1" ; bacnet:objectOf :device ]'
SENSOR = f":co2 a brick:CO2_Sensor ; brick:hasUnit unit:PPM ; ref:hasExternalReference {REFERENCE} ."
CO2 = BacnetPoint(bacnet="10.0.0.9", object="analog-input,1")


def point(name, kind, number, *more):
    reference = REFERENCE.replace(",1", f",{number}")
    return f":{name} a brick:{kind} ; {' ; '.join((*more, f'ref:hasExternalReference {reference}'))} ."


def checks_of(text, room=None):
    """Return the comments to check: all, or those of one room."""
    if room is not None:
        text = text.partition(f"[rooms.{room}]\n")[2].partition("\n\n")[0]
    return re.findall(r"^# CHECK: (.*)$", text, re.MULTILINE)


@pytest.fixture(scope="module")
def office(tmp_path_factory):
    return imported_office(tmp_path_factory.mktemp("office"))


def test_rooms_of_the_office(office):
    config, text = office
    assert {room.id: (room.name, room.floor) for room in config.rooms.values()} == {
        "room_101": ("Conference room 101", "First floor"),
        "room_104": ("Open office", "First floor"),
        "room_201": ("Laboratory", "Second floor"),
        "room_202": ("Room_202", "Second floor"),
        "zone_102": ("South offices", "First floor"),
    }
    assert "\n# 1 room or zone without a CO2 sensor left out\n" in text


def test_zone_of_one_room_is_the_room(office):
    room = office[0].rooms["room_101"]
    assert room.co2 == BacnetPoint(bacnet="10.0.2.11", object="analog-input,12")
    assert room.ventilation == VentilationPoint(bacnet="10.0.2.11", object="analog-output,3", full=100)
    assert room.temperature == BacnetPoint(bacnet="10.0.2.11", object="analog-input,13")
    assert (room.capacity, room.volume) == (14, 100.5)
    assert room.area == pytest.approx(400 * 0.3048**2, rel=1e-5)
    assert checks_of(office[1], "room_101") == [
        "ventilation is 'VAV 101 damper' (Damper_Position_Command, PERCENT);"
        " the model also has 'VAV 101 flow' (Supply_Air_Flow_Sensor, L-PER-SEC)"
    ]


def test_zone_of_two_rooms_is_one_room(office):
    room = office[0].rooms["zone_102"]
    assert room.co2 == BacnetPoint(bacnet="10.0.2.12:47809", object="analog-value,7")
    assert room.ventilation == VentilationPoint(bacnet="10.0.2.12:47809", object="binary-input,2")
    assert room.capacity == 5
    assert checks_of(office[1], "zone_102") == [
        "this is a zone of 2 rooms, 'Office 102' and 'Office 103', estimated as one",
        "capacity is the sum of its rooms",
    ]


def test_second_co2_sensor_and_damper_without_unit_become_comments(office):
    room = office[0].rooms["room_104"]
    assert room.co2 == BacnetPoint(bacnet="10.0.2.11", object="analog-input,21")
    assert room.ventilation is None
    assert checks_of(office[1], "room_104") == [
        "another CO2 sensor, 'CO2 south' (Zone_CO2_Level_Sensor, PPM), is not used:"
        ' co2 = { bacnet = "10.0.2.11", object = "analog-input,22" }',
        "'VAV 104 damper' (Damper_Position_Sensor) needs full, its value at full ventilation, which is not in"
        ' the model: ventilation = { bacnet = "10.0.2.11", object = "analog-input,23" }',
    ]


def test_device_without_address_becomes_a_comment(office):
    assert office[0].rooms["room_201"].co2 is None
    assert checks_of(office[1], "room_201") == [
        "'Wall sensor' (Wall_CO2_Sensor, PPM) is not used: analog-input,1 of device 1003, whose address is"
        " not in the model; readings have to be posted over HTTP"
    ]


def test_topic_is_imported_and_fahrenheit_is_not(office):
    config, text = office
    room = config.rooms["room_202"]
    assert room.co2 == Topic(topic="sensors/202", shape="json", path="co2", time_path="at")
    assert (config.mqtt.host, config.mqtt.port) == ("broker.example.org", 1884)
    assert room.temperature is None
    assert checks_of(text, "room_202") == [
        "'Thermostat 202' has the unit DEG_F, not DEG_C:"
        ' temperature = { topic = "sensors/202", path = "temperature" }',
        "area requires rooms.room_202.capacity, the number of seats: area = 30",
    ]


def test_general_checks_of_the_office(office):
    assert checks_of(office[1].partition("[rooms.")[0]) == [
        "the unit of 1 CO2 sensor is not in the model: ppm is assumed",
        "CO2 sensor 'AHU-1 CO2' is left out: it belongs to 'AHU_1', which is not a room or zone and feeds "
        "none directly",
        'the time zone is not in the model: add timezone = "Europe/Copenhagen" or yours',
        "set the address of this machine, and a device number that is free in your network",
    ]


def test_commented_settings_are_valid_toml(office):
    proposals = [text.rpartition(": ")[2] for text in checks_of(office[1]) if " = {" in text]
    assert len(proposals) == 3
    assert all(tomllib.loads(one) for one in proposals)


def test_round_trip_keeps_rooms_and_sources(tmp_path):
    config = read_settings(tmp_path)
    back, _ = imported(tmp_path, export_brick(config))
    assert dict(back.rooms) == dict(config.rooms)
    assert back.rooms["library"].interval == 7.5
    assert (back.timezone, back.mqtt.host) == (config.timezone, config.mqtt.host)


def test_settings_of_a_room_are_exported_or_documented_exceptions():
    """The settings of the round trip set every setting of a room, except those that the guide lists."""
    guide = (Path(__file__).parents[3] / "docs/semantic.md").read_text()
    exceptions = re.search(r"gives the same rooms.*?The settings (.*?) are not part", guide, re.DOTALL)[1]
    used = {key for room in tomllib.loads(SETTINGS)["rooms"].values() for key in room}
    assert used | set(re.findall(r"`(\w+)`", exceptions)) == set(RoomTable.model_fields)


@pytest.mark.parametrize("minutes", ["0", "-5", "61", '"x"'])
def test_interval_that_is_not_valid_is_left_out(tmp_path, minutes):
    interval = f":lab <urn:occupair:terms#interval> [ brick:value {minutes} ; brick:hasUnit unit:MIN ] ."
    config, _ = imported(tmp_path, PREFIXES + ROOM + SENSOR + interval)
    assert config.rooms["lab"].interval is None


@pytest.mark.parametrize(
    "relation",
    [
        ":lab a brick:Room . :co2 brick:isPointOf :lab .",
        ":lab a brick:Room . :co2 brick:hasLocation :lab .",
        ":lab a brick:Room ; brick:isLocationOf :co2 .",
        ":lab a rec:ConferenceRoom ; rec:hasPoint :co2 .",
        ":lab a brick:HVAC_Zone ; brick:hasPoint :co2 .",
        ":lab a brick:Space ; brick:hasPoint :co2 .",
        ":lab a :Aquarium ; brick:hasPoint :co2 . :Aquarium rdfs:subClassOf brick:Laboratory .",
        ":lab a brick:Room . :vav a brick:VAV ; brick:feeds :lab ; brick:hasPoint :co2 .",
        ":lab a brick:Room ; brick:isFedBy :vav . :vav a brick:VAV . :co2 brick:isPointOf :vav .",
        ":lab a brick:Room . :box a brick:Sensor_Equipment ; brick:hasLocation :lab ; brick:hasPoint :co2 .",
        ":zone a brick:HVAC_Zone ; brick:hasPart :lab ; brick:hasPoint :co2 . :lab a brick:Room .",
        ":zone a brick:HVAC_Zone ; brick:hasPart :lab, :b ; brick:hasPoint :co2 . :b a brick:Room ."
        " :lab a brick:Room ; brick:hasPoint :co2 .",
    ],
)
def test_sensor_belongs_to_the_room(tmp_path, relation):
    config, _ = imported(tmp_path, PREFIXES + relation + SENSOR)
    assert {name: room.co2 for name, room in config.rooms.items()} == {"lab": CO2}


@pytest.mark.parametrize("version", ["1.0.3", "1.1", "1.2"])
def test_models_of_earlier_versions_are_read(tmp_path, version):
    turtle = PREFIXES + ROOM + SENSOR
    turtle = turtle.replace("brickschema.org/schema/Brick#", f"brickschema.org/schema/{version}/Brick#")
    config, _ = imported(tmp_path, turtle)
    assert config.rooms["lab"].co2 == CO2


def test_bacnet_terms_of_brick_1_5_are_read(tmp_path):
    turtle = (PREFIXES + ROOM + SENSOR).replace("bacnet:object", "bacnet2024:object")
    turtle = turtle.replace("bacnet2024:objectOf", "bacnet2024:contains")
    assert imported(tmp_path, turtle)[0].rooms["lab"].co2 == CO2


@pytest.mark.parametrize(
    ("holder", "reason"),
    [
        (":f a brick:Floor ; rdfs:label 'Roof' ; brick:hasPoint :co2 .", "it belongs to 'Roof'"),
        (":vav a brick:VAV ; brick:hasPoint :co2 .", "it belongs to 'vav'"),
        ("", "it is a point of nothing"),
        (
            ":a a brick:Room . :b a brick:Room . :vav brick:feeds :a, :b ; brick:hasPoint :co2 .",
            "it belongs to 'a' and 'b'",
        ),
    ],
)
def test_sensor_without_one_room_is_an_error(tmp_path, holder, reason):
    with pytest.raises(InputError, match=f"must have a CO2 sensor .* is left out: {reason}"):
        imported(tmp_path, PREFIXES + holder + SENSOR)


@pytest.mark.parametrize("kind", ["Outside_Air_CO2_Sensor", "Return_Air_CO2_Sensor", "CO2_Setpoint"])
def test_other_points_are_no_co2_sensors(tmp_path, kind):
    with pytest.raises(InputError, match="must have a CO2 sensor"):
        imported(tmp_path, PREFIXES + ROOM + SENSOR.replace("CO2_Sensor", kind))


def test_unit_other_than_ppm_is_not_used(tmp_path):
    config, text = imported(tmp_path, PREFIXES + ROOM + SENSOR.replace("PPM", "PERCENT"))
    assert config.rooms["lab"].co2 is None
    assert checks_of(text, "lab") == [
        "'co2' (CO2_Sensor, PERCENT) is not in ppm:"
        ' co2 = { bacnet = "10.0.0.9", object = "analog-input,1" }'
    ]


@pytest.mark.parametrize(
    ("kind", "more", "full"),
    [
        ("Damper_Position_Sensor", ("brick:hasUnit unit:PERCENT",), 100),
        ("Damper_Position_Command", ("brick:hasUnit unit:FRACTION",), 1),
        ("Fan_On_Off_Status", (), 1),
        ("Supply_Air_Flow_Sensor", ("brick:hasUnit unit:M3-PER-HR",), None),
        ("Fan_Speed_Command", ("brick:hasUnit unit:HZ",), None),
    ],
)
def test_ventilation_needs_its_full_value(tmp_path, kind, more, full):
    vav = ":vav a brick:VAV ; brick:feeds :lab ; brick:hasPoint :v ."
    config, text = imported(tmp_path, PREFIXES + ROOM + SENSOR + vav + point("v", kind, 5, *more))
    expected = (
        None if full is None else VentilationPoint(bacnet="10.0.0.9", object="analog-input,5", full=full)
    )
    assert config.rooms["lab"].ventilation == expected
    assert ("needs full" in text) == (full is None)


def room_with_topic(name, broker, port=None):
    stated = f'; mqtt:mqttBroker "{broker}"' + (f" ; mqtt:mqttPort {port}" if port else "")
    return (
        f":{name} a brick:Room ; brick:hasPoint :{name}_co2 . :{name}_co2 a brick:CO2_Sensor ;"
        f' brick:hasUnit unit:PPM ; ref:hasExternalReference [ mqtt:mqttTopic "{name}" {stated} ] .'
    )


def test_topics_of_a_second_broker_become_comments(tmp_path):
    rooms = room_with_topic("a", "x") + room_with_topic("b", "x") + room_with_topic("c", "y", 1884)
    config, text = imported(tmp_path, PREFIXES + rooms)
    assert config.mqtt.host == "x"
    assert [name for name, room in config.rooms.items() if room.co2] == ["a", "b"]
    assert checks_of(text, "c") == ['on another broker, y port 1884, but the service has one: co2 = "c"']


@pytest.mark.parametrize(
    ("brokers", "expected"),
    [
        ([("mqtt://broker.example.org:1883", None)], ("broker.example.org", 1883, False)),
        ([("broker", None), ("broker", 1883), ("BROKER:1883", None)], ("broker", 1883, False)),
        ([("mqtt://Broker/", None), ("tcp://broker", 1883)], ("broker", 1883, False)),
        ([("mqtts://broker", None), ("broker", 8883), ("ssl://broker:8883", None)], ("broker", 8883, True)),
        ([("mqtts://broker:8884", None)], ("broker", 8884, True)),
        ([("mqtt://user@broker:1885", None), ("broker", 1885)], ("broker", 1885, False)),
        ([("mqtt://[FE80::1]:1883", None), ("fe80::1", None)], ("fe80::1", 1883, False)),
        ([("10.0.0.4", 70_000), ("10.0.0.4:1883", None)], ("10.0.0.4", 1883, False)),
    ],
)
def test_notations_of_one_broker_are_the_same(tmp_path, brokers, expected):
    rooms = [room_with_topic(f"r{k}", *broker) for k, broker in enumerate(brokers)]
    config, text = imported(tmp_path, PREFIXES + "".join(rooms))
    assert (config.mqtt.host, config.mqtt.port, config.mqtt.tls) == expected
    assert [room.co2.topic for room in config.rooms.values()] == [f"r{k}" for k in range(len(brokers))]
    assert "broker" not in " ".join(checks_of(text))


def test_broker_that_is_no_host_is_left_to_the_user(tmp_path):
    """Its topics are kept, unless another broker can be used."""
    socket = room_with_topic("a", "ws://x:9001/mqtt")
    config, text = imported(tmp_path, PREFIXES + socket)
    assert (config.mqtt.host, config.rooms["a"].co2.topic) == ("localhost", "a")
    note = "the broker of the topics is 'ws://x:9001/mqtt', which is not a host name: set it"
    assert note in checks_of(text)
    config, text = imported(tmp_path, PREFIXES + socket + room_with_topic("b", "x"))
    assert (config.mqtt.host, config.rooms["a"].co2, config.rooms["b"].co2.topic) == ("x", None, "b")


@pytest.mark.parametrize("unit", ['"ppm"', '" PPM "', '"Ppm"^^<urn:x>', "unit:ppm"])
def test_units_are_compared_without_case(tmp_path, unit):
    config, text = imported(tmp_path, PREFIXES + ROOM + SENSOR.replace("unit:PPM", unit))
    assert config.rooms["lab"].co2 == CO2
    assert "ppm" not in " ".join(checks_of(text))


def test_text_units_of_sensors_and_sizes(tmp_path):
    lab = ":lab brick:hasPoint :t ; rec:capacity [ rec:seatingCapacity 4 ] ; brick:area _:area ."
    area = '_:area brick:value 30 ; brick:hasUnit "m2" .'
    air = point("t", "Zone_Air_Temperature_Sensor", 2, 'brick:hasUnit "deg_c"')
    flow = ":v a brick:Supply_Air_Flow_Sensor ; brick:isPointOf :lab ; brick:hasUnit 'm3/h' ."
    config, text = imported(tmp_path, PREFIXES + ROOM + SENSOR + lab + area + air + flow)
    room = config.rooms["lab"]
    assert (room.area, room.temperature.object) == (30, "analog-input,2")
    assert "(Supply_Air_Flow_Sensor, m3/h) is not used" in text


def test_preferred_reference_is_used(tmp_path):
    second = '[ bacnet:object-identifier "analog-value,2" ; bacnet:objectOf :device ; ref:preferred true ]'
    turtle = PREFIXES + ROOM + SENSOR + f":co2 ref:hasExternalReference {second} ."
    assert imported(tmp_path, turtle)[0].rooms["lab"].co2.object == "analog-value,2"


@pytest.mark.parametrize(
    ("reference", "problem"),
    [
        (
            REFERENCE.replace("analog-input,1", "CO2"),
            "BACnet object 'CO2' is not a known type and an instance number",
        ),
        ('[ ref:BACnetURI "bacnet://77/0,3/present-value" ]', "analog-input,3 of device 77, whose address"),
        ('[ mqtt:mqttTopic "a/+/b" ]', "MQTT topic a/\\+/b must be a single topic"),
        ('[ ref:hasTimeseriesId "abc" ]', "no BACnet or MQTT reference"),
    ],
)
def test_unusable_reference_is_explained(tmp_path, reference, problem):
    config, text = imported(tmp_path, PREFIXES + ROOM + SENSOR.replace(REFERENCE, reference))
    assert config.rooms["lab"].co2 is None
    (check,) = checks_of(text, "lab")
    assert re.search(problem, check)


def test_own_topic_is_not_imported(tmp_path):
    """The service would read its own messages."""
    reference = '[ mqtt:mqttTopic "occupair/lab/state" ; mqtt:mqttValueKey "co2" ; mqtt:mqttBroker "b" ]'
    config, text = imported(tmp_path, PREFIXES + ROOM + SENSOR.replace(REFERENCE, reference))
    assert config.rooms["lab"].co2 is None
    assert "co2 must not be a topic that this service publishes" in text


def test_time_zone_is_set_by_the_caller(tmp_path):
    config, text = imported(tmp_path, PREFIXES + ROOM + SENSOR, timezone="Europe/Oslo")
    assert config.rooms["lab"].timezone == "Europe/Oslo"
    assert "time zone" not in text


def test_room_with_a_uuid_is_named_by_its_label(tmp_path):
    turtle = (PREFIXES + ROOM + SENSOR).replace(":lab ", "<urn:uuid:0f8fad5b-d9cb-469f-a165-70867728950e> ")
    turtle += '<urn:uuid:0f8fad5b-d9cb-469f-a165-70867728950e> rdfs:label "Büro 1.07"@de .'
    config, _ = imported(tmp_path, turtle)
    assert {name: room.name for name, room in config.rooms.items()} == {"buero-1-07": "Büro 1.07"}


def test_rooms_with_names_in_cyrillic_have_ids(tmp_path):
    names = ("Кухня", "Зал")
    rooms = [room_with_topic(name, "x") for name in names]
    config, _ = imported(tmp_path, PREFIXES + "".join(rooms))
    assert {room.id: room.name for room in config.rooms.values()} == {"room-1": "Зал", "room-2": "Кухня"}


@pytest.mark.parametrize(("version", "is_expanded"), [("1.4", False), ("1.5", True)])
def test_ontology_in_the_model_changes_nothing(office, tmp_path, version, is_expanded):
    """A model may contain the definitions of Brick, with the superclasses and inverses that follow."""
    graph = brickschema.Graph(load_brick=True, brick_version=version)
    graph.parse(OFFICE)
    if is_expanded:
        for entity, _, kind in list(graph.triples((None, RDF.type, None))):
            if entity.startswith("https://example.org/office#"):
                for parent in graph.transitive_objects(kind, RDFS.subClassOf):
                    graph.add((entity, RDF.type, parent))
        graph.compile()
    text = format_draft(import_brick(BrickModel(graph)), origin=OFFICE.name)
    assert dict(read_settings(tmp_path, text).rooms) == dict(office[0].rooms)
    assert len(checks_of(text)) == len(checks_of(office[1]))


TEXT = st.text(st.characters(exclude_categories=()), max_size=30)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(labels=st.lists(TEXT, min_size=1, max_size=3), topic=TEXT, key=TEXT, broker=TEXT)
def test_any_text_in_a_model_gives_valid_settings(tmp_path, labels, topic, key, broker):
    """Labels, topics and brokers are data: none of them adds a setting or makes the file invalid."""
    graph = Graph().parse(data=PREFIXES, format="turtle")
    building = Namespace("https://example.org/b#")
    terms = {prefix: Namespace(str(iri)) for prefix, iri in graph.namespaces()}
    brick, rdfs, ref, mqtt = (terms[one] for one in ("brick", "rdfs", "ref", "mqtt"))
    for number, label in enumerate(labels):
        room, co2, reference = (building[f"{one}{number}"] for one in ("room", "co2", "ref"))
        graph.add((room, RDF.type, brick.Room))
        graph.add((room, rdfs.label, Literal(label)))
        graph.add((room, brick.hasPoint, co2))
        graph.add((co2, RDF.type, brick.CO2_Sensor))
        graph.add((co2, rdfs.label, Literal(label)))
        graph.add((co2, ref.hasExternalReference, reference))
        for name, text in (("mqttTopic", topic), ("mqttValueKey", key), ("mqttBroker", broker)):
            graph.add((reference, mqtt[name], Literal(text)))
    text = format_draft(import_brick(BrickModel(graph)), origin=labels[0])
    config = read_settings(tmp_path, text)
    assert len(config.rooms) == len(labels)
    assert set(tomllib.loads(text)) <= {"service", "mqtt", "rooms"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"hello", "line 1: must be Turtle: expected directive or statement"),
        (b"@prefix : <x#> .\n:a b:c :d .", 'line 2: must be Turtle: Prefix "b:" not bound'),
        (b"@prefix : <x#> . :a :b 'x", "must be Turtle: "),
        (b"\xff\xfe", "must be Turtle in UTF-8"),
    ],
)
def test_file_that_is_not_turtle_is_refused(tmp_path, content, message):
    (tmp_path / "b.ttl").write_bytes(content)
    with pytest.raises(InputError, match=f"b.ttl[:,] (line .*)?{re.escape(message)}|{re.escape(message)}"):
        read_model(tmp_path / "b.ttl")


def test_office_is_read_from_its_file():
    assert len(read_model(OFFICE).graph) > 100
