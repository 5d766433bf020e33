"""Estimating and writing side by side: nothing is acknowledged that is not kept, no estimate waits."""

import asyncio
import datetime as dt
import threading

import numpy as np
import pandas as pd
import pytest
from live.pipeline_helpers import kept, nothing, readings_of, with_pipeline

from occupair.live import pipeline as module
from occupair.live import writer
from occupair.live.config import RoomConfig, ServiceConfig
from occupair.live.messages import Quality, Reading, ReadingOutcome
from occupair.live.pipeline import BacklogFull, Pipeline
from occupair.live.store import Store
from occupair.model_file import dump_model

UTC = dt.UTC


def test_what_is_acknowledged_is_kept_with_its_estimates(setup, store, office, estimator):
    day = office.iloc[3 * 288 : 3 * 288 + 150]

    async def work(pipeline):
        fates = await pipeline.submit(readings_of(day))
        return fates, store.readings("lab", None, None), kept(store), pipeline.state("lab")

    fates, readings, estimates, state = with_pipeline(setup, store, work)
    assert set(fates) == {ReadingOutcome.ACCEPTED}
    assert [one.co2 for one in readings] == day["co2"].tolist()
    np.testing.assert_allclose([one.people for one in estimates], estimator.estimate(day), atol=1e-6)
    assert state.people_exact == estimates[-1].people


def test_goes_on_after_a_restart_as_if_nothing_had_happened(setup, store, office):
    day = readings_of(office.iloc[3 * 288 + 80 : 3 * 288 + 200])
    for part in np.array_split(np.arange(len(day)), 7):
        with_pipeline(setup, store, lambda pipeline, part=part: pipeline.submit([day[k] for k in part]))
    broken = kept(store)
    other = Store(setup.store.replace("rooms.db", "other.db"))
    other.migrate()
    with_pipeline(setup, other, lambda pipeline: pipeline.submit(day))
    whole = kept(other)
    other.close()
    assert [one.time for one in broken] == [one.time for one in whole]
    for name in ("people", "low", "high", "people_refined", "co2_smoothed"):
        got, expected = ([getattr(one, name) for one in estimates] for estimates in (broken, whole))
        np.testing.assert_allclose(
            np.array(got, dtype=float), np.array(expected, dtype=float), rtol=0, atol=1e-9, err_msg=name
        )


def test_estimates_do_not_wait_for_a_slow_store_and_acknowledgements_do(setup, slow, office):
    day = readings_of(office.iloc[3 * 288 : 3 * 288 + 60])

    async def work(pipeline):
        async with pipeline.subscribe() as changes:
            submits = [asyncio.create_task(pipeline.submit([one])) for one in day]
            told = set()
            async for states in changes:
                told |= {state.time for state in states}
                if day[-1].time in told:
                    break
            assert not any(task.done() for task in submits)
            assert pipeline.waiting == 60
            slow.free.set()
            assert [await task for task in submits] == [[ReadingOutcome.ACCEPTED]] * 60
        assert pipeline.waiting == 0
        assert slow.writes < 10  # what waited went together

    with_pipeline(setup, slow, work)
    assert len(slow.readings("lab", None, None)) == 60


def test_a_store_that_fails_is_tried_again_until_it_takes_it(setup, slow, office, monkeypatch):
    monkeypatch.setattr(writer, "RETRY_PAUSE", (0.01, 0.02))
    slow.failures = 3
    slow.free.set()
    day = readings_of(office.iloc[3 * 288 : 3 * 288 + 3])

    async def work(pipeline):
        task = asyncio.create_task(pipeline.submit(day))
        seen = set()
        while not task.done():
            seen.add(pipeline.healthy["store"])
            await asyncio.sleep(0.005)
        assert await task == [ReadingOutcome.ACCEPTED] * 3
        assert "the disk is full" in seen
        assert pipeline.healthy["store"] == "ok"

    with_pipeline(setup, slow, work)
    assert slow.writes == 4


def test_a_repeated_reading_is_not_acknowledged_before_the_first_is_kept(setup, slow, office):
    day = readings_of(office.iloc[3 * 288 : 3 * 288 + 1])

    async def work(pipeline):
        first = asyncio.create_task(pipeline.submit(day))
        again = asyncio.create_task(pipeline.submit(day))
        done, _ = await asyncio.wait([first, again], timeout=0.2)
        assert not done
        slow.free.set()
        assert (await first, await again) == ([ReadingOutcome.ACCEPTED], [ReadingOutcome.DUPLICATE])

    with_pipeline(setup, slow, work)


def test_no_more_is_taken_when_too_much_waits(setup, slow, office, monkeypatch):
    monkeypatch.setattr(module, "MAX_BACKLOG", 5)
    day = readings_of(office.iloc[3 * 288 : 3 * 288 + 10])

    async def work(pipeline):
        waiting = asyncio.create_task(pipeline.submit(day[:5]))
        await asyncio.sleep(0.05)
        with pytest.raises(BacklogFull, match="5 readings are waiting for the store"):
            await pipeline.submit(day[5:6])
        slow.free.set()
        await waiting
        assert await pipeline.submit(day[5:6]) == [ReadingOutcome.ACCEPTED]

    with_pipeline(setup, slow, work)


def test_every_reading_has_a_fate(setup, store, office):
    now = dt.datetime.now(UTC)
    good = readings_of(office.iloc[3 * 288 : 3 * 288 + 2])
    wall = ServiceConfig(store=setup.store, rooms=setup.rooms)

    def one(time=now, co2=500.0, ventilation=None, room="lab"):
        return Reading(room, time, co2, ventilation, "mqtt", dt.datetime.now(UTC))

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
        for reading, fate in cases:
            assert await pipeline.submit([reading]) == [fate], reading
        assert pipeline.counters["mqtt", ReadingOutcome.NONSENSE] == 7
        assert pipeline.state("lab").reason == "implausible sensor reading: 0 ppm"

    with_pipeline(wall, store, work)


def test_a_sensor_whose_clock_is_ahead_is_suspect_until_it_is_right(setup, store):
    wall = ServiceConfig(store=setup.store, rooms=setup.rooms)

    async def work(pipeline):
        now = dt.datetime.now(UTC)
        ahead = now + dt.timedelta(hours=3)
        assert await pipeline.submit([Reading("lab", ahead, 500.0, 0.5, "mqtt", now)]) == [
            ReadingOutcome.FUTURE
        ]
        await pipeline.submit([Reading("lab", now, 500.0, 0.5, "mqtt", now)])
        assert pipeline.state("lab").quality is Quality.STARTING
        await pipeline.submit([Reading("lab", ahead, 500.0, 0.5, "mqtt", now)])
        assert pipeline.state("lab").quality is Quality.SUSPECT
        assert pipeline.state("lab").reason == "the sensor's clock is 180 minutes ahead"

    with_pipeline(wall, store, work)


def test_silence_is_told_without_a_reading(setup, store, office, monkeypatch):
    monkeypatch.setattr(module, "STATE_CHECK_EVERY", 0.02)
    rooms = {"lab": RoomConfig(id="lab", model=setup.rooms["lab"].model, stale_after=0.005)}
    wall = ServiceConfig(store=setup.store, rooms=rooms)

    async def work(pipeline):
        now = dt.datetime.now(UTC)
        await pipeline.submit([Reading("lab", now, 500.0, 0.5, "mqtt", now)])
        assert pipeline.state("lab").quality is Quality.STARTING
        async with pipeline.subscribe() as changes:
            async for states in changes:
                if states[0].quality is Quality.STALE:
                    assert states[0].people is None
                    break

    with_pipeline(wall, store, work)


def test_killed_while_it_estimates_anew_it_does_so_when_it_is_back(setup, store, office, other, monkeypatch):
    day = office.iloc[3 * 288 : 3 * 288 + 150]
    with_pipeline(setup, store, lambda pipeline: pipeline.submit(readings_of(day)))
    setup.rooms["lab"].model.write_bytes(dump_model(other))

    def die(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as killed:
        killed.setattr(store, "write", die)
        with pytest.raises(KeyboardInterrupt):
            Pipeline(setup, store)._restore([setup.rooms["lab"]])
    with_pipeline(setup, store, nothing)
    np.testing.assert_allclose([one.people for one in kept(store)], other.estimate(day), atol=1e-6)


def test_readings_that_wait_are_estimated_together(setup, store, office, estimator, monkeypatch):
    day = office.iloc[3 * 288 : 3 * 288 + 150]
    names = [f"room-{k}" for k in range(12)]
    rooms = {name: RoomConfig(id=name, model=setup.rooms["lab"].model) for name in names}
    many = ServiceConfig(store=setup.store, clock="readings", rooms=rooms)
    co2 = {name: day["co2"] + 10 * k for k, name in enumerate(names)}
    calls = []

    async def work(pipeline):
        free, take = threading.Event(), pipeline._engine.add_readings

        def taking(readings, now):
            calls.append(len(readings))
            free.wait()
            return take(readings, now)

        monkeypatch.setattr(pipeline._engine, "add_readings", taking)
        monkeypatch.setattr("occupair.live_rooms.FEWEST", 1)  # the first batch may be that small
        monkeypatch.setattr("occupair.room.model.RoomModel.people", None)  # what a room alone would call
        sent = [
            asyncio.create_task(pipeline.submit([one]))
            for k in range(len(day))
            for name in names
            for one in readings_of(day.iloc[[k]].assign(co2=co2[name].iloc[k]), name)
        ]
        await asyncio.sleep(0)
        free.set()
        return [await one for one in sent]

    fates = with_pipeline(many, store, work)
    monkeypatch.undo()
    assert fates == [[ReadingOutcome.ACCEPTED]] * 12 * len(day)
    assert len(calls) <= 3
    for name in names:
        expected = estimator.estimate(day.assign(co2=co2[name]))
        np.testing.assert_allclose([one.people for one in kept(store, name)], expected, atol=1e-6)


def test_a_job_that_fails_fails_alone(setup, store, office):
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


def test_times_are_utc(office):
    assert pd.Timestamp(readings_of(office.iloc[:1])[0].time).tz is not None


def test_what_fails_in_one_room_stays_there_and_its_readings_are_kept(setup, store, office, monkeypatch):
    part = office.iloc[3 * 288 : 3 * 288 + 30]
    both = readings_of(part) + readings_of(part, "hall")

    def fail(*_):
        raise ZeroDivisionError("a bug")

    async def work(pipeline):
        monkeypatch.setattr(pipeline._engine._rooms["lab"], "_estimate", fail)
        assert set(await pipeline.submit(both)) == {ReadingOutcome.ACCEPTED}
        assert set(await pipeline.submit(both)) == {ReadingOutcome.DUPLICATE}
        assert pipeline.state("lab").reason == "estimation failed: see the log"
        assert pipeline.state("hall").co2 is not None
        monkeypatch.setattr("occupair.live.rooms.engine.room_state", fail)
        await pipeline.submit(readings_of(office.iloc[3 * 288 + 30 : 3 * 288 + 31], "hall"))
        assert pipeline.state("hall").quality is Quality.SUSPECT

    with_pipeline(setup, store, work)
    assert [len(store.readings(room, None, None)) for room in ("lab", "hall")] == [30, 31]


def test_silence_is_told_also_while_the_store_takes_nothing(setup, slow, monkeypatch):
    monkeypatch.setattr(module, "STATE_CHECK_EVERY", 0.02)
    rooms = {"lab": RoomConfig(id="lab", model=setup.rooms["lab"].model, stale_after=0.005)}
    wall = ServiceConfig(store=setup.store, rooms=rooms)

    async def work(pipeline):
        now = dt.datetime.now(UTC)
        task = asyncio.create_task(pipeline.submit([Reading("lab", now, 500.0, 0.5, "mqtt", now)]))
        async with asyncio.timeout(10):
            while pipeline.state("lab").quality is not Quality.STALE or pipeline.state("lab").co2 is None:
                await asyncio.sleep(0.01)
        slow.free.set()
        await task

    with_pipeline(wall, slow, work)


def test_looking_goes_on_whatever_happens(setup, store, monkeypatch):
    monkeypatch.setattr(module, "STATE_CHECK_EVERY", 0.01)
    calls = []

    async def work(pipeline):
        monkeypatch.setattr(pipeline._engine, "states", lambda now, rooms: calls.append(now) or 1 / 0)
        while len(calls) < 3:
            await asyncio.sleep(0.01)
        assert pipeline.healthy["engine"] == "ok"

    with_pipeline(setup, store, work)


def test_readings_whose_sender_gave_up_still_count_as_waiting(setup, slow, office, monkeypatch):
    monkeypatch.setattr(module, "MAX_BACKLOG", 5)
    day = readings_of(office.iloc[3 * 288 : 3 * 288 + 10])

    async def work(pipeline):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await pipeline.submit(day[:5])
        assert pipeline.waiting == 5
        with pytest.raises(BacklogFull):
            await pipeline.submit(day[5:])
        slow.free.set()
        while pipeline.waiting:
            await asyncio.sleep(0.01)

    with_pipeline(setup, slow, work)
    assert len(slow.readings("lab", None, None)) == 5
