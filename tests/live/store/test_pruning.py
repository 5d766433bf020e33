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
