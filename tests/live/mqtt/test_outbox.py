"""Counts out by a real mosquitto, and how Home Assistant finds rooms."""

import asyncio
import json

from live.mosquitto import mosquitto_server, need_mosquitto
from live.mqtt_parts import (
    LAB,
    FakePipeline,
    both_versions,
    line_to,
    link_to,
    publish,
    running,
    state,
    told,
    watching,
)
from live.waiting import until

from occupair.live.config import RoomConfig, Topic

pytestmark = need_mosquitto


@both_versions
def test_states_are_retained_and_the_service_says_that_it_is_up_and_that_it_goes(server, version):
    async def main():
        pipeline = FakePipeline([state(people=3), state("gone", people=1)])
        async with running(link_to(server, version=version), pipeline):
            async with watching(server, "occupair/#") as watcher:
                await until(lambda: watcher.last("occupair/lab/state") is not None)
                await until(lambda: watcher.last("occupair/status") == "online")
                assert json.loads(watcher.last("occupair/lab/state"))["people"] == 3
                pipeline.say(state(people=None))
                await until(lambda: json.loads(watcher.last("occupair/lab/state"))["people"] is None)
            async with watching(server, "occupair/#") as watcher:
                await until(lambda: len(watcher.messages) == 3)
                assert all(retained for _, _, retained in watcher.messages)
                assert json.loads(watcher.last("occupair/lab/state"))["occupied"] is None
                assert watcher.last("occupair/lab/availability") == "online"
                assert watcher.last("occupair/gone/state") is None
        async with watching(server, "occupair/status") as watcher:
            await until(lambda: watcher.messages)
            assert watcher.messages == [("occupair/status", "offline", True)]

    asyncio.run(main())


def test_a_lost_link_is_told_by_the_broker(server):
    async def main():
        async with (
            line_to(server) as line,
            watching(server, "occupair/status") as watcher,
            running(link_to(server, port=line.port), FakePipeline()),
        ):
            await until(lambda: watcher.of("occupair/status") == ["online"])
            await line.cut()
            await until(lambda: watcher.of("occupair/status") == ["online", "offline"])
            line.mend()
            await until(lambda: watcher.last("occupair/status") == "online")

    asyncio.run(main())


def test_on_a_slow_link_only_the_newest_state_of_each_room_is_sent(server):
    rooms = [RoomConfig(id=f"r{k}") for k in range(100)]

    async def main():
        async with line_to(server) as line, watching(server, "occupair/+/state") as watcher:
            pipeline = FakePipeline([state(room.id, 0) for room in rooms])
            async with running(link_to(server, rooms, port=line.port), pipeline):
                await until(lambda: len(watcher.messages) == 100)
                line.hold()
                for people in range(1, 51):
                    for room in rooms:
                        pipeline.say(state(room.id, people))
                    await asyncio.sleep(0)
                line.let_go()
                await until(
                    lambda: all(
                        json.loads(watcher.last(f"occupair/{room.id}/state"))["people"] == 50
                        for room in rooms
                    )
                )
                await asyncio.sleep(0.1)
        assert len(watcher.messages) <= 100 + 2 * 100

    asyncio.run(main())


def test_no_more_is_sent_than_the_broker_takes_at_once():
    rooms = [RoomConfig(id=f"r{k}") for k in range(200)]

    async def main():
        with mosquitto_server(more="max_inflight_messages 2") as server:
            async with watching(server, "occupair/+/state") as watcher:
                pipeline = FakePipeline([state(room.id, 0) for room in rooms])
                async with running(link_to(server, rooms), pipeline):
                    await until(lambda: len(watcher.messages) == 200)
            assert "receive maximum" not in server.log.lower()

    asyncio.run(main())


# ---- Home Assistant ----


@both_versions
def test_home_assistant_finds_rooms_and_finds_them_again_when_it_starts(server, version):
    topic = "homeassistant/device/occupair_lab/config"

    async def main():
        async with (
            watching(server, "homeassistant/#") as watcher,
            running(link_to(server, version=version), FakePipeline([state()])),
        ):
            await until(lambda: len(watcher.of(topic)) == 1)
            await publish(server, ("homeassistant/status", "offline"))
            await publish(server, ("homeassistant/status", "online"))
            await until(lambda: len(watcher.of(topic)) == 2)
        one, two = watcher.of(topic)
        assert one == two
        assert set(json.loads(one)["components"]) == {"people", "occupied", "co2"}
        async with watching(server, topic) as watcher:
            await until(lambda: watcher.messages)
            assert watcher.messages[0][2]

    asyncio.run(main())


def test_home_assistant_is_not_told_if_it_is_not_wanted(server):
    async def main():
        async with (
            watching(server, "#") as watcher,
            running(link_to(server, discovery=False), FakePipeline([state()])),
        ):
            await until(lambda: watcher.last("occupair/lab/state"))
        assert not [topic for topic, *_ in watcher.messages if topic.startswith("homeassistant")]

    asyncio.run(main())


def test_a_room_is_taken_back_with_empty_payloads(server):
    other = RoomConfig(id="office", co2=Topic(topic="office/co2"))
    topics = ["homeassistant/device/occupair_lab/config", "occupair/lab/state", "occupair/lab/availability"]

    async def main():
        pipeline = FakePipeline([state(), state("office")])
        link = link_to(server, [LAB, other])
        async with watching(server, "homeassistant/#", "occupair/#") as watcher, running(link, pipeline):
            await until(lambda: all(watcher.last(topic) for topic in topics))
            link.remove("lab")
            await until(lambda: all(watcher.last(topic) == "" for topic in topics))
            pipeline.say(state(people=5))
            pipeline.say(state("office", people=5))
            await until(lambda: '"people": 5' in watcher.last("occupair/office/state"))
        assert watcher.last("occupair/lab/state") == ""
        assert watcher.last("occupair/office/availability") == "online"

    asyncio.run(main())


@both_versions
def test_rooms_that_are_gone_after_a_restart_are_taken_back_and_their_topics_left(server, version):
    other = RoomConfig(id="office", co2=Topic(topic="office/co2", shape="json", path="co2", time_path="at"))
    topics = ["homeassistant/device/occupair_lab/config", "occupair/lab/state", "occupair/lab/availability"]

    async def main():
        async with (
            running(link_to(server, [LAB, other], version=version), FakePipeline([state()])),
            watching(server, "#") as watcher,
        ):
            await until(lambda: all(watcher.last(topic) for topic in topics))
        await publish(server, ("lab/co2", told(1)), ("office/co2", told(2)))
        pipeline = FakePipeline()
        async with running(link_to(server, [other], version=version), pipeline):
            await until(lambda: pipeline.minutes() == [2])
            await until(lambda: "Received UNSUBSCRIBE from occupair" in server.log)
            async with watching(server, "#") as watcher:
                await until(lambda: watcher.last("occupair/office/availability") == "online")
                await asyncio.sleep(0.1)
                assert not any(watcher.last(topic) for topic in topics)

    asyncio.run(main())
