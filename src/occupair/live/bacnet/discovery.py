"""Devices and CO2 points in a BACnet network, for the command line. Nothing is written to a device."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import ipaddress
import json
import re
import socket
import struct
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from bacpypes3.apdu import ReadPropertyRequest
from bacpypes3.basetypes import EngineeringUnits, Reliability, ServicesSupported
from bacpypes3.pdu import Address
from bacpypes3.primitivedata import ObjectIdentifier

from occupair.errors import InputError
from occupair.live.bacnet.application import BacnetApplication, close_application, open_application
from occupair.live.bacnet.device import MODEL
from occupair.live.bacnet.point_values import DESCRIPTION, enumerated_name, point_value, unit_name
from occupair.live.bacnet.property_reads import (
    DeviceReader,
    NoAnswer,
    Properties,
    Refused,
    decode_value,
    send_request,
)
from occupair.live.config import BacnetPoint
from occupair.live.config.room_ids import make_room_id
from occupair.wording import plural

if TYPE_CHECKING:
    from occupair.live.config import BacnetConfig

MAX_OBJECTS = 5_000
"""Objects of one device that are looked at."""
DEVICES_AT_ONCE = 20
"""Devices that are asked for their objects at the same time."""
_ENUMERATED = {"units": EngineeringUnits, "reliability": Reliability}
_UNITS = ("parts-per-million", "parts-per-billion")
_KINDS = ("analog-input", "analog-value", "analog-output", "large-analog-value", "integer-value")
_CO2 = re.compile(r"co2|co₂|carbon.?dioxide|kohlen(stoff)?dioxid", re.IGNORECASE)
_LAST_CO2 = re.compile(rf"[\s_.,:/-]*(?:{_CO2.pattern})\s*$", re.IGNORECASE)
_OTHER_GAS = re.compile(r"voc|ozone|formaldehyde|hcho|(?<![a-z])(co|no2|so2|o3)(?![a-z0-9])", re.IGNORECASE)
_LIMIT = re.compile(r"set.?point|soll|limit|alarm|thresh|(?<![a-z])sp(?![a-z])", re.IGNORECASE)
_OWN_SERVICE = "a service of its own, whose CO2 comes from others"
_SIOCGIFADDR, _SIOCGIFNETMASK = 0x8915, 0x891B  # Linux


@dataclass(frozen=True)
class Co2Point:
    """An object that is probably a CO2 sensor; ``problem`` is why it cannot be read, empty if it can.

    ``has_unit`` is whether its unit is one of CO2 sensors. Percent is not, as it is mostly a signal.
    """

    object: str
    name: str
    co2: float | None  # [ppm]
    problem: str = ""
    has_unit: bool = True


@dataclass(frozen=True)
class FoundDevice:
    """A device that has announced itself."""

    address: str
    instance: int
    name: str = ""
    objects: int = 0
    has_cov: bool = False
    points: tuple[Co2Point, ...] = ()
    problem: str = ""


@contextlib.asynccontextmanager
async def _application(config: BacnetConfig) -> AsyncIterator[BacnetApplication]:
    application = open_application(config)
    try:
        yield application
    finally:
        await close_application(application)


async def discover(
    config: BacnetConfig,
    *,
    to: Sequence[str] = (),
    low: int | None = None,
    high: int | None = None,
    timeout: float = 3.0,
) -> list[FoundDevice]:
    """Return the devices that answer a Who-Is, with their CO2 points.

    Parameters
    ----------
    config : BacnetConfig
        Own address; its network is searched.
    to : sequence of str
        Addresses to ask instead.
    low, high : int, optional
        Range of device instance numbers.
    timeout : float
        How long to wait for answers [s].
    """
    own = ipaddress.IPv4Interface(config.address)
    if not to and config.bbmd is None and own.network.prefixlen == 32:
        raise InputError(
            f"the address must have the length of its network mask to find devices, "
            f"as in {own.ip}/24, got {config.address!r}"
        )
    async with _application(config) as application:
        asked = [Address(one) for one in to] or [None]
        answers = await asyncio.gather(*(application.who_is(low, high, one, timeout) for one in asked))
        found = {
            str(answer.pduSource): FoundDevice(str(answer.pduSource), int(answer.iAmDeviceIdentifier[1]))
            for some in answers
            for answer in some
        }
        limit = asyncio.Semaphore(DEVICES_AT_ONCE)
        described = [_describe(application, device, limit) for device in found.values()]
        devices = await asyncio.gather(*described)
    return sorted(devices, key=lambda device: device.instance)


async def read_point(config: BacnetConfig, point: BacnetPoint) -> Properties:
    """Return the name, description and state of one object.

    Raises
    ------
    InputError
        If the device does not answer, or has no such object.
    """
    object_ = ObjectIdentifier(point.object)
    names = ("object-name", "description", *DESCRIPTION)
    async with _application(config) as application:
        reader = DeviceReader(application, Address(point.bacnet))
        try:
            found = [one async for one in reader.read({object_: names})][-1][object_]
        except NoAnswer:
            raise InputError(f"{point.bacnet}: no answer") from None
    if not found:
        raise InputError(f"{point.bacnet}: has no object {point.object}")
    return found


def describe_properties(properties: Properties) -> dict[str, str]:
    """Return properties as text, with the names of enumerated values.

    Examples
    --------
    >>> describe_properties({"present-value": 612.5, "units": 96, "status-flags": [0, 1, 0, 0]})
    {'present-value': '612.5', 'units': 'parts-per-million', 'status-flags': 'fault'}
    """
    flags = ("in-alarm", "fault", "overridden", "out-of-service")
    texts = {}
    for name, value in properties.items():
        if name in _ENUMERATED and isinstance(value, int) and value >= 0:
            texts[name] = enumerated_name(_ENUMERATED[name], name, value)
        elif name == "status-flags" and isinstance(value, list):
            texts[name] = ", ".join(flag for flag, bit in zip(flags, value, strict=False) if bit) or "none"
        elif name == "out-of-service":
            texts[name] = "true" if value else "false"
        else:
            texts[name] = _clean(str(value))
    return texts


async def _describe(
    application: BacnetApplication, device: FoundDevice, limit: asyncio.Semaphore
) -> FoundDevice:
    """Read the name, services and CO2 points of a device."""
    async with limit:
        address = Address(device.address)
        reader = DeviceReader(application, address)
        own = ObjectIdentifier(("device", device.instance))
        try:
            names = ("object-name", "model-name", "protocol-services-supported")
            properties = [one async for one in reader.read({own: names})][-1][own]
            if properties.get("model-name") == MODEL:
                return replace(device, name=MODEL, problem=_OWN_SERVICE)
            objects = await _object_list(application, address, own)
            points = await _co2_points(reader, device.address, objects)
        except NoAnswer:
            return replace(device, problem="does not answer requests")
        except Refused as refusal:
            return replace(device, problem=f"does not list its objects ({_clean(str(refusal))})")
        except (ValueError, TypeError, AttributeError, LookupError) as error:  # must not affect other devices
            return replace(device, problem=f"sent an answer that cannot be read ({type(error).__name__})")
        services = properties.get("protocol-services-supported")
        services = list(services) if isinstance(services, list) else []
        bit = ServicesSupported.subscribeCOV
        return replace(
            device,
            name=_clean(str(properties.get("object-name", ""))),
            objects=len(objects),
            has_cov=len(services) > bit and bool(services[bit]),
            points=tuple(points),
        )


async def _object_list(
    application: BacnetApplication, address: Address, own: ObjectIdentifier
) -> list[ObjectIdentifier]:
    """Read the objects of a device, one by one if the list does not fit into an answer."""

    def request(index: int | None = None) -> Any:
        return ReadPropertyRequest(
            objectIdentifier=own,
            propertyIdentifier="object-list",
            propertyArrayIndex=index,
            destination=address,
        )

    async def read(index: int | None = None) -> Any:
        return decode_value((await send_request(application, request(index))).propertyValue)

    try:
        found = await read()
        listed = found if isinstance(found, list) else [found]
    except Refused:
        length = await read(0)
        n_objects = min(length, MAX_OBJECTS) if isinstance(length, int) else 0
        listed = [await read(index + 1) for index in range(n_objects)]
    return [one for one in listed if isinstance(one, ObjectIdentifier)]


async def _co2_points(
    reader: DeviceReader, address: str, objects: Sequence[ObjectIdentifier]
) -> list[Co2Point]:
    names = ("object-name", "description", *DESCRIPTION)
    analog = {one: names for one in objects[:MAX_OBJECTS] if str(one[0]) in _KINDS}
    points = []
    async for found in reader.read(analog):
        for object_, properties in found.items():
            if (point := co2_point(address, object_, properties)) is not None:
                points.append(point)
    return points


def co2_point(address: str, object_: ObjectIdentifier, properties: Properties) -> Co2Point | None:
    """Return an object as a CO2 point, None if it is probably not one."""
    text = f"{properties.get('object-name', '')} {properties.get('description', '')}"
    unit: str | None = None
    with contextlib.suppress(InputError):
        unit = unit_name(properties)
    if not is_co2(text, unit or "no-units"):
        return None
    point = BacnetPoint(bacnet=address, object=str(object_))
    name = _clean(str(properties.get("object-name", object_)))
    if unit == "percent":
        problem = "is in percent, add it if it is a CO2 concentration, not a signal"
        return Co2Point(point.object, name, None, problem, has_unit=False)
    try:
        return Co2Point(point.object, name, point_value("co2", point, properties))
    except InputError as error:
        return Co2Point(point.object, name, None, str(error), has_unit=unit in _UNITS)


def is_co2(text: str, unit: str) -> bool:
    """Whether an object is probably a CO2 sensor, by its name, description and unit.

    Examples
    --------
    >>> is_co2("Room 2.14 air quality", "parts-per-million"), is_co2("R214_CO2", "no-units")
    (True, True)
    >>> is_co2("Room 2.14 VOC", "parts-per-million"), is_co2("CO2 setpoint", "parts-per-million")
    (False, False)
    """
    if _LIMIT.search(text):
        return False
    return bool(_CO2.search(text)) or (unit == "parts-per-million" and not _OTHER_GAS.search(text))


def settings_lines(devices: Sequence[FoundDevice]) -> list[str]:
    r"""Return lines for ``rooms.toml``: a room for each CO2 point, and comments.

    Examples
    --------
    >>> point = Co2Point("analog-input,12", "R2.14 CO2", 612.0)
    >>> print(*settings_lines([FoundDevice("10.0.2.7", 1201, "AHU 2", 34, True, (point,))]), sep="\n")
    # 10.0.2.7: device 1201, AHU 2, 34 objects
    [rooms.r2-14]
    name = "R2.14"
    co2 = { bacnet = "10.0.2.7", object = "analog-input,12" }  # 612 ppm
    <BLANKLINE>
    """
    lines: list[str] = []
    ids: set[str] = set()
    for device in devices:
        objects = plural(device.objects, "object") if device.objects else ""
        about = [f"device {device.instance}", device.name, objects, device.problem]
        lines.append(f"# {device.address}: {', '.join(one for one in about if one)}")
        for point in device.points:
            if not point.has_unit:
                lines.append(f"# {point.object} {point.name}: {point.problem}")
                continue
            id_ = make_room_id(_CO2.sub(" ", point.name).strip(), ids)
            ids.add(id_)
            cov = "" if device.has_cov else ", cov = false"
            now = point.problem if point.co2 is None else f"{point.co2:.0f} ppm"
            lines += [
                f"[rooms.{id_}]",
                f"name = {json.dumps(_LAST_CO2.sub('', point.name) or point.name, ensure_ascii=False)}",
                f'co2 = {{ bacnet = "{device.address}", object = "{point.object}"{cov} }}  # {now}',
            ]
        lines.append("")
    return lines


def _clean(text: str) -> str:
    """Return text of a device on one line, without control characters."""
    return "".join(char if char.isprintable() else " " for char in text).strip()


def own_address() -> str:
    """Return the own address with its network, of the interface with the default route."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        try:
            one.connect(("192.0.2.1", 9))  # sends nothing
            own = str(one.getsockname()[0])
            for _, name in socket.if_nameindex():
                if _interface(one, name, _SIOCGIFADDR) == own:
                    mask = _interface(one, name, _SIOCGIFNETMASK)
                    return ipaddress.IPv4Interface(f"{own}/{mask}").with_prefixlen
        except OSError:
            pass
    raise InputError("--address is required: this machine has no default route")


def _interface(one: socket.socket, name: str, request: int) -> str | None:
    try:
        answer = fcntl.ioctl(one.fileno(), request, struct.pack("256s", name.encode()[:15]))
    except OSError:
        return None
    return socket.inet_ntoa(answer[20:24])
