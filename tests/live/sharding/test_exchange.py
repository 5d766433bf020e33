"""Exchange of states between shards, in one process and with a real database."""

import asyncio
import logging
from collections import Counter
from contextlib import asynccontextmanager, closing

import pytest
from live.fake_pipeline import make_config, make_state
from live.postgres import empty_database, need_postgres, postgres_to_stop
from live.waiting import until

from occupair.live.room_shards import Shard
from occupair.live.sharding import exchange as exchange_module
from occupair.live.sharding import other_shards
from occupair.live.sharding.exchange import ShardExchange
from occupair.live.store import Store, StoreError
from occupair.live.subscriptions import Subscribers

pytestmark = need_postgres
ROOMS = ("lab", "hall")  # of the first and of the second shard


class ShardPipeline:
    """The part of a pipeline that the exchange uses."""

    def __init__(self, number, store):
        self.config = make_config(*ROOMS, shard=f"{number}/2")
        self.store, self.subscribers = store, Subscribers()
        self.part_status = {"engine": "ok"}
        self.shards_status = "off"
        self.known = {room: make_state(room, number) for room in self.config.own_rooms}

    def states(self):
        return dict(self.known)

    def state(self, room):
        return self.known.get(room)

    def publish(self, state):
        self.known[state.room] = state
        self.subscribers.put({state.room: state})


@pytest.fixture
def store(tmp_path):
    with closing(Store(empty_database("postgresql", tmp_path))) as store:
        store.migrate()
        yield store


@asynccontextmanager
async def running(number, store):
    """Run the exchange of a shard."""
    pipeline = ShardPipeline(number, store)
    exchange = ShardExchange(pipeline, Shard(number, 2), f"127.0.0.1:{number}")
    task = asyncio.create_task(exchange.run())
    try:
        yield exchange, pipeline
        assert not task.done()
    finally:
        task.cancel()
        await asyncio.wait([task])


def people(exchange):
    return {room: state.people for room, state in exchange.states().items()}


async def people_in_hall(changes, people):
    """Wait for a state of the hall, in which no other room changes."""
    async for states in changes:
        (state,) = states
        assert state.room == "hall"
        if state.people == people:
            return state


def test_each_shard_has_the_states_of_all_rooms(store):
    async def run():
        async with running(1, store) as (one, pipeline), running(2, store) as (two, other):
            await until(lambda: people(one) == people(two) == {"lab": 1, "hall": 2})
            assert (one.address_of("hall"), two.address_of("lab")) == ("127.0.0.1:2", "127.0.0.1:1")
            assert (pipeline.shards_status, other.shards_status) == ("ok", "ok")
            other.publish(make_state("hall", 9))
            await until(lambda: one.state("hall").people == 9)
            assert one.state("lab").people == 1

    asyncio.run(run())


def test_subscriber_receives_changes_of_all_shards(store):
    async def run():
        async with running(1, store) as (one, pipeline), one.subscribe() as changes:
            pipeline.publish(make_state("lab", 7))
            assert [state.people for state in await anext(changes)] == [7]
            async with running(2, store) as (_, other):
                await people_in_hall(changes, 2)
                other.publish(make_state("hall", 8))
                await people_in_hall(changes, 8)
            state = await people_in_hall(changes, None)  # it has stopped
            assert state.reason == "the room is not served right now"
            assert pipeline.shards_status == "not running: 2/2"

    asyncio.run(run())


def test_shard_whose_engine_has_stopped_does_not_write_heartbeat(store):
    async def run():
        async with running(1, store) as (one, _), running(2, store) as (_, other):
            await until(lambda: one.state("hall").people == 2)
            other.part_status = {"engine": "stopped"}
            seen = store.heartbeats(2)[2]
            await until(lambda: store.heartbeats(2)[2].age > seen.age + 3 * exchange_module.HEARTBEAT_EVERY)
            await until(lambda: one.state("hall").people is None)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exchange_module, "HEARTBEAT_EVERY", 0.1)
        patch.setattr(other_shards, "GONE_AFTER", 0.5)
        asyncio.run(run())


def test_no_news_are_lost_with_the_connection(store):
    """While the connection is down, a state changes; it is read after the reconnect."""

    async def run():
        async with running(1, store) as (one, _), running(2, store) as (_, other):
            await until(lambda: one.state("hall").people == 2)
            with pytest.MonkeyPatch.context() as patch:
                blocked = Counter()

                def refuse(engine):
                    blocked["tries"] += 1
                    raise StoreError("store: no connection")

                patch.setattr(exchange_module, "listen_for_news", refuse)
                await asyncio.to_thread(end_listening, store)
                await until(lambda: blocked["tries"] >= 2)
                other.publish(make_state("hall", 6))
                await until(lambda: '"people":6' in store.stored_states(["hall"])["hall"].text)
                assert one.state("hall").people == 2
            await until(lambda: one.state("hall").people == 6)

    asyncio.run(run())


def test_states_are_unknown_while_the_database_is_down_and_return_with_it(caplog):
    async def run(server, store):
        async with running(1, store) as (one, pipeline), running(2, store):
            await until(lambda: people(one) == {"lab": 1, "hall": 2})
            await asyncio.to_thread(server.stop)
            await until(lambda: one.state("hall").people is None)
            assert one.state("lab").people == 1, "rooms of this shard need no database"
            assert pipeline.shards_status == "not running: 2/2"
            await asyncio.to_thread(server.start)
            await until(lambda: people(one) == {"lab": 1, "hall": 2})

    caplog.set_level(logging.INFO, "occupair.live")
    with pytest.MonkeyPatch.context() as patch, postgres_to_stop() as server:
        patch.setattr(other_shards, "FROZEN_AFTER", 3.0)
        with closing(Store(server.url)) as store:
            store.migrate()
            asyncio.run(run(server, store))
    messages = Counter(record.getMessage().split(": ")[0] for record in caplog.records)
    assert messages["shard 2/2 is gone"] >= 1
    assert messages["shard 2/2 is running"] >= 2
    assert messages["the exchange with other shards is interrupted"] >= 1


def end_listening(store):
    with store.engine.begin() as connection:
        of_this = "datname = current_database() AND query LIKE 'LISTEN %%'"
        listening = f"SELECT pid FROM pg_stat_activity WHERE {of_this}"
        connection.exec_driver_sql(f"SELECT pg_terminate_backend(pid, 60000) FROM ({listening}) AS found")
