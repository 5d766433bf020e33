"""The service as several processes: restarts, signals, and no process that outlives its parent."""

import os
import signal
import socket
import subprocess
import urllib.error
from contextlib import closing
from pathlib import Path

import pytest
from live.ports import free_port
from live.postgres import empty_database, need_postgres
from live.service_process import ServiceProcess
from live.waiting import HANG_GUARD, wait_for

from occupair.errors import InputError
from occupair.live.config import ServiceConfig
from occupair.live.store import Store, service_lock
from occupair.live.workers import serve_workers

pytestmark = [need_postgres, pytest.mark.slow]
ROOMS = "[limits]\nrequests_per_minute = 1000000\n[rooms.lab]\n[rooms.hall]\n"
READING = {"time": "2026-01-05T09:00:00Z", "co2": 612}


def port_before_free_ones(count):
    """Return a free port that is followed by free ports."""
    while True:
        port = free_port()
        try:
            for number in range(1, count + 1):
                socket.create_server(("127.0.0.1", port + number)).close()
        except (OSError, OverflowError):
            continue
        return port


@pytest.fixture
def url(tmp_path):
    return empty_database("postgresql", tmp_path)


@pytest.fixture
def service(tmp_path, url, monkeypatch):
    """A service with two workers that is not started."""
    port = port_before_free_ones(2)
    monkeypatch.setattr("live.service_process.free_port", lambda: port)
    return ServiceProcess(tmp_path, store=url, broker=None, rooms=ROOMS, arguments=["--workers", "2"])


def workers_of(service):
    """Return the ids of the processes of workers."""
    children = Path(f"/proc/{service.pid}/task/{service.pid}/children").read_text().split()
    return [int(child) for child in children]


def outcome_of(service, room):
    """Post a reading, again while a worker does not know the other one yet; return its outcome."""
    found = []

    def is_posted():
        try:
            found.extend(service.post(f"/api/rooms/{room}/readings", READING)["outcomes"])
        except urllib.error.HTTPError as error:
            error.close()
            if error.code != 503:
                raise
        return found

    wait_for(is_posted)
    return found[0]["outcome"]


def is_running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_worker_that_dies_is_started_again(service, start):
    start(service)
    wait_for(lambda: service.health() == "ok")
    before = workers_of(service)
    assert len(before) == 2
    for room in ("lab", "hall"):  # either worker takes the readings of both rooms
        outcomes = [outcome_of(service, room) for _ in range(8)]
        assert outcomes == ["accepted"] + 7 * ["duplicate"]
    os.kill(before[0], signal.SIGKILL)
    wait_for(lambda: len(workers_of(service)) == 2 and before[0] not in workers_of(service))
    wait_for(lambda: "was killed by signal 9: starting it again in 1 s" in service.log.read_text())
    wait_for(lambda: service.health() == "ok")
    for room in ("lab", "hall"):
        assert outcome_of(service, room) == "duplicate"  # from the store
    service.path.write_text(service.path.read_text() + "[rooms.attic]\n")
    service.signal(signal.SIGHUP)
    wait_for(lambda: service.log.read_text().count("settings reloaded") == 2)
    assert len(service.get("/api/rooms")["rooms"]) == 3
    children = workers_of(service)
    assert service.stop() == 0
    assert not any(map(is_running, children))
    log = service.log.read_text()
    assert '"shard": "1/2"' in log
    assert '"shard": "2/2"' in log


def test_workers_do_not_survive_their_parent(service, start):
    start(service)
    children = workers_of(service)
    assert len(children) == 2
    service.kill()
    wait_for(lambda: not any(map(is_running, children)))


def test_workers_that_cannot_start_end_the_service(service, url):
    with closing(Store(url)) as store, service_lock(store.engine):
        done = subprocess.run(service.command, capture_output=True, text=True, timeout=HANG_GUARD)
    assert done.returncode == 2
    assert "is used by another occupair service: stop it, or use another store" in done.stderr
    assert done.stderr.endswith("occupair: a worker cannot start, see the message above\n")


def test_port_of_a_worker_in_use_is_a_plain_error(tmp_path):
    port = port_before_free_ones(2)
    config = ServiceConfig(port=port)
    with (
        socket.create_server(("127.0.0.1", port + 2)),
        pytest.raises(InputError, match=f"^cannot listen on 127.0.0.1:{port + 2}: Address already in use"),
    ):
        serve_workers(config, tmp_path / "rooms.toml", {}, 2)


def test_workers_need_ports_after_that_of_the_service(tmp_path):
    with pytest.raises(InputError, match=r"^--workers 9 needs as many ports after 65530, which is too high$"):
        serve_workers(ServiceConfig(port=65_530), tmp_path / "rooms.toml", {}, 9)
