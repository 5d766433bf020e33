"""Export of the settings as a Haystack grid, read and checked by another implementation of Haystack 4."""

import json

import pytest
from live.semantic.models import read_settings

from occupair.live.semantic.haystack_export import export_haystack
from occupair.live.semantic.points import EXTENSION_TAGS

haystack = pytest.importorskip("rusty_haystack", reason="rusty-haystack has no wheel for Python 3.14")

OWN_TAGS = EXTENSION_TAGS | {
    "mqttTopic",
    "mqttPath",
    "mqttTimePath",
    "mqttShape",
    "mqttBrokerRef",
    "ventilationFull",
    "airVolume",
    "seats",
    "bacnetDevice",
    "bacnetObject",
    "bacnetAddr",  # of the library ph.protocols, which is newer than the definitions of the package
}


@pytest.fixture
def text(tmp_path):
    objects = {"101": {"people": "analog-value,1", "occupied": "binary-value,1"}}
    return export_haystack(read_settings(tmp_path), building="Town hall", objects=objects)


@pytest.fixture
def rows(text):
    return {row["id"]["val"]: row for row in json.loads(text)["rows"]}


@pytest.fixture(scope="module")
def definitions():
    return haystack.DefNamespace.load_standard()


def plain(value):
    """Return a value with numbers without a unit as JSON numbers, one of two valid encodings."""
    if isinstance(value, list):
        return [plain(one) for one in value]
    if isinstance(value, dict) and value.get("_kind") == "number" and "unit" not in value:
        return value["val"]
    return {key: plain(one) for key, one in value.items()} if isinstance(value, dict) else value


def test_grid_is_read_by_another_implementation(text, rows):
    grid = haystack.decode_grid("application/json", text)
    assert len(grid) == len(rows) == len(json.loads(text)["rows"])
    again = json.loads(haystack.encode_grid("application/json", grid))
    assert plain(again["rows"]) == json.loads(text)["rows"]


def test_entities_are_valid(text, definitions):
    for row in haystack.decode_grid("application/json", text):
        assert definitions.validate_entity(row) == []


def test_validation_finds_a_room_that_is_no_space(text, definitions):
    wrong = text.replace('"space": {', '"place": {')
    rows = haystack.decode_grid("application/json", wrong)
    assert [issue for row in rows for issue in definitions.validate_entity(row)]


def test_tags_are_defined(rows, definitions):
    symbols = {one.symbol for one in definitions.defs()}
    used = {tag for row in rows.values() for tag in row}
    assert used - OWN_TAGS <= symbols
    assert not symbols & OWN_TAGS


def test_kinds_of_tags_are_those_of_the_definitions(rows, definitions):
    """A marker of the definitions is a marker here, and a marker here is one of theirs or our own."""
    for row in rows.values():
        for tag, value in row.items():
            if tag in OWN_TAGS or tag in ("id", "dis"):
                continue
            is_marker = value == {"_kind": "marker"}
            assert is_marker == definitions.is_a(tag, "marker"), tag


def test_refs_resolve(rows):
    refs = [(tag, one["val"]) for row in rows.values() for tag, one in row.items() if tag.endswith("Ref")]
    assert refs
    assert {name for _, name in refs} <= set(rows)
    assert all("site" in rows[name] for tag, name in refs if tag == "siteRef")
    assert all("space" in rows[name] for tag, name in refs if tag == "spaceRef")
    assert all("device" in rows[name] for tag, name in refs if tag in ("deviceRef", "mqttBrokerRef"))


def test_point_with_topic_and_object_refers_to_broker_and_device(rows):
    for name in ("101.people", "101.occupied"):
        assert rows[name]["deviceRef"]["val"] == "device.10.0.2.5_47809"
        assert rows[name]["mqttBrokerRef"]["val"] == "device.mqtt"
    own = rows["device.10.0.2.5_47809"]
    assert (own["uri"]["val"], own["bacnetDevice"]) == ("bacnet://10.0.2.5:47809", 1234)


def test_references_are_of_one_protocol(rows):
    """The device of a BACnet object is a BACnet device, and that of a topic is the broker."""
    points = [row for row in rows.values() if "point" in row]
    objects = [row for row in points if row.keys() & {"bacnetAddr", "bacnetObject"}]
    topics = [row for row in points if "mqttTopic" in row]
    assert len(objects) == 4 + 2
    assert all("bacnet" in rows[row["deviceRef"]["val"]] for row in objects)
    assert len(topics) == 8 + 4 * 2
    assert all("mqtt" in rows[row["mqttBrokerRef"]["val"]] for row in topics)
    assert all(row["deviceRef"] == row["mqttBrokerRef"] for row in topics if row not in objects)


def test_own_device_has_a_row_before_its_objects_are_known(tmp_path):
    rows = json.loads(export_haystack(read_settings(tmp_path)))["rows"]
    assert [row["bacnetDevice"] for row in rows if "bacnetDevice" in row] == [1234]


def test_settings_without_protocols_have_no_device(tmp_path):
    rows = json.loads(export_haystack(read_settings(tmp_path, "[rooms.lab]\n")))["rows"]
    assert [row["id"]["val"] for row in rows if "device" in row or "deviceRef" in row] == []


@pytest.mark.parametrize(
    ("query", "found"),
    [
        (
            "occupancy and sensor and point",
            {"meeting-1.people", "101.people", "library.people", "http.people"},
        ),
        (
            "zone and air and co2 and concentration and sensor and point",
            {"meeting-1.co2", "101.co2", "library.co2", "http.co2"},
        ),
        ('room and spaceRef->dis == "1st floor"', {"101", "library"}),
        ('point and unit == "°C"', {"meeting-1.temperature"}),
        ("room and area", {"meeting-1"}),
    ],
)
def test_filters_find_the_points(text, query, found):
    graph = haystack.EntityGraph()
    for row in haystack.decode_grid("application/json", text):
        graph.add(row)
    assert {str(row["id"]).lstrip("@").split(" ")[0] for row in graph.read(query)} == found


def test_references_and_units(rows):
    assert rows["meeting-1.co2"]["unit"] == "ppm"
    assert rows["meeting-1.co2"]["bacnetAddr"] == {"addr": "AI12"}
    assert rows["device.10.0.2.7"]["uri"] == {"_kind": "uri", "val": "bacnet://10.0.2.7"}
    assert rows["101.people"]["bacnetAddr"] == {"addr": "AV1"}
    assert rows["101.people"]["mqttTopic"] == "occupair/101/state"
    assert rows["101.people"]["mqttPath"] == "people"
    assert rows["device.mqtt"]["uri"]["val"] == "mqtt://broker.example.org:1883"
    assert rows["meeting-1.ventilation"]["ventilationFull"] == 100
    assert rows["meeting-1"]["area"] == {"_kind": "number", "val": 30.517578125, "unit": "m²"}
    assert rows["101"]["airVolume"] == {"_kind": "number", "val": 180, "unit": "m³"}
    assert rows["101"]["seats"] == 24
    assert (rows["site.building"]["dis"], rows["site.building"]["tz"]) == ("Town hall", "Copenhagen")
    assert rows["101.co2"]["tz"] == "Oslo"
