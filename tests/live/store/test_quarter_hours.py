"""Sums by quarter of an hour in both databases equal those of a loop over the estimates."""

import datetime as dt
import random

import pytest
from live.fake_pipeline import FakeStore
from live.store_helpers import EIGHT, at, estimate

from occupair.live.messages import Quality
from occupair.live.store import quarter_hours


def sample(room, seed):
    """Return estimates every 2 min with gaps, unknown ones, and ones without refinement or interval."""
    draw = random.Random(seed)
    found = []
    for k in range(0, 240, 2):
        people = None if 60 <= k < 80 else draw.choice([0.0, 0.25, 0.5, 1.75, 12.5])
        known = people is not None
        values = {
            "low": 0.5 if known and k % 3 else None,
            "high": 14.25 if known and k % 3 else None,
            "people_refined": (people * 2 if known and k < 200 else None,),
            "quality": Quality.OK if known else Quality.SUSPECT,
        }
        if k % 46:
            found.append(estimate(room, k, people=people, **values))
    return found


def test_sums_equal_those_of_a_loop(store, monkeypatch):
    monkeypatch.setattr(quarter_hours, "ROOMS_AT_ONCE", 2)
    expected = FakeStore()
    for seed, room in enumerate(["lab", "büro", "Attic", "zoo"]):
        expected.kept[room] = sample(room, seed)
        store.write([], expected.kept[room])
    for since, until in ((at(0), at(240)), (at(15), at(60)), (at(-900), at(5))):
        for rooms in (["lab", "büro", "Attic"], ["lab"], ["nobody"], []):
            found = store.quarter_hours(rooms, since, until)
            assert [one[:7] for one in found] == [
                one[:7] for one in expected.quarter_hours(rooms, since, until)
            ]
            for one, other in zip(found, expected.quarter_hours(rooms, since, until), strict=True):
                assert one[7:] == pytest.approx(other[7:])


def test_number_is_that_of_utc(store):
    store.write([], [estimate(minute=0), estimate(minute=14), estimate(minute=15)])
    (first, second) = store.quarter_hours(["lab"], EIGHT, EIGHT + dt.timedelta(hours=1))
    assert (first.number, first.n, second.n) == (int(EIGHT.timestamp()) // 900, 2, 1)
    assert second.number == first.number + 1
