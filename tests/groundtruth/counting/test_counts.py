"""Counts of the counting page: file format, actions, access control and durability."""

import datetime as dt
import json
import os
import random
import signal
import threading

import httpx
import pytest
from groundtruth.counting_folder import DAY, make_folder, served
from live.fake_pipeline import Client

from occupair.errors import InputError
from occupair.groundtruth.counting import counts as counts_module
from occupair.groundtruth.counting.counts import STEPS_BACK, Book, Count, read_book, read_counts, write_book
from occupair.groundtruth.counting.server import make_counting_app, serve_counting
from occupair.groundtruth.counting.session import CountingSession
from occupair.groundtruth.events import Events, read_events, write_events

MINUTES = [("north", "08:31"), ("south", "08:31"), ("north", "09:02"), ("south", "10:15"), ("north", "11:40")]


PICTURE = "/api/picture?door={}&minute=2024-01-08T08:31:00"


def at(time, door="north"):
    return door, dt.datetime.combine(DAY, dt.time.fromisoformat(time))


@pytest.fixture
def folder(tmp_path):
    return make_folder(tmp_path / "events", MINUTES)


def write(folder, **changes):
    folder.mkdir(exist_ok=True)
    row = {"door": "north", "minute": "2024-01-08T08:31:00", "entered": 2, "left": 1, "state": "counted"}
    whole = {"format": "occupair counts", "version": 1, "counts": [row | changes.pop("row", {})]} | changes
    (folder / "counts.json").write_text(json.dumps(whole))
    return folder


# ---- the file ----------------------------------------------------------------------------------------------


def test_read_counts(tmp_path):
    north = Count("north", dt.datetime(2024, 1, 8, 8, 31), 2, 1, "counted")
    assert read_counts(write(tmp_path / "a")) == [north]
    assert read_counts(tmp_path) == []  # nobody has counted yet


def test_book_round_trip(tmp_path):
    book = Book(at=at("08:31"), order="door", deletes=True, revision=7, seconds=[4.5, 6.0])
    book.put(at("09:02"), Count(*at("09:02"), 3, 0, "unsure"))
    book.put(at("08:31"), Count(*at("08:31"), 1, 0, "begun"))
    book.put(at("08:31"), Count(*at("08:31"), 1, 2, "counted"))
    book.put(at("10:15", 'Süd "B"'), Count(*at("10:15", 'Süd "B"'), 0, 4, "begun"))
    book.marked, book.deleted = {at("10:15")}, {at("09:02")}
    write_book(tmp_path, book)
    assert read_book(tmp_path) == book
    assert [count.minute.hour for count in read_counts(tmp_path)] == [
        8,
        9,
    ]  # what is only begun is not counted
    assert os.listdir(tmp_path) == ["counts.json"]


def test_utc_offset_is_preserved(tmp_path):
    minute = dt.datetime.fromisoformat("2024-01-08T08:31:00+01:00")
    write_book(tmp_path, Book(counts={("a", minute): Count("a", minute, 1, 0, "counted")}))
    assert read_counts(tmp_path)[0].minute.isoformat() == "2024-01-08T08:31:00+01:00"


BAD = {
    "no format": (
        {"format": "something"},
        'must be an occupair counts file, with "format": "occupair counts"',
    ),
    "version": ({"version": 2}, "version must be 1, got 2"),
    "no list": ({"counts": {}}, "counts must be a list"),
    "negative": (
        {"row": {"entered": -1}},
        r"counts\[0\].entered must be an integer from 0 to 999, got -1",
    ),
    "half": ({"row": {"left": 1.5}}, r"counts\[0\].left must be an integer from 0 to 999, got 1.5"),
    "truth": ({"row": {"left": True}}, r"counts\[0\].left must be an integer from 0 to 999, got True"),
    "state": ({"row": {"state": "done"}}, r"counts\[0\].state must be counted, unsure, skipped, got 'done'"),
    "begun": (
        {"row": {"state": "begun"}},
        r"counts\[0\].state must be counted, unsure, skipped, got 'begun'",
    ),
    "minute": ({"row": {"minute": "8:31"}}, r"counts\[0\].minute must be a time such as .*, got '8:31'"),
    "door": ({"row": {"door": ""}}, r"counts\[0\].door must be the name of a door, got ''"),
    "row": ({"counts": [3]}, r"counts\[0\] must be an object, got 3"),
    "order": ({"counting": {"order": "up"}}, "counting.order must be time or door, got 'up'"),
    "revision": (
        {"counting": {"revision": -1}},
        "counting.revision must be a non-negative integer, got -1",
    ),
    "counting": ({"counting": []}, "counting must be an object"),
    "history": (
        {"counting": {"history": [{"door": "a", "minute": "2024-01-08T08:31:00", "before": 3}]}},
        r"counting.history\[0\].before must be an object or null, got 3",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_invalid_file_is_a_one_line_error(tmp_path, name):
    changes, line = BAD[name]
    with pytest.raises(InputError, match=f"counts.json: {line}$"):
        read_counts(write(tmp_path, **changes))


def test_duplicate_minute_is_rejected(tmp_path):
    row = {"door": "a", "minute": "2024-01-08T08:31:00", "entered": 0, "left": 0, "state": "counted"}
    with pytest.raises(InputError, match=r"counts\[1\]: a at 2024-01-08T08:31:00 occurs twice"):
        read_counts(write(tmp_path, counts=[row, row]))
    other = row | {"minute": "2024-01-08T08:31:00+01:00"}
    with pytest.raises(InputError, match="either all times must have a UTC offset or none"):
        read_counts(write(tmp_path, counts=[row, other]))


@pytest.mark.parametrize(
    ("content", "line"),
    [(b"{", "must be JSON, but line 1 is not: .*"), (b"\xff\xfe", "must be JSON in UTF-8")],
)
def test_invalid_json_is_a_one_line_error(tmp_path, content, line):
    (tmp_path / "counts.json").write_bytes(content)
    with pytest.raises(InputError, match=f"counts.json: {line}$"):
        read_counts(tmp_path)


# ---- what keys do ------------------------------------------------------------------------------------------


def numbers(session, time, door="north"):
    row = session.row(session.number[at(time, door)])
    return row["entered"], row["left"], row["state"]


def test_actions_are_stored_and_undone(folder):
    session = CountingSession(folder)
    assert session.at == 0
    seen = [read_book(folder).counts]
    for do in (
        lambda: session.change(0, entered=1),
        lambda: session.change(0, entered=1),
        lambda: session.change(0, left=1),
        lambda: session.decide(0, "counted"),
        lambda: session.decide(1, "skipped"),
        lambda: session.change(2, entered=1),
        lambda: session.decide(2, "unsure"),
    ):
        do()
        assert read_book(folder) == session.book
        seen.append(read_book(folder).counts)
    assert numbers(session, "08:31") == (2, 1, "counted")
    assert numbers(session, "08:31", "south") == (0, 0, "skipped")
    assert numbers(session, "09:02") == (1, 0, "unsure")
    while session.undo():
        seen.pop()
        assert read_book(folder).counts == seen[-1]
    assert seen == [{}]
    assert session.at == 0


def test_undo_after_restart_and_its_limit(folder, monkeypatch):
    CountingSession(folder).decide(0, "counted")
    again = CountingSession(folder)
    assert again.at == 1
    assert again.undo() == [0]
    assert (again.at, numbers(again, "08:31")) == (0, (0, 0, "open"))
    monkeypatch.setattr(counts_module, "STEPS_BACK", 3)
    for _ in range(5):
        again.change(0, entered=1)
    assert [bool(again.undo()) for _ in range(4)] == [True, True, True, False]
    assert numbers(again, "08:31") == (2, 0, "begun")
    assert STEPS_BACK >= 100


def test_counts_are_clamped(folder):
    session = CountingSession(folder)
    assert session.change(0, left=-1) == []
    assert read_book(folder) == Book()  # nothing changed, nothing is kept
    session.book.counts[at("08:31")] = Count(*at("08:31"), 999, 0, "begun")
    assert session.change(0, entered=1) == []


def test_finished_minute_is_changed_in_place(folder):
    session = CountingSession(folder)
    session.decide(0, "unsure")
    session.decide(1, "skipped")
    session.change(0, entered=1)
    session.change(1, left=1)
    assert numbers(session, "08:31") == (1, 0, "unsure")
    assert numbers(session, "08:31", "south") == (0, 1, "begun")
    session.decide(0, "counted", nobody=True)
    assert numbers(session, "08:31") == (0, 0, "counted")


def order_of(session):
    session.book.at = None
    places = [session.at for _ in session.minutes if session.step(1) is not None]
    return [f"{session.minutes[n].door[0]}{session.minutes[n].minute:%H}" for n in places]


def test_order_by_time_and_by_door(tmp_path):
    more = [*MINUTES, ("north", "2024-01-09T07:00"), ("south", "2024-01-09T06:00")]
    session = CountingSession(make_folder(tmp_path / "events", more))
    assert order_of(session) == ["n08", "s08", "n09", "s10", "n11", "s06", "n07"]
    session.set_order("door")
    assert order_of(CountingSession(session.folder)) == ["n08", "n09", "n11", "s08", "s10", "n07", "s06"]


def test_next_open_minute(folder):
    session = CountingSession(folder)
    session.go(3)
    session.decide(3, "counted")
    session.decide(4, "counted")
    assert session.at == 0  # back to those that were left out
    for number in (0, 1, 2):
        session.decide(number, "counted")
    assert session.at is None
    assert CountingSession(folder).at is None
    session.step(-1)
    assert session.at == 4
    session.step(1)
    assert session.at == 4


def test_review_cycles_through_unsure_minutes(folder):
    session = CountingSession(folder)
    assert session.review() == []
    for number, decision in enumerate(("unsure", "counted", "skipped", "counted", "counted")):
        session.decide(number, decision)
    places = []
    for _ in range(3):
        session.review()
        places.append(session.at)
    assert places == [0, 2, 0]


def test_pace_ignores_breaks_and_reviews(folder):
    now = [0.0]
    session = CountingSession(folder, clock=lambda: now[0])
    for number, pause in enumerate((9, 4, 1000, 6, 8)):
        now[0] += pause
        session.decide(number, "counted")
        session.decide(number, "counted")  # again, at once
    assert session.book.seconds == [4, 6, 8]  # the first has no beginning, the third was a break
    assert session.progress()["pace"] == 6


# ---- pictures ----------------------------------------------------------------------------------------------


def pictures(folder):
    return sorted(path.name[9:13] + path.parent.name[0] for path in folder.rglob("*.jpg"))


def test_pictures_are_deleted_once_counted(folder):
    session = CountingSession(folder)
    session.decide(0, "counted")
    session.decide(1, "counted")
    assert len(pictures(folder)) == 5  # off by default
    session.set_deletes(True)
    assert pictures(folder) == ["0831s", "0902n", "1015s", "1140n"]  # the last one may still be undone
    session.change(2, entered=1)
    assert "0831s" in pictures(folder)
    session.decide(2, "unsure")
    session.decide(3, "counted")
    assert pictures(folder) == ["0902n", "1015s", "1140n"]
    session.undo()
    assert session.row(3)["picture"] == "there"
    session.decide(3, "counted")
    session.decide(4, "counted")
    assert pictures(folder) == ["0902n"]  # all are done: only the doubtful one is kept
    assert [session.row(n)["picture"] for n in range(5)] == [
        "deleted",
        "deleted",
        "there",
        "deleted",
        "deleted",
    ]
    assert sorted(path.name for path in folder.iterdir()) == ["counts.json", "index.json", "north", "south"]
    assert len(read_counts(folder)) == 5


def test_marked_picture_is_deleted_once_counted(folder):
    session = CountingSession(folder)
    session.delete(0)
    assert session.row(0)["marked"]
    session.delete(0)
    assert not session.row(0)["marked"]
    session.delete(0)
    session.decide(0, "counted")
    session.decide(1, "counted")
    assert "0831n" not in pictures(folder)
    assert "0831s" in pictures(folder)
    session.delete(1)  # decided: now
    assert "0831s" not in pictures(folder)
    assert session.delete(1) == []
    session.undo()
    assert session.row(1)["picture"] == "deleted"  # numbers come back, pictures do not


def test_interrupted_deletion_is_finished(folder):
    book = Book(counts={at("08:31"): Count(*at("08:31"), 1, 0, "counted")}, deleted={at("08:31")})
    write_book(folder, book)  # killed before the file was gone
    CountingSession(folder)
    assert "0831n" not in pictures(folder)


# ---- folders -----------------------------------------------------------------------------------------------


def test_folder_without_events_is_a_one_line_error(tmp_path):
    with pytest.raises(InputError, match=r"no_such: no such folder$"):
        serve_counting(tmp_path / "no_such", port=0, open_browser=False)
    with pytest.raises(InputError, match=r": has no index.json: let 'occupair groundtruth scan' finish"):
        serve_counting(tmp_path, port=0, open_browser=False)
    write_events(Events(tmp_path))
    with pytest.raises(InputError, match="no minutes to count: the scan found no passages"):
        serve_counting(tmp_path, port=0, open_browser=False)


def test_sheet_outside_the_folder_is_rejected(folder, tmp_path):
    (tmp_path / "private.jpg").write_bytes(b"private")
    sheet = folder / "north/20240108T083100.jpg"
    sheet.unlink()
    sheet.symlink_to(tmp_path / "private.jpg")
    with pytest.raises(InputError, match="is outside the events folder"):
        CountingSession(folder)


def test_minutes_without_picture(folder):
    (folder / "south/20240108T083100.jpg").unlink()
    write_book(folder, Book(counts={at("23:59"): Count(*at("23:59"), 0, 3, "counted")}))
    session = CountingSession(folder)
    assert [row["picture"] for row in session.state()["minutes"]] == ["there", "missing"] + 3 * ["there"] + [
        "missing"
    ]
    session.decide(0, "counted")
    assert {count.minute.hour for count in read_counts(folder)} == {8, 23}  # nothing counted is ever dropped


def test_mixed_utc_offsets_are_rejected(folder):
    minute = dt.datetime.fromisoformat("2024-01-08T08:31:00+01:00")
    write_book(folder, Book(counts={("a", minute): Count("a", minute, 1, 0, "counted")}))
    with pytest.raises(InputError, match="must have UTC offsets, or neither"):
        CountingSession(folder)


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


# ---- who is let in -----------------------------------------------------------------------------------------


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


# ---- killed ------------------------------------------------------------------------------------------------


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


def test_change_encodes_only_the_changed_count(tmp_path):
    folder = make_folder(tmp_path / "events", MINUTES[:1])
    times = [DAY + dt.timedelta(minutes=5 * n) for n in range(6_000)]
    one = read_events(folder).minutes[0]
    minutes = [type(one)(door, time, 0.5, one.sheet) for time in times for door in ("north", "south")]
    write_events(Events(folder, read_events(folder).doors, minutes))
    book = Book(
        counts={(m.door, m.minute): Count(m.door, m.minute, 1, 1, "counted") for m in minutes[:9_000]}
    )
    write_book(folder, book)
    session = CountingSession(folder)
    assert session.at == 9_000
    encoded = counts_module._line.cache_info().misses
    for _ in range(10):
        session.change(session.at, entered=1)
    assert counts_module._line.cache_info().misses <= encoded + 10  # only the changed count is encoded again
