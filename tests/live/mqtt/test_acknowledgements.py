"""Messages of a real mosquitto are acknowledged once stored, so that no reading is lost."""

import asyncio
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
    FakePipeline,
    acknowledged,
    both_versions,
    device,
    make_bridge,
    payload_at,
    proxy_to,
    publish,
    recording,
    running,
)
from live.waiting import until
from paho.mqtt.client import MQTTMessage

from occupair.live import submission
from occupair.live.config import MqttConfig
from occupair.live.mqtt import client as broker_client
from occupair.live.mqtt import receiver
from occupair.live.room_pipeline import BacklogFull

pytestmark = need_mosquitto

TESTS = Path(__file__).parents[2]


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
