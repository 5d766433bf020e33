"""Readings and estimates in the store, in SQLite and in a real PostgreSQL."""

import datetime as dt
import random
from dataclasses import replace

import numpy as np
from live.store_helpers import EIGHT, at, estimate, reading

from occupair.live.messages import Quality, Reading, to_microseconds

# ---- readings ----


def test_new_store_is_empty(store):
    assert store.ping()
    assert store.readings("lab", None, None) == []
    assert store.newest_reading("lab") is None
    assert store.newest_readings() == {}
    assert store.estimates("lab", None, None, limit=10) == []
    assert store.labels("lab") == []
    assert not store.remove_label("lab", EIGHT)
    assert store.models("lab") == []
    assert store.active_model("lab") is None
    assert store.model("lab", 1) is None
    assert store.prune(at(1e6)) == 0
    store.forget("lab")
    store.write([], [])


def test_readings_round_trip(store):
    odd = EIGHT + dt.timedelta(microseconds=1)
    sent = [
        reading(minute=-1e8, co2=0.0),
        reading(co2=1 / 3, ventilation=0.1, source="http"),
        Reading("lab", odd, -5.0, None, "demo", odd),
        reading(minute=1, ventilation=1.0),
        reading(minute=2, co2=1e300),
        reading(minute=3, co2=float("inf")),
    ]
    store.write(sent, [])
    assert store.readings("lab", None, None) == sent
    assert store.readings("Lab", None, None) == []


def test_any_room_name_is_stored(store):
    names = ["lab", "Lab", "büro 3 ½", "会议室", "'; DROP TABLE readings; --", "a\nb", "😀", ""]
    store.write([reading(room, co2=float(k)) for k, room in enumerate(names)], [])
    assert {room: store.readings(room, None, None)[0].co2 for room in names} == {
        room: float(k) for k, room in enumerate(names)
    }
    assert list(store.newest_readings()) == sorted(names)  # by code point, in both databases


def test_times_in_other_zones_are_converted_to_utc(store):
    zone = dt.timezone(dt.timedelta(hours=5, minutes=30))
    store.write([replace(reading(co2=500.0), time=EIGHT.astimezone(zone))], [])
    (stored,) = store.readings("lab", EIGHT.astimezone(zone), None)
    assert stored.time == EIGHT
    assert stored.time.utcoffset() == dt.timedelta(0)


def test_nan_is_stored_as_unknown(store):
    nan = float("nan")
    store.write([reading(co2=nan, ventilation=0.5)], [estimate(people=nan, co2=nan, co2_smoothed=nan)])
    assert store.readings("lab", None, None) == [reading(ventilation=0.5)]
    (stored,) = store.estimates("lab", None, None, limit=1)
    assert stored.people is None
    assert np.isnan([stored.co2, stored.co2_smoothed]).all()
    store.write([reading(co2=600.0)], [])
    assert store.newest_reading("lab").co2 == 600.0


def test_numpy_numbers_are_stored(store):
    store.write([reading(co2=np.float64(600.25))], [estimate(people=np.float32(0.5), low=np.int64(0))])
    assert store.newest_reading("lab").co2 == 600.25
    assert store.estimates("lab", None, None, limit=1)[0].people == 0.5


def test_second_reading_fills_in_unknown_values_only(store):
    store.write([reading(co2=600.0, source="mqtt", received=1)], [])
    store.write([reading(co2=900.0, ventilation=0.5, source="http", received=2)], [])
    store.write([reading(co2=901.0, ventilation=0.9, source="http", received=3)], [])
    store.write([reading()], [])
    assert store.readings("lab", None, None) == [
        reading(co2=600.0, ventilation=0.5, source="mqtt", received=1)
    ]


def test_merging_readings_does_not_depend_on_batches(store):
    draw = random.Random(3)
    sent = [
        reading(
            room=draw.choice("ab"),
            minute=draw.randrange(6),
            co2=draw.choice([None, float(k)]),
            ventilation=draw.choice([None, k / 100]),
            source=f"s{k}",
        )
        for k in range(60)
    ]
    expected: dict = {}
    for one in sent:  # reference implementation of the rule
        first = expected.setdefault((one.room, one.time), one)
        co2 = one.co2 if first.co2 is None else first.co2
        ventilation = one.ventilation if first.ventilation is None else first.ventilation
        expected[one.room, one.time] = replace(first, co2=co2, ventilation=ventilation)
    while sent:
        size = draw.randrange(1, 20)
        store.write(sent[:size], [])
        sent = sent[size:]
    stored = store.readings("a", None, None) + store.readings("b", None, None)
    assert stored == [expected[key] for key in sorted(expected)]


def test_since_is_inclusive_and_until_exclusive(store):
    store.write(
        [reading(minute=k, co2=500.0 + k) for k in range(5)] + [reading("other", 2, co2=1.0)],
        [estimate(minute=k) for k in range(5)],
    )
    assert [r.co2 for r in store.readings("lab", at(1), at(3))] == [501.0, 502.0]
    assert [r.co2 for r in store.readings("lab", at(3), None)] == [503.0, 504.0]
    assert [r.co2 for r in store.readings("lab", None, at(1))] == [500.0]
    assert store.readings("lab", at(3), at(3)) == []
    assert [e.time for e in store.estimates("lab", at(1), at(3), limit=9)] == [at(1), at(2)]


def test_newest_readings_of_all_rooms(store):
    store.write(
        [reading(f"room {k}", minute=m, co2=k * 10.0 + m) for k in range(30) for m in range(k % 4 + 1)],
        [],
    )
    newest = store.newest_readings()
    assert {room: one.co2 for room, one in newest.items()} == {
        f"room {k}": k * 10.0 + k % 4 for k in range(30)
    }
    assert all(store.newest_reading(room) == one for room, one in newest.items())


# ---- estimates ----


def test_new_estimates_replace_old_ones(store):
    first = [
        estimate(people=None, low=None, high=None, quality=Quality.STALE),
        estimate(minute=1, people=4.25, ventilation=0.5, people_refined=(4.0,)),
    ]
    store.write([], first)
    assert store.estimates("lab", None, None, limit=10) == first
    second = estimate(minute=1, people=None, low=None, quality=Quality.SUSPECT)
    store.write([], [estimate(minute=1, people=9.0), second])
    assert store.estimates("lab", None, None, limit=10) == [first[0], second]


def test_pages_cover_all_estimates(store):
    store.write([], [estimate(minute=k, people=float(k)) for k in range(23)] + [estimate("other", 3)])
    seen, after = [], None
    while page := store.estimates("lab", at(2), at(22), limit=7, after=after):
        assert len(page) <= 7
        seen, after = seen + page, page[-1].time
    assert [one.people for one in seen] == [float(k) for k in range(2, 22)]
    assert store.estimates("lab", at(2), at(22), limit=7, after=at(-5))[0].people == 2.0


def test_mean_co2_of_each_quarter_of_an_hour(store):
    store.write(
        [],
        [
            estimate(minute=0, co2=400.0),
            estimate(minute=10, co2=410.0),
            estimate(minute=14, co2=9000.0, quality=Quality.SUSPECT),
            estimate(minute=15, co2=430.0),
            estimate(minute=20, co2=float("nan")),
            estimate(minute=60, co2=450.0),
            estimate("other", 0, co2=700.0),
        ],
    )
    zero, fifteen = (at(minute) for minute in (0, 15))
    assert zero.minute % 15 == 0
    means = store.co2_means({"lab": (at(0), at(60)), "attic": (at(0), None)})["lab"]
    assert means == [(to_microseconds(zero), 405.0), (to_microseconds(fifteen), 430.0)]
    assert store.co2_means({"attic": (at(0), at(60))}) == {"attic": []}
    assert store.co2_means({}) == {}
