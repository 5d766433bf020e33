"""Rooms side by side."""

import datetime as dt

import pytest

from occupair.live.messages import Estimated, Quality, Step
from occupair.live.rooms.batching import alone, side_by_side
from occupair.live_room import Estimate
from occupair.live_rooms import Due

NOON = dt.datetime(2024, 1, 8, 12, tzinfo=dt.UTC)


class Room:
    """Says what it is given."""

    def update(self, time, co2, ventilation):
        return Estimate(time, co2, None, None, "ok")


class Together:
    """Says the same, and notes how many were asked at a time."""

    def __init__(self):
        self.asked = []

    def update(self, due):
        self.asked.append(len(due))
        return [ValueError("bad") if one.co2 < 0 else one.room.update(*one[1:]) for one in due]


def summing(*values):
    total = 0.0
    for value in values:
        said = yield Due(Room(), NOON, value, None)
        total += said.people
    return total


def patient(value):
    try:
        yield Due(Room(), NOON, value, None)
    except ValueError:
        return "was told"


def failing():
    yield Due(Room(), NOON, 1.0, None)
    raise KeyError


def test_alone_and_side_by_side_are_the_same():
    works = {"a": (1.0, 2.0, 3.0), "b": (), "c": (5.0,)}
    together = Together()
    assert side_by_side({room: summing(*some) for room, some in works.items()}, together) == {
        room: alone(summing(*some)) for room, some in works.items()
    }
    assert together.asked == [2, 1, 1, 0]


def test_what_fails_in_one_room_stays_there():
    works = {"a": summing(1.0, -1.0, 1.0), "b": failing(), "c": summing(2.0, 2.0), "d": patient(-1.0)}
    found = side_by_side(works, Together())
    assert isinstance(found["a"], ValueError)
    assert isinstance(found["b"], KeyError)
    assert (found["c"], found["d"]) == (4.0, "was told")


def test_nothing_to_do():
    assert side_by_side({}, Together()) == {}


def said(room, minute, people=1.0):
    time = NOON + dt.timedelta(minutes=minute)
    return Estimated(room, time, people, None, None, None, 500.0, 500.0, None, Quality.OK)


@pytest.mark.parametrize("since", [0, 3, 9])
def test_steps_that_are_joined_are_kept_as_if_one_after_the_other(since):
    kept = {}

    def keep(step):
        """What a store does with a step."""
        for room, time in step.cleared.items():
            for key in [key for key in kept if key[0] == room and key[1] >= time]:
                del kept[key]
        kept.update({(one.room, one.time): one for one in step.said})

    def steps():
        first, anew, last = Step(), Step(), Step()
        first.say("a", [said("a", k) for k in range(6)])
        first.say("b", [said("b", k) for k in range(6)])
        first.activated = {"a": 1}
        anew.clear("a", NOON + dt.timedelta(minutes=since))
        anew.say("a", [said("a", k, 2.0) for k in range(since, 6, 2)])
        anew.activated = {"a": 2}
        last.say("a", [said("a", 7, 3.0)])
        return first, anew, last

    for one in steps():
        keep(one)
    apart, joined = dict(kept), Step()
    kept.clear()
    for one in steps():
        joined.follow(one)
    keep(joined)
    assert kept == apart
    assert joined.activated == {"a": 2}
    assert len(joined) == len(joined.said) + 2


def test_what_fails_for_all_rooms_is_told_to_each():
    class Broken:
        def update(self, due):
            raise RuntimeError("can't start new thread")

    found = side_by_side({"a": summing(1.0), "b": summing(2.0)}, Broken())
    assert [str(error) for error in found.values()] == ["can't start new thread"] * 2
