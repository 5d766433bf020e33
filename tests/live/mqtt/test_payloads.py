"""Payload formats of devices, and arbitrary bytes."""

import datetime as dt
import json
import time
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from occupair.errors import InputError
from occupair.live.config import Topic, VentilationTopic
from occupair.live.config.room_settings import FormatName
from occupair.live.mqtt.formats import FORMATS
from occupair.live.mqtt.payloads import MAX_BYTES, parse_co2, parse_ventilation
from occupair.readings.ventilation_units import OFF, ON

NOW = dt.datetime(2024, 1, 8, 7, 0, 5, tzinfo=dt.UTC)
EIGHT = dt.datetime(2024, 1, 8, 7, 0, tzinfo=dt.UTC)  # 08:00 in Copenhagen in winter
ZONE = "Europe/Copenhagen"
SHAPES = get_args(FormatName)


def co2(payload, received=NOW, timezone=ZONE, **topic):
    value, when = parse_co2(Topic(topic="t", **topic), payload, received, timezone)
    return value, when or received


def test_every_shape_of_the_settings_has_a_format():
    assert set(FORMATS) == set(SHAPES)


@pytest.mark.parametrize("shape", ["auto", "number"])
@pytest.mark.parametrize(
    ("payload", "value"),
    [
        (b"812", 812.0),
        (b"812.0 ", 812.0),
        (b"\r\n812\n", 812.0),
        (b"812 ppm", 812.0),
        (b"812PPM", 812.0),
        (b"+4.1e2", 410.0),
        (b".5", 0.5),
        (b"0", 0.0),
        (b"-1", -1.0),
        (b"\xef\xbb\xbf812", 812.0),
    ],
)
def test_plain_number_has_the_time_of_arrival(payload, value, shape):
    assert co2(payload, shape=shape) == (value, NOW)


@pytest.mark.parametrize("shape", ["auto", "zigbee2mqtt"])
@pytest.mark.parametrize(
    ("last_seen", "when"),
    [
        ('"2024-01-08T07:00:00.000Z"', EIGHT),
        ('"2024-01-08T08:00:00+01:00"', EIGHT),
        ('"2024-01-08T08:00:00"', EIGHT),
        ("1704697200000", EIGHT),
        ("1704697200", EIGHT),
        ('"1704697200"', EIGHT),
        ("null", NOW),
    ],
)
def test_zigbee2mqtt_last_seen_is_the_time(last_seen, when, shape):
    payload = f'{{"battery":100,"co2":812,"last_seen":{last_seen},"linkquality":87}}'
    assert co2(payload.encode(), shape=shape) == (812.0, when)


def test_zigbee2mqtt_without_last_seen():
    assert co2(b'{"co2":812,"temperature":21.5}', shape="zigbee2mqtt") == (812.0, NOW)


@pytest.mark.parametrize("shape", ["auto", "zigbee2mqtt"])
@pytest.mark.parametrize(
    ("payload", "value", "when"),
    [  # recorded from Zigbee2MQTT 2.14.1: Heiman HS3AQ
        (b'{"battery":97,"co2":812,"linkquality":120}', 812, NOW),
        (b'{"battery":97,"co2":812,"humidity":41.2,"linkquality":120,"temperature":21.4}', 812, NOW),
        (
            b'{"battery":97,"co2":812,"humidity":41.2,"last_seen":"2026-11-16T06:18:02.139Z","linkquality":120,'
            b'"temperature":21.4}',
            812,
            dt.datetime(2026, 11, 16, 6, 18, 2, 139000, tzinfo=dt.UTC),
        ),
        (  # from its cache, with Home Assistant
            b'{"battery":97,"co2":950,"humidity":42,"last_seen":"2026-11-16T07:19:46+01:00","linkquality":null,'
            b'"temperature":21.5}',
            950,
            dt.datetime(2026, 11, 16, 6, 19, 46, tzinfo=dt.UTC),
        ),
        (
            b'{"battery":null,"co2":840,"humidity":43,"last_seen":1794810168892,"linkquality":120,'
            b'"temperature":null}',
            840,
            dt.datetime(2026, 11, 16, 6, 22, 48, 892000, tzinfo=dt.UTC),
        ),
        (  # Nexelec Open'R
            b'{"battery":97,"co2":812,"humidity":41.23,"last_seen":"2026-11-16T06:24:12.846Z","linkquality":120}',
            812,
            dt.datetime(2026, 11, 16, 6, 24, 12, 846000, tzinfo=dt.UTC),
        ),
    ],
)
def test_recorded_zigbee2mqtt_payloads(payload, value, when, shape):
    assert co2(payload, shape=shape) == (value, when)


@pytest.mark.parametrize(
    "payload",
    [  # Heiman HS3AQ, just paired; and Nexelec Open'R with filtered_cache and Home Assistant
        b'{"battery":97,"last_seen":"2026-11-16T06:17:37.067Z","linkquality":120}',
        b'{"battery":97,"co2":null,"humidity":44,"identify":null,"last_seen":"2026-11-16T06:29:55.755Z",'
        b'"linkquality":120,"temperature":null}',
    ],
)
def test_recorded_zigbee2mqtt_payloads_without_co2(payload):
    with pytest.raises(InputError, match=r"t: has no co2, only|t: must be a number, got null"):
        co2(payload, shape="zigbee2mqtt")


@pytest.mark.parametrize("shape", ["auto", "tasmota"])
@pytest.mark.parametrize(
    "sensor",
    [
        '"MHZ19B":{"Model":"B","CarbonDioxide":589,"Temperature":21.0}',
        '"SCD40":{"CarbonDioxide":589,"eCO2":601,"Temperature":23.9,"Humidity":42.4}',
        '"SCD30":{"CarbonDioxide":589,"Temperature":23.9}',
        '"S8":{"CarbonDioxide":589}',
        '"ENERGY":{"Power":3},"SenseAir":{"CarbonDioxide":589},"TempUnit":"C"',
    ],
)
def test_tasmota_local_time(sensor, shape):
    payload = f'{{"Time":"2024-01-08T08:00:00",{sensor}}}'.encode()
    assert co2(payload, shape=shape) == (589.0, EIGHT)
    assert co2(payload, shape=shape, timezone="UTC")[1] == dt.datetime(2024, 1, 8, 8, tzinfo=dt.UTC)


def test_tasmota_epoch_and_offset():
    sensor = '"MHZ19B":{"CarbonDioxide":589}}'
    for stamp in ('"Time":1704697200', '"Time":"2024-01-08T08:00:00+01:00"'):
        assert co2(f"{{{stamp},{sensor}".encode(), shape="tasmota")[1] == EIGHT
    both = '"Time":"2024-01-08T09:00:00","Epoch":1704697200'
    assert co2(f"{{{both},{sensor}".encode(), shape="tasmota")[1] == EIGHT


def test_tasmota_status_reply():
    status = b'{"StatusSNS":{"Time":"2024-01-08T08:00:00","MHZ19B":{"CarbonDioxide":589}}}'
    assert co2(status, shape="tasmota") == (589.0, EIGHT)


def test_failed_tasmota_sensor_is_read_as_0_ppm():
    assert co2(b'{"Time":"2024-01-08T08:00:00","MHZ19B":{"CarbonDioxide":0}}') == (0.0, EIGHT)


def test_time_of_an_unset_clock_is_ignored():
    payload = b'{"Time":"1970-01-01T00:00:11","MHZ19B":{"CarbonDioxide":589}}'
    assert co2(payload, shape="tasmota") == (589.0, NOW)
    assert parse_co2(Topic(topic="t"), payload, NOW, ZONE).time is None


def test_repeated_hour_resolves_to_the_time_closer_to_arrival():
    payload = b'{"Time":"2024-10-27T02:30:00","MHZ19B":{"CarbonDioxide":589}}'
    summer = dt.datetime(2024, 10, 27, 0, 30, tzinfo=dt.UTC)
    for when in (summer, summer + dt.timedelta(hours=1)):
        assert co2(payload, received=when + dt.timedelta(seconds=2)) == (589.0, when)


def test_json_path():
    payload = json.dumps({"d": [{"v": 1}, {"gas": {"co2": "734.5"}}], "at": {"t": 1704697200}}).encode()
    assert co2(payload, shape="json", path="d[1].gas.co2", time_path="at.t") == (734.5, EIGHT)
    assert co2(payload, shape="json", path="d[-1].gas.co2") == (734.5, NOW)
    assert co2(payload, path="d[1].gas.co2") == (734.5, NOW)
    assert co2(b"[400, 500]", shape="json", path="[1]") == (500.0, NOW)


def test_json_without_time_path_has_the_time_of_arrival():
    assert co2(b'{"v":500,"Time":"2020-01-01T00:00:00"}', shape="json", path="v") == (500.0, NOW)
    assert co2(b'{"v":500,"t":null}', shape="json", path="v", time_path="t") == (500.0, NOW)


@pytest.mark.parametrize(
    ("payload", "full", "value"),
    [
        (b"0.4", 1.0, 0.4),
        (b"40", 100.0, 0.4),
        (b"40 %", 1.0, 0.4),
        (b"40%", 80.0, 0.5),
        (b"ON", 100.0, 1.0),
        (b"off", 1.0, 0.0),
        (b"true", 1.0, 1.0),
        (b"false", 1.0, 0.0),
        (b"open", 1.0, 1.0),
        (b"Closed", 1.0, 0.0),
        (b'{"state":"ON"}', 1.0, 1.0),
        (b'{"position":25,"state":"OPEN"}', 100.0, 0.25),
        (b'{"Time":"2024-01-08T08:00:00","POWER":"OFF"}', 1.0, 0.0),
        (b'{"fan_state":"ON","fan_mode":"low"}', 1.0, 1.0),
        (b'{"ventilation":true}', 1.0, 1.0),
        (b"1.0023", 1.0, 1.0),  # noise, as in files
        (b"-12.5", 4800.0, 0.0),
        (b"80", 1.0, 80.0),  # rejected later: full is missing in the settings
    ],
)
def test_ventilation(payload, full, value):
    assert parse_ventilation(
        VentilationTopic(topic="t", full=full), payload, NOW, ZONE
    ).value == pytest.approx(value)


def test_ventilation_path_and_time():
    topic = VentilationTopic(topic="t", shape="json", path="damper.open", time_path="at")
    payload = b'{"damper":{"open":false},"at":"2024-01-08T08:00:00"}'
    assert parse_ventilation(topic, payload, NOW, ZONE) == (0.0, EIGHT)


@pytest.mark.parametrize(
    ("payload", "topic", "message"),
    [
        (b"", {}, "t: must not be empty"),
        (b" \n", {}, "t: must not be empty"),
        (b"nan", {}, "t: must be a number, got 'nan'"),
        (b"inf", {}, "t: must be a number, got 'inf'"),
        (b"unavailable", {}, "t: must be a number, got 'unavailable'"),
        (b"true", {}, "t: must be a number, got 'true'"),
        (b"8_1_2", {}, "t: must be a number, got '8_1_2'"),
        ("８１２".encode(), {}, "t: must be a number, got '８１２'"),
        (b"812,5", {}, "t: must be a number, got '812,5'"),
        (b"0.08 %", {}, "t: must be in ppm, got '0.08 %'"),
        (b"1e7", {}, "t: must be a number up to 1000000, got 10000000.0"),
        (b"1e999", {}, "t: must be a number up to 1000000, got inf"),
        (b"9" * 65, {}, "t: must be a number, got '9999"),
        (b"\xff\xfe8\x001\x002\x00", {}, r"t: must be UTF-8 text, got b'\\xff\\xfe8"),
        (b"x" * (MAX_BYTES + 1), {}, "t: must be at most 65536 bytes, got 65537"),
        (b"[" * 60_000, {}, r"t: must be JSON, got '\[\["),
        (b'{"co2":', {}, "t: must be JSON, got '{\"co2\":'"),
        (b"812", {"shape": "json", "path": "a"}, "t: has no a, got 812"),
        (b'{"co2":NaN}', {}, "t: must contain finite numbers only, got NaN"),
        (b'{"co2":-Infinity}', {}, "t: must contain finite numbers only, got -Infinity"),
        (b'{"co2":true}', {}, "t: must be a number, got True"),
        (b'{"co2":null}', {}, "t: must be a number, got null"),
        (b'{"co2":"high"}', {}, "t: must be a number, got 'high'"),
        (b'{"co2":{"v":1}}', {}, "t: must be a number, got an object"),
        (b'{"co2":[812]}', {}, "t: must be a number, got a list"),
        (b'{"co2":' + b"9" * 400 + b"}", {}, "t: must be a number up to 1000000, got 9999"),
        (b'{"co2":' + b"9" * 5000 + b"}", {}, "t: must be JSON, got"),
        (b'{"battery":90}', {"shape": "zigbee2mqtt"}, r"t: has no co2, only \['battery'\]"),
        (b'{"Time":"2024-01-08T08:00:00"}', {}, r"t: has no CarbonDioxide, only \['Time'\]"),
        (b'{"CCS811":{"eCO2":900}}', {}, r"t: has no co2, only \['CCS811'\]"),
        (
            b'{"S8":{"CarbonDioxide":1},"SCD40":{"CarbonDioxide":2}}',
            {},
            r"CO2 of 2 sensors, \['S8', 'SCD40'\]",
        ),
        (b'{"a":{"b":1}}', {"shape": "json", "path": "a.c"}, r"t: has no a\.c, only \['a'\]"),
        (b'{"a":[1]}', {"shape": "json", "path": "a[1]"}, r"t: has no a\[1\], only \['a'\]"),
        (b'{"co2":1,"last_seen":"yesterday"}', {}, "t: last_seen must be a time such as .*, got 'yesterday'"),
        (b'{"co2":1,"last_seen":true}', {}, "t: last_seen must be a time such as .*, got True"),
        (b'{"co2":1,"last_seen":-5}', {}, "t: last_seen must be a time such as .*, got -5"),
        (b'{"co2":1,"last_seen":1e300}', {}, "t: last_seen must be a time such as .*, got 1e"),
        (
            b'{"co2":1,"last_seen":[1]}',
            {},
            "t: last_seen must be a time such as .*, got neither a string nor a number",
        ),
        (b'{"co2":1,"last_seen":"0001-01-01T00:00:00+14:00"}', {}, "t: last_seen must be a time"),
        (b'{"co2":1,"last_seen":"9999-12-31T23:59:59-14:00"}', {}, "t: last_seen must be a time"),
    ],
)
def test_invalid_payload_is_refused_in_one_line(payload, topic, message):
    with pytest.raises(InputError, match=message) as caught:
        co2(payload, **topic)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize(
    ("payload", "message"),
    [
        (b"medium", "t: must be a number, got 'medium'"),
        (b"40 ppm", "t: must be a fraction of 1 or a percentage, got '40 ppm'"),
        (b'{"brightness":3}', r"t: has no ventilation, only \['brightness'\]"),
    ],
)
def test_invalid_ventilation_is_refused(payload, message):
    with pytest.raises(InputError, match=message):
        parse_ventilation(VentilationTopic(topic="t"), payload, NOW, ZONE)


def test_unknown_time_zone_is_an_input_error():
    with pytest.raises(InputError, match="timezone must be a time zone name such as"):
        co2(b'{"co2":1,"last_seen":"2024-01-08T08:00:00"}', timezone="Mars/Base")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["co2", "last_seen", "Time", "Epoch", "CarbonDioxide", "a", "state", "StatusSNS"])
            | st.text(max_size=6),
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)
PAYLOADS = (
    st.binary(max_size=200)
    | st.text(max_size=60).map(lambda text: text.encode("utf-8", "surrogatepass"))
    | JSON.map(lambda content: json.dumps(content).encode("utf-8", "surrogatepass"))
    | st.floats().map(lambda number: repr(number).encode())
    | st.datetimes().map(lambda at: json.dumps({"co2": 500, "last_seen": at.isoformat()}).encode())
)
TOPICS = st.builds(
    VentilationTopic,
    topic=st.just("t"),
    shape=st.sampled_from(SHAPES),
    path=st.none() | st.sampled_from(["a", "co2", "a.b[0]", "[0]", "last_seen"]),
    time_path=st.none() | st.sampled_from(["a", "last_seen", "Time", "[1]"]),
    full=st.sampled_from([1.0, 100.0]),
)


def outcome(parse, topic, payload):
    try:
        return parse(topic, payload, NOW, ZONE)
    except InputError as error:
        return error


@settings(max_examples=600, deadline=None)
@given(TOPICS, PAYLOADS, st.sampled_from([parse_co2, parse_ventilation]))
def test_any_bytes_parse_or_raise_a_one_line_input_error(topic, payload, parse):
    parsed = outcome(parse, topic, payload)
    if isinstance(parsed, InputError):
        assert str(parsed).startswith("t: ")
        assert len(str(parsed).splitlines()) == 1
    else:
        assert isinstance(parsed.value, float)
        assert abs(parsed.value) <= 1e6
        assert parsed.time is None or (parsed.time.tzinfo is dt.UTC and parsed.time.year >= 2000)


DEEP = [b"[" * k + b"]" * k for k in (10, 200, 900, 990, 1000, 5000, 30_000)]
LARGE = [
    *DEEP,
    *(b'{"co2":' + deep + b"}" for deep in DEEP),
    *(b'{"last_seen":' + deep + b',"co2":500}' for deep in DEEP),
    b'{"a":' * 10_000 + b"1" + b"}" * 10_000,
    b"1" * MAX_BYTES,
    b" " * MAX_BYTES,
    b"8" + b" " * (MAX_BYTES - 2) + b"x",
    b"1" * (MAX_BYTES - 1) + b"x",
    b'"' + b"\\" * (MAX_BYTES - 2) + b'"',
    b'{"co2":"' + b"9" * 60_000 + b'"}',
    b"[" + b"1e5," * 16_000 + b"1]",
    b"[" + (b"9" * 4000 + b",") * 16 + b"1]",
    b"{" + b'"a":1,' * 10_000 + b'"co2":812}',
    b"\x00" * MAX_BYTES,
    b"x" * 50_000_000,
]


@pytest.mark.parametrize("shape", SHAPES)
def test_large_and_deep_payloads_are_parsed_in_bounded_time(shape):
    for payload in LARGE:
        for topic in (
            VentilationTopic(topic="t", shape=shape),
            VentilationTopic(topic="t", shape=shape, path="a.b", time_path="a"),
        ):
            for parse in (parse_co2, parse_ventilation):
                started = time.process_time()
                assert len(str(outcome(parse, topic, payload))) < 250
                assert time.process_time() - started < 10, payload[:20]  # guards against backtracking


@pytest.mark.parametrize("value", [*ON.split("|"), *OFF.split("|")])
def test_on_and_off_values_are_those_of_files(value):
    topic = VentilationTopic(topic="t")
    parsed = parse_ventilation(topic, value.encode(), NOW, ZONE)
    assert parsed.value == float(value in ON.split("|"))
