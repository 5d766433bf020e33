"""Objects of rooms, read over the network: names, values, faults, and rooms added and removed."""

import asyncio
import datetime as dt
import math
from pathlib import Path

import pytest
from live.bacnet import bacnet_client as bacnet
from live.bacnet.bacnet_client import (
    ANALOG_VALUE,
    BINARY_VALUE,
    DEVICE,
    PRESENT_VALUE,
    RELIABILITY,
    STATUS_FLAGS,
    Refused,
)
from live.bacnet.bacnet_device import (
    CO2,
    FAULT,
    HIGH,
    INSTANCE,
    LOW,
    NORMAL,
    OCCUPIED,
    PEOPLE,
    Numbers,
    device_and_client,
    running_device,
)
from live.fake_pipeline import make_config, make_state
from live.waiting import until

from occupair.live.bacnet import cov_services, room_objects
from occupair.live.bacnet.instance_numbers import DIGITS
from occupair.live.config import OutdoorAirTable, RoomConfig
from occupair.live.messages import Quality, unknown_state
from occupair.live.reasons import Cause, Reason
from occupair.live.store import StoreError

NO_FAULT, NO_SENSOR, UNRELIABLE, CONFIGURATION_ERROR, COMMUNICATION_FAILURE = 0, 1, 7, 10, 12


async def published(device, client, state):
    """Publish a state and wait until the objects have it, by its CO2."""
    co2 = await client.read(CO2, PRESENT_VALUE)
    device.pipeline.publish(state)
    objects = device.application.objectIdentifier
    people = next(one for key, one in objects.items() if (int(key[0]), key[1]) == PEOPLE)
    await until(lambda: math.isnan(people.presentValue) == (state.people is None))
    return co2


def test_objects_describe_themselves():
    async def main():
        async with device_and_client("lab", "kitchen") as (device, client):
            device.pipeline.publish(make_state("kitchen", 7, low=5.25, high=8.5, co2_smoothed=808.5))
            await until(lambda: device.objects._rooms["kitchen"].objects["people"].presentValue == 7)
            # kitchen is room 2: instance numbers start with 2, and the last digit is the quantity
            common = {
                bacnet.OUT_OF_SERVICE: False,
                bacnet.EVENT_STATE: 0,
                STATUS_FLAGS: NORMAL,
                RELIABILITY: NO_FAULT,
            }
            analog = common | {bacnet.OBJECT_TYPE: ANALOG_VALUE}
            for instance, name, value, units, increment, text in (
                (21, "people", 7.0, bacnet.NO_UNITS, 1.0, "people, estimated from CO2"),
                (22, "low", 5.25, bacnet.NO_UNITS, 1.0, "people, lower end of the 90 % interval"),
                (23, "high", 8.5, bacnet.NO_UNITS, 1.0, "people, upper end of the 90 % interval"),
                (24, "co2", 808.5, bacnet.PARTS_PER_MILLION, 25.0, "CO2, smoothed"),
            ):
                assert await client.read_multiple((ANALOG_VALUE, instance)) == analog | {
                    bacnet.OBJECT_IDENTIFIER: (ANALOG_VALUE, instance),
                    bacnet.OBJECT_NAME: f"kitchen.{name}",
                    bacnet.DESCRIPTION: f"Kitchen, 1: {text}",
                    bacnet.UNITS: units,
                    bacnet.COV_INCREMENT: increment,
                    PRESENT_VALUE: value,
                }
            assert await client.read_multiple((BINARY_VALUE, 25)) == common | {
                bacnet.OBJECT_TYPE: BINARY_VALUE,
                bacnet.OBJECT_IDENTIFIER: (BINARY_VALUE, 25),
                bacnet.OBJECT_NAME: "kitchen.occupied",
                bacnet.DESCRIPTION: "Kitchen, 1: occupied",
                PRESENT_VALUE: 1,
                46: "empty",  # inactive text
                4: "occupied",  # active text
            }

    asyncio.run(main())


def test_property_list_is_complete():
    async def main():
        async with device_and_client("lab") as (_, client):
            for target in (PEOPLE, OCCUPIED):
                everything = set(await client.read_multiple(target))
                listed = await client.read(target, bacnet.PROPERTY_LIST)
                # clause 12.1.1.4: without name, type, identifier, and the list itself
                assert everything - {
                    bacnet.OBJECT_NAME,
                    bacnet.OBJECT_TYPE,
                    bacnet.OBJECT_IDENTIFIER,
                } == set(listed)
                assert len(listed) == len(set(listed))
                for prop in listed:
                    await client.read(target, prop)
                required = set(await client.read_multiple(target, bacnet.REQUIRED))
                assert {PRESENT_VALUE, STATUS_FLAGS, bacnet.EVENT_STATE, bacnet.OUT_OF_SERVICE} < required
                assert required <= everything
                with pytest.raises(Refused, match=r"5, 2, 32"):  # priority array: unknown property
                    await client.read(target, 87)

    asyncio.run(main())


def test_object_list_has_every_object():
    async def main():
        async with device_and_client("lab", "kitchen") as (_, client):
            rooms = [(ANALOG_VALUE, 10 * k + digit) for k in (1, 2) for digit in (1, 2, 3, 4)]
            rooms += [(BINARY_VALUE, 15), (BINARY_VALUE, 25)]
            listed = await client.read((DEVICE, INSTANCE), bacnet.OBJECT_LIST)
            assert sorted(listed) == sorted([*rooms, (DEVICE, INSTANCE), (56, 1)])
            assert await client.read((DEVICE, INSTANCE), bacnet.OBJECT_LIST, 0) == len(listed)
            one_by_one = [
                await client.read((DEVICE, INSTANCE), bacnet.OBJECT_LIST, k + 1) for k in range(len(listed))
            ]
            assert one_by_one == listed
            names = [await client.read(target, bacnet.OBJECT_NAME) for target in listed]
            assert len(set(names)) == len(names)

    asyncio.run(main())


UNKNOWN = [
    (Quality.STALE, Cause(Reason.NO_READING), NO_SENSOR),
    (Quality.STALE, Cause(Reason.NO_CO2_READING), NO_SENSOR),
    (Quality.STALE, Cause(Reason.OFFLINE_SINCE_TIME, {"since": dt.time(12)}), COMMUNICATION_FAILURE),
    (Quality.SUSPECT, Cause(Reason.STUCK, {"hours": 5}), UNRELIABLE),
    (Quality.STARTING, Cause(Reason.TOO_FEW_READINGS), UNRELIABLE),
    (Quality.UNTRAINED, Cause(Reason.NO_MODEL), CONFIGURATION_ERROR),
]


@pytest.mark.parametrize(("quality", "cause", "reliability"), UNKNOWN)
def test_unknown_count_is_a_fault_and_never_zero(quality, cause, reliability):
    async def main():
        async with device_and_client("lab") as (device, client):
            assert await client.read(PEOPLE, PRESENT_VALUE) == 0.0  # an empty room
            unknown = make_state(
                "lab", None, quality=quality, cause=cause, low=None, high=None, time=device.pipeline.now()
            )
            await published(device, client, unknown)
            for target in (PEOPLE, LOW, HIGH, OCCUPIED):
                value = await client.read(target, PRESENT_VALUE)
                assert value == 1 if target is OCCUPIED else math.isnan(value)
                assert await client.read(target, STATUS_FLAGS) == FAULT
                assert await client.read(target, RELIABILITY) == reliability
                assert await client.read(target, bacnet.OUT_OF_SERVICE) is False
                assert await client.read(target, bacnet.EVENT_STATE) == 0
            await published(device, client, make_state("lab", 0))
            assert await client.read(PEOPLE, PRESENT_VALUE) == 0.0
            assert await client.read(OCCUPIED, PRESENT_VALUE) == 0
            for target in (PEOPLE, LOW, HIGH, OCCUPIED):
                assert await client.read(target, STATUS_FLAGS) == NORMAL
                assert await client.read(target, RELIABILITY) == NO_FAULT

    asyncio.run(main())


NOW = dt.datetime(2026, 3, 2, 12, tzinfo=dt.UTC)


def co2_of(state, age=0.0):
    """Return value and reliability of CO2 for a state of this age [min], with stale_after 15 min."""
    return room_objects.room_values(state, state.time + dt.timedelta(minutes=age), 15.0)["co2"]


@pytest.mark.parametrize("quality", [Quality.OK, Quality.STARTING, Quality.UNTRAINED])
def test_co2_is_known_without_a_count(quality):
    assert co2_of(make_state("lab", None, quality=quality)) == (808.5, NO_FAULT)


@pytest.mark.parametrize(
    ("quality", "reliability"), [(Quality.STALE, COMMUNICATION_FAILURE), (Quality.SUSPECT, UNRELIABLE)]
)
def test_co2_of_a_faulty_sensor_is_unknown(quality, reliability):
    assert co2_of(make_state("lab", None, quality=quality)) == (None, reliability)


def test_co2_of_an_untrained_room_ages():
    state = make_state("lab", None, quality=Quality.UNTRAINED)
    assert co2_of(state, age=15.0) == (808.5, NO_FAULT)
    assert co2_of(state, age=15.1) == (None, COMMUNICATION_FAILURE)
    assert co2_of(make_state("lab", 3), age=15.1) == (808.5, NO_FAULT)  # a trained room reports it itself


@pytest.mark.parametrize("co2", [None, math.nan, math.inf])
def test_missing_co2_is_unknown(co2):
    assert co2_of(make_state("lab", None, quality=Quality.UNTRAINED, co2_smoothed=co2)) == (None, NO_SENSOR)
    assert co2_of(make_state("lab", 3, co2_smoothed=co2)) == (None, UNRELIABLE)


def test_room_without_any_reading_has_no_sensor():
    state = unknown_state("lab", Quality.UNTRAINED, Cause(Reason.NO_MODEL))
    values = room_objects.room_values(state, NOW, 15.0)
    assert values.pop("co2") == (None, NO_SENSOR)
    assert set(values.values()) == {(None, CONFIGURATION_ERROR)}


def test_model_without_intervals_has_no_limits():
    values = room_objects.room_values(make_state("lab", 3, low=None, high=math.nan), NOW, 15.0)
    assert values["people"] == (3, NO_FAULT)
    assert values["low"] == values["high"] == (None, CONFIGURATION_ERROR)


def test_age_of_co2_is_checked_without_new_states(monkeypatch):
    async def main():
        async with device_and_client("lab") as (device, client):
            now = device.pipeline.now()
            device.pipeline.now = lambda: now
            state = make_state("lab", None, quality=Quality.UNTRAINED, time=now)
            await published(device, client, state)
            assert await client.read(CO2, PRESENT_VALUE) == 808.5
            await client.subscribe(CO2)
            assert (await client.notification()).values == {PRESENT_VALUE: 808.5, STATUS_FLAGS: NORMAL}
            now += dt.timedelta(minutes=16)
            notified = (await client.notification()).values
            assert math.isnan(notified[PRESENT_VALUE])
            assert notified[STATUS_FLAGS] == FAULT

    monkeypatch.setattr(room_objects, "AGE_CHECK_EVERY", 0.05)
    asyncio.run(main())


def rooms_named(**names):
    return {id_: RoomConfig(id=id_, name=name) for id_, name in names.items()}


def test_rooms_are_added_and_removed():
    async def main():
        async with device_and_client("lab", "kitchen") as (device, client):
            revision = await client.read((DEVICE, INSTANCE), bacnet.DATABASE_REVISION)
            kitchen = (ANALOG_VALUE, 21)
            await client.subscribe(PEOPLE)
            await client.subscribe(kitchen)
            assert {(await client.notification()).target for _ in range(2)} == {PEOPLE, kitchen}

            device.objects.use_rooms(rooms_named(lab="Lab 2", hall="Hall"))
            await until(lambda: device.objects.is_complete)
            with pytest.raises(Refused, match="5, 1, 31"):  # unknown object
                await client.read(kitchen, PRESENT_VALUE)
            assert await client.read((ANALOG_VALUE, 31), bacnet.OBJECT_NAME) == "hall.people"
            assert await client.read((ANALOG_VALUE, 31), STATUS_FLAGS) == FAULT  # no state yet
            assert await client.read(PEOPLE, bacnet.DESCRIPTION) == "Lab 2: people, estimated from CO2"
            assert device.application.subscriptions == 1
            changed = await client.read((DEVICE, INSTANCE), bacnet.DATABASE_REVISION)
            assert changed != revision
            assert len(await client.read((DEVICE, INSTANCE), bacnet.OBJECT_LIST)) == 12

            device.pipeline.publish(make_state("kitchen", 9), make_state("lab", 5), make_state("hall", 4))
            assert (await client.notification()).values[PRESENT_VALUE] == 5.0
            await until(lambda: device.objects._rooms["hall"].objects["people"].presentValue == 4)

            device.objects.use_rooms(make_config("lab", "kitchen").rooms)
            await until(lambda: device.objects.is_complete)
            assert await client.read(kitchen, bacnet.OBJECT_NAME) == "kitchen.people"
            assert await client.read(kitchen, PRESENT_VALUE) == 9.0
            assert await client.read((DEVICE, INSTANCE), bacnet.DATABASE_REVISION) == revision

    asyncio.run(main())


def test_outdoor_air_has_objects_in_rooms_with_settings_for_it():
    async def main():
        async with device_and_client("lab", "kitchen") as (device, client):
            revision = await client.read((DEVICE, INSTANCE), bacnet.DATABASE_REVISION)
            rooms = make_config("lab", "kitchen").rooms
            air = OutdoorAirTable(standard="EN 16798-1", area=40)
            with_air = {**rooms, "lab": rooms["lab"].model_copy(update={"outdoor_air": air})}
            state = make_state("lab", 3, outdoor_air=56.25, damper=0.5, outdoor_air_people=4.5)
            device.pipeline.publish(state)

            device.objects.use_rooms(with_air)
            await until(lambda: device.objects.is_complete)
            for instance, name, value, units in ((16, "outdoor_air", 56.25, 87), (17, "damper", 50.0, 98)):
                target = (ANALOG_VALUE, instance)
                assert await client.read(target, bacnet.OBJECT_NAME) == f"lab.{name}"
                assert await client.read(target, PRESENT_VALUE) == value
                assert await client.read(target, bacnet.UNITS) == units  # L/s and %, ASHRAE 135, clause 21
                assert await client.read(target, STATUS_FLAGS) == NORMAL
            with pytest.raises(Refused, match="5, 1, 31"):  # unknown object
                await client.read((ANALOG_VALUE, 26), PRESENT_VALUE)
            assert await client.read((DEVICE, INSTANCE), bacnet.DATABASE_REVISION) != revision

            device.objects.use_rooms(rooms)
            await until(lambda: device.objects.is_complete)
            with pytest.raises(Refused, match="5, 1, 31"):
                await client.read((ANALOG_VALUE, 16), PRESENT_VALUE)
            assert await client.read((DEVICE, INSTANCE), bacnet.DATABASE_REVISION) == revision

    asyncio.run(main())


def test_numbers_of_the_store_are_used(store):
    async def main():
        store.room_numbers(["lab", "hall"])
        async with device_and_client("kitchen", "hall", store=store) as (_, client):
            assert await client.read((ANALOG_VALUE, 21), bacnet.OBJECT_NAME) == "hall.people"
            assert await client.read((ANALOG_VALUE, 31), bacnet.OBJECT_NAME) == "kitchen.people"
        async with device_and_client("new", "kitchen", "lab", store=store) as (_, client):
            assert await client.read(PEOPLE, bacnet.OBJECT_NAME) == "lab.people"
            assert await client.read((ANALOG_VALUE, 31), bacnet.OBJECT_NAME) == "kitchen.people"
            assert await client.read((ANALOG_VALUE, 41), bacnet.OBJECT_NAME) == "new.people"

    asyncio.run(main())


def test_unavailable_store_is_tried_again(monkeypatch, caplog):
    class FailingNumbers(Numbers):
        failures = 2

        def room_numbers(self, rooms):
            if self.failures:
                self.failures -= 1
                raise StoreError("store sqlite:///x: disk I/O error")
            return super().room_numbers(rooms)

    async def main():
        async with device_and_client("lab", store=FailingNumbers()) as (_, client):
            assert await client.read(PEOPLE, PRESENT_VALUE) == 0.0

    monkeypatch.setattr(room_objects, "STORE_RETRY", 0.0)
    asyncio.run(main())
    assert [record.getMessage() for record in caplog.records] == [
        "the BACnet objects of new rooms are not added yet: store sqlite:///x: disk I/O error"
    ] * 2


def test_room_beyond_the_last_instance_number_has_no_objects(caplog):
    async def main():
        numbers = Numbers()
        # the largest instance number is 4194302
        numbers.given = {"last": 419_429, "none": 419_430}
        async with device_and_client("last", store=numbers) as (device, client):
            assert await client.read((BINARY_VALUE, 4_194_295), bacnet.OBJECT_NAME) == "last.occupied"
            device.objects.use_rooms(rooms_named(last="Last", none="None"))
            await until(lambda: caplog.records)
            assert len(await client.read((DEVICE, INSTANCE), bacnet.OBJECT_LIST)) == 7

    asyncio.run(main())
    assert caplog.messages == ["room none has no BACnet objects: there are no instance numbers left"]


def test_other_tasks_run_while_many_rooms_are_added():
    async def main():
        rooms = [f"room-{k}" for k in range(1_000)]
        async with running_device("lab") as device:
            turns = 0

            async def count():
                nonlocal turns
                while not device.objects.is_complete:
                    turns += 1
                    await asyncio.sleep(0)

            device.objects.use_rooms(make_config(*rooms).rooms)
            await count()
            assert turns >= 1_000 / room_objects.ROOMS_AT_ONCE
            assert len(device.application.objectIdentifier) == 5 * 1_000 + 2

    asyncio.run(main())


def test_document_has_the_numbers_of_the_objects():
    text = (Path(__file__).parents[3] / "docs/bacnet.md").read_text()
    rows = [
        [cell.strip() for cell in line.split("|")[1:6]] for line in text.splitlines() if "10 k + " in line
    ]
    documented = {
        row[0].strip("`").removeprefix("ID."): (int(row[3][-1]), row[2], row[4])
        for row in rows
        if len(row) == 5
    }
    assert documented.pop("occupied") == (DIGITS["occupied"], "", "every change")
    assert documented == {
        key: (DIGITS[key], str(one.units), f"{one.increment:g}")
        for key, one in (room_objects.ANALOG | room_objects.AIR).items()
    }
    assert f"Up to {cov_services.MAX_SUBSCRIPTIONS:,} subscriptions" in text
    assert f"{cov_services.MAX_OF_CLIENT:,} of one client" in " ".join(text.split())
    assert f"more than {cov_services.MAX_LISTED} subscriptions" in " ".join(text.split())
    assert "from 1 second to 1 day" in text
    assert cov_services.MAX_LIFETIME == 24 * 3600
    assert f"sent up to {cov_services.MAX_UNACKNOWLEDGED} at a time" in " ".join(text.split())


def test_two_devices_run_on_one_machine():
    async def main():
        async with (
            device_and_client("lab") as (_, first),
            device_and_client("hall", instance=INSTANCE + 1) as (_, second),
        ):
            assert await first.read(PEOPLE, bacnet.OBJECT_NAME) == "lab.people"
            assert await second.read(PEOPLE, bacnet.OBJECT_NAME) == "hall.people"
            assert await second.read((DEVICE, 0x3FFFFF), bacnet.OBJECT_IDENTIFIER) == (DEVICE, INSTANCE + 1)

    asyncio.run(main())
