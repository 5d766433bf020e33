"""What is older than it need be kept is dropped, and nothing else."""

from live.store_parts import at, in_threads, thought, told
from sqlalchemy import event

from occupair.live.messages import Label
from occupair.live.store import store as store_module


def test_pruning_removes_what_is_older_and_nothing_else(store, monkeypatch):
    monkeypatch.setattr(store_module, "PRUNED_AT_ONCE", 7)
    monkeypatch.setattr(store_module, "PAUSE", 0.0)
    rooms = ["a", "b", "c"]
    store.write(
        [told(room, k, co2=1.0) for room in rooms for k in range(20)] + [told("new", 30)],
        [thought(room, k) for room in rooms for k in range(20)],
    )
    store.add_label(Label("a", at(0), 3, at(0)))
    ended = []
    event.listen(store.engine, "commit", ended.append)
    assert store.prune(at(12)) == 2 * 3 * 12
    assert len(ended) == 2 * 6  # 36 rows of each table, 7 at a time
    assert all(
        [r.time for r in store.readings(room, None, None)] == [at(k) for k in range(12, 20)] for room in rooms
    )
    assert len(store.estimates("b", None, None, limit=99)) == 8
    assert store.newest_reading("new") is not None
    assert len(store.labels("a")) == 1
    assert store.prune(at(12)) == 0


def test_pruning_and_writing_at_once(store, monkeypatch):
    monkeypatch.setattr(store_module, "PRUNED_AT_ONCE", 20)
    monkeypatch.setattr(store_module, "PAUSE", 0.01)
    store.write([told(f"room {n}", k, co2=1.0) for n in range(10) for k in range(60)], [])

    def write():
        for k in range(60, 90):
            store.write(
                [told(f"room {n}", k, co2=1.0) for n in range(10)],
                [thought(f"room {n}", k) for n in range(10)],
            )

    removed = []
    in_threads([write, lambda: removed.append(store.prune(at(50)))])
    assert removed == [500]
    assert all(len(store.readings(f"room {n}", None, None)) == 40 for n in range(10))
