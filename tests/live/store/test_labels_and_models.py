"""Labels, models and time zones in the store."""

import datetime as dt
import hashlib
from dataclasses import replace

import pytest
from live.store_helpers import at, estimate, reading

from occupair.errors import InputError
from occupair.live.messages import Label
from occupair.live.store import DamagedModel, model_store, schema


def test_labels_are_added_replaced_and_removed(store):
    first, second = Label("lab", at(0), 3, at(1), "typed", 2), Label("lab", at(9), 0, at(9), "confirmed", 0)
    store.add_label(second)
    store.add_label(first)
    store.add_label(Label("other", at(0), 7, at(1)))
    assert store.labels("lab") == [first, second]
    store.add_label(replace(first, people=4, entered=at(20)))
    assert store.labels("lab") == [replace(first, people=4, entered=at(20)), second]
    assert store.remove_label("lab", at(0))
    assert not store.remove_label("lab", at(0))
    assert store.labels("lab") == [second]
    assert len(store.labels("other")) == 1


def test_unrecognised_source_of_a_label_is_unknown(store):
    store.add_label(Label("lab", at(0), 3, at(1), "from a modified backup"))
    assert store.labels("lab") == [Label("lab", at(0), 3, at(1), "unknown")]


def test_models_are_added_and_activated(store):
    data = bytes(range(256)) * 500
    before = dt.datetime.now(dt.UTC)
    first = store.add_model("lab", data, origin="file", note="from lab.npz")
    second = store.add_model("lab", b"", origin="trained")
    other = store.add_model("other", b"x", origin="upload")
    assert first < second < other
    assert store.active_model("lab") is None
    one, two = store.models("lab")
    assert (one.id, one.room, one.origin, one.note, one.active) == (
        first,
        "lab",
        "file",
        "from lab.npz",
        False,
    )
    assert (one.sha256, one.size) == (hashlib.sha256(data).hexdigest(), 128_000)
    assert before <= one.created <= dt.datetime.now(dt.UTC)
    assert (two.id, two.size) == (second, 0)
    assert store.model("lab", first) == data
    assert store.model("other", first) is None
    assert store.model("lab", 10**30) is None

    store.activate("lab", first)
    store.activate("other", other)
    assert store.active_model("lab") == (first, data)
    store.activate("lab", second)
    assert store.active_model("lab") == (second, b"")
    assert [model.active for model in store.models("lab")] == [False, True]
    for wrong in (other, 999, 0, -1, 10**30):
        with pytest.raises(InputError, match=f"room 'lab' has no model {wrong}"):
            store.activate("lab", wrong)
    assert store.active_model("lab") == (second, b"")
    store.activate("lab", None)
    assert store.active_model("lab") is None
    assert store.active_model("other") == (other, b"x")


def test_model_is_added_and_activated_in_one_transaction(store, monkeypatch):
    first = store.add_model("lab", b"1", origin="file", activate=True)
    assert store.active_model("lab") == (first, b"1")
    second = store.add_model("lab", b"2", origin="file", activate=True)
    assert [(one.id, one.active) for one in store.models("lab")] == [(first, False), (second, True)]

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(model_store, "activate_model", interrupt)
    with pytest.raises(KeyboardInterrupt):
        store.add_model("lab", b"3", origin="file", activate=True)
    assert [(one.id, one.active) for one in store.models("lab")] == [(first, False), (second, True)]


def test_damaged_model_is_reported(store):
    version = store.add_model("lab", b"good", origin="file")
    store.activate("lab", version)
    with store.engine.begin() as connection:
        connection.execute(schema.models.update().values(data=b"evil"))
    for load in (lambda: store.active_model("lab"), lambda: store.model("lab", version)):
        with pytest.raises(DamagedModel, match=f"model {version} of room 'lab' is damaged: its checksum"):
            load()


def test_forget_activates_the_newest_model_file(store):
    from_files = [store.add_model("lab", data, origin="file") for data in (b"1", b"2")]
    for origin in ("upload", "trained"):
        store.activate("lab", store.add_model("lab", b"3", origin=origin))
    other = store.add_model("other", b"4", origin="trained")
    store.activate("other", other)
    for room in ("lab", "other"):
        store.add_label(Label(room, at(0), 3, at(1)))
    store.write([reading(co2=500.0)], [estimate()])
    store.forget("lab")
    assert [(model.id, model.active) for model in store.models("lab")] == [
        (from_files[0], False),
        (from_files[1], True),
    ]
    assert store.labels("lab") == []
    assert len(store.readings("lab", None, None)) == len(store.estimates("lab", None, None, limit=9)) == 1
    assert store.active_model("other") == (other, b"4")
    assert len(store.labels("other")) == 1
    store.forget("other")
    assert store.active_model("other") is None
    assert store.models("other") == []
    assert store.add_model("other", b"5", origin="trained") > other  # versions are not reused


def test_activating_a_model_deletes_the_newest_estimate(store):
    def times():
        return [one.time for one in store.estimates("lab", None, None, limit=9)]

    store.write(
        [reading(co2=500.0)],
        [estimate(minute=k, people=1.0) for k in range(6)] + [estimate("hall", 5)],
    )
    store.add_model("lab", b"one", origin="upload")
    assert times() == [at(k) for k in range(6)]
    store.add_model("lab", b"two", origin="file", activate=True)
    assert times() == [at(k) for k in range(5)]  # the missing one tells that today is to be estimated again
    store.add_model("attic", b"one", origin="file", activate=True)
    store.write([], [estimate(minute=2, people=2.0)], cleared={"lab": at(1)})
    stored = store.estimates("lab", None, None, limit=9)
    assert [(one.time, one.people) for one in stored] == [(at(0), 1.0), (at(2), 2.0)]
    assert len(store.estimates("hall", None, None, limit=9)) == 1
    assert len(store.readings("lab", None, None)) == 1


def test_time_zones_are_stored(store):
    assert store.zones() == {}
    store.set_zones({})
    store.set_zones({"lab": "Europe/Berlin", "hall": "UTC"})
    store.set_zones({"lab": "Asia/Tokyo"})
    assert store.zones() == {"lab": "Asia/Tokyo", "hall": "UTC"}
