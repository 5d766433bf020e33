"""No request changes or controls the device: every service that writes is refused."""

import asyncio
import struct

import pytest
from bacpypes3.app import Application
from bacpypes3.local.analog import AnalogValueObject
from bacpypes3.local.device import DeviceObject
from bacpypes3.local.networkport import NetworkPortObject
from live.bacnet.bacnet_client import (
    ANALOG_VALUE,
    BINARY_VALUE,
    COV_INCREMENT,
    DESCRIPTION,
    DEVICE,
    ERROR,
    OBJECT_LIST,
    OBJECT_NAME,
    OUT_OF_SERVICE,
    PRESENT_VALUE,
    REJECT,
    RELIABILITY,
    SERVICES_SUPPORTED,
    TYPES_SUPPORTED,
    UNCONFIRMED,
    BacnetClient,
    Refused,
    context,
    enclosed,
    enumerated,
    object_id,
    real,
    unsigned,
)
from live.bacnet.bacnet_device import INSTANCE, free_udp_port, is_bound, running_device
from live.waiting import until

PEOPLE, OCCUPIED = (ANALOG_VALUE, 21), (BINARY_VALUE, 25)  # of the second room, which has 1 person
OBJECT, PROPERTY = 1, 2  # error classes
UNKNOWN_OBJECT, UNKNOWN_PROPERTY, WRITE_ACCESS_DENIED = 31, 32, 40  # error codes
UNRECOGNIZED_SERVICE, MISSING_REQUIRED_PARAMETER = 9, 5  # reject reasons


def run(scenario):
    """Run a scenario with a device and a client, and check that nothing has changed."""

    async def main():
        async with running_device("lab", "kitchen") as device, BacnetClient.connect(device.port) as client:
            before = await everything(client)
            await scenario(client)
            assert await everything(client) == before

    asyncio.run(main())


async def everything(client):
    values = [await client.read_multiple(target) for target in (PEOPLE, OCCUPIED)]
    assert [one[PRESENT_VALUE] for one in values] == [1.0, 1]
    return values, await client.read((DEVICE, INSTANCE), OBJECT_LIST)


async def refusal(client, service, body):
    with pytest.raises(Refused) as refused:
        await client.request(service, body)
    return refused.value


@pytest.mark.parametrize("priority", [None, 8])
@pytest.mark.parametrize(
    ("target", "prop", "encoded"),
    [
        (PEOPLE, PRESENT_VALUE, real(9.0)),
        (PEOPLE, PRESENT_VALUE, b"\x00"),  # null, which gives up a priority
        (PEOPLE, PRESENT_VALUE, b"\x71\x00"),  # of the wrong type
        (PEOPLE, COV_INCREMENT, real(0.0)),
        (PEOPLE, OUT_OF_SERVICE, b"\x11"),
        (PEOPLE, RELIABILITY, enumerated(7)),
        (PEOPLE, DESCRIPTION, b"\x72\x00x"),
        (PEOPLE, OBJECT_NAME, b"\x72\x00x"),
        (OCCUPIED, PRESENT_VALUE, enumerated(0)),
        ((DEVICE, INSTANCE), OBJECT_NAME, b"\x72\x00x"),
        ((DEVICE, 0x3FFFFF), DESCRIPTION, b"\x72\x00x"),  # the device, whatever its number
    ],
)
def test_property_cannot_be_written(target, prop, encoded, priority):
    async def scenario(client):
        with pytest.raises(Refused) as refused:
            await client.write(target, prop, encoded, priority)
        assert (refused.value.kind, refused.value.numbers) == (ERROR, (PROPERTY, WRITE_ACCESS_DENIED))

    run(scenario)


def test_same_request_changes_an_object_of_bacpypes3():
    async def main():
        port = free_udp_port()
        network = NetworkPortObject(
            f"127.0.0.1/24:{port}", objectIdentifier=("network-port", 1), objectName="port"
        )
        people = AnalogValueObject(objectIdentifier=("analog-value", 21), objectName="x", presentValue=1.0)
        device = DeviceObject(objectIdentifier=("device", 1), objectName="device")
        application = Application.from_object_list([device, network, people])
        try:
            await until(lambda: is_bound(port))
            async with BacnetClient.connect(port) as client:
                assert await client.write(PEOPLE, PRESENT_VALUE, real(9.0)) == b""
                assert await client.read(PEOPLE, PRESENT_VALUE) == 9.0
        finally:
            application.close()

    asyncio.run(main())


def test_unknown_objects_and_properties_are_named_as_such():
    async def scenario(client):
        for target, prop, numbers in (
            ((ANALOG_VALUE, 29), PRESENT_VALUE, (OBJECT, UNKNOWN_OBJECT)),
            ((DEVICE, 1), OBJECT_NAME, (OBJECT, UNKNOWN_OBJECT)),
            (PEOPLE, 87, (PROPERTY, UNKNOWN_PROPERTY)),  # there is no priority array
            (PEOPLE, 500, (PROPERTY, UNKNOWN_PROPERTY)),  # nor any property of this number
        ):
            with pytest.raises(Refused) as refused:
                await client.write(target, prop, real(1.0))
            assert (refused.value.kind, refused.value.numbers) == (ERROR, numbers)

    run(scenario)


def test_several_properties_cannot_be_written():
    async def scenario(client):
        values = context(0, unsigned(PRESENT_VALUE)) + enclosed(2, real(9.0))
        body = context(0, object_id(*PEOPLE)) + enclosed(1, values)
        refused = await refusal(client, 16, body * 2)
        assert (refused.kind, refused.numbers) == (ERROR, (PROPERTY, WRITE_ACCESS_DENIED))
        # WritePropertyMultiple-Error: the error, and the first property that was not written
        first = context(0, object_id(*PEOPLE)) + context(1, unsigned(PRESENT_VALUE))
        assert refused.body == enclosed(0, enumerated(PROPERTY) + enumerated(WRITE_ACCESS_DENIED)) + enclosed(
            1, first
        )
        unknown = context(0, object_id(ANALOG_VALUE, 29)) + enclosed(1, values)
        assert (await refusal(client, 16, unknown)).numbers == (OBJECT, UNKNOWN_OBJECT)
        empty = context(0, object_id(*PEOPLE)) + enclosed(1, b"")
        assert (await refusal(client, 16, empty)).numbers == (MISSING_REQUIRED_PARAMETER,)

    run(scenario)


LIST = context(0, object_id(DEVICE, INSTANCE)) + context(1, unsigned(OBJECT_LIST))
LIST += enclosed(3, b"\xc4" + object_id(ANALOG_VALUE, 99))
SERVICES = {
    "AtomicReadFile": (6, b"\xc4" + object_id(10, 1) + enclosed(0, b"\x31\x00\x21\x01")),
    "AtomicWriteFile": (7, b"\xc4" + object_id(10, 1) + enclosed(0, b"\x31\x00\x61\x41")),
    "AddListElement": (8, LIST),
    "RemoveListElement": (9, LIST),
    "CreateObject": (10, enclosed(0, context(0, unsigned(ANALOG_VALUE)))),
    "DeleteObject": (11, b"\xc4" + object_id(*PEOPLE)),
    "DeviceCommunicationControl": (17, context(1, unsigned(1))),
    "ConfirmedPrivateTransfer": (18, context(0, unsigned(1)) + context(1, unsigned(1))),
    "ReinitializeDevice": (20, context(0, unsigned(0))),
    "VTOpen": (21, enumerated(0) + b"\x21\x01"),
    "ReadRange": (26, context(0, object_id(*PEOPLE)) + context(1, unsigned(PRESENT_VALUE))),
    "LifeSafetyOperation": (27, context(0, unsigned(1)) + b"\x1a\x00x" + context(2, unsigned(4))),
    "SubscribeCOVProperty": (
        28,
        context(0, unsigned(1)) + context(1, object_id(*PEOPLE)) + enclosed(4, context(0, unsigned(85))),
    ),
}


@pytest.mark.parametrize("name", SERVICES)
def test_service_is_rejected(name):
    async def scenario(client):
        refused = await refusal(client, *SERVICES[name])
        assert (refused.kind, refused.numbers) == (REJECT, (UNRECOGNIZED_SERVICE,))

    run(scenario)


@pytest.mark.parametrize(
    ("service", "body"),
    [
        (6, b"\xa4\x7e\x0b\x11\x02\xb4\x0c\x00\x00\x00"),  # TimeSynchronization
        (9, b"\xa4\x7e\x0b\x11\x02\xb4\x0c\x00\x00\x00"),  # UTCTimeSynchronization
        (10, context(0, unsigned(1)) + context(1, unsigned(1)) + enclosed(2, b"")),  # WriteGroup
        (4, context(0, unsigned(1)) + context(1, unsigned(1))),  # UnconfirmedPrivateTransfer
    ],
)
def test_request_without_a_reply_is_ignored(service, body):
    async def scenario(client):
        client.send(bytes([UNCONFIRMED << 4, service]) + body)

    run(scenario)  # the device has answered a later request


def test_malformed_request_does_not_stop_the_device():
    async def scenario(client):
        for apdu in (b"", b"\x00", b"\x00\x05\x63", b"\x00\x05\x64\x0f\xff", b"\x10", b"\x10\xff", b"\xf0"):
            client.send(apdu, expects_reply=True)
        client.transport.sendto(b"", client.server)
        client.transport.sendto(b"\x81\x0a\xff\xff\x01", client.server)

    run(scenario)


def test_supported_services_and_types_are_those_of_the_device():
    async def scenario(client):
        services = await client.read((DEVICE, INSTANCE), SERVICES_SUPPORTED)
        places = {place for place, bit in enumerate(services) if bit == "1"}
        # BACnetServicesSupported: COV notifications, SubscribeCOV, ReadProperty, ReadPropertyMultiple,
        # WriteProperty and WritePropertyMultiple (which are refused), I-Am, I-Have, Who-Has, Who-Is
        assert places == {1, 5, 12, 14, 15, 16, 26, 27, 28, 33, 34}
        types = await client.read((DEVICE, INSTANCE), TYPES_SUPPORTED)
        assert {place for place, bit in enumerate(types) if bit == "1"} == {
            ANALOG_VALUE,
            BINARY_VALUE,
            DEVICE,
            56,
        }

    run(scenario)


def test_device_answers_who_is_and_who_has():
    async def scenario(client):
        client.send(bytes([UNCONFIRMED << 4, 8]))
        i_am = await client.unconfirmed.get()
        assert i_am[:6] == b"\x00\xc4" + object_id(DEVICE, INSTANCE)
        name = b"\x00kitchen.people"
        client.send(bytes([UNCONFIRMED << 4, 7]) + b"\x3d" + struct.pack("B", len(name)) + name)
        i_have = await client.unconfirmed.get()
        assert i_have[:11] == b"\x01\xc4" + object_id(DEVICE, INSTANCE) + b"\xc4" + object_id(*PEOPLE)

    run(scenario)
