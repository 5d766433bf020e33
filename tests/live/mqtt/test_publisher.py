"""Publishing states and Home Assistant discovery to a real mosquitto."""

import asyncio
import json

from live.mosquitto import mosquitto_server, need_mosquitto
from live.mqtt_helpers import (
    LAB,
    FakePipeline,
    both_versions,
    make_bridge,
    payload_at,
    proxy_to,
    publish,
    recording,
    running,
    state,
)
from live.waiting import until

from occupair.live.config import RoomConfig, Topic
from occupair.live.room_shards import Shard

pytestmark = need_mosquitto


@both_versions
def test_states_and_service_status_are_retained(server, version):
    async def main():
        pipeline = FakePipeline([state(people=3), state("unknown", people=1)])
        async with running(make_bridge(server, version=version), pipeline):
            async with recording(server, "occupair/#") as recorder:
                await until(lambda: recorder.last("occupair/lab/state") is not None)
                await until(lambda: recorder.last("occupair/status") == "online")
                assert json.loads(recorder.last("occupair/lab/state"))["people"] == 3
                pipeline.change_state(state(people=None))
                await until(lambda: json.loads(recorder.last("occupair/lab/state"))["people"] is None)
            async with recording(server, "occupair/#") as recorder:
                await until(lambda: len(recorder.messages) == 3)
                assert all(retained for _, _, retained in recorder.messages)
                assert json.loads(recorder.last("occupair/lab/state"))["occupied"] is None
                assert recorder.last("occupair/lab/availability") == "online"
                assert recorder.last("occupair/unknown/state") is None
        async with recording(server, "occupair/status") as recorder:
            await until(lambda: recorder.messages)
            assert recorder.messages == [("occupair/status", "offline", True)]

    asyncio.run(main())


def test_broker_publishes_offline_when_the_connection_is_lost(server):
    async def main():
        async with (
            proxy_to(server) as proxy,
            recording(server, "occupair/status") as recorder,
            running(make_bridge(server, port=proxy.port), FakePipeline()),
        ):
            await until(lambda: recorder.of("occupair/status") == ["online"])
            await proxy.cut()
            await until(lambda: recorder.of("occupair/status") == ["online", "offline"])
            proxy.restore()
            await until(lambda: recorder.last("occupair/status") == "online")

    asyncio.run(main())


def test_slow_connection_sends_only_the_newest_state_of_each_room(server):
    rooms = [RoomConfig(id=f"r{k}") for k in range(100)]

    async def main():
        async with proxy_to(server) as proxy, recording(server, "occupair/+/state") as recorder:
            pipeline = FakePipeline([state(room.id, 0) for room in rooms])
            async with running(make_bridge(server, rooms, port=proxy.port), pipeline):
                await until(lambda: len(recorder.messages) == 100)
                proxy.pause()
                for people in range(1, 51):
                    for room in rooms:
                        pipeline.change_state(state(room.id, people))
                    await asyncio.sleep(0)
                proxy.resume()
                await until(
                    lambda: all(
                        json.loads(recorder.last(f"occupair/{room.id}/state"))["people"] == 50
                        for room in rooms
                    )
                )
                await asyncio.sleep(0.1)
        assert len(recorder.messages) <= 100 + 2 * 100

    asyncio.run(main())


def test_receive_maximum_of_the_broker_is_respected():
    rooms = [RoomConfig(id=f"r{k}") for k in range(200)]

    async def main():
        with mosquitto_server(extra="max_inflight_messages 2") as server:
            async with recording(server, "occupair/+/state") as recorder:
                pipeline = FakePipeline([state(room.id, 0) for room in rooms])
                async with running(make_bridge(server, rooms), pipeline):
                    await until(lambda: len(recorder.messages) == 200)
            assert "receive maximum" not in server.log.lower()

    asyncio.run(main())


# ---- Home Assistant ----


@both_versions
def test_rooms_are_announced_again_when_home_assistant_starts(server, version):
    topic = "homeassistant/device/occupair_lab/config"

    async def main():
        async with (
            recording(server, "homeassistant/#") as recorder,
            running(make_bridge(server, version=version), FakePipeline([state()])),
        ):
            await until(lambda: len(recorder.of(topic)) == 1)
            await publish(server, ("homeassistant/status", "offline"))
            await publish(server, ("homeassistant/status", "online"))
            await until(lambda: len(recorder.of(topic)) == 2)
        one, two = recorder.of(topic)
        assert one == two
        assert set(json.loads(one)["components"]) == {"people", "occupied", "co2"}
        async with recording(server, topic) as recorder:
            await until(lambda: recorder.messages)
            assert recorder.messages[0][2]

    asyncio.run(main())


def test_discovery_can_be_turned_off(server):
    async def main():
        async with (
            recording(server, "#") as recorder,
            running(make_bridge(server, discovery=False), FakePipeline([state()])),
        ):
            await until(lambda: recorder.last("occupair/lab/state"))
        assert not [topic for topic, *_ in recorder.messages if topic.startswith("homeassistant")]

    asyncio.run(main())


def test_removed_room_is_cleared_with_empty_payloads(server):
    other = RoomConfig(id="office", co2=Topic(topic="office/co2"))
    topics = ["homeassistant/device/occupair_lab/config", "occupair/lab/state", "occupair/lab/availability"]

    async def main():
        pipeline = FakePipeline([state(), state("office")])
        bridge = make_bridge(server, [LAB, other])
        async with recording(server, "homeassistant/#", "occupair/#") as recorder, running(bridge, pipeline):
            await until(lambda: all(recorder.last(topic) for topic in topics))
            bridge.remove_room("lab")
            await until(lambda: all(recorder.last(topic) == "" for topic in topics))
            pipeline.change_state(state(people=5))
            pipeline.change_state(state("office", people=5))
            await until(lambda: '"people": 5' in recorder.last("occupair/office/state"))
        assert recorder.last("occupair/lab/state") == ""
        assert recorder.last("occupair/office/availability") == "online"

    asyncio.run(main())


@both_versions
def test_rooms_removed_before_a_restart_are_cleared_and_unsubscribed(server, version):
    other = RoomConfig(id="office", co2=Topic(topic="office/co2", shape="json", path="co2", time_path="at"))
    topics = ["homeassistant/device/occupair_lab/config", "occupair/lab/state", "occupair/lab/availability"]

    async def main():
        async with (
            running(make_bridge(server, [LAB, other], version=version), FakePipeline([state()])),
            recording(server, "#") as recorder,
        ):
            await until(lambda: all(recorder.last(topic) for topic in topics))
        await publish(server, ("lab/co2", payload_at(1)), ("office/co2", payload_at(2)))
        pipeline = FakePipeline()
        async with running(make_bridge(server, [other], version=version), pipeline):
            await until(lambda: pipeline.minutes() == [2])
            await until(lambda: "Received UNSUBSCRIBE from occupair" in server.log)
            async with recording(server, "#") as recorder:
                await until(lambda: recorder.last("occupair/office/availability") == "online")
                await asyncio.sleep(0.1)
                assert not any(recorder.last(topic) for topic in topics)

    asyncio.run(main())


# ---- shards ----


def test_shards_share_a_broker_and_announce_their_own_rooms(server):
    """Lab belongs to 1/2, hall to 2/2; of two rooms that were removed, each shard clears its own."""
    one, two = Shard(1, 2), Shard(2, 2)
    removed = {"attic": one, "office": two}
    assert all(shard.owns(room) for room, shard in removed.items())
    shared = Topic(topic="bms/fan")
    rooms = [
        RoomConfig(id=room, co2=Topic(topic=f"z/{room}"), temperature=shared) for room in ("lab", "hall")
    ]

    async def main():
        await publish(server, *((f"occupair/{room}/availability", "online") for room in removed), retain=True)
        lab, hall = FakePipeline([state("lab")]), FakePipeline([state("hall")])
        async with recording(server, "occupair/#", "homeassistant/#") as recorder:
            async with running(make_bridge(server, rooms[:1], shard=one), lab):
                await until(lambda: recorder.last("occupair/attic/availability") == "")
                await until(lambda: recorder.last("occupair/status/1-of-2") == "online")
                assert recorder.last("occupair/office/availability") == "online"
                async with running(make_bridge(server, rooms[1:], shard=two), hall):
                    await until(lambda: recorder.last("occupair/office/availability") == "")
                    await until(lambda: recorder.last("occupair/status/2-of-2") == "online")
                    await until(lambda: recorder.last("occupair/hall/state") is not None)
                    await publish(server, ("bms/fan", "21.5"))  # both receive a topic that both use
                    await until(lambda: lab.stored and hall.stored)
                    assert (lab.stored[0].room, hall.stored[0].room) == ("lab", "hall")
                await until(lambda: recorder.last("occupair/status/2-of-2") == "offline")
                assert recorder.last("occupair/status/1-of-2") == "online"
            for room in ("lab", "hall"):
                assert recorder.of(f"occupair/{room}/availability") == ["online"]
                config = json.loads(recorder.last(f"homeassistant/device/occupair_{room}/config"))
                number = 1 if room == "lab" else 2
                assert {"topic": f"occupair/status/{number}-of-2"} in config["availability"]
        for shard in ("1-of-2", "2-of-2"):
            assert f"as occupair-{shard} (" in server.log

    asyncio.run(main())
