"""Properties of BACnet objects, as the tags that a device sends. The first byte chooses the quantity."""

from __future__ import annotations

import math
import struct
from random import Random

from bacpypes3.errors import DecodingError, InvalidTag
from bacpypes3.pdu import PDUData
from bacpypes3.primitivedata import TagList

from occupair.errors import InputError
from occupair.live.bacnet.point_values import DESCRIPTION, co2_increment, point_value
from occupair.live.bacnet.property_reads import Properties, add_property
from occupair.live.config import BacnetPoint, VentilationPoint
from occupair.readings.other_sensors import SENSORS
from tools.fuzz.byte_mutations import mutate_bytes
from tools.fuzz.trial import check

_POINT = BacnetPoint(bacnet="10.0.2.7", object="analog-input,12")
_VENTILATION = tuple(
    VentilationPoint(bacnet="10.0.2.7", object=kind, full=full)
    for kind, full in (
        ("analog-value,1", 100),
        ("multi-state-value,1", 3),
        ("binary-output,1", 1),
        ("analog-input,1", 1),
    )
)
_REALS = (612.0, 0.0612, 21.5, 0.0, -1.0, 1e38, math.nan, math.inf, 1e-40, 100.0, 5.5)


def generate(random: Random) -> bytes:
    """Return a quantity, then the properties: index, length and tags of each."""
    data = bytes([random.randrange(256)])
    for _ in range(random.randint(1, 6)):
        tags = b"".join(_tag(random) for _ in range(random.choice((1, 1, 1, 1, 0, 2))))
        tags = mutate_bytes(tags, random)[:255] if random.random() < 0.2 else tags[:255]
        data += bytes([random.choice((0, 0, 0, 1, 2, 3, 4, 4, 5))]) + bytes([len(tags)]) + tags
    return data


def _tag(random: Random) -> bytes:
    """Return one application tag."""
    match random.randrange(12):
        case 0:
            return b"\x00"  # null
        case 1:
            return bytes([0x10 | random.randrange(2)])  # boolean
        case 2:
            value = (
                random.choice((0, 1, 2, 98, 95, 96, 62, 64, 255, 70_000)).to_bytes(4, "big").lstrip(b"\0")
                or b"\0"
            )
            return (
                bytes([random.choice((0x20, 0x30, 0x90)) | len(value)]) + value
            )  # unsigned, signed, enumerated
        case 3 | 4 | 5 | 6:
            return b"\x44" + struct.pack(">f", random.choice(_REALS))
        case 7:
            return b"\x55\x08" + struct.pack(">d", random.choice((612.0, 1e308, math.nan, -math.inf)))
        case 8:
            return b"\x82\x04" + bytes([random.choice((0, 0, 0x40, 0x10, 0xF0))])  # status flags
        case 9:
            return b"\x75\x05\x00" + random.choice((b"612\n", b"\xff\xfe\x00\x00", b"nan ", b"abcd"))  # text
        case 10:
            return b"\xa4\x7c\x01\x08\x01" if random.random() < 0.5 else b"\xb4\x09\x00\x00\x00"  # date, time
        case _:
            return b"\xc4\x00\x00\x00\x0c" if random.random() < 0.5 else b"\x65\x05\x00\x01\x02\x03\x04"


class _Any:
    def __init__(self, tags: TagList) -> None:
        self.tagList = tags


def run(data: bytes) -> None:
    choice, place = (data or b"\0")[0], 1
    properties: Properties = {}
    while place + 2 <= len(data):
        length = data[place + 1]
        try:
            tags = TagList.decode(PDUData(data[place + 2 : place + 2 + length]))
        except (DecodingError, InvalidTag):
            raise InputError("no tags, which bacpypes3 rejects") from None
        add_property(properties, DESCRIPTION[data[place] % len(DESCRIPTION)], _Any(tags))
        place += 2 + length
    increment = co2_increment(properties)
    check(increment is None or isinstance(increment, float), "increment must be a number")
    quantities = ("co2", "co2", "ventilation", *SENSORS)
    quantity = quantities[choice % len(quantities)]
    point = _VENTILATION[choice % len(_VENTILATION)] if quantity == "ventilation" else _POINT
    value = point_value(quantity, point, properties)
    check(type(value) is float and math.isfinite(value), "value must be a finite float")
