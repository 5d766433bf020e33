"""The running service: estimates, signals, lost database, full disk, lost broker, addresses."""

import asyncio
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import threading
import urllib.error

import numpy as np
import paho.mqtt.client as mqtt
import pandas as pd
import pytest
from live.mosquitto import mosquitto_server, need_mosquitto
from live.ports import free_port
from live.postgres import need_postgres, postgres_to_stop
from live.service_in_process import run_here
from live.service_process import ServiceProcess
from live.waiting import until, wait_for

import occupair as oc
from occupair.live import service as live_service
from occupair.live.config import ServiceConfig
from occupair.live.store import Store

ROOM = """
[rooms.lab]
name = "The lab"
model = "model.occupair"
co2 = { topic = "sensors/lab", shape = "json", path = "co2", time_path = "time" }
ventilation = { topic = "sensors/lab", shape = "json", path = "fan", time_path = "time", full = 100 }
"""


@pytest.fixture(scope="module")
def office():
    office = oc.simulate_office(days=4, seed=5).iloc[::5]
    end = pd.Timestamp.now(tz="UTC").normalize()
    return office.set_axis(pd.date_range(end=end, periods=len(office) + 1, freq="5min")[:-1])


@pytest.fixture(scope="module")
def model(office):
    return oc.OccupancyEstimator(n_hidden=40, random_state=0).fit(office.iloc[: 3 * 288])


@pytest.fixture
def folder(tmp_path, model):
    model.save(tmp_path / "model.occupair")
    return tmp_path


class Listener:
    """A client that receives all messages of a broker."""

    def __init__(self, port):
        self.received = {}
        self.client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, "listener")
        self.client.on_message = lambda client, userdata, message: self.received.update(
            {message.topic: message.payload.decode()}
        )
        self.client.connect("127.0.0.1", port)
        self.client.subscribe("#", 1)
        self.client.loop_start()

    def publish(self, day):
        """Publish readings as the sensor of the lab."""
        for at, co2, flow in zip(day.index, day["co2"], day["ventilation"], strict=True):
            payload = {"time": at.isoformat(), "co2": co2, "fan": 100 * flow}
            self.client.publish("sensors/lab", json.dumps(payload), qos=1)

    def state(self):
        return json.loads(self.received.get("occupair/lab/state", "{}"))

    def stop(self):
        self.client.disconnect()
        self.client.loop_stop()


@pytest.fixture
def broker():
    with mosquitto_server() as server:
        listener = Listener(server.port)
        yield server, listener
        listener.stop()


def same_time(state, time_):
    return state.get("time") is not None and pd.Timestamp(state["time"]) == time_


@need_mosquitto
def test_estimates_are_published_and_stop_is_clean(folder, office, model, broker, start):
    server, listener = broker
    day = office.iloc[3 * 288 : 3 * 288 + 150]
    service = start(
        ServiceProcess(folder, store=f"sqlite:///{folder}/rooms.db", broker=server.port, rooms=ROOM)
    )
    wait_for(lambda: listener.received.get("occupair/status") == "online")
    listener.publish(day)
    wait_for(lambda: same_time(listener.state(), day.index[-1]))
    expected = model.estimate(day, interval=0.9).iloc[-1]
    state = listener.state()
    assert state["people_exact"] == pytest.approx(expected["people"], abs=1e-6)
    assert state["people"] == round(expected["people"])
    assert (state["low"], state["high"]) == pytest.approx((expected["low"], expected["high"]), abs=1e-6)
    assert "homeassistant/device/occupair_lab/config" in listener.received
    assert service.stop() == 0
    wait_for(lambda: listener.received["occupair/status"] == "offline")
    log = [json.loads(line) for line in service.log.read_text().splitlines()]
    assert [line["message"] for line in log][-1] == "stopping"
    assert {line["level"] for line in log} == {"info"}


@need_mosquitto
def test_sighup_reloads_the_rooms(folder, office, broker, start):
    server, listener = broker
    service = start(
        ServiceProcess(folder, store=f"sqlite:///{folder}/rooms.db", broker=server.port, rooms=ROOM)
    )
    wait_for(lambda: "homeassistant/device/occupair_lab/config" in listener.received)
    first = service.path.read_text()
    service.path.write_text(first + "[rooms.hall]\nmodle = 5\n")
    service.signal(signal.SIGHUP)
    wait_for(lambda: "the settings were not reloaded" in service.log.read_text())
    assert "did you mean 'model'" in service.log.read_text()
    service.path.write_text(first.replace("rooms.lab", "rooms.hall"))
    service.signal(signal.SIGHUP)
    wait_for(lambda: "homeassistant/device/occupair_hall/config" in listener.received)
    assert [room["room"] for room in service.get("/api/rooms")["rooms"]] == ["hall"]
    wait_for(lambda: listener.received["homeassistant/device/occupair_lab/config"] == "")
    assert service.stop() == 0


@need_mosquitto
@need_postgres
def test_lost_database_delays_no_estimate_and_loses_no_reading(folder, office, model, broker, start):
    server, listener = broker
    day = office.iloc[3 * 288 : 3 * 288 + 150]
    with postgres_to_stop() as database:
        service = start(ServiceProcess(folder, store=database.url, broker=server.port, rooms=ROOM))
        wait_for(lambda: listener.received.get("occupair/status") == "online")
        listener.publish(day.iloc[:50])
        wait_for(lambda: same_time(listener.state(), day.index[49]))
        database.stop(signal.SIGQUIT)
        listener.publish(day.iloc[50:100])
        wait_for(lambda: same_time(listener.state(), day.index[99]))  # published while nothing can be stored
        wait_for(lambda: service.health() == "failing")
        database.start()
        listener.publish(day.iloc[100:])
        store = Store(database.url)
        wait_for(lambda: len(store.readings("lab", None, None)) == 150)
        estimates = store.estimates("lab", None, None, limit=1000)
        store.close()
        np.testing.assert_allclose([one.people for one in estimates], model.estimate(day), atol=1e-6)
        assert service.stop() == 0


@need_mosquitto
@need_postgres
def test_sighup_without_database_keeps_the_mqtt_link(folder, office, broker, start):
    server, listener = broker
    day = office.iloc[3 * 288 : 3 * 288 + 2]
    with postgres_to_stop() as database:
        service = start(ServiceProcess(folder, store=database.url, broker=server.port, rooms=ROOM))
        wait_for(lambda: listener.received.get("occupair/status") == "online")
        service.path.write_text(service.path.read_text() + "[rooms.hall]\n")
        database.stop(signal.SIGQUIT)
        service.signal(signal.SIGHUP)
        wait_for(lambda: "the settings were not reloaded: store postgresql" in service.log.read_text())
        database.start()
        listener.publish(day)
        wait_for(lambda: same_time(listener.state(), day.index[-1]))
        assert service.get("/healthz")["parts"]["mqtt"] == "connected"
        service.signal(signal.SIGHUP)
        wait_for(lambda: "homeassistant/device/occupair_hall/config" in listener.received)
        assert service.stop() == 0


@need_postgres
def test_service_stops_while_the_database_hangs(folder, office, start):
    with postgres_to_stop() as database:
        service = start(ServiceProcess(folder, store=database.url, broker=None, rooms=ROOM))
        reading = {"time": office.index[-1].isoformat(), "co2": 500.0, "ventilation": 0.0}
        with database.frozen():
            with pytest.raises(urllib.error.HTTPError, match="503") as refused:
                service.post("/api/rooms/lab/readings", reading)
            refused.value.close()
            assert service.stop() in (0, 1)


def test_hanging_calls_do_not_block_others_and_no_timer_remains(links, settings, monkeypatch):
    monkeypatch.setattr(os, "cpu_count", lambda: 1)  # for which Python would choose 5 threads
    release, started = threading.Event(), []

    def hang():
        started.append(True)
        release.wait()

    async def work(pipeline):
        hanging = [asyncio.create_task(asyncio.to_thread(hang)) for _ in range(20)]
        try:
            await until(lambda: len(started) == 20)
            assert await asyncio.to_thread(pipeline.store.ping)
        finally:
            release.set()
        await asyncio.gather(*hanging)

    run_here(settings("lab"), work)
    wait_for(lambda: not any(isinstance(thread, threading.Timer) for thread in threading.enumerate()))


@need_mosquitto
def test_full_disk_delays_no_estimate_and_loses_no_reading(folder, office, model, broker, start):
    server, listener = broker
    day = office.iloc[3 * 288 : 3 * 288 + 150]
    url = f"sqlite:///{folder}/rooms.db"
    service = start(ServiceProcess(folder, store=url, broker=server.port, rooms=ROOM))
    wait_for(lambda: listener.received.get("occupair/status") == "online")
    listener.publish(day.iloc[:20])
    wait_for(lambda: same_time(listener.state(), day.index[19]))
    resource.prlimit(service.pid, resource.RLIMIT_FSIZE, (20_000, resource.RLIM_INFINITY))
    listener.publish(day.iloc[20:100])
    wait_for(lambda: same_time(listener.state(), day.index[99]))
    wait_for(lambda: service.health() == "failing")
    resource.prlimit(service.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
    listener.publish(day.iloc[100:])
    store = Store(url)
    wait_for(lambda: len(store.readings("lab", None, None)) == 150)
    estimates = store.estimates("lab", None, None, limit=1000)
    np.testing.assert_allclose([one.people for one in estimates], model.estimate(day), atol=1e-6)
    store.close()
    assert service.stop() == 0


def test_service_works_without_a_broker(folder, office, start):
    service = start(
        ServiceProcess(folder, store=f"sqlite:///{folder}/rooms.db", broker=free_port(), rooms=ROOM)
    )
    wait_for(lambda: service.get("/healthz")["parts"]["mqtt"].startswith("no link: "))
    assert service.get("/healthz")["status"] == "degraded"
    reading = {"time": office.index[-1].isoformat(), "co2": 500.0, "ventilation": 0.0}
    assert service.post("/api/rooms/lab/readings", reading)["outcomes"][0]["outcome"] == "accepted"
    assert service.stop() == 0


def test_address_in_use_is_a_one_line_error(folder, start):
    service = start(ServiceProcess(folder, store=f"sqlite:///{folder}/rooms.db", broker=None, rooms=ROOM))
    again = subprocess.run(
        [sys.executable, "-m", "occupair", "serve", str(service.path)], capture_output=True, text=True
    )
    assert again.returncode == 2
    assert again.stderr == (
        f"occupair: cannot listen on 127.0.0.1:{service.port}: Address already in use: choose another port\n"
    )
    assert service.health() == "ok"


@pytest.mark.parametrize(
    ("host", "advertise", "address"),
    [
        ("127.0.0.1", None, "127.0.0.1:{port}"),
        ("::1", None, "[::1]:{port}"),
        ("0.0.0.0", None, f"{socket.gethostname()}:{{port}}"),
        ("127.0.0.1", "shard-1:80", "shard-1:80"),
    ],
)
def test_address_for_other_shards(host, advertise, address):
    config = ServiceConfig(host=host, advertise=advertise)
    with live_service.listen(host, 0) as listening:
        port = listening.getsockname()[1]
        assert live_service.shard_address(config, listening) == address.format(port=port)
