"""A store of rooms with readings and labels, and a service with a trainer on a copy of it."""

import asyncio
import shutil
from types import SimpleNamespace

import numpy as np
import pytest
from live.pipeline_helpers import readings_of
from live.retraining_helpers import DAYS, HALL_DAYS, INTERVAL, PER_DAY, add_labels

import occupair as oc
from occupair.live.config import RoomConfig, ServiceConfig
from occupair.live.messages import ReadingOutcome
from occupair.live.pipeline import Pipeline
from occupair.live.retraining import Trainer
from occupair.live.store import Store
from occupair.model_file import dump_model

HANG_GUARD = 900.0  # [s]


@pytest.fixture(scope="module")
def office():
    """Six labelled days, and half of the seventh, which is today."""
    whole = oc.simulate_office(days=DAYS + 1, seed=5).iloc[::INTERVAL].tz_localize("UTC")
    return whole.iloc[: DAYS * PER_DAY + PER_DAY // 2]


@pytest.fixture(scope="module")
def head_counts(office):
    """Head counts: ten a day between 08:00 and 20:00, at times of readings."""
    rng = np.random.default_rng(0)
    hours = np.arange(PER_DAY * 8 // 24, PER_DAY * 20 // 24)
    places = [day * PER_DAY + rng.choice(hours, 10, replace=False) for day in range(DAYS)]
    return office["occupancy"].iloc[np.sort(np.concatenate(places))].astype(float)


@pytest.fixture(scope="module")
def other_model():
    """The model of another room."""
    other = oc.simulate_office(days=3, seed=77).iloc[::INTERVAL].tz_localize("UTC")
    return oc.OccupancyEstimator(n_hidden=15, random_state=0).fit(other.assign(co2=1.4 * other["co2"] - 100))


def setup_in(folder, other_model):
    path = folder / "lab.occupair"
    path.write_bytes(dump_model(other_model))
    rooms = {
        "lab": RoomConfig(id="lab", model=path),
        "hall": RoomConfig(id="hall"),
        "attic": RoomConfig(id="attic"),
    }
    return ServiceConfig(store=f"sqlite:///{folder}/rooms.db", clock="readings", rooms=rooms)


@pytest.fixture(scope="module")
def served(tmp_path_factory, office, head_counts, other_model):
    """The store of a service that ran for days: a lab with a model, a hall without one, an empty attic."""
    folder = tmp_path_factory.mktemp("served")
    setup = setup_in(folder, other_model)
    store = Store(setup.store)
    store.migrate()

    async def serve():
        pipeline = Pipeline(setup, store)
        await pipeline.start()
        for rows in np.array_split(np.arange(len(office)), 20):
            assert set(await pipeline.submit(readings_of(office.iloc[rows]))) == {ReadingOutcome.ACCEPTED}
        await pipeline.submit(readings_of(office.iloc[: HALL_DAYS * PER_DAY], "hall"))
        await pipeline.stop()

    asyncio.run(serve())
    add_labels(store, head_counts)
    add_labels(store, head_counts.iloc[: 10 * HALL_DAYS], "hall")
    store.close()
    return folder / "rooms.db"


@pytest.fixture
def service(tmp_path, served, other_model):
    """Run a coroutine with a trainer, on a copy of that store."""
    setup = setup_in(tmp_path, other_model)
    shutil.copy(served, tmp_path / "rooms.db")
    store = Store(setup.store)

    def run(work):
        async def run_all():
            pipeline = Pipeline(setup, store)
            await pipeline.start()
            trainer = Trainer(pipeline)
            try:
                return await asyncio.wait_for(work(pipeline, trainer), HANG_GUARD)
            finally:
                await trainer.stop()
                await pipeline.stop()

        return asyncio.run(run_all())

    yield SimpleNamespace(run=run, store=store)
    store.close()
