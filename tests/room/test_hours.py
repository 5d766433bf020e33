"""When a room may be in use: by hand, and minute by minute."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from occupair.room.hours import OpenHours, learn_hours
from occupair.room.rows import Clock

ANY_TIME = list(range(20, 1440))  # a day starts with an empty room


def day(weekend=0.0, step=10):
    minutes = np.arange(0, 1440, step, dtype=float)
    return Clock(minutes, np.full(minutes.size, weekend))


def people_at(*minutes, step=10, count=4.0):
    people = np.zeros(1440 // step)
    people[[minute // step for minute in minutes]] = count
    return people


def open_minutes(hours, weekend=0):
    return np.flatnonzero(hours.is_open[weekend]).tolist()


@given(st.lists(st.lists(st.integers(0, 143), max_size=5), min_size=1, max_size=4))
def test_a_minute_is_open_within_an_hour_of_people_once_the_day_has_started(days):
    people = [people_at(*(10 * slot for slot in slots)) for slots in days]
    hours = OpenHours.learn([day()] * len(days), people)
    seen = [10 * slot for slots in days for slot in slots]
    expected = [minute for minute in range(20, 1440) if any(abs(minute - then) <= 60 for then in seen)]
    assert open_minutes(hours) == expected


def test_hours_end_at_midnight():
    hours = OpenHours.learn([day()], [people_at(10, 1430)])
    assert open_minutes(hours) == [*range(20, 71), *range(1370, 1440)]


def test_weekends_have_their_own_hours():
    hours = OpenHours.learn([day(0.0), day(1.0)], [people_at(600), people_at(900)])
    assert open_minutes(hours, 0) == list(range(540, 661))
    assert open_minutes(hours, 1) == list(range(840, 961))


@pytest.mark.parametrize("weekend", [0.0, 1.0])
def test_a_kind_of_day_never_seen_takes_the_hours_of_the_other(weekend):
    hours = OpenHours.learn([day(weekend)], [people_at(600)])
    assert open_minutes(hours, 0) == open_minutes(hours, 1) == list(range(540, 661))


def test_asks_for_the_minute_some_time_before():
    hours = OpenHours.learn([day()], [people_at(600)])
    clock = Clock(np.array([550.0, 560.5, 670.0, 681.0]), np.zeros(4))
    assert hours.at(clock).tolist() == [True, True, False, False]
    assert hours.at(clock, before=20.0).tolist() == [False, True, True, False]
    early = OpenHours.learn([day()], [people_at(1430)])
    assert early.at(Clock(np.array([5.0]), np.zeros(1)), before=10.0).tolist() == [True]  # 23:55


def test_hours_that_hold_on_days_left_out_are_kept():
    clocks, people = [day()] * 3, [people_at(600), people_at(630), people_at(660)]
    hours, left_out = learn_hours(clocks, people)
    assert open_minutes(hours) == list(range(540, 721))
    assert [open_minutes(one) for one in left_out] == [
        list(range(570, 721)),
        list(range(540, 721)),
        list(range(540, 691)),
    ]


@pytest.mark.parametrize(("stray", "kept"), [(2.0, True), (2.1, False)])
def test_a_room_keeps_hours_when_no_more_than_2_percent_come_outside(stray, kept):
    inside = people_at(600, count=49.0)
    late = people_at(600, count=49.0) + people_at(1200, count=stray)  # 2 of 100 people
    hours, left_out = learn_hours([day(), day()], [inside, late])
    assert [open_minutes(one) != ANY_TIME for one in (hours, *left_out)] == [kept] * 3


def test_a_single_day_tells_no_hours():
    hours, (left_out,) = learn_hours([day()], [people_at(600)])
    assert open_minutes(hours) == open_minutes(left_out) == ANY_TIME


def test_a_room_that_nobody_ever_enters_never_opens():
    hours, left_out = learn_hours([day()] * 2, [people_at()] * 2)
    assert not any(one.is_open.any() for one in (hours, *left_out))
