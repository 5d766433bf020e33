"""Changes of models, time zones and settings while the service runs or between two runs."""

import asyncio
import datetime as dt
import threading
from copy import copy
from dataclasses import replace

import numpy as np
import pytest
from live.pipeline_helpers import do_nothing, readings_of, stored_estimates, with_pipeline
from live.waiting import until

import occupair as oc
from occupair.live.config import RoomConfig, ServiceConfig
from occupair.live.messages import Quality, ReadingOutcome
from occupair.live.store import Store, StoreError
from occupair.model_file import dump_model

UTC = dt.UTC


def test_uploaded_model_is_used_until_forgotten(setup, store, office, estimator, other):
    day = office.iloc[3 * 288 : 3 * 288 + 150]

    async def work(pipeline):
        await pipeline.submit(readings_of(day))
        await pipeline.use_model("lab", dump_model(other), origin="upload")
        swapped = [one.people for one in stored_estimates(store)]
        await pipeline.forget("lab")
        with pytest.raises(oc.InputError, match="is not an occupair model"):
            await pipeline.use_model("lab", b"nonsense", origin="upload")
        await pipeline.use_model("hall", dump_model(other), origin="upload")
        assert pipeline.state("hall").quality is Quality.STALE
        return swapped, [one.people for one in stored_estimates(store)]

    swapped, back = with_pipeline(setup, store, work)
    np.testing.assert_allclose(swapped, other.estimate(day), atol=1e-6)
    np.testing.assert_allclose(back, estimator.estimate(day), atol=1e-6)


def test_changed_model_file_replaces_an_uploaded_model(setup, store, office, other):

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


def test_model_file_changed_between_runs_estimates_today_again(setup, store, office, other):
    days = office.iloc[3 * 288 : 4 * 288 + 150]
    with_pipeline(setup, store, lambda pipeline: pipeline.submit(readings_of(days)))
    yesterday = [one.people for one in stored_estimates(store)][:288]
    setup.rooms["lab"].model.write_bytes(dump_model(other))
    with_pipeline(setup, store, do_nothing)
    estimates = [one.people for one in stored_estimates(store)]
    np.testing.assert_allclose(estimates[288:], other.estimate(days.iloc[288:]), atol=1e-6)
    assert estimates[:288] == yesterday


def test_model_of_another_interval_leaves_no_estimates_on_the_old_grid(setup, store, office):
    days = office.iloc[3 * 288 : 4 * 288 + 101]
    coarse = oc.OccupancyEstimator(n_hidden=15, random_state=1).fit(office.iloc[: 3 * 288 : 2])
    coarse.room_ = replace(coarse.room_, baseline=None)  # would use the low of yesterday on the other grid

    async def work(pipeline):
        await pipeline.submit(readings_of(days))
        await pipeline.use_model("lab", dump_model(coarse), origin="upload")
        return stored_estimates(store)

    estimates = with_pipeline(setup, store, work)
    assert [one.time for one in estimates] == [*days.index[:288], *days.index[288::2]]
    expected = coarse.estimate(days.iloc[288::2])
    np.testing.assert_allclose([one.people for one in estimates[288:]], expected, atol=1e-6)
    with_pipeline(setup, store, do_nothing)
    assert stored_estimates(store) == estimates


@pytest.mark.parametrize("how", ["forgotten", "changed"])
def test_new_model_just_before_midnight_keeps_the_estimates_of_the_day(
    setup, store, until_midnight, other, how
):
    with_pipeline(setup, store, lambda pipeline: pipeline.submit(until_midnight))
    before = stored_estimates(store)
    assert len(before) == 289  # the last one is at the next midnight
    if how == "changed":
        setup.rooms["lab"].model.write_bytes(dump_model(other))
    with_pipeline(
        setup, store, lambda pipeline: pipeline.forget("lab") if how == "forgotten" else do_nothing(0)
    )
    with_pipeline(setup, store, do_nothing)
    assert [one.time for one in stored_estimates(store)] == [one.time for one in before]


def test_new_time_zone_keeps_readings_waiting_for_the_store(setup, blocking_store, office):
    day = readings_of(office.iloc[3 * 288 + 24 : 3 * 288 + 150])
    there = setup.rooms["lab"].model_copy(update={"timezone": "Europe/Helsinki"})
    moved = ServiceConfig(store=setup.store, clock="readings", rooms={"lab": there})
    blocking_store.free.set()

    async def work(pipeline):
        await pipeline.submit(day[:100])
        blocking_store.free.clear()
        waiting = asyncio.create_task(pipeline.submit(day[100:110]))
        await until(lambda: pipeline.counters["http", ReadingOutcome.ACCEPTED] == 110)
        reload = asyncio.create_task(pipeline.reload(moved))
        await until(lambda: pipeline._engine._setups["lab"].timezone == there.timezone)
        blocking_store.free.set()
        await waiting
        await reload
        await pipeline.submit(day[110:])

    with_pipeline(setup, blocking_store, work)
    assert [one.time for one in stored_estimates(blocking_store)] == [one.time for one in day]


def test_upload_during_a_reload_is_used(setup, store, office, other, monkeypatch):
    day = office.iloc[3 * 288 : 3 * 288 + 50]

    async def work(pipeline):
        await pipeline.submit(readings_of(day))
        model = pipeline.models.initial_model

        started, release = threading.Event(), threading.Event()

        def blocking(room):
            found = model(room)
            started.set()
            release.wait()
            return found

        monkeypatch.setattr(pipeline.models, "initial_model", blocking)
        reload = asyncio.create_task(pipeline.reload(setup))
        await until(started.is_set)
        upload = asyncio.create_task(pipeline.use_model("lab", dump_model(other), origin="upload"))
        await until(lambda: pipeline._changing_models._waiters)
        release.set()
        version = await upload
        await reload
        return version, pipeline._engine.model_version("lab"), store.active_model("lab")[0]

    assert len(set(with_pipeline(setup, store, work))) == 1
    np.testing.assert_allclose(
        [one.people for one in stored_estimates(store)], other.estimate(day), atol=1e-6
    )


def test_store_failure_during_a_reload_leaves_rooms_consistent(setup, store, office, other, monkeypatch):
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
    np.testing.assert_allclose(
        [one.people for one in stored_estimates(store)], other.estimate(day), atol=1e-6
    )


def test_failing_new_model_removes_estimates_of_the_old_one(setup, store, office, other, monkeypatch):
    day = office.iloc[3 * 288 : 3 * 288 + 50]

    def fail(*_):
        raise ZeroDivisionError

    async def work(pipeline):
        await pipeline.submit(readings_of(day))
        monkeypatch.setattr(pipeline._engine._rooms["lab"], "_estimate_all", fail)
        await pipeline.use_model("lab", dump_model(other), origin="upload")
        return pipeline.state("lab")

    state = with_pipeline(setup, store, work)
    assert (state.people, state.reason) == (None, "estimation failed: see the log")
    assert stored_estimates(store) == []
    monkeypatch.undo()
    with_pipeline(setup, store, do_nothing)
    np.testing.assert_allclose(
        [one.people for one in stored_estimates(store)], other.estimate(day), atol=1e-6
    )


def test_restart_writes_nothing_that_is_stored(setup, store, office, monkeypatch):
    day = office.iloc[3 * 288 : 3 * 288 + 150]

    async def both(pipeline):
        await pipeline.submit(readings_of(day) + readings_of(day, "hall"))

    with_pipeline(setup, store, both)
    monkeypatch.setattr(store, "write", None)
    with_pipeline(setup, store, do_nothing)


def test_rooms_are_added_and_removed(setup, store, office):
    async def work(pipeline):
        await pipeline.submit(readings_of(office.iloc[3 * 288 : 3 * 288 + 5]))
        fewer = ServiceConfig(store=setup.store, clock="readings", rooms={"attic": RoomConfig(id="attic")})
        await pipeline.reload(fewer)
        assert set(pipeline.states()) == {"attic"}
        assert await pipeline.submit(readings_of(office.iloc[:1])) == [ReadingOutcome.UNKNOWN_ROOM]
        await pipeline.reload(setup)
        assert pipeline.state("lab").co2 == pytest.approx(office["co2"].iloc[3 * 288 + 4])

    with_pipeline(setup, store, work)


def test_reload_uses_a_changed_model_file(setup, store, office, other):
    day = office.iloc[3 * 288 : 3 * 288 + 150]

    async def work(pipeline):
        await pipeline.submit(readings_of(day))
        setup.rooms["lab"].model.write_bytes(dump_model(other))
        await pipeline.reload(setup)
        return [one.people for one in stored_estimates(store)]

    np.testing.assert_allclose(with_pipeline(setup, store, work), other.estimate(day), atol=1e-6)


@pytest.fixture
def local_model(setup, estimator):
    """Replace the model by one trained on local times, whose days are those of the room."""
    local = copy(estimator)
    local.timezone_ = None
    setup.rooms["lab"].model.write_bytes(dump_model(local))


@pytest.mark.usefixtures("local_model")
def test_new_time_zone_restarts_the_day(setup, store, office):
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


def test_new_interval_of_the_sensor_estimates_today_again(setup, store, office, estimator):
    """Every reading comes after a gap until the settings say that the sensor sends every 20 min."""
    day = office.iloc[3 * 288 : 3 * 288 + 200 : 4]
    rooms = {"lab": RoomConfig(id="lab", model=setup.rooms["lab"].model, interval=20.0)}
    rare = ServiceConfig(store=setup.store, clock="readings", rooms=rooms)

    async def work(pipeline):
        await pipeline.submit(readings_of(day))
        before = pipeline.state("lab")
        await pipeline.reload(rare)
        return before, pipeline.state("lab"), [one.people for one in stored_estimates(store)]

    before, after, estimates = with_pipeline(setup, store, work)
    assert (before.people, before.reason) == (
        None,
        "a reading every 20 min is too few: set interval of the room",
    )
    assert after.quality is Quality.OK
    expected = estimator.estimate(oc.read_readings(day, interval=5, longest_gap=60, ventilation_full=1.0))
    np.testing.assert_allclose(estimates, expected, atol=1e-6)


@pytest.mark.parametrize("zone", ["Asia/Tokyo", "America/New_York"])
@pytest.mark.parametrize("n_first", [0, 170, 350])
def test_room_in_another_zone_than_its_model_agrees_with_estimate(
    setup, store, office, estimator, zone, n_first
):
    """Midnight and the time of day are those of training, also after a restart at any time."""
    there = setup.rooms["lab"].model_copy(update={"timezone": zone})
    moved = ServiceConfig(store=setup.store, clock="readings", rooms={"lab": there})
    two_days = office.iloc[3 * 288 :]
    for part in (two_days.iloc[:n_first], two_days.iloc[n_first:]):
        with_pipeline(moved, store, lambda pipeline, part=part: pipeline.submit(readings_of(part)))
    people = [one.people for one in stored_estimates(store)]
    np.testing.assert_allclose(people, estimator.estimate(two_days), rtol=0, atol=1e-6)


@pytest.mark.usefixtures("local_model")
def test_new_time_zone_at_a_restart_equals_a_reload(setup, store, office):
    day = readings_of(office.iloc[3 * 288 : 3 * 288 + 200])
    there = setup.rooms["lab"].model_copy(update={"timezone": "Asia/Tokyo"})
    moved = ServiceConfig(store=setup.store, clock="readings", rooms={"lab": there})
    other = Store(setup.store.replace("rooms.db", "other.db"))
    other.migrate()

    async def submit_and_reload(pipeline):
        await pipeline.submit(day)
        await pipeline.reload(moved)

    with_pipeline(setup, other, submit_and_reload)
    with_pipeline(setup, store, lambda pipeline: pipeline.submit(day))
    before = stored_estimates(store)
    with_pipeline(moved, store, do_nothing)
    assert stored_estimates(store) == stored_estimates(other) != before
    with_pipeline(moved, store, do_nothing)
    assert stored_estimates(store) == stored_estimates(other)
    other.close()


def test_invalid_model_file_leaves_the_room_without_a_model(setup, store, caplog):
    setup.rooms["lab"].model.write_bytes(b"broken")

    async def work(pipeline):
        return pipeline.state("lab").quality

    assert with_pipeline(setup, store, work) is Quality.UNTRAINED
    assert "room lab: the model file cannot be used: is not an occupair model" in caplog.text


def test_unavailable_store_keeps_the_settings(setup, store, monkeypatch):
    def fail(*_):
        raise StoreError("gone")

    async def work(pipeline):
        monkeypatch.setattr(store, "newest_readings", fail)
        with pytest.raises(StoreError):
            await pipeline.reload(ServiceConfig(store=setup.store, rooms={"attic": RoomConfig(id="attic")}))
        assert set(pipeline.states()) == set(pipeline.config.rooms) == {"lab", "hall"}

    with_pipeline(setup, store, work)


def test_model_and_its_estimates_are_stored_in_one_transaction(setup, blocking_store, office, other):
    day = office.iloc[3 * 288 : 3 * 288 + 50]
    blocking_store.free.set()

    async def work(pipeline):
        await pipeline.submit(readings_of(day))
        before = [one.people for one in stored_estimates(blocking_store)]
        blocking_store.free.clear()
        blocking_store.is_writing.clear()
        swap = asyncio.create_task(pipeline.use_model("lab", dump_model(other), origin="upload"))
        await until(blocking_store.is_writing.is_set)
        assert [one.active for one in blocking_store.models("lab")] == [True, False]
        assert [one.people for one in stored_estimates(blocking_store)] == before
        blocking_store.free.set()
        await swap
        assert [one.active for one in blocking_store.models("lab")] == [False, True]
        np.testing.assert_allclose(
            [one.people for one in stored_estimates(blocking_store)], other.estimate(day), atol=1e-6
        )

    with_pipeline(setup, blocking_store, work)
