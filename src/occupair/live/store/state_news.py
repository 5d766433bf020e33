"""News of a store in PostgreSQL: notifications of other shards, on a connection of their own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any

from sqlalchemy import Engine

from occupair.live.store.database import StoreError, format_url
from occupair.live.store.shard_store import channel_of

if TYPE_CHECKING:
    import psycopg

RESPONSE_TIMEOUT = 20.0
"""How long the server may take to respond [s]."""


class StateNews:
    """An open connection that receives notifications."""

    def __init__(self, engine: Engine, connection: psycopg.AsyncConnection[Any]) -> None:
        self._engine, self._connection = engine, connection

    async def wait(self, timeout: float) -> set[str]:
        """Wait for notifications and return the words in them; none after a time without any [s].

        Raises
        ------
        StoreError
            If the connection is lost.
        """
        found: set[str] = set()
        with _errors(self._engine):
            async for notice in self._connection.notifies(timeout=timeout, stop_after=1):
                found.update(notice.payload.split())
            if not found:  # a connection that was lost without a trace is found out
                async with asyncio.timeout(RESPONSE_TIMEOUT):
                    await self._connection.execute("SELECT 1")
        return found


@asynccontextmanager
async def listen_for_news(engine: Engine) -> AsyncIterator[StateNews]:
    """Connect to a store and listen: what is read from then on is not older than the first notification.

    Raises
    ------
    StoreError
        If the database is unavailable.
    """
    import psycopg

    from occupair.live.store.postgres import PARAMETERS

    arguments, given = engine.dialect.create_connect_args(engine.url)
    with _errors(engine):
        async with asyncio.timeout(RESPONSE_TIMEOUT):
            connection = await psycopg.AsyncConnection.connect(
                *arguments, autocommit=True, **{**PARAMETERS, **given}
            )
    try:
        with _errors(engine):
            async with asyncio.timeout(RESPONSE_TIMEOUT):
                cursor = await connection.execute("SELECT current_schema()")
                (schema,) = await cursor.fetchone() or ("",)
                await connection.execute(f"LISTEN {channel_of(schema)}".encode())
        yield StateNews(engine, connection)
    finally:
        await connection.close()


@contextmanager
def _errors(engine: Engine) -> Iterator[None]:
    """Raise errors of the connection as a one-line StoreError."""
    import psycopg

    try:
        yield
    except TimeoutError:
        raise StoreError(f"store {format_url(engine.url)}: does not respond") from None
    except psycopg.Error as error:
        message = " ".join(str(error).split())
        if engine.url.password:
            message = message.replace(str(engine.url.password), "***")
        raise StoreError(f"store {format_url(engine.url)}: {message[:300]}") from None
