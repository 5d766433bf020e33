"""Connections to PostgreSQL, with a time limit on everything that can hang.

- connecting: ``connect_timeout``
- a lock held by another session: ``lock_timeout``
- a statement: ``statement_timeout``
- a lost network: TCP keepalives and ``tcp_user_timeout``
- a server that is frozen while its machine keeps the connection up: `RespondingConnection`
"""

from __future__ import annotations

import time
from collections.abc import Generator
from typing import Any

import psycopg

PARAMETERS: dict[str, Any] = {
    "application_name": "occupair",
    "connect_timeout": 5,  # [s]
    "keepalives_idle": 10,  # [s]
    "keepalives_interval": 5,  # [s]
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,  # [ms]
}
"""Connection parameters that a URL may override. A lost server is given up after some twenty seconds."""
SETTINGS = {"lock_timeout": "5s", "statement_timeout": "30s"}
"""Settings of a session, unless the server, the user or the URL sets others."""
MAX_SILENCE = 40.0
"""How long the server may send nothing during a statement, longer than its own limit [s]."""


class RespondingConnection(psycopg.Connection[Any]):
    """A connection that is closed, with an OperationalError, if the server does not respond."""

    def wait(self, gen: Generator[Any, Any, Any], *args: Any, **options: Any) -> Any:
        """Wait for the server, as psycopg does."""
        try:
            return super().wait(_while_responding(gen), *args, **options)
        except _NoResponse:
            self.close()
            raise


class _NoResponse(psycopg.OperationalError):
    pass


def _while_responding(work: Generator[Any, Any, Any]) -> Generator[Any, Any, Any]:
    """Pass on what psycopg sends to its work, several times a second: whether the socket is ready."""
    try:
        wanted, last = next(work), time.monotonic()
        while True:
            ready = yield wanted
            now = time.monotonic()
            if ready:
                last = now
            elif now - last > MAX_SILENCE:
                raise _NoResponse(f"the server has not responded for {MAX_SILENCE:g} s")
            wanted = work.send(ready)
    except StopIteration as end:
        return end.value


def connect(dialect: object, record: object, args: Any, options: Any) -> RespondingConnection:
    """Connect, on SQLAlchemy's event ``do_connect``."""
    return RespondingConnection.connect(*args, **options)


def set_up_session(connection: psycopg.Connection[Any], _record: object = None) -> None:
    """Make commits wait for the disk even if the server is configured otherwise, and set the time limits."""
    replaced = {name: ("0", value) for name, value in SETTINGS.items()}
    replaced["synchronous_commit"] = ("off", "on")
    with connection.cursor() as cursor:
        for name, (unset, value) in replaced.items():
            cursor.execute(
                "SELECT set_config(%s, %s, false) WHERE current_setting(%s) = %s", (name, value, name, unset)
            )
    connection.commit()
