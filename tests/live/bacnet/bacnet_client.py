"""A small BACnet/IP client that encodes and decodes bytes by ASHRAE 135, without any BACnet library.

Only what the tests need: confirmed requests without segmentation, their answers, and COV notifications.
"""

from __future__ import annotations

import asyncio
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

ANALOG_VALUE, BINARY_VALUE, DEVICE = 2, 5, 8
PRESENT_VALUE, STATUS_FLAGS, RELIABILITY, OBJECT_NAME, DESCRIPTION = 85, 111, 103, 77, 28
OUT_OF_SERVICE, EVENT_STATE, UNITS, COV_INCREMENT, OBJECT_TYPE = 81, 36, 117, 22, 79
OBJECT_IDENTIFIER, OBJECT_LIST, PROPERTY_LIST, ALL, REQUIRED = 75, 76, 371, 8, 105
ACTIVE_COV_SUBSCRIPTIONS, SERVICES_SUPPORTED, TYPES_SUPPORTED, DATABASE_REVISION = 152, 97, 96, 155
NO_UNITS, PARTS_PER_MILLION = 95, 96

SUBSCRIBE_COV, READ_PROPERTY, READ_PROPERTY_MULTIPLE, WRITE_PROPERTY = 5, 12, 14, 15
CONFIRMED_COV, UNCONFIRMED_COV = 1, 2
REQUEST, UNCONFIRMED, SIMPLE_ACK, COMPLEX_ACK, ERROR, REJECT, ABORT = 0, 1, 2, 3, 5, 6, 7
TIMEOUT = 300.0
"""Longer than an answer takes on a slow machine [s]."""


class Refused(Exception):
    """The device answered with an error (class, code), a reject or an abort (reason)."""

    def __init__(self, kind: int, *numbers: int, body: bytes = b"") -> None:
        super().__init__(kind, *numbers)
        self.kind, self.numbers, self.body = kind, numbers, body


class Notification(NamedTuple):
    process: int
    device: int
    target: tuple[int, int]
    remaining: int
    values: dict[int, Any]
    confirmed: bool


class Tag(NamedTuple):
    """A tag: its number, whether it is a context tag, "open", "close" or "value", and the data."""

    number: int
    context: bool
    kind: str
    data: bytes


# ---- encoding ----


def object_id(kind: int, instance: int) -> bytes:
    return struct.pack(">I", kind << 22 | instance)


def unsigned(value: int) -> bytes:
    return value.to_bytes(max(1, (value.bit_length() + 7) // 8), "big")


def context(number: int, data: bytes) -> bytes:
    assert len(data) < 5
    return bytes([number << 4 | 8 | len(data)]) + data


def enclosed(number: int, data: bytes) -> bytes:
    return bytes([number << 4 | 0xE]) + data + bytes([number << 4 | 0xF])


def real(value: float) -> bytes:
    return b"\x44" + struct.pack(">f", value)


def enumerated(value: int) -> bytes:
    return b"\x91" + bytes([value])


# ---- decoding ----


def tags(data: bytes) -> list[Tag]:
    found, place = [], 0
    while place < len(data):
        first = data[place]
        number, is_context, length = first >> 4, bool(first & 8), first & 7
        place += 1
        if number == 15:
            number, place = data[place], place + 1
        if is_context and length in (6, 7):
            found.append(Tag(number, True, "open" if length == 6 else "close", b""))
            continue
        if not is_context and number == 1:  # a boolean is its own length
            found.append(Tag(1, False, "value", bytes([length])))
            continue
        if length == 5:
            length, place = data[place], place + 1
            if length == 254:
                length, place = int.from_bytes(data[place : place + 2], "big"), place + 2
        found.append(Tag(number, is_context, "value", data[place : place + length]))
        place += length
    assert place == len(data)
    return found


def value(tag: Tag) -> Any:
    """Decode an application tag."""
    assert not tag.context
    assert tag.kind == "value"
    if tag.number == 1:
        return bool(tag.data[0])
    if tag.number in (2, 9):
        return int.from_bytes(tag.data, "big")
    if tag.number == 4:
        return struct.unpack(">f", tag.data)[0]
    if tag.number == 7:
        assert tag.data[0] == 0  # UTF-8
        return tag.data[1:].decode()
    if tag.number == 8:
        bits = "".join(f"{byte:08b}" for byte in tag.data[1:])
        return bits[: len(bits) - tag.data[0]]
    if tag.number == 12:
        number = int.from_bytes(tag.data, "big")
        return number >> 22, number & 0x3FFFFF
    raise AssertionError(f"tag {tag.number}")


def content(found: list[Tag], number: int) -> list[Tag]:
    """Take what is enclosed by the opening and closing tag at the front."""
    assert (found[0].number, found[0].kind) == (number, "open")
    depth = 0
    for place, tag in enumerate(found):
        depth += {"open": 1, "close": -1}.get(tag.kind, 0)
        if depth == 0:
            inside = found[1:place]
            del found[: place + 1]
            return inside
    raise AssertionError("no closing tag")


def take(found: list[Tag], number: int) -> int:
    tag = found.pop(0)
    assert (tag.number, tag.context, tag.kind) == (number, True, "value")
    return int.from_bytes(tag.data, "big")


# ---- the client ----


class BacnetClient(asyncio.DatagramProtocol):
    """A client on a port of its own. ``acknowledges`` is whether it acknowledges COV notifications."""

    def __init__(self, port: int) -> None:
        self.server = ("127.0.0.1", port)
        self.acknowledges = True
        self.notifications: asyncio.Queue[Notification] = asyncio.Queue()
        self.unacknowledged: list[int] = []
        self.unconfirmed: asyncio.Queue[bytes] = asyncio.Queue()  # other messages without a reply
        self._answers: dict[int, asyncio.Future[bytes]] = {}
        self._next = 0

    @classmethod
    @asynccontextmanager
    async def connect(cls, port: int) -> AsyncIterator[BacnetClient]:
        loop = asyncio.get_running_loop()
        _, client = await loop.create_datagram_endpoint(lambda: cls(port), local_addr=("127.0.0.1", 0))
        try:
            yield client
        finally:
            client.transport.close()

    def connection_made(self, transport: Any) -> None:
        self.transport = transport

    def datagram_received(self, data: bytes, _address: Any) -> None:
        assert data[0] == 0x81
        assert int.from_bytes(data[2:4], "big") == len(data)
        assert data[1] == 0x0A, "original unicast"
        version, control = data[4:6]
        assert version == 1
        assert control & 0xA8 == 0, "no network message, no routing"
        self._receive(data[6:])

    def _receive(self, apdu: bytes) -> None:
        kind = apdu[0] >> 4
        if kind == UNCONFIRMED:
            if apdu[1] == UNCONFIRMED_COV:
                self.notifications.put_nowait(parse_notification(apdu[2:], confirmed=False))
            else:
                self.unconfirmed.put_nowait(apdu[1:])
        elif kind == REQUEST:
            assert apdu[3] == CONFIRMED_COV
            if self.acknowledges:
                self.send(bytes([SIMPLE_ACK << 4, apdu[2], CONFIRMED_COV]))
                self.notifications.put_nowait(parse_notification(apdu[4:], confirmed=True))
            else:
                self.unacknowledged.append(apdu[2])
        elif (answer := self._answers.pop(apdu[1], None)) is not None:
            answer.set_result(apdu)

    def send(self, apdu: bytes, *, expects_reply: bool = False) -> None:
        npdu = bytes([1, 4 if expects_reply else 0]) + apdu
        self.transport.sendto(struct.pack(">BBH", 0x81, 0x0A, len(npdu) + 4) + npdu, self.server)

    async def request(self, service: int, body: bytes) -> bytes:
        """Send a confirmed request and return the body of the answer, empty for a simple acknowledgement."""
        number = self._next = (self._next + 1) % 256
        answer = self._answers[number] = asyncio.get_running_loop().create_future()
        self.send(bytes([REQUEST << 4, 0x05, number, service]) + body, expects_reply=True)
        apdu = await asyncio.wait_for(answer, TIMEOUT)
        kind = apdu[0] >> 4
        if kind in (SIMPLE_ACK, COMPLEX_ACK):
            assert apdu[2] == service
            return apdu[3:]
        if kind in (REJECT, ABORT):
            raise Refused(kind, apdu[2])
        assert kind == ERROR
        assert apdu[2] == service
        found = [tag for tag in tags(apdu[3:]) if tag.kind == "value" and not tag.context]
        raise Refused(ERROR, value(found[0]), value(found[1]), body=apdu[3:])

    async def read(self, target: tuple[int, int], prop: int, index: int | None = None) -> Any:
        """Read a property; a list if it has several elements."""
        body = context(0, object_id(*target)) + context(1, unsigned(prop))
        body += b"" if index is None else context(2, unsigned(index))
        found = tags(await self.request(READ_PROPERTY, body))
        assert take(found, 0) == int.from_bytes(object_id(*target), "big")
        assert take(found, 1) == prop
        if index is not None:
            assert take(found, 2) == index
        inside = content(found, 3)
        assert found == []
        if any(tag.context for tag in inside):
            return inside
        values = [value(tag) for tag in inside]
        return values[0] if len(values) == 1 else values

    async def read_multiple(self, target: tuple[int, int], prop: int = ALL) -> dict[int, Any]:
        """Read all, required or other properties of an object at once."""
        body = context(0, object_id(*target)) + enclosed(1, context(0, unsigned(prop)))
        found = tags(await self.request(READ_PROPERTY_MULTIPLE, body))
        assert take(found, 0) == int.from_bytes(object_id(*target), "big")
        inside, values = content(found, 1), {}
        assert found == []
        while inside:
            number = take(inside, 2)
            (tag,) = content(inside, 4)
            values[number] = value(tag)
        return values

    async def write(
        self, target: tuple[int, int], prop: int, encoded: bytes, priority: int | None = None
    ) -> bytes:
        """Write a property."""
        body = context(0, object_id(*target)) + context(1, unsigned(prop)) + enclosed(3, encoded)
        body += b"" if priority is None else context(4, unsigned(priority))
        return await self.request(WRITE_PROPERTY, body)

    async def subscribe(
        self,
        target: tuple[int, int],
        *,
        process: int = 1,
        confirmed: bool | None = False,
        lifetime: int | None = 600,
    ) -> None:
        """Subscribe to COV; without ``confirmed`` and ``lifetime``, cancel."""
        body = context(0, unsigned(process)) + context(1, object_id(*target))
        body += b"" if confirmed is None else context(2, bytes([confirmed]))
        body += b"" if lifetime is None else context(3, unsigned(lifetime))
        assert await self.request(SUBSCRIBE_COV, body) == b""

    async def notification(self) -> Notification:
        return await asyncio.wait_for(self.notifications.get(), TIMEOUT)


def parse_notification(body: bytes, *, confirmed: bool) -> Notification:
    found = tags(body)
    process, device, target, remaining = (take(found, number) for number in range(4))
    assert device >> 22 == DEVICE
    inside, values = content(found, 4), {}
    assert found == []
    while inside:
        number = take(inside, 0)
        (tag,) = content(inside, 2)
        values[number] = value(tag)
    return Notification(
        process, device & 0x3FFFFF, (target >> 22, target & 0x3FFFFF), remaining, values, confirmed
    )
