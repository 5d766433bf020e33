"""MQTT payloads of optional sensors, alone and next to CO2 in one message."""

import datetime as dt

import pytest

from occupair.errors import InputError
from occupair.live.config import RoomConfig, Topic
from occupair.live.mqtt.client import IncomingMessage
from occupair.live.mqtt.formats import ValueMissing
from occupair.live.mqtt.payloads import parse_sensor
from occupair.live.mqtt.receiver import ReadingParser

NOW = dt.datetime(2024, 1, 8, 7, 0, 2, tzinfo=dt.UTC)
TASMOTA = (
    b'{"Time":"2024-01-08T08:00:00","SCD40":{"CarbonDioxide":589,"Temperature":70.7,"Humidity":41.5},%s}'
)


@pytest.mark.parametrize(
    ("name", "payload", "value"),
    [
        ("temperature", b"21.5", 21.5),
        ("temperature", TASMOTA % b'"TempUnit":"F"', 21.5),
        ("temperature", TASMOTA % b'"TempUnit":"C"', 70.7),
        ("humidity", b'{"humidity": "41.5", "battery": 80}', 41.5),
        ("humidity", b"41.5 %", 41.5),
        ("sound", b'{"noise": 48}', 48.0),
        ("light", b'{"illuminance": 120, "illuminance_lux": 120}', 120.0),
        ("wifi", b'{"clients": 7}', 7.0),
        ("power", b'{"Time":"2024-01-08T08:00:00","ENERGY":{"Power":182}}', 182.0),
        ("motion", b'{"occupancy": true, "illuminance": 3}', 1.0),
        ("motion", b"OFF", 0.0),
    ],
)
def test_value_is_found(name, payload, value):
    assert parse_sensor(name, Topic(topic="lab"), payload, NOW, "UTC").value == pytest.approx(value)


def test_value_at_a_path():
    topic = Topic(topic="lab", shape="json", path="air.rh", time_path="at")
    found = parse_sensor("humidity", topic, b'{"air":{"rh":40},"at":"2024-01-08T07:00:00Z"}', NOW, "UTC")
    assert found == (40.0, dt.datetime(2024, 1, 8, 7, tzinfo=dt.UTC))


def test_missing_and_invalid_values():
    with pytest.raises(ValueMissing, match=r"lab: has no humidity, only \['co2'\]"):
        parse_sensor("humidity", Topic(topic="lab"), b'{"co2": 500}', NOW, "UTC")
    with pytest.raises(InputError, match="lab: humidity must be from 0 to 100 % RH, got 141"):
        parse_sensor("humidity", Topic(topic="lab"), b"141", NOW, "UTC")


def message(topic, payload):
    return IncomingMessage(topic, payload, 1, False, 1, NOW)


def test_message_with_several_quantities_is_one_reading():
    room = RoomConfig.model_validate({"id": "lab", "co2": "z2m/lab", "humidity": "z2m/lab", "wifi": "ap/lab"})
    parser = ReadingParser({"lab": room})
    assert sorted(parser.topics) == ["ap/lab", "z2m/lab"]
    air = message("z2m/lab", b'{"co2": 612, "humidity": 41.5}')
    clients = message("ap/lab", b"7")
    one, other = parser.parse([air, clients])
    assert (one.co2, dict(one.sensors)) == (612.0, {"humidity": 41.5})
    assert (other.co2, dict(other.sensors)) == (None, {"wifi": 7.0})


def test_invalid_sensor_does_not_reject_co2():
    room = RoomConfig.model_validate({"id": "lab", "co2": "z2m/lab", "humidity": "z2m/lab"})
    parser = ReadingParser({"lab": room})
    (one,) = parser.parse([message("z2m/lab", b'{"co2": 612, "humidity": 400}')])
    assert (one.co2, dict(one.sensors)) == (612.0, {})
    assert parser.refused == 1
