"""MQTT payloads of devices, with and without settings of their format."""

from __future__ import annotations

import datetime as dt
import json
import math
from random import Random

from occupair.errors import InputError
from occupair.live.config import Topic, VentilationTopic
from occupair.live.mqtt.payloads import Measurement, parse_co2, parse_sensor, parse_ventilation
from occupair.readings.other_sensors import SENSORS
from tools.fuzz.byte_mutations import mutate_bytes, random_bytes
from tools.fuzz.interesting import ALL
from tools.fuzz.json_mutations import json_bytes, mutate_json
from tools.fuzz.trial import check

_NOW = dt.datetime(2026, 3, 2, 8, 0, 2, tzinfo=dt.UTC)
_TTN = {
    "end_device_ids": {"device_id": "meeting-1", "application_ids": {"application_id": "offices"}},
    "received_at": "2026-03-02T08:00:00.123456789Z",
    "uplink_message": {
        "f_port": 85,
        "frm_payload": "A2fYAARoUgd9BAM=",
        "decoded_payload": {"battery": 97, "co2": 812, "humidity": 41, "temperature": 21.6},
        "normalized_payload": [{"air": {"co2": 812, "temperature": 21.6}, "time": "2026-03-02T08:00:00Z"}],
        "received_at": "2026-03-02T08:00:00Z",
    },
}
_CHIRPSTACK = {
    "time": "2026-03-02T08:00:00.775023242+00:00",
    "deviceInfo": {"applicationName": "air", "deviceName": "meeting-1"},
    "data": "A2fYAARoUgd9BAM=",
    "object": {"co2": 812, "humidity": 41, "temperature": 21.6},
}
_DOCUMENTS = (
    {
        "battery": 97,
        "co2": 812,
        "humidity": 41.2,
        "temperature": 21.4,
        "last_seen": "2026-03-02T09:00:00+01:00",
    },
    {"Time": "2026-03-02T08:00:00", "MHZ19B": {"CarbonDioxide": 589, "Temperature": 73.0}, "TempUnit": "F"},
    {"StatusSNS": {"Time": "2026-03-02T08:00:00", "Epoch": 1772438400, "SCD40": {"CarbonDioxide": 589}}},
    {"fields": {"co2": 812}, "name": "modbus", "timestamp": 1772438400},
    {"sensors": [{"at": 1772434800, "co2": 604}], "fan": {"percent": 40}},
    {"ventilation": "50 %", "state": "ON", "occupancy": True, "co2": "812 ppm"},
    _TTN,
    _CHIRPSTACK,
    [{"co2": 812}],
    812,
)
_NAMES = (
    "co2", "CO2", "CarbonDioxide", "StatusSNS", "Time", "Epoch", "last_seen", "TempUnit", "F", "temperature",
    "motion", "uplink_message", "decoded_payload", "normalized_payload", "received_at", "simulated", "object",
    "deviceInfo", "time", "state", "POWER", "sensors", "at", "fields", "timestamp", "end_device_ids", "light",
    "wifi", "sound",
)  # fmt: skip
_PLAIN = (b"812", b"812.5 ppm", b"50 %", b"ON", b"closed", b"-1", b" 7 ")
_TOPICS = (
    Topic(topic="a"),
    Topic(topic="a", shape="number"),
    Topic(topic="a", shape="zigbee2mqtt"),
    Topic(topic="a", shape="tasmota"),
    Topic(topic="a", shape="ttn"),
    Topic(topic="a", shape="chirpstack"),
    Topic(topic="a", shape="json", path="sensors[0].co2", time_path="sensors[0].at"),
    Topic(topic="a", shape="json", path="fields.co2", time_path="timestamp"),
    Topic(topic="a", path="co2", time_path="Time"),
)
_VENTILATION = (
    VentilationTopic(topic="a"),
    VentilationTopic(topic="a", full=100),
    VentilationTopic(topic="a", shape="json", path="fan.percent", full=255),
)
_ZONES = ("UTC", "Europe/Copenhagen", "America/New_York")


def generate(random: Random) -> bytes:
    chance = random.random()
    if chance < 0.1:
        return random_bytes(random, [text.encode() for text in ALL])
    if chance < 0.2:
        return mutate_bytes(random.choice(_PLAIN), random)
    document = random.choice(_DOCUMENTS)
    if chance < 0.25:
        return mutate_bytes(json.dumps(document).encode(), random, [name.encode() for name in _NAMES])
    return json_bytes(mutate_json(document, random, _NAMES), random)


def run(data: bytes) -> None:
    """Parse the payload for every topic and quantity; it is accepted if any finds a value."""
    choice = sum(data[:64]) + len(data)
    topic, zone = _TOPICS[choice % len(_TOPICS)], _ZONES[choice % len(_ZONES)]
    sensor = tuple(SENSORS)[choice % len(SENSORS)]
    errors = []
    for parse in (
        lambda: parse_co2(_TOPICS[0], data, _NOW, zone),
        lambda: parse_co2(topic, data, _NOW, zone),
        lambda: parse_ventilation(_VENTILATION[choice % len(_VENTILATION)], data, _NOW, zone),
        lambda: parse_sensor(sensor, topic, data, _NOW, zone),
    ):
        try:
            _check(parse())
        except InputError as error:
            errors.append(error)
    if len(errors) == 4:
        raise errors[choice % 4]


def _check(found: Measurement) -> None:
    check(type(found.value) is float and math.isfinite(found.value), "value must be a finite float")
    check(found.time is None or found.time.utcoffset() == dt.timedelta(0), "time must be in UTC or None")
