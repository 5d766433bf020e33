"""A counting session: actions, undo, order of minutes, pictures and events folders."""

import datetime as dt

import pytest
from groundtruth.counting_folder import DAY, MINUTES, at, make_folder

from occupair.errors import InputError
from occupair.groundtruth.counting import counts as counts_module
from occupair.groundtruth.counting.counts import STEPS_BACK, Book, Count, read_book, read_counts, write_book
from occupair.groundtruth.counting.session import CountingSession
from occupair.groundtruth.events import Events, read_events, write_events


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
