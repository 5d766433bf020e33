"""The pipeline: readings are acknowledged once stored, and estimates never wait for the store."""

import asyncio
import datetime as dt
import threading
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from live.pipeline_helpers import Clock, do_nothing, readings_of, stored_estimates, with_pipeline
from live.waiting import until

from occupair.live import pipeline as pipeline_module
from occupair.live import writer
from occupair.live.config import RoomConfig, ServiceConfig
from occupair.live.messages import Label, Quality, Reading, ReadingOutcome
from occupair.live.pipeline import Pipeline
from occupair.live.room_pipeline import BacklogFull
from occupair.live.rooms.interval_correction import LEAST_DISTANCE
from occupair.live.store import Store, StoreError
from occupair.model_file import dump_model
from occupair.readings.gaps import default_gap

UTC = dt.UTC


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


def test_restarts_do_not_change_estimates(setup, store, office):
    day = readings_of(office.iloc[3 * 288 + 80 : 3 * 288 + 200])
    for part in np.array_split(np.arange(len(day)), 7):
        with_pipeline(setup, store, lambda pipeline, part=part: pipeline.submit([day[k] for k in part]))
    restarted = stored_estimates(store)
    other = Store(setup.store.replace("rooms.db", "other.db"))
    other.migrate()
    with_pipeline(setup, other, lambda pipeline: pipeline.submit(day))
    whole = stored_estimates(other)
    other.close()
    assert [one.time for one in restarted] == [one.time for one in whole]
    for name in ("people", "low", "high", "people_refined", "co2_smoothed"):
        got, expected = ([getattr(one, name) for one in estimates] for estimates in (restarted, whole))
        np.testing.assert_allclose(
            np.array(got, dtype=float), np.array(expected, dtype=float), rtol=0, atol=1e-9, err_msg=name
        )


def test_restarts_do_not_change_the_drift_that_is_followed(setup, store, office):
    two_days = office.iloc[3 * 288 : 3 * 288 + 2 * 288]
    days = readings_of(two_days.assign(co2=two_days["co2"] + 90))
    for part in np.array_split(np.arange(len(days)), 5):
        with_pipeline(setup, store, lambda pipeline, part=part: pipeline.submit([days[k] for k in part]))
    restarted = stored_estimates(store)
    other = Store(setup.store.replace("rooms.db", "other.db"))
    other.migrate()
    state = with_pipeline(setup, other, lambda pipeline: _submit_and_get_state(pipeline, days))
    whole = stored_estimates(other)
    other.close()
    assert state.baseline_shift > 60
    np.testing.assert_allclose(
        [one.people for one in restarted], [one.people for one in whole], rtol=0, atol=1e-9
    )


async def _submit_and_get_state(pipeline, readings):
    await pipeline.submit(readings)
    return pipeline.state("lab")


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


def test_clock_of_readings_is_the_newest_valid_reading(setup, store):
    time = dt.datetime(2024, 1, 8, 8, tzinfo=UTC)

    async def work(pipeline):
        later = time + dt.timedelta(minutes=7)
        await pipeline.submit([Reading("lab", time, 500.0, None, "mqtt", time)])
        await pipeline.submit([Reading("lab", later, None, 0.5, "mqtt", time)])  # ventilation has no state
        await pipeline.submit([Reading("lab", later.replace(year=2999), 500.0, None, "mqtt", time)])
        assert pipeline.now() == later

    with_pipeline(setup, store, work)


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


def test_interrupted_restore_is_completed_at_the_next_start(setup, store, office, other, monkeypatch):
    day = office.iloc[3 * 288 : 3 * 288 + 150]
    with_pipeline(setup, store, lambda pipeline: pipeline.submit(readings_of(day)))
    setup.rooms["lab"].model.write_bytes(dump_model(other))

    def interrupt(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as killed:
        killed.setattr(store, "write", interrupt)
        with pytest.raises(KeyboardInterrupt):
            Pipeline(setup, store)._restore([setup.rooms["lab"]])
    with_pipeline(setup, store, do_nothing)
    np.testing.assert_allclose(
        [one.people for one in stored_estimates(store)], other.estimate(day), atol=1e-6
    )


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


def test_readings_have_time_zones(office):
    assert pd.Timestamp(readings_of(office.iloc[:1])[0].time).tz is not None


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


def test_head_counts_correct_the_next_intervals_and_restarts_keep_the_correction(setup, store, office):
    day = readings_of(office.iloc[3 * 288 + 100 : 3 * 288 + 200])

    async def count_twice(pipeline):
        await pipeline.submit(day[:40])
        before = pipeline.correction("lab")
        for k in (30, 39):
            store.add_label(Label("lab", day[k].time, 99, dt.datetime.now(UTC), "typed"))
            await pipeline.track_labels("lab")
        await pipeline.submit(day[40:60])
        return before, pipeline.correction("lab")

    before, after = with_pipeline(setup, store, count_twice)
    assert (before.labels, before.coverage) == (0, None)
    assert (after.labels, after.coverage) == (2, 0.0)
    restarted = with_pipeline(setup, store, lambda pipeline: _submit_and_read(pipeline, day[60:]))
    assert restarted == after

    other = Store(setup.store.replace("rooms.db", "other.db"))
    other.migrate()
    with_pipeline(setup, other, lambda pipeline: pipeline.submit(day))
    plain, corrected = stored_estimates(other), stored_estimates(store)
    other.close()
    below, above = after.factors[-1]
    assert above > 1.3
    for one, expected in zip(corrected, plain, strict=True):
        assert one.people == pytest.approx(expected.people, abs=1e-9)
        if one.time <= day[30].time:
            assert (one.low, one.high) == pytest.approx((expected.low, expected.high))
        elif one.time > day[39].time:
            upper = above * (expected.high - one.people) + (above - 1) * LEAST_DISTANCE
            assert one.high == pytest.approx(one.people + upper)
            assert one.low == pytest.approx(max(one.people - below * (one.people - expected.low), 0.0))


async def _submit_and_read(pipeline, readings):
    await pipeline.submit(readings)
    return pipeline.correction("lab")


def test_new_model_and_deleted_labels_reset_the_correction(setup, store, office, other):
    day = readings_of(office.iloc[3 * 288 + 100 : 3 * 288 + 150])
    label = Label("lab", day[-1].time, 99, dt.datetime.now(UTC) + dt.timedelta(minutes=1), "typed")

    async def work(pipeline):
        await pipeline.submit(day)
        found = []
        for change in (store.add_label, lambda one: store.remove_label(one.room, one.time), store.add_label):
            change(label)
            await pipeline.track_labels("lab")
            found.append(pipeline.correction("lab").labels)
        store.add_label(replace(label, entered=dt.datetime.now(UTC)))
        await pipeline.use_model("lab", dump_model(other), origin="upload")
        return [*found, pipeline.correction("lab").labels]

    assert with_pipeline(setup, store, work) == [1, 0, 1, 0]


def test_label_is_kept_if_the_correction_cannot_be_read(setup, store, monkeypatch):
    def fail(*_, **__):
        raise StoreError("store: gone")

    async def work(pipeline):
        monkeypatch.setattr(store, "labelled_intervals", fail)
        await pipeline.track_labels("lab")
        return pipeline.correction("lab").labels

    assert with_pipeline(setup, store, work) == 0
