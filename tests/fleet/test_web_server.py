"""Readings on a web server, which cannot list its files: their addresses are in the options."""

import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest
from fleet.folders import model_bytes
from fleet.immediate import Immediate
from fleet.portfolio import write_rooms

from occupair.fleet.training_run import fit_fleet


class Quiet(SimpleHTTPRequestHandler):
    """A file server without a log."""

    def log_message(self, *_):
        pass


@pytest.fixture
def address(tmp_path):
    """Address of a server with the readings of two rooms."""
    write_rooms(tmp_path / "web", 2)
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=tmp_path / "web"))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_files_named_in_the_options_are_fetched(address, tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    (data / "rooms.csv").write_text(
        f"room,file\nroom-00,{address}/room-00.csv\nroom-01,{address}/room-01.csv\ngone,{address}/gone.csv\n"
    )
    run = fit_fleet(data, tmp_path / "models", executor=Immediate())
    assert {one.room: one.status for one in run.results} == {
        "gone": "failed",
        "room-00": "trained",
        "room-01": "trained",
    }
    assert run.results[0].reason == "gone.csv: file not found"
    fit_fleet(tmp_path / "web", tmp_path / "here", executor=Immediate())
    assert model_bytes(tmp_path / "models") == model_bytes(tmp_path / "here")
