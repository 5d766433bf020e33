"""The demo: its addresses, and estimates of its rooms."""

import datetime as dt
import json
import signal
import subprocess
import sys
import time
import urllib.request

import pytest
from live.ports import free_port
from live.waiting import HANG_GUARD, wait_for

import occupair as oc
from occupair.live import demo as live_demo
from occupair.live import service as live_service


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
