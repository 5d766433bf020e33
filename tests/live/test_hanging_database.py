"""A database that hangs instead of failing: locked by another program, or frozen."""

import asyncio
import contextlib
import datetime as dt
import logging
import sqlite3

import httpx
import psycopg
import pytest
from live.postgres import need_postgres, postgres_to_stop
from live.waiting import until

from occupair.live import pipeline as live_pipeline
from occupair.live import writer
from occupair.live.config import RoomConfig, ServiceConfig
from occupair.live.http.app import make_app
from occupair.live.messages import Reading
from occupair.live.pipeline import Pipeline
from occupair.live.store import Store, StoreError, database, postgres

NOW = dt.datetime(2024, 1, 8, 8, tzinfo=dt.UTC)


@contextlib.contextmanager
def locked_sqlite(folder):
    yield f"sqlite:///{folder}/rooms.db", lambda: lock_sqlite(folder / "rooms.db")


@contextlib.contextmanager
def lock_sqlite(path):
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        yield


@contextlib.contextmanager
def locked_postgres(folder):
    with postgres_to_stop() as server:
        yield server.url, lambda: lock_postgres(server.url)


@contextlib.contextmanager
def lock_postgres(url):
    with psycopg.connect(url) as other:
        other.execute("LOCK TABLE readings IN ACCESS EXCLUSIVE MODE")
        yield


@contextlib.contextmanager
def frozen_postgres(folder):
    with postgres_to_stop() as server:
        yield server.url, server.frozen


@pytest.fixture(
    params=[
        locked_sqlite,
        pytest.param(locked_postgres, marks=need_postgres),
        pytest.param(frozen_postgres, marks=need_postgres),
    ],
    ids=lambda hanging: hanging.__name__,
)
def hanging(request, tmp_path, monkeypatch):
    """URL of a store, and a function that makes it hang."""
    monkeypatch.setattr(database, "BUSY_TIMEOUT", 0.4)
    monkeypatch.setitem(postgres.SETTINGS, "lock_timeout", "400ms")
    monkeypatch.setitem(postgres.PARAMETERS, "connect_timeout", 2)  # [s], the shortest that libpq allows

    @contextlib.contextmanager
    def hang_with_short_limits(hang):
        with hang(), monkeypatch.context() as patch:
            if request.param is frozen_postgres:  # else a slow answer could come after it
                patch.setattr(postgres, "MAX_SILENCE", 0.4)
            patch.setattr(writer, "MAX_AGE", 0.1)
            yield

    with request.param(tmp_path) as (url, hang):
        yield url, lambda: hang_with_short_limits(hang)


def reading(minute):
    return Reading("lab", NOW + dt.timedelta(minutes=minute), 600.0, None, "http", NOW)


def test_write_fails_with_one_line_and_succeeds_later(hanging):
    url, hang = hanging
    with contextlib.closing(Store(url)) as store:
        store.migrate()
        store.write([reading(0)], [])
        with (
            hang(),
            pytest.raises(StoreError, match=r"database is locked|lock timeout|connection timeout") as error,
        ):
            store.write([reading(1)], [])
        assert "\n" not in str(error.value)
        store.write([reading(1)], [])
        assert len(store.readings("lab", None, None)) == 2


def test_service_reports_it_once_and_recovers(hanging, monkeypatch, caplog):
    url, hang = hanging
    monkeypatch.setattr(writer, "RETRY_PAUSE", (0.02, 0.1))
    monkeypatch.setattr(live_pipeline, "STORE_CHECK_EVERY", 0.02)
    config = ServiceConfig(store=url, clock="readings", rooms={"lab": RoomConfig(id="lab")})

    async def run(store):
        pipeline = Pipeline(config, store)
        await pipeline.start()
        app = make_app(pipeline, config, durable_within=600.0)
        async with httpx.AsyncClient(
            transport=httpx.ASGITransport(app), base_url="http://localhost", timeout=600
        ) as client:

            async def post(minute):
                body = {"time": reading(minute).time.isoformat(), "co2": 600}
                return await client.post("/api/rooms/lab/readings", json=body)

            assert (await post(0)).status_code == 200
            with hang():
                waiting = asyncio.create_task(post(1))
                await until(lambda: pipeline.part_status["store"] != "ok")
                health = await client.get("/healthz")
                assert health.status_code == 503
                assert health.json()["parts"]["store"].startswith(f"store {store}: ")
                refused = await post(2)  # durable_within would be ten minutes
                assert refused.status_code == 503
                assert refused.headers["Retry-After"] == "5"
                assert not waiting.done()
            assert (await waiting).status_code == 200
            await until(lambda: pipeline.part_status["store"] == "ok")
            assert (await client.get("/healthz")).status_code == 200
        await pipeline.stop()

    with contextlib.closing(Store(url)) as store, caplog.at_level(logging.WARNING, "occupair.live"):
        store.migrate()
        asyncio.run(run(store))
        assert [one.time for one in store.readings("lab", None, None)] == [reading(k).time for k in range(3)]
    messages = [record.getMessage() for record in caplog.records]
    assert len(messages) == 2
    assert messages[0].startswith("the store is unavailable: store ")
    assert messages[1] == "the store is available again"


@need_postgres
def test_time_limits_of_postgres_can_be_overridden_in_the_url():
    def limits(url):
        with contextlib.closing(Store(url)) as store, store.engine.connect() as connection:
            names = ("lock_timeout", "statement_timeout")
            return [connection.exec_driver_sql(f"SHOW {name}").scalar_one() for name in names]

    with postgres_to_stop() as server:
        assert limits(server.url) == ["5s", "30s"]
        assert limits(f"{server.url}?options=-c%20lock_timeout%3D7s") == ["7s", "30s"]
