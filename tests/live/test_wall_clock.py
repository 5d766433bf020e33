"""The latest time of a clock that is set back."""

import datetime as dt

import pytest

from occupair.live import wall_clock
from occupair.live.wall_clock import LatestTime

NOON = dt.datetime(2024, 1, 8, 12, tzinfo=dt.UTC)
HOUR, MINUTE = dt.timedelta(hours=1), dt.timedelta(minutes=1)


class Clocks:
    """The system clock and the time elapsed, both set by a test."""

    def __init__(self):
        self.now, self.elapsed = NOON, 0.0

    def advance(self, time):
        self.now += time
        self.elapsed += time.total_seconds()


@pytest.fixture
def clocks(monkeypatch):
    clocks = Clocks()
    monkeypatch.setattr(wall_clock, "elapsed", lambda: clocks.elapsed)
    return clocks


def test_latest_time_is_that_of_a_clock_that_only_advances(clocks):
    latest = LatestTime(lambda: clocks.now)
    for step in (MINUTE, 3 * HOUR, dt.timedelta(days=400)):
        clocks.advance(step)
        assert latest.now() == clocks.now


def test_latest_time_continues_after_the_clock_is_set_back(clocks):
    latest = LatestTime(lambda: clocks.now)
    latest.now()
    clocks.now -= HOUR
    clocks.advance(10 * MINUTE)
    assert latest.now() == NOON + 10 * MINUTE
    clocks.now += HOUR  # corrected
    assert latest.now() == clocks.now == NOON + 10 * MINUTE


def test_clock_set_back_by_more_than_a_day_was_wrong_before(clocks):
    latest = LatestTime(lambda: clocks.now)
    latest.now()
    clocks.now -= dt.timedelta(days=2)
    assert latest.now() == clocks.now


def test_latest_time_after_a_restart_leaves_room_until_the_clock_is_set_forward(clocks):
    latest = LatestTime(lambda: clocks.now)
    latest.add_stored(NOON + HOUR)
    for _ in range(3):  # also past the stored time
        assert latest.now() == clocks.now + dt.timedelta(days=1)
        clocks.advance(HOUR)
    clocks.now += HOUR  # corrected
    assert latest.now() == clocks.now


@pytest.mark.parametrize("ahead", [-HOUR, dt.timedelta(days=3)])
def test_stored_time_in_the_past_or_far_in_the_future_has_no_effect(clocks, ahead):
    latest = LatestTime(lambda: clocks.now)
    latest.add_stored(NOON + ahead)
    assert latest.now() == NOON
