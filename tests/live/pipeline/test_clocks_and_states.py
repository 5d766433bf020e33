"""Outcomes of readings, clocks that are wrong, and states of rooms without readings."""

import asyncio
import datetime as dt
from dataclasses import replace

import pandas as pd
from live.pipeline_helpers import Clock, readings_of, with_pipeline
from live.waiting import until

from occupair.live import pipeline as pipeline_module
from occupair.live.config import ServiceConfig
from occupair.live.messages import Quality, Reading, ReadingOutcome
from occupair.readings.gaps import default_gap

UTC = dt.UTC


def test_readings_have_time_zones(office):
    assert pd.Timestamp(readings_of(office.iloc[:1])[0].time).tz is not None


def test_outcome_of_every_kind_of_reading(setup, store, office):
    clock = Clock()
    now = clock.now
    good = [replace(one, received=now) for one in readings_of(office.iloc[3 * 288 : 3 * 288 + 2])]
    wall = ServiceConfig(store=setup.store, rooms=setup.rooms)

    def one(time=now, co2=500.0, ventilation=None, room="lab"):
        return Reading(room, time, co2, ventilation, "mqtt", now)

    cases = [
        (good[1], ReadingOutcome.ACCEPTED),
        (good[0], ReadingOutcome.LATE),
        (good[1], ReadingOutcome.DUPLICATE),
        (one(room="nowhere"), ReadingOutcome.UNKNOWN_ROOM),
        (one(co2=None), ReadingOutcome.NONSENSE),
        (one(co2=float("nan")), ReadingOutcome.NONSENSE),
        (one(co2=float("inf")), ReadingOutcome.NONSENSE),
        (one(co2=1e9), ReadingOutcome.NONSENSE),
        (one(ventilation=-0.5), ReadingOutcome.NONSENSE),
        (one(ventilation=80.0), ReadingOutcome.NONSENSE),
        (one(time=dt.datetime(1970, 1, 1, 0, 5, tzinfo=UTC)), ReadingOutcome.NONSENSE),
        (one(time=now + dt.timedelta(days=300)), ReadingOutcome.FUTURE),
        (one(time=now + dt.timedelta(minutes=3)), ReadingOutcome.FUTURE),
        (one(time=now + dt.timedelta(seconds=50), room="hall"), ReadingOutcome.ACCEPTED),
        (one(co2=0.0), ReadingOutcome.ACCEPTED),
    ]

    async def work(pipeline):
        for reading, outcome in cases:
            assert await pipeline.submit([reading]) == [outcome], reading
        assert pipeline.counters["mqtt", ReadingOutcome.NONSENSE] == 7
        assert pipeline.state("lab").reason == "implausible sensor reading: 0 ppm"

    with_pipeline(wall, store, work, clock=clock)


def test_clock_of_readings_is_the_newest_valid_reading(setup, store):
    time = dt.datetime(2024, 1, 8, 8, tzinfo=UTC)

    async def work(pipeline):
        later = time + dt.timedelta(minutes=7)
        await pipeline.submit([Reading("lab", time, 500.0, None, "mqtt", time)])
        await pipeline.submit([Reading("lab", later, None, 0.5, "mqtt", time)])  # ventilation has no state
        await pipeline.submit([Reading("lab", later.replace(year=2999), 500.0, None, "mqtt", time)])
        assert pipeline.now() == later

    with_pipeline(setup, store, work)


def test_fast_sensor_clock_makes_the_state_suspect(setup, store):
    wall = ServiceConfig(store=setup.store, rooms=setup.rooms)

    clock = Clock()

    async def work(pipeline):
        now = clock.now
        ahead = now + dt.timedelta(hours=3)
        assert await pipeline.submit([Reading("lab", ahead, 500.0, 0.5, "mqtt", now)]) == [
            ReadingOutcome.FUTURE
        ]
        await pipeline.submit([Reading("lab", now, 500.0, 0.5, "mqtt", now)])
        assert pipeline.state("lab").quality is Quality.STARTING
        await pipeline.submit([Reading("lab", ahead, 500.0, 0.5, "mqtt", now)])
        assert pipeline.state("lab").quality is Quality.SUSPECT
        assert pipeline.state("lab").reason == "the sensor's clock is 180 minutes ahead"

    with_pipeline(wall, store, work, clock=clock)


def test_readings_are_stored_after_the_clock_is_set_back(setup, store):
    wall = ServiceConfig(store=setup.store, rooms=setup.rooms)
    clock = Clock()
    minute, noon = dt.timedelta(minutes=1), clock.now

    def reading(minutes):
        return Reading("lab", noon + minutes * minute, 500.0 + minutes, 0.5, "mqtt", clock.now)

    async def set_back(pipeline):
        await pipeline.submit([reading(0)])
        clock.now -= 60 * minute
        assert await pipeline.submit([reading(1)]) == [ReadingOutcome.ACCEPTED]
        assert pipeline.state("lab").reason == "the newest reading is in the future: a clock was wrong"

    async def restarted(pipeline):
        assert await pipeline.submit([reading(30)]) == [ReadingOutcome.ACCEPTED]
        clock.now = noon + 31 * minute  # corrected
        assert await pipeline.submit([reading(31), reading(40)]) == [
            ReadingOutcome.ACCEPTED,
            ReadingOutcome.FUTURE,
        ]

    with_pipeline(wall, store, set_back, clock=clock)
    with_pipeline(wall, store, restarted, clock=clock)
    assert [(one.time - noon) // minute for one in store.readings("lab", None, None)] == [0, 1, 30, 31]


def test_state_recovers_when_a_clock_that_was_ahead_is_set_back(setup, store):
    wall = ServiceConfig(store=setup.store, rooms=setup.rooms)
    clock = Clock()
    begin, hour = clock.now, dt.timedelta(hours=1)

    async def work(pipeline):
        for minute in range(40):
            now = begin + dt.timedelta(minutes=minute)
            clock.now = now + 3 * hour if 20 <= minute < 30 else now
            await pipeline.submit([Reading("lab", now, 500.0 + minute % 7, 0.5, "mqtt", clock.now)])
            if minute == 29:
                assert pipeline.state("lab").reason == "the sensor's clock is 180 minutes behind"
        assert pipeline.state("lab").quality is Quality.OK

    with_pipeline(wall, store, work, clock=clock)


def test_offline_sensor_is_published_without_a_reading(setup, store, monkeypatch):
    monkeypatch.setattr(pipeline_module, "STATE_CHECK_EVERY", 0.02)
    clock = Clock()
    wall = ServiceConfig(store=setup.store, rooms={"lab": setup.rooms["lab"]})

    async def work(pipeline):
        await pipeline.submit([Reading("lab", clock.now, 500.0, 0.5, "mqtt", clock.now)])
        assert pipeline.state("lab").quality is Quality.STARTING
        async with pipeline.subscribe() as changes:
            clock.now += dt.timedelta(minutes=default_gap(5.0) + 1)
            async for states in changes:
                if states[0].quality is Quality.STALE:
                    assert states[0].people is None
                    break

    with_pipeline(wall, store, work, clock=clock)


def test_offline_sensor_is_published_while_the_store_is_unavailable(setup, blocking_store, monkeypatch):
    monkeypatch.setattr(pipeline_module, "STATE_CHECK_EVERY", 0.02)
    clock = Clock()
    wall = ServiceConfig(store=setup.store, rooms={"lab": setup.rooms["lab"]})

    async def work(pipeline):
        submitted = [Reading("lab", clock.now, 500.0, 0.5, "mqtt", clock.now)]
        task = asyncio.create_task(pipeline.submit(submitted))
        await until(lambda: pipeline.state("lab").co2 is not None)
        clock.now += dt.timedelta(minutes=default_gap(5.0) + 1)
        await until(lambda: pipeline.state("lab").quality is Quality.STALE)
        assert not task.done()
        blocking_store.free.set()
        await task

    with_pipeline(wall, blocking_store, work, clock=clock)


def test_state_checks_continue_after_an_error(setup, store, monkeypatch):
    monkeypatch.setattr(pipeline_module, "STATE_CHECK_EVERY", 0.01)
    calls = []

    async def work(pipeline):
        monkeypatch.setattr(pipeline._engine, "states", lambda now, rooms: calls.append(now) or 1 / 0)
        while len(calls) < 3:
            await asyncio.sleep(0.01)
        assert pipeline.part_status["engine"] == "ok"

    with_pipeline(setup, store, work)
