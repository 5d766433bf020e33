"""The start that rooms of a portfolio share: sums of parts, groups, and rooms that are left out."""

import functools
import json
import random
from collections import Counter

import numpy as np
import pytest
from fleet.portfolio import plant_faults, room_readings

from occupair.fleet import portfolio_start as module
from occupair.fleet.portfolio_start import (
    FEWEST_ROOMS,
    FILE,
    GROUPS,
    digest_of,
    group_of,
    portfolio_start,
    read_start,
    sum_rooms,
)
from occupair.fleet.read_room import UnavailableError
from occupair.fleet.room_sources import Part, RoomSource, find_rooms
from occupair.fleet.storage import Storage
from occupair.fleet.task_report import TaskReport
from occupair.readings.files import read_labelled, write_readings
from occupair.room.pooling import PoolSums, pool, start_of, sum_room

WEEK = 7  # days: five of them with people
N_ROOMS = 24


@functools.cache
def sums_of(seed):
    return sum_room(read_labelled(room_readings(seed, WEEK)))


def sources_of(n_rooms):
    return [RoomSource(f"room-{number:02d}", ()) for number in range(n_rooms)]


class Workers:
    """Runs batches at once: room ``room-03`` has the sums of the simulated room 3 modulo 4."""

    def __init__(self, seeds=None, shuffle=0, divided=(), lost=(), intervals=None):
        self.seeds, self.intervals = seeds or {}, intervals or {}
        self.shuffle, self.divided, self.lost = shuffle, divided, lost
        self.asked = Counter()

    def __call__(self, batches):
        batches = [
            part
            for batch in batches
            for part in (
                [(one,) for one in batch] if {s.room for s in batch} & set(self.divided) else [batch]
            )
        ]
        random.Random(self.shuffle).shuffle(batches)
        for batch in batches:
            self.asked.update(source.room for source in batch)
            is_lost = any(source.room in self.lost for source in batch)
            yield batch, None if is_lost else TaskReport((self.sums(batch),), 0, "here", 1.0)

    def sums(self, batch):
        total = {}
        for source in batch:
            seed = self.seeds.get(source.room, int(source.room[-2:]) % 4)
            key = (self.intervals.get(source.room, 15.0), group_of(source.room))
            one = PoolSums.of(source.room, sums_of(seed))
            total[key] = total[key] + one if key in total else one
        return total


@functools.cache
def usual_start():
    return portfolio_start(sources_of(N_ROOMS), Workers())


def assert_close(one, other):
    assert one.read_outs.keys() == other.read_outs.keys()
    for lag, values in one.read_outs.items():
        np.testing.assert_allclose(values, other.read_outs[lag], rtol=0, atol=1e-9)
    assert one.shapes.keys() == other.shapes.keys()


def test_sums_of_parts_are_those_of_the_whole():
    whole = pool({str(seed): sums_of(seed) for seed in range(4)})
    parts = [PoolSums.of(str(seed), sums_of(seed)) for seed in range(4)]
    assert_close(start_of((parts[0] + parts[1]) + (parts[2] + parts[3])), whole)
    assert_close(start_of(parts[3] + ((parts[1] + parts[0]) + parts[2])), whole)


def test_every_group_has_the_start_of_the_others(tmp_path):
    Storage(str(tmp_path)).write(FILE, usual_start())
    sources = sources_of(N_ROOMS)
    assert {group_of(one.room) for one in sources} == set(range(GROUPS))
    for room in ("room-00", "room-07"):
        others = {
            one.room: sums_of(int(one.room[-2:]) % 4)
            for one in sources
            if group_of(one.room) != group_of(room)
        }
        found = read_start(Storage(str(tmp_path)), digest_of(usual_start()), room, 15.0)
        expected = pool(others)
        for lag, values in expected.read_outs.items():
            np.testing.assert_allclose(found.read_outs[lag], values, rtol=1e-5, atol=1e-5)  # six digits


@pytest.mark.parametrize("shuffle", [1, 2, 3])
def test_start_does_not_depend_on_the_order_of_completion(shuffle):
    sources = sources_of(N_ROOMS)
    random.Random(shuffle).shuffle(sources)
    assert portfolio_start(sources, Workers(shuffle=shuffle)) == usual_start()


def test_sums_of_a_divided_batch_are_the_same_to_the_last_bit():
    """Six digits of the file could hide a difference, so the sums are compared."""
    batches = module._batches(sources_of(N_ROOMS))
    whole = dict(module._sums_by_batch(batches, Workers()))
    divided = dict(module._sums_by_batch(batches, Workers(divided=[batches[0][0].room], shuffle=5)))
    assert whole.keys() == divided.keys()
    for key, sums in whole.items():
        assert sums.rooms == divided[key].rooms
        for lag, one in sums.by_lag.items():
            assert np.array_equal(one.gram, divided[key].by_lag[lag].gram)
            assert np.array_equal(one.moment, divided[key].by_lag[lag].moment)


def test_batches_are_of_one_group():
    batches = module._batches(sources_of(200))
    assert all(len({group_of(one.room) for one in batch}) == 1 for batch in batches)
    assert max(map(len, batches)) <= module.ROOMS_PER_TASK
    assert Counter(one.room for batch in batches for one in batch) == Counter(
        one.room for one in sources_of(200)
    )


def test_data_of_a_room_do_not_reach_its_own_group():
    changed = portfolio_start(sources_of(N_ROOMS), Workers(seeds={"room-05": 2}))
    before, after = (json.loads(one)["starts"]["15"] for one in (usual_start(), changed))
    own = group_of("room-05")
    assert before[own] == after[own]
    assert all(before[group] != after[group] for group in range(GROUPS) if group != own)


def test_room_whose_workers_are_lost_is_left_out():
    found = portfolio_start(sources_of(N_ROOMS), Workers(divided=["room-05"], lost=["room-05"]))
    without = portfolio_start([one for one in sources_of(N_ROOMS) if one.room != "room-05"], Workers())
    assert json.loads(found)["rooms"] == N_ROOMS - 1
    for one, other in zip(*(json.loads(text)["starts"]["15"] for text in (found, without)), strict=True):
        values = zip(one["read_outs"].values(), other["read_outs"].values(), strict=True)
        assert all(np.allclose(a, b, rtol=1e-5, atol=1e-5) for a, b in values)


def test_too_few_rooms_have_no_start():
    assert portfolio_start(sources_of(FEWEST_ROOMS - 1), Workers()) is None
    assert portfolio_start(sources_of(FEWEST_ROOMS), Workers()) is not None
    assert portfolio_start([], Workers()) is None


def test_rooms_of_one_group_have_no_start():
    names = (f"room-{number:04d}" for number in range(1000))
    same = [RoomSource(name, ()) for name in names if group_of(name) == 0][:FEWEST_ROOMS]
    assert portfolio_start(same, Workers()) is None


def test_other_intervals_have_a_start_of_their_own(tmp_path):
    sources = sources_of(2 * FEWEST_ROOMS + 2)
    slow = {one.room: 30.0 for one in sources[:FEWEST_ROOMS]}
    rare = {one.room: 60.0 for one in sources[FEWEST_ROOMS : FEWEST_ROOMS + 2]}
    content = portfolio_start(sources, Workers(intervals=slow | rare))
    assert sorted(json.loads(content)["starts"]) == ["15", "30"]
    Storage(str(tmp_path)).write(FILE, content)
    for interval, has_start in ((15.0, True), (30.0, True), (60.0, False), (5.0, False)):
        found = read_start(Storage(str(tmp_path)), digest_of(content), "room-00", interval)
        assert (found is not None) == has_start


def test_enough_rooms_are_not_exceeded(monkeypatch):
    monkeypatch.setattr(module, "ROOMS_AT_ONCE", 25)
    monkeypatch.setattr(module, "MOST_ROOMS", 40)
    workers = Workers()
    content = portfolio_start(sources_of(90), workers)
    assert json.loads(content)["rooms"] == len(workers.asked) == 50
    assert portfolio_start(sources_of(90)[::-1], Workers()) == content


def test_start_that_was_replaced_is_unavailable(tmp_path):
    Storage(str(tmp_path)).write(FILE, usual_start())
    with pytest.raises(UnavailableError, match=r"^start\.json has changed during the run$"):
        read_start(Storage(str(tmp_path)), "another digest", "room-00", 15.0)


def test_rooms_with_faults_or_few_head_counts_are_left_out(tmp_path):
    plant_faults(tmp_path)
    write_readings(room_readings(0, WEEK), tmp_path / "good.csv")
    write_readings(room_readings(1, 4), tmp_path / "short.csv")
    counted = room_readings(2, WEEK)
    gaps = np.arange(len(counted)) % 96 < 90
    write_readings(counted.assign(occupancy=counted["occupancy"].where(gaps)), tmp_path / "partly.csv")
    write_readings(room_readings(3, WEEK).iloc[::2], tmp_path / "slow.csv")
    sources = (*find_rooms(str(tmp_path)), RoomSource("gone", (Part(str(tmp_path / "gone.csv")),)))
    report = sum_rooms(sources)
    (found,) = report.results
    assert {key: sums.rooms for key, sums in found.items()} == {
        (15.0, group_of("good")): ("good",),
        (30.0, group_of("slow")): ("slow",),
    }
    sums, expected = found[15.0, group_of("good")], sums_of(0)
    for lag, one in expected.by_lag.items():
        np.testing.assert_allclose(sums.by_lag[lag].gram, one.gram, rtol=1e-9, atol=1e-12)


def test_room_with_an_unexpected_error_is_left_out(tmp_path, monkeypatch):
    for seed, room in enumerate(("bad", "good")):
        write_readings(room_readings(seed, WEEK), tmp_path / f"{room}.csv")

    def sum_or_fail(readings):
        if readings["co2"].iloc[0] == room_readings(0, WEEK)["co2"].iloc[0]:
            raise np.linalg.LinAlgError("singular matrix")
        return sums_of(1)

    monkeypatch.setattr(module, "sum_room", sum_or_fail)
    (found,) = sum_rooms(tuple(find_rooms(str(tmp_path)))).results
    assert [sums.rooms for sums in found.values()] == [("good",)]
