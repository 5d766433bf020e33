"""Devices, ports and stores that fail, and invalid values, while the link runs in this process."""

import asyncio
import logging
import math
import random
import socket
import struct
from types import SimpleNamespace

import pytest
from bacpypes3.pdu import PDUData
from bacpypes3.primitivedata import TagList
from live.bacnet_helpers import (
    RecordingPipeline,
    co2_point,
    command,
    device,
    make_room,
    own_device,
    running,
    subscribed,
)
from live.waiting import until

from occupair.live import submission
from occupair.live.bacnet import application as bacnet_application
from occupair.live.bacnet import device_poller, link, property_reads
from occupair.live.messages import ReadingOutcome
from tools.simulated_bms import Bms

pytestmark = pytest.mark.usefixtures("short_times")


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
