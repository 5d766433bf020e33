"""A simulated office, models of it, and stores."""

import datetime as dt

import pytest
from live.pipeline_helpers import BlockingStore, readings_of

import occupair as oc
from occupair.live.config import RoomConfig, ServiceConfig
from occupair.live.messages import Reading
from occupair.live.store import Store
from occupair.model_file import dump_model


@pytest.fixture(scope="module")
def office():
    return oc.simulate_office(days=5, seed=3).iloc[::5].tz_localize("UTC")


@pytest.fixture(scope="module")
def estimator(office):
    return oc.OccupancyEstimator(n_hidden=15, random_state=0).fit(office.iloc[: 3 * 288])


@pytest.fixture(scope="module")
def other(office):
    return oc.OccupancyEstimator(n_hidden=15, random_state=1).fit(office.iloc[288 : 3 * 288])


@pytest.fixture
def setup(tmp_path, estimator):
    """Settings of two rooms, one of them with a model."""
    path = tmp_path / "lab.occupair"
    path.write_bytes(dump_model(estimator))
    rooms = {"lab": RoomConfig(id="lab", model=path), "hall": RoomConfig(id="hall")}
    return ServiceConfig(store=f"sqlite:///{tmp_path}/rooms.db", clock="readings", rooms=rooms)


@pytest.fixture
def store(setup):
    store = Store(setup.store)
    store.migrate()
    yield store
    store.close()


@pytest.fixture
def blocking_store(setup):
    store = BlockingStore(setup.store)
    store.migrate()
    yield store
    store.free.set()
    store.close()


@pytest.fixture
def until_midnight(office):
    """The readings of a day, and one after its last grid time."""
    day = readings_of(office.iloc[3 * 288 : 4 * 288])
    last = day[-1].time + dt.timedelta(minutes=3)
    return [*day, Reading("lab", last, 500.0, 0.5, "http", last)]
