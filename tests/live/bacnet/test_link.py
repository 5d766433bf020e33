"""The link in this process, against simulated devices in another."""

import asyncio
import logging
import math
import random
import socket
import struct
from types import SimpleNamespace

import pytest
from bacpypes3.pdu import PDUData
from bacpypes3.primitivedata import ObjectIdentifier, ObjectType, TagList
from live.bacnet_helpers import RecordingPipeline, make_room, own_device, running
from live.ports import free_port
from live.waiting import until

from occupair.errors import InputError
from occupair.live import submission
from occupair.live.bacnet import application as bacnet_application
from occupair.live.bacnet import device_poller, link, property_reads, subscription
from occupair.live.bacnet.application import close_application, open_application
from occupair.live.bacnet.link import describe_status
from occupair.live.bacnet.points import points_by_device
from occupair.live.config.values import OBJECT_TYPES
from occupair.live.messages import ReadingOutcome
from tools.simulated_bms import Bms


@pytest.fixture(autouse=True)
def _short_times(monkeypatch):
    for module, name, value in (
        (device_poller, "START_SPREAD", 0.0),
        (device_poller, "FIRST_PAUSE", 0.1),
        (device_poller, "MAX_PAUSE", 0.4),
        (device_poller, "CONFIRM_EVERY", 3.0),
        (device_poller, "RESTART_SPACING", 0.05),
        (bacnet_application, "APDU_TIMEOUT", 400),
        (bacnet_application, "APDU_RETRIES", 1),
        (property_reads, "ANSWER_WITHIN", 3.0),
        (subscription, "LIFETIME", 60),
        (link, "STATUS_EVERY", 0.05),
    ):
        monkeypatch.setattr(module, name, value)


def co2_point(number=1, value=600.0, **more):
    return {"object": f"analog-input,{number}", "name": f"CO2 {number}", "value": value, **more}


def device(*points, **more):
    return {"port": free_port(), "instance": 17, "points": list(points) or [co2_point()], **more}


async def ask(bms, port):
    return await asyncio.to_thread(bms.ask, port)


async def command(bms, **what):
    return await asyncio.to_thread(lambda: bms.command(**what))


async def subscribed(bms, port, number):
    while (await ask(bms, port))["subscriptions"] != number:
        await asyncio.sleep(0.05)


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


def test_vanished_peer_leaves_no_value_standing_and_is_subscribed_again():
    gone, other = device(co2_point(1, 600.0)), device(co2_point(1, 500.0))
    rooms = [make_room("gone", gone["port"]), make_room("other", other["port"])]

    async def main():
        pipeline = RecordingPipeline()
        async with running(rooms, pipeline):
            await subscribed(bms, gone["port"], 1)
            await until(lambda: pipeline.bacnet_status == "connected")
            await command(bms, down=[gone["port"]])
            await until(lambda: pipeline.bacnet_status.startswith("no answer from 1 of 2 devices"))
            n_gone, n_other = len(pipeline.of("gone")), len(pipeline.of("other"))
            await until(lambda: len(pipeline.of("other")) > n_other + 10)
            assert len(pipeline.of("gone")) == n_gone
            changed = [[gone["port"], "analog-input,1", {"value": 900.0}]]
            await command(bms, set=changed, up=[gone["port"]])
            await until(lambda: pipeline.newest("gone")[0] == 900.0)
            await subscribed(bms, gone["port"], 1)
            await until(lambda: pipeline.bacnet_status == "connected")
            assert {reading.co2 for reading in pipeline.of("gone")[n_gone:]} == {900.0}
        assert {reading.co2 for reading in pipeline.of("other")} == {500.0}

    with Bms([gone, other]) as bms:
        asyncio.run(main())


def test_restarted_device_that_has_forgotten_its_subscriptions():
    """It is back before anybody notices; from then on its values are read, and subscribed again."""
    one = device(co2_point(1, 600.0))

    async def main():
        pipeline = RecordingPipeline()
        async with running([make_room("a", one["port"])], pipeline):
            await subscribed(bms, one["port"], 1)
            port = one["port"]
            await command(bms, down=[port], set=[[port, "analog-input,1", {"value": 900.0}]])
            await command(bms, up=[port])
            await until(lambda: pipeline.newest("a")[0] == 900.0)
            await subscribed(bms, port, 1)
            await command(bms, set=[[port, "analog-input,1", {"value": 950.0}]])
            await until(lambda: pipeline.newest("a")[0] == 950.0)

    with Bms([one]) as bms:
        asyncio.run(main())


def test_slow_device_does_not_delay_others(monkeypatch):
    monkeypatch.setattr(bacnet_application, "APDU_TIMEOUT", 60_000)
    monkeypatch.setattr(property_reads, "ANSWER_WITHIN", 100.0)
    slow, fast = device(delay=2.0, cov=False), device(cov=False)

    async def main():
        pipeline = RecordingPipeline(interval=0.2)
        async with running([make_room("slow", slow["port"]), make_room("fast", fast["port"])], pipeline):
            await until(lambda: len(pipeline.of("slow")) >= 2)
        assert len(pipeline.of("fast")) >= 3 * len(pipeline.of("slow"))

    with Bms([slow, fast]):
        asyncio.run(main())


def test_fault_is_no_reading_and_is_logged_once(caplog):
    one = device(co2_point(1, 600.0), {"object": "binary-input,1", "name": "fan", "value": "inactive"})

    async def main():
        pipeline = RecordingPipeline()
        async with running([make_room("a", one["port"], fan="binary-input,1")], pipeline):
            await subscribed(bms, one["port"], 2)
            port = one["port"]
            for fault, end in (
                ({"fault": 1}, {"fault": 0}),
                ({"out": 1}, {"out": 0}),
                ({"value": math.nan}, {"value": 600.0}),
            ):
                await command(bms, set=[[port, "analog-input,1", fault]])
                await until(lambda: pipeline.newest("a") == (None, 0.0, {}))
                await command(bms, set=[[port, "analog-input,1", end]])
                await until(lambda: pipeline.newest("a")[0] == 600.0)
        assert {reading.co2 for reading in pipeline.readings} == {None, 600.0}
        assert pipeline.counters["bacnet", ReadingOutcome.NONSENSE] >= 3

    with Bms([one]) as bms, caplog.at_level(logging.INFO, "occupair.live.bacnet"):
        asyncio.run(main())
    name = f"a, co2: analog-input,1 of BACnet device 127.0.0.1:{one['port']}"
    assert [text.removeprefix(name) for text in caplog.messages if text.startswith(name)] == [
        " is faulty",
        " is read again",
        " is out of service",
        " is read again",
        " is nan",
        " is read again",
    ]


def test_odd_property_of_one_point_leaves_others_alone(caplog):
    """The unit of one point is text, the present value of another is too long for a float."""
    one = device(co2_point(1, 600.0), co2_point(2, 700.0), co2_point(3, 800.0))
    rooms = [make_room(f"r{n}", one["port"], co2=f"analog-input,{n}", cov=False) for n in (1, 2, 3)]
    add = property_reads.add_property

    def add_odd(properties, name, value):
        add(properties, name, value)
        if properties.get("present-value") == 700.0 and name == "units":
            properties[name] = "ppm"
        if properties.get("present-value") == 800.0 and name == "units":
            properties["present-value"] = 10**400

    async def main():
        pipeline = RecordingPipeline()
        async with running(rooms, pipeline):
            await until(lambda: len(pipeline.of("r1")) > 3)
            address = f"127.0.0.1:{one['port']}"
            await until(lambda: pipeline.bacnet_status != "connected")
            assert pipeline.bacnet_status == (
                f"no reading from 2 of 3 points: {address} analog-input,2, {address} analog-input,3"
            )
        assert {reading.room for reading in pipeline.readings} == {"r1"}

    with pytest.MonkeyPatch.context() as patch, Bms([one]):
        patch.setattr(property_reads, "add_property", add_odd)
        patch.setattr(device_poller, "CONFIRM_EVERY", 0.0)  # read units every time
        asyncio.run(main())
    assert "has invalid units, got 'ppm': correct the device" in caplog.text
    assert "has properties that cannot be read (OverflowError)" in caplog.text
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


def test_invalid_value_in_a_notification_is_ignored():
    """A real number has four bytes; the device sends three."""

    def notified(name, tags):
        return SimpleNamespace(
            propertyIdentifier=name, value=SimpleNamespace(tagList=TagList.decode(PDUData(tags)))
        )

    point = device_poller._Point([], None)
    point.notify(
        [
            notified("present-value", b"\x43\x44\x16\x00"),
            notified("cov-increment", b"\x44" + struct.pack(">f", 5.0)),
        ]
    )
    assert point.properties == {"cov-increment": 5.0}


def test_pauses_grow_while_readings_cannot_be_submitted(monkeypatch):
    one, tried, pauses = device(cov=False), [], []
    fail = device_poller.DevicePoller._fail

    def submit(self, submitter, readings):
        tried.append(readings)
        if len(tried) <= 3:
            raise RuntimeError("a bug")
        submitter._pipeline.readings += readings

    def note_pause(self, problem):
        pauses.append(self._pause)
        fail(self, problem)

    monkeypatch.setattr(link.BacnetLink, "_submit", submit)
    monkeypatch.setattr(device_poller.DevicePoller, "_fail", note_pause)

    async def main():
        pipeline = RecordingPipeline()
        async with running([make_room("a", one["port"])], pipeline):
            await until(lambda: pipeline.of("a"))

    with Bms([one]):
        asyncio.run(main())
    assert pauses == [0.1, 0.2, 0.4]


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


def test_readings_wait_while_the_store_fails_and_the_number_is_limited(monkeypatch, caplog):
    monkeypatch.setattr(submission, "FIRST_PAUSE", 0.01)
    monkeypatch.setattr(submission, "MAX_PAUSE", 0.02)
    monkeypatch.setattr(link, "MAX_PENDING", 3)
    one = device(cov=False)

    async def main():
        pipeline = RecordingPipeline(interval=0.05)
        pipeline.error, pipeline.part_status = RuntimeError("no store"), {"store": "cannot be reached"}
        async with running([make_room("a", one["port"])], pipeline):
            await until(lambda: "dropped 1 reading: the store is not available" in caplog.text)
            assert not pipeline.readings
            pipeline.error, pipeline.part_status = None, {"store": "ok"}
            await until(lambda: len(pipeline.readings) > 5)

    with Bms([one]):
        asyncio.run(main())


def test_random_datagrams_are_ignored(caplog):
    """Random bytes, and Who-Is, I-Am and notifications with random bytes in them."""
    one, config, rng = device(), own_device(), random.Random(5)
    who_is = bytes.fromhex("810b000c0120ffff00ff1008")
    i_am = bytes.fromhex("810b00190120ffff00ff1000c4020000112205c491032203e7")
    notification = bytes.fromhex("810a00220100020509011c020000112c00000001391e4e09552e44441600002f4f")

    def junk():
        message = bytearray(rng.choice([who_is, i_am, notification, rng.randbytes(40)]))
        for _ in range(rng.randrange(4)):
            message[rng.randrange(len(message))] = rng.randrange(256)
        return bytes(message[: rng.randrange(1, len(message) + 1)] if rng.random() < 0.3 else message)

    async def main():
        pipeline = RecordingPipeline(interval=0.1)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
            async with running([make_room("a", one["port"])], pipeline, config):
                await until(lambda: pipeline.of("a"))
                for _ in range(2000):
                    stranger.sendto(junk(), ("127.0.0.1", config.port))
                    await asyncio.sleep(0)
                n_readings = len(pipeline.of("a"))
                await until(lambda: len(pipeline.of("a")) > n_readings + 3)
                assert pipeline.bacnet_status == "connected"
        assert {reading.co2 for reading in pipeline.readings} == {600.0}

    with Bms([one]):
        asyncio.run(main())
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


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


def test_port_that_becomes_free_is_used(monkeypatch, caplog):
    monkeypatch.setattr(link, "OPEN_AGAIN", 0.1)
    one, config = device(), own_device()

    async def main():
        pipeline = RecordingPipeline()
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
            taken.bind(("127.0.0.1", config.port))
            async with running([make_room("a", one["port"])], pipeline, config):
                await until(lambda: pipeline.bacnet_status.startswith("no link: cannot use UDP 127.0.0.1:"))
                taken.close()
                await until(lambda: pipeline.of("a"))

    with Bms([one]):
        asyncio.run(main())


def test_port_in_use_is_one_line():
    async def main():
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
            taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)  # as bacpypes3 does
            taken.bind(("127.0.0.1", 0))
            open_application(own_device(port=taken.getsockname()[1]))

    with pytest.raises(
        InputError, match=r"^cannot use UDP 127.0.0.1:\d+ for BACnet: Address already in use: stop "
    ):
        asyncio.run(main())


def test_address_of_another_machine_is_one_line():
    with pytest.raises(
        InputError, match=r"^cannot use UDP 203.0.113.9:\d+ for .*: must be an address of this machine$"
    ):
        open_application(own_device(address="203.0.113.9/24"))


def test_registration_with_a_bbmd():
    """The messages of a foreign device in Annex J of the standard."""
    bbmd = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    bbmd.bind(("127.0.0.1", 0))
    bbmd.setblocking(False)

    async def main():
        loop = asyncio.get_running_loop()
        config = own_device(bbmd=f"127.0.0.1:{bbmd.getsockname()[1]}", foreign_ttl=300)
        application = open_application(config)
        try:
            register, address = await loop.sock_recvfrom(bbmd, 100)
            assert register == struct.pack(">BBHH", 0x81, 0x05, 6, 300)
            await loop.sock_sendto(bbmd, struct.pack(">BBHH", 0x81, 0x00, 6, 0), address)  # result: done
            application.who_is()
            broadcast, _ = await loop.sock_recvfrom(bbmd, 1500)
            assert broadcast[:2] == b"\x81\x09"  # Distribute-Broadcast-To-Network
            assert broadcast[-2:] == b"\x10\x08"  # Who-Is
        finally:
            await close_application(application)

    with bbmd:
        asyncio.run(main())


def test_object_types_of_the_settings_are_those_of_the_standard():
    for name, (_, number) in OBJECT_TYPES.items():
        assert ObjectIdentifier(f"{name},1") == ObjectIdentifier((ObjectType(number), 1))


def test_device_name_is_unique_by_its_number():
    async def main():
        application = open_application(own_device(device=1234))
        try:
            assert application.device_object.objectName == "occupair-1234"
        finally:
            await close_application(application)

    asyncio.run(main())


def test_failing_poller_leaves_other_devices_alone(monkeypatch, caplog):
    """Its task is started again."""
    monkeypatch.setattr(link, "OPEN_AGAIN", 0.1)
    bad, good = device(), device()
    runs, run = [], device_poller.DevicePoller.run

    async def fail_twice(self):
        if str(self.address).endswith(str(bad["port"])):
            runs.append(self)
            if len(runs) <= 2:
                raise RuntimeError("a bug")
        await run(self)

    monkeypatch.setattr(device_poller.DevicePoller, "run", fail_twice)

    async def main():
        pipeline = RecordingPipeline()
        async with running([make_room("bad", bad["port"]), make_room("good", good["port"])], pipeline):
            await until(lambda: pipeline.of("bad") and pipeline.of("good"))

    with Bms([bad, good]):
        asyncio.run(main())
    assert len(runs) == 3
    assert len({id(one) for one in runs}) == 1  # the link itself was not started again
    assert f"reading BACnet device 127.0.0.1:{bad['port']} failed; trying again" in caplog.text


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


def test_failed_attempts_do_not_postpone_the_next_reading(monkeypatch):
    monkeypatch.setattr(bacnet_application, "APDU_TIMEOUT", 50)
    one = device(cov=False)

    async def main():
        pipeline = RecordingPipeline(interval=0.5)
        async with running([make_room("a", one["port"])], pipeline):
            await until(lambda: pipeline.of("a"))
            await command(bms, down=[one["port"]])
            await asyncio.sleep(6)  # some 15 attempts
            n_readings = len(pipeline.of("a"))
            await command(bms, up=[one["port"]])
            await until(lambda: len(pipeline.of("a")) >= n_readings + 2)
            first, second = (reading.time for reading in pipeline.of("a")[n_readings:][:2])
            assert (second - first).total_seconds() < 3.0

    with Bms([one]) as bms:
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
