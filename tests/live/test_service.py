"""The running service: signals, lost database, full disk, lost broker, demo."""

import asyncio
import datetime as dt
import json
import logging
import os
import resource
import signal
import socket
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
from live.postgres import empty_database, need_postgres, postgres_to_stop
from live.service_process import ServiceProcess
from live.waiting import HANG_GUARD, until, wait_for

import occupair as oc
from occupair.live import demo as live_demo
from occupair.live import service as live_service
from occupair.live.config import ServiceConfig, read_config
from occupair.live.messages import Reading
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


class CountedLinks:
    """Stands for ``MqttBridge`` and counts links."""

    def __init__(self):
        self.n_started = self.n_alive = self.max_alive = 0
        self.removed = []

    def __call__(self, mqtt, rooms, *, shard):
        return self

    def remove_room(self, room):
        self.removed.append(room)

    async def run(self, pipeline):
        self.n_started, self.n_alive = self.n_started + 1, self.n_alive + 1
        self.max_alive = max(self.max_alive, self.n_alive)
        pipeline.mqtt_status = "connected"
        try:
            await asyncio.Event().wait()
        finally:
            self.n_alive -= 1


@pytest.fixture
def links(monkeypatch):
    links = CountedLinks()
    monkeypatch.setattr(live_service, "MqttBridge", links)
    monkeypatch.setattr(live_service, "start_logging", lambda *_, **__: None)
    return links


@pytest.fixture
def settings(tmp_path):
    """Return a function that writes settings."""
    path = tmp_path / "rooms.toml"

    def write(*rooms, more="", broker='[mqtt]\nhost = "127.0.0.1"\n'):
        sections = "".join(f"[rooms.{room}]\n" for room in rooms)
        path.write_text(f'[service]\nstore = "sqlite:///{tmp_path}/rooms.db"\n{more}\n{broker}{sections}')
        return path

    return write


def run_here(path, work):
    """Run the service in this process, run a coroutine with its pipeline, and stop it."""
    finished = []

    async def background(pipeline):
        await asyncio.wait_for(work(pipeline), HANG_GUARD)
        finished.append(True)
        os.kill(os.getpid(), signal.SIGTERM)

    config = read_config(path, {})
    with (
        live_service.open_store(config.store, config.shard) as store,
        live_service.listen("127.0.0.1", 0) as listening,
    ):
        asyncio.run(live_service.run(config, store, [listening], background))
    assert finished


def send_sighup():
    os.kill(os.getpid(), signal.SIGHUP)


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


@need_postgres
def test_reload_does_not_change_the_shard(links, tmp_path, caplog):
    path = tmp_path / "rooms.toml"
    text = f'[service]\nstore = "{empty_database("postgresql", tmp_path)}"\nshard = "1/2"\n'
    path.write_text(f"{text}[rooms.lab]\n[rooms.hall]\n")
    caplog.set_level(logging.INFO, "occupair.live")

    async def work(pipeline):
        assert list(pipeline.states()) == ["lab"]
        path.write_text(f"{text.replace('1/2', '2/2')}[rooms.lab]\n[rooms.hall]\n[rooms.kitchen]\n")
        send_sighup()
        await until(lambda: "settings reloaded, 2 rooms" in caplog.text)
        assert (str(pipeline.config.shard), sorted(pipeline.states())) == ("1/2", ["kitchen", "lab"])

    run_here(path, work)
    assert "changes that need a restart: shard\n" in caplog.text


def test_reload_keeps_settings_that_need_a_restart(links, settings, caplog):
    async def work(pipeline):
        before = pipeline.config
        changed = 'room_metrics = false\nclock = "readings"\ntolerance = 0.01\nretention_days = 7\n'
        settings("lab", more=f"{changed}[limits]\nrequests_per_minute = 60\nbody_bytes = 2000")
        for reloads in (1, 2):
            send_sighup()
            await until(lambda reloads=reloads: caplog.text.count("settings reloaded") == reloads)
            after = pipeline.config
            for key in ("room_metrics", "clock", "tolerance"):
                assert getattr(after, key) == getattr(before, key)
            assert after.limits.requests_per_minute == before.limits.requests_per_minute
            assert (after.retention_days, after.limits.body_bytes) == (7, 2000)

    with caplog.at_level(logging.INFO, "occupair.live"):
        run_here(settings("lab"), work)
    message = "changes that need a restart: room_metrics, clock, tolerance, requests_per_minute\n"
    assert caplog.text.count(message) == 2


def test_reload_does_not_remove_tokens_of_an_address_in_the_network(links, settings, caplog):
    """The new address would need no token, but the service listens on the former one until a restart."""
    token = f'[tokens.desk]\nhash = "sha256:{64 * "0"}"\nrole = "read"\n'

    async def work(pipeline):
        settings("lab", more='host = "127.0.0.1"')
        send_sighup()
        await until(lambda: "the settings were not reloaded" in caplog.text)
        assert [one.name for one in pipeline.config.tokens] == ["desk"]

    with caplog.at_level(logging.INFO, "occupair.live"):
        run_here(settings("lab", more=f'host = "0.0.0.0"\n{token}'), work)
    rule = "[tokens] must not be removed while the service listens on 0.0.0.0: restart it"
    assert rule in caplog.text


def test_failed_reload_changes_nothing(links, settings, monkeypatch, caplog):
    real, faults = Pipeline.reload, [StoreError("store x: unavailable"), RuntimeError("a bug")]

    async def reload(pipeline, config):
        if faults:
            raise faults.pop(0)
        await real(pipeline, config)

    monkeypatch.setattr(Pipeline, "reload", reload)

    async def work(pipeline):
        await until(lambda: links.n_alive)
        settings("hall")
        for message in (
            "the settings were not reloaded: store x: unavailable",
            "reloading the settings failed",
        ):
            send_sighup()
            await until(lambda message=message: message in caplog.text)
            assert (links.n_alive, links.n_started, pipeline.mqtt_status) == (1, 1, "connected")
            assert list(pipeline.config.rooms) == ["lab"]
        send_sighup()
        await until(lambda: "settings reloaded, 1 room" in caplog.text)
        await until(lambda: links.n_alive)
        assert (links.n_started, links.removed, list(pipeline.config.rooms)) == (2, ["lab"], ["hall"])

    with caplog.at_level(logging.INFO, "occupair.live"):
        run_here(settings("lab"), work)
    assert links.n_alive == 0


def test_unrelated_settings_do_not_restart_the_mqtt_link(links, settings, caplog):
    async def work(pipeline):
        await until(lambda: links.n_alive)
        settings("lab", more="retention_days = 7")
        send_sighup()
        await until(lambda: caplog.text.count("settings reloaded") == 1)
        assert pipeline.config.retention_days == 7
        assert (links.n_started, links.n_alive) == (1, 1)
        settings("lab", broker="")
        send_sighup()
        await until(lambda: caplog.text.count("settings reloaded") == 2)
        assert (links.n_alive, pipeline.mqtt_status) == (0, "off")

    with caplog.at_level(logging.INFO, "occupair.live"):
        run_here(settings("lab"), work)


def test_signals_during_a_reload_cause_one_more(links, settings, monkeypatch):
    real, calls = Pipeline.reload, []
    started, release = asyncio.Event(), asyncio.Event()

    async def reload(pipeline, config):
        calls.append(("start", calls.count("end")))
        started.set()
        await release.wait()
        await real(pipeline, config)
        calls.append("end")

    monkeypatch.setattr(Pipeline, "reload", reload)

    async def work(pipeline):
        await until(lambda: links.n_alive)
        settings("lab", "hall")
        send_sighup()
        await started.wait()
        for room in ("attic", "cellar"):
            settings("lab", room)
            send_sighup()
            await asyncio.sleep(0)
        release.set()
        await until(lambda: list(pipeline.config.rooms) == ["lab", "cellar"])
        await until(lambda: (links.n_started, links.n_alive) == (3, 1))
        assert links.max_alive == 1

    run_here(settings("lab"), work)
    assert calls == [("start", 0), "end", ("start", 1), "end"]


@pytest.mark.parametrize(("clock", "kept"), [("readings", 2880), ("wall", 0)])
def test_retention_follows_the_clock_of_the_service(settings, monkeypatch, clock, kept):
    """Two days of 2018 in the store, replayed earlier; the service starts today."""
    path = settings("lab", more=f'clock = "{clock}"\nretention_days = 400', broker="")
    start = pd.Timestamp("2018-03-05", tz="UTC")
    times = [start + pd.Timedelta(minutes=minute) for minute in range(2880)]
    with live_service.open_store(read_config(path, {}).store) as store:
        store.write([Reading("lab", time, 500.0, None, "http", time) for time in times], [])
    pruned = []
    delete = live_service._delete_old_rows
    monkeypatch.setattr(live_service, "_delete_old_rows", lambda *given: pruned.append(delete(*given)) or 0)

    async def work(pipeline):
        await until(lambda: pruned)
        assert len(pipeline.store.readings("lab", None, None)) == kept

    run_here(path, work)
    assert (pruned[0] == 0) == (kept > 0)


def test_errors_of_pruning_do_not_stop_the_service(links, settings, monkeypatch, caplog):
    monkeypatch.setattr(live_service, "PRUNE_EVERY", 0.01)
    faults = [ZeroDivisionError("a bug"), StoreError("store x: unavailable"), None]

    def prune(store, before, *, shard):
        fault = faults.pop(0) if faults else None
        if fault is not None:
            raise fault
        return 7

    monkeypatch.setattr(Store, "prune", prune)

    async def work(pipeline):
        await until(lambda: "deleted 7 rows" in caplog.text)

    with caplog.at_level(logging.INFO, "occupair.live"):
        run_here(settings("lab"), work)
    assert "ZeroDivisionError: a bug" in caplog.text
    assert "deleting old readings failed: store x: unavailable" in caplog.text


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


@need_postgres
def test_service_stops_while_the_database_hangs(folder, office, start):
    with postgres_to_stop() as database:
        service = start(ServiceProcess(folder, store=database.url, broker=None, rooms=ROOM))
        reading = {"time": office.index[-1].isoformat(), "co2": 500.0, "ventilation": 0.0}
        with database.frozen():
            with pytest.raises(urllib.error.HTTPError, match="503"):
                service.post("/api/rooms/lab/readings", reading)
            assert service.stop() in (0, 1)


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


def test_demo_finds_the_address_in_use_before_it_trains(monkeypatch):
    monkeypatch.setattr(live_demo, "simulated_days", lambda seed: pytest.fail("training has begun"))
    with live_service.listen("127.0.0.1", 0) as taken:  # as by a demo that is still training
        port = taken.getsockname()[1]
        message = rf"^cannot listen on 127.0.0.1:{port}: Address already in use: choose another port$"
        with pytest.raises(oc.InputError, match=message):
            live_demo.serve_demo(port=port)


def test_demo_chooses_the_port_of_its_broker_after_the_training(monkeypatch):
    """A port chosen before it may be taken by the time the broker starts."""
    done = []
    monkeypatch.setattr(live_demo, "ROOMS", {"library": live_demo.ROOMS["library"]})
    monkeypatch.setattr(live_demo, "simulated_days", lambda seed: None)
    monkeypatch.setattr(live_demo, "train_rooms", lambda folder, days: done.append("training") or {})
    monkeypatch.setattr(live_demo, "free_port", lambda: done.append("port") or 1883)
    monkeypatch.setattr(live_demo, "serve", lambda config, play, listening: listening.close())
    live_demo.serve_demo(port=free_port())
    assert done == ["training", "port"]


SMALL_DEMO = """
import sys
from occupair.live import demo
demo.ROOMS = dict(list(demo.ROOMS.items())[:2])
demo.TRAINING_DAYS = 3
demo.serve_demo(port=int(sys.argv[1]))
"""


def days_ago(days):
    return f"{dt.datetime.now(dt.UTC) - dt.timedelta(days=days):%Y-%m-%dT00:00}"


@pytest.mark.slow
def test_demo_publishes_estimates_of_its_rooms(tmp_path):
    port = free_port()
    with (tmp_path / "log").open("wb") as log:
        demo = subprocess.Popen([sys.executable, "-c", SMALL_DEMO, str(port)], stdout=log, stderr=log)

    def get(path):
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/{path}", timeout=60) as response:
            return json.load(response)

    def rooms():
        time.sleep(0.5)  # the service limits the number of requests
        try:
            return get("rooms")["rooms"]
        except OSError:
            assert demo.poll() is None, (tmp_path / "log").read_text()
            return []

    def states():
        return {room["room"]: room["state"] for room in rooms()}

    def newer_than(earlier):
        now = states()
        return now and all(
            state["quality"] == "ok" and state["time"] > earlier.get(room, "") for room, state in now.items()
        )

    try:
        wait_for(lambda: newer_than({}))
        first = {room: state["time"] for room, state in states().items()}
        assert len(first) == 3  # one of them without a model
        assert all(room["capacity"] > 0 for room in rooms())
        wait_for(lambda: newer_than(first))
        floors, past = get("floors"), get("rooms/library/hours?from=" + days_ago(5))["hours"][:24]
        assert {place["room"] for place in floors["places"]} == set(first)
        assert {plan["floor"] for plan in floors["plans"]} == {room["floor"] for room in rooms()}
        assert all(hour["known"] == 1 for hour in past)  # the week is not empty
        wait_for(lambda: sum(state["people"] or 0 for state in states().values()) > 0)
        demo.send_signal(signal.SIGINT)
        assert demo.wait(HANG_GUARD) == 0
    finally:
        demo.kill()
        demo.wait()
    assert "Traceback" not in (tmp_path / "log").read_text()
