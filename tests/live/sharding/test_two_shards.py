"""Two shards as processes, with a real broker and database: replay, `kill -9`, restart, forwarding."""

import json
import re
import threading
import urllib.error
import urllib.request

import numpy as np
import paho.mqtt.client as mqtt
import pandas as pd
import pytest
from live.mosquitto import mosquitto_server, need_mosquitto
from live.postgres import need_postgres, shared_server
from live.service_process import ServiceProcess
from live.waiting import HANG_GUARD, wait_for

import occupair as oc
from occupair.live.room_shards import owner_of
from occupair.live.store import Store

pytestmark = [need_mosquitto, need_postgres, pytest.mark.slow]
TOPIC = 'topic = "sensors/{room}", shape = "json", time_path = "time"'
ROOMS = ("lab", "hall")  # of the first and of the second shard
NOT_SERVED = ("stale", None, "the room is not served right now")


@pytest.fixture(scope="module")
def office():
    office = oc.simulate_office(days=4, seed=5).iloc[::5]
    end = pd.Timestamp.now(tz="UTC").normalize() - pd.Timedelta(days=1)
    return office.set_axis(pd.date_range(end=end, periods=len(office) + 1, freq="5min")[:-1])


@pytest.fixture(scope="module")
def model(office):
    return oc.OccupancyEstimator(n_hidden=40, random_state=0).fit(office.iloc[: 3 * 288])


class Sensors:
    """Publishes readings of all rooms, and receives what the service publishes."""

    def __init__(self, port):
        self.received = {}
        self.client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, "sensors")
        self.client.on_message = lambda client, userdata, message: self.received.update(
            {message.topic: message.payload.decode()}
        )
        self.client.connect("127.0.0.1", port)
        self.client.subscribe("#", 1)
        self.client.loop_start()

    def publish(self, room, day):
        for at, co2, flow in zip(day.index, day["co2"], day["ventilation"], strict=True):
            payload = {"time": at.isoformat(), "co2": co2, "fan": flow}
            self.client.publish(f"sensors/{room}", json.dumps(payload), qos=1)

    def stop(self):
        self.client.disconnect()
        self.client.loop_stop()


class EventStream(threading.Thread):
    """The newest state of each room in the event stream of a service."""

    def __init__(self, service):
        super().__init__(daemon=True)
        self.states = {}
        address = f"http://127.0.0.1:{service.port}/api/events"
        self.response = urllib.request.urlopen(address, timeout=HANG_GUARD)
        self.start()

    def run(self):
        try:
            for line in self.response:
                if line.startswith(b"data: "):
                    self.states |= {state["room"]: state for state in json.loads(line[6:])}
        except OSError:  # the service has stopped
            pass


def summary(state):
    return (state["quality"], state["people"], state["reason"])


def state_of(service, room):
    return service.get(f"/api/rooms/{room}")["state"]


def is_at(state, time):
    return state["time"] is not None and pd.Timestamp(state["time"]) == time


def post(service, room, day):
    rows = zip(day.index, day["co2"], day["ventilation"], strict=True)
    readings = [{"time": at.isoformat(), "co2": co2, "ventilation": flow} for at, co2, flow in rows]
    return service.post(f"/api/rooms/{room}/readings", readings)["outcomes"]


def rooms_in_metrics(service):
    with urllib.request.urlopen(f"http://127.0.0.1:{service.port}/metrics", timeout=HANG_GUARD) as response:
        return set(re.findall(r'occupair_room_quality\{.*room="(\w+)"', response.read().decode()))


def test_rooms_belong_to_different_shards():
    assert [owner_of(room, 2) for room in ROOMS] == [1, 2]


def test_replay_through_two_shards_with_one_killed(tmp_path, office, model, start):
    model.save(tmp_path / "model.occupair")
    url = shared_server().database()
    day = office.iloc[3 * 288 : 3 * 288 + 150]
    first, middle, last = day.iloc[:60], day.iloc[60:100], day.iloc[100:]
    rooms = "".join(
        f'[rooms.{room}]\nmodel = "{tmp_path}/model.occupair"\n'
        f'co2 = {{ {TOPIC.format(room=room)}, path = "co2" }}\n'
        f'ventilation = {{ {TOPIC.format(room=room)}, path = "fan" }}\n'
        for room in ROOMS
    )
    with mosquitto_server() as broker:
        shards = []
        for number in (1, 2):
            (tmp_path / str(number)).mkdir()
            service = ServiceProcess(
                tmp_path / str(number),
                store=url,
                broker=broker.port,
                rooms=f"[limits]\nrequests_per_minute = 1000000\n{rooms}",
                more='clock = "readings"',
                arguments=["--shard", f"{number}/2"],
            )
            shards.append(start(service, wait=False))
        for service in shards:
            service.wait()
        one, two = shards
        wait_for(lambda: one.health() == "ok" and two.health() == "ok")
        sensors, stream = Sensors(broker.port), EventStream(one)
        for room in ROOMS:
            sensors.publish(room, first)
        for service in shards:  # both show both rooms
            for room in ROOMS:
                wait_for(lambda service=service, room=room: is_at(state_of(service, room), first.index[-1]))
        wait_for(lambda: all(is_at(stream.states[room], first.index[-1]) for room in ROOMS))
        expected = model.estimate(day, interval=0.9)
        for service in shards:
            for room in ROOMS:
                people = state_of(service, room)["people_exact"]
                assert people == pytest.approx(expected["people"].loc[first.index[-1]], abs=1e-9)
        # Metrics are those of the rooms of a shard, so that they can be summed over shards.
        assert [rooms_in_metrics(service) for service in shards] == [{"lab"}, {"hall"}]
        # Readings posted to the wrong shard reach the right one.
        assert {outcome["outcome"] for outcome in post(one, "hall", middle.iloc[:20])} == {"accepted"}
        assert {outcome["outcome"] for outcome in post(two, "lab", middle.iloc[:20])} == {"accepted"}
        wait_for(lambda: is_at(state_of(one, "hall"), middle.index[19]))

        two.kill()
        wait_for(lambda: summary(state_of(one, "hall")) == NOT_SERVED)
        wait_for(lambda: summary(stream.states["hall"]) == NOT_SERVED)
        wait_for(lambda: sensors.received.get("occupair/status/2-of-2") == "offline")
        assert sensors.received["occupair/status/1-of-2"] == "online"
        assert one.health() == "degraded"
        with pytest.raises(urllib.error.HTTPError) as refused:
            post(one, "hall", last)
        with refused.value as answer:
            detail = json.load(answer)["detail"]
        assert (refused.value.code, detail) == (
            503,
            "room hall is not served right now: shard 2/2 is not running",
        )
        for room in ROOMS:  # of the room that is not served, the broker keeps the readings
            sensors.publish(room, middle.iloc[20:])
        wait_for(lambda: is_at(state_of(one, "lab"), middle.index[-1]))
        assert state_of(one, "lab")["quality"] == "ok"
        assert summary(state_of(one, "hall")) == NOT_SERVED

        two.start()
        wait_for(lambda: is_at(state_of(one, "hall"), middle.index[-1]))
        wait_for(lambda: is_at(stream.states["hall"], middle.index[-1]))
        for room in ROOMS:
            sensors.publish(room, last)
        for service in shards:
            for room in ROOMS:
                wait_for(lambda service=service, room=room: is_at(state_of(service, room), last.index[-1]))
        wait_for(lambda: one.health() == "ok" and two.health() == "ok")
        assert [one.stop(), two.stop()] == [0, 0]
        sensors.stop()
    store = Store(url)
    for room in ROOMS:
        assert [one.time for one in store.readings(room, None, None)] == list(day.index)
        estimates = store.estimates(room, None, None, limit=1000)
        for name in ("people", "low", "high"):
            np.testing.assert_allclose([getattr(one, name) for one in estimates], expected[name], atol=1e-9)
    assert expected["people"].max() > 3
    store.close()
