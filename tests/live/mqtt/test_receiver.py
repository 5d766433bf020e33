"""Receiving readings from a real mosquitto: rooms, values and times; no payload stops the bridge."""

import asyncio
import datetime as dt
import json
import logging
import random

from live.mosquitto import need_mosquitto
from live.mqtt_helpers import (
    LAB,
    FakePipeline,
    at,
    both_versions,
    make_bridge,
    payload_at,
    publish,
    running,
    state,
)
from live.waiting import until
from paho.mqtt.client import MQTTMessage

from occupair.live.config import MqttConfig, RoomConfig, Topic, VentilationTopic
from occupair.live.messages import ReadingOutcome
from occupair.live.mqtt import client as broker_client
from occupair.live.mqtt import receiver

pytestmark = need_mosquitto


def readings_of(pipeline):
    return [(reading.room, reading.time, reading.co2, reading.ventilation) for reading in pipeline.stored]


@both_versions
def test_reading_has_room_value_and_time(server, version):
    async def main():
        pipeline = FakePipeline()
        async with running(make_bridge(server, version=version), pipeline):
            await publish(server, ("lab/co2", payload_at(1, 700)), ("lab/fan", "40"))
            await publish(server, ("lab/co2", payload_at(2, 710)), qos=0)
            await until(lambda: len(pipeline.stored) == 3)
        one, fan, two = sorted(pipeline.stored, key=lambda reading: reading.co2 or 705)
        assert (one.room, one.time, one.co2, one.ventilation) == ("lab", at(1), 700.0, None)
        assert (two.room, two.time, two.co2) == ("lab", at(2), 710.0)
        assert (fan.co2, fan.ventilation, fan.time) == (None, 0.4, fan.received)
        assert {reading.source for reading in pipeline.stored} == {"mqtt"}

    asyncio.run(main())


def test_quantities_of_one_message_form_one_reading_per_room(server):
    one = Topic(topic="all", shape="json", path="a.co2", time_path="t")
    rooms = [
        RoomConfig(
            id="a",
            co2=one,
            ventilation=VentilationTopic(topic="all", shape="json", path="a.fan", time_path="t"),
        ),
        RoomConfig(id="b", co2=Topic(topic="all", shape="json", path="b.co2", time_path="t")),
    ]
    message = {"t": at(0).timestamp(), "a": {"co2": 500, "fan": 0.5}, "b": {"co2": 600}}

    async def main():
        pipeline = FakePipeline()
        async with running(make_bridge(server, rooms), pipeline):
            await publish(server, ("all", json.dumps(message)))
            await until(lambda: len(pipeline.stored) == 2)
        assert readings_of(pipeline) == [("a", at(0), 500.0, 0.5), ("b", at(0), 600.0, None)]

    asyncio.run(main())


@both_versions
def test_retained_message_without_time_is_ignored(server, version):
    async def main():
        await publish(server, ("lab/co2", payload_at(5)), ("lab/fan", "80"), retain=True)
        pipeline = FakePipeline()
        async with running(make_bridge(server, version=version), pipeline):
            await until(lambda: pipeline.stored)
            await publish(server, ("lab/fan", "20"), retain=True)
            await until(lambda: len(pipeline.stored) == 2)
        assert readings_of(pipeline)[0] == ("lab", at(5), 812.0, None)
        assert pipeline.stored[1].ventilation == 0.2

    asyncio.run(main())


def test_readings_without_time_have_distinct_times(server):
    bare = RoomConfig(id="lab", co2=Topic(topic="lab/co2"))

    async def main():
        pipeline = FakePipeline()
        async with running(make_bridge(server, [bare]), pipeline):
            await publish(server, *(("lab/co2", str(400 + k)) for k in range(500)))
            await until(lambda: len(pipeline.stored) == 500)
        times = [reading.time for reading in pipeline.stored]
        assert times == sorted(set(times))
        assert [reading.co2 for reading in pipeline.stored] == [400.0 + k for k in range(500)]

    asyncio.run(main())


class Clock(dt.datetime):
    """A settable system clock."""

    set_to = dt.datetime(2024, 1, 8, 9, tzinfo=dt.UTC)

    @classmethod
    def now(cls, tz=None):
        return cls.set_to


def test_times_of_arrival_increase_and_follow_a_clock_set_back(monkeypatch):
    monkeypatch.setattr(broker_client, "utc_now", lambda: Clock.set_to)
    nine, microsecond = Clock.set_to, dt.timedelta(microseconds=1)

    async def main():
        client = broker_client.BrokerClient(MqttConfig(host="127.0.0.1"), None)
        for seconds in (0, 0, -5, -5.1, -3600, -3600, -3599):
            monkeypatch.setattr(Clock, "set_to", nine + dt.timedelta(seconds=seconds))
            message = MQTTMessage(topic=b"lab/co2")
            message.payload = b"500"
            client._on_message(None, None, message)
        return [message.received for message in await client.receive(limit=100)]

    eight = nine - dt.timedelta(hours=1)
    assert asyncio.run(main()) == [
        nine,
        nine + microsecond,
        nine - dt.timedelta(seconds=5),  # 5.000001 s back: the clock was set back
        nine - dt.timedelta(seconds=5) + microsecond,  # 0.1 s back: it was not
        eight,
        eight + microsecond,
        eight + dt.timedelta(seconds=1),
    ]


def test_invalid_payload_is_counted_and_logged_once(server, caplog):
    async def main():
        pipeline = FakePipeline()
        async with running(make_bridge(server), pipeline):
            await publish(server, *[("lab/co2", "nan")] * 40, ("lab/co2", payload_at(1)))
            await until(lambda: pipeline.stored)
        assert pipeline.counters["mqtt", ReadingOutcome.NONSENSE] == 40

    with caplog.at_level(logging.WARNING, "occupair.live.mqtt"):
        asyncio.run(main())
    assert [record.getMessage() for record in caplog.records if "not a reading" in record.message] == [
        "not a reading: lab/co2: must be JSON, got 'nan'"
    ]


def test_message_without_value_is_ignored_once_the_topic_has_had_one(caplog):
    rooms = {"lab": RoomConfig(id="lab", co2=Topic(topic="z/lab", shape="zigbee2mqtt"))}
    parser = receiver.ReadingParser(rooms)

    def parse(payload):
        message = broker_client.IncomingMessage("z/lab", payload, 1, False, 1, at(0))
        return [reading.co2 for reading in parser.parse([message])]

    with caplog.at_level(logging.WARNING, "occupair.live.mqtt"):
        assert parse(b'{"battery":97,"linkquality":120}') == []
        assert (parser.refused, len(caplog.records)) == (1, 1)
        assert parse(b'{"co2":812,"humidity":41.2}') == [812.0]
        assert parse(b'{"co2":null,"humidity":43}') == parse(b'{"battery":97}') == []
        assert (parser.refused, len(caplog.records)) == (1, 1)
        assert parse(b'{"co2":"much"}') == []
        assert parser.refused == 2


def test_warning_about_a_topic_is_repeated_once_a_minute(caplog):
    now = [0.0]
    parser = receiver.ReadingParser({"lab": LAB}, clock=lambda: now[0])
    for now[0] in (0.0, 1.0, 59.9, 60.0, 119.9):
        assert parser.parse([broker_client.IncomingMessage("lab/co2", b"nan", 1, False, 1, at(0))]) == []
    assert parser.refused == 5
    assert [record.getMessage() for record in caplog.records] == [
        "not a reading: lab/co2: must be JSON, got 'nan'",
        "not a reading: lab/co2: must be JSON, got 'nan' (and 2 more before)",
    ]


def random_payload(rng):
    """Return a payload that a broken device or an attacker may send."""
    text = json.dumps({"co2": rng.choice([None, [], {}, "x", True, -1e9, 812]), "at": rng.random() * 1e12})
    kinds = (
        lambda: rng.randbytes(rng.randrange(200)),
        lambda: text.encode(),
        lambda: bytes(byte ^ (rng.random() < 0.05) * rng.randrange(256) for byte in text.encode()),
        lambda: b"[" * rng.randrange(5000),
        lambda: b'{"co2":' + b"9" * rng.randrange(6000) + b"}",
        lambda: rng.choice([b"", b"nan", b"null", b"-inf", b"\x00", b'{"co2":NaN}', b"\xff" * 9]),
        lambda: json.dumps({"co2": 500, "at": rng.choice(["", "x", "0001-01-01", -1, 1e99, []])}).encode(),
    )
    return rng.choice(kinds)()


@both_versions
def test_valid_reading_arrives_after_thousands_of_random_payloads(server, version):
    rooms = [
        LAB,
        RoomConfig(id="bare", co2=Topic(topic="bare/co2"), ventilation=VentilationTopic(topic="bare/fan")),
        RoomConfig(id="z2m", co2=Topic(topic="z2m/lab", shape="zigbee2mqtt")),
        RoomConfig(id="tasmota", co2=Topic(topic="tele/lab/SENSOR", shape="tasmota")),
    ]
    topics = [
        "lab/co2",
        "lab/fan",
        "bare/co2",
        "bare/fan",
        "z2m/lab",
        "tele/lab/SENSOR",
        "homeassistant/status",
    ]
    topics += ["occupair/lab/availability", "occupair/x/availability", "occupair/../availability"]
    rng = random.Random(5)

    async def main():
        pipeline = FakePipeline([state()])
        async with running(make_bridge(server, rooms, version=version), pipeline):
            for qos in (0, 1):
                await publish(
                    server, *((rng.choice(topics), random_payload(rng)) for _ in range(2000)), qos=qos
                )
            # below the largest packet that mosquitto 2.1 takes
            await publish(server, ("lab/co2", b"[" * 1_900_000), ("bare/co2", b"9" * 1_000_000))
            await publish(server, ("lab/co2", payload_at(777, 777)))
            await until(lambda: any(reading.co2 == 777 for reading in pipeline.stored))
            assert pipeline.mqtt_status == "connected"
            assert pipeline.counters["mqtt", ReadingOutcome.NONSENSE] > 1000
        assert server.log.count("New client connected from 127.0.0.1") >= 1
        assert server.log.count(" as occupair (") == 1  # connected once

    asyncio.run(main())
