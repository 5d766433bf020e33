"""COV: subscriptions with finite lifetimes and limits, and notifications of changed counts and faults."""

import asyncio
import math

import pytest
from live.bacnet.bacnet_client import (
    ACTIVE_COV_SUBSCRIPTIONS,
    ANALOG_VALUE,
    DEVICE,
    ERROR,
    PRESENT_VALUE,
    REJECT,
    STATUS_FLAGS,
    BacnetClient,
    Refused,
    object_id,
)
from live.bacnet.bacnet_device import (
    CO2,
    FAULT,
    INSTANCE,
    LOW,
    NORMAL,
    OCCUPIED,
    PEOPLE,
    device_and_client,
    running_device,
)
from live.fake_pipeline import make_state
from live.waiting import until

from occupair.live.bacnet import cov_services
from occupair.live.messages import Quality

SERVICES, RESOURCES, OBJECT = 5, 3, 1  # error classes
COV_SUBSCRIPTION_FAILED, NO_SPACE, UNKNOWN_OBJECT, NOT_SUPPORTED = 43, 19, 31, 45  # error codes


def unknown(room="lab"):
    return make_state(room, None, quality=Quality.STALE, low=None, high=None)


@pytest.mark.parametrize("confirmed", [False, True])
def test_changes_of_the_count_are_notified(confirmed):
    async def main():
        async with device_and_client("lab") as (device, client):
            await client.subscribe(PEOPLE, process=9, confirmed=confirmed, lifetime=300)
            first = await client.notification()
            assert first == (9, INSTANCE, PEOPLE, 300, {PRESENT_VALUE: 0.0, STATUS_FLAGS: NORMAL}, confirmed)
            for people in (1, 2, 1, 5):
                device.pipeline.publish(make_state("lab", people))
                notified = await client.notification()
                assert notified.values == {PRESENT_VALUE: float(people), STATUS_FLAGS: NORMAL}
                assert 1 <= notified.remaining <= 300

    asyncio.run(main())


@pytest.mark.parametrize("confirmed", [False, True])
def test_unknown_and_known_again_are_notified(confirmed):
    async def main():
        async with device_and_client("lab") as (device, client):
            for target, before in ((PEOPLE, 3.0), (LOW, 1.5), (OCCUPIED, 1)):
                device.pipeline.publish(make_state("lab", 3))
                await client.subscribe(target, confirmed=confirmed)
                values = {}
                while values.get(PRESENT_VALUE) != before:
                    values = (await client.notification()).values
                assert values[STATUS_FLAGS] == NORMAL
                device.pipeline.publish(unknown())
                values = (await client.notification()).values
                assert math.isnan(values[PRESENT_VALUE]) or target is OCCUPIED
                assert values[STATUS_FLAGS] == FAULT
                device.pipeline.publish(make_state("lab", 3))  # the same value as before
                assert (await client.notification()).values == {PRESENT_VALUE: before, STATUS_FLAGS: NORMAL}
                await client.subscribe(target, confirmed=None, lifetime=None)

    asyncio.run(main())


def test_small_changes_are_notified_once_they_add_up():
    async def main():
        async with device_and_client("lab") as (device, client):
            await client.subscribe(LOW)
            await client.subscribe(CO2)
            assert (await client.notification()).values[PRESENT_VALUE] == 1.5
            assert (await client.notification()).values[PRESENT_VALUE] == 808.5
            received = []
            for low, co2 in ((2.0, 820.0), (2.5, 833.0), (2.0, 833.5), (1.5, 850.0), (9.0, 100.0)):
                device.pipeline.publish(make_state("lab", 1, low=low, co2_smoothed=co2))
                objects = device.objects._rooms["lab"].objects
                await until(lambda co2=co2, objects=objects: objects["co2"].presentValue == co2)
            while not received or received[-1][1] != 100.0:
                notified = await client.notification()
                received.append((notified.target, notified.values[PRESENT_VALUE]))
            # low: 1.5 -> 2.5 (+1) -> 1.5 (-1) -> 9.0; CO2: 808.5 -> 833.5 (+25) -> 100
            assert [value for target, value in received if target == LOW] == [2.5, 1.5, 9.0]
            assert [value for target, value in received if target == CO2] == [833.5, 100.0]

    asyncio.run(main())


def test_expired_subscription_is_not_notified():
    async def main():
        async with device_and_client("lab") as (device, client):
            await client.subscribe(PEOPLE, process=1, lifetime=1)
            assert (await client.notification()).remaining == 1
            await until(lambda: device.application.subscriptions == 0)
            await client.subscribe(PEOPLE, process=2)
            assert (await client.notification()).process == 2
            device.pipeline.publish(make_state("lab", 8))
            assert (await client.notification())[0] == 2
            await client.read(PEOPLE, PRESENT_VALUE)  # answered after any other notification
            assert client.notifications.empty()

    asyncio.run(main())


def test_renewed_subscription_lives_on():
    async def main():
        async with device_and_client("lab") as (device, client):
            await client.subscribe(PEOPLE, lifetime=1)
            await client.subscribe(PEOPLE, lifetime=28_800, confirmed=True)
            assert device.application.subscriptions == 1
            await client.subscribe(OCCUPIED, lifetime=2)
            await until(lambda: device.application.subscriptions == 1)  # that of one second would have ended
            while not client.notifications.empty():
                client.notifications.get_nowait()
            device.pipeline.publish(make_state("lab", 8))
            notified = await client.notification()
            assert notified.target == PEOPLE
            assert notified.confirmed
            assert 28_000 < notified.remaining <= 28_800

    asyncio.run(main())


def test_cancelled_subscription_is_not_notified():
    async def main():
        async with device_and_client("lab") as (device, client):
            for process in (1, 2):
                await client.subscribe(PEOPLE, process=process)
                await client.notification()
            await client.subscribe(PEOPLE, process=1, confirmed=None, lifetime=None)
            await client.subscribe(PEOPLE, process=77, confirmed=None, lifetime=None)  # there is none
            await client.subscribe((ANALOG_VALUE, 99), confirmed=None, lifetime=None)
            assert device.application.subscriptions == 1
            device.pipeline.publish(make_state("lab", 8))
            assert (await client.notification()).process == 2
            await client.read(PEOPLE, PRESENT_VALUE)
            assert client.notifications.empty()

    asyncio.run(main())


@pytest.mark.parametrize(
    ("target", "options", "refused"),
    [
        (PEOPLE, {"lifetime": 0}, (ERROR, SERVICES, COV_SUBSCRIPTION_FAILED)),
        (PEOPLE, {"lifetime": None}, (ERROR, SERVICES, COV_SUBSCRIPTION_FAILED)),
        (PEOPLE, {"lifetime": 86_401}, (ERROR, SERVICES, COV_SUBSCRIPTION_FAILED)),
        (PEOPLE, {"lifetime": 2**32 - 1}, (ERROR, SERVICES, COV_SUBSCRIPTION_FAILED)),
        (PEOPLE, {"confirmed": None}, (REJECT, 5)),  # missing required parameter
        ((ANALOG_VALUE, 99), {}, (ERROR, OBJECT, UNKNOWN_OBJECT)),
        ((DEVICE, INSTANCE), {}, (ERROR, OBJECT, NOT_SUPPORTED)),
    ],
)
def test_subscription_is_refused(target, options, refused):
    async def main():
        async with device_and_client("lab") as (device, client):
            with pytest.raises(Refused) as answer:
                await client.subscribe(target, **options)
            assert (answer.value.kind, *answer.value.numbers) == refused
            assert device.application.subscriptions == 0

    asyncio.run(main())


def test_number_of_subscriptions_is_limited(monkeypatch):
    async def main():
        async with device_and_client("lab") as (device, client):
            for process in range(3):
                await client.subscribe(PEOPLE, process=process)
            with pytest.raises(Refused, match=f"{ERROR}, {RESOURCES}, {NO_SPACE}"):
                await client.subscribe(PEOPLE, process=3)
            await client.subscribe(PEOPLE, process=2)  # renewing is possible
            await client.subscribe(PEOPLE, process=0, confirmed=None, lifetime=None)
            await client.subscribe(PEOPLE, process=3)
            assert device.application.subscriptions == 3

    monkeypatch.setattr(cov_services, "MAX_SUBSCRIPTIONS", 3)
    asyncio.run(main())


def test_number_of_subscriptions_of_one_client_is_limited(monkeypatch):
    async def main():
        async with (
            device_and_client("lab") as (device, greedy),
            BacnetClient.connect(device.port) as other,
        ):
            for process in range(2):
                await greedy.subscribe(PEOPLE, process=process)
            with pytest.raises(Refused, match=f"{ERROR}, {RESOURCES}, {NO_SPACE}"):
                await greedy.subscribe(PEOPLE, process=2)
            await greedy.subscribe(PEOPLE, process=1)  # renewing is possible
            await other.subscribe(PEOPLE, process=2)
            await greedy.subscribe(PEOPLE, process=0, confirmed=None, lifetime=None)
            await greedy.subscribe(PEOPLE, process=2)
            assert device.application.subscriptions == 3

    monkeypatch.setattr(cov_services, "MAX_OF_CLIENT", 2)
    asyncio.run(main())


def test_active_subscriptions_are_listed(monkeypatch):
    async def main():
        async with device_and_client("lab") as (_, client):
            assert await client.read((DEVICE, INSTANCE), ACTIVE_COV_SUBSCRIPTIONS) == []
            await client.subscribe(PEOPLE, process=5, lifetime=200)
            await client.subscribe(OCCUPIED, process=6)
            found = await client.read((DEVICE, INSTANCE), ACTIVE_COV_SUBSCRIPTIONS)
            port = client.transport.get_extra_info("sockname")[1]
            data = [tag.data for tag in found if tag.kind == "value"]
            # network 0 and address of the client, process, object, property, confirmed, time, increment
            address = bytes([127, 0, 0, 1]) + port.to_bytes(2, "big")
            assert data[:6] == [b"\0", address, b"\5", object_id(*PEOPLE), bytes([PRESENT_VALUE]), b"\0"]
            assert 100 < int.from_bytes(data[6], "big") <= 200
            assert data[7] == b"\x3f\x80\x00\x00"  # 1.0
            assert data[8:12] == [b"\0", address, b"\6", object_id(*OCCUPIED)]
            assert len(data) == 15  # no increment
            monkeypatch.setattr(cov_services, "MAX_LISTED", 1)
            with pytest.raises(Refused, match=f"{ERROR}, 2, 134"):  # property, value too long
                await client.read((DEVICE, INSTANCE), ACTIVE_COV_SUBSCRIPTIONS)

    asyncio.run(main())


def test_client_that_does_not_acknowledge_delays_nobody():
    """More changes than there are invoke ids, which stops the COV server of bacpypes3 for ever."""

    async def main():
        rooms = [f"room-{k}" for k in range(300)]
        async with running_device(*rooms) as device, BacnetClient.connect(device.port) as mute:
            device.application.device_object.apduTimeout = 20  # [ms]
            device.application.device_object.numberOfApduRetries = 0
            mute.acknowledges = False
            for k in range(300):
                await mute.subscribe((ANALOG_VALUE, 10 * k + 11), confirmed=True)
            async with BacnetClient.connect(device.port) as client:
                await client.subscribe((ANALOG_VALUE, 11))
                await client.notification()
                outboxes = device.application._outboxes
                for people in (1_001, 1_002, 1_003):
                    device.pipeline.publish(*(make_state(room, people) for room in rooms))
                    assert (await client.notification()).values[PRESENT_VALUE] == people
                    assert max(len(one.unacknowledged) for one in outboxes.values()) <= 8
                await until(lambda: not outboxes)
                assert len(mute.unacknowledged) >= 300
                assert mute.notifications.empty()
                mute.acknowledges = True  # it is back, and the next estimates make up for what was lost
                newest = {}
                while len(newest) < 300:
                    device.pipeline.publish(*(make_state(room, 1_003) for room in rooms))
                    notified = await mute.notification()
                    newest[notified.target] = notified.values[PRESENT_VALUE]
                    while not mute.notifications.empty():
                        notified = mute.notifications.get_nowait()
                        newest[notified.target] = notified.values[PRESENT_VALUE]
                assert set(newest.values()) == {1_003.0}

    asyncio.run(main())


def test_newest_value_arrives_last():
    async def main():
        async with device_and_client("lab") as (device, client):
            device.application.device_object.apduTimeout = 50  # [ms], then a notification is repeated
            device.application.device_object.numberOfApduRetries = 1_000_000
            objects = device.objects._rooms["lab"].objects
            client.acknowledges = False
            await client.subscribe(PEOPLE, confirmed=True)
            await until(lambda: len(client.unacknowledged) == 1)
            for people in (6, 7, 8):
                device.pipeline.publish(make_state("lab", people))
                await until(lambda people=people: objects["people"].presentValue == people)
            await until(lambda: len(client.unacknowledged) >= 2)
            assert len(set(client.unacknowledged)) == 1  # only the first one, again
            client.acknowledges = True
            values = [0.0]
            while values[-1] != 8.0:
                values.append((await client.notification()).values[PRESENT_VALUE])
            assert set(values) == {0.0, 8.0}
            assert values == sorted(values)

    asyncio.run(main())


def test_closed_device_sends_nothing():
    async def main():
        async with device_and_client("lab") as (device, client):
            await client.subscribe(PEOPLE, lifetime=1)
            await client.notification()
        assert device.application.subscriptions == 0
        device.pipeline.publish(make_state("lab", 8))

    asyncio.run(main())
