"""Models, time zones and settings change: what is kept is as if they had been so all day."""

import asyncio
import datetime as dt
import time

import numpy as np
import pytest
from live.pipeline_helpers import kept, nothing, readings_of, with_pipeline

import occupair as oc
from occupair.live.config import RoomConfig, ServiceConfig
from occupair.live.messages import Quality, ReadingOutcome
from occupair.live.store import Store, StoreError
from occupair.model_file import dump_model

UTC = dt.UTC


def test_models_are_swapped_and_forgotten(setup, store, office, estimator, other):
    day = office.iloc[3 * 288 : 3 * 288 + 150]

    async def work(pipeline):
        await pipeline.submit(readings_of(day))
        await pipeline.use_model("lab", dump_model(other), origin="upload")
        swapped = [one.people for one in kept(store)]
        await pipeline.forget("lab")
        with pytest.raises(oc.InputError, match="is not an occupair model"):
            await pipeline.use_model("lab", b"nonsense", origin="upload")
        await pipeline.use_model("hall", dump_model(other), origin="upload")
        assert pipeline.state("hall").quality is Quality.STALE
        return swapped, [one.people for one in kept(store)]

    swapped, back = with_pipeline(setup, store, work)
    np.testing.assert_allclose(swapped, other.estimate(day), atol=1e-6)
    np.testing.assert_allclose(back, estimator.estimate(day), atol=1e-6)


def test_a_file_that_changed_goes_before_what_was_uploaded(setup, store, office, other):

    async def origin(pipeline):
        return [one.origin for one in store.models("lab") if one.active]

    async def upload(pipeline):
        await pipeline.use_model("lab", dump_model(other), origin="upload")

    assert with_pipeline(setup, store, origin) == ["file"]
    with_pipeline(setup, store, upload)
    assert with_pipeline(setup, store, origin) == ["upload"]
    third = oc.OccupancyEstimator(n_hidden=15, random_state=2).fit(office.iloc[288 : 3 * 288])
    setup.rooms["lab"].model.write_bytes(dump_model(third))
    assert with_pipeline(setup, store, origin) == ["file"]


def test_a_model_file_that_changed_while_it_was_down_estimates_today_anew(setup, store, office, other):
    days = office.iloc[3 * 288 : 4 * 288 + 150]
    with_pipeline(setup, store, lambda pipeline: pipeline.submit(readings_of(days)))
    yesterday = [one.people for one in kept(store)][:288]
    setup.rooms["lab"].model.write_bytes(dump_model(other))
    with_pipeline(setup, store, nothing)
    said = [one.people for one in kept(store)]
    np.testing.assert_allclose(said[288:], other.estimate(days.iloc[288:]), atol=1e-6)
    assert said[:288] == yesterday


def test_a_model_of_another_interval_leaves_no_rows_of_the_old_grid(setup, store, office):
    days = office.iloc[3 * 288 : 4 * 288 + 101]
    coarse = oc.OccupancyEstimator(n_hidden=15, random_state=1).fit(office.iloc[: 3 * 288 : 2])

    async def work(pipeline):
        await pipeline.submit(readings_of(days))
        await pipeline.use_model("lab", dump_model(coarse), origin="upload")
        return kept(store)

    said = with_pipeline(setup, store, work)
    assert [one.time for one in said] == [*days.index[:288], *days.index[288::2]]
    expected = coarse.estimate(days.iloc[288::2])
    np.testing.assert_allclose([one.people for one in said[288:]], expected, atol=1e-6)
    with_pipeline(setup, store, nothing)
    assert kept(store) == said


@pytest.mark.parametrize("how", ["forgotten", "changed"])
def test_just_before_midnight_a_new_model_takes_no_day_away(setup, store, until_midnight, other, how):
    with_pipeline(setup, store, lambda pipeline: pipeline.submit(until_midnight))
    before = kept(store)
    assert len(before) == 289  # the last is of the midnight to come
    if how == "changed":
        setup.rooms["lab"].model.write_bytes(dump_model(other))
    with_pipeline(setup, store, lambda pipeline: pipeline.forget("lab") if how == "forgotten" else nothing(0))
    with_pipeline(setup, store, nothing)
    assert [one.time for one in kept(store)] == [one.time for one in before]


def test_another_zone_loses_no_reading_that_waits_for_the_store(setup, slow, office):
    day = readings_of(office.iloc[3 * 288 + 24 : 3 * 288 + 150])
    there = setup.rooms["lab"].model_copy(update={"timezone": "Europe/Helsinki"})
    moved = ServiceConfig(store=setup.store, clock="readings", rooms={"lab": there})
    slow.free.set()

    async def work(pipeline):
        await pipeline.submit(day[:100])
        slow.free.clear()
        waiting = asyncio.create_task(pipeline.submit(day[100:110]))
        await asyncio.sleep(0.1)
        reload = asyncio.create_task(pipeline.reload(moved))
        await asyncio.sleep(0.3)
        slow.free.set()
        await waiting
        await reload
        await pipeline.submit(day[110:])

    with_pipeline(setup, slow, work)
    assert [one.time for one in kept(slow)] == [one.time for one in day]


def test_an_upload_while_settings_are_read_again_stays(setup, store, office, other, monkeypatch):
    day = office.iloc[3 * 288 : 3 * 288 + 50]

    async def work(pipeline):
        await pipeline.submit(readings_of(day))
        model = pipeline.models.start_room

        def slowly(room):
            found = model(room)
            time.sleep(0.3)
            return found

        monkeypatch.setattr(pipeline.models, "start_room", slowly)
        reload = asyncio.create_task(pipeline.reload(setup))
        await asyncio.sleep(0.1)
        version = await pipeline.use_model("lab", dump_model(other), origin="upload")
        await reload
        return version, pipeline._engine.model_version("lab"), store.active_model("lab")[0]

    assert len(set(with_pipeline(setup, store, work))) == 1
    np.testing.assert_allclose([one.people for one in kept(store)], other.estimate(day), atol=1e-6)


def test_where_the_store_fails_while_models_are_read_each_room_is_whole(
    setup, store, office, other, monkeypatch
):
    day = office.iloc[3 * 288 : 3 * 288 + 50]

    async def work(pipeline):
        await pipeline.submit(readings_of(day))
        begin = pipeline.models.from_file

        def failing(room, path):
            if room == "hall":
                raise StoreError("gone for a moment")
            return begin(room, path)

        monkeypatch.setattr(pipeline.models, "from_file", failing)
        setup.rooms["lab"].model.write_bytes(dump_model(other))
        with pytest.raises(StoreError):
            await pipeline.reload(setup)
        return pipeline._engine.model_version("lab"), store.active_model("lab")[0]

    assert len(set(with_pipeline(setup, store, work))) == 1
    np.testing.assert_allclose([one.people for one in kept(store)], other.estimate(day), atol=1e-6)


def test_where_a_new_model_fails_nothing_is_left_of_the_old_one(setup, store, office, other, monkeypatch):
    day = office.iloc[3 * 288 : 3 * 288 + 50]

    def fail(*_):
        raise ZeroDivisionError

    async def work(pipeline):
        await pipeline.submit(readings_of(day))
        monkeypatch.setattr(pipeline._engine._rooms["lab"], "_estimate", fail)
        await pipeline.use_model("lab", dump_model(other), origin="upload")
        return pipeline.state("lab")

    state = with_pipeline(setup, store, work)
    assert (state.people, state.reason) == (None, "estimation failed: see the log")
    assert kept(store) == []
    monkeypatch.undo()
    with_pipeline(setup, store, nothing)
    np.testing.assert_allclose([one.people for one in kept(store)], other.estimate(day), atol=1e-6)


def test_a_restart_writes_nothing_that_is_there(setup, store, office, monkeypatch):
    day = office.iloc[3 * 288 : 3 * 288 + 150]

    async def both(pipeline):
        await pipeline.submit(readings_of(day) + readings_of(day, "hall"))

    with_pipeline(setup, store, both)
    monkeypatch.setattr(store, "write", None)
    with_pipeline(setup, store, nothing)


def test_rooms_come_and_go(setup, store, office):
    async def work(pipeline):
        await pipeline.submit(readings_of(office.iloc[3 * 288 : 3 * 288 + 5]))
        fewer = ServiceConfig(store=setup.store, clock="readings", rooms={"attic": RoomConfig(id="attic")})
        await pipeline.reload(fewer)
        assert set(pipeline.states()) == {"attic"}
        assert await pipeline.submit(readings_of(office.iloc[:1])) == [ReadingOutcome.UNKNOWN_ROOM]
        await pipeline.reload(setup)
        assert pipeline.state("lab").co2 == pytest.approx(office["co2"].iloc[3 * 288 + 4])

    with_pipeline(setup, store, work)


def test_a_model_file_that_changed_is_taken_up_when_settings_are_read_again(setup, store, office, other):
    day = office.iloc[3 * 288 : 3 * 288 + 150]

    async def work(pipeline):
        await pipeline.submit(readings_of(day))
        setup.rooms["lab"].model.write_bytes(dump_model(other))
        await pipeline.reload(setup)
        return [one.people for one in kept(store)]

    np.testing.assert_allclose(with_pipeline(setup, store, work), other.estimate(day), atol=1e-6)


def test_another_time_zone_begins_the_day_anew(setup, store, office):
    rooms = {"lab": RoomConfig(id="lab", model=setup.rooms["lab"].model, timezone="Asia/Tokyo")}
    moved = ServiceConfig(store=setup.store, clock="readings", rooms=rooms)

    async def work(pipeline):
        await pipeline.submit(
            readings_of(office.iloc[3 * 288 : 3 * 288 + 182])
        )  # 15:05, after midnight there
        before = pipeline.state("lab").quality
        await pipeline.reload(moved)
        return before, pipeline.state("lab").quality

    assert with_pipeline(setup, store, work) == (Quality.OK, Quality.STARTING)


def test_another_time_zone_after_a_restart_is_the_same_as_without_one(setup, store, office):
    day = readings_of(office.iloc[3 * 288 : 3 * 288 + 200])
    there = setup.rooms["lab"].model_copy(update={"timezone": "Asia/Tokyo"})
    moved = ServiceConfig(store=setup.store, clock="readings", rooms={"lab": there})
    other = Store(setup.store.replace("rooms.db", "other.db"))
    other.migrate()

    async def told(pipeline):
        await pipeline.submit(day)
        await pipeline.reload(moved)

    with_pipeline(setup, other, told)
    with_pipeline(setup, store, lambda pipeline: pipeline.submit(day))
    before = kept(store)
    with_pipeline(moved, store, nothing)
    assert kept(store) == kept(other) != before
    with_pipeline(moved, store, nothing)
    assert kept(store) == kept(other)
    other.close()


def test_a_model_that_cannot_be_read_leaves_the_room_without_one(setup, store, caplog):
    setup.rooms["lab"].model.write_bytes(b"broken")

    async def work(pipeline):
        return pipeline.state("lab").quality

    assert with_pipeline(setup, store, work) is Quality.UNTRAINED
    assert "room lab: the model file cannot be used: is not an occupair model" in caplog.text


def test_settings_stay_when_the_store_cannot_be_asked(setup, store, monkeypatch):
    def fail(*_):
        raise StoreError("gone")

    async def work(pipeline):
        monkeypatch.setattr(store, "newest_readings", fail)
        with pytest.raises(StoreError):
            await pipeline.reload(ServiceConfig(store=setup.store, rooms={"attic": RoomConfig(id="attic")}))
        assert set(pipeline.states()) == set(pipeline.config.rooms) == {"lab", "hall"}

    with_pipeline(setup, store, work)


def test_a_model_is_used_and_its_estimates_are_kept_together_or_not_at_all(setup, slow, office, other):
    day = office.iloc[3 * 288 : 3 * 288 + 50]
    slow.free.set()

    async def work(pipeline):
        await pipeline.submit(readings_of(day))
        before = [one.people for one in kept(slow)]
        slow.free.clear()
        swap = asyncio.create_task(pipeline.use_model("lab", dump_model(other), origin="upload"))
        while len(slow.models("lab")) < 2:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)
        assert [one.active for one in slow.models("lab")] == [True, False]
        assert [one.people for one in kept(slow)] == before
        slow.free.set()
        await swap
        assert [one.active for one in slow.models("lab")] == [False, True]
        np.testing.assert_allclose([one.people for one in kept(slow)], other.estimate(day), atol=1e-6)

    with_pipeline(setup, slow, work)
