"""Deletion of old readings and estimates."""

from live.store_helpers import at, estimate, in_threads, reading
from sqlalchemy import event

from occupair.live.messages import Label
from occupair.live.store import pruning


def test_pruning_deletes_only_old_readings_and_estimates(store, monkeypatch):
    monkeypatch.setattr(pruning, "ROWS_AT_ONCE", 7)
    monkeypatch.setattr(pruning, "PAUSE", 0.0)
    rooms = ["a", "b", "c"]
    store.write(
        [reading(room, k, co2=1.0) for room in rooms for k in range(20)] + [reading("new", 30)],
        [estimate(room, k) for room in rooms for k in range(20)],
    )
    store.add_label(Label("a", at(0), 3, at(0)))
    commits = []
    event.listen(store.engine, "commit", commits.append)
    assert store.prune(at(12)) == 2 * 3 * 12
    assert len(commits) == 2 * 6  # 36 rows of each table, 7 at a time
    assert all(
        [r.time for r in store.readings(room, None, None)] == [at(k) for k in range(12, 20)] for room in rooms
    )
    assert len(store.estimates("b", None, None, limit=99)) == 8
    assert store.newest_reading("new") is not None
    assert len(store.labels("a")) == 1
    assert store.prune(at(12)) == 0


def test_pruning_while_writing(store, monkeypatch):
    monkeypatch.setattr(pruning, "ROWS_AT_ONCE", 20)
    monkeypatch.setattr(pruning, "PAUSE", 0.01)
    store.write([reading(f"room {n}", k, co2=1.0) for n in range(10) for k in range(60)], [])

    def write():
        for k in range(60, 90):
            store.write(
                [reading(f"room {n}", k, co2=1.0) for n in range(10)],
                [estimate(f"room {n}", k) for n in range(10)],
            )

    deleted = []
    in_threads([write, lambda: deleted.append(store.prune(at(50)))])
    assert deleted == [500]
    assert all(len(store.readings(f"room {n}", None, None)) == 40 for n in range(10))


DAY = 1440  # [min]


def readings_on(room, days):
    return [reading(room, DAY * day + minute, co2=1.0) for day in days for minute in (0, 60, 120)]


def days_of(store, room):
    return sorted({(one.time - at(0)).days for one in store.readings(room, None, None)})


def test_newest_days_with_readings_are_kept_in_each_room(store):
    estimates = [estimate("recent", DAY * day) for day in range(6)]
    store.write(readings_on("recent", range(6)), estimates)
    store.write(readings_on("gaps", [-900, -500, -499, -1]) + readings_on("short", [-2000, 3]), [])
    assert store.prune_to_newest_days(2) == 3 * 3 + 3 + 3
    assert days_of(store, "recent") == [3, 4, 5]
    assert [(one.time - at(0)).days for one in store.estimates("recent", None, None, limit=9)] == [3, 4, 5]
    assert days_of(store, "gaps") == [-500, -499, -1]
    assert days_of(store, "short") == [-2000, 3]
    assert store.prune_to_newest_days(2) == 0


def test_reading_in_the_far_future_makes_no_other_old(store):
    store.write([*readings_on("lab", range(3)), reading("lab", 75 * 365 * DAY, co2=1.0)], [])
    assert store.prune_to_newest_days(400) == 0
    assert store.prune_to_newest_days(1) == 6
    assert days_of(store, "lab") == [2, 75 * 365]
