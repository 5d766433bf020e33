"""The server of the counting page: start, access control, actions and durability."""

import json
import os
import random
import signal
import threading

import httpx
import pytest
from groundtruth.counting_folder import MINUTES, make_folder, served
from live.fake_pipeline import Client

from occupair.errors import InputError
from occupair.groundtruth.counting import counts as counts_module
from occupair.groundtruth.counting.counts import read_counts
from occupair.groundtruth.counting.server import make_counting_app, serve_counting
from occupair.groundtruth.counting.session import CountingSession
from occupair.groundtruth.events import Events, read_events, write_events


def test_folder_without_events_is_a_one_line_error(tmp_path):
    with pytest.raises(InputError, match=r"no_such: no such folder$"):
        serve_counting(tmp_path / "no_such", port=0, open_browser=False)
    with pytest.raises(InputError, match=r": has no index.json: let 'occupair groundtruth scan' finish"):
        serve_counting(tmp_path, port=0, open_browser=False)
    write_events(Events(tmp_path))
    with pytest.raises(InputError, match="no minutes to count: the scan found no passages"):
        serve_counting(tmp_path, port=0, open_browser=False)


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.4", "::", "example.com", ""])
def test_only_loopback_hosts_are_allowed(folder, host):
    line = (
        r"--host must be a loopback address .*, because pictures of people must not leave this machine, got "
    )
    with pytest.raises(InputError, match=line):
        serve_counting(folder, host, 0, False)


def test_port_in_use_is_a_one_line_error(folder):
    import socket

    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(
            InputError, match=rf"cannot listen on 127.0.0.1:{port}: .*; choose another --port"
        ):
            serve_counting(folder, "127.0.0.1", port, False)


# ---- access control and actions ----------------------------------------------------------------------------


PICTURE = "/api/picture?door={}&minute=2024-01-08T08:31:00"


@pytest.fixture
def client(folder):
    return Client(make_counting_app(folder))


def press(client, do, **more):
    revision = client("GET", "/api/counting").json()["revision"]
    return client("POST", "/api/keys", json={"revision": revision, "do": do, **more})


def test_page_files_have_security_headers(client):
    page = client("GET", "/")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "default-src 'none'" in page.headers["content-security-policy"]
    for name in (
        "counting.js",
        "counting.css",
        "session.js",
        "add-minute.js",
        "app.css",
        "http.js",
        "dom.js",
        "i18n.js",
        "languages/de.json",
        "languages/common.de.json",
        "theme.js",
        "icon.svg",
    ):
        assert client("GET", f"/assets/{name}").status_code == 200, name
    assert client("GET", "/assets/../server.py").status_code == 404
    assert client("GET", "/assets/%2e%2e/server.py").status_code == 404
    picture = client("GET", PICTURE.format("north"))
    assert picture.headers["content-type"] == "image/jpeg"
    assert picture.headers["cache-control"] == "no-store"  # no copy stays in the browser
    assert picture.headers["cross-origin-resource-policy"] == "same-origin"
    unknown = [PICTURE.format(door) for door in ("west", "../north", "")]
    for path in (*unknown, "/api/picture", "/api/picture?door=north&minute=x", "/api/openapi.json", "/docs"):
        assert client("GET", path).status_code == 404, path


@pytest.mark.parametrize("host", ["example.com", "127.0.0.1.example.com", "192.168.1.4:8097", "", "[::2]"])
def test_foreign_host_is_rejected(client, host):
    for path in ("/", "/api/counting", PICTURE.format("north")):
        answer = client("GET", path, headers={"Host": host})
        assert (answer.status_code, "Host must be" in answer.text) == (403, True), path


@pytest.mark.parametrize("headers", [{"Origin": "http://example.com"}, {"Sec-Fetch-Site": "cross-site"}])
def test_cross_site_requests_are_rejected(client, folder, headers):
    state = client("GET", "/api/counting").json()
    sent = {"revision": state["revision"], "do": "counted", "number": 0}
    assert client("POST", "/api/keys", json=sent, headers=headers).status_code == 403
    assert (
        client(
            "POST", "/api/keys", content=json.dumps(sent), headers={"Content-Type": "text/plain"}
        ).status_code
        == 415
    )
    assert not (folder / "counts.json").exists()


@pytest.mark.parametrize(
    ("sent", "line"),
    [
        ({"do": "dance"}, "do must be"),
        ({"do": "counted"}, "number must be the number of a minute, got -1"),
        ({"do": "counted", "number": 5}, "number must be the number of a minute, got 5"),
        ({"do": "change", "number": 0, "entered": 50}, "entered must be at most 1, got 50"),
        ({"do": "change", "number": "0"}, "number must be an integer, got '0'"),
    ],
)
def test_invalid_action_changes_nothing(client, folder, sent, line):
    answer = press(client, **sent)
    assert answer.status_code == 422
    assert answer.json()["detail"].startswith(line)
    assert not (folder / "counts.json").exists()


def test_outdated_window_gets_a_conflict(client):
    old = client("GET", "/api/counting").json()["revision"]
    assert press(client, "counted", number=0).json()["at"] == 1
    answer = client("POST", "/api/keys", json={"revision": old, "do": "counted", "number": 1})
    assert (answer.status_code, "another window" in answer.text) == (409, True)
    assert client("GET", "/api/counting").json()["minutes"][1]["state"] == "open"


def test_full_disk_is_reported(client, folder, monkeypatch):
    press(client, "counted", number=0)

    def full(path, content):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(counts_module, "write_atomically", full)
    answer = press(client, "counted", number=1)
    assert answer.status_code == 507
    assert answer.json()["detail"] == "not saved, counts.json cannot be written: No space left on device"
    state = client("GET", "/api/counting").json()
    assert (state["at"], state["minutes"][1]["state"]) == (1, "open")
    monkeypatch.undo()
    assert press(client, "counted", number=1).json()["at"] == 2
    assert len(read_counts(folder)) == 2


def test_deleted_picture_is_not_served(client, folder):
    press(client, "counted", number=0)
    answer = press(client, "delete", number=0)
    assert answer.json()["changed"][0]["picture"] == "deleted"
    assert client("GET", PICTURE.format("north")).status_code == 404


def test_only_pictures_are_served(tmp_path):
    folder = make_folder(tmp_path / "events", MINUTES[:2], kind="png")
    text = (folder / "index.json").read_text()
    script = folder / "south/x.svg"
    script.write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    (folder / "index.json").write_text(text.replace("south/20240108T083100.png", "south/x.svg"))
    assert read_events(folder).minutes[1].sheet == script
    client = Client(make_counting_app(folder))
    assert client("GET", PICTURE.format("north")).headers["content-type"] == "image/png"
    assert client("GET", PICTURE.format("south")).status_code == 404


# ---- durability --------------------------------------------------------------------------------------------


def test_folder_is_locked(folder):
    with served(folder), pytest.raises(InputError, match="already being counted by another program"):
        serve_counting(folder, port=0, open_browser=False)


def test_ctrl_c_stops_the_server(folder):
    with served(folder) as (process, url):
        assert url.startswith("http://127.0.0.1:")
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=90) == ("", "")
        assert process.returncode == 0


def test_confirmed_actions_survive_kill_9(folder):
    rng = random.Random(4)
    rows, revision, pressed = (
        None,
        0,
        -1,
    )  # what the last answer has confirmed, and the minute of the key after it
    for _ in range(3):
        with served(folder) as (process, url), httpx.Client(base_url=url, timeout=90) as client:
            state = client.get("/api/counting").json()
            if rows is not None:
                changed = [n for n, row in enumerate(rows) if row != state["minutes"][n]]
                ahead = int(state["revision"][9:]) - revision
                assert ahead in (0, 1)
                assert changed in (
                    [],
                    [pressed] if ahead else [],
                )  # at most the key that was under way, whole
            rows, last = state["minutes"], rng.randrange(5, 15)
            with pytest.raises(httpx.TransportError):  # noqa: PT012
                for sent in range(10**6):
                    revision, pressed = int(state["revision"][9:]), rng.randrange(len(rows))
                    if sent == last:
                        threading.Timer(rng.uniform(0, 0.05), process.kill).start()
                    key = {"revision": state["revision"], "number": pressed} | rng.choice(KEYS)
                    answer = client.post("/api/keys", json=key)
                    assert answer.status_code == 200, answer.text
                    state = answer.json()
                    for row in state["changed"]:
                        rows[row["number"]] = row
            process.wait()
    assert revision > 12
    CountingSession(folder)
    assert sorted(os.listdir(folder)) == ["counts.json", "index.json", "north", "south"]  # no scratch is left


KEYS = [
    {"do": "change", "entered": 1}, {"do": "change", "left": 1}, {"do": "change", "left": -1},
    {"do": "counted"}, {"do": "unsure"}, {"do": "skipped"}, {"do": "nobody"},
]  # fmt: skip
