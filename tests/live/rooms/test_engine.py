"""Batched estimation of rooms, and results that are joined before they are stored."""

import datetime as dt

import pytest

from occupair.live.messages import EngineResult, EstimateRecord, Quality
from occupair.live.rooms.engine import run_batched
from occupair.live_room import Estimate
from occupair.live_rooms import NextReading

NOON = dt.datetime(2024, 1, 8, 12, tzinfo=dt.UTC)


class EchoRoom:
    """Returns CO2 as the estimate."""

    def update(self, time, co2, ventilation, sensors=None):
        return Estimate(time, co2, None, None, "ok")


class EchoRooms:
    """Estimates rooms one by one and records the sizes of the batches; negative CO2 fails."""

    def __init__(self):
        self.batch_sizes = []

    def update(self, due):
        self.batch_sizes.append(len(due))
        return [ValueError("bad") if one.co2 < 0 else one.room.update(*one[1:]) for one in due]


def summing(*values):
    total = 0.0
    for value in values:
        estimate = yield NextReading(EchoRoom(), NOON, value, None)
        total += estimate.people
    return total


def catching(value):
    try:
        yield NextReading(EchoRoom(), NOON, value, None)
    except ValueError:
        return "caught"


def failing():
    yield NextReading(EchoRoom(), NOON, 1.0, None)
    raise KeyError


def test_rooms_are_estimated_in_batches():
    values = {"a": (1.0, 2.0, 3.0), "b": (), "c": (5.0,)}
    rooms = EchoRooms()
    assert run_batched({room: summing(*some) for room, some in values.items()}, rooms) == {
        room: sum(some) for room, some in values.items()
    }
    assert rooms.batch_sizes == [2, 1, 1, 0]


def test_error_in_one_room_does_not_affect_others():
    estimations = {"a": summing(1.0, -1.0, 1.0), "b": failing(), "c": summing(2.0, 2.0), "d": catching(-1.0)}
    results = run_batched(estimations, EchoRooms())
    assert isinstance(results["a"], ValueError)
    assert isinstance(results["b"], KeyError)
    assert (results["c"], results["d"]) == (4.0, "caught")


def test_error_of_a_batch_is_passed_to_all_its_rooms():
    class Broken:
        def update(self, due):
            raise RuntimeError("can't start new thread")

    results = run_batched({"a": summing(1.0), "b": summing(2.0)}, Broken())
    assert [str(error) for error in results.values()] == ["can't start new thread"] * 2


def test_no_rooms():
    assert run_batched({}, EchoRooms()) == {}


def record(room, minute, people=1.0):
    time = NOON + dt.timedelta(minutes=minute)
    return EstimateRecord(room, time, people, None, None, (None,), 500.0, 500.0, None, Quality.OK)


@pytest.mark.parametrize("since", [0, 3, 9])
def test_joined_results_store_the_same_as_separate_ones(since):
    stored = {}

    def store(result):
        """Apply a result as a store does."""
        for room, time in result.cleared.items():
            for key in [key for key in stored if key[0] == room and key[1] >= time]:
                del stored[key]
        stored.update({(one.room, one.time): one for one in result.estimate_records})

    def results():
        first, again, last = EngineResult(), EngineResult(), EngineResult()
        first.add_estimates("a", [record("a", k) for k in range(6)])
        first.add_estimates("b", [record("b", k) for k in range(6)])
        first.activated = {"a": 1}
        again.clear_from("a", NOON + dt.timedelta(minutes=since))
        again.add_estimates("a", [record("a", k, 2.0) for k in range(since, 6, 2)])
        again.activated = {"a": 2}
        last.add_estimates("a", [record("a", 7, 3.0)])
        return first, again, last

    for one in results():
        store(one)
    separate, joined = dict(stored), EngineResult()
    stored.clear()
    for one in results():
        joined.append(one)
    store(joined)
    assert stored == separate
    assert joined.activated == {"a": 2}
    assert len(joined) == len(joined.estimate_records) + 2
