"""Kill it at any moment: what it acknowledged is there, and its estimates are those it would have given.

The service, the broker and the databases are real. `OCCUPAIR_KILLS` says how often it is killed.
"""

import json
import os
import random
import threading
import time
import urllib.error

import numpy as np
import paho.mqtt.client as mqtt
import pandas as pd
import pytest
from live.mosquitto import mosquitto_server, why_no_mosquitto
from live.postgres import shared_server, why_no_postgres
from live.service_process import ServiceProcess

import occupair as oc
from occupair.live.store import Store

KILLS = int(os.environ.get("OCCUPAIR_KILLS", "3"))
ROOMS = """
[rooms.lab]
model = "model.occupair"
co2 = { topic = "sensors/lab", shape = "json", path = "co2", time_path = "time" }
ventilation = { topic = "sensors/lab", shape = "json", path = "fan", time_path = "time", full = 100 }
[rooms.hall]
model = "model.occupair"
"""

REPLAY = 'clock = "readings"'

pytestmark = pytest.mark.skipif(why_no_mosquitto() is not None, reason=why_no_mosquitto() or "")


@pytest.fixture(scope="module")
def office():
    """Six days, a reading every five minutes, the last one some days ago."""
    office = oc.simulate_office(days=6, seed=5).iloc[::5]
    end = pd.Timestamp.now(tz="UTC").normalize() - pd.Timedelta(days=1)
    return office.set_axis(pd.date_range(end=end, periods=len(office) + 1, freq="5min")[:-1])


@pytest.fixture(scope="module")
def model(office):
    return oc.OccupancyEstimator(n_hidden=40, random_state=0).fit(office.iloc[: 5 * 288])


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request, tmp_path):
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/rooms.db"
    if why_no_postgres():
        pytest.skip(why_no_postgres())
    return shared_server().database()


class Sensor(threading.Thread):
    """A device that publishes a day, one reading after the other, until told to stop."""

    def __init__(self, port, day, pause):
        super().__init__(daemon=True)
        self.day, self.pause = day, pause
        self.client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, "sensor", clean_session=False)
        self.client.max_queued_messages_set(0)
        self.taken = set()  # by the broker
        self.client.on_publish = lambda client, userdata, mid, *_: self.taken.add(mid)
        self.client.connect("127.0.0.1", port)
        self.client.loop_start()

    def run(self):
        sent = set()
        for time_, co2, flow in zip(self.day.index, self.day["co2"], self.day["ventilation"], strict=True):
            said = {"time": time_.isoformat(), "co2": co2, "fan": 100 * flow}
            sent.add(self.client.publish("sensors/lab", json.dumps(said), qos=1).mid)
            time.sleep(self.pause)
        wait_for(lambda: sent <= self.taken)
        self.client.disconnect()
        self.client.loop_stop()


class Poster(threading.Thread):
    """A program that posts a day by HTTP, and each reading again until it is acknowledged."""

    def __init__(self, service, day):
        super().__init__(daemon=True)
        self.service, self.day, self.acknowledged, self.stopping = service, day, [], False

    def run(self):
        for time_, co2, flow in zip(self.day.index, self.day["co2"], self.day["ventilation"], strict=True):
            said = {"time": time_.isoformat(), "co2": co2, "ventilation": flow}
            while not self.stopping:
                try:
                    (outcome,) = self.service.post("/api/rooms/hall/readings", said)["outcomes"]
                except (OSError, urllib.error.HTTPError):
                    time.sleep(0.1)
                else:
                    assert outcome["outcome"] in ("accepted", "duplicate")
                    self.acknowledged.append(time_)
                    break
            time.sleep(0.02)


def wait_for(count, patience=60.0):
    until = time.monotonic() + patience
    while not count():
        assert time.monotonic() < until, "it never came"
        time.sleep(0.1)


def test_a_day_through_a_real_broker_with_kills_on_the_way(tmp_path, office, model, store_url, start):
    model.save(tmp_path / "model.occupair")
    day, dice = office.iloc[5 * 288 :], random.Random(0)
    with mosquitto_server(durable=True) as broker:
        service = start(
            ServiceProcess(tmp_path, store=store_url, broker=broker.port, rooms=ROOMS, more=REPLAY)
        )
        wait_for(lambda: service.health() == "ok")
        sensor, poster = Sensor(broker.port, day, 0.03), Poster(service, day)
        sensor.start()
        poster.start()
        for number in range(KILLS):
            time.sleep(dice.uniform(0.1, 1.5))
            service.kill()
            if number == KILLS // 2:
                broker.restart()
            service.start(wait=dice.random() < 0.8)  # sometimes it is killed while it starts
        service.wait()
        sensor.join(120)
        poster.join(120)
        store = Store(store_url)
        wait_for(lambda: len(store.readings("lab", None, None)) == 288)
        wait_for(lambda: len(store.estimates("lab", None, None, limit=1000)) == 288)
        state = service.get("/api/rooms/lab")["state"]
        assert service.stop() == 0
    assert len(poster.acknowledged) == 288
    expected, later = model.estimate(day, interval=0.9), model.estimate(day, lag=20)
    for room in ("lab", "hall"):
        kept = store.readings(room, None, None)
        assert [one.time for one in kept] == [time_.to_pydatetime() for time_ in day.index]
        np.testing.assert_array_equal([one.co2 for one in kept], day["co2"])
        said = store.estimates(room, None, None, limit=1000)
        for name in ("people", "low", "high"):
            np.testing.assert_allclose([getattr(one, name) for one in said], expected[name], atol=1e-6)
        np.testing.assert_allclose([one.people_refined for one in said[:-4]], later.iloc[:-4], atol=1e-6)
    assert state["people_exact"] == pytest.approx(expected["people"].iloc[-1], abs=1e-6)
    assert expected["people"].max() > 3
    store.close()
