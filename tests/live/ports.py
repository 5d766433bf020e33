"""Free TCP ports for tests."""

import socket

_reserved: list[socket.socket] = []


def free_port() -> int:
    """Return a free port of this machine, which no other program is given until this process ends.

    Linux lets a server bind it all the same: both sockets have SO_REUSEADDR, and this one does not listen.
    """
    reserved = socket.socket()
    reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    reserved.bind(("127.0.0.1", 0))
    _reserved.append(reserved)
    return int(reserved.getsockname()[1])
