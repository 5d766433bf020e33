"""The first days of a room without a model through the real service, with kill -9 on the way."""

import datetime as dt
import time
import urllib.error
from pathlib import Path

import pandas as pd
import pytest
from live.service_process import ServiceProcess
from live.waiting import wait_for

import occupair as oc
from occupair.live.store import Store

pytestmark = pytest.mark.slow

PER_DAY = 288
ROOMS = """
[rooms.lab]
volume = 502
capacity = 35
"""
REPLAY = 'clock = "readings"'


@pytest.fixture(scope="module")
def office():
    """Two days and a morning with a reading every five minutes, until today."""
    office = oc.simulate_office(days=3, seed=5).iloc[::5].iloc[: 2 * PER_DAY + 6 * 12]
    start = pd.Timestamp.now(tz="UTC").normalize() - pd.Timedelta(days=3)
    return office.set_axis(pd.date_range(start, periods=len(office), freq="5min"))


def post(service, frame):
    readings = [
        {"time": when.isoformat(), "co2": co2, "ventilation": flow}
        for when, co2, flow in zip(frame.index, frame["co2"], frame["ventilation"], strict=True)
    ]

    def is_stored():
        try:
            service.post("/api/rooms/lab/readings", {"readings": readings})
        except urllib.error.HTTPError as error:
            error.close()
            if error.code != 503:
                raise
            return False
        return True

    wait_for(is_stored)  # posted again while the database of a slow machine is busy, as clients do


def active(service):
    return next((one for one in service.get("/api/rooms/lab/models")["models"] if one["active"]), None)


def is_calibrated_until(service, day):
    time.sleep(0.5)  # the service limits the number of requests
    model = active(service)
    return model is not None and model["note"].startswith(day.isoformat())


def children_of(pid):
    return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def is_running(pid):
    return Path(f"/proc/{pid}").exists()


def first_days(service, office, *, killed):
    """Post the days, kill the service while it calibrates, and return the final model and state."""
    first, last = office.index[0].date(), office.index[-1].date()
    wait_for(lambda: service.health() == "ok")
    post(service, office.iloc[: PER_DAY // 2])
    if killed:
        wait_for(lambda: children_of(service.pid))
        processes = children_of(service.pid)
        service.kill()
        wait_for(lambda: not any(is_running(one) for one in processes))  # none is left behind
        service.start()
    wait_for(lambda: is_calibrated_until(service, first))
    post(service, office.iloc[PER_DAY // 2 :])
    if killed:
        service.kill()
        service.start()
    wait_for(lambda: is_calibrated_until(service, last))
    state = service.get("/api/rooms/lab")["state"]
    air = service.get("/api/rooms/lab/air")
    assert service.stop() == 0
    return active_checksum(service), state, air


def active_checksum(service):
    store = Store(service.store)
    try:
        (model,) = [one for one in store.models("lab") if one.active]
        return model.sha256
    finally:
        store.close()


def test_kills_change_neither_model_nor_estimates(tmp_path, office, start):
    found = []
    for killed in (False, True):
        folder = tmp_path / str(killed)
        folder.mkdir()
        store = f"sqlite:///{folder}/rooms.db"
        service = start(ServiceProcess(folder, store=store, broker=None, rooms=ROOMS, more=REPLAY))
        found.append(first_days(service, office, killed=killed))
    (model, state, air), (model_again, state_again, air_again) = found
    assert model == model_again
    assert air == air_again
    assert air["days"] == 3
    assert not air["is_calibrated"]
    assert state["people"] == state_again["people"]
    assert dt.datetime.fromisoformat(state["time"]) == office.index[-1]
