"""Host names: loopback addresses, and protection of unauthenticated servers against DNS rebinding."""

from __future__ import annotations

import ipaddress
import re

LOOPBACK_HOSTS = ("localhost", "127.0.0.1", "[::1]")
_HOST_HEADER = re.compile(r"(\[[0-9a-f:.]+\]|[^:\[\]]+)(:\d+)?")


def is_loopback(host: str) -> bool:
    """Whether a host name or address is reachable from this machine only.

    Examples
    --------
    >>> is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("rooms.lan")
    (True, True, False)
    """
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def is_own_host(header: str, listen_host: str) -> bool:
    """Whether a Host header names loopback or the address that the server listens on.

    Any other name resolves to this machine only by a DNS rebinding attack.

    Examples
    --------
    >>> is_own_host("localhost:8099", "127.0.0.1"), is_own_host("evil.example", "127.0.0.1")
    (True, False)
    """
    match = _HOST_HEADER.fullmatch(header.lower())
    own = listen_host.lower()
    return match is not None and match[1] in {*LOOPBACK_HOSTS, own, f"[{own}]"}
