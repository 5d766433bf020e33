"""Minutes added by hand: storage, undo, restart, and effect on the occupancy."""

import datetime as dt
import json

import httpx
import pandas as pd
import pytest
from command import occupair
from groundtruth.counting_folder import DAY, draw_sheet, make_folder, served
from live.fake_pipeline import Client

from occupair.errors import InputError
from occupair.groundtruth.counters.read_passages import read_passages
from occupair.groundtruth.counting.counts import read_book, read_counts
from occupair.groundtruth.counting.server import make_counting_app
from occupair.groundtruth.counting.session import CountingSession

MINUTES = [("north", "08:31"), ("south", "10:15"), ("north", "17:02")]


@pytest.fixture
def folder(tmp_path):
    return make_folder(tmp_path / "events", MINUTES)


def places(session):
    return [f"{one.door[0]} {one.minute:%H:%M}" for one in session.minutes]


def here(session):
    return None if session.at is None else places(session)[session.at]


def test_added_minute_is_stored_in_order(folder):
    session = CountingSession(folder)
    before = session.revision
    assert session.add("south", "2024-01-08T08:47") == [1]
    assert places(session) == ["n 08:31", "s 08:47", "s 10:15", "n 17:02"]
    assert here(session) == "s 08:47"
    assert session.revision[:8] != before[:8]  # a page with the old list gets a conflict
    row = session.row(1)
    assert (row["state"], row["picture"], row["score"]) == ("begun", "missing", None)
    assert row["videos"] == [("video.mp4", 47 * 60.0)]  # which begins at 08:00
    assert read_counts(folder) == []
    again = CountingSession(folder)  # after a kill
    assert places(again) == places(session)
    assert here(again) == "s 08:47"
    assert again.digest == session.digest


def test_added_minute_is_counted(folder):
    session = CountingSession(folder)
    session.add("south", "2024-01-08T08:47")
    session.change(1, entered=1)
    session.change(1, entered=1)
    session.decide(1, "counted")
    assert here(session) == "s 10:15"
    (count,) = read_counts(folder)
    assert (count.door, count.minute, count.entered, count.left) == (
        "south",
        DAY.replace(hour=8, minute=47),
        2,
        0,
    )


def test_undo_removes_added_minute(folder):
    session = CountingSession(folder)
    session.decide(0, "counted")
    session.add("north", "2024-01-08T12:00")
    session.change(session.at, left=1)
    session.decide(session.at, "unsure")
    for _ in range(2):
        session.undo()
    assert (here(session), places(session)[2]) == ("n 12:00", "n 12:00")
    assert session.undo() == []
    assert places(session) == ["n 08:31", "s 10:15", "n 17:02"]
    assert here(session) == "n 17:02"  # the next one that is open
    assert places(CountingSession(folder)) == places(session)
    assert {key[1].hour for key in read_book(folder).counts} == {8}
    session.undo()
    assert (here(session), read_book(folder).counts) == ("n 08:31", {})


def test_existing_minute_is_selected(folder):
    session = CountingSession(folder)
    session.add("north", "2024-01-08T17:02")
    session.add("north", "2024-01-08T12:00")
    session.add("north", "2024-01-08T17:02")
    assert here(session) == "n 17:02"
    assert session.add("north", "2024-01-08T12:00") == []
    assert places(session) == ["n 08:31", "s 10:15", "n 12:00", "n 17:02"]
    assert len(session.book.history) == 1


def test_picture_of_an_earlier_scan(folder):
    left = folder / "south/20240108T084700.jpg"
    left.write_bytes(draw_sheet("south 08:47"))
    session = CountingSession(folder)
    session.add("south", "2024-01-08T08:47")
    assert session.row(1)["picture"] == "there"
    session.set_deletes(True)
    session.decide(1, "counted")
    session.decide(2, "counted")
    assert session.row(1)["picture"] == "deleted"
    assert not left.exists()


def test_link_outside_the_folder_is_rejected(folder, tmp_path):
    (tmp_path / "private.jpg").write_bytes(b"private")
    (folder / "south/20240108T084700.jpg").symlink_to(tmp_path / "private.jpg")
    session = CountingSession(folder)
    with pytest.raises(InputError, match="is outside the events folder"):
        session.add("south", "2024-01-08T08:47")


@pytest.mark.parametrize(
    ("door", "minute", "line"),
    [
        ("west", "2024-01-08T08:47", "door must be north or south, got 'west'"),
        ("north", "08:47", "minute must be a local time such as 2024-01-08T08:47, got '08:47'"),
        ("north", "2024-01-08T08:47:30", "minute must be a local time such as .*, got '2024-01-08T08:47:30'"),
        ("north", "2024-01-08T08:47+01:00", "minute must be a local time such as"),
        ("north", "2024-01-09T08:47", "minute must be on a day with video, 2024-01-08, got 2024-01-09"),
    ],
)
def test_invalid_minute_is_rejected(folder, door, minute, line):
    client = Client(make_counting_app(folder))
    revision = client("GET", "/api/counting").json()["revision"]
    sent = {"revision": revision, "do": "add", "door": door, "minute": minute}
    answer = client("POST", "/api/keys", json=sent)
    assert answer.status_code == 422
    with pytest.raises(InputError, match=line):
        raise InputError(answer.json()["detail"])
    assert not (folder / "counts.json").exists()


def test_days_with_video(tmp_path):
    session = CountingSession(make_folder(tmp_path / "events", [*MINUTES, ("north", "2024-01-10T09:00")]))
    assert session.state()["days"] == ["2024-01-08", "2024-01-10"]
    with pytest.raises(InputError, match="one of 2 days from 2024-01-08 to 2024-01-10, got 2024-01-09"):
        session.add("north", "2024-01-09T08:47")


def test_added_minute_gets_the_nearest_utc_offset(tmp_path):
    """On 27 October 2024 the clock of Paris went back at 03:00, from two hours before UTC to one."""
    folder = tmp_path / "events"
    make_folder(folder, [("north", "08:31")])
    index = json.loads((folder / "index.json").read_text())
    sheet = index["minutes"][0]["sheet"]
    times = ["2024-10-27T00:30:00+02:00", "2024-10-27T09:00:00+01:00"]
    index["minutes"] = [{"door": "north", "minute": time, "score": 0.5, "sheet": sheet} for time in times]
    index["doors"] = {}
    (folder / "index.json").write_text(json.dumps(index))
    session = CountingSession(folder)
    session.add("north", "2024-10-27T01:00")
    session.add("north", "2024-10-27T08:00")
    offsets = [one.minute.utcoffset() / dt.timedelta(hours=1) for one in session.minutes]
    assert offsets == [2, 2, 1, 1]


def test_response_has_the_list_only_if_it_changed(folder):
    client = Client(make_counting_app(folder))
    state = client("GET", "/api/counting").json()
    key = {"revision": state["revision"], "do": "add", "door": "south", "minute": "2024-01-08T08:47"}
    answer = client("POST", "/api/keys", json=key).json()
    assert [row["minute"][11:16] for row in answer["minutes"]] == ["08:31", "08:47", "10:15", "17:02"]
    key = {"revision": answer["revision"], "do": "counted", "number": 1}
    answer = client("POST", "/api/keys", json=key).json()
    assert "minutes" not in answer
    assert [row["number"] for row in answer["changed"]] == [1]
    assert client("POST", "/api/keys", json={"revision": state["revision"], "do": "undo"}).status_code == 409


def test_added_minute_survives_kill_9(folder):
    with served(folder) as (process, url), httpx.Client(base_url=url, timeout=90) as client:
        revision = client.get("/api/counting").json()["revision"]
        key = {"revision": revision, "do": "add", "door": "south", "minute": "2024-01-08T08:47"}
        assert client.post("/api/keys", json=key).status_code == 200
        process.kill()
        process.wait()
    session = CountingSession(folder)
    assert here(session) == "s 08:47"
    session.undo()
    assert len(session.minutes) == 3


# ---- to the occupancy --------------------------------------------------------------------------------------


def counted(folder, added):
    """Two enter at 08:31, one leaves at 10:15, three leave at 17:02; two more enter where it is added."""
    session = CountingSession(folder)
    for number, (entered, left) in enumerate([(2, 0), (0, 1), (0, 3)]):
        for _ in range(entered):
            session.change(number, entered=1)
        for _ in range(left):
            session.change(number, left=1)
        session.decide(number, "counted")
    session.add("south", added)
    return session


def test_added_minute_counts_in_the_occupancy(tmp_path, folder):
    session = counted(folder, "2024-01-08T08:47")
    done = occupair("groundtruth", "occupancy", folder, "--out", "a.csv", cwd=tmp_path)
    assert done.returncode == 2
    assert "1 of 4 minutes are not counted yet (first: south, 2024-01-08 08:47)" in done.stderr
    for _ in range(2):
        session.change(session.at, entered=1)
    session.decide(session.at, "counted")
    done = occupair("groundtruth", "occupancy", folder, "--out", "a.csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "negative" not in done.stdout
    people = pd.read_csv(tmp_path / "a.csv", index_col="time", parse_dates=True)["occupancy"]
    times = ("08:30", "08:31", "08:46", "08:47", "10:14", "10:15", "17:01", "17:02")
    assert [people[f"2024-01-08 {time}"] for time in times] == [0, 2, 2, 4, 4, 3, 3, 0]


def test_added_minute_in_a_video_gap_has_weight_zero(folder):
    session = counted(folder, "2024-01-08T12:05")  # north has no video from 12:00 to 12:31, south has
    session.decide(session.at, "counted")
    session.add("north", "2024-01-08T12:10")
    session.change(session.at, entered=1)
    session.decide(session.at, "counted")
    rows = read_passages(folder).loc["2024-01-08 12:10"]
    north = rows if isinstance(rows, pd.Series) else rows[rows["door"] == "north"].iloc[0]
    assert (north["door"], north["entered"], north["weight"]) == ("north", 1, 0.0)
    south = read_passages(folder).query("door == 'south'").loc["2024-01-08 12:05"]
    assert south["weight"] == 1.0
