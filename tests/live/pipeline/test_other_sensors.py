"""Optional sensors through the pipeline: stored, restored after restarts, and named when missing."""

import asyncio
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from live.pipeline_helpers import readings_of, stored_estimates, with_pipeline

import occupair as oc
from occupair.live.config import RoomConfig, ServiceConfig
from occupair.live.http.state_json import StateEncoder
from occupair.model_file import dump_model


@pytest.fixture(scope="module")
def office():
    readings = oc.simulate_office(days=8, seed=3).iloc[::5].tz_localize("UTC")
    wifi = np.rint(0.8 * readings["occupancy"] + np.random.default_rng(0).normal(0, 0.5, len(readings)))
    return readings.assign(wifi=np.maximum(wifi, 0))


@pytest.fixture(scope="module")
def estimator(office):
    fitted = oc.OccupancyEstimator(n_hidden=15, random_state=0).fit(office.iloc[: 7 * 288])
    assert fitted.sensor_names == ("wifi",)
    return fitted


@pytest.fixture
def setup(tmp_path, estimator):
    path = tmp_path / "lab.occupair"
    path.write_bytes(dump_model(estimator))
    rooms = {"lab": RoomConfig(id="lab", model=path)}
    return ServiceConfig(store=f"sqlite:///{tmp_path}/rooms.db", clock="readings", rooms=rooms)


def test_restarts_keep_sensors(setup, store, office, estimator):
    day = office.iloc[7 * 288 : 7 * 288 + 200]
    readings = [
        replace(one, sensors={"wifi": value})
        for one, value in zip(readings_of(day), day["wifi"], strict=True)
    ]
    for part in np.array_split(np.arange(len(readings)), 5):
        with_pipeline(setup, store, lambda pipeline, part=part: pipeline.submit([readings[k] for k in part]))
    expected = estimator.estimate(day, interval=0.9)
    estimates = stored_estimates(store)
    np.testing.assert_allclose([one.people for one in estimates], expected["people"], atol=1e-9)
    np.testing.assert_allclose([one.low for one in estimates], expected["low"], atol=1e-9)


def test_restarts_keep_a_stuck_sensor(setup, store, office, estimator):
    """The counter is stuck from noon of the first day to 15:00 on the second; four restarts."""
    days = office.iloc[6 * 288 :].copy()
    days.iloc[144 : 288 + 180, days.columns.get_loc("wifi")] = 17.0
    readings = [
        replace(one, sensors={"wifi": value})
        for one, value in zip(readings_of(days), days["wifi"], strict=True)
    ]
    edges = [0, 200, 287, 300, 400, 576]
    for first, last in pairwise(edges):
        with_pipeline(setup, store, lambda pipeline, part=readings[first:last]: pipeline.submit(part))
    expected = estimator.estimate(days, interval=0.9)
    alone = estimator.estimate(days.drop(columns="wifi"))
    assert (expected["people"] == alone).iloc[288 : 288 + 180].all()
    estimates = stored_estimates(store)
    np.testing.assert_allclose([one.people for one in estimates], expected["people"], atol=1e-9)


def test_state_names_missing_sensors(setup, store, office):
    day = readings_of(office.iloc[7 * 288 : 7 * 288 + 120])

    async def work(pipeline):
        await pipeline.submit(day)
        await asyncio.sleep(0)
        return pipeline.state("lab")

    state = with_pipeline(setup, store, work)
    assert state.people is not None
    assert state.reason == "estimated without Wi-Fi clients: no recent reading"
    assert '"reason":"ohne WLAN-Ger\\u00e4te gesch\\u00e4tzt' in StateEncoder().encode(state, "de")
