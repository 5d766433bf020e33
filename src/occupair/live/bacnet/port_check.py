"""Checks before BACnet/IP starts: the package is installed, and the UDP port is free.

bacpypes3 retries a failed bind forever and in silence, and shares its port with any other program that does
so, which then receives some of the answers.
"""

from __future__ import annotations

import errno
import ipaddress
import socket
from importlib.util import find_spec
from typing import TYPE_CHECKING

from occupair.errors import InputError

if TYPE_CHECKING:
    from occupair.live.config import BacnetConfig


def need_bacpypes3() -> None:
    """Raise `InputError` if the package for BACnet is not installed."""
    if find_spec("bacpypes3") is None:
        raise InputError("BACnet requires packages that are not installed: pip install 'occupair[bacnet]'")


def check_port(config: BacnetConfig) -> None:
    """Raise `InputError` if the own UDP address cannot be bound."""
    own = ipaddress.IPv4Interface(config.address)
    hosts = [own.ip]
    if own.network.broadcast_address != own.ip:
        hosts.append(own.network.broadcast_address)
    for host in hosts:
        _check_bind(str(host), config.port)


def _check_bind(host: str, port: int) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as tried:
        try:
            tried.bind((host, port))
        except OSError as error:
            advice = {
                errno.EADDRINUSE: "stop the other program, or choose another port",
                errno.EADDRNOTAVAIL: "must be an address of this machine",
            }.get(error.errno or 0, "choose another port")
            raise InputError(f"cannot use UDP {host}:{port} for BACnet: {error.strerror}: {advice}") from None
