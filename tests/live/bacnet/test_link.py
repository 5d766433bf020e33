"""Readings and subscriptions of the link in this process, against simulated devices in another."""

import asyncio

import pytest
from live.bacnet_helpers import (
    RecordingPipeline,
    ask,
    co2_point,
    command,
    device,
    make_room,
    own_device,
    running,
    subscribed,
)
from live.waiting import until

from occupair.live.bacnet import link
from occupair.live.bacnet.link import describe_status
from occupair.live.bacnet.points import points_by_device
from tools.simulated_bms import Bms

pytestmark = pytest.mark.usefixtures("short_times")


def test_values_of_one_read_are_one_reading():
    points = [
        co2_point(1, 612.5),
        {"object": "binary-input,1", "name": "fan", "value": "active"},
        {"object": "analog-value,1", "name": "temperature", "value": 68.0, "units": "degrees-fahrenheit"},
        {"object": "analog-value,2", "name": "humidity", "value": 41.5, "units": "percent-relative-humidity"},
        {"object": "multi-state-value,1", "name": "stage", "value": 2},
    ]
    one = device(*points, cov=False)
    rooms = [
        make_room(
            "lab", one["port"], fan="binary-input,1", temperature="analog-value,1", humidity="analog-value,2"
        ),
        make_room("hall", one["port"], fan="multi-state-value,1", full=3.0),
    ]

    async def main():
        pipeline = RecordingPipeline()
        async with running(rooms, pipeline):
            await until(lambda: len(pipeline.of("lab")) > 1 and pipeline.of("hall"))
        assert pipeline.newest("lab") == (612.5, 1.0, {"temperature": 20.0, "humidity": 41.5})
        assert pipeline.newest("hall") == (612.5, 0.5, {})
        assert {reading.source for reading in pipeline.readings} == {"bacnet"}
        assert all(reading.time <= reading.received for reading in pipeline.readings)

    with Bms([one]):
        asyncio.run(main())


@pytest.mark.parametrize(
    ("more", "requests"),
    [
        ({}, {"ReadPropertyMultipleRequest"}),
        ({"batch": 3}, {"ReadPropertyMultipleRequest"}),
        ({"multiple": False}, {"ReadPropertyMultipleRequest", "ReadPropertyRequest"}),
    ],
)
def test_batches_that_a_device_refuses(more, requests):
    """25 points, one of which does not exist."""
    one = device(*(co2_point(number, 400.0 + number) for number in range(25)), cov=False, **more)
    rooms = [
        make_room(f"r{number}", one["port"], co2=f"analog-input,{number}", cov=False) for number in range(26)
    ]

    async def main():
        pipeline = RecordingPipeline()
        async with running(rooms, pipeline):
            await until(lambda: all(len(pipeline.of(f"r{number}")) > 1 for number in range(25)))
            counts = (await ask(bms, one["port"]))["counts"]
        assert {number: pipeline.newest(f"r{number}")[0] for number in range(25)} == {
            number: 400.0 + number for number in range(25)
        }
        assert not pipeline.of("r25")
        assert requests == counts.keys() & {"ReadPropertyMultipleRequest", "ReadPropertyRequest"}
        if more.get("multiple") is False:
            assert counts["ReadPropertyMultipleRequest"] == 1  # not tried again

    with Bms([one]) as bms:
        asyncio.run(main())


def test_subscribed_value_is_a_reading_at_every_interval_without_being_read_as_often():
    one = device(co2_point(1, 600.0), co2_point(2, 700.0))
    rooms = [make_room("a", one["port"]), make_room("b", one["port"], co2="analog-input,2")]

    async def main():
        pipeline = RecordingPipeline(interval=1.0)
        async with running(rooms, pipeline):
            await subscribed(bms, one["port"], 2)
            n_readings, before = len(pipeline.of("b")), (await ask(bms, one["port"]))["counts"]
            value = 600.0
            while len(pipeline.of("b")) < n_readings + 4:  # notifications show that the device is there
                value += 1.0
                await command(bms, set=[[one["port"], "analog-input,1", {"value": value}]])
                await asyncio.sleep(0.1)
            await until(lambda: pipeline.newest("a")[0] == value)
            after = (await ask(bms, one["port"]))["counts"]
            reads = after["ReadPropertyMultipleRequest"] - before["ReadPropertyMultipleRequest"]
            assert reads < len(pipeline.of("b")) - n_readings
        assert {reading.co2 for reading in pipeline.of("b")} == {700.0}

    with Bms([one]) as bms:
        asyncio.run(main())


def test_notified_change_is_a_reading_at_once():
    """A reading every hour, but changes arrive."""
    one = device(co2_point(1, 600.0))

    async def main():
        pipeline = RecordingPipeline(interval=3600.0)
        async with running([make_room("a", one["port"])], pipeline):
            await subscribed(bms, one["port"], 1)
            for value in (650.0, 700.0, 750.0):
                await command(bms, set=[[one["port"], "analog-input,1", {"value": value}]])
                await until(lambda value=value: pipeline.newest("a")[0] == value)
        assert [reading.co2 for reading in pipeline.of("a")] == [600.0, 650.0, 700.0, 750.0]

    with Bms([one]) as bms:
        asyncio.run(main())


def test_coarse_increment_is_read_instead_of_subscribed():
    one = device(co2_point(1, 600.0, increment=50.0))

    async def main():
        pipeline = RecordingPipeline()
        async with running([make_room("a", one["port"])], pipeline):
            await until(lambda: pipeline.of("a"))
            await command(bms, set=[[one["port"], "analog-input,1", {"value": 620.0}]])
            await until(lambda: pipeline.newest("a")[0] == 620.0)
            assert "SubscribeCOVRequest" not in (await ask(bms, one["port"]))["counts"]

    with Bms([one]) as bms:
        asyncio.run(main())


def test_stopped_link_ends_its_subscriptions_and_frees_the_port():
    one = device()
    config = own_device()

    async def main():
        for _ in range(2):
            pipeline = RecordingPipeline()
            async with running([make_room("a", one["port"])], pipeline, config):
                await subscribed(bms, one["port"], 1)
            assert (await ask(bms, one["port"]))["subscriptions"] == 0

    with Bms([one]) as bms:
        asyncio.run(main())


def test_points_are_grouped_by_device():
    rooms = {room: make_room(room, port) for room, port in (("a", 47808), ("b", 47809), ("c", 47808))}
    rooms["d"] = rooms["a"].model_copy(
        update={"id": "d", "co2": rooms["a"].co2.model_copy(update={"bacnet": "127.0.0.1"})}
    )
    grouped = {
        str(address): [one.room for one in points] for address, points in points_by_device(rooms).items()
    }
    assert grouped == {"127.0.0.1": ["a", "c", "d"], "127.0.0.1:47809": ["b"]}


def test_rooms_change_while_the_link_runs():
    """The port stays open, and the device keeps its subscriptions to rooms that stay."""
    one = device(co2_point(1, 600.0), co2_point(2, 700.0))
    rooms = [make_room("a", one["port"]), make_room("b", one["port"], co2="analog-input,2")]

    async def main():
        pipeline = RecordingPipeline()
        bacnet = link.BacnetLink(own_device(), {"a": rooms[0]})
        task = asyncio.create_task(bacnet.run(pipeline))
        await until(lambda: pipeline.of("a"))
        bacnet.use_rooms({"b": rooms[1]})
        await until(lambda: pipeline.of("b"))
        n_readings = len(pipeline.of("a"))
        await until(lambda: len(pipeline.of("b")) > 3)
        assert len(pipeline.of("a")) == n_readings
        task.cancel()
        await asyncio.wait([task])

    with Bms([one]):
        asyncio.run(main())


def test_status_names_some_devices():
    silent = {f"10.0.0.{number}": "no answer" for number in range(7)}
    assert describe_status(silent | {"10.0.1.1": ""}) == (
        "no answer from 7 of 8 devices: 10.0.0.0, 10.0.0.1, 10.0.0.2, 10.0.0.3, 10.0.0.4 and 2 more"
    )
    assert describe_status({}) == "connected"


def test_status_names_some_points():
    points = [f"10.0.0.1 analog-input,{number}" for number in range(6)]
    assert describe_status({"10.0.0.1": ""}, points[:1], 9) == f"no reading from 1 of 9 points: {points[0]}"
    assert describe_status({"10.0.0.1": ""}, points, 9).endswith("analog-input,4 and 1 more")
    assert describe_status({"10.0.0.1": None}, points, 9) == "connecting"
    assert describe_status({"10.0.0.1": "no answer"}, points, 9).startswith("no answer from 1 of 1 device:")
