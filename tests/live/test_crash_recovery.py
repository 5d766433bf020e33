"""Crash recovery: kill -9 at any time loses no acknowledged reading and changes no estimate.

Service, broker and databases are real. `make soak` is a longer test with more rooms and faults.
"""

import json
import random
import threading
import time
import urllib.error

import numpy as np
import paho.mqtt.client as mqtt
import pandas as pd
import pytest
from live.mosquitto import mosquitto_server, need_mosquitto
from live.postgres import empty_database
from live.service_process import ServiceProcess
from live.waiting import HANG_GUARD, wait_for

import occupair as oc
from occupair.live.store import Store

READINGS = 150  # from midnight on, every five minutes
ROOMS = """
[rooms.lab]
model = "model.occupair"
co2 = { topic = "sensors/lab", shape = "json", path = "co2", time_path = "time" }
ventilation = { topic = "sensors/lab", shape = "json", path = "fan", time_path = "time", full = 100 }
[rooms.hall]
model = "model.occupair"
"""

REPLAY = 'clock = "readings"'

pytestmark = [need_mosquitto, pytest.mark.slow]


@pytest.fixture(scope="module")
def office():
    """Six days with a reading every five minutes, until yesterday."""
    office = oc.simulate_office(days=6, seed=5).iloc[::5]
    end = pd.Timestamp.now(tz="UTC").normalize() - pd.Timedelta(days=1)
    return office.set_axis(pd.date_range(end=end, periods=len(office) + 1, freq="5min")[:-1])


@pytest.fixture(scope="module")
def model(office):
    return oc.OccupancyEstimator(n_hidden=40, random_state=0).fit(office.iloc[: 5 * 288])


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request, tmp_path):
    return empty_database(request.param, tmp_path)


class Poster(threading.Thread):
    """A client that posts readings by HTTP, each again until it is acknowledged."""

    def __init__(self, service, day):
        super().__init__(daemon=True)
        self.service, self.day, self.acknowledged = service, day, []

    def run(self):
        for time_, co2, flow in zip(self.day.index, self.day["co2"], self.day["ventilation"], strict=True):
            reading = {"time": time_.isoformat(), "co2": co2, "ventilation": flow}
            while True:
                try:
                    (outcome,) = self.service.post("/api/rooms/hall/readings", reading)["outcomes"]
                except OSError as error:
                    if isinstance(error, urllib.error.HTTPError):
                        error.close()
                    time.sleep(0.1)
                else:
                    assert outcome["outcome"] in ("accepted", "duplicate")
                    self.acknowledged.append(time_)
                    break


class Sensor(threading.Thread):
    """A device that publishes readings by MQTT at the pace of the poster."""

    def __init__(self, port, day, poster):
        super().__init__(daemon=True)
        self.day, self.poster = day, poster
        self.client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, "sensor", clean_session=False)
        self.client.max_queued_messages_set(0)
        self.acknowledged = set()  # by the broker
        self.client.on_publish = lambda client, userdata, mid, *_: self.acknowledged.add(mid)
        self.client.connect("127.0.0.1", port)
        self.client.loop_start()

    def run(self):
        sent = set()
        columns = zip(self.day.index, self.day["co2"], self.day["ventilation"], strict=True)
        for number, (time_, co2, flow) in enumerate(columns):
            wait_for(lambda number=number: len(self.poster.acknowledged) >= number)
            payload = {"time": time_.isoformat(), "co2": co2, "fan": 100 * flow}
            sent.add(self.client.publish("sensors/lab", json.dumps(payload), qos=1).mid)
        wait_for(lambda: sent <= self.acknowledged)
        self.client.disconnect()
        self.client.loop_stop()


def test_kill_loses_no_reading_and_changes_no_estimate(tmp_path, office, model, store_url, start):
    model.save(tmp_path / "model.occupair")
    day, draw = office.iloc[5 * 288 : 5 * 288 + READINGS], random.Random(0)
    with mosquitto_server(durable=True) as broker:
        service = start(
            ServiceProcess(tmp_path, store=store_url, broker=broker.port, rooms=ROOMS, more=REPLAY)
        )
        wait_for(lambda: service.health() == "ok")
        poster = Poster(service, day)
        sensor = Sensor(broker.port, day, poster)
        sensor.start()
        poster.start()
        n_acknowledged = draw.randrange(1, READINGS)
        wait_for(lambda: len(poster.acknowledged) >= n_acknowledged)
        service.kill()
        broker.restart()
        service.start()
        for thread in (sensor, poster):
            thread.join(HANG_GUARD)
            assert not thread.is_alive()
        store = Store(store_url)
        wait_for(lambda: len(store.readings("lab", None, None)) == READINGS)
        wait_for(lambda: len(store.estimates("lab", None, None, limit=1000)) == READINGS)
        state = service.get("/api/rooms/lab")["state"]
        assert service.stop() == 0
    assert len(poster.acknowledged) == READINGS
    expected, refined = model.estimate(day, interval=0.9), model.estimate(day, lag=20)
    for room in ("lab", "hall"):
        readings = store.readings(room, None, None)
        assert [one.time for one in readings] == [time_.to_pydatetime() for time_ in day.index]
        np.testing.assert_array_equal([one.co2 for one in readings], day["co2"])
        estimates = store.estimates(room, None, None, limit=1000)
        for name in ("people", "low", "high"):
            np.testing.assert_allclose([getattr(one, name) for one in estimates], expected[name], atol=1e-6)
        np.testing.assert_allclose(
            [one.people_refined[0] for one in estimates[:-4]], refined.iloc[:-4], atol=1e-6
        )
    assert state["people_exact"] == pytest.approx(expected["people"].iloc[-1], abs=1e-6)
    assert expected["people"].max() > 3
    store.close()
