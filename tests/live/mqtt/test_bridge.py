"""The MQTT bridge on a real mosquitto: connecting, reconnecting, TLS, stopping."""

import asyncio
import logging
import random

import aiomqtt
import pytest
from live.mosquitto import mosquitto_server, need_mosquitto
from live.mqtt_helpers import (
    FakePipeline,
    both_versions,
    device,
    make_bridge,
    payload_at,
    proxy_to,
    publish,
    running,
    state,
)
from live.waiting import until
from pydantic import SecretStr

from occupair.live.mqtt import bridge as mqtt_bridge
from occupair.live.mqtt import client as broker_client

pytestmark = need_mosquitto


def test_reconnects_with_increasing_delay(caplog):
    async def main():
        with mosquitto_server() as server:
            async with proxy_to(server) as proxy:
                await proxy.cut()
                pipeline = FakePipeline()
                task = asyncio.create_task(make_bridge(server, port=proxy.port).run(pipeline))
                await until(lambda: proxy.connections >= 8)
                assert pipeline.mqtt_status.startswith("no link: ")
                proxy.restore()
                await until(lambda: pipeline.mqtt_status == "connected")
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task

    with caplog.at_level(logging.INFO, "occupair.live.mqtt"):
        asyncio.run(main())
    pauses = [record.args[2] for record in caplog.records if record.msg.startswith("no connection to")]
    for k, pause in enumerate(pauses):
        longest = min(0.05 * 2**k, 0.2)
        assert 0.5 * longest <= pause <= longest
    assert "connected to 127.0.0.1" in caplog.text


def test_connects_when_the_broker_starts_later(caplog):
    async def main():
        with mosquitto_server() as server:
            server.stop()
            pipeline = FakePipeline()
            task = asyncio.create_task(make_bridge(server).run(pipeline))
            await until(lambda: "refused" in pipeline.mqtt_status)
            server.start()
            await until(lambda: pipeline.mqtt_status == "connected")
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(main())


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # by paho on a TLS failure
@both_versions
def test_tls_and_password(version, caplog):
    async def main():
        with mosquitto_server(tls=True, users={"occupair": "open sesame"}) as server:
            pipeline = FakePipeline()
            settings = {"version": version, "tls": True, "ca_file": server.ca_file, "user": "occupair"}
            right = make_bridge(server, password=SecretStr("open sesame"), **settings)
            async with running(right, pipeline):
                tls = aiomqtt.TLSParameters(ca_certs=str(server.ca_file))
                credentials = {"username": "occupair", "password": "open sesame", "tls_params": tls}
                async with device(server, **credentials) as client:
                    await client.publish("lab/co2", payload_at(1), qos=1)
                await until(lambda: pipeline.stored)
            refused = FakePipeline()
            wrong = make_bridge(server, password=SecretStr("hunter22"), client_id="other", **settings)
            task = asyncio.create_task(wrong.run(refused))
            await until(lambda: "ot authori" in refused.mqtt_status)
            task.cancel()
            untrusted = FakePipeline()
            task = asyncio.create_task(make_bridge(server, tls=True, client_id="third").run(untrusted))
            await until(lambda: "certificate" in untrusted.mqtt_status.lower())
            task.cancel()

    with caplog.at_level(logging.DEBUG):
        asyncio.run(main())
    assert "sesame" not in caplog.text
    assert "hunter22" not in caplog.text


@both_versions
def test_client_certificate(version):
    async def main():
        with mosquitto_server(tls=True, client_certificates=True) as server:
            pipeline = FakePipeline()
            settings = {"version": version, "tls": True, "ca_file": server.ca_file}
            task = asyncio.create_task(make_bridge(server, **settings).run(pipeline))
            await until(lambda: pipeline.mqtt_status.startswith("no link: "))
            task.cancel()
            shown = {"cert_file": server.ca_file, "key_file": server.key_file}
            async with running(make_bridge(server, **settings, **shown), FakePipeline()) as task:
                assert not task.done()

    asyncio.run(main())


def test_missing_certificate_is_reported_and_retried(server, tmp_path):
    async def main():
        pipeline = FakePipeline()
        task = asyncio.create_task(make_bridge(server, tls=True, ca_file=tmp_path / "none.pem").run(pipeline))
        await until(lambda: "No such file" in pipeline.mqtt_status)
        assert not task.done()
        task.cancel()

    asyncio.run(main())


def test_lost_session_is_logged(caplog):
    async def main():
        with mosquitto_server(extra="persistent_client_expiration 1h") as server:
            pipeline = FakePipeline()
            async with running(make_bridge(server), pipeline):
                server.stop()
                (server.folder / "mosquitto.db").unlink()
                server.start()
                await until(lambda: "lost the session" in caplog.text)
                await publish(server, ("lab/co2", payload_at(1)))
                await until(lambda: pipeline.stored)

    asyncio.run(main())


def test_refused_subscription_is_logged(server, caplog, monkeypatch):
    async def refuse(self, topics, **_):
        return [0x87 if topic == "lab/fan" else 1 for topic, _ in topics]

    monkeypatch.setattr(broker_client.BrokerClient, "subscribe", refuse)

    async def main():
        async with running(make_bridge(server), FakePipeline()):
            await until(lambda: "refused the subscription to lab/fan" in caplog.text)

    asyncio.run(main())
    assert "refused the subscription to lab/co2" not in caplog.text


def test_silent_connection_times_out(server, monkeypatch):
    monkeypatch.setattr(broker_client, "KEEPALIVE", 1)

    async def main():
        async with proxy_to(server) as proxy:
            pipeline = FakePipeline()
            async with running(make_bridge(server, port=proxy.port), pipeline):
                proxy.pause()
                await until(lambda: pipeline.mqtt_status != "connected")
                await proxy.cut()
                proxy.resume()
                proxy.restore()
                await publish(server, ("lab/co2", payload_at(1)))
                await until(lambda: pipeline.stored)

    asyncio.run(main())


@both_versions
def test_can_be_cancelled_at_any_moment(server, version):
    rng = random.Random(11)

    async def main():
        pipeline = FakePipeline([state()])
        async with proxy_to(server) as proxy, device(server) as client:
            for k in range(60):
                if k % 10 == 9:
                    await proxy.cut()
                task = asyncio.create_task(
                    make_bridge(server, port=proxy.port, version=version).run(pipeline)
                )
                await client.publish("lab/co2", payload_at(k), qos=1)
                await asyncio.sleep(rng.uniform(0, 0.03))
                task.cancel()
                done, _ = await asyncio.wait([task], timeout=60)
                assert done
                assert task.cancelled()
                proxy.restore()
            async with running(make_bridge(server, version=version), pipeline):
                await until(
                    lambda: set(pipeline.minutes()) == set(range(60)) - sent_before_subscribing(pipeline)
                )

    def sent_before_subscribing(pipeline):
        return set(range(min(pipeline.minutes(), default=60)))

    asyncio.run(main())


@pytest.mark.parametrize("silent_from", ["the start", "later"])
def test_stops_although_the_broker_does_not_respond(server, monkeypatch, silent_from):
    monkeypatch.setattr(mqtt_bridge, "GOODBYE_TIMEOUT", 0.2)
    monkeypatch.setattr(broker_client, "TIMEOUT", 3600.0)

    async def main():
        async with proxy_to(server) as proxy:
            pipeline = FakePipeline([state()])
            if silent_from == "the start":
                proxy.pause()
            task = asyncio.create_task(make_bridge(server, port=proxy.port).run(pipeline))
            await until(lambda: proxy.connections and (proxy.paused or pipeline.mqtt_status == "connected"))
            await asyncio.sleep(0.1)
            proxy.pause()
            task.cancel()
            done, _ = await asyncio.wait([task], timeout=60)
            assert done
            assert task.cancelled()

    asyncio.run(main())


def test_unexpected_error_is_logged_and_the_bridge_reconnects(server, caplog):
    async def main():
        pipeline = FakePipeline()
        subscribe, pipeline.subscribe = pipeline.subscribe, None
        task = asyncio.create_task(make_bridge(server).run(pipeline))
        await until(lambda: "unexpected error on the MQTT connection" in caplog.text)
        pipeline.subscribe = subscribe
        await publish(server, ("lab/co2", payload_at(1)))
        await until(lambda: pipeline.stored and pipeline.mqtt_status == "connected")
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())


@both_versions
def test_second_client_with_the_same_id_is_named(version, caplog):
    hint = "another client with the client id 'twin'"

    async def main():
        with mosquitto_server() as server:
            bridges = [make_bridge(server, version=version, client_id="twin") for _ in range(2)]
            tasks = [asyncio.create_task(bridge.run(FakePipeline())) for bridge in bridges]
            await until(lambda: hint in caplog.text)
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

    asyncio.run(main())


def test_broker_restarts_do_not_look_like_a_second_client(monkeypatch):
    monkeypatch.setattr(mqtt_bridge, "MAX_SHORT_CONNECTIONS", 2)

    async def main():
        with mosquitto_server() as server:
            pipeline, seen = FakePipeline(), []
            task = asyncio.create_task(make_bridge(server).run(pipeline))
            for _ in range(3):
                await until(lambda: pipeline.mqtt_status == "connected")
                server.stop()
                await until(lambda: "refused" in pipeline.mqtt_status)
                seen.append(pipeline.mqtt_status)
                server.start()
            task.cancel()
            await asyncio.wait([task])
            assert not any("another client" in status for status in seen)

    asyncio.run(main())


def test_session_taken_over_is_named():
    """As brokers do that send the reason code 0x8E of MQTT 5."""

    async def take_over(reader, writer):
        await reader.read(4096)
        writer.write(bytes.fromhex("2003000000") + bytes.fromhex("e0028e00"))  # CONNACK, DISCONNECT
        await writer.drain()
        writer.close()

    async def main():
        broker = await asyncio.start_server(take_over, "127.0.0.1", 0)
        pipeline = FakePipeline()
        bridge = make_bridge(None, port=broker.sockets[0].getsockname()[1])
        task = asyncio.create_task(bridge.run(pipeline))
        expected = (
            "no link: another client with the client id 'occupair' has connected: stop it, or set another"
        )
        await until(lambda: pipeline.mqtt_status.startswith(expected))
        task.cancel()
        await asyncio.wait([task])
        broker.close()

    asyncio.run(main())
