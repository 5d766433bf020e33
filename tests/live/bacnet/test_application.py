"""The BACnet application: its UDP port, registration with a BBMD, device name and object types."""

import asyncio
import socket
import struct

import pytest
from bacpypes3.primitivedata import ObjectIdentifier, ObjectType
from live.bacnet_helpers import own_device

from occupair.errors import InputError
from occupair.live.bacnet.application import close_application, open_application
from occupair.live.config.values import OBJECT_TYPES


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
