"""Rooms with size and seats and without a model: estimated from the first readings on, better every night."""

import asyncio
import contextlib
import datetime as dt

import numpy as np
import pytest

import occupair as oc
from occupair.live import calibration
from occupair.live.calibration import Calibrator
from occupair.live.config import RoomConfig, ServiceConfig
from occupair.live.messages import Label, Reading
from occupair.live.pipeline import Pipeline
from occupair.live.store import Store
from occupair.model_file import parse_model

pytestmark = pytest.mark.slow

UTC = dt.UTC
PER_DAY = 288
HANG_GUARD = 900.0  # [s]
ROOM = {"id": "lab", "volume": 502.0, "capacity": 35}


@pytest.fixture(scope="module")
def office():
    return oc.simulate_office(days=3, seed=5).iloc[::5].tz_localize("UTC")


def readings_of(frame):
    return [
        Reading("lab", when.to_pydatetime(), co2, flow, "http", dt.datetime.now(UTC))
        for when, co2, flow in zip(frame.index, frame["co2"], frame["ventilation"], strict=True)
    ]


@contextlib.asynccontextmanager
async def running(folder, **room):
    """Yield the pipeline of a service with a calibrator."""
    config = ServiceConfig(
        store=f"sqlite:///{folder}/rooms.db",
        clock="readings",
        rooms={"lab": RoomConfig(**(ROOM | room))},
    )
    store = Store(config.store)
    store.migrate()
    pipeline = Pipeline(config, store)
    await pipeline.start()
    pipeline.calibrator = Calibrator(pipeline)
    task = asyncio.create_task(pipeline.calibrator.run())
    try:
        yield pipeline
    finally:
        task.cancel()
        await asyncio.wait([task])
        await pipeline.stop()
        store.close()


async def calibrated(pipeline, note):
    """Wait for a calibration with a note that ends like this, and return its model."""
    async with asyncio.timeout(HANG_GUARD):
        while True:
            active = [one for one in pipeline.store.models("lab") if one.active]
            if active and active[0].note.endswith(note):
                return active[0]
            await asyncio.sleep(0.1)


def air_of(pipeline):
    return parse_model(pipeline.store.active_model("lab")[1]).air_


@pytest.fixture
def often(monkeypatch):
    monkeypatch.setattr(calibration, "CHECK_EVERY", 0.2)


async def submit(pipeline, frame):
    await pipeline.submit(readings_of(frame))


def test_room_is_estimated_from_the_first_readings_on_and_calibrated_after_its_first_night(
    tmp_path, office, often
):
    async def first_days():
        async with running(tmp_path) as pipeline:
            await asyncio.sleep(0.5)
            assert not pipeline.store.models("lab")  # no reading, no model
            await submit(pipeline, office.iloc[: 12 * 9])
            first = await calibrated(pipeline, "0 head counts")
            assert first.origin == "calibrated"
            assert air_of(pipeline).n_days == 0
            await submit(pipeline, office.iloc[12 * 9 : 12 * 11])
            morning = pipeline.state("lab")
            assert morning.people is not None
            assert morning.high - morning.low > 5  # people
            night = office.iloc[12 * 11 : PER_DAY + 12 * 6]
            await submit(pipeline, night)
            date = (office.index[PER_DAY]).date().isoformat()
            await calibrated(pipeline, f"{date}, 0 head counts")
            assert air_of(pipeline).n_days == 2
            await submit(pipeline, office.iloc[PER_DAY + 12 * 6 : PER_DAY + 12 * 12])
            return pipeline.state("lab")

    state = asyncio.run(first_days())
    truth = office["occupancy"].iloc[PER_DAY + 12 * 12 - 1]
    assert state.people > 5
    assert state.low <= truth <= state.high


def test_head_count_takes_effect_at_once_and_can_be_undone(tmp_path, office, often):
    past = office.iloc[: 2 * PER_DAY]
    busy = int(np.argmax(past["occupancy"]))
    label = Label("lab", past.index[busy].to_pydatetime(), 20, dt.datetime.now(UTC), "typed")

    async def count_and_undo():
        async with running(tmp_path) as pipeline:
            await submit(pipeline, past)
            await calibrated(pipeline, "0 head counts")
            before = pipeline.store.active_model("lab")[1]
            pipeline.store.add_label(label)
            await pipeline.labels_changed("lab")
            await calibrated(pipeline, "1 head count")
            counted = air_of(pipeline).is_calibrated
            pipeline.store.remove_label("lab", label.time)
            await pipeline.labels_changed("lab")
            await calibrated(pipeline, "0 head counts")
            return before, counted, pipeline.store.active_model("lab")[1]

    before, counted, after = asyncio.run(count_and_undo())
    assert counted
    assert after == before


def test_head_count_entered_at_the_end_of_a_calibration_is_used(tmp_path, office, often, monkeypatch):
    past = office.iloc[: 2 * PER_DAY]
    label = Label("lab", past.index[PER_DAY // 2].to_pydatetime(), 20, dt.datetime.now(UTC), "typed")

    async def count_meanwhile():
        async with running(tmp_path) as pipeline:
            store, loop = pipeline.store, asyncio.get_running_loop()

            def prune(room, prune=store.prune_calibrated):
                if not store.training_labels(room):
                    store.add_label(label)
                    asyncio.run_coroutine_threadsafe(pipeline.labels_changed(room), loop).result()
                prune(room)

            monkeypatch.setattr(store, "prune_calibrated", prune)
            await submit(pipeline, past)
            await calibrated(pipeline, "1 head count")

    asyncio.run(count_meanwhile())


def test_restart_does_not_repeat_a_calibration(tmp_path, office, often):
    async def start(readings):
        async with running(tmp_path) as pipeline:
            await submit(pipeline, readings)
            model = await calibrated(pipeline, "0 head counts")
            async with asyncio.timeout(HANG_GUARD):
                while "lab" not in pipeline.calibrator._based_on:
                    await asyncio.sleep(0.05)
            return model.id, [one.id for one in pipeline.store.models("lab")]

    first, _ = asyncio.run(start(office.iloc[: 2 * PER_DAY]))
    again, versions = asyncio.run(start(office.iloc[2 * PER_DAY : 2 * PER_DAY + 3]))
    assert (again, versions) == (first, [first])


def test_uploaded_model_takes_precedence(tmp_path, office, often):
    other = oc.OccupancyEstimator(n_hidden=15, random_state=0, start=None).fit(office)

    async def upload():
        async with running(tmp_path) as pipeline:
            other.save(tmp_path / "other.occupair")
            data = (tmp_path / "other.occupair").read_bytes()
            await pipeline.use_model("lab", data, origin="upload")
            await submit(pipeline, office.iloc[: 2 * PER_DAY])
            await pipeline.labels_changed("lab")
            async with asyncio.timeout(HANG_GUARD):
                while "lab" not in pipeline.calibrator._based_on:
                    await asyncio.sleep(0.05)
            return [one.origin for one in pipeline.store.models("lab")]

    assert asyncio.run(upload()) == ["upload"]


def test_old_calibrated_models_are_deleted(tmp_path, office):
    store = Store(f"sqlite:///{tmp_path}/rooms.db")
    store.migrate()
    for k in range(6):
        store.add_model("lab", f"{k}".encode(), origin="calibrated", activate=k == 1)
    store.add_model("lab", b"other", origin="upload")
    store.prune_calibrated("lab")
    assert [store.model("lab", one.id) for one in store.models("lab")] == [b"1", b"3", b"4", b"5", b"other"]
    store.close()


@pytest.mark.parametrize(
    ("room", "known"), [({"volume": None}, False), ({"capacity": None}, False), ({"area": 60.0}, True)]
)
def test_size_and_capacity_are_both_needed(room, known):
    config = RoomConfig(**(ROOM | room))
    assert (config.properties is not None) == known
