"""The service as operators meet it: signals, a lost database, a full disk, the demo."""

import asyncio
import json
import logging
import os
import resource
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

import numpy as np
import paho.mqtt.client as mqtt
import pandas as pd
import pytest
from live.mosquitto import mosquitto_server, need_mosquitto
from live.ports import free_port
from live.postgres import need_postgres, postgres_to_stop
from live.service_process import ServiceProcess
from live.waiting import until, wait_for

import occupair as oc
from occupair.live import service as live_service
from occupair.live.config import read_config
from occupair.live.pipeline import Pipeline
from occupair.live.store import Store, StoreError

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
    """Somebody who hears all that a broker tells."""

    def __init__(self, port):
        self.heard = {}
        self.client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, "listener")
        self.client.on_message = lambda client, userdata, message: self.heard.update(
            {message.topic: message.payload.decode()}
        )
        self.client.connect("127.0.0.1", port)
        self.client.subscribe("#", 1)
        self.client.loop_start()

    def tell(self, day):
        """Publish readings as the sensor of the lab."""
        for at, co2, flow in zip(day.index, day["co2"], day["ventilation"], strict=True):
            said = {"time": at.isoformat(), "co2": co2, "fan": 100 * flow}
            self.client.publish("sensors/lab", json.dumps(said), qos=1)

    def state(self):
        return json.loads(self.heard.get("occupair/lab/state", "{}"))

    def stop(self):
        self.client.disconnect()
        self.client.loop_stop()


@pytest.fixture
def broker():
    with mosquitto_server() as server:
        listener = Listener(server.port)
        yield server, listener
        listener.stop()


def same_time(said, time_):
    return said.get("time") is not None and pd.Timestamp(said["time"]) == time_


@need_mosquitto
def test_counts_come_back_and_a_stop_is_clean(folder, office, model, broker, start):
    server, listener = broker
    day = office.iloc[3 * 288 : 3 * 288 + 150]
    service = start(
        ServiceProcess(folder, store=f"sqlite:///{folder}/rooms.db", broker=server.port, rooms=ROOM)
    )
    wait_for(lambda: listener.heard.get("occupair/status") == "online")
    listener.tell(day)
    wait_for(lambda: same_time(listener.state(), day.index[-1]))
    expected = model.estimate(day, interval=0.9).iloc[-1]
    state = listener.state()
    assert state["people_exact"] == pytest.approx(expected["people"], abs=1e-6)
    assert state["people"] == round(expected["people"])
    assert (state["low"], state["high"]) == pytest.approx((expected["low"], expected["high"]), abs=1e-6)
    assert "homeassistant/device/occupair_lab/config" in listener.heard
    assert service.stop() == 0
    wait_for(lambda: listener.heard["occupair/status"] == "offline")
    log = [json.loads(line) for line in service.log.read_text().splitlines()]
    assert [line["message"] for line in log][-1] == "stopping"
    assert {line["level"] for line in log} == {"info"}


@need_mosquitto
def test_rooms_are_read_again_on_sighup(folder, office, broker, start):
    server, listener = broker
    service = start(
        ServiceProcess(folder, store=f"sqlite:///{folder}/rooms.db", broker=server.port, rooms=ROOM)
    )
    wait_for(lambda: "homeassistant/device/occupair_lab/config" in listener.heard)
    first = service.path.read_text()
    service.path.write_text(first + "[rooms.hall]\nmodle = 5\n")
    service.signal(signal.SIGHUP)
    wait_for(lambda: "the settings stay as they are" in service.log.read_text())
    assert "did you mean 'model'" in service.log.read_text()
    service.path.write_text(first.replace("rooms.lab", "rooms.hall"))
    service.signal(signal.SIGHUP)
    wait_for(lambda: "homeassistant/device/occupair_hall/config" in listener.heard)
    assert [room["room"] for room in service.get("/api/rooms")["rooms"]] == ["hall"]
    wait_for(lambda: listener.heard["homeassistant/device/occupair_lab/config"] == "")
    assert service.stop() == 0


@need_mosquitto
@need_postgres
def test_a_lost_database_delays_no_estimate_and_loses_nothing(folder, office, model, broker, start):
    server, listener = broker
    day = office.iloc[3 * 288 : 3 * 288 + 150]
    with postgres_to_stop() as database:
        service = start(ServiceProcess(folder, store=database.url, broker=server.port, rooms=ROOM))
        listener.tell(day.iloc[:50])
        wait_for(lambda: same_time(listener.state(), day.index[49]))
        database.stop(signal.SIGQUIT)
        listener.tell(day.iloc[50:100])
        wait_for(lambda: same_time(listener.state(), day.index[99]))  # told while nothing can be kept
        wait_for(lambda: service.health() == "failing")
        database.start()
        listener.tell(day.iloc[100:])
        store = Store(database.url)
        wait_for(lambda: len(store.readings("lab", None, None)) == 150)
        said = store.estimates("lab", None, None, limit=1000)
        store.close()
        np.testing.assert_allclose([one.people for one in said], model.estimate(day), atol=1e-6)
        assert service.stop() == 0


@need_mosquitto
@need_postgres
def test_sighup_while_the_database_is_away_leaves_the_link_as_it_is(folder, office, broker, start):
    server, listener = broker
    day = office.iloc[3 * 288 : 3 * 288 + 2]
    with postgres_to_stop() as database:
        service = start(ServiceProcess(folder, store=database.url, broker=server.port, rooms=ROOM))
        wait_for(lambda: listener.heard.get("occupair/status") == "online")
        service.path.write_text(service.path.read_text() + "[rooms.hall]\n")
        database.stop(signal.SIGQUIT)
        service.signal(signal.SIGHUP)
        wait_for(lambda: "the settings stay as they are: store postgresql" in service.log.read_text())
        database.start()
        listener.tell(day)
        wait_for(lambda: same_time(listener.state(), day.index[-1]))
        assert service.get("/healthz")["parts"]["mqtt"] == "connected"
        service.signal(signal.SIGHUP)
        wait_for(lambda: "homeassistant/device/occupair_hall/config" in listener.heard)
        assert service.stop() == 0


class CountedLinks:
    """Stands for ``MqttLink``: links to a broker that count themselves."""

    def __init__(self):
        self.begun = self.alive = self.most = 0
        self.gone = []

    def __call__(self, mqtt, rooms):
        return self

    def remove(self, room):
        self.gone.append(room)

    async def run(self, pipeline):
        self.begun, self.alive = self.begun + 1, self.alive + 1
        self.most = max(self.most, self.alive)
        pipeline.mqtt_status = "connected"
        try:
            await asyncio.Event().wait()
        finally:
            self.alive -= 1


@pytest.fixture
def links(monkeypatch):
    links = CountedLinks()
    monkeypatch.setattr(live_service, "MqttLink", links)
    monkeypatch.setattr(live_service, "start_logging", lambda *_, **__: None)
    return links


@pytest.fixture
def settings(tmp_path):
    """Write settings with some rooms, and more if asked for."""
    path = tmp_path / "rooms.toml"

    def write(*rooms, more="", broker='[mqtt]\nhost = "127.0.0.1"\n'):
        sections = "".join(f"[rooms.{room}]\n" for room in rooms)
        path.write_text(f'[service]\nstore = "sqlite:///{tmp_path}/rooms.db"\n{more}\n{broker}{sections}')
        return path

    return write


def run_here(path, work):
    """Run a service in this process while some work is done with its pipeline, and then stop it."""

    finished = []

    async def beside(pipeline):
        await asyncio.wait_for(work(pipeline), 10)
        finished.append(True)
        os.kill(os.getpid(), signal.SIGTERM)

    config = read_config(path, {})
    store = live_service.open_store(config.store)
    try:
        with live_service.listen("127.0.0.1", 0) as listening:
            asyncio.run(live_service.run(config, store, listening, beside))
    finally:
        store.close()
    assert finished


def hang_up():
    os.kill(os.getpid(), signal.SIGHUP)


def test_settings_that_cannot_be_taken_leave_all_as_it_is(links, settings, monkeypatch, caplog):
    real, faults = Pipeline.reload, [StoreError("store x: is away"), RuntimeError("a bug")]

    async def reload(pipeline, config):
        if faults:
            raise faults.pop(0)
        await real(pipeline, config)

    monkeypatch.setattr(Pipeline, "reload", reload)

    async def work(pipeline):
        await until(lambda: links.alive)
        settings("hall")
        for words in ("the settings stay as they are: store x: is away", "could not be read again"):
            hang_up()
            await until(lambda words=words: words in caplog.text)
            assert (links.alive, links.begun, pipeline.mqtt_status) == (1, 1, "connected")
            assert list(pipeline.config.rooms) == ["lab"]
        hang_up()
        await until(lambda: "read the settings again, 1 room" in caplog.text)
        await until(lambda: links.alive)
        assert (links.begun, links.gone, list(pipeline.config.rooms)) == (2, ["lab"], ["hall"])

    with caplog.at_level(logging.INFO, "occupair.live"):
        run_here(settings("lab"), work)
    assert links.alive == 0


def test_settings_that_are_not_of_the_link_leave_it_up(links, settings, caplog):
    async def work(pipeline):
        await until(lambda: links.alive)
        settings("lab", more="retention_days = 7")
        hang_up()
        await until(lambda: caplog.text.count("read the settings again") == 1)
        assert pipeline.config.retention_days == 7
        assert (links.begun, links.alive) == (1, 1)
        settings("lab", broker="")
        hang_up()
        await until(lambda: caplog.text.count("read the settings again") == 2)
        assert (links.alive, pipeline.mqtt_status) == (0, "off")

    with caplog.at_level(logging.INFO, "occupair.live"):
        run_here(settings("lab"), work)


def test_signals_close_together_are_followed_one_by_one(links, settings, monkeypatch):
    real, at_once = Pipeline.reload, []

    async def reload(pipeline, config):
        at_once.append(at_once.count("begun") - at_once.count("ended"))
        at_once.append("begun")
        await asyncio.sleep(0.2)
        await real(pipeline, config)
        at_once.append("ended")

    monkeypatch.setattr(Pipeline, "reload", reload)

    async def work(pipeline):
        await until(lambda: links.alive)
        for room in ("hall", "attic", "cellar"):
            settings("lab", room)
            hang_up()
            await asyncio.sleep(0.05)
        await until(lambda: list(pipeline.config.rooms) == ["lab", "cellar"])
        await until(lambda: at_once.count("begun") == at_once.count("ended"))
        await asyncio.sleep(0.1)
        assert (links.alive, links.most) == (1, 1)
        assert "attic" not in pipeline.config.rooms

    run_here(settings("lab"), work)
    assert at_once == [0, "begun", "ended"] * 2  # once for the first, once for all that came meanwhile


def test_nothing_that_goes_wrong_with_old_readings_ends_the_service(links, settings, monkeypatch, caplog):
    monkeypatch.setattr(live_service, "PRUNE_EVERY", 0.01)
    faults = [ZeroDivisionError("a bug"), StoreError("store x: is away"), None]

    def prune(store, before):
        fault = faults.pop(0) if faults else None
        if fault is not None:
            raise fault
        return 7

    monkeypatch.setattr(Store, "prune", prune)

    async def work(pipeline):
        await until(lambda: "dropped 7 rows" in caplog.text)

    with caplog.at_level(logging.INFO, "occupair.live"):
        run_here(settings("lab"), work)
    assert "ZeroDivisionError: a bug" in caplog.text
    assert "old readings are still there: store x: is away" in caplog.text


def test_calls_that_hang_leave_room_for_others_and_no_timer_outlives_the_service(
    links, settings, monkeypatch
):
    monkeypatch.setattr(os, "cpu_count", lambda: 1)  # by which Python would choose 5 threads
    release = threading.Event()

    async def work(pipeline):
        hanging = [asyncio.create_task(asyncio.to_thread(release.wait)) for _ in range(20)]
        try:
            await asyncio.sleep(0.05)
            assert await asyncio.wait_for(asyncio.to_thread(pipeline.store.ping), 5)
        finally:
            release.set()
        await asyncio.gather(*hanging)

    run_here(settings("lab"), work)
    assert not [thread for thread in threading.enumerate() if isinstance(thread, threading.Timer)]


@need_postgres
def test_it_stops_also_when_the_database_hangs(folder, office, start):
    with postgres_to_stop() as database:
        service = start(ServiceProcess(folder, store=database.url, broker=None, rooms=ROOM))
        frozen = children(database.pid)
        for pid in frozen:
            os.kill(pid, signal.SIGSTOP)
        said = {"time": office.index[-1].isoformat(), "co2": 500.0, "ventilation": 0.0}
        with pytest.raises(urllib.error.HTTPError, match="503"):
            service.post("/api/rooms/lab/readings", said)
        began = time.monotonic()
        assert service.stop(patience=60) in (0, 1)
        assert time.monotonic() - began < 40
        for pid in frozen:
            os.kill(pid, signal.SIGCONT)


def children(pid):
    """All processes that a server has started: those that answer its clients among them."""
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True)
    return [int(line) for line in found.stdout.split()]


@need_mosquitto
def test_a_full_disk_delays_no_estimate_and_loses_nothing(folder, office, model, broker, start):
    server, listener = broker
    day = office.iloc[3 * 288 : 3 * 288 + 150]
    url = f"sqlite:///{folder}/rooms.db"
    service = start(ServiceProcess(folder, store=url, broker=server.port, rooms=ROOM))
    listener.tell(day.iloc[:20])
    wait_for(lambda: same_time(listener.state(), day.index[19]))
    resource.prlimit(service.pid, resource.RLIMIT_FSIZE, (20_000, resource.RLIM_INFINITY))
    listener.tell(day.iloc[20:100])
    wait_for(lambda: same_time(listener.state(), day.index[99]))
    wait_for(lambda: service.health() == "failing")
    resource.prlimit(service.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
    listener.tell(day.iloc[100:])
    store = Store(url)
    wait_for(lambda: len(store.readings("lab", None, None)) == 150)
    said = store.estimates("lab", None, None, limit=1000)
    np.testing.assert_allclose([one.people for one in said], model.estimate(day), atol=1e-6)
    store.close()
    assert service.stop() == 0


def test_a_lost_broker_is_told_and_leaves_the_service_healthy(folder, office, start):
    service = start(
        ServiceProcess(folder, store=f"sqlite:///{folder}/rooms.db", broker=free_port(), rooms=ROOM)
    )
    wait_for(lambda: service.get("/healthz")["parts"]["mqtt"].startswith("no link: "))
    assert service.get("/healthz")["status"] == "degraded"
    said = {"time": office.index[-1].isoformat(), "co2": 500.0, "ventilation": 0.0}
    assert service.post("/api/rooms/lab/readings", said)["outcomes"][0]["outcome"] == "accepted"
    assert service.stop() == 0


def test_an_address_that_is_taken_is_one_line(folder, start):
    service = start(ServiceProcess(folder, store=f"sqlite:///{folder}/rooms.db", broker=None, rooms=ROOM))
    again = subprocess.run(
        [sys.executable, "-m", "occupair", "serve", str(service.path)], capture_output=True, text=True
    )
    assert again.returncode == 2
    assert again.stderr == (
        f"occupair: cannot listen on 127.0.0.1:{service.port}: Address already in use: set another port\n"
    )
    assert service.health() == "ok"


def test_the_demo_needs_nothing(tmp_path):
    port = free_port()
    command = [sys.executable, "-m", "occupair", "serve", "--demo", "--port", str(port)]
    with (tmp_path / "log").open("wb") as log:
        demo = subprocess.Popen(command, stdout=log, stderr=log)
    try:

        def rooms():
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/rooms", timeout=5) as answer:
                    return [room["state"] for room in json.load(answer)["rooms"]]
            except OSError:
                return []

        wait_for(lambda: len(rooms()) == 5 and all(state["quality"] == "ok" for state in rooms()), 120)
        first = {state["room"]: state["time"] for state in rooms()}
        wait_for(lambda: all(state["time"] > first[state["room"]] for state in rooms()))
        assert sum(state["people"] for state in rooms()) > 0
        demo.send_signal(signal.SIGINT)
        assert demo.wait(20) == 0
    finally:
        demo.kill()
        demo.wait()
    assert "Traceback" not in (tmp_path / "log").read_text()
