"""Discovery messages, checked against the rules of Home Assistant.

The rules were taken from the source of Home Assistant 2026.10 (``components/mqtt``: ``schemas.py``,
``discovery.py``, ``sensor.py``, ``binary_sensor.py``). If ``homeassistant`` is installed, its own schemas
are checked as well.
"""

import asyncio
import datetime as dt
import json
import math
import re
from dataclasses import replace
from types import SimpleNamespace

import pytest

from occupair.live.config import MqttConfig, OutdoorAirTable, RoomConfig
from occupair.live.messages import Quality, RoomState
from occupair.live.mqtt.discovery import (
    device_id,
    discovery_payload,
    discovery_topic,
    home_assistant_topic,
)
from occupair.live.mqtt.topics import availability_topic, state_payload, state_topic, status_topic
from occupair.live.room_shards import Shard

MQTT = MqttConfig(host="broker")
LAB = RoomConfig(id="lab-2", name="Lab 2")
SEVEN = dt.datetime(2024, 1, 8, 7, 0, tzinfo=dt.UTC)
KNOWN = RoomState("lab-2", SEVEN, 3, 2.8, 1.9, 3.7, True, 812.0, 806.25, 0.5, (2.6,), Quality.OK, "")
EMPTY = RoomState("lab-2", SEVEN, 0, 0.2, 0.0, 0.9, False, 415.0, 416.5, 0.5, (0.1,), Quality.OK, "")
UNKNOWN = RoomState("lab-2", None, *[None] * 8, (None,), Quality.STALE, "no reading for 20 minutes")

TOPIC = re.compile(r"\w+/(?:[a-zA-Z0-9_-]+/)?[a-zA-Z0-9_-]+/config")
DEVICE_KEYS = {
    "identifiers", "connections", "manufacturer", "model", "model_id", "name", "hw_version", "serial_number",
    "sw_version", "via_device", "suggested_area", "configuration_url",
}  # fmt: skip
ROOT_KEYS = {
    "device", "origin", "components", "availability", "availability_mode", "availability_template",
    "availability_topic", "payload_available", "payload_not_available", "state_topic", "command_topic", "qos",
    "encoding", "message_expiry_interval",
}  # fmt: skip
ENTITY_KEYS = {
    "platform", "name", "icon", "unique_id", "object_id", "default_entity_id", "entity_category",
    "enabled_by_default", "visible_by_default", "entity_picture", "json_attributes_topic",
    "json_attributes_template", "value_template", "device_class", "expire_after", "force_update", "qos",
    "encoding", "state_topic",
}  # fmt: skip
SENSOR_KEYS = {"state_class", "unit_of_measurement", "suggested_display_precision", "options"}
BINARY_SENSOR_KEYS = {"off_delay", "payload_on", "payload_off"}


@pytest.fixture(scope="module")
def message():
    return json.loads(discovery_payload(MQTT, LAB))


def test_topics():
    assert discovery_topic(MQTT, "lab-2") == "homeassistant/device/occupair_lab-2/config"
    assert state_topic(MQTT, "lab-2") == "occupair/lab-2/state"
    assert availability_topic(MQTT, "lab-2") == "occupair/lab-2/availability"
    assert status_topic(MQTT) == "occupair/status"
    assert home_assistant_topic(MQTT) == "homeassistant/status"
    assert status_topic(MQTT, Shard(2, 8)) == "occupair/status/2-of-8"


def test_room_is_available_while_its_shard_is_online():
    message = json.loads(discovery_payload(MQTT, LAB, shard=Shard(2, 8)))
    topics = [one["topic"] for one in message["availability"]]
    assert topics == ["occupair/status/2-of-8", "occupair/lab-2/availability"]


@pytest.mark.parametrize("prefix", ["occupair", "site/north", "büro 7"])
def test_discovery_topic_is_valid(prefix):
    topic = discovery_topic(MqttConfig(host="broker", prefix=prefix, discovery_prefix="ha"), "lab-2")
    assert TOPIC.fullmatch(topic.removeprefix("ha/"))


def test_device(message):
    assert set(message) <= ROOT_KEYS
    assert {"device", "origin", "components"} <= set(message)
    assert set(message["device"]) <= DEVICE_KEYS
    assert message["device"]["identifiers"] == ["occupair_lab-2"]
    assert message["device"]["name"] == "Lab 2"
    assert set(message["origin"]) <= {"name", "sw_version", "support_url"}
    assert message["origin"]["name"] == "occupair"
    assert message["state_topic"] == "occupair/lab-2/state"
    assert message["qos"] == 1


def test_device_name_defaults_to_the_room_id():
    assert json.loads(discovery_payload(MQTT, RoomConfig(id="lab")))["device"]["name"] == "lab"


def test_availability_requires_service_and_room(message):
    assert message["availability_mode"] == "all"
    assert message["availability"] == [{"topic": "occupair/status"}, {"topic": "occupair/lab-2/availability"}]


def test_entities(message):
    people, occupied, co2 = (message["components"][key] for key in ("people", "occupied", "co2"))
    assert len(message["components"]) == 3
    for component in (people, co2):
        assert component["platform"] == "sensor"
        assert set(component) <= ENTITY_KEYS | SENSOR_KEYS
    assert (people["state_class"], people["unit_of_measurement"]) == ("measurement", "people")
    assert "device_class" not in people
    assert "entity_category" not in people
    assert (occupied["platform"], occupied["device_class"]) == ("binary_sensor", "occupancy")
    assert set(occupied) <= ENTITY_KEYS | BINARY_SENSOR_KEYS
    assert (co2["device_class"], co2["unit_of_measurement"]) == ("carbon_dioxide", "ppm")
    assert (co2["state_class"], co2["entity_category"]) == ("measurement", "diagnostic")


def test_entity_ids(message):
    components = message["components"].values()
    assert [component["unique_id"] for component in components] == [
        "occupair_lab-2_people",
        "occupair_lab-2_occupied",
        "occupair_lab-2_co2",
    ]
    assert [component["default_entity_id"] for component in components] == [
        "sensor.lab_2_people",
        "binary_sensor.lab_2_occupied",
        "sensor.lab_2_co2",
    ]
    # Home Assistant reads object_id before 2025.10 and default_entity_id since; both must give the same id.
    for component in components:
        assert component["default_entity_id"] == f"{component['platform']}.{component['object_id']}"


def test_prefix_distinguishes_devices_of_services():
    other = MqttConfig(host="broker", prefix="annex")
    assert device_id(other, "lab") != device_id(MQTT, "lab")
    assert state_topic(other, "lab") == "annex/lab/state"


def render(template, state):
    """Render a template as Home Assistant does; the templates are also valid Python expressions."""
    expression = re.fullmatch(r"{{ (.*?)( \| tojson)? }}", template)
    names = {"value_json": SimpleNamespace(**json.loads(state_payload(state))), "none": None}
    value = eval(expression[1], {"__builtins__": {}}, names)
    return json.dumps(value) if expression[2] else str(value)


@pytest.mark.parametrize(
    ("key", "state", "rendered"),
    [
        ("people", KNOWN, "3"),
        ("people", EMPTY, "0"),
        ("people", UNKNOWN, "None"),
        ("occupied", KNOWN, "ON"),
        ("occupied", EMPTY, "OFF"),
        ("occupied", UNKNOWN, "None"),
        ("co2", KNOWN, "812.0"),
        ("co2", UNKNOWN, "None"),
    ],
)
def test_unknown_values_render_as_none(message, key, state, rendered):
    assert render(message["components"][key]["value_template"], state) == rendered


def test_people_attributes_include_the_reason(message):
    assert message["components"]["people"]["json_attributes_topic"] == message["state_topic"]
    assert json.loads(render(message["components"]["people"]["json_attributes_template"], UNKNOWN)) == {
        "low": None,
        "high": None,
        "quality": "stale",
        "reason": "no reading for 20 minutes",
    }


def test_state_payload():
    assert json.loads(state_payload(KNOWN)) == {
        "people": 3,
        "people_exact": 2.8,
        "low": 1.9,
        "high": 3.7,
        "occupied": True,
        "co2": 812.0,
        "co2_smoothed": 806.25,
        "people_20": 2.6,
        "quality": "ok",
        "reason": "",
        "note": "",
        "time": "2024-01-08T07:00:00Z",
    }


def test_room_with_outdoor_air_has_two_more_sensors():
    air = OutdoorAirTable(standard="EN 16798-1", area=40, design_people=8)
    message = json.loads(discovery_payload(MQTT, LAB.model_copy(update={"outdoor_air": air})))
    flow, damper = (message["components"][key] for key in ("outdoor_air", "damper"))
    assert len(message["components"]) == 5
    for component in (flow, damper):
        assert component["platform"] == "sensor"
        assert component["state_class"] == "measurement"
        assert set(component) <= ENTITY_KEYS | SENSOR_KEYS
    assert (flow["device_class"], flow["unit_of_measurement"]) == ("volume_flow_rate", "L/s")
    assert damper["unit_of_measurement"] == "%"
    assert damper["default_entity_id"] == "sensor.lab_2_damper"
    state = replace(KNOWN, outdoor_air=56.0, damper=0.5, outdoor_air_people=4.0)
    assert render(flow["value_template"], state) == "56.0"
    assert render(damper["value_template"], state) == "50.0"
    assert json.loads(render(flow["json_attributes_template"], state)) == {"people": 4.0}


def test_state_payload_with_outdoor_air():
    state = replace(UNKNOWN, outdoor_air=84.0, damper=1.0)
    found = json.loads(state_payload(state))
    assert (found["outdoor_air"], found["damper"], found["outdoor_air_people"]) == (84.0, 1.0, None)


def test_non_finite_numbers_are_null():
    state = RoomState(
        "lab", None, None, math.nan, -math.inf, math.inf, None, math.nan, None, None, (None,), Quality.OK, ""
    )
    message = json.loads(state_payload(state), parse_constant=lambda name: pytest.fail(name))
    assert (
        message["people_exact"]
        is message["low"]
        is message["high"]
        is message["co2"]
        is message["time"]
        is None
    )


def test_home_assistant_schemas_accept_the_message(message, tmp_path):
    schemas = pytest.importorskip(
        "homeassistant.components.mqtt.schemas",
        reason="Home Assistant is not installed: pip install homeassistant (not part of the extra dev)",
        exc_type=ImportError,
    )
    from homeassistant.components.mqtt import binary_sensor, sensor
    from homeassistant.core import HomeAssistant

    platforms = {"sensor": sensor, "binary_sensor": binary_sensor}

    async def main():
        home = HomeAssistant(str(tmp_path))  # it checks templates in its event loop
        checked = schemas.DEVICE_DISCOVERY_SCHEMA(message)
        for component in checked["components"].values():
            shared = {key: checked[key] for key in schemas.SHARED_OPTIONS if key in checked}
            accepted = platforms[component["platform"]].DISCOVERY_SCHEMA(shared | component)
            assert set(component) - set(accepted) <= {"platform", "object_id"}  # no other key is dropped
        await home.async_stop(force=True)

    asyncio.run(main())
