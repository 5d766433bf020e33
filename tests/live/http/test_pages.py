"""Static files of the page."""

from pathlib import Path

import plotly
import pytest
from live.fake_pipeline import Client, FakePipeline, error_detail, make_config

from occupair.live.http.app import make_app
from occupair.live.page import STATIC
from occupair.web.assets import Assets

PLOTLY = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"


@pytest.fixture
def app():
    pipeline = FakePipeline(make_config(tokens=True))
    return make_app(pipeline, pipeline.config)


@pytest.fixture
def ask(app):
    return Client(app)


def test_page_is_public_and_revalidated(ask):
    answer = ask("GET", "/")
    assert answer.status_code == 200
    assert answer.content == (STATIC / "index.html").read_bytes()
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["cache-control"] == "no-cache"
    again = ask("GET", "/", headers={"If-None-Match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_plotly_is_compressed_and_cached(ask):
    answer = ask("GET", "/assets/plotly.min.js", headers={"Accept-Encoding": "gzip"})
    assert answer.content == PLOTLY.read_bytes()
    assert answer.headers["content-encoding"] == "gzip"
    assert int(answer.headers["content-length"]) < PLOTLY.stat().st_size / 3
    assert answer.headers["content-type"] == "text/javascript; charset=utf-8"
    assert answer.headers["cache-control"] == "public, max-age=2592000"
    assert "accept-encoding" in answer.headers["vary"].lower()


def test_client_without_gzip(ask):
    answer = ask("GET", "/assets/plotly.min.js", headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in answer.headers
    assert len(answer.content) == PLOTLY.stat().st_size


def test_all_page_files_are_served(ask):
    kinds = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".html": "text/html"}
    for path in STATIC.rglob("*"):
        if path.is_file():
            answer = ask("GET", f"/assets/{path.relative_to(STATIC).as_posix()}")
            assert answer.content == path.read_bytes()
            assert answer.headers["content-type"].startswith(kinds.get(path.suffix, ""))


def test_head(ask):
    whole, head = ask("GET", "/"), ask("HEAD", "/")
    assert head.content == b""
    assert head.headers["content-length"] == whole.headers["content-length"]


@pytest.mark.parametrize(
    "name",
    [
        "",
        "nothing.js",
        "../__init__.py",
        "..%2F__init__.py",
        "%2e%2e/__init__.py",
        "....//__init__.py",
        "%2Fetc%2Fpasswd",
        "//etc/passwd",
        "index.html%00",
        "static",
        ".",
        "\\..\\__init__.py",
    ],
)
def test_files_outside_the_folder_are_not_served(ask, name):
    answer = ask("GET", f"/assets/{name}")
    assert answer.status_code == 404
    assert error_detail(answer) in ("file not found", "path not found")


def test_subfolders_and_links(tmp_path, app):
    folder = tmp_path / "static"
    (folder / "icons").mkdir(parents=True)
    (folder / "icons" / "room.svg").write_text("<svg/>")
    (folder / "noise.bin").write_bytes(b"\0")
    app.state.assets = Assets(folder)
    ask = Client(app)
    assert ask("GET", "/assets/icons/room.svg").text == "<svg/>"
    assert ask("GET", "/assets/noise.bin").headers["content-type"] == "application/octet-stream"
    assert ask("GET", "/").status_code == 404, "a package without its page still answers"


def test_long_responses_are_compressed():
    pipeline = FakePipeline(make_config(*(f"room-{place}" for place in range(50))))
    ask = Client(make_app(pipeline, pipeline.config))
    assert ask("GET", "/api/rooms").headers["content-encoding"] == "gzip"
    assert "content-encoding" not in ask("GET", "/api/rooms/room-0").headers
