"""Free ports for tests."""

import socket

_reserved: list[socket.socket] = []


def free_port() -> int:
    """Return a port of this machine that is free for TCP and UDP.

    No other program is given it for TCP until this process ends. Linux lets a server bind it all the same:
    both sockets have SO_REUSEADDR, and this one does not listen.
    """
    while True:
        reserved = socket.socket()
        reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        reserved.bind(("127.0.0.1", 0))
        _reserved.append(reserved)
        port = int(reserved.getsockname()[1])
        if _is_free_for_udp(port):
            return port


def _is_free_for_udp(port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as tried:
        try:
            tried.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
