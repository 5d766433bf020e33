"""The bacnet commands: find devices and CO2 points, read one point."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from occupair.cli.service import need_live
from occupair.cli.shared import note, out
from occupair.errors import InputError
from occupair.wording import plural

if TYPE_CHECKING:
    from occupair.live.config import BacnetConfig

OWN_DEVICE = 4_194_302  # instance number while searching
Own = Annotated[
    str | None,
    typer.Option(
        "--address",
        help="Own IPv4 address with the length of the network mask, e.g. 10.0.2.5/24; default: found.",
    ),
]
Port = Annotated[int, typer.Option(min=1, max=65535, help="Own UDP port.")]
Bbmd = Annotated[
    str | None, typer.Option(help="BBMD in another subnet to register with as a foreign device.")
]

bacnet_app = typer.Typer(rich_markup_mode=None, no_args_is_help=True)


@bacnet_app.callback()
def bacnet() -> None:
    """Find and read CO2 points of a BACnet network.

    Nothing is written to a device.

    Example: occupair bacnet discover --address 10.0.2.5/24
    """


@bacnet_app.command()
def discover(
    address: Own = None,
    port: Port = 47808,
    to: Annotated[
        list[str] | None,
        typer.Option(
            "--to",
            metavar="ADDRESS",
            help="Address of a device to ask, instead of all in the network; repeatable.",
        ),
    ] = None,
    bbmd: Bbmd = None,
    low: Annotated[int | None, typer.Option(min=0, help="Lowest device instance number.")] = None,
    high: Annotated[int | None, typer.Option(min=0, help="Highest device instance number.")] = None,
    timeout: Annotated[float, typer.Option(min=0.1, max=600, help="How long to wait for answers [s].")] = 3.0,
) -> None:
    """Find devices and their CO2 points.

    Prints lines for rooms.toml.

    Example: occupair bacnet discover --address 10.0.2.5/24 --low 1000 --high 1999
    """
    from occupair.live.config.values import MAX_INSTANCE

    config = _config(address, port, bbmd)
    for one in to or ():
        _check_point(one, "analog-input,0", address_name="--to")
    if low is not None or high is not None:
        low, high = low or 0, MAX_INSTANCE if high is None else high
    if low is not None and high is not None and not low <= high <= MAX_INSTANCE:
        raise InputError(f"--low and --high must be a range up to {MAX_INSTANCE}, got {low} and {high}")
    from occupair.live.bacnet import discovery

    found = asyncio.run(discovery.discover(config, to=to or (), low=low, high=high, timeout=timeout))
    for line in discovery.settings_lines(found):
        out.print(line, soft_wrap=True)
    n_points = sum(point.has_unit for device in found for point in device.points)
    note(f"{plural(len(found), 'device')}, {plural(n_points, 'CO2 point')}")


@bacnet_app.command()
def read(
    device: Annotated[str, typer.Argument(metavar="ADDRESS", help="Address of the device.")],
    object_: Annotated[
        str, typer.Argument(metavar="OBJECT", help="Object type and instance number: analog-input,12.")
    ],
    address: Own = None,
    port: Port = 47808,
    bbmd: Bbmd = None,
) -> None:
    """Read one point.

    Prints its properties and the CO2 that the service would read.

    Example: occupair bacnet read 10.0.2.7 analog-input,12 --address 10.0.2.5/24
    """
    config = _config(address, port, bbmd)
    point = _check_point(device, object_)
    from occupair.live.bacnet import discovery
    from occupair.live.bacnet.point_values import point_value

    properties = asyncio.run(discovery.read_point(config, point))
    for name, text in discovery.describe_properties(properties).items():
        out.print(f"{name:15} {text}", soft_wrap=True)
    try:
        out.print(f"{'as co2':15} {point_value('co2', point, properties):g} ppm", soft_wrap=True)
    except InputError as error:
        out.print(f"{'as co2':15} no reading: {error}", soft_wrap=True)


def _config(address: str | None, port: int, bbmd: str | None) -> BacnetConfig:
    need_live("bacnet")
    from occupair.live.bacnet.port_check import need_bacpypes3

    need_bacpypes3()
    from pydantic import ValidationError

    from occupair.live.bacnet.discovery import own_address
    from occupair.live.config import BacnetConfig

    try:
        return BacnetConfig(address=address or own_address(), device=OWN_DEVICE, port=port, bbmd=bbmd)
    except ValidationError as invalid:
        raise _first_error(invalid, {"address": "--address", "bbmd": "--bbmd"}) from None


def _check_point(device: str, object_: str, *, address_name: str = "ADDRESS") -> Any:
    from pydantic import ValidationError

    from occupair.live.config import BacnetPoint

    try:
        return BacnetPoint(bacnet=device, object=object_)
    except ValidationError as invalid:
        raise _first_error(invalid, {"bacnet": address_name, "object": "OBJECT"}) from None


def _first_error(invalid: Any, names: Mapping[str, str]) -> InputError:
    error = invalid.errors(include_url=False)[0]
    return InputError(f"{names[error['loc'][0]]} {error['ctx']['error']}, got {error['input']!r}")
