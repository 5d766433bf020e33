"""The running service while clients keep its connections busy."""

import contextlib
import datetime as dt
import resource
import socket
from contextlib import closing

import pytest
from live.service_process import ServiceProcess
from live.waiting import wait_for

from occupair.live.store import Store

FILES, CONNECTIONS = 1024, 1100


@pytest.fixture
def many_files():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 4096)), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.parametrize(
    "sent",
    [
        b"POST /api/rooms/lab/readings HTTP/1.1\r\nHost: localhost\r\n",
        b"POST /api/rooms/lab/readings HTTP/1.1\r\nHost: localhost\r\n"
        b"Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{",
    ],
    ids=["half a header", "half a body"],
)
def test_half_open_connections_delay_neither_health_nor_readings(tmp_path, start, many_files, sent):
    url = f"sqlite:///{tmp_path}/rooms.db"
    limits = "[limits]\nrequests_per_minute = 100000\n"
    service = start(
        ServiceProcess(tmp_path, store=url, broker=None, rooms=f"{limits}[rooms.lab]\n", max_files=FILES)
    )
    started = service.log.stat().st_size
    with contextlib.ExitStack() as clients:
        for _ in range(CONNECTIONS):
            client = clients.enter_context(socket.create_connection(("127.0.0.1", service.port)))
            with contextlib.suppress(ConnectionError):  # closed meanwhile
                client.sendall(sent)
        assert service.health() == "ok"
        now = dt.datetime.now(dt.UTC)
        for minute in range(5):
            reading = {"time": (now - dt.timedelta(minutes=minute)).isoformat(), "co2": 600 + minute}
            answer = service.post("/api/rooms/lab/readings", reading)
            assert [one["outcome"] for one in answer["outcomes"]] in (["accepted"], ["late"])
            assert service.health() == "ok"
        with closing(Store(url)) as store:
            wait_for(lambda: len(store.readings("lab", None, None)) == 5)
    assert service.log.stat().st_size - started < 5_000
    assert "Traceback" not in service.log.read_text()
    assert service.stop() == 0
