"""Readings in by a real mosquitto: none is lost, and nothing that comes stops the link."""

import asyncio
import datetime as dt
import json
import logging
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from live.mosquitto import mosquitto_server, need_mosquitto
from live.mqtt_parts import (
    LAB,
    FakePipeline,
    acknowledged,
    at,
    both_versions,
    device,
    line_to,
    link_to,
    publish,
    running,
    state,
    told,
    watching,
)
from live.waiting import until
from paho.mqtt.client import MQTTMessage

from occupair.live.config import MqttConfig, RoomConfig, Topic, VentilationTopic
from occupair.live.messages import ReadingOutcome
from occupair.live.mqtt import client as mqtt_client
from occupair.live.mqtt import intake as mqtt_in
from occupair.live.pipeline import BacklogFull

pytestmark = need_mosquitto


TESTS = Path(__file__).parents[2]


def readings_of(pipeline):
    return [(reading.room, reading.time, reading.co2, reading.ventilation) for reading in pipeline.kept]


@both_versions
def test_readings_come_in_with_their_room_value_and_time(server, version):
    async def main():
        pipeline = FakePipeline()
        async with running(link_to(server, version=version), pipeline):
            await publish(server, ("lab/co2", told(1, 700)), ("lab/fan", "40"))
            await publish(server, ("lab/co2", told(2, 710)), qos=0)
            await until(lambda: len(pipeline.kept) == 3)
        one, fan, two = sorted(pipeline.kept, key=lambda reading: reading.co2 or 705)
        assert (one.room, one.time, one.co2, one.ventilation) == ("lab", at(1), 700.0, None)
        assert (two.room, two.time, two.co2) == ("lab", at(2), 710.0)
        assert (fan.co2, fan.ventilation, fan.time) == (None, 0.4, fan.received)
        assert {reading.source for reading in pipeline.kept} == {"mqtt"}

    asyncio.run(main())


def test_one_message_with_both_is_one_reading_and_one_topic_may_serve_two_rooms(server):
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
        async with running(link_to(server, rooms), pipeline):
            await publish(server, ("all", json.dumps(message)))
            await until(lambda: len(pipeline.kept) == 2)
        assert readings_of(pipeline) == [("a", at(0), 500.0, 0.5), ("b", at(0), 600.0, None)]

    asyncio.run(main())


@both_versions
def test_what_is_retained_is_old_news_unless_it_says_when(server, version):
    async def main():
        await publish(server, ("lab/co2", told(5)), ("lab/fan", "80"), retain=True)
        pipeline = FakePipeline()
        async with running(link_to(server, version=version), pipeline):
            await until(lambda: pipeline.kept)
            await publish(server, ("lab/fan", "20"), retain=True)
            await until(lambda: len(pipeline.kept) == 2)
        assert readings_of(pipeline)[0] == ("lab", at(5), 812.0, None)
        assert pipeline.kept[1].ventilation == 0.2

    asyncio.run(main())


def test_readings_without_a_time_never_share_one(server):
    bare = RoomConfig(id="lab", co2=Topic(topic="lab/co2"))

    async def main():
        pipeline = FakePipeline()
        async with running(link_to(server, [bare]), pipeline):
            await publish(server, *(("lab/co2", str(400 + k)) for k in range(500)))
            await until(lambda: len(pipeline.kept) == 500)
        times = [reading.time for reading in pipeline.kept]
        assert times == sorted(set(times))
        assert [reading.co2 for reading in pipeline.kept] == [400.0 + k for k in range(500)]

    asyncio.run(main())


def test_no_reading_is_counted_and_logged_once(server, caplog):
    async def main():
        pipeline = FakePipeline()
        async with running(link_to(server), pipeline):
            await publish(server, *[("lab/co2", "nan")] * 40, ("lab/co2", told(1)))
            await until(lambda: pipeline.kept)
        assert pipeline.counters["mqtt", ReadingOutcome.NONSENSE] == 40

    with caplog.at_level(logging.WARNING, "occupair.live.mqtt.link"):
        asyncio.run(main())
    assert [record.getMessage() for record in caplog.records if "no reading" in record.message] == [
        "no reading: lab/co2: must be JSON, got 'nan'"
    ]


def test_messages_about_something_else_are_passed_over_once_the_topic_has_brought_co2(caplog):
    rooms = {"lab": RoomConfig(id="lab", co2=Topic(topic="z/lab", shape="zigbee2mqtt"))}
    translator = mqtt_in.Translator(rooms)

    def came(payload):
        arrived = mqtt_client.Arrived("z/lab", payload, 1, False, 1, at(0))
        return [reading.co2 for reading in translator.readings([arrived])]

    with caplog.at_level(logging.WARNING, "occupair.live.mqtt.link"):
        assert came(b'{"battery":97,"linkquality":120}') == []
        assert (translator.refused, len(caplog.records)) == (1, 1)
        assert came(b'{"co2":812,"humidity":41.2}') == [812.0]
        assert came(b'{"co2":null,"humidity":43}') == came(b'{"battery":97}') == []
        assert (translator.refused, len(caplog.records)) == (1, 1)
        assert came(b'{"co2":"much"}') == []
        assert translator.refused == 2


# ---- acknowledged when kept, and not before ----


@both_versions
def test_what_is_not_kept_when_the_link_breaks_comes_again(server, version):
    async def main():
        async with line_to(server) as line:
            pipeline = FakePipeline()
            pipeline.gate.clear()
            async with running(link_to(server, port=line.port, version=version), pipeline):
                await publish(server, *(("lab/co2", told(k)) for k in range(5)))
                await until(lambda: len(pipeline.begun) == 5)
                await line.cut()
                await until(lambda: pipeline.mqtt_status != "connected")
                assert pipeline.kept == []
                pipeline.gate.set()
                line.mend()
                await until(lambda: len(pipeline.kept) == 5)
                assert pipeline.minutes() == [0, 1, 2, 3, 4]
                assert len(pipeline.begun) == 10
                await until(lambda: acknowledged(server, "lab/co2"))
                await line.cut()
                line.mend()
                await publish(server, ("lab/co2", told(9)))
                await until(lambda: 9 in pipeline.minutes())
        assert pipeline.minutes() == [0, 1, 2, 3, 4, 9]  # what was acknowledged did not come a third time

    asyncio.run(main())


@both_versions
def test_nothing_is_lost_that_was_sent_while_the_link_was_down_or_the_broker_restarted(server, version):
    async def main():
        async with line_to(server) as line:
            pipeline = FakePipeline()
            async with running(link_to(server, port=line.port, version=version), pipeline):
                await publish(server, ("lab/co2", told(0)))
                await until(lambda: len(pipeline.kept) == 1)
                await line.cut()
                await publish(server, *(("lab/co2", told(k)) for k in range(1, 1500)))
                server.restart()
                await publish(server, *(("lab/co2", told(k)) for k in range(1500, 1600)))
                line.mend()
                await until(lambda: len(pipeline.kept) >= 1600)
                server.restart()  # and once more under an open link
                await publish(server, *(("lab/co2", told(k)) for k in range(1600, 1650)))
                await until(lambda: len(set(pipeline.minutes())) >= 1650)
        assert sorted(set(pipeline.minutes())) == list(range(1650))

    asyncio.run(main())


def run_child(server, version, path):
    command = [sys.executable, str(TESTS / "live/mqtt_child.py"), str(server.port), version, str(path)]
    return subprocess.Popen(command, env=os.environ | {"PYTHONPATH": str(TESTS)})


@both_versions
def test_nothing_is_lost_when_the_process_is_killed_again_and_again(tmp_path, version):
    kept, kills, chance = tmp_path / "kept", 3, random.Random(7)
    kept.touch()
    sent = 0

    async def send(client):
        nonlocal sent
        while True:
            await client.publish("lab/co2", told(sent, sent), qos=1)
            sent += 1
            await asyncio.sleep(0.001)

    async def main(server):
        child = run_child(server, version, kept)
        try:
            async with device(server) as client, watching(server, "occupair/status") as watcher:
                await until(lambda: watcher.last("occupair/status") == "online")
                sending = asyncio.create_task(send(client))
                for _ in range(kills):
                    size = kept.stat().st_size
                    await until(lambda size=size: kept.stat().st_size > size)
                    await asyncio.sleep(chance.uniform(0, 0.1))
                    child.send_signal(signal.SIGKILL)
                    child.wait()
                    child = run_child(server, version, kept)
                sending.cancel()
                await until(lambda: set(kept.read_text().split()) >= {str(k) for k in range(sent)}, 20)
                await until(lambda: watcher.last("occupair/status") == "online")
                assert (
                    watcher.of("occupair/status").count("offline") == kills
                )  # the broker told of each death
        finally:
            child.kill()
            child.wait()
        assert sent > 100 * kills

    with mosquitto_server() as server:
        asyncio.run(main(server))


@both_versions
def test_a_slow_store_stalls_nothing_and_what_has_come_is_kept_together(server, version):
    async def main():
        pipeline = FakePipeline()
        pipeline.pause = 0.02
        async with running(link_to(server, version=version), pipeline):
            await publish(server, *(("lab/co2", told(k)) for k in range(3000)))
            await until(lambda: len(pipeline.kept) == 3000)
        assert pipeline.minutes() == list(range(3000))
        assert len(pipeline.batches) < 1500
        assert max(pipeline.batches) > 1

    asyncio.run(main())


def test_estimates_go_on_while_the_store_takes_nothing(server):
    async def main():
        pipeline = FakePipeline()
        pipeline.gate.clear()
        async with running(link_to(server), pipeline):
            await publish(server, *(("lab/co2", told(k)) for k in range(200)))
            await until(lambda: len(pipeline.begun) >= 200)  # 20 may be in flight, unless one says more
            assert pipeline.kept == []
            pipeline.gate.set()
            await until(lambda: len(set(pipeline.minutes())) == 200)

    asyncio.run(main())


def test_acknowledgements_are_in_the_order_of_the_messages(server, monkeypatch):
    acknowledged = []
    monkeypatch.setattr(
        mqtt_client.BrokerClient,
        "acknowledge",
        lambda self, messages: acknowledged.extend(message.mid for message in messages),
    )

    async def main():
        pipeline = FakePipeline()
        chance = random.Random(3)

        async def submit(readings):
            await asyncio.sleep(chance.uniform(0, 0.05))

        pipeline.submit = submit
        async with running(link_to(server), pipeline):
            async with device(server) as client:
                for k in range(100):
                    await client.publish("lab/co2", told(k), qos=1)
            await until(lambda: len(acknowledged) >= 100)

    asyncio.run(main())
    mids = [mid for mid in acknowledged if mid]
    assert mids == sorted(mids)


def test_a_reading_that_cannot_be_taken_stops_no_other(server, caplog, monkeypatch):
    monkeypatch.setattr(mqtt_in, "FIRST_PAUSE", 0.01)

    def fault(readings):
        if any(reading.co2 == 13 for reading in readings):
            raise RuntimeError("a bug")

    async def main():
        pipeline = FakePipeline()
        pipeline.fault = fault
        await publish(server, ("lab/co2", "x"))
        async with line_to(server) as line, running(link_to(server, port=line.port), pipeline):
            await publish(server, *(("lab/co2", told(k, 13 if k == 7 else 500)) for k in range(20)))
            await until(lambda: len(pipeline.kept) == 19)
            await until(lambda: acknowledged(server, "lab/co2"))
            assert "gave up 1 readings" in caplog.text
            tries = len(pipeline.begun)
            await line.cut()
            line.mend()
            await publish(server, ("lab/co2", told(20)))
            await until(lambda: len(pipeline.kept) == 20)
            assert len(pipeline.begun) == tries + 1  # it did not come again

    asyncio.run(main())


@pytest.mark.parametrize(
    ("error", "health"),
    [
        (RuntimeError("no store"), "cannot be reached"),
        (BacklogFull("200000 readings are waiting for the store"), "ok"),
    ],
)
def test_while_the_store_takes_nothing_nothing_is_given_up(server, caplog, monkeypatch, error, health):
    monkeypatch.setattr(mqtt_in, "FIRST_PAUSE", 0.01)

    def fault(readings):
        raise error

    async def main():
        pipeline = FakePipeline()
        pipeline.fault, pipeline.healthy = fault, {"store": health}
        async with running(link_to(server), pipeline):
            await publish(server, *(("lab/co2", told(k)) for k in range(3)))
            await until(lambda: len(pipeline.batches) > 12)
            pipeline.fault, pipeline.healthy = None, {"store": "ok"}
            await until(lambda: pipeline.minutes() == [0, 1, 2])

    asyncio.run(main())
    assert "gave up" not in caplog.text
    assert caplog.text.count("could not be taken, trying again") == 1  # said once, not at every try


# ---- nothing a sensor can send ----


def nonsense(chance):
    """Something that a broken device, or somebody with ill will, may send."""
    text = json.dumps(
        {"co2": chance.choice([None, [], {}, "x", True, -1e9, 812]), "at": chance.random() * 1e12}
    )
    kinds = (
        lambda: chance.randbytes(chance.randrange(200)),
        lambda: text.encode(),
        lambda: bytes(byte ^ (chance.random() < 0.05) * chance.randrange(256) for byte in text.encode()),
        lambda: b"[" * chance.randrange(5000),
        lambda: b'{"co2":' + b"9" * chance.randrange(6000) + b"}",
        lambda: chance.choice([b"", b"nan", b"null", b"-inf", b"\x00", b'{"co2":NaN}', b"\xff" * 9]),
        lambda: json.dumps({"co2": 500, "at": chance.choice(["", "x", "0001-01-01", -1, 1e99, []])}).encode(),
    )
    return chance.choice(kinds)()


def test_of_a_flood_only_messages_are_dropped_whose_sender_allows_it(monkeypatch, caplog):
    monkeypatch.setattr(mqtt_client, "MOST_UNSURE", 5)

    async def main():
        client = mqtt_client.BrokerClient(MqttConfig(host="127.0.0.1"), None)
        for qos in [0] * 9 + [1] * 4 + [0] * 3:
            message = MQTTMessage(topic=b"lab/co2")
            message.qos, message.payload = qos, b"500"
            client._on_message(None, None, message)
        assert [message.qos for message in await client.arrived(most=100)] == [0] * 5 + [1] * 4

    asyncio.run(main())
    assert caplog.text.count("come faster than they are kept") == 1


class Clock(dt.datetime):
    """Our clock, which tells what it is set to."""

    set_to = dt.datetime(2024, 1, 8, 9, tzinfo=dt.UTC)

    @classmethod
    def now(cls, tz=None):
        return cls.set_to


def test_messages_keep_their_order_and_follow_a_clock_that_is_put_back(monkeypatch):
    monkeypatch.setattr(
        mqtt_client, "dt", SimpleNamespace(datetime=Clock, timedelta=dt.timedelta, UTC=dt.UTC)
    )
    nine, microsecond = Clock.set_to, dt.timedelta(microseconds=1)

    async def main():
        client = mqtt_client.BrokerClient(MqttConfig(host="127.0.0.1"), None)
        for seconds in (0, 0, -5, -5.1, -3600, -3600, -3599):
            monkeypatch.setattr(Clock, "set_to", nine + dt.timedelta(seconds=seconds))
            message = MQTTMessage(topic=b"lab/co2")
            message.payload = b"500"
            client._on_message(None, None, message)
        return [message.received for message in await client.arrived(most=100)]

    eight = nine - dt.timedelta(hours=1)
    assert asyncio.run(main()) == [
        nine,
        nine + microsecond,
        nine - dt.timedelta(seconds=5),  # 5.000001 s back: it was put back
        nine - dt.timedelta(seconds=5) + microsecond,  # 0.1 s back: it is not
        eight,
        eight + microsecond,
        eight + dt.timedelta(seconds=1),
    ]


def test_a_full_queue_before_the_store_waits_and_loses_nothing(server, monkeypatch):
    monkeypatch.setattr(mqtt_in, "MOST_BATCHES", 3)
    monkeypatch.setattr(mqtt_in, "AT_ONCE", 2)

    async def main():
        async with line_to(server) as line:
            pipeline = FakePipeline()
            pipeline.gate.clear()
            async with running(link_to(server, port=line.port), pipeline):
                await publish(server, *(("lab/co2", told(k)) for k in range(60)))
                await until(lambda: len(pipeline.begun) >= 8)
                await line.cut()
                await until(lambda: pipeline.mqtt_status != "connected")  # noticed though it waits
                line.mend()
                pipeline.gate.set()
                await until(lambda: sorted(set(pipeline.minutes())) == list(range(60)))

    asyncio.run(main())


@both_versions
def test_after_thousands_of_random_payloads_a_good_reading_still_comes_through(server, version):
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
    chance = random.Random(5)

    async def main():
        pipeline = FakePipeline([state()])
        async with running(link_to(server, rooms, version=version), pipeline):
            for qos in (0, 1):
                await publish(
                    server, *((chance.choice(topics), nonsense(chance)) for _ in range(2000)), qos=qos
                )
            await publish(server, ("lab/co2", b"[" * 2_000_000), ("bare/co2", b"9" * 1_000_000))
            started = time.monotonic()
            await publish(server, ("lab/co2", told(777, 777)))
            await until(lambda: any(reading.co2 == 777 for reading in pipeline.kept))
            assert time.monotonic() - started < 5
            assert pipeline.mqtt_status == "connected"
            assert pipeline.counters["mqtt", ReadingOutcome.NONSENSE] > 1000
        assert server.log.count("New client connected from 127.0.0.1") >= 1
        assert server.log.count(" as occupair (") == 1  # one link, never lost

    asyncio.run(main())
