"""Readings are acknowledged once stored, and estimates never wait for the store."""

import asyncio
import threading

import numpy as np
import pytest
from live.pipeline_helpers import readings_of, stored_estimates, with_pipeline
from live.waiting import until

from occupair.live import pipeline as pipeline_module
from occupair.live import writer
from occupair.live.config import RoomConfig, ServiceConfig
from occupair.live.messages import Quality, ReadingOutcome
from occupair.live.room_pipeline import BacklogFull


def test_acknowledged_readings_are_stored_with_their_estimates(setup, store, office, estimator):
    day = office.iloc[3 * 288 : 3 * 288 + 150]

    async def work(pipeline):
        outcomes = await pipeline.submit(readings_of(day))
        return outcomes, store.readings("lab", None, None), stored_estimates(store), pipeline.state("lab")

    outcomes, readings, estimates, state = with_pipeline(setup, store, work)
    assert set(outcomes) == {ReadingOutcome.ACCEPTED}
    assert [one.co2 for one in readings] == day["co2"].tolist()
    np.testing.assert_allclose([one.people for one in estimates], estimator.estimate(day), atol=1e-6)
    assert state.people_exact == estimates[-1].people


def test_estimates_do_not_wait_for_the_store_but_acknowledgements_do(setup, blocking_store, office):
    day = readings_of(office.iloc[3 * 288 : 3 * 288 + 60])

    async def work(pipeline):
        async with pipeline.subscribe() as changes:
            submits = [asyncio.create_task(pipeline.submit([one])) for one in day]
            published = set()
            async for states in changes:
                published |= {state.time for state in states}
                if day[-1].time in published:
                    break
            assert not any(task.done() for task in submits)
            assert pipeline.waiting == 60
            blocking_store.free.set()
            assert [await task for task in submits] == [[ReadingOutcome.ACCEPTED]] * 60
        assert pipeline.waiting == 0
        assert blocking_store.writes < 10  # waiting results are written as one batch

    with_pipeline(setup, blocking_store, work)
    assert len(blocking_store.readings("lab", None, None)) == 60


def test_waiting_readings_are_estimated_in_batches(setup, store, office, estimator, monkeypatch):
    day = office.iloc[3 * 288 : 3 * 288 + 150]
    names = [f"room-{k}" for k in range(12)]
    rooms = {name: RoomConfig(id=name, model=setup.rooms["lab"].model) for name in names}
    many = ServiceConfig(store=setup.store, clock="readings", rooms=rooms)
    co2 = {name: day["co2"] + 10 * k for k, name in enumerate(names)}
    calls = []

    async def work(pipeline):
        free, take = threading.Event(), pipeline._engine.add_readings

        def taking(readings, now, **options):
            calls.append(len(readings))
            free.wait()
            return take(readings, now, **options)

        monkeypatch.setattr(pipeline._engine, "add_readings", taking)
        monkeypatch.setattr("occupair.live_rooms.MIN_BATCH", 1)  # the first batch may be small
        monkeypatch.setattr(
            "occupair.room.model.RoomModel.people", None
        )  # used by rooms that are estimated alone
        sent = [
            asyncio.create_task(pipeline.submit([one]))
            for k in range(len(day))
            for name in names
            for one in readings_of(day.iloc[[k]].assign(co2=co2[name].iloc[k]), name)
        ]
        await asyncio.sleep(0)
        free.set()
        return [await one for one in sent]

    outcomes = with_pipeline(many, store, work)
    monkeypatch.undo()
    assert outcomes == [[ReadingOutcome.ACCEPTED]] * 12 * len(day)
    assert len(calls) <= 3
    for name in names:
        expected = estimator.estimate(day.assign(co2=co2[name]))
        np.testing.assert_allclose([one.people for one in stored_estimates(store, name)], expected, atol=1e-6)


def test_failed_writes_are_retried(setup, blocking_store, office, monkeypatch):
    monkeypatch.setattr(writer, "RETRY_PAUSE", (0.01, 0.02))
    blocking_store.failures = 10**9
    blocking_store.free.set()
    day = readings_of(office.iloc[3 * 288 : 3 * 288 + 3])

    async def work(pipeline):
        task = asyncio.create_task(pipeline.submit(day))
        await until(lambda: pipeline.part_status["store"] == "the disk is full")
        await until(lambda: blocking_store.writes > 3)
        assert not task.done()
        blocking_store.failures = 0
        assert await task == [ReadingOutcome.ACCEPTED] * 3
        assert pipeline.part_status["store"] == "ok"

    with_pipeline(setup, blocking_store, work)


def test_duplicate_is_not_acknowledged_before_the_original_is_stored(setup, blocking_store, office):
    day = readings_of(office.iloc[3 * 288 : 3 * 288 + 1])

    async def work(pipeline):
        first = asyncio.create_task(pipeline.submit(day))
        again = asyncio.create_task(pipeline.submit(day))
        await until(lambda: pipeline.counters["http", ReadingOutcome.DUPLICATE])
        await until(blocking_store.is_writing.is_set)
        assert not first.done()
        assert not again.done()
        blocking_store.free.set()
        assert (await first, await again) == ([ReadingOutcome.ACCEPTED], [ReadingOutcome.DUPLICATE])

    with_pipeline(setup, blocking_store, work)


def test_full_backlog_rejects_readings(setup, blocking_store, office, monkeypatch):
    monkeypatch.setattr(pipeline_module, "MAX_BACKLOG", 5)
    day = readings_of(office.iloc[3 * 288 : 3 * 288 + 10])

    async def work(pipeline):
        waiting = asyncio.create_task(pipeline.submit(day[:5]))
        await until(lambda: pipeline.waiting == 5)
        with pytest.raises(BacklogFull, match="5 readings are waiting for the store"):
            await pipeline.submit(day[5:6])
        blocking_store.free.set()
        await waiting
        assert await pipeline.submit(day[5:6]) == [ReadingOutcome.ACCEPTED]

    with_pipeline(setup, blocking_store, work)


def test_cancelled_submit_still_counts_as_waiting(setup, blocking_store, office, monkeypatch):
    monkeypatch.setattr(pipeline_module, "MAX_BACKLOG", 5)
    day = readings_of(office.iloc[3 * 288 : 3 * 288 + 10])

    async def work(pipeline):
        cancelled = asyncio.create_task(pipeline.submit(day[:5]))
        await until(blocking_store.is_writing.is_set)
        cancelled.cancel()
        assert pipeline.waiting == 5
        with pytest.raises(BacklogFull):
            await pipeline.submit(day[5:])
        blocking_store.free.set()
        await until(lambda: not pipeline.waiting)

    with_pipeline(setup, blocking_store, work)
    assert len(blocking_store.readings("lab", None, None)) == 5


def test_failing_job_does_not_affect_others(setup, store, office):
    def fail(engine):
        raise ZeroDivisionError

    async def work(pipeline):
        first = asyncio.create_task(pipeline.submit(readings_of(office.iloc[3 * 288 : 3 * 288 + 1])))
        bad = asyncio.create_task(pipeline._run(fail))
        last = asyncio.create_task(pipeline.submit(readings_of(office.iloc[3 * 288 + 1 : 3 * 288 + 2])))
        with pytest.raises(ZeroDivisionError):
            await bad
        return await first, await last

    assert with_pipeline(setup, store, work) == ([ReadingOutcome.ACCEPTED], [ReadingOutcome.ACCEPTED])


def test_failing_room_does_not_affect_others_and_keeps_its_readings(setup, store, office, monkeypatch):
    part = office.iloc[3 * 288 : 3 * 288 + 30]
    both = readings_of(part) + readings_of(part, "hall")

    def fail(*_):
        raise ZeroDivisionError("a bug")

    async def work(pipeline):
        monkeypatch.setattr(pipeline._engine._rooms["lab"], "_estimate_all", fail)
        assert set(await pipeline.submit(both)) == {ReadingOutcome.ACCEPTED}
        assert set(await pipeline.submit(both)) == {ReadingOutcome.DUPLICATE}
        assert pipeline.state("lab").reason == "estimation failed: see the log"
        assert pipeline.state("hall").co2 is not None
        monkeypatch.setattr("occupair.live.rooms.engine.room_state", fail)
        await pipeline.submit(readings_of(office.iloc[3 * 288 + 30 : 3 * 288 + 31], "hall"))
        assert pipeline.state("hall").quality is Quality.SUSPECT

    with_pipeline(setup, store, work)
    assert [len(store.readings(room, None, None)) for room in ("lab", "hall")] == [30, 31]
