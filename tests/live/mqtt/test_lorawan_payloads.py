"""Uplinks of LoRaWAN network servers: The Things Stack v3 and ChirpStack v4."""

import datetime as dt
import json
import logging

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from occupair.errors import InputError
from occupair.live.config import RoomConfig, Topic
from occupair.live.mqtt.client import IncomingMessage
from occupair.live.mqtt.formats import ValueMissing
from occupair.live.mqtt.payloads import parse_co2, parse_sensor
from occupair.live.mqtt.receiver import ReadingParser

NOW = dt.datetime(2024, 1, 8, 7, 0, 5, tzinfo=dt.UTC)
TTN_TOPIC = "v3/offices@ttn/devices/meeting-1/up"
CHIRPSTACK_TOPIC = "application/0a7ad7e9-4a2c-4d44-a1c7-6ea4d4a0c911/device/24e124707c481234/event/up"

END_DEVICE = {
    "device_id": "meeting-1",
    "application_ids": {"application_id": "offices"},
    "dev_eui": "24E124707C481234",
    "join_eui": "24E124C0002A0001",
    "dev_addr": "260B4F11",
}
CORRELATIONS = ["as:up:01HKM8S7Z4V6Q1T9X2W3E4R5T6", "gs:uplink:01HKM8S7S1N3P5R7T9V1X3Z5B7"]
DEVICE_INFO = {
    "tenantId": "52f14cd4-c6f1-4fbd-8f87-4025e1d49242",
    "tenantName": "Offices",
    "applicationId": "0a7ad7e9-4a2c-4d44-a1c7-6ea4d4a0c911",
    "applicationName": "air",
    "deviceProfileId": "14855bf7-d10d-4aee-b618-ebfcb64dc7ad",
    "deviceProfileName": "AM103",
    "deviceName": "meeting-1",
    "devEui": "24e124707c481234",
    "tags": {"floor": "1"},
}


def ttn(**uplink):
    """Return an uplink of The Things Stack; arguments replace fields of its message."""
    message = {
        "session_key_id": "AYzDx9mJ0mC3mFQ5h3w5Lw==",
        "f_port": 85,
        "f_cnt": 4711,
        "frm_payload": "A2fYAARoUgd9BAM=",
        "decoded_payload": {"battery": 97, "co2": 1027, "humidity": 41, "temperature": 21.6},
        "normalized_payload": [
            {
                "air": {
                    "co2": 1028,
                    "lightIntensity": 310,
                    "location": "indoor",
                    "relativeHumidity": 41.5,
                    "temperature": 21.6,
                },
                "battery": 3.6,
                "action": {"motion": {"detected": True, "count": 3}},
            }
        ],
        "rx_metadata": [
            {
                "gateway_ids": {"gateway_id": "roof", "eui": "AC1F09FFFE000001"},
                "time": "2024-01-08T06:59:59.301Z",
                "timestamp": 2463457000,
                "rssi": -97,
                "snr": 5.2,
            }
        ],
        "settings": {
            "data_rate": {"lora": {"bandwidth": 125000, "spreading_factor": 9, "coding_rate": "4/5"}},
            "frequency": "868100000",
            "timestamp": 2463457000,
        },
        "received_at": "2024-01-08T06:59:59.736532315Z",
        "consumed_airtime": "0.205824s",
        "network_ids": {"net_id": "000013", "tenant_id": "ttn", "cluster_id": "eu1"},
    } | uplink
    return {
        "end_device_ids": END_DEVICE,
        "correlation_ids": CORRELATIONS,
        "received_at": "2024-01-08T06:59:59.945284891Z",
        "uplink_message": {name: value for name, value in message.items() if value is not ...},
    }


def chirpstack(**event):
    """Return an uplink of ChirpStack; arguments replace fields of the event."""
    whole = {
        "deduplicationId": "3ac7e3c4-4401-4b8d-9386-a5c902f9202d",
        "time": "2024-01-08T06:59:59.775023242+00:00",
        "deviceInfo": DEVICE_INFO,
        "devAddr": "00189440",
        "adr": True,
        "dr": 3,
        "fCnt": 4711,
        "fPort": 85,
        "confirmed": False,
        "data": "A2fYAARoUgd9BAM=",
        "object": {"co2": 1027.0, "humidity": 41.5, "illuminance": 310.0, "pir": "idle", "temperature": 21.6},
        "rxInfo": [
            {
                "gatewayId": "0016c001f153a14c",
                "uplinkId": 4217106255,
                "gwTime": "2024-01-08T06:59:59.775023242+00:00",
                "rssi": -36,
                "snr": 10.5,
                "context": "E3OWOQ==",
                "crcStatus": "CRC_OK",
            }
        ],
        "txInfo": {"frequency": 867100000, "modulation": {"lora": {"bandwidth": 125000}}},
    } | event
    return {name: value for name, value in whole.items() if value is not ...}


def encode(content):
    return json.dumps(content).encode()


def co2(content, shape="auto"):
    return parse_co2(Topic(topic="t", shape=shape), encode(content), NOW, "Europe/Copenhagen")


def sensor(name, content, shape="auto"):
    return parse_sensor(name, Topic(topic="t", shape=shape), encode(content), NOW, "Europe/Copenhagen")


RECEIVED = dt.datetime(2024, 1, 8, 6, 59, 59, 736532, dt.UTC)  # by the network server of The Things Stack


@pytest.mark.parametrize("shape", ["auto", "ttn"])
def test_ttn_normalized_payload_and_time_of_the_network_server(shape):
    assert co2(ttn(), shape) == (1028.0, RECEIVED)


@pytest.mark.parametrize("shape", ["auto", "ttn"])
@pytest.mark.parametrize("normalized", [..., None, [], {}, [None], [7], "x", [{"air": {"temperature": 20}}]])
def test_ttn_decoded_payload_in_place_of_normalized_co2(normalized, shape):
    assert co2(ttn(normalized_payload=normalized), shape) == (1027.0, RECEIVED)


def test_ttn_normalized_payload_alone():
    assert co2(ttn(decoded_payload=...)).value == 1028.0


def test_ttn_time_of_the_measurement_precedes_that_of_the_uplink():
    measured = {"time": "2024-01-08T06:40:00Z", "air": {"co2": 900}}
    uplink = ttn(normalized_payload=[measured])
    assert co2(uplink) == (900.0, dt.datetime(2024, 1, 8, 6, 40, tzinfo=dt.UTC))


def test_simulated_uplink_is_not_a_reading():
    with pytest.raises(ValueMissing, match="is simulated"):
        co2(ttn() | {"simulated": True})
    assert co2(ttn() | {"simulated": False}).value > 0


def test_measurement_with_co2_is_chosen_and_a_bad_time_falls_back_to_that_of_the_network():
    entries = [{"air": {"temperature": 21.0}}, {"air": {"co2": 733}, "time": "soon"}]
    found = co2(ttn(normalized_payload=entries, decoded_payload=...))
    assert found.value == 733
    assert found.time.isoformat() == "2024-01-08T06:59:59.736532+00:00"


def test_ttn_optional_sensors():
    names = ("temperature", "humidity", "light", "motion")
    assert [sensor(name, ttn()).value for name in names] == [21.6, 41.5, 310.0, 1.0]
    assert sensor("humidity", ttn(normalized_payload=...)).value == 41.0
    with pytest.raises(ValueMissing, match="has no sound, only"):
        sensor("sound", ttn())


@pytest.mark.parametrize("shape", ["auto", "chirpstack"])
def test_chirpstack_object_and_time(shape):
    assert co2(chirpstack(), shape) == (1027.0, dt.datetime(2024, 1, 8, 6, 59, 59, 775023, dt.UTC))
    names = ("temperature", "humidity", "light")
    assert [sensor(name, chirpstack(), shape).value for name in names] == [21.6, 41.5, 310.0]


def test_fields_of_the_decoder_do_not_replace_the_time_of_the_server():
    decoded = {"co2": 700, "received_at": "1999", "time": "soon"}
    assert co2(chirpstack(object=decoded)).time == co2(chirpstack()).time
    assert co2(ttn(decoded_payload=decoded, normalized_payload=...)) == (700.0, RECEIVED)


OTHER_MESSAGES = [
    {
        "end_device_ids": END_DEVICE,
        "join_accept": {"session_key_id": "AXB=", "received_at": "2024-01-08T07:00Z"},
    },
    {"end_device_ids": END_DEVICE, "downlink_ack": {"f_port": 1, "f_cnt": 2, "confirmed": True}},
    {"end_device_ids": END_DEVICE, "location_solved": {"service": "geo", "location": {"latitude": 52.4}}},
    {"end_device_ids": END_DEVICE, "service_data": {"service": "x", "data": {"co2": 800}}},
    ttn(decoded_payload=..., normalized_payload=..., frm_payload=...),  # MAC commands only
    ttn(decoded_payload={"battery": 97}, normalized_payload=...),
    {"time": "2024-01-08T07:00:00Z", "deviceInfo": DEVICE_INFO, "devAddr": "00189440", "relayRxInfo": None},
    {"deviceInfo": DEVICE_INFO, "queueItemId": "5e", "acknowledged": True, "fCntDown": 4},
    {"deviceInfo": DEVICE_INFO, "margin": 10, "batteryLevel": 88.6, "externalPowerSource": False},
    {
        "deviceInfo": DEVICE_INFO,
        "level": "ERROR",
        "code": "UPLINK_CODEC",
        "description": "co2",
        "context": {},
    },
    chirpstack(object=..., fPort=0, data=""),
    chirpstack(object={"battery": 97}),
]


@pytest.mark.parametrize("content", OTHER_MESSAGES)
def test_other_messages_are_not_readings(content):
    """Joins, acknowledgements, status and MAC commands are ignored once the topic has delivered CO2."""
    with pytest.raises(ValueMissing):
        co2(content)


def test_ignored_messages_are_logged_only_before_the_first_reading(caplog):
    room = RoomConfig.model_validate({"id": "lab", "co2": TTN_TOPIC})
    parser = ReadingParser({"lab": room})
    with caplog.at_level(logging.WARNING):
        assert parser.parse([message(OTHER_MESSAGES[0], TTN_TOPIC)]) == []
        assert "has no uplink_message" in caplog.text
        assert len(parser.parse([message(ttn(), TTN_TOPIC)])) == 1
        assert parser.parse([message(one, TTN_TOPIC) for one in OTHER_MESSAGES]) == []
    assert parser.refused == 1


@pytest.mark.parametrize(
    ("content", "shape", "error"),
    [
        (
            ttn(decoded_payload=..., normalized_payload=...),
            "ttn",
            "has no decoded_payload: add a payload form",
        ),
        (chirpstack(object=...), "chirpstack", "has no object: add a codec to the device profile in Chirp"),
        (chirpstack(), "ttn", "has no uplink_message, only"),
        (ttn(), "chirpstack", "has no object, only"),
        (chirpstack(object={"co2": "high"}), "auto", "must be a number, got 'high'"),
        (chirpstack(time="soon"), "auto", "time must be a time such as"),
        (ttn(normalized_payload=[{"air": {"co2": {"value": 4}}}]), "auto", "must be a number, got an object"),
        (ttn(received_at=[1]), "auto", "received_at must be a time such as"),
    ],
)
def test_unusable_uplink_has_a_one_line_reason(content, shape, error):
    with pytest.raises(InputError, match=error) as raised:
        co2(content, shape)
    assert len(str(raised.value).splitlines()) == 1


def message(content, topic, received=NOW):
    return IncomingMessage(topic, encode(content), 1, False, 1, received)


@pytest.mark.parametrize(("topic", "content"), [(TTN_TOPIC, ttn()), (CHIRPSTACK_TOPIC, chirpstack())])
def test_uplink_is_one_reading_and_the_same_when_it_is_delivered_again(topic, content):
    names = ("co2", "temperature", "humidity", "light")
    parser = ReadingParser({"lab": RoomConfig.model_validate({"id": "lab"} | dict.fromkeys(names, topic))})
    assert parser.topics == [topic]
    (one,) = parser.parse([message(content, topic)])
    assert dict(one.sensors) == {"temperature": 21.6, "humidity": 41.5, "light": 310.0}
    (again,) = parser.parse([message(content, topic, NOW + dt.timedelta(minutes=3))])
    assert (again.time, again.co2) == (one.time, one.co2)
    assert parser.refused == 0


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["co2", "air", "time", "object", "motion", "action", "detected"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)


@settings(max_examples=300, deadline=None)
@given(
    JSON, st.sampled_from(["decoded_payload", "normalized_payload", "received_at", "object", "time", "data"])
)
def test_malformed_uplink_raises_only_input_errors(value, key):
    damaged = [ttn(**{key: value}), chirpstack(**{key: value}), {"uplink_message": value}]
    damaged += [{"end_device_ids": {}, "uplink_message": {key: value}}, {"deviceInfo": {}, key: value}]
    for content in damaged:
        for shape in ("auto", "ttn", "chirpstack"):
            parsed = outcome(content, shape)
            assert len(parsed.splitlines()) == 1 if isinstance(parsed, str) else abs(parsed) <= 1e6


def outcome(content, shape):
    """Return CO2, or the message of the error."""
    try:
        return co2(content, shape).value
    except InputError as error:
        return str(error)
