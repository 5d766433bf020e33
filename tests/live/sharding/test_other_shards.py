"""What a shard knows of the others. Rooms: lab belongs to 1/2, hall to 2/2. Times are given [s]."""

import pytest
from live.fake_pipeline import make_state

from occupair.live.messages import Quality
from occupair.live.room_shards import Shard
from occupair.live.sharding.other_shards import OtherShards
from occupair.live.store.shard_store import Heartbeat, StoredState
from occupair.live.store.state_rows import to_text

STATE = make_state("hall", 5)


def seen(run=1, age=0.0, *, holds_lock=True):
    return {2: Heartbeat(run, "10.0.0.2:8099", age, holds_lock)}


@pytest.fixture
def others():
    """Shard 1 of 2, which has seen the second one and its room at time 100."""
    others = OtherShards(Shard(1, 2))
    others.observe(seen(), 100.0)
    others.copy({"hall": StoredState(1, to_text(STATE)), "lab": StoredState(1, "{}")}, 100.0, all_rooms=True)
    assert others.update(100.0) == {2}
    return others


def is_not_served(others):
    state = others.state("hall")
    if state == STATE:
        return False
    assert (state.quality, state.people, state.people_exact) == (Quality.STALE, None, None)
    assert state.reason == "the room is not served right now"
    return True


def test_running_shard_has_its_state_and_address(others):
    assert others.states(["hall", "lab"]) == {"hall": STATE}
    assert others.state("hall") is others.state("hall")  # parsed once
    assert (others.missing, others.address_of("hall")) == ([], "10.0.0.2:8099")
    assert others.owner_of("hall") == Shard(2, 2)


@pytest.mark.parametrize(
    ("age", "holds_lock", "is_gone"),
    [
        (5.9, False, False),  # its connection may have been lost
        (6.1, False, True),  # the process has ended
        (19.9, True, False),  # slow
        (20.1, True, True),  # frozen
    ],
)
def test_shard_without_heartbeats_is_gone(others, age, holds_lock, is_gone):
    others.observe(seen(age=age, holds_lock=holds_lock), 102.0)
    assert others.update(102.0) == ({2} if is_gone else set())
    assert is_not_served(others) == is_gone
    assert others.missing == ([Shard(2, 2)] if is_gone else [])
    assert (others.address_of("hall") is None) == is_gone


def test_shard_that_has_stopped_is_gone_at_once(others):
    others.observe({}, 100.1)
    assert others.update(100.1) == {2}
    assert is_not_served(others)


def test_states_are_unknown_without_the_store(others):
    assert others.update(119.9) == set()
    assert others.update(120.1) == {2}
    assert is_not_served(others)


def test_states_are_unknown_without_news(others):
    others.observe(seen(), 121.0)
    assert others.update(121.0) == {2}
    others.copy({}, 121.5)
    assert others.update(121.5) == {2}
    assert not is_not_served(others)


def test_state_of_an_earlier_run_is_not_shown(others):
    others.observe(seen(run=2), 101.0)
    assert others.update(101.0) == {2}
    assert is_not_served(others)
    others.copy({"hall": StoredState(2, to_text(STATE))}, 101.5)
    assert not is_not_served(others)


def test_unreadable_state_is_not_served(others, caplog):
    others.copy({"hall": StoredState(1, "{}")}, 101.0)
    assert is_not_served(others)
    assert is_not_served(others)
    assert caplog.text.count("a state of another shard cannot be read: is not the state of a room") == 1


def test_room_without_a_state_is_not_served(others):
    others.copy({}, 101.0, all_rooms=True)
    assert is_not_served(others)
