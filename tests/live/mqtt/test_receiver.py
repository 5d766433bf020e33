"""Receiving readings from a real mosquitto: nothing is lost, and no payload stops the bridge."""

import asyncio
import datetime as dt
import json
import logging
import os
import random
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from live.mosquitto import mosquitto_server, need_mosquitto
from live.mqtt_helpers import (
    LAB,
    FakePipeline,
    acknowledged,
    at,
    both_versions,
    device,
    make_bridge,
    payload_at,
    proxy_to,
    publish,
    recording,
    running,
    state,
)
from live.waiting import until
from paho.mqtt.client import MQTTMessage

from occupair.live import submission
from occupair.live.config import MqttConfig, RoomConfig, Topic, VentilationTopic
from occupair.live.messages import ReadingOutcome
from occupair.live.mqtt import client as broker_client
from occupair.live.mqtt import receiver
from occupair.live.room_pipeline import BacklogFull

pytestmark = need_mosquitto


TESTS = Path(__file__).parents[2]


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


# ---- acknowledgements ----


@both_versions
def test_unstored_messages_are_resent_after_a_lost_connection(server, version):
    async def main():
        async with proxy_to(server) as proxy:
            pipeline = FakePipeline()
            pipeline.gate.clear()
            async with running(make_bridge(server, port=proxy.port, version=version), pipeline):
                await publish(server, *(("lab/co2", payload_at(k)) for k in range(5)))
                await until(lambda: len(pipeline.submitted) == 5)
                await proxy.cut()
                await until(lambda: pipeline.mqtt_status != "connected")
                assert pipeline.stored == []
                pipeline.gate.set()
                proxy.restore()
                await until(lambda: len(pipeline.stored) == 5)
                assert pipeline.minutes() == [0, 1, 2, 3, 4]
                assert len(pipeline.submitted) == 10
                await until(lambda: acknowledged(server, "lab/co2"))
                await proxy.cut()
                proxy.restore()
                await publish(server, ("lab/co2", payload_at(9)))
                await until(lambda: 9 in pipeline.minutes())
        assert pipeline.minutes() == [0, 1, 2, 3, 4, 9]  # acknowledged messages are not resent

    asyncio.run(main())


@both_versions
def test_no_reading_is_lost_while_disconnected_or_when_the_broker_restarts(server, version):
    async def main():
        async with proxy_to(server) as proxy:
            pipeline = FakePipeline()
            async with running(make_bridge(server, port=proxy.port, version=version), pipeline):
                await publish(server, ("lab/co2", payload_at(0)))
                await until(lambda: len(pipeline.stored) == 1)
                await proxy.cut()
                await publish(server, *(("lab/co2", payload_at(k)) for k in range(1, 1500)))
                server.restart()
                await publish(server, *(("lab/co2", payload_at(k)) for k in range(1500, 1600)))
                proxy.restore()
                await until(lambda: len(pipeline.stored) >= 1600)
                server.restart()  # and once more while connected
                await publish(server, *(("lab/co2", payload_at(k)) for k in range(1600, 1650)))
                await until(lambda: len(set(pipeline.minutes())) >= 1650)
        assert sorted(set(pipeline.minutes())) == list(range(1650))

    asyncio.run(main())


def start_process(server, version, path):
    command = [sys.executable, str(TESTS / "live/mqtt_process.py"), str(server.port), version, str(path)]
    paths = os.pathsep.join(filter(None, [str(TESTS), os.environ.get("PYTHONPATH")]))
    return subprocess.Popen(command, env=os.environ | {"PYTHONPATH": paths})


@pytest.mark.slow
@both_versions
def test_no_reading_is_lost_when_the_process_is_killed(tmp_path, version):
    stored, kills, rng = tmp_path / "stored", 3, random.Random(7)
    stored.touch()
    sent = 0

    async def send(client):
        nonlocal sent
        while True:
            await client.publish("lab/co2", payload_at(sent, sent), qos=1)
            sent += 1
            await asyncio.sleep(0.001)

    async def main(server):
        child = start_process(server, version, stored)
        try:
            async with device(server) as client, recording(server, "occupair/status") as recorder:
                await until(lambda: recorder.last("occupair/status") == "online")
                sending = asyncio.create_task(send(client))
                for _ in range(kills):
                    size = stored.stat().st_size
                    await until(lambda size=size: stored.stat().st_size > size)
                    await asyncio.sleep(rng.uniform(0, 0.1))
                    child.send_signal(signal.SIGKILL)
                    child.wait()
                    child = start_process(server, version, stored)
                sending.cancel()
                await until(lambda: set(stored.read_text().split()) >= {str(k) for k in range(sent)})
                await until(lambda: recorder.last("occupair/status") == "online")
                assert recorder.of("occupair/status").count("offline") == kills  # the will, after each kill
        finally:
            child.kill()
            child.wait()
        assert sent > 100 * kills

    with mosquitto_server() as server:
        asyncio.run(main(server))


@both_versions
def test_slow_store_receives_batches(server, version):
    async def main():
        pipeline = FakePipeline()
        pipeline.delay = 0.02
        async with running(make_bridge(server, version=version), pipeline):
            await publish(server, *(("lab/co2", payload_at(k)) for k in range(3000)))
            await until(lambda: len(pipeline.stored) == 3000)
        assert pipeline.minutes() == list(range(3000))
        assert len(pipeline.batches) < 1500
        assert max(pipeline.batches) > 1

    asyncio.run(main())


def test_readings_are_submitted_while_the_store_is_blocked(server):
    async def main():
        pipeline = FakePipeline()
        pipeline.gate.clear()
        async with running(make_bridge(server), pipeline):
            await publish(server, *(("lab/co2", payload_at(k)) for k in range(200)))
            await until(lambda: len(pipeline.submitted) >= 200)  # more than the default receive maximum of 20
            assert pipeline.stored == []
            pipeline.gate.set()
            await until(lambda: len(set(pipeline.minutes())) == 200)

    asyncio.run(main())


def test_messages_are_acknowledged_in_order(server, monkeypatch):
    acknowledged = []
    monkeypatch.setattr(
        broker_client.BrokerClient,
        "acknowledge",
        lambda self, messages: acknowledged.extend(message.mid for message in messages),
    )

    async def main():
        pipeline = FakePipeline()
        rng = random.Random(3)

        async def submit(readings):
            await asyncio.sleep(rng.uniform(0, 0.05))

        pipeline.submit = submit
        async with running(make_bridge(server), pipeline):
            async with device(server) as client:
                for k in range(100):
                    await client.publish("lab/co2", payload_at(k), qos=1)
            await until(lambda: len(acknowledged) >= 100)

    asyncio.run(main())
    mids = [mid for mid in acknowledged if mid]
    assert mids == sorted(mids)


def test_reading_that_cannot_be_stored_is_dropped(server, caplog, monkeypatch):
    monkeypatch.setattr(submission, "FIRST_PAUSE", 0.01)

    def fail(readings):
        if any(reading.co2 == 13 for reading in readings):
            raise RuntimeError("a bug")

    async def main():
        pipeline = FakePipeline()
        pipeline.check = fail
        await publish(server, ("lab/co2", "x"))
        async with proxy_to(server) as proxy, running(make_bridge(server, port=proxy.port), pipeline):
            await publish(server, *(("lab/co2", payload_at(k, 13 if k == 7 else 500)) for k in range(20)))
            await until(lambda: len(pipeline.stored) == 19)
            await until(lambda: acknowledged(server, "lab/co2"))
            assert "dropped 1 readings" in caplog.text
            tries = len(pipeline.submitted)
            await proxy.cut()
            proxy.restore()
            await publish(server, ("lab/co2", payload_at(20)))
            await until(lambda: len(pipeline.stored) == 20)
            assert len(pipeline.submitted) == tries + 1  # it was acknowledged, so it is not resent

    asyncio.run(main())


@pytest.mark.parametrize(
    ("error", "health"),
    [
        (RuntimeError("no store"), "cannot be reached"),
        (BacklogFull("200000 readings are waiting for the store"), "ok"),
    ],
)
def test_no_reading_is_dropped_while_the_store_fails(server, caplog, monkeypatch, error, health):
    monkeypatch.setattr(submission, "FIRST_PAUSE", 0.01)

    def fail(readings):
        raise error

    async def main():
        pipeline = FakePipeline()
        pipeline.check, pipeline.part_status = fail, {"store": health}
        async with running(make_bridge(server), pipeline):
            await publish(server, *(("lab/co2", payload_at(k)) for k in range(3)))
            await until(lambda: len(pipeline.batches) > 12)
            pipeline.check, pipeline.part_status = None, {"store": "ok"}
            await until(lambda: pipeline.minutes() == [0, 1, 2])

    asyncio.run(main())
    assert "dropped" not in caplog.text
    assert len(re.findall("could not store .* retrying", caplog.text)) == 1  # not at every try


# ---- invalid payloads ----


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


def test_only_qos_0_messages_are_dropped_in_a_flood(monkeypatch, caplog):
    monkeypatch.setattr(broker_client, "MAX_QOS0_BACKLOG", 5)

    async def main():
        client = broker_client.BrokerClient(MqttConfig(host="127.0.0.1"), None)
        for qos in [0] * 9 + [1] * 4 + [0] * 3:
            message = MQTTMessage(topic=b"lab/co2")
            message.qos, message.payload = qos, b"500"
            client._on_message(None, None, message)
        assert [message.qos for message in await client.receive(limit=100)] == [0] * 5 + [1] * 4

    asyncio.run(main())
    assert caplog.text.count("arrive faster than they are stored") == 1


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


def test_full_batch_queue_loses_nothing(server, monkeypatch):
    monkeypatch.setattr(receiver, "MAX_BATCHES", 3)
    monkeypatch.setattr(receiver, "BATCH_SIZE", 2)

    async def main():
        async with proxy_to(server) as proxy:
            pipeline = FakePipeline()
            pipeline.gate.clear()
            async with running(make_bridge(server, port=proxy.port), pipeline):
                await publish(server, *(("lab/co2", payload_at(k)) for k in range(60)))
                # one batch awaits its acknowledgement, three are queued, one waits for a place
                await until(lambda: len(pipeline.batches) == 5)
                await proxy.cut()
                await until(lambda: pipeline.mqtt_status != "connected")  # noticed although the queue is full
                proxy.restore()
                pipeline.gate.set()
                await until(lambda: sorted(set(pipeline.minutes())) == list(range(60)))

    asyncio.run(main())


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
            await publish(server, ("lab/co2", b"[" * 2_000_000), ("bare/co2", b"9" * 1_000_000))
            await publish(server, ("lab/co2", payload_at(777, 777)))
            await until(lambda: any(reading.co2 == 777 for reading in pipeline.stored))
            assert pipeline.mqtt_status == "connected"
            assert pipeline.counters["mqtt", ReadingOutcome.NONSENSE] > 1000
        assert server.log.count("New client connected from 127.0.0.1") >= 1
        assert server.log.count(" as occupair (") == 1  # connected once

    asyncio.run(main())
