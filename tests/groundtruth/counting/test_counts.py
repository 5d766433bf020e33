"""Counts: what is kept, what each key does to it, who is let in, and that nothing kept is ever lost."""

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
from occupair.groundtruth.counting.walk import Walk
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


def test_counts_of_the_contract_are_read(tmp_path):
    north = Count("north", dt.datetime(2024, 1, 8, 8, 31), 2, 1, "counted")
    assert read_counts(write(tmp_path / "a")) == [north]
    assert read_counts(tmp_path) == []  # nobody has counted yet


def test_a_book_comes_back_as_it_was_written(tmp_path):
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


def test_times_keep_their_offset(tmp_path):
    minute = dt.datetime.fromisoformat("2024-01-08T08:31:00+01:00")
    write_book(tmp_path, Book(counts={("a", minute): Count("a", minute, 1, 0, "counted")}))
    assert read_counts(tmp_path)[0].minute.isoformat() == "2024-01-08T08:31:00+01:00"


BAD = {
    "no format": ({"format": "something"}, 'must be counts of occupair, with "format": "occupair counts"'),
    "version": ({"version": 2}, "must be of version 1, got 2"),
    "no list": ({"counts": {}}, "counts must be a list"),
    "negative": (
        {"row": {"entered": -1}},
        r"counts\[0\].entered must be a whole number from 0 to 999, got -1",
    ),
    "half": ({"row": {"left": 1.5}}, r"counts\[0\].left must be a whole number from 0 to 999, got 1.5"),
    "truth": ({"row": {"left": True}}, r"counts\[0\].left must be a whole number from 0 to 999, got True"),
    "state": ({"row": {"state": "done"}}, r"counts\[0\].state must be counted, unsure, skipped, got 'done'"),
    "begun": (
        {"row": {"state": "begun"}},
        r"counts\[0\].state must be counted, unsure, skipped, got 'begun'",
    ),
    "minute": ({"row": {"minute": "8:31"}}, r"counts\[0\].minute must be a time such as .*, got '8:31'"),
    "door": ({"row": {"door": ""}}, r"counts\[0\].door must be the name of a door, got ''"),
    "row": ({"counts": [3]}, r"counts\[0\] must be an object, got 3"),
    "order": ({"counting": {"order": "up"}}, "counting.order must be time or door, got 'up'"),
    "revision": ({"counting": {"revision": -1}}, "counting.revision must be a whole number, got -1"),
    "counting": ({"counting": []}, "counting must be an object"),
    "history": (
        {"counting": {"history": [{"door": "a", "minute": "2024-01-08T08:31:00", "before": 3}]}},
        r"counting.history\[0\].before must be an object or null, got 3",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_a_file_that_breaks_a_rule_is_one_line(tmp_path, name):
    changes, line = BAD[name]
    with pytest.raises(InputError, match=f"counts.json: {line}$"):
        read_counts(write(tmp_path, **changes))


def test_a_minute_that_is_there_twice_is_refused(tmp_path):
    row = {"door": "a", "minute": "2024-01-08T08:31:00", "entered": 0, "left": 0, "state": "counted"}
    with pytest.raises(InputError, match=r"counts\[1\]: a at 2024-01-08T08:31:00 is there twice"):
        read_counts(write(tmp_path, counts=[row, row]))
    other = row | {"minute": "2024-01-08T08:31:00+01:00"}
    with pytest.raises(InputError, match="times must all have an offset from UTC, or none of them"):
        read_counts(write(tmp_path, counts=[row, other]))


@pytest.mark.parametrize(
    ("content", "line"),
    [(b"{", "must be JSON, but line 1 is not: .*"), (b"\xff\xfe", "must be JSON in UTF-8")],
)
def test_a_file_that_is_no_json_is_one_line(tmp_path, content, line):
    (tmp_path / "counts.json").write_bytes(content)
    with pytest.raises(InputError, match=f"counts.json: {line}$"):
        read_counts(tmp_path)


# ---- what keys do ------------------------------------------------------------------------------------------


def numbers(walk, time, door="north"):
    row = walk.row(walk.number[at(time, door)])
    return row["entered"], row["left"], row["state"]


def test_each_key_is_on_the_disk_and_undone_one_by_one(folder):
    walk = Walk(folder)
    assert walk.at == 0
    seen = [read_book(folder).counts]
    for do in (
        lambda: walk.change(0, entered=1),
        lambda: walk.change(0, entered=1),
        lambda: walk.change(0, left=1),
        lambda: walk.decide(0, "counted"),
        lambda: walk.decide(1, "skipped"),
        lambda: walk.change(2, entered=1),
        lambda: walk.decide(2, "unsure"),
    ):
        do()
        assert read_book(folder) == walk.book
        seen.append(read_book(folder).counts)
    assert numbers(walk, "08:31") == (2, 1, "counted")
    assert numbers(walk, "08:31", "south") == (0, 0, "skipped")
    assert numbers(walk, "09:02") == (1, 0, "unsure")
    while walk.undo():
        seen.pop()
        assert read_book(folder).counts == seen[-1]
    assert seen == [{}]
    assert walk.at == 0


def test_undo_works_after_a_restart_and_has_an_end(folder, monkeypatch):
    Walk(folder).decide(0, "counted")
    again = Walk(folder)
    assert again.at == 1
    assert again.undo() == [0]
    assert (again.at, numbers(again, "08:31")) == (0, (0, 0, "open"))
    monkeypatch.setattr(counts_module, "STEPS_BACK", 3)
    for _ in range(5):
        again.change(0, entered=1)
    assert [bool(again.undo()) for _ in range(4)] == [True, True, True, False]
    assert numbers(again, "08:31") == (2, 0, "begun")
    assert STEPS_BACK >= 100


def test_numbers_stay_between_nobody_and_the_most(folder):
    walk = Walk(folder)
    assert walk.change(0, left=-1) == []
    assert read_book(folder) == Book()  # nothing changed, nothing is kept
    walk.book.counts[at("08:31")] = Count(*at("08:31"), 999, 0, "begun")
    assert walk.change(0, entered=1) == []


def test_a_decided_minute_is_changed_in_place_and_a_skipped_one_is_open_again(folder):
    walk = Walk(folder)
    walk.decide(0, "unsure")
    walk.decide(1, "skipped")
    walk.change(0, entered=1)
    walk.change(1, left=1)
    assert numbers(walk, "08:31") == (1, 0, "unsure")
    assert numbers(walk, "08:31", "south") == (0, 1, "begun")
    walk.decide(0, "counted", nobody=True)
    assert numbers(walk, "08:31") == (0, 0, "counted")


def order_of(walk):
    walk.book.at = None
    places = [walk.at for _ in walk.minutes if walk.step(1) is not None]
    return [f"{walk.minutes[n].door[0]}{walk.minutes[n].minute:%H}" for n in places]


def test_doors_are_walked_by_time_or_one_at_a_time_day_by_day(tmp_path):
    more = [*MINUTES, ("north", "2024-01-09T07:00"), ("south", "2024-01-09T06:00")]
    walk = Walk(make_folder(tmp_path / "events", more))
    assert order_of(walk) == ["n08", "s08", "n09", "s10", "n11", "s06", "n07"]
    walk.set_order("door")
    assert order_of(Walk(walk.folder)) == ["n08", "n09", "n11", "s08", "s10", "n07", "s06"]


def test_next_is_the_next_open_minute_and_after_the_last_comes_the_end(folder):
    walk = Walk(folder)
    walk.go(3)
    walk.decide(3, "counted")
    walk.decide(4, "counted")
    assert walk.at == 0  # back to those that were left out
    for number in (0, 1, 2):
        walk.decide(number, "counted")
    assert walk.at is None
    assert Walk(folder).at is None
    walk.step(-1)
    assert walk.at == 4
    walk.step(1)
    assert walk.at == 4


def test_review_goes_round_through_doubtful_minutes(folder):
    walk = Walk(folder)
    assert walk.review() == []
    for number, decision in enumerate(("unsure", "counted", "skipped", "counted", "counted")):
        walk.decide(number, decision)
    places = []
    for _ in range(3):
        walk.review()
        places.append(walk.at)
    assert places == [0, 2, 0]


def test_the_pace_is_the_median_without_breaks_and_without_second_looks(folder):
    now = [0.0]
    walk = Walk(folder, clock=lambda: now[0])
    for number, pause in enumerate((9, 4, 1000, 6, 8)):
        now[0] += pause
        walk.decide(number, "counted")
        walk.decide(number, "counted")  # again, at once
    assert walk.book.seconds == [4, 6, 8]  # the first has no beginning, the third was a break
    assert walk.progress()["pace"] == 6


# ---- pictures ----------------------------------------------------------------------------------------------


def pictures(folder):
    return sorted(path.name[9:13] + path.parent.name[0] for path in folder.rglob("*.jpg"))


def test_pictures_go_as_they_are_counted_but_for_the_last_and_the_doubtful(folder):
    walk = Walk(folder)
    walk.decide(0, "counted")
    walk.decide(1, "counted")
    assert len(pictures(folder)) == 5  # off by default
    walk.set_deletes(True)
    assert pictures(folder) == ["0831s", "0902n", "1015s", "1140n"]  # the last one may still be undone
    walk.change(2, entered=1)
    assert "0831s" in pictures(folder)
    walk.decide(2, "unsure")
    walk.decide(3, "counted")
    assert pictures(folder) == ["0902n", "1015s", "1140n"]
    walk.undo()
    assert walk.row(3)["picture"] == "there"
    walk.decide(3, "counted")
    walk.decide(4, "counted")
    assert pictures(folder) == ["0902n"]  # all are done: only the doubtful one is kept
    assert [walk.row(n)["picture"] for n in range(5)] == ["deleted", "deleted", "there", "deleted", "deleted"]
    assert sorted(path.name for path in folder.iterdir()) == ["counts.json", "index.json", "north", "south"]
    assert len(read_counts(folder)) == 5


def test_one_picture_is_deleted_once_its_minute_is_counted(folder):
    walk = Walk(folder)
    walk.delete(0)
    assert walk.row(0)["marked"]
    walk.delete(0)
    assert not walk.row(0)["marked"]
    walk.delete(0)
    walk.decide(0, "counted")
    walk.decide(1, "counted")
    assert "0831n" not in pictures(folder)
    assert "0831s" in pictures(folder)
    walk.delete(1)  # decided: now
    assert "0831s" not in pictures(folder)
    assert walk.delete(1) == []
    walk.undo()
    assert walk.row(1)["picture"] == "deleted"  # numbers come back, pictures do not


def test_a_deletion_that_was_cut_off_is_finished_at_the_next_start(folder):
    book = Book(counts={at("08:31"): Count(*at("08:31"), 1, 0, "counted")}, deleted={at("08:31")})
    write_book(folder, book)  # killed before the file was gone
    Walk(folder)
    assert "0831n" not in pictures(folder)


# ---- folders -----------------------------------------------------------------------------------------------


def test_a_folder_that_is_no_events_folder_is_one_line(tmp_path):
    with pytest.raises(InputError, match=r"no_such: no such folder$"):
        serve_counting(tmp_path / "no_such", port=0, open_browser=False)
    with pytest.raises(InputError, match=r": has no index.json: let 'occupair groundtruth scan' finish"):
        serve_counting(tmp_path, port=0, open_browser=False)
    write_events(Events(tmp_path))
    with pytest.raises(InputError, match="has no minutes to count: the scan saw nobody"):
        serve_counting(tmp_path, port=0, open_browser=False)


def test_a_sheet_that_leads_out_of_the_folder_is_refused(folder, tmp_path):
    (tmp_path / "private.jpg").write_bytes(b"private")
    sheet = folder / "north/20240108T083100.jpg"
    sheet.unlink()
    sheet.symlink_to(tmp_path / "private.jpg")
    with pytest.raises(InputError, match="leads out of the events folder"):
        Walk(folder)


def test_a_missing_sheet_and_a_minute_of_another_scan_are_shown_without_picture(folder):
    (folder / "south/20240108T083100.jpg").unlink()
    write_book(folder, Book(counts={at("23:59"): Count(*at("23:59"), 0, 3, "counted")}))
    walk = Walk(folder)
    assert [row["picture"] for row in walk.state()["minutes"]] == ["there", "missing"] + 3 * ["there"] + [
        "missing"
    ]
    walk.decide(0, "counted")
    assert {count.minute.hour for count in read_counts(folder)} == {8, 23}  # nothing counted is ever dropped


def test_counts_with_offsets_do_not_go_with_events_without(folder):
    minute = dt.datetime.fromisoformat("2024-01-08T08:31:00+01:00")
    write_book(folder, Book(counts={("a", minute): Count("a", minute, 1, 0, "counted")}))
    with pytest.raises(InputError, match="must both have offsets from UTC, or neither"):
        Walk(folder)


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.4", "::", "example.com", ""])
def test_no_other_machine_is_ever_let_in(folder, host):
    line = r"--host must be an address of this machine alone .*: pictures of people do not leave it, got "
    with pytest.raises(InputError, match=line):
        serve_counting(folder, host, 0, False)


def test_an_address_that_is_taken_is_one_line(folder):
    import socket

    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(InputError, match=rf"cannot listen on 127.0.0.1:{port}: .*: give another --port"):
            serve_counting(folder, "127.0.0.1", port, False)


# ---- who is let in -----------------------------------------------------------------------------------------


@pytest.fixture
def client(folder):
    return Client(make_counting_app(folder))


def press(client, do, **more):
    revision = client("GET", "/api/counting").json()["revision"]
    return client("POST", "/api/keys", json={"revision": revision, "do": do, **more})


def test_the_page_and_its_files_are_given_with_the_services_headers(client):
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
def test_names_that_lead_here_by_a_trick_are_refused(client, host):
    for path in ("/", "/api/counting", PICTURE.format("north")):
        answer = client("GET", path, headers={"Host": host})
        assert (answer.status_code, "Host must be" in answer.text) == (403, True), path


@pytest.mark.parametrize("headers", [{"Origin": "http://example.com"}, {"Sec-Fetch-Site": "cross-site"}])
def test_pages_of_other_sites_cannot_count(client, folder, headers):
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
        ({"do": "counted"}, "number must be that of a minute, got -1"),
        ({"do": "counted", "number": 5}, "number must be that of a minute, got 5"),
        ({"do": "change", "number": 0, "entered": 50}, "entered must be at most 1, got 50"),
        ({"do": "change", "number": "0"}, "number must be an integer, got '0'"),
    ],
)
def test_a_key_that_breaks_a_rule_changes_nothing(client, folder, sent, line):
    answer = press(client, **sent)
    assert answer.status_code == 422
    assert answer.json()["detail"].startswith(line)
    assert not (folder / "counts.json").exists()


def test_a_window_that_is_behind_is_told_so(client):
    old = client("GET", "/api/counting").json()["revision"]
    assert press(client, "counted", number=0).json()["at"] == 1
    answer = client("POST", "/api/keys", json={"revision": old, "do": "counted", "number": 1})
    assert (answer.status_code, "another window" in answer.text) == (409, True)
    assert client("GET", "/api/counting").json()["minutes"][1]["state"] == "open"


def test_a_disk_that_is_full_is_said_and_nothing_is_pretended(client, folder, monkeypatch):
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


def test_a_picture_that_is_deleted_cannot_be_had(client, folder):
    press(client, "counted", number=0)
    answer = press(client, "delete", number=0)
    assert answer.json()["changed"][0]["picture"] == "deleted"
    assert client("GET", PICTURE.format("north")).status_code == 404


def test_png_sheets_are_shown_and_other_files_are_not(tmp_path):
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


def test_two_programs_cannot_count_one_folder(folder):
    with served(folder), pytest.raises(InputError, match="is being counted already, by another program"):
        serve_counting(folder, port=0, open_browser=False)


def test_ctrl_c_ends_it_quietly(folder):
    with served(folder) as (process, url):
        assert url.startswith("http://127.0.0.1:")
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=90) == ("", "")
        assert process.returncode == 0


def test_what_was_answered_survives_kill_9_at_any_moment(folder):
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
    Walk(folder)
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
    walk = Walk(folder)
    assert walk.at == 9_000
    encoded = counts_module._line.cache_info().misses
    for _ in range(10):
        walk.change(walk.at, entered=1)
    assert counts_module._line.cache_info().misses <= encoded + 10  # only the changed count is encoded again
