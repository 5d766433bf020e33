"""The link to a broker, on a real mosquitto: up, lost, refused, stopped."""

import asyncio
import logging
import random
import time

import aiomqtt
import pytest
from live.mosquitto import mosquitto_server, need_mosquitto
from live.mqtt_parts import (
    FakePipeline,
    both_versions,
    device,
    line_to,
    link_to,
    publish,
    running,
    state,
    told,
)
from live.waiting import until
from pydantic import SecretStr

from occupair.live.mqtt import client as mqtt_client
from occupair.live.mqtt import link as mqtt

pytestmark = need_mosquitto


def test_it_tries_for_ever_with_longer_and_longer_pauses(caplog):
    async def main():
        with mosquitto_server() as server:
            async with line_to(server) as line:
                await line.cut()
                pipeline = FakePipeline()
                task = asyncio.create_task(link_to(server, port=line.port).run(pipeline))
                await until(lambda: line.tries >= 8)
                assert pipeline.mqtt_status.startswith("no link: ")
                line.mend()
                await until(lambda: pipeline.mqtt_status == "connected")
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task

    with caplog.at_level(logging.INFO, "occupair.live.mqtt.link"):
        asyncio.run(main())
    pauses = [record.args[2] for record in caplog.records if record.msg.startswith("no link to")]
    for k, pause in enumerate(pauses):
        longest = min(0.05 * 2**k, 0.2)
        assert 0.5 * longest <= pause <= longest
    assert "connected to 127.0.0.1" in caplog.text


def test_no_broker_at_all(caplog):
    async def main():
        with mosquitto_server() as server:
            server.stop()
            pipeline = FakePipeline()
            task = asyncio.create_task(link_to(server).run(pipeline))
            await until(lambda: "refused" in pipeline.mqtt_status)
            server.start()
            await until(lambda: pipeline.mqtt_status == "connected")
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(main())


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # paho, where TLS fails
@both_versions
def test_tls_and_a_password(version, caplog):
    async def main():
        with mosquitto_server(tls=True, users={"occupair": "open sesame"}) as server:
            pipeline = FakePipeline()
            settings = {"version": version, "tls": True, "ca_file": server.ca_file, "user": "occupair"}
            right = link_to(server, password=SecretStr("open sesame"), **settings)
            async with running(right, pipeline):
                tls = aiomqtt.TLSParameters(ca_certs=str(server.ca_file))
                who = {"username": "occupair", "password": "open sesame", "tls_params": tls}
                async with device(server, **who) as client:
                    await client.publish("lab/co2", told(1), qos=1)
                await until(lambda: pipeline.kept)
            refused = FakePipeline()
            wrong = link_to(server, password=SecretStr("hunter22"), client_id="other", **settings)
            task = asyncio.create_task(wrong.run(refused))
            await until(lambda: "ot authori" in refused.mqtt_status)
            task.cancel()
            untrusted = FakePipeline()
            task = asyncio.create_task(link_to(server, tls=True, client_id="third").run(untrusted))
            await until(lambda: "certificate" in untrusted.mqtt_status.lower())
            task.cancel()

    with caplog.at_level(logging.DEBUG):
        asyncio.run(main())
    assert "sesame" not in caplog.text
    assert "hunter22" not in caplog.text


@both_versions
def test_a_certificate_of_ours(version):
    async def main():
        with mosquitto_server(tls=True, ask=True) as server:
            pipeline = FakePipeline()
            settings = {"version": version, "tls": True, "ca_file": server.ca_file}
            task = asyncio.create_task(link_to(server, **settings).run(pipeline))
            await until(lambda: pipeline.mqtt_status.startswith("no link: "))
            task.cancel()
            shown = {"cert_file": server.ca_file, "key_file": server.key_file}
            async with running(link_to(server, **settings, **shown), FakePipeline()) as task:
                assert not task.done()

    asyncio.run(main())


def test_a_certificate_that_is_not_there_is_said_and_tried_again(server, tmp_path):
    async def main():
        pipeline = FakePipeline()
        task = asyncio.create_task(link_to(server, tls=True, ca_file=tmp_path / "none.pem").run(pipeline))
        await until(lambda: "No such file" in pipeline.mqtt_status)
        assert not task.done()
        task.cancel()

    asyncio.run(main())


def test_a_broker_that_forgot_us_is_told_of(caplog):
    async def main():
        with mosquitto_server(more="persistent_client_expiration 1h") as server:
            pipeline = FakePipeline()
            async with running(link_to(server), pipeline):
                server.stop()
                (server.folder / "mosquitto.db").unlink()
                server.start()
                await until(lambda: "forgot our session" in caplog.text)
                await publish(server, ("lab/co2", told(1)))
                await until(lambda: pipeline.kept)

    asyncio.run(main())


def test_a_topic_that_the_broker_refuses_is_named(server, caplog, monkeypatch):
    async def refuse(self, topics, **_):
        return [0x87 if topic == "lab/fan" else 1 for topic, _ in topics]

    monkeypatch.setattr(mqtt_client.BrokerClient, "subscribe", refuse)

    async def main():
        async with running(link_to(server), FakePipeline()):
            await until(lambda: "does not let us read lab/fan" in caplog.text)

    asyncio.run(main())
    assert "does not let us read lab/co2" not in caplog.text


def test_a_link_that_is_silent_is_lost(server, monkeypatch):
    monkeypatch.setattr(mqtt_client, "KEEPALIVE", 1)

    async def main():
        async with line_to(server) as line:
            pipeline = FakePipeline()
            async with running(link_to(server, port=line.port), pipeline):
                line.hold()
                await until(lambda: pipeline.mqtt_status != "connected")
                await line.cut()
                line.let_go()
                line.mend()
                await publish(server, ("lab/co2", told(1)))
                await until(lambda: pipeline.kept)

    asyncio.run(main())


@both_versions
def test_it_can_be_stopped_at_any_moment(server, version):
    chance = random.Random(11)

    async def main():
        pipeline = FakePipeline([state()])
        async with line_to(server) as line, device(server) as client:
            for k in range(60):
                if k % 10 == 9:
                    await line.cut()
                task = asyncio.create_task(link_to(server, port=line.port, version=version).run(pipeline))
                await client.publish("lab/co2", told(k), qos=1)
                await asyncio.sleep(chance.uniform(0, 0.03))
                task.cancel()
                done, _ = await asyncio.wait([task], timeout=5)
                assert done
                assert task.cancelled()
                line.mend()
            async with running(link_to(server, version=version), pipeline):
                await until(lambda: set(pipeline.minutes()) == set(range(60)) - never_followed(pipeline))

    def never_followed(pipeline):
        return set(range(min(pipeline.minutes(), default=60)))  # sent before the first link was up

    asyncio.run(main())


@pytest.mark.parametrize("silent_from", ["the start", "later"])
def test_it_stops_soon_where_the_broker_does_not_answer(server, monkeypatch, silent_from):
    monkeypatch.setattr(mqtt, "GOODBYE", 0.2)

    async def main():
        async with line_to(server) as line:
            pipeline = FakePipeline([state()])
            if silent_from == "the start":
                line.hold()
            task = asyncio.create_task(link_to(server, port=line.port).run(pipeline))
            await until(lambda: line.tries and (line.held or pipeline.mqtt_status == "connected"))
            await asyncio.sleep(0.1)
            line.hold()
            task.cancel()
            started = time.monotonic()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert time.monotonic() - started < 2

    asyncio.run(main())


def test_a_bug_below_does_not_end_the_link(server, caplog):
    async def main():
        pipeline = FakePipeline()
        subscribe, pipeline.subscribe = pipeline.subscribe, None
        task = asyncio.create_task(link_to(server).run(pipeline))
        await until(lambda: "failed in a way it should not" in caplog.text)
        pipeline.subscribe = subscribe
        await publish(server, ("lab/co2", told(1)))
        await until(lambda: pipeline.kept and pipeline.mqtt_status == "connected")
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
